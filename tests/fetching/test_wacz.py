"""A WACZ of a refetch: every file in it is listed and hashed, and the index leads to each capture."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.commands import ccrawl
from support.exchanges import START, exchange, fetched, many, one

from ccrawl.archives import CaptureOptions, digest_of, find_sources, read_captures
from ccrawl.errors import ArchiveError, UsageError
from ccrawl.fetching import cdxj
from ccrawl.fetching.types import Fetched
from ccrawl.fetching.wacz import write_wacz
from ccrawl.fetching.warc import WarcOptions, WarcOutput, earlier_in_index
from ccrawl.fetching.warc_records import Container
from ccrawl.index import key_of, open_index
from ccrawl.index.importer import import_sources

PAGE = b"<!doctype html><title>One</title><p>The tide table hangs beside the door of the harbour office."
NOON = datetime(2026, 9, 21, 12, tzinfo=UTC)


def warcs(
    folder: Path, *all_fetched: Fetched, max_bytes: int = 1 << 30, prefix: str = "refetch"
) -> list[Path]:
    with WarcOutput(folder, WarcOptions(prefix, max_bytes)) as output:
        for each in all_fetched:
            output.write(each)
    return output.files


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        return {name: package.read(name) for name in package.namelist()}


def lines_of(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def test_every_file_is_listed_with_its_digest(tmp_path: Path) -> None:
    files = warcs(tmp_path, *many(40), max_bytes=9000, prefix="Spring-2026")
    assert len(files) > 2
    report = write_wacz(
        files, tmp_path / "out" / "a.wacz", title="Harbours", description="Of 2026", created=NOON
    )
    inside = members(report.path)
    package = json.loads(inside["datapackage.json"])
    assert package | {"resources": []} == {
        "profile": "data-package",
        "resources": [],
        "created": "2026-09-21T12:00:00Z",
        "wacz_version": "1.1.1",
        "software": package["software"],
        "title": "Harbours",
        "description": "Of 2026",
    }
    assert package["software"].startswith("ccrawl ")
    assert {entry["path"]: (entry["hash"], entry["bytes"]) for entry in package["resources"]} == {
        name: (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))
        for name, content in inside.items()
        if not name.startswith("datapackage")
    }
    assert json.loads(inside["datapackage-digest.json"]) == {
        "path": "datapackage.json",
        "hash": "sha256:" + hashlib.sha256(inside["datapackage.json"]).hexdigest(),
    }
    assert {name: content for name, content in inside.items() if name.startswith("archive/")} == {
        f"archive/{path.name}": path.read_bytes() for path in files
    }
    assert (report.bytes, report.sha256) == (
        report.path.stat().st_size,
        hashlib.sha256(report.path.read_bytes()).hexdigest(),
    )
    assert [path.name for path in report.path.parent.iterdir()] == ["a.wacz"]


def test_archives_and_compressed_indexes_lie_there_as_they_are(tmp_path: Path) -> None:
    """Readers go to a record inside the package by its offset."""
    report = write_wacz(warcs(tmp_path, *many(9)), tmp_path / "a.wacz")
    with zipfile.ZipFile(report.path) as package:
        stored = {entry.filename for entry in package.infolist() if entry.compress_type == zipfile.ZIP_STORED}
    assert {"archive/refetch-00000.warc.gz", "indexes/index.cdx.gz"} <= stored


def test_the_index_leads_to_each_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdxj, "BLOCK_LINES", 7)
    all_fetched = many(40)
    report = write_wacz(warcs(tmp_path, *all_fetched, max_bytes=9000), tmp_path / "a.wacz")
    inside = members(report.path)
    packed = inside["indexes/index.cdx.gz"]
    lines = gzip.decompress(packed).splitlines(keepends=True)
    assert lines == sorted(lines)
    assert len(lines) == report.captures == sum(len(each.exchanges) for each in all_fetched)
    urls = []
    for line in lines:
        key, timestamp, values = line.split(b" ", 2)
        told = json.loads(values)
        at = int(told["offset"])
        member = inside[f"archive/{told['filename']}"][at : at + int(told["length"])]
        record = gzip.decompress(member).decode("latin-1")
        assert f"WARC-Target-URI: {told['url']}\r\n" in record
        assert f"WARC-Payload-Digest: {told['digest']}\r\n" in record
        revisit = "WARC-Type: revisit" in record
        assert told["mime"] == ("warc/revisit" if revisit else "text/html")
        assert told["status"] == record.partition("HTTP/1.1 ")[2][:3]
        date = record.partition("WARC-Date: ")[2]
        assert timestamp.decode() == "".join(c for c in date[:19] if c.isdigit())
        assert key.startswith(b"test,site")
        urls.append(told["url"])
    assert sorted(urls) == sorted(hop.url for each in all_fetched for hop in each.exchanges)
    meta, *blocks = inside["indexes/index.idx"].splitlines()
    assert json.loads(meta.removeprefix(b"!meta 0 ")) == {
        "format": "cdxj-gzip-1.0",
        "filename": "index.cdx.gz",
    }
    found: list[bytes] = []
    for block in blocks:
        key, timestamp, values = block.split(b" ", 2)
        place = json.loads(values)
        piece = packed[place["offset"] : place["offset"] + place["length"]]
        assert place["digest"] == f"sha256:{hashlib.sha256(piece).hexdigest()}"
        held = gzip.decompress(piece).splitlines(keepends=True)
        assert held[0].startswith(key + b" " + timestamp + b" ")
        assert len(held) <= 7
        found += held
    assert found == lines
    assert len(blocks) == -(-len(lines) // 7)


def test_pages_are_the_html_that_came_whole(tmp_path: Path) -> None:
    files = warcs(
        tmp_path,
        one(0, "http://a.test/", PAGE),
        one(1, "http://a.test/copy", PAGE),
        one(2, "http://a.test/gone", b"<p>gone", status="404 Not Found"),
        one(3, "http://a.test/x.pdf", b"%PDF", fields=["Content-Type: application/pdf"]),
        one(4, "http://a.test/cut", b"<p>half", complete=False, error="timeout"),
        fetched(
            5,
            exchange("http://a.test/5", b"", status="301 X", at=START),
            exchange("http://a.test/6", b"<p>6"),
        ),
    )
    head, *pages = lines_of(members(write_wacz(files, tmp_path / "a.wacz").path)["pages/pages.jsonl"])
    assert head == {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
    assert [page["url"] for page in pages] == ["http://a.test/", "http://a.test/copy", "http://a.test/6"]
    assert [page["ts"] for page in pages[:2]] == ["2026-09-21T14:13:20.123Z", "2026-09-21T14:13:21.123Z"]
    assert len({page["id"] for page in pages}) == 3
    assert all(page.keys() == {"id", "url", "ts"} for page in pages)


def test_pages_have_the_titles_that_are_known(tmp_path: Path) -> None:
    files = warcs(tmp_path, one(0, "http://a.test/é", PAGE), one(1, "http://a.test/2", PAGE + b"!"))
    titles = [("http://a.test/é", "Old"), ("http://a.test/é", "Tides\ud800 é"), ("http://no.test/", "Other")]
    report = write_wacz(files, tmp_path / "a.wacz", titles=iter(titles))
    _, first, second = lines_of(members(report.path)["pages/pages.jsonl"])
    assert first["title"] == "Tides? é"
    assert "title" not in second
    assert report.pages == 2


def test_what_holds_the_originals_is_required(tmp_path: Path) -> None:
    """Whether it was told or stands in the revisits alone; the package itself is not."""
    with WarcOutput(tmp_path) as output:
        for number, name in enumerate(["jan.wacz", "feb.wacz", "mine.wacz"]):
            body = PAGE + name.encode()
            from_index = earlier_in_index(
                *(_original(name), digest_of(body, "sha256")), _package(name, "ab" * 32, 100 + number)
            )
            output.write(one(number, f"http://a.test/{name}", body), from_index)
        known = output.containers()
    assert Container("jan.wacz", "ab" * 32, 100, "jan") in known

    def required(**options: Any) -> Any:
        inside = members(write_wacz(output.files, tmp_path / "mine.wacz", **options).path)
        return json.loads(inside["datapackage.json"])["relation"]["requires"]

    assert required(requires=known) == [
        {"filename": "feb.wacz", "hash": "ab" * 32, "size": 101, "crawlId": "feb"},
        {"filename": "jan.wacz", "hash": "ab" * 32, "size": 100, "crawlId": "jan"},
    ]
    assert required() == [{"filename": "feb.wacz"}, {"filename": "jan.wacz"}]


def _original(name: str) -> Any:
    from ccrawl.index import Original

    return Original(name.removesuffix(".wacz"), 0, "20250102030405", "http://old.test/", 900)


def _package(name: str, digest: str, size: int) -> Any:
    from ccrawl.index import Package

    return Package(name, digest, size)


def test_a_package_that_needs_no_other_says_nothing(tmp_path: Path) -> None:
    inside = members(write_wacz(warcs(tmp_path, *many(9)), tmp_path / "a.wacz").path)
    assert "relation" not in json.loads(inside["datapackage.json"])


def test_the_same_files_and_date_give_the_same_bytes(tmp_path: Path) -> None:
    files = warcs(tmp_path, *many(9))
    first = write_wacz(files, tmp_path / "a.wacz", created=NOON)
    second = write_wacz(files, tmp_path / "b.wacz", created=NOON)
    assert first.sha256 == second.sha256


def test_a_package_above_the_limit_of_zip_is_zip64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = warcs(tmp_path, *many(40))
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 2000)
    report = write_wacz(files, tmp_path / "a.wacz")
    monkeypatch.undo()
    assert b"PK\x06\x06" in report.path.read_bytes()
    assert members(report.path)["archive/refetch-00000.warc.gz"] == files[0].read_bytes()
    assert len(list(read_captures(find_sources([str(report.path)])[0]))) > 9


def test_a_damaged_archive_leaves_the_old_package(tmp_path: Path) -> None:
    files = warcs(tmp_path, *many(9))
    report = write_wacz(files, tmp_path / "a.wacz")
    content = bytearray(files[0].read_bytes())
    content[len(content) // 2] ^= 0xFF
    files[0].write_bytes(content)
    before = report.path.read_bytes()
    with pytest.raises(
        ArchiveError, match=r"refetch-00000\.warc\.gz: damaged at offset \d+ .*; ccrawl check "
    ):
        write_wacz(files, report.path)
    assert report.path.read_bytes() == before
    assert not list(tmp_path.glob(".a.wacz*"))


def test_two_archives_of_one_name_are_refused(tmp_path: Path) -> None:
    files = [*warcs(tmp_path / "a", *many(2)), *warcs(tmp_path / "b", *many(2))]
    with pytest.raises(UsageError, match=r"two WARC files are named refetch-00000\.warc\.gz"):
        write_wacz(files, tmp_path / "a.wacz")


def test_our_own_reader_finds_it_sound(tmp_path: Path) -> None:
    report = write_wacz(warcs(tmp_path, *many(40), max_bytes=9000), tmp_path / "a.wacz")
    done = ccrawl("check", "--json", report.path)
    assert done.returncode == 0, done.stderr
    options = CaptureOptions(resolve_revisits=True)
    captures = [
        capture
        for source in find_sources([str(report.path)])
        for capture in read_captures(source, options=options)
    ]
    assert len(captures) > 20
    bodies = {hop.url: hop.body for each in many(40) for hop in each.exchanges}
    assert all(capture.body == bodies[capture.url] for capture in captures)


def test_the_dedupe_index_takes_it_in_and_names_it_to_the_next_refetch(tmp_path: Path) -> None:
    """A second refetch finds the first one's body in the index: its revisit names the WACZ, which it needs."""
    report = write_wacz(
        warcs(tmp_path / "one", one(0, "http://a.test/", PAGE), one(1, "http://a.test/2", PAGE)),
        tmp_path / "first.wacz",
    )
    digest = digest_of(PAGE, "sha256")
    with open_index(str(tmp_path / "index")) as index:
        import_sources(index, [str(report.path)])
        index.begin("next")
        view = index.view("next")
        (original,) = view.find([key_of(digest)])
        view.close()
        assert original is not None
        (crawl,) = [crawl for crawl in index.crawls() if crawl.id == original.crawl]
    assert (original.url, original.date[:14]) == ("http://a.test/", "20260921141320")
    with WarcOutput(tmp_path / "two") as output:
        from_index = earlier_in_index(original, digest, crawl.packages[original.package])
        output.write(one(0, "http://b.test/", PAGE), from_index)
    assert [container.filename for container in output_containers(output.files, tmp_path)] == ["first.wacz"]


def output_containers(files: list[Path], tmp_path: Path) -> list[Container]:
    inside = members(write_wacz(files, tmp_path / "second.wacz").path)
    requires = json.loads(inside["datapackage.json"])["relation"]["requires"]
    return [Container(entry["filename"]) for entry in requires]


def test_an_index_is_sorted_whatever_its_size() -> None:
    """Blocks follow each other without a gap, and an empty index has none."""
    file = io.BytesIO()
    assert len(list(cdxj.write_blocks(iter([]), file, "x.cdx.gz"))) == 1
    assert file.getvalue() == b""
