"""Remote shards: a server that drops, ignores, refuses and lies, and an S3 server."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccrawl.archives import (
    Tally,
    crawl_sources,
    find_sources,
    location_sources,
    opening,
    read_captures,
    remote,
)
from ccrawl.archives.http_file import HttpFile
from ccrawl.archives.remote import Retry
from ccrawl.errors import SourceError

from .build import member, page, record, response, zip_of
from .server import Server, running_s3

FAST = Retry(attempts=4, timeout=5, pause=0.001)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(opening, "open_url", lambda url: remote.open_url(url, FAST))
    from ccrawl.archives import locations

    monkeypatch.setattr(locations, "open_url", lambda url: remote.open_url(url, FAST))
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def warc(count: int = 30, size: int = 400) -> bytes:
    return b"".join(
        member(record(response(page(os.urandom(size).hex(), 1) + f"<!-- {n} -->"), n)) for n in range(count)
    )


def numbers(url: str, tally: Tally | None = None) -> list[int]:
    return [int(c.url.rpartition("/")[2]) for c in read_captures(url, tally=tally)]


def test_a_shard_is_read_in_one_request(server: Server) -> None:
    server.files["/a.warc.gz"] = warc()
    assert numbers(server.url + "/a.warc.gz?token=1") == list(range(30))
    assert server.requests == [("/a.warc.gz", "bytes=0-")]
    (source,) = find_sources([server.url + "/a.warc.gz?token=1"])
    assert source.name == "a.warc.gz"


def test_a_broken_connection_is_resumed_where_it_broke(server: Server) -> None:
    data = warc()
    server.files["/a.warc.gz"] = data
    server.drop_every = 3000
    tally = Tally()
    assert numbers(server.url + "/a.warc.gz", tally) == list(range(30))
    assert not tally.damage
    asked = [int(value.removeprefix("bytes=").rstrip("-")) for _, value in server.requests]
    assert asked == list(range(0, len(data), 3000))


def test_a_server_that_ignores_ranges_is_read_from_the_start_again(server: Server) -> None:
    data = warc()
    server.files["/a.warc.gz"] = data
    server.ignore_ranges = True
    assert numbers(server.url + "/a.warc.gz") == list(range(30))
    file = HttpFile(server.url + "/a.warc.gz", FAST)
    with file:
        file.seek(5000)
        assert file.read(100) == data[5000:5100]
        assert file.size == len(data)


def test_a_busy_server_is_asked_again_and_given_up_after_some_attempts(server: Server) -> None:
    server.files["/a.warc.gz"] = warc(3)
    server.refuse = FAST.attempts - 1
    assert numbers(server.url + "/a.warc.gz") == [0, 1, 2]
    server.refuse = 1000
    with pytest.raises(
        SourceError, match=r"a\.warc\.gz: reading stopped at byte 0 after 4 attempts: HTTP 503"
    ):
        numbers(server.url + "/a.warc.gz")


def test_a_length_that_promises_too_much_is_an_error_and_no_endless_loop(server: Server) -> None:
    server.files["/a.warc.gz"] = warc(3)
    server.ignore_ranges = True
    server.extra_length = 500
    with pytest.raises(SourceError, match="reading stopped at byte"):
        numbers(server.url + "/a.warc.gz")
    assert len(server.requests) == FAST.attempts


def test_a_length_that_promises_too_little_is_a_cut_archive(server: Server) -> None:
    server.files["/a.warc.gz"] = warc(3)
    server.ignore_ranges = True
    server.extra_length = -100
    tally = Tally()
    assert numbers(server.url + "/a.warc.gz", tally) == [0, 1]
    assert dict(tally.damaged) == {"cut": 1}


def test_a_missing_file_is_an_error_at_once(server: Server) -> None:
    with pytest.raises(SourceError, match=r"gone\.warc\.gz: HTTP 404"):
        numbers(server.url + "/gone.warc.gz")
    assert len(server.requests) == 1
    with pytest.raises(SourceError, match=r"http://127\.0\.0\.1:1/x\.warc: reading stopped .* refused"):
        numbers("http://127.0.0.1:1/x.warc")


def test_a_file_that_changes_while_it_is_read_is_an_error(server: Server) -> None:
    server.files["/a.warc.gz"] = warc()
    server.drop_every = 3000
    server.tags = ['"one"', '"two"']
    with pytest.raises(SourceError, match="changed while"):
        numbers(server.url + "/a.warc.gz")


def test_damage_in_a_remote_file_is_stepped_over(server: Server) -> None:
    parts = [member(record(response(page(str(n), 200)), n)) for n in range(6)]
    broken = bytearray(parts[2])
    broken[50] ^= 0xFF
    server.files["/a.warc.gz"] = b"".join([*parts[:2], bytes(broken), *parts[3:]])
    tally = Tally()
    assert numbers(server.url + "/a.warc.gz", tally) == [0, 1, 3, 4, 5]
    assert tally.damage[0].offset == len(parts[0]) + len(parts[1])
    assert len(server.requests) == 1  # served from what was kept, not fetched again


def test_a_remote_wacz_is_read_by_ranges(server: Server) -> None:
    server.files["/c.wacz"] = zip_of({"filler.bin": os.urandom(400_000), "archive/a.warc.gz": warc(3)})
    assert numbers(server.url + "/c.wacz") == [0, 1, 2]
    assert all(path == "/c.wacz" for path, _ in server.requests)


def test_the_cache_fetches_a_file_once_and_whole(server: Server, tmp_path: Path) -> None:
    data = warc(3)
    server.files["/a.warc.gz"] = data
    (source,) = find_sources([server.url + "/a.warc.gz"], cache=str(tmp_path / "cache"))
    for _ in range(2):
        assert len(list(read_captures(source))) == 3
    assert len(server.requests) == 1
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.read_bytes() == data
    kept.unlink()
    server.drop_every, server.ignore_ranges, server.extra_length = 0, True, 10
    with pytest.raises(SourceError):
        list(read_captures(source))
    assert list((tmp_path / "cache").iterdir()) == []  # no half file


def test_a_crawl_is_resolved_under_a_base_url(server: Server) -> None:
    name = "crawl-data/CC-MAIN-2021-01/wet/0.warc.wet.gz"
    server.files["/crawl-data/CC-MAIN-2021-01/wet.paths.gz"] = gzip.compress(name.encode())
    server.files["/" + name] = warc(2)
    (source,) = crawl_sources("CC-MAIN-2021-01", "all", kind="wet", base_url=server.url)
    assert (source.name, source.number) == (name, 0)
    assert len(list(read_captures(source))) == 2


def test_places_near_each_other_are_fetched_together(server: Server) -> None:
    parts = [member(record(response(page(str(n), 30)), n)) for n in range(20)]
    server.files["/x/a.warc.gz"] = b"".join(parts)
    starts = [sum(map(len, parts[:n])) for n in range(20)]
    lines = [
        json.dumps({"filename": "x/a.warc.gz", "offset": starts[n], "length": len(parts[n])})
        for n in (0, 1, 3, 18, 19)
    ]
    (source,) = location_sources(lines, base_url=server.url, gap=len(parts[2]))
    assert [int(c.url.rpartition("/")[2]) for c in read_captures(source)] == [0, 1, 3, 18, 19]
    assert [value for _, value in server.requests] == [
        f"bytes=0-{starts[4] - 1}",
        f"bytes={starts[18]}-{starts[19] + len(parts[19]) - 1}",
    ]


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[str, Any]]:
    pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    with running_s3() as running:
        yield running


@pytest.mark.parametrize("credentials", [True, False])
def test_s3_with_credentials_and_without(
    s3: tuple[str, Any], credentials: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    endpoint, client = s3
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    if credentials:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    data = warc(5)
    for key in ("shards/a.warc.gz", "shards/b.warc.gz", "shards/notes.txt"):
        client.put_object(Bucket="mirror", Key=key, Body=data, ACL="public-read")
    monkeypatch.setattr(remote, "BLOCK", 4096)
    assert numbers("s3://mirror/shards/a.warc.gz") == list(range(5))
    for argument in ("s3://mirror/shards/", "s3://mirror/shards/*.warc.gz"):
        assert [source.path for source in find_sources([argument])] == [
            "s3://mirror/shards/a.warc.gz",
            "s3://mirror/shards/b.warc.gz",
        ]
    with pytest.raises(SourceError, match=r"s3://mirror/gone\.warc: "):
        numbers("s3://mirror/gone.warc")
    with pytest.raises(SourceError, match="s3://nobucket/x/"):
        find_sources(["s3://nobucket/x/"])
