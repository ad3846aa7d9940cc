"""A refetch as a dataset: rows, order, copies, changes, figures. The servers are real."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from support import warcs
from support.hostile import answer, redirect
from support.sites import Site, late, serving

import ccrawl
from ccrawl.archives import Tally
from ccrawl.dataset.schema import REFETCH
from ccrawl.errors import OutputError, UsageError
from ccrawl.fetching.convert import ConvertDatasetReport
from ccrawl.fetching.options import RefetchOptions
from ccrawl.fetching.run import RefetchReport
from ccrawl.fetching.types import FetchOptions
from ccrawl.run.events import Notice, RefetchProgress
from ccrawl.run.options import ExportOptions, Normalize

# As the public layout has them, in its order; what follows is ours.
PUBLIC = re.findall(
    r"\w+",
    "doc_id, url, final_url, host, ip_address, crawl_id, crawl_date, warc_record_id, fetched_at, status, "
    "content_type, fetch_duration_ms, ttfb_ms, etag, last_modified, resp_headers, body_length, digest, "
    "html_length, html, markdown_length, markdown, error, language, language_confidence, extractor, simhash",
)

FETCH = FetchOptions(
    allow_private=True, rate=0, per_host=8, connect_timeout=2, idle_timeout=2, total_timeout=4, give_up=2
)


def options(fetch_only: bool = False, compare: bool = True, **pages: Any) -> RefetchOptions:
    return RefetchOptions(fetch=FETCH, pages=ExportOptions(**pages), fetch_only=fetch_only, compare=compare)


def refetch(source: Any, out: Path, *, given: RefetchOptions | None = None, **more: Any) -> RefetchReport:
    more.setdefault("card", False)
    return ccrawl.refetch(source, out, options=given or options(), workers=1, **more)


def rows(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in sorted(out.glob("data/*/*.parquet")):
        found += pq.ParquetFile(file).read().to_pylist()
    return found


def query(out: Path, sql: str) -> list[tuple[Any, ...]]:
    files = str(out / "data" / "*" / "*.parquet")
    return duckdb.sql(
        sql.replace("DATA", "read_parquet(?, hive_partitioning = true)"), params=[files]
    ).fetchall()


def urls(path: Path, found: list[str]) -> Path:
    path.write_text("\n".join(found) + "\n")
    return path


@pytest.fixture
def site() -> Any:
    routes = {
        f"/{number}": answer(warcs.page(number), 'ETag: "e"', "Last-Modified: Mon") for number in range(12)
    }
    routes |= {
        "/404": answer(b"<h1>no</h1>", status="404 Not Found"),
        "/500": answer(b"<h1>no</h1>", status="500 Oops"),
        "/pdf": answer(b"%PDF-1.4 text", content_type="application/pdf"),
        "/empty": answer(b""),
        "/cut": answer(warcs.page(3), length=5000) + b"",
        "/to": redirect(b"/1"),
        "/blank": answer(b"<html><body></body></html>"),
    }
    with serving(routes) as running:
        yield running


def test_the_first_columns_are_the_public_layout_name_for_name() -> None:
    assert [column.name for column in REFETCH.columns][: len(PUBLIC)] == PUBLIC
    assert [column.name for column in REFETCH.columns][len(PUBLIC) :] == [
        "title",
        "changed",
        "simhash_distance",
    ]
    types = {column.name: column.type for column in REFETCH.columns}
    assert (types["fetched_at"], types["status"], types["simhash"]) == ("int64", "int32", "uint64")


def test_every_url_has_one_row_in_the_order_of_the_input(site: Site, tmp_path: Path) -> None:
    paths = ["/3", "/404", "/to", "/pdf", "/1", "/500", "/empty", "/blank", "/0"]
    wanted = [site.url(path) for path in paths]
    dead = "http://127.0.0.1:1/"
    lines = ["# a list", *wanted[:4], "", wanted[0], json.dumps({"url": wanted[4]}), "{no", '{"x": 1}']
    lines += [*wanted[5:], dead, "ftp://127.0.0.1/x"]
    report = refetch(urls(tmp_path / "list.txt", lines), tmp_path / "out")
    found = rows(tmp_path / "out")
    assert [row["url"] for row in found] == [*wanted, dead, "ftp://127.0.0.1/x"]
    by_path = dict(zip([*paths, "dead", "ftp"], found, strict=True))
    assert by_path["/3"]["markdown"] == ccrawl.markdown(warcs.page(3), wanted[0])
    assert by_path["/3"]["simhash"] == ccrawl.simhash(by_path["/3"]["markdown"])
    assert by_path["/3"]["digest"] == hashlib.sha1(warcs.page(3)).hexdigest()
    assert by_path["/3"]["etag"] == '"e"' and by_path["/3"]["last_modified"] == "Mon"
    assert json.loads(by_path["/3"]["resp_headers"])["content-type"] == "text/html"
    assert by_path["/to"]["final_url"] == site.url("/1")
    assert by_path["/pdf"]["body_length"] == 13 and by_path["/pdf"]["html_length"] == 0
    assert (by_path["/404"]["status"], by_path["/404"]["markdown"], by_path["/404"]["error"]) == (404, "", "")
    assert (by_path["dead"]["status"], by_path["dead"]["error"]) == (None, "connect")
    assert (by_path["ftp"]["status"], by_path["ftp"]["error"]) == (None, "scheme")
    assert report.counts.skipped == {"bad-json": 1, "no-url": 1, "repeated-url": 1}
    assert report.counts.records == len(found) + sum(report.counts.skipped.values())
    assert report.complete and report.failed == 2 and report.fetched == len(found)
    assert not list((tmp_path / "out" / "refetch").glob("*.fetched"))


def test_figures_of_the_report_and_the_card_are_those_of_the_files(site: Site, tmp_path: Path) -> None:
    wanted = [site.url(path) for path in ("/0", "/1", "/404", "/500", "/pdf")] + ["http://127.0.0.1:1/"]
    out = tmp_path / "out"
    report = refetch(urls(tmp_path / "list.txt", wanted), out, card=True)
    counts = report.counts
    assert query(out, "select count(*), sum(html_length), sum(markdown_length) from DATA") == [
        (counts.rows, counts.html_bytes, counts.markdown_bytes)
    ]
    for column, told in [("status", counts.statuses), ("error", counts.errors), ("changed", counts.changed)]:
        sql = f"select coalesce({column}::varchar, ''), count(*) from DATA group by 1"
        found = {value: number for value, number in query(out, sql) if value or column == "status"}
        assert found == told, column
    answers = ccrawl.card(out).facts.answers
    assert answers is not None
    assert (dict(answers.statuses), dict(answers.errors), dict(answers.changed)) == (
        counts.statuses,
        counts.errors,
        counts.changed,
    )
    text = (out / "README.md").read_text()
    assert "| `404` | 1 | 16.7% |" in text and "ccrawl refetch list.txt --out out" in text
    assert ccrawl.verify(out).ok


def test_what_became_of_archived_pages_is_told(tmp_path: Path) -> None:
    routes = {
        "/same": answer(warcs.page(1, sentences=30)),
        "/near": answer(warcs.page(2, sentences=30, extra="<p>One more line.</p>")),
        "/other": answer(warcs.page(4, sentences=30)),
        "/gone": answer(b"", status="410 Gone"),
        "/broken": answer(b"", status="503 Busy"),
    }
    with serving(routes) as site:
        records = [
            warcs.response(number, url=site.url(path), body=warcs.page(number, sentences=30))
            for path, number in [("/same", 1), ("/near", 2), ("/other", 3), ("/gone", 5)]
        ]
        archive = warcs.write(tmp_path / "a.warc.gz", records)
        refetch(archive, tmp_path / "out", given=options(crawl="OLD"))
        found = rows(tmp_path / "out")
        assert [row["changed"] for row in found] == ["same", "changed", "changed", "gone"]
        assert [row["crawl_id"] for row in found] == ["OLD"] * 4
        assert found[0]["warc_record_id"].startswith("<urn:uuid:") and found[0]["crawl_date"] == "2025-03-04"
        for row, number in zip(found[:3], (1, 2, 3), strict=True):
            archived = ccrawl.simhash(ccrawl.markdown(warcs.page(number, sentences=30), row["url"]))
            assert row["simhash_distance"] == (archived ^ row["simhash"]).bit_count()
        assert found[0]["simhash_distance"] == 0 < found[2]["simhash_distance"]
        assert found[3]["simhash_distance"] is None
        # The same from the dataset that an export made of it, which knows the fingerprints.
        ccrawl.export(archive, tmp_path / "export", options=ExportOptions(crawl="OLD"), workers=1, card=False)
        refetch(tmp_path / "export", tmp_path / "again")
        kept = ("url", "changed", "simhash_distance", "crawl_id", "crawl_date", "warc_record_id")
        assert [[row[name] for name in kept] for row in rows(tmp_path / "again")] == [
            [row[name] for name in kept] for row in found
        ]
        # A refetch of the refetch compares with that one.
        refetch(tmp_path / "out", tmp_path / "third")
        assert [row["changed"] for row in rows(tmp_path / "third")] == ["same", "same", "same", "gone"]


def test_the_first_of_equal_bodies_in_the_input_stays_however_slow_it_is(tmp_path: Path) -> None:
    body = answer(warcs.page(7))
    gone = answer(b"<p>Nothing here</p>", status="404 Not Found")
    routes = {"/slow": late(body, 1.0), "/a": body, "/b": body, "/other": answer(warcs.page(8))}
    routes |= {"/g1": gone, "/g2": gone, "/e1": answer(b""), "/e2": answer(b"")}
    with serving(routes) as site:
        wanted = [site.url(path) for path in routes]
        report = refetch(
            urls(tmp_path / "list.txt", wanted), tmp_path / "out", given=options(dedup_digest=True)
        )
        kept = [row["url"].rpartition("/")[2] for row in rows(tmp_path / "out")]
    assert kept == ["slow", "other", "g1", "g2", "e1", "e2"]
    assert (report.counts.duplicates, report.counts.rows, report.counts.pages) == (2, 6, 8)
    assert sum(report.counts.statuses.values()) == 6  # after the filter, as the file is
    assert ccrawl.verify(tmp_path / "out").ok


def test_bodies_that_an_index_knows_are_left_out_of_later_runs(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("rocksdict")
    index = str(tmp_path / "index")
    first = urls(tmp_path / "one.txt", [site.url("/1"), site.url("/2")])
    second = urls(tmp_path / "two.txt", [site.url("/2?again"), site.url("/3"), site.url("/404")])
    done = refetch(first, tmp_path / "one", dedup_index=index)
    assert done.index is not None and done.index.committed and done.index.new == 2
    report = refetch(second, tmp_path / "two", dedup_index=index)
    assert [row["url"] for row in rows(tmp_path / "two")] == [site.url("/3"), site.url("/404")]
    assert report.counts.duplicates_indexed == 1


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_pages_alike_under_rules_are_copies(tmp_path: Path, coding: str) -> None:
    pytest.importorskip("rocksdict")
    (tmp_path / "rules.txt").write_text(r"Seen \d+ times => Seen")
    fields = ["Content-Encoding: gzip"] if coding else []

    def seen(times: int) -> bytes:
        page = warcs.page(1).replace(b"</body>", b"<p>Seen %d times</p></body>" % times)
        return answer(gzip.compress(page) if coding else page, *fields)

    ruled = options(dedup_digest=True, dedup_normalize=Normalize.read(tmp_path / "rules.txt"))
    with serving({f"/{times}": seen(times) for times in range(4)}) as site:
        first = urls(tmp_path / "one.txt", [site.url("/0"), site.url("/1")])
        second = urls(tmp_path / "two.txt", [site.url("/2"), site.url("/3")])
        index = str(tmp_path / "index")
        done = refetch(first, tmp_path / "one", given=ruled, dedup_index=index, card=True)
        later = refetch(second, tmp_path / "two", given=ruled, dedup_index=index)
        assert refetch(first, tmp_path / "bare", given=options(dedup_digest=True)).counts.rows == 2
        assert refetch(first, tmp_path / "ruled", given=ruled).counts.rows == 1
    assert (done.counts.rows, done.counts.duplicates) == (1, 1)
    assert (later.counts.rows, later.counts.duplicates_indexed) == (0, 2)
    card = (tmp_path / "one" / "README.md").read_text()
    assert "--dedup-digest --dedup-index INDEX --dedup-normalize RULES\n" in card
    assert "alike under the rules of dedup_normalize" in card


def test_a_refetch_runs_beside_an_event_loop(site: Site, tmp_path: Path) -> None:
    """As in a notebook, whose loop runs while a cell does."""
    wanted = urls(tmp_path / "list.txt", [site.url("/1"), site.url("/2")])

    async def cell() -> RefetchReport:
        return refetch(wanted, tmp_path / "out")

    assert asyncio.run(cell()).counts.rows == 2


def test_ctrl_c_ends_a_refetch_beside_an_event_loop(tmp_path: Path) -> None:
    with serving({"*": late(answer(warcs.page(1)), 0.2)}) as site:
        wanted = urls(tmp_path / "list.txt", [site.url(f"/{number}") for number in range(200)])

        def told(event: object) -> None:
            if isinstance(event, RefetchProgress) and 8 <= event.fetched < 100 and not stopped:
                stopped.append(event.fetched)
                os.kill(os.getpid(), signal.SIGINT)

        async def cell() -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a loop of asyncio's has its own
            with pytest.raises(KeyboardInterrupt):
                refetch(wanted, tmp_path / "out", listener=told)

        stopped: list[int] = []
        handler = signal.getsignal(signal.SIGINT)
        asyncio.run(cell())
        signal.signal(signal.SIGINT, handler)
        report = refetch(wanted, tmp_path / "out")
    assert report.resumed >= stopped[0] and report.resumed + report.fetched == 200
    assert sum(site.asked.values()) <= 200 + FETCH.per_host


def test_a_fetch_converted_later_is_the_fetch_converted_at_once(site: Site, tmp_path: Path) -> None:
    wanted = urls(tmp_path / "list.txt", [site.url(path) for path in ("/0", "/404", "/blank", "/pdf", "/5")])
    refetch(wanted, tmp_path / "raw", given=options(fetch_only=True))
    raw = rows(tmp_path / "raw")
    assert raw[0]["html"] == warcs.page(0) and raw[0]["markdown"] == "" and raw[1]["html"] == b""
    assert ccrawl.verify(tmp_path / "raw").ok
    report = ccrawl.convert_dataset(tmp_path / "raw", tmp_path / "later", workers=2)
    refetch(wanted, tmp_path / "at-once")
    times = ("fetched_at", "fetch_duration_ms", "ttfb_ms", "resp_headers")

    def timeless(out: Path) -> list[dict[str, Any]]:
        return [{name: value for name, value in row.items() if name not in times} for row in rows(out)]

    assert timeless(tmp_path / "later") == timeless(tmp_path / "at-once")
    assert [row["fetched_at"] for row in rows(tmp_path / "later")] == [row["fetched_at"] for row in raw]
    assert isinstance(report, ConvertDatasetReport) and report.complete
    assert ccrawl.verify(tmp_path / "later").ok
    assert "ccrawl convert-dataset" in (tmp_path / "later" / "README.md").read_text()
    again = ccrawl.convert_dataset(tmp_path / "raw", tmp_path / "later", workers=2)
    assert again.skipped_shards == 1


def test_any_file_with_urls_and_html_can_be_converted(tmp_path: Path) -> None:
    import pyarrow as pa

    pages = [warcs.page(number).decode() for number in range(5)]
    table = pa.table({"url": [f"http://a.test/{n}" for n in range(5)], "html": pages, "mine": range(5)})
    pq.write_table(table, tmp_path / "mine.parquet")
    ccrawl.convert_dataset(tmp_path / "mine.parquet", tmp_path / "out", workers=1, keep_html=True)
    found = rows(tmp_path / "out")
    assert [row["markdown"] for row in found] == [
        ccrawl.markdown(page.encode(), f"http://a.test/{number}") for number, page in enumerate(pages)
    ]
    assert [row["html"] for row in found] == [page.encode() for page in pages]
    pq.write_table(table.drop_columns("html"), tmp_path / "bare.parquet")
    report = ccrawl.convert_dataset(tmp_path / "bare.parquet", tmp_path / "none", workers=1, card=False)
    assert "has no column html" in report.failed_shards[0].error


def test_urls_of_other_shards_and_of_later_runs_have_no_second_row(site: Site, tmp_path: Path) -> None:
    one = urls(tmp_path / "1.txt", [site.url("/1"), site.url("/2")])
    two = urls(tmp_path / "2.txt", [site.url("/2"), site.url("/3")])
    refetch([one], tmp_path / "out")
    report = refetch([one, two], tmp_path / "out")
    assert report.skipped_shards == 1 and report.counts.skipped == {"repeated-url": 1}
    assert [row["url"] for row in rows(tmp_path / "out")] == [site.url(path) for path in ("/1", "/2", "/3")]
    assert site.asked == {"/1": 1, "/2": 1, "/3": 1}


def test_long_lists_are_cut_into_shards(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ccrawl.fetching import targets

    monkeypatch.setattr(targets, "PART_LINES", 5)
    wanted = [site.url(f"/{number}") for number in range(12)]
    report = refetch(urls(tmp_path / "list.txt", wanted), tmp_path / "out", warc=tmp_path / "warcs")
    assert report.shards == 3
    assert [row["url"] for row in rows(tmp_path / "out")] == wanted
    # A WARC file is as large as it may be, not as a shard happens to be.
    (archive,) = [path for path in (tmp_path / "warcs").iterdir() if "places" not in path.name]
    assert archive.name == "local-00000.warc.gz"
    assert [page.url for page in ccrawl.read_captures(archive)] == wanted


def test_what_goes_over_the_wire_is_kept_as_warc_and_packed(site: Site, tmp_path: Path) -> None:
    wanted = urls(tmp_path / "list.txt", [site.url(path) for path in ("/1", "/to", "/404", "/1?again")])
    report = refetch(
        wanted,
        tmp_path / "out",
        warc=tmp_path / "warcs",
        wacz=tmp_path / "all.wacz",
        given=options(dedup_digest=True),
    )
    types: Counter[str] = Counter()
    for file in sorted((tmp_path / "warcs").glob("*.warc.gz")):
        tally = Tally()
        assert len(list(ccrawl.read_captures(file, tally=tally))) == 1
        assert not tally.damaged
        types += tally.types
    # Five exchanges, one of them the redirect; what was dropped from the rows is here all the same.
    assert types == {"warcinfo": 1, "request": 5, "response": 3, "revisit": 2}
    assert report.wacz is not None and report.wacz.captures >= 3
    pages = list(ccrawl.read_captures(tmp_path / "all.wacz"))
    assert [page.url for page in pages] == [site.url("/1")]


def test_a_list_may_come_on_stdin(site: Site, tmp_path: Path) -> None:
    given = "\n".join(site.url(f"/{number}") for number in range(3))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ccrawl",
            "refetch",
            "-",
            "--out",
            tmp_path / "out",
            "--allow-private",
            "--json",
        ],
        input=given,
        text=True,
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["counts"]["rows"] == 3 and summary["phases"]["fetch"] > 0
    assert summary["slow_hosts"][0]["host"] == "127.0.0.1" and summary["complete"]
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert {"RunStarted", "RefetchProgress", "ShardDone"} <= set(events)
    assert [row["url"] for row in rows(tmp_path / "out")] == given.split()


def test_live_hosts_are_asked_with_a_contact_only(tmp_path: Path) -> None:
    wanted = urls(tmp_path / "list.txt", ["http://example.org/"])
    with pytest.raises(UsageError, match="contact"):
        ccrawl.refetch(wanted, tmp_path / "out")
    assert not (tmp_path / "out" / "data").exists()
    with pytest.raises(UsageError, match="languages"):
        refetch(wanted, tmp_path / "out", given=options(languages=("eng",)))
    with pytest.raises(UsageError, match="text of archives"):
        refetch(wanted, tmp_path / "out", given=options(extractor="wet"))


def test_that_robots_are_ignored_is_said(site: Site, tmp_path: Path) -> None:
    events: list[object] = []
    given = dataclasses.replace(options(), fetch=dataclasses.replace(FETCH, ignore_robots=True))
    refetch(
        urls(tmp_path / "list.txt", [site.url("/1")]), tmp_path / "out", given=given, listener=events.append
    )
    assert [event.text for event in events if isinstance(event, Notice)] == [
        "robots.txt is not asked for: what sites forbid is fetched"
    ]
    assert [event.fetched for event in events if isinstance(event, RefetchProgress)][-1] == 1


def test_other_options_need_another_folder(site: Site, tmp_path: Path) -> None:
    wanted = urls(tmp_path / "list.txt", [site.url("/1")])
    refetch(wanted, tmp_path / "out")
    with pytest.raises(OutputError, match="fetch_only"):
        refetch(wanted, tmp_path / "out", given=options(fetch_only=True))
    assert refetch(wanted, tmp_path / "out", given=options(fetch_only=True), overwrite=True).fetched == 1


HOSTILE = """
import os, sys, time
import ccrawl
from ccrawl.html import extractors
from ccrawl.fetching.options import RefetchOptions
from ccrawl.fetching.types import FetchOptions
from ccrawl.run.options import ExportOptions

def hostile(page, options):
    if page.url.endswith("/abort"):
        os.abort()
    if page.url.endswith("/sleep"):
        time.sleep(3600)
    if page.url.endswith("/raise"):
        raise ValueError("no luck")
    return extractors.EXTRACTORS["raw"].extract(page, options)

extractors.EXTRACTORS["hostile"] = extractors.Extractor("hostile", "1", hostile)

if __name__ == "__main__":
    report = ccrawl.refetch(
        sys.argv[2], sys.argv[1], workers=2, card=False,
        options=RefetchOptions(
            fetch=FetchOptions(allow_private=True, rate=0),
            pages=ExportOptions(extractor="hostile", page_timeout=1.0),
        ),
    )
    print(report.counts.errors, report.complete)
"""


def test_pages_that_crash_or_hang_keep_their_row_and_say_so(tmp_path: Path) -> None:
    names = ["abort", "sleep", "raise"]
    paths = [*(f"/{number}" for number in range(8)), *(f"/{name}" for name in names), "/8"]
    with serving({path: answer(warcs.page(at)) for at, path in enumerate(paths)}) as site:
        wanted = urls(tmp_path / "list.txt", [site.url(path) for path in paths])
        (tmp_path / "hostile.py").write_text(HOSTILE)
        done = subprocess.run(
            [sys.executable, tmp_path / "hostile.py", tmp_path / "out", wanted],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    expected = {"convert-crash": 1, "convert-error": 1, "convert-timeout": 1}
    assert done.stdout.strip() == f"{expected} False", done.stderr
    found = rows(tmp_path / "out")
    assert [row["error"] for row in found[8:11]] == ["convert-crash", "convert-timeout", "convert-error"]
    assert all(row["status"] == 200 and row["body_length"] and not row["markdown"] for row in found[8:11])
    assert all(row["markdown"] for row in [*found[:8], found[11]])
    lines = [json.loads(line) for line in (tmp_path / "out" / "failures.jsonl").read_text().splitlines()]
    assert [line["url"].rpartition("/")[2] for line in lines] == names


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"digest": "00"}, "digest"),
        ({"status": None}, "answer"),
        ({"error": "nonsense"}, "answer"),
        ({"changed": "maybe"}, "answer"),
        ({"markdown_length": 1}, "markdown-length"),
        ({"simhash": 1}, "simhash"),
        ({"doc_id": "x"}, "doc-id"),
        ({"resp_headers": "["}, "answer"),
        ({"html_length": 10**6}, "html-length"),
    ],
)
def test_a_row_that_breaks_a_law_is_found(
    verified: Path, tmp_path: Path, changed: dict[str, Any], code: str
) -> None:
    import shutil

    from support.datasets import reseal

    from ccrawl.dataset.schema import RefetchRow

    out = tmp_path / "out"
    shutil.copytree(verified, out)
    (file,) = (path.relative_to(out).as_posix() for path in out.glob("data/*/*.parquet"))
    found = [RefetchRow(**values) for values in rows(out)]
    found[0] = found[0]._replace(**changed)
    reseal(out, file, found)
    assert code in ccrawl.verify(out).by_code


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verified")
    with serving({"/1": answer(warcs.page(1)), "/2": answer(warcs.page(2))}) as site:
        refetch(
            urls(folder / "list.txt", [site.url("/1"), site.url("/2")]),
            folder / "out",
            given=options(fetch_only=False),
        )
    return folder / "out"


def test_reading_an_archive_that_is_none_fails_its_shard_alone(site: Site, tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(io.BytesIO(b"\x1f\x8b nonsense").getvalue() * 10)
    good = warcs.write(tmp_path / "good.warc.gz", [warcs.response(1, url=site.url("/1"))])
    report = refetch([bad, good], tmp_path / "out")
    assert [failed.source for failed in report.failed_shards] == ["bad.warc.gz"] or report.counts.damage
    assert not report.complete
    assert [row["url"] for row in rows(tmp_path / "out")] == [site.url("/1")]


def test_outputs_of_several_machines_are_merged_and_searched_for_duplicates(
    site: Site, tmp_path: Path
) -> None:
    for number, paths in enumerate([("/1", "/2"), ("/1?again", "/404")]):
        wanted = urls(tmp_path / f"{number}.txt", [site.url(path) for path in paths])
        refetch(wanted, tmp_path / f"part{number}")
    ccrawl.merge([tmp_path / "part0", tmp_path / "part1"], tmp_path / "all")
    assert ccrawl.verify(tmp_path / "all").ok
    assert len(rows(tmp_path / "all")) == 4
    assert ccrawl.card(tmp_path / "all").facts.rows == 4
    found = ccrawl.dedup([tmp_path / "all"])
    assert (found.rows, found.exact_clusters, found.no_fingerprint) == (4, 1, 1)
