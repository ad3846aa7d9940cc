"""Killed at any moment, the index is as before or as after, and the same call again comes to the same end."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.client import Pipeline

from ccrawl.index import Counts, DedupIndex, Entry, Package, holder, open_index
from ccrawl.index.redis_wire import Wire

from .test_import import line, wacz


def key(number: int) -> bytes:
    return b"\x04" + hashlib.sha256(b"%d" % number).digest()


def entry(number: int, at: str = "http://site.test") -> Entry:
    return Entry(key(number), "20250304050607", f"{at}/{number}", 1000 + number)


class Crash(BaseException):
    """The process is gone."""


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int | None], None]]:
    """Lets the client send so many requests and then no more; None: as many as it likes."""
    left: list[int | None] = [None]

    def counted(method: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if left[0] is not None:
                if left[0] <= 0:
                    raise Crash
                left[0] -= 1
            return method(self, *args, **kwargs)

        return call

    monkeypatch.setattr(redis.Redis, "execute_command", counted(redis.Redis.execute_command))
    monkeypatch.setattr(Pipeline, "execute", counted(Pipeline.execute))
    monkeypatch.setattr(Wire, "ask", counted(Wire.ask))

    def allow(requests: int | None) -> None:
        left[0] = requests

    yield allow
    left[0] = None


def prepared(url: str) -> None:
    """An index with a crawl, a staged run that overlaps it, and a crawl with unsettled revisits."""
    with redis.Redis.from_url(url, socket_timeout=60) as client:
        client.flushdb()
    with open_index(url) as index:
        index.add_package("old", Package("old.wacz"), sorted(entry(n, "http://old.test") for n in range(4)))
        index.add_package("late", Package("late.wacz"), [], [(key(7), 200)])
        index.begin("run")
        index.stage("run", [entry(n) for n in range(2, 9)], Counts(9, 2, 500, 100))


def state(url: str) -> dict[str, Any]:
    """All that Browsertrix would see, and the numbers."""
    with (
        redis.Redis.from_url(url, decode_responses=True, socket_timeout=60) as client,
        open_index(url) as index,
    ):
        assert index.verify() == []
        names = [name for name in client.scan_iter() if not name.startswith("ccrawl:")]
        read = {"hash": client.hgetall, "set": client.smembers, "list": lambda n: client.lrange(n, 0, -1)}
        return {"stats": index.stats()} | {name: read[client.type(name)](name) for name in sorted(names)}


ACTIONS: dict[str, Callable[[DedupIndex], object]] = {
    "commit": lambda index: index.commit("run"),
    "cancel": lambda index: index.cancel("run"),
    "remove": lambda index: index.remove(["old"], force=True),
    "package": lambda index: index.add_package(
        "new", Package("new.wacz", "ab" * 32, 77), sorted(entry(n) for n in range(3, 10)), [(key(1), 300)]
    ),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_redis_survives_a_crash_at_every_request(
    redis_url: str, crashing: Callable[[int | None], None], action: str
) -> None:
    prepared(redis_url)
    before = state(redis_url)
    with open_index(redis_url) as index:
        ACTIONS[action](index)
    after = state(redis_url)
    assert before != after
    for requests in range(1000):
        prepared(redis_url)
        with open_index(redis_url) as index:
            crashing(requests)
            try:
                ACTIONS[action](index)
            except Crash:
                crashing(None)
            else:
                crashing(None)
                assert requests > 3
                return
        with redis.Redis.from_url(redis_url, socket_timeout=60) as client:
            client.delete("ccrawl:lock")  # its lease runs out
        with open_index(redis_url) as index:
            index.compact()  # whoever comes next finishes what was begun
            assert index.verify() == []
            committed = {crawl.id for crawl in index.crawls() if crawl.state == "committed"}
            if action == "remove" and "old" not in committed:
                pass
            elif action == "cancel":
                index.cancel("run")
            else:
                ACTIONS[action](index)
        assert state(redis_url) == after, requests


SCRIPT = """
import sys
from pathlib import Path
from ccrawl.index import open_index
from ccrawl.index.importer import import_sources

if __name__ == "__main__":
    location, workers, *sources = sys.argv[1:]
    with open_index(location) as index:
        import_sources(index, sources, workers=int(workers))
"""


def packages(folder: Path, number: int, lines: int) -> list[str]:
    """WACZ files that overlap."""
    return [
        str(wacz(folder / f"{one}.wacz", [line(one * lines // 2 + n) for n in range(lines)]))
        for one in range(number)
    ]


@pytest.mark.slow
def test_importers_that_are_killed_leave_an_index_that_adds_up_and_is_finished_by_the_next(
    tmp_path: Path, location: str
) -> None:
    sources = packages(tmp_path, 6, 300)
    script = tmp_path / "importer.py"
    script.write_text(SCRIPT)
    with open_index(str(tmp_path / "whole")) as whole:
        from ccrawl.index.importer import import_sources

        import_sources(whole, sources)
        expected = whole.stats()
    moments = random.Random(7)
    for _ in range(3):
        running = subprocess.Popen(
            [sys.executable, str(script), location, "1", *sources], start_new_session=True
        )
        time.sleep(moments.uniform(0.3, 1.2))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        if location.startswith("redis"):
            with redis.Redis.from_url(location, socket_timeout=60) as client:
                client.delete("ccrawl:lock")
        with open_index(location) as index:
            index.compact()
            assert index.verify() == []
    subprocess.run([sys.executable, str(script), location, "1", *sources], check=True)
    with open_index(location) as index:
        assert index.verify() == []
        assert index.stats() == expected


@pytest.mark.slow
def test_two_importers_at_once_come_to_what_one_does(tmp_path: Path, location: str) -> None:
    sources = packages(tmp_path, 5, 200)
    script = tmp_path / "importer.py"
    script.write_text(SCRIPT)
    running = [
        subprocess.Popen([sys.executable, str(script), location, "1", *order])
        for order in (sources, list(reversed(sources)))
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    with open_index(location) as index:
        assert index.verify() == []
        stats = index.stats()
        assert (stats.crawls, stats.counts.total, stats.unique) == (5, 1000, 600)
        assert stats.redundant == 400


COMMITTER = """
import sys
from ccrawl.index import open_index

with open_index(sys.argv[1]) as index:
    for run in sys.argv[2:]:
        index.commit(run)
        print(run, flush=True)
"""


@pytest.mark.slow
def test_committers_that_are_killed_commit_each_run_once(tmp_path: Path, location: str) -> None:
    runs = [f"run-{number}" for number in range(5)]
    with open_index(location) as index:
        for place, run in enumerate(runs):
            index.begin(run)
            index.stage(run, [entry(n) for n in range(50 * place, 50 * place + 100)], Counts(100, 0, 0, 1))
    moments = random.Random(11)
    for _ in range(3):
        running = subprocess.Popen(
            [sys.executable, "-c", COMMITTER, location, *runs], stdout=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(0.2, 0.8))
        running.kill()
        running.wait()
        if location.startswith("redis"):
            with redis.Redis.from_url(location, socket_timeout=60) as client:
                client.delete("ccrawl:lock")
        with open_index(location) as index:
            index.compact()
            assert index.verify() == []
    subprocess.run([sys.executable, "-c", COMMITTER, location, *runs], check=True, stdout=subprocess.DEVNULL)
    with open_index(location) as index:
        assert index.verify() == []
        assert (index.stats().counts, index.stats().unique) == (Counts(500, 0, 0, 5), 300)
        assert index.stats().redundant == 200


def test_a_half_written_run_is_no_obstacle(tmp_path: Path) -> None:
    with open_index(str(tmp_path / "index")) as index:
        index.begin("run")
        folder = tmp_path / "index" / "runs" / "run"
        (folder / ".entries.arrow.123-ab.tmp").write_bytes(b"half")
        (tmp_path / "index" / "tmp" / "123-ab").mkdir(parents=True)
        (tmp_path / "index" / "tmp" / "123-ab" / "000000.sst").write_bytes(b"half a table")
        index.stage("run", [entry(1)], Counts(1))
        index.commit("run")
        index.compact()
        assert index.stats().unique == 1
        assert not folder.exists()
        assert not list((tmp_path / "index" / "tmp").glob("*/*.sst"))


def test_a_folder_that_is_no_index_is_left_alone(tmp_path: Path) -> None:
    from ccrawl.index import IndexFailure

    (tmp_path / "notes.txt").write_text("mine")
    for location in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(IndexFailure):
            open_index(str(location))
    other = tmp_path / "other"
    other.mkdir()
    (other / "format.json").write_text(json.dumps({"format": "ccrawl-index/999"}))
    with pytest.raises(IndexFailure, match="another format"):
        open_index(str(other))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "other"]


HOLDER = """
import sys, time
from ccrawl.index import open_index

if __name__ == "__main__":
    with open_index(sys.argv[1]) as index, index._locked():
        print("held", flush=True)
        time.sleep(600)
"""


def test_the_lock_of_a_process_that_was_killed_is_taken_at_once(redis_url: str) -> None:
    """A living one is waited for: its lease is its own, however long it sleeps."""
    holding = subprocess.Popen([sys.executable, "-c", HOLDER, redis_url], stdout=subprocess.PIPE, text=True)
    try:
        assert holding.stdout is not None
        assert holding.stdout.readline() == "held\n"
        with redis.Redis.from_url(redis_url, socket_timeout=60) as client, open_index(redis_url) as index:
            client.persist("ccrawl:lock")  # no lease that runs out
            waiting = threading.Thread(target=index.compact, daemon=True)
            waiting.start()
            waiting.join(0.5)
            assert waiting.is_alive()
            holding.kill()
            holding.wait()
            waiting.join(30)
            assert not waiting.is_alive()
            assert client.get("ccrawl:lock") is None
    finally:
        holding.kill()
        holding.wait()
        holding.stdout.close()


def test_only_processes_of_this_machine_are_told_dead() -> None:
    living = holder.token()
    machine, pid, started, _ = living.split("/")
    assert not holder.is_dead(living)
    assert holder.is_dead(f"{machine}/{pid}/{int(started) + 1}/x")  # another process of its number
    for unknown in (
        f"elsewhere/{pid}/1/x",
        "/1/1/x",
        f"{machine}/x/1/x",
        f"{machine}/{pid}//x",
        "c0ffee",
        "",
    ):
        assert not holder.is_dead(unknown)
