"""One index for Browsertrix Crawler and ccrawl, each reading what the other wrote."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from ccrawl.index import Counts, DedupIndex, Entry, IndexFailure, Package, open_index
from ccrawl.index.importer import import_sources

from .browsertrix import COUNTERS, Crawler, commit, undocumented
from .conftest import start_server
from .test_import import line, wacz


def digest(number: int) -> str:
    return hashlib.sha256(b"%d" % number).hexdigest()


def key(number: int) -> bytes:
    return b"\x04" + bytes.fromhex(digest(number))


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url, decode_responses=True, socket_timeout=60) as opened:
        yield opened


@pytest.fixture
def shared(redis_url: str) -> Iterator[DedupIndex]:
    with open_index(redis_url) as opened:
        yield opened


def found(index: DedupIndex, *numbers: int) -> list[tuple[str, int, str, str, int] | None]:
    run = f"look-{len(index.crawls())}"
    index.begin(run)
    view = index.view(run)
    originals = view.find([key(number) for number in numbers])
    view.close()
    index.cancel(run)
    return [None if one is None else tuple(one) for one in originals]


def test_what_a_crawler_committed_is_found(client: Any, shared: DedupIndex) -> None:
    crawler = Crawler(client, "crawl-1", "one.wacz")
    crawler.capture(digest(1), "20250304050607089", "http://site.test/1", 4000)
    crawler.capture(digest(1), "20250304050608000", "http://site.test/again", 4000)
    crawler.finish_wacz("one.wacz", "ab" * 32, 9000)
    assert found(shared, 1) == [None]  # it is still running
    commit(client, "crawl-1")
    assert found(shared, 1, 2) == [("crawl-1", 0, "20250304050607089", "http://site.test/1", 4000), None]
    assert shared.stats().counts == Counts(2, 1, 3700, 9000)
    [crawl] = shared.crawls()
    assert crawl.packages == (Package("one.wacz", "ab" * 32, 9000),)
    assert shared.known_packages(["one.wacz"])
    assert shared.verify() == []


def test_what_we_committed_is_found_by_a_crawler(client: Any, shared: DedupIndex) -> None:
    shared.begin("run")
    shared.stage(
        "run", [Entry(key(1), "20250304050607", "http://site.test/a b", 4000)], Counts(3, 2, 500, 100)
    )
    crawler = Crawler(client, "crawl-1", "one.wacz")
    assert crawler.lookup(digest(1)) is None
    shared.commit("run")
    assert crawler.lookup(digest(1)) == {
        "crawl": "run",
        "slot": 0,
        "date": "20250304050607",
        "url": "http://site.test/a%20b",
        "size": 4000,
    }
    assert crawler.capture(digest(1), "20250304050608000", "http://new.test/", 4000)
    assert client.hgetall("h:run:counts") == {
        "totalUrls": "3",
        "dupeUrls": "2",
        "conservedSize": "500",
        "totalCrawlSize": "100",
    }
    assert client.hgetall("allcounts") == client.hgetall("h:run:counts")
    assert client.smembers("allcrawls") == {"run"}
    assert client.smembers("uncommittedcrawls") == {"crawl-1"}
    assert undocumented(client) == []


def test_either_may_commit_the_others_crawl(client: Any, shared: DedupIndex) -> None:
    shared.begin("ours")
    shared.stage("ours", [Entry(key(1), "20250304050607", "http://ours.test/", 10)], Counts(1))
    Crawler(client, "theirs", "one.wacz").capture(digest(2), "20250304050607000", "http://theirs.test/", 20)
    commit(client, "ours")
    shared.commit("theirs")
    assert [one and one[0] for one in found(shared, 1, 2)] == ["ours", "theirs"]
    assert shared.commit("ours").counts == Counts(1)  # done already
    assert shared.stats().counts.total == 2
    assert client.smembers("src:d") == {"one.wacz"}
    assert shared.verify() == []


def test_a_crawler_that_commits_first_keeps_its_payload(client: Any, shared: DedupIndex) -> None:
    shared.begin("ours")
    shared.stage("ours", [Entry(key(1), "20250304050607", "http://ours.test/", 10)], Counts(1))
    Crawler(client, "theirs").capture(digest(1), "20250304050607000", "http://theirs.test/", 20)
    commit(client, "theirs")
    shared.commit("ours")
    assert [one and one[0] for one in found(shared, 1)] == ["theirs"]
    assert shared.verify() == []


@pytest.mark.parametrize(
    "value",
    [
        *("0 20250304050607000 http://site.test/ 0", "0 20250304050607000 http://site.test/ NaN"),
        *("0 20250304050607000 http://site.test/ -5", "0 20250304050607000 http://site.test/"),
        *("", "nonsense", "x 20250304050607000 http://site.test/ 10", "0 then http://site.test/ 10"),
    ],
)
def test_values_that_a_crawler_would_not_count_as_duplicates_are_none(
    client: Any, shared: DedupIndex, value: str
) -> None:
    Crawler(client, "theirs")
    client.hset("h:theirs", digest(1), value)
    commit(client, "theirs")
    assert found(shared, 1) == [None]


def test_a_blank_in_a_url_does_not_hide_the_size(client: Any, shared: DedupIndex) -> None:
    Crawler(client, "theirs")
    client.hset("h:theirs", digest(1), "0 20250304050607000 http://site.test/a b c 10")
    commit(client, "theirs")
    assert found(shared, 1) == [("theirs", 0, "20250304050607000", "http://site.test/a b c", 10)]


def test_a_package_gets_its_own_slot_and_only_known_counters(
    client: Any, shared: DedupIndex, tmp_path: Path
) -> None:
    for number in (1, 2):
        wacz(tmp_path / f"{number}.wacz", [line(number), line(8 + number)])
        import_sources(shared, [str(tmp_path / f"{number}.wacz")], crawl="crawl")
    slots = [json.loads(text) for text in client.lrange("c:crawl:wacz", 0, -1)]
    assert [slot["filename"] for slot in slots] == ["1.wacz", "2.wacz"]
    assert all(set(slot) == {"filename", "hash", "size"} for slot in slots)
    assert sorted(value.split(" ")[0] for value in client.hvals("h:crawl")) == ["0", "0", "1", "1"]
    assert client.smembers("src:d") == {"1.wacz", "2.wacz"}
    assert set(client.hgetall("h:crawl:counts")) <= set(COUNTERS)
    assert set(client.hgetall("allcounts")) <= {*COUNTERS, "redundantUrls", "estimatedRedundantSize"}
    assert undocumented(client) == []


def test_an_import_comes_to_the_counts_of_the_live_crawls(
    client: Any, shared: DedupIndex, tmp_path: Path
) -> None:
    """The same two crawls, once written live by the crawler and once imported from their WACZ files, the one
    that refers to the other first."""
    first = Crawler(client, "one", "one.wacz")
    for number in range(6):
        first.capture(digest(number), "20250304050607000", f"http://site.test/{number}", 3000 + number)
    commit(client, "one")
    second = Crawler(client, "two", "two.wacz")
    for number in range(3, 9):
        second.capture(digest(number), "20250305050607000", f"http://site.test/{number}", 3000 + number)
    commit(client, "two")
    live = shared.stats()
    client.flushdb()
    new = {number: {"digest": digest(number), "length": str(3000 + number)} for number in range(9)}
    wacz(tmp_path / "one.wacz", [line(number, **new[number]) for number in range(6)])
    wacz(
        tmp_path / "two.wacz",
        [line(number, mime="warc/revisit", digest=digest(number), length="300") for number in range(3, 6)]
        + [line(number, **new[number]) for number in range(6, 9)],
    )
    for name in ("two", "one"):
        import_sources(shared, [str(tmp_path / f"{name}.wacz")], crawl=name)
    imported = shared.stats()
    assert (imported.unique, imported.redundant) == (live.unique, live.redundant) == (9, 0)
    assert imported.counts.total == live.counts.total == 12
    assert imported.counts.duplicates == live.counts.duplicates == 3
    assert imported.counts.conserved == live.counts.conserved == sum(2700 + number for number in range(3, 6))
    assert not client.keys("rev:*")
    assert shared.verify() == []


def test_revisits_that_a_crawlers_import_left_unsettled_are_settled(client: Any, shared: DedupIndex) -> None:
    client.sadd("allcrawls", "late")
    client.hset("h:late:counts", mapping={"totalUrls": 2, "dupeUrls": 2})
    client.hset("allcounts", mapping={"totalUrls": 2, "dupeUrls": 2})
    client.hset(f"rev:sha256:{digest(1)}:s", "late", 700)  # Browsertrix keeps the prefix here
    client.hset(f"rev:sha256:{digest(1)}:c", "late", 2)
    shared.begin("run")
    shared.stage("run", [Entry(key(1), "20250304050607", "http://site.test/", 1000)], Counts(1))
    shared.commit("run")
    assert client.hget("h:late:counts", "conservedSize") == "1300"
    assert shared.stats().counts.conserved == 1300
    assert not client.keys("rev:*")


def test_large_redundant_records_are_estimated_as_a_crawlers_import_does(
    client: Any, shared: DedupIndex, tmp_path: Path
) -> None:
    for name, lengths in (("a", (5000, 900)), ("b", (4000, 900))):
        wacz(tmp_path / f"{name}.wacz", [line(n, length=str(size)) for n, size in enumerate(lengths)])
        import_sources(shared, [str(tmp_path / f"{name}.wacz")], crawl=name)
    counts = client.hgetall("allcounts")
    assert (counts["redundantUrls"], counts["estimatedRedundantSize"]) == ("1", "3000")


def test_removal_takes_the_traces_of_a_crawl(client: Any, shared: DedupIndex, tmp_path: Path) -> None:
    for name, numbers in (("a", (1, 2)), ("b", (2, 3))):
        wacz(tmp_path / f"{name}.wacz", [line(n) for n in numbers] + [line(90, mime="warc/revisit")])
        import_sources(shared, [str(tmp_path / f"{name}.wacz")], crawl=name)
    client.sadd("canceledcrawls", "a")
    shared.remove(["a"])
    assert not [name for name in client.scan_iter() if ":a" in name or name.endswith("a")]
    assert client.smembers("src:d") == {"b.wacz"}
    assert not client.smembers("canceledcrawls")
    assert client.hgetall(client.keys("rev:*:c")[0]) == {"b": "1"}
    assert shared.verify() == []


def test_a_wrong_entry_is_reported(client: Any, shared: DedupIndex) -> None:
    Crawler(client, "theirs").capture(digest(1), "20250304050607000", "http://site.test/", 20)
    commit(client, "theirs")
    assert shared.verify() == []
    client.hset("alldupes", digest(2), "theirs")
    client.hset("alldupes", digest(3), "nobody")
    client.hincrby("allcounts", "totalUrls", 5)
    report = "\n".join(shared.verify())
    assert "theirs: 1 of its first copies are not in its own hash" in report
    assert "nobody: owns 1 first copies, but is not committed" in report
    assert "sums recorded" in report


def test_a_password_is_needed_and_never_shown(secret_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IndexFailure, match="uthentication"):
        open_index(f"redis://127.0.0.1:{secret_port}/0")
    with pytest.raises(IndexFailure) as refused:
        open_index(f"redis://:wrong-secret@127.0.0.1:{secret_port}/0")
    assert "wrong-secret" not in str(refused.value)
    with open_index(f"redis://:open%20sesame@127.0.0.1:{secret_port}/0") as index:
        assert index.location == f"redis://127.0.0.1:{secret_port}/0"
        index.begin("run")
        index.view("run").close()
        index.cancel("run")
    monkeypatch.setenv("CCRAWL_REDIS_PASSWORD", "open sesame")
    with open_index(f"redis://127.0.0.1:{secret_port}/0") as index:
        assert index.crawls() == []


def test_tls_is_spoken_and_the_certificate_is_checked(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    key_file, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
            ),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key_file, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    server, port = start_server(
        tmp_path / "server",
        *("--port", "0", "--tls-cert-file", str(certificate), "--tls-key-file", str(key_file)),
        *("--tls-ca-cert-file", str(certificate), "--tls-auth-clients", "no"),
        port_option="--tls-port",
    )
    try:
        with open_index(f"rediss://127.0.0.1:{port}/5?ssl_ca_certs={certificate}") as index:
            index.begin("run")
            assert [crawl.id for crawl in index.crawls()] == ["run"]
        with pytest.raises(IndexFailure, match=r"(?i)certificate"):
            open_index(f"rediss://127.0.0.1:{port}/5")
    finally:
        server.kill()
        server.wait()


def test_a_server_may_take_its_time(redis_url: str) -> None:
    """Longer than the client's own patience of 5 s: so long does deleting a large hash take."""
    with (
        open_index(redis_url) as index,
        redis.Redis.from_url(redis_url, socket_timeout=60) as other,
    ):
        other.client_pause(5500)
        assert index.stats().crawls == 0


def test_a_server_that_is_not_there_is_one_clear_error() -> None:
    with pytest.raises(IndexFailure, match=r"redis://127\.0\.0\.1:1/0"):
        open_index("redis://user:secret@127.0.0.1:1/0")
