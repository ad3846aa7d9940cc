"""Lists of URLs, as editors and shells of all systems write them."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import warcs

from ccrawl.errors import SourceError
from ccrawl.fetching import targets
from ccrawl.fetching.targets import Read, find_inputs, read_wanted
from ccrawl.run.options import ExportOptions

URLS = ["http://a.test/1", "http://b.test/é", "http://a.test/3"]


def urls_of(path: Path) -> tuple[list[str], Counter[str]]:
    read, found = Read(), []
    for one in find_inputs([str(path)], path.parent):
        found += [wanted.url for wanted in read_wanted(one, ExportOptions(), read)]
    records = read.archive.records if read.archive else read.records
    assert records == len(found) + sum(read.skipped.values())
    return found, read.skipped


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n\n \n", "  \r\n# no URL\n"])
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("last", [True, False])
def test_a_line_is_a_url_however_lines_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line_end: str, coding: str, last: bool
) -> None:
    text = line_end.join(URLS) + line_end * last
    for name, content in (
        ("plain.txt", text.encode(coding)),
        ("packed.txt.gz", gzip.compress(text.encode(coding))),
    ):
        (tmp_path / name).write_bytes(content)
        for part_lines in (1, 2, 50_000):
            monkeypatch.setattr(targets, "PART_LINES", part_lines)
            assert urls_of(tmp_path / name) == (URLS, Counter())


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("packed", [True, False])
def test_a_list_in_another_unicode_form_is_refused(tmp_path: Path, coding: str, packed: bool) -> None:
    content = "\n".join(URLS).encode(coding)
    path = tmp_path / ("list.txt.gz" if packed else "list.txt")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(SourceError, match=r"list\.txt(\.gz)?: is no text in UTF-8"):
        urls_of(path)


def test_a_list_without_line_feeds_is_refused_and_not_read_as_one_url(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("\r".join([*URLS, ""]).encode())
    with pytest.raises(SourceError, match="its lines end with CR alone"):
        urls_of(tmp_path / "old.txt")
    (tmp_path / "one.txt").write_bytes(URLS[0].encode() + b"\r")
    assert urls_of(tmp_path / "one.txt") == (URLS[:1], Counter())


def test_objects_without_a_url_are_counted_by_cause(tmp_path: Path) -> None:
    lines = [
        f'{{"url": "{URLS[0]}", "simhash": -5, "crawl_id": 7}}',
        '{"nourl": 1}',
        '{"url": null}',
        '{"url"',
    ]
    (tmp_path / "list.jsonl").write_text("\n".join(lines))
    assert urls_of(tmp_path / "list.jsonl") == (URLS[:1], Counter({"no-url": 2, "bad-json": 1}))


@pytest.mark.parametrize(
    "bad", [f"{URLS[1]}\0x", f"\0{URLS[1]}", f"{URLS[1]}\0", '{"url": "http://b.test/\\u0000x"}']
)
def test_a_line_with_a_nul_is_counted_and_not_read_as_another_url(tmp_path: Path, bad: str) -> None:
    # Behind the start of the file, which tells what the file is.
    (tmp_path / "list.txt").write_text("\n".join(["#" * 5000, URLS[0], bad, URLS[2], ""]))
    assert urls_of(tmp_path / "list.txt") == ([URLS[0], URLS[2]], Counter({"has-nul": 1}))


def test_a_url_with_a_nul_is_counted_in_datasets_and_archives_too(tmp_path: Path) -> None:
    bad = f"{URLS[1]}\0x"
    pq.write_table(pa.table({"url": [URLS[0], bad]}), tmp_path / "pages.parquet")
    assert urls_of(tmp_path / "pages.parquet") == (URLS[:1], Counter({"has-nul": 1}))
    warcs.write(tmp_path / "a.warc", [warcs.response(0, url=URLS[0]), warcs.response(1, url=bad)])
    assert urls_of(tmp_path / "a.warc") == (URLS[:1], Counter({"has-nul": 1}))
