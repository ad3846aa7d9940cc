"""Reading single rows, and the page behind a row as a file that can do no harm."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from support import datasets, warcs

import ccrawl
from ccrawl.archives import read_captures
from ccrawl.cli.show import command
from ccrawl.dataset.original import harmless, original, page_as_html
from ccrawl.dataset.rows import find_rows
from ccrawl.errors import SourceError, UsageError

ROWS = {f"{shard}.warc.gz": [datasets.row(10 * shard + n) for n in range(4)] for shard in range(3)}
ALL = [row for rows in ROWS.values() for row in rows]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return datasets.write(tmp_path / "out", ROWS)


def test_a_row_is_found_by_url_id_and_number(dataset: Path) -> None:
    for number, row in enumerate(ALL):
        for found in (
            find_rows(dataset, url=row.url),
            find_rows(dataset, doc_id=row.doc_id),
            find_rows(dataset, row=number),
        ):
            (stored,) = found
            assert stored.row == row
            assert (stored.file.name, stored.number) == (f"{number // 4:06d}.parquet", number % 4)
    file = dataset / "data/crawl=local/000001.parquet"
    assert find_rows(file, row=0)[0].row == ALL[4]


def test_rows_of_every_row_group_and_batch_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccrawl.dataset.rows._BATCH_ROWS", 5)
    pages = [datasets.row(number, markdown="x" * 1000 + f"{number}\n") for number in range(50)]
    out = datasets.write(tmp_path, {"a": pages})
    (file,) = out.rglob("*.parquet")
    pq.write_table(pq.read_table(file), file, row_group_size=7)
    for number in (0, 6, 7, 48, 49):
        assert find_rows(file, row=number)[0].row == pages[number]
        assert find_rows(file, url=pages[number].url)[0].number == number


def test_all_captures_of_a_url_are_found(tmp_path: Path) -> None:
    twice = [datasets.row(n, url="http://site.test/same") for n in range(2)]
    out = datasets.write(tmp_path, {"a": twice})
    assert [stored.row for stored in find_rows(out, url="http://site.test/same")] == twice


def test_a_sample_is_the_same_for_a_seed_and_has_no_row_twice(dataset: Path) -> None:
    places = [[(s.file, s.number) for s in find_rows(dataset, sample=5, seed=seed)] for seed in (1, 1, 2)]
    assert places[0] == places[1] != places[2]
    assert len(set(places[0])) == 5
    assert places[0] == sorted(places[0])
    assert len(find_rows(dataset, sample=99)) == len(ALL)
    picked = {(s.file, s.number) for seed in range(60) for s in find_rows(dataset, sample=1, seed=seed)}
    assert len(picked) == len(ALL)  # every row can be picked


def test_a_file_of_the_twelve_column_layout_is_read(dataset: Path) -> None:
    file = dataset / "data/crawl=local/000000.parquet"
    pq.write_table(pq.read_table(file).select(list(range(12))), file)
    (stored,) = find_rows(file, row=1)
    assert stored.row == ALL[1]._replace(
        title="", payload_digest="", warc_filename="", warc_record_offset=None
    )


def test_a_row_without_values_is_shown_and_one_of_other_types_refused(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = dataset / "data/crawl=local/000000.parquet"
    table = pq.read_table(file)
    nothing = pa.table({field.name: pa.nulls(2, field.type) for field in table.schema}, schema=table.schema)
    pq.write_table(nothing, file)
    command(file)
    assert re.search(r"^url +–$", capsys.readouterr().out, re.MULTILINE)
    command(file, as_json=True)
    assert json.loads(capsys.readouterr().out)["markdown"] is None
    place = table.schema.get_field_index("markdown")
    pq.write_table(table.set_column(place, "markdown", pa.array([[1]] * 4)), file)
    with pytest.raises(SourceError, match="can't be read"):
        find_rows(file, row=0)


def test_what_is_not_there_is_told(dataset: Path, tmp_path: Path) -> None:
    for arguments in ({"url": "http://x.test/"}, {"doc_id": "0" * 32}, {"row": 12}, {"row": -1}):
        with pytest.raises(SourceError):
            find_rows(dataset, **arguments)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="no Parquet file"):
        find_rows(tmp_path / "nothing", row=0)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceError, match="can't be read"):
        find_rows(tmp_path / "bad.parquet", row=0)
    for arguments in ({}, {"row": 1, "sample": 2}):
        with pytest.raises(UsageError):
            find_rows(dataset, **arguments)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show")
    for name in ("a.warc.gz", "b.warc"):
        warcs.write(folder / name, [warcs.response(n, url=f"http://{name}/{n}") for n in range(6)])
    ccrawl.export([folder / "a.warc.gz", folder / "b.warc"], folder / "out", workers=1)
    return folder


def test_the_page_behind_every_row_is_found_in_its_archive(exported: Path) -> None:
    for number in range(12):
        (stored,) = find_rows(exported / "out", row=number)
        capture = original(stored, [exported / "a.warc.gz", exported / "b.warc"])
        assert capture.url == stored.row.url
        assert capture.payload() == warcs.page(number % 6)
        moved = stored.row._replace(warc_record_offset=None)  # as where the shard is one compressed stream
        assert original(type(stored)(stored.file, stored.number, moved), [exported]).url == stored.row.url


def test_an_archive_that_does_not_hold_the_record_is_told(exported: Path, tmp_path: Path) -> None:
    (stored,) = find_rows(exported / "out", row=5)
    with pytest.raises(SourceError, match="not among the sources"):
        original(stored, [exported / "b.warc"])
    warcs.write(tmp_path / "a.warc.gz", [warcs.response(n) for n in range(2)])
    with pytest.raises(SourceError, match="holds no record"):
        original(stored, [tmp_path])


HOSTILE = b"""<!DOCTYPE html><html manifest=x onload=alert(1)><head><base href=http://evil.test/>
<meta http-equiv=refresh content="0;url=http://evil.test"><link rel=stylesheet href=//evil.test/a.css>
<script>alert(1)</script><style>p{color:red;background:url(//evil.test/b)}</style></head>
<body background=//evil.test/c onclick="x()"><p title="</iframe>&quot;><script>x</script>">Kept text
<img src=//evil.test/d srcset="//evil.test/e 2x"><img src="data:image/png;base64,iVBORw0KGgo=">
<a href="javascript:alert(1)" ping=//evil.test>a link</a><iframe srcdoc="<script>y</script>"></iframe>
<object data=//evil.test/f></object><form action=//evil.test/g><input formaction=//evil.test/h>Form text</form>
<svg><script>z</script><use xlink:href=//evil.test/i /><a xlink:href="javascript:k()">s</a></svg>
<video poster=//evil.test/j src=//evil.test/k></video></body></html>"""
LOADS = re.compile(
    r"^(on.*|src|srcset|srcdoc|href|xlink:href|action|formaction|data|poster|background|ping|manifest)$"
)
RUNS = {"script", "iframe", "frame", "object", "embed", "applet", "base", "link", "meta"}


def captured(folder: Path, body: bytes) -> Any:
    path = warcs.write(folder / "x.warc.gz", [warcs.record(warcs.http(body), url="http://x.test/")])
    (capture,) = read_captures(path)
    return capture


def check_harmless(html: str) -> None:
    root = LexborHTMLParser(html).root
    for node in root.traverse(include_text=False) if root is not None else ():
        assert node.tag not in RUNS
        loading = {name: value for name, value in node.attributes.items() if LOADS.match(name)}
        assert all((value or "").startswith("data:image/") for value in loading.values()), loading


def test_nothing_of_a_page_runs_or_loads(tmp_path: Path) -> None:
    html = harmless(captured(tmp_path, HOSTILE))
    check_harmless(html)
    plain = harmless(
        captured(tmp_path, HOSTILE + b"<p style=display:none class=x hidden>Late text"), styles=False
    )
    check_harmless(plain)
    assert "<p>Late text" in plain
    assert "<style" not in plain
    assert "Kept text" in html
    assert "Form text" in html
    assert "data:image/png;base64,iVBORw0KGgo=" in html


def test_the_page_can_not_leave_its_frame(tmp_path: Path) -> None:
    capture = captured(tmp_path, HOSTILE)
    row = datasets.row(1, title="</title><script>1</script>", markdown="</pre><script>2</script>\n")
    out = datasets.write(tmp_path / "out", {"a": [row]})
    page = page_as_html(capture, find_rows(out, row=0)[0])
    tree = LexborHTMLParser(page)
    assert [node.tag for node in tree.css("script, object, form, img, video")] == []
    frames = tree.css("iframe")
    assert len(frames) == 2
    for frame in frames:
        assert frame.attributes["sandbox"] == ""
        check_harmless(frame.attributes["srcdoc"] or "")
    (policy,) = tree.css("meta[http-equiv=Content-Security-Policy]")
    assert (policy.attributes["content"] or "").startswith("default-src 'none';")
    assert unescape(tree.css_first("pre").text()) == row.markdown  # type: ignore[union-attr]


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<",
                ">",
                "/",
                "'",
                '"',
                "=",
                "a",
                "script",
                "iframe",
                "on",
                "src",
                "svg",
                "math",
                "style",
                "\x00",
                "<!--",
                "-->",
                "]]>",
                "<svg",
                "<style>",
            ]
        ),
        max_size=25,
    )
)
def test_no_mixture_of_markup_survives(parts: list[str]) -> None:
    class Page:
        record_type = "response"
        content_type = "text/html"

        def payload(self, limit: int) -> bytes:
            return "".join(parts).encode()

    check_harmless(harmless(Page()))  # type: ignore[arg-type]


def test_the_command_shows_metadata_and_markdown(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(dataset)
    text = capsys.readouterr().out
    assert re.search(r"^url +http://site\.test/0$", text, re.MULTILINE)
    assert text.endswith("# Page 0\n\nThe ferry number 0 leaves at noon.\n\n")
    command(dataset, sample=2, as_json=True)
    values = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(values) == 2
    assert values[0]["simhash"] in {row.simhash for row in ALL}


def test_terminal_codes_of_a_page_are_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = "\x1b]0;title\x07 \x9b2J a\u202eb\r\n\ttext\xa0here\n"
    out = datasets.write(
        tmp_path, {"a": [datasets.row(1, title=bad, url=f"http://x.test/{bad}", markdown=bad)]}
    )
    for raw in (True, False):
        command(out, raw=raw)
        text = capsys.readouterr().out
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert "\ttext here\n" in text


def test_a_terminal_gets_the_markdown_rendered(
    dataset: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccrawl.cli import show

    assert show._render("# Head\n\n*word* [a](http://x.test)\n")
    text = capsys.readouterr().out
    assert "# Head" not in text
    assert "Head" in text
    assert "word" in text
    deep = "> " * 20_000 + "x\n"
    if not show._render(deep):
        assert capsys.readouterr().out == ""


def test_the_command_writes_the_page(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    command(exported / "out", row=7, html=file, source=[str(exported)])
    assert capsys.readouterr().out == f"wrote {file}\n"
    assert "This is text number 1." in file.read_text()
    with pytest.raises(UsageError, match="--source"):
        command(exported / "out", row=7, html=file)
    with pytest.raises(UsageError, match="2 rows"):
        command(exported / "out", sample=2, html=file, source=[str(exported)])
