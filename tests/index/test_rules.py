"""--dedup-normalize: what rules mean, how they are named, what bad ones are told, and that no page hangs them."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import warcs
from support.commands import ccrawl, export

from ccrawl.errors import UsageError
from ccrawl.index import rules
from ccrawl.index.rules import RuleSet, read_rules, rules_from
from ccrawl.index.types import kind_of

# Several commands a test, each a process of its own: slow on a machine that has other work.
pytestmark = pytest.mark.timeout(300)


def made(*lines: str) -> RuleSet:
    return rules_from(lines)


@pytest.mark.parametrize(
    ("lines", "html", "left"),
    [
        (["sid=[0-9a-f]+"], b"<a href=?sid=12ab&x>", b"<a href=?&x>"),
        (["(?i)sid=[0-9a-f]+ => sid"], b"SID=1 sid=2", b"sid sid"),
        ([r"(\d+)-(\d+) => \2/\1\\\0"], b"12-34", b"34/12\\12-34"),
        (["a => b", "b => c"], b"ab", b"cc"),  # in order, each on what the one before has left
        (["b => c", "a => b"], b"ab", b"bc"),
        (["x* => -"], b"axxb", b"-a--b-"),  # empty matches, as RE2 and Perl see them
        (["<!--.*?-->"], "<!-- é -->ж".encode("cp1251", "replace"), b"\xe6"),  # bytes of any encoding
        (["(?s)<!--.*?-->"], b"a<!--\n\n-->b", b"ab"),
        ([r"\xC3\xA4+"], "ä!".encode(), b"!"),
        (["(a)|b => [\\1]"], b"ab", b"[a][]"),
        (["nothing"], b"as it is", b"as it is"),
    ],
)
def test_rules_do_what_they_say(lines: list[str], html: bytes, left: bytes) -> None:
    assert made(*lines).apply(html) == left


simple = st.text("ab \\=>#.x1", max_size=8)


@given(
    st.lists(st.sampled_from(["[0-9]+", "a", "b+", "(?i)x"]), min_size=1, max_size=4), st.binary(max_size=60)
)
def test_patterns_of_both_engines_leave_the_same(patterns: list[str], html: bytes) -> None:
    """What Python's own engine leaves, for patterns that mean the same there."""
    expected = html
    for pattern in patterns:
        expected = re.sub(pattern.encode(), b"-", expected)
    assert made(*(f"{pattern} => -" for pattern in patterns)).apply(html) == expected


@given(st.lists(simple, max_size=5))
def test_a_name_stays_the_same_when_rules_are_written_down_and_read_again(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("rules") / "rules.txt"
    path.write_text("\n".join(lines))
    try:
        read = read_rules(path)
    except UsageError:
        return  # no rule, or a bad one
    again = rules_from(read.lines)
    assert (again.name, again.lines) == (read.name, read.lines)
    path.write_text("# comment\n\n" + "".join(f"  {line}\t\r\n" for line in read.lines))
    assert read_rules(path).name == read.name


def test_a_name_tells_rules_apart_and_stands_in_the_key() -> None:
    sets = [made("a"), made("a => b"), made("b"), made("a", "b"), made("b", "a")]
    assert len({one.name for one in sets}) == len(sets)
    keys = [one.key(b"xyz") for one in sets]
    assert [kind_of(key) for key in keys if key] == [one.name for one in sets]
    assert len(set(keys)) == len(sets)
    assert made("(?s).*").key(b"all of it goes") is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("ok\n(a", "line 2: '(a' is no pattern"),
        ("# c\n\n[a => b", "line 3"),
        (r"(a)\1", r"line 1: '(a)\\1' is no pattern"),  # what no linear engine can do
        ("(?=a)b", "is no pattern"),
        ("=> x", "line 1: no pattern stands before =>"),
        (r"a => \1", r"line 1: \1 stands for no group"),
        (r"a => \n", "line 1: a backslash in a replacement"),
        ("a => b\\", "line 1: a backslash in a replacement"),
        ("ok\nfür", "line 2: byte 2 is not ASCII"),
        ("a" * (rules.MAX_LINE + 1), f"line 1: longer than {rules.MAX_LINE} bytes"),
        ("\n".join(["a"] * (rules.MAX_RULES + 1)), f"more than {rules.MAX_RULES} rules"),
        ("((a{1,100}){1,100}){1,100}", "line 1"),  # a program larger than the bound
        ("# only this", "holds no rule"),
        ("#" * (rules.MAX_FILE + 1), "larger than 1 MiB"),
    ],
)
def test_a_bad_rule_is_one_clear_line(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "rules.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_rules(path)
    message = str(refused.value)
    assert message.startswith(f"--dedup-normalize {path}") and says in message
    assert "\n" not in message


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", "a{1,40}a{1,40}b"])
def test_time_is_linear_in_the_page(pattern: str) -> None:
    """Patterns that hang engines which backtrack: ten times the page takes some ten times as long."""
    rule = made(pattern)

    def seconds(length: int) -> float:
        page = b"a" * length + b"!"
        begun = time.process_time()
        rule.apply(page)
        return time.process_time() - begun

    seconds(10_000)
    assert min(seconds(1_000_000) for _ in range(3)) < 60 * max(1e-4, min(seconds(100_000) for _ in range(3)))


def test_a_page_made_of_matches_that_look_far_ahead_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each match of `a` has to look through all that is left for a `b`: quadratic, but for the budget."""
    monkeypatch.setattr(rules, "BUDGET", 50 << 20)
    page = b"a" * 1_000_000
    rule = made("a+b|a => -")
    begun = time.process_time()
    left = rule.apply(page)
    assert time.process_time() - begun < 5
    replaced = left.count(b"-")
    assert 50 <= replaced <= 53 and left == b"-" * replaced + page[replaced:]
    assert rule.apply(page) == left


RULES = "# counters\nSeen \\d+ times => Seen\n"


def counted(number: int, seen: int) -> bytes:
    return warcs.page(number, extra=f"<p>Seen {seen} times</p>")


def capture(number: int, seen: int, host: str) -> bytes:
    return warcs.response(number, url=f"http://{host}.test/{number}-{seen}", body=counted(number, seen))


def test_pages_alike_under_the_rules_are_dropped_in_a_shard(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [capture(1, 1, "a"), capture(1, 2, "a"), capture(2, 1, "a"), capture(1, 1, "b")],
    )
    (tmp_path / "rules.txt").write_text(RULES)
    given = ["--dedup-digest", "--dedup-normalize", tmp_path / "rules.txt"]
    summary = export(source, "--out", tmp_path / "out", *given)
    assert (summary["counts"]["rows"], summary["counts"]["duplicates"]) == (2, 2)
    asked = {"name": made("Seen \\d+ times => Seen").name, "rules": ["Seen \\d+ times => Seen"]}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["options"]["dedup_normalize"] == asked
    [file] = (tmp_path / "out" / "data").rglob("*.parquet")
    footer = pq.read_metadata(file).metadata
    assert json.loads(footer[b"ccrawl.options"])["dedup_normalize"] == asked
    (tmp_path / "rules.txt").write_text("other")
    assert "other options" in ccrawl("export", source, "--out", tmp_path / "out", *given).stderr


def test_pages_alike_under_the_rules_are_found_in_an_index(tmp_path: Path, location: str) -> None:
    """By runs under the same rules; by those without, and under others, only what they put there themselves."""
    (tmp_path / "rules.txt").write_text(RULES)
    (tmp_path / "others.txt").write_text("Seen \\d+")
    for name, seen in (("one", 1), ("two", 2)):
        warcs.write(tmp_path / f"{name}.warc.gz", [capture(n, seen, name) for n in range(3)])
    ruled = ["--dedup-index", location, "--dedup-normalize", tmp_path / "rules.txt"]

    def dropped(source: str, out: str, *arguments: object) -> int:
        done = export(tmp_path / f"{source}.warc.gz", "--out", tmp_path / out, *arguments)
        return int(done["counts"]["duplicates_indexed"])

    assert dropped("one", "a", *ruled) == 0
    assert dropped("two", "b", *ruled) == 3
    assert dropped("two", "c", *ruled[:3], tmp_path / "others.txt", "--no-commit") == 0
    assert dropped("two", "d", "--dedup-index", location) == 0  # commits the payloads as they are
    assert dropped("two", "e", *ruled[:3], tmp_path / "others.txt", "--no-commit") == 3
    assert ccrawl("index", "verify", "-i", location).returncode == 0
    stats = json.loads(ccrawl("index", "stats", "-i", location, "--json").stdout)
    assert (stats["unique"], stats["counts"]["total"], stats["counts"]["duplicates"]) == (6, 9, 3)


def test_rules_without_anything_to_compare_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text(RULES)
    source = warcs.write(tmp_path / "a.warc.gz", [capture(1, 1, "a")])
    done = ccrawl("export", source, "--out", tmp_path / "out", "--dedup-normalize", tmp_path / "rules.txt")
    assert done.returncode == 2 and "--dedup-digest or --dedup-index" in done.stderr
