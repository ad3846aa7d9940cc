"""An index that is damaged, or not as we write it, is said to be so in one line, and nothing of it is lost."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from ccrawl.errors import UsageError
from ccrawl.index import Counts, DedupIndex, Entry, IndexFailure, Package, embedded, open_index, redis_client
from ccrawl.index.tables import CrawlRecord

KEYS = sorted(b"\x02" + hashlib.sha1(b"%d" % number).digest() for number in range(2000))


def filled(folder: Path) -> Path:
    """An index with a crawl, an open run that sees it, and a staged one."""
    with open_index(str(folder)) as index:
        index.add_package("crawl", Package("a.wacz"), [entry(key) for key in KEYS])
        index.begin("open")
        index.begin("staged")
        index.stage("staged", [entry(KEYS[0]), entry(b"\x02" + bytes(20))], Counts(2))
    return folder


def entry(key: bytes) -> Entry:
    return Entry(key, "20250304050607", f"http://site.test/{key.hex()}", 5000)


def flip(folder: Path) -> None:
    """Damages blocks of the tables, sizes and ends as they were."""
    for table in folder.glob("*.sst"):
        held = bytearray(table.read_bytes())
        for at in range(20, len(held) - 3000, 997):
            held[at] ^= 0x55
        table.write_bytes(held)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.sst")}


ASKED: dict[str, Callable[[DedupIndex], object]] = {
    "verify": lambda index: index.verify(),
    "look up": lambda index: index.view("open").find(KEYS),
    "commit": lambda index: index.commit("staged"),
    "import": lambda index: index.add_package("other", Package("b.wacz"), [entry(key) for key in KEYS]),
    "remove": lambda index: index.remove(["crawl"]),
}


@pytest.mark.parametrize("asked", ASKED)
def test_damaged_tables_are_never_read_as_shorter_ones(tmp_path: Path, asked: str) -> None:
    folder = filled(tmp_path / "index")
    flip(folder / "store")  # the run's view has the same files
    before = files(folder / "store")
    with open_index(str(folder)) as index:
        with pytest.raises(IndexFailure, match=r"index: the index is damaged; .*Corruption") as failure:
            ASKED[asked](index)
        assert "\n" not in str(failure.value)
        assert {crawl.id: crawl.state for crawl in index.crawls()}["crawl"] == "committed"
    assert files(folder / "store") == before


def test_tables_that_nothing_names_are_not_replaced_by_a_new_store(tmp_path: Path) -> None:
    folder = filled(tmp_path / "index")
    (folder / "store" / "CURRENT").rename(tmp_path / "CURRENT")
    before = files(folder / "store")
    with open_index(str(folder)) as index:
        for asked in (index.verify, index.crawls, index.compact, lambda: index.begin("new")):
            with pytest.raises(IndexFailure, match=r"damaged.*CURRENT"):
                asked()
    assert files(folder / "store") == before
    (tmp_path / "CURRENT").rename(folder / "store" / "CURRENT")
    with open_index(str(folder)) as index:
        assert index.verify() == []
        assert index.stats().unique == len(KEYS)


def test_a_store_whose_making_was_interrupted_is_made_again(tmp_path: Path) -> None:
    with open_index(str(tmp_path)) as index:
        index.begin("first")
        index.cancel("first")
        for file in (tmp_path / "store").iterdir():
            if not file.name.startswith(("MANIFEST", "LOG", "LOCK", "IDENTITY")):
                file.unlink()
        assert index.crawls() == []
        index.add_package("crawl", Package("a.wacz"), [entry(KEYS[0])])
        assert index.verify() == []


@pytest.mark.parametrize(
    "value", [b"", b"short", bytes(19), b"\x00\x00\x00\x09" + bytes(20), bytes(20) + b"\xff"]
)
def test_first_copies_that_say_nothing_are_damage(
    tmp_path: Path, value: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(tmp_path / "index")
    with open_index(str(folder)) as index:
        view = index.view("open")
        monkeypatch.setattr(embedded, "many", lambda store, prefix, keys: [value] * len(keys))
        with pytest.raises(IndexFailure, match="damaged"):
            view.find(KEYS[:1])
        view.close()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"5", b"[]", b"{}", b'{"counts": 5, "packages": []}', b"[" * 100_000]
)
def test_a_record_that_is_none_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"record|Expecting"):
        CrawlRecord.from_json(text)


@pytest.mark.parametrize(
    "note", ["", "5", "{}", json.dumps({"crawl": "a", "package": None, "later": 1}), "[" * 100_000]
)
def test_a_merge_of_another_version_is_left_to_it(redis_url: str, note: str) -> None:
    with redis.Redis.from_url(redis_url, socket_timeout=60) as client, open_index(redis_url) as index:
        client.set("ccrawl:merging", note)
        with pytest.raises(IndexFailure, match="the version that wrote it"):
            index.compact()
        assert client.get("ccrawl:merging") == note.encode()
        assert client.get("ccrawl:lock") is None


def test_a_crawl_whose_name_is_no_utf8_is_named(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url, socket_timeout=60) as client, open_index(redis_url) as index:
        client.sadd("allcrawls", b"bad\xff")
        with pytest.raises(IndexFailure, match="no UTF-8; take it out"):
            index.crawls()


@pytest.mark.parametrize("path", ["/abc", "/1/2", "/-1", "/0x", "//"])
def test_a_database_that_is_no_number_is_not_taken_for_the_first(path: str) -> None:
    with pytest.raises(UsageError, match="database"):
        open_index(f"redis://:secret@127.0.0.1:1{path}")


def test_a_server_without_tls_is_not_waited_for(redis_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_client, "_HANDSHAKE", 0.2)
    started = time.monotonic()
    with pytest.raises(IndexFailure, match="check host, port and scheme"):
        open_index(f"rediss://127.0.0.1:{redis_port}/0")
    assert time.monotonic() - started < 60
