"""A refetch that is killed or stopped at any moment goes on: nothing is lost, nothing is asked for again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support import warcs
from support.hostile import Call, answer
from support.sites import serving

import ccrawl
from ccrawl.archives import Tally

PAGES = 120
AT_ONCE = 4


def routes(pause: float) -> dict[str, Any]:
    async def page(call: Call) -> None:
        import asyncio

        await asyncio.sleep(pause)
        await call.send(answer(warcs.page(int(call.path[1:]) % 50)))

    return {"*": page, "/robots.txt": answer(b"", status="404 Not Found")}


def command(tmp_path: Path, source: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "ccrawl", "refetch", str(source), "--out", str(tmp_path / "out")),
        *(
            "--allow-private",
            "--rate",
            "0",
            "--per-host",
            str(AT_ONCE),
            "--dedup-digest",
            "--no-card",
            "--json",
        ),
        *("--warc", str(tmp_path / "warcs"), "--workers", "1", *more),
    ]


def fetched_by_now(out: Path) -> int:
    journals = list(out.glob("refetch/*.fetched"))
    return sum(path.stat().st_size for path in journals)


def rows(out: Path) -> list[dict[str, Any]]:
    return [row for file in sorted(out.glob("data/*/*.parquet")) for row in pq.read_table(file).to_pylist()]


def start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_some(out: Path, process: subprocess.Popen[str], size: int) -> None:
    until = time.monotonic() + 60
    while fetched_by_now(out) < size and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    chance = random.Random(1)
    source = tmp_path / "list.txt"
    with serving(routes(0.02)) as site:
        wanted = [site.url(f"/{number}") for number in range(PAGES)]
        source.write_text("\n".join(wanted))
        kills = 0
        for share in sorted(chance.uniform(0.05, 1.0) for _ in range(3)):
            process = start(command(tmp_path, source))
            wait_for_some(tmp_path / "out", process, int(share * PAGES * 1200))
            time.sleep(chance.uniform(0, 0.2))
            process.kill()
            process.communicate()
            kills += 1
        done = subprocess.run(
            command(tmp_path, source), capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stderr
        asked = site.asked
    assert set(asked) == {f"/{number}" for number in range(PAGES)}
    # Asked again may be what a slot of the client had at the kill: an answer that was not yet written, and the
    # request after it.
    assert sum(asked.values()) - PAGES <= kills * 2 * AT_ONCE
    found = rows(tmp_path / "out")
    # Of the 120 URLs the first 50 have a body of their own, the others are copies of those.
    assert [row["url"] for row in found] == wanted[:50]
    assert all(row["markdown"] and not row["error"] for row in found)
    assert ccrawl.verify(tmp_path / "out").ok
    types: Counter[str] = Counter()
    for file in sorted((tmp_path / "warcs").glob("*.warc.gz")):
        tally = Tally()
        list(ccrawl.read_captures(file, tally=tally))
        types += tally.types
        assert not tally.damaged
    assert (types["request"], types["response"], types["revisit"]) == (PAGES, 50, PAGES - 50)
    assert {path.suffix for path in (tmp_path / "out" / "refetch").iterdir()} == {".urls"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_ends_in_order_and_says_how_to_go_on(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    source = tmp_path / "list.txt"
    with serving(routes(0.05)) as site:
        source.write_text("\n".join(site.url(f"/{number}") for number in range(PAGES)))
        process = start(command(tmp_path, source))
        wait_for_some(tmp_path / "out", process, 3000)
        process.send_signal(number)
        _, told = process.communicate(timeout=30)
        assert process.returncode == code, told
        assert told.splitlines()[-1].endswith("the same command again goes on where this one was stopped")
        assert "Traceback" not in told
        before = sum(site.asked.values())
        assert before < PAGES
        done = subprocess.run(
            command(tmp_path, source), capture_output=True, text=True, timeout=90, check=False
        )
        summary = json.loads(done.stdout)
    assert summary["resumed"] >= before - 2 * AT_ONCE
    assert summary["resumed"] + summary["fetched"] == PAGES
    assert len(rows(tmp_path / "out")) == 50


def test_what_was_fetched_of_another_list_is_not_taken_for_this_one(tmp_path: Path) -> None:
    source = tmp_path / "list.txt"
    with serving(routes(0.05)) as site:
        source.write_text("\n".join(site.url(f"/{number}") for number in range(PAGES)))
        process = start(command(tmp_path, source))
        wait_for_some(tmp_path / "out", process, 3000)
        process.kill()
        process.communicate()
        source.write_text("\n".join(site.url(f"/{number}") for number in (7, 3)))
        done = subprocess.run(
            command(tmp_path, source), capture_output=True, text=True, timeout=90, check=False
        )
        assert json.loads(done.stdout)["resumed"] == 0
        assert [row["url"] for row in rows(tmp_path / "out")] == [site.url("/7"), site.url("/3")]
