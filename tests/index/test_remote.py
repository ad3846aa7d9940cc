"""Imports over the network, from servers of the tests' own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from archives.server import Server, running_s3
from support import warcs

from ccrawl.errors import SourceError
from ccrawl.index import DedupIndex, Package, open_index
from ccrawl.index.importer import import_sources

from .test_import import cdxj, line, wacz


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DedupIndex]:
    with open_index(str(tmp_path / "index")) as opened:
        yield opened


def test_every_kind_of_source_is_read_from_a_web_server_as_from_disk(
    tmp_path: Path, folder: DedupIndex, server: Server
) -> None:
    wacz(tmp_path / "a.wacz", [line(1), line(2)])
    cdxj(tmp_path / "b.cdxj.gz", [line(3)])
    cdxj(tmp_path / "c.cdx.gz", [line(4)])
    (tmp_path / "c.idx").write_text("test,site)/ 2025\tc.cdx.gz\t0\t100\t1\n")
    warcs.write(tmp_path / "d.warc.gz", [warcs.response(5)])
    (tmp_path / "all.json").write_text(
        json.dumps({"resources": [{"path": "a.wacz", "crawlId": "crawl", "hash": "sha256:ab"}]})
    )
    for file in tmp_path.iterdir():
        if file.is_file():
            server.files[f"/x/{file.name}"] = file.read_bytes()
    names = ("all.json", "b.cdxj.gz", "c.idx", "d.warc.gz")
    remote = [f"{server.url}/x/{name}?token=1" for name in names]
    report = import_sources(folder, remote)
    assert (report.packages, report.records, report.failed) == (4, 5, ())
    again = import_sources(folder, [url.replace("token=1", "token=2") for url in remote])
    assert (again.packages, again.known) == (0, 4)
    [crawl] = [crawl for crawl in folder.crawls() if crawl.id == "crawl"]
    assert crawl.packages == (Package("a.wacz", "ab", (tmp_path / "a.wacz").stat().st_size),)
    assert folder.stats().unique == 5
    assert folder.verify() == []


def test_a_source_that_is_gone_fails_alone(tmp_path: Path, folder: DedupIndex, server: Server) -> None:
    server.files["/a.cdxj"] = cdxj(tmp_path / "a.cdxj", [line(1)]).read_bytes()
    report = import_sources(folder, [f"{server.url}/gone.cdxj", f"{server.url}/a.cdxj"])
    assert report.packages == 1
    [failure] = report.failed
    assert f"{server.url}/gone.cdxj" in failure


def test_a_manifest_may_name_web_servers_but_nothing_stranger(tmp_path: Path, folder: DedupIndex) -> None:
    for path in ("gopher://site.test/a.wacz", "file:///etc/a.wacz"):
        manifest = tmp_path / "all.json"
        manifest.write_text(json.dumps({"resources": [{"path": path}]}))
        with pytest.raises(SourceError, match="neither a file beside it nor an http"):
            import_sources(folder, [str(manifest)])


def test_a_bucket_is_read_by_pattern(
    tmp_path: Path, folder: DedupIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_s3() as (endpoint, client):
        for name, value in (
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            monkeypatch.setenv(name, value)
        for number in (1, 2):
            body = cdxj(tmp_path / f"{number}.cdxj.gz", [line(number)]).read_bytes()
            client.put_object(Bucket="mirror", Key=f"cdx/{number}.cdxj.gz", Body=body)
        report = import_sources(folder, ["s3://mirror/cdx/*.cdxj.gz"])
    assert (report.packages, report.records, report.failed) == (2, 2, ())
