"""Exports under faults at random moments: whatever happens, nothing is lost, doubled or half there.

Each round starts an export, lets one fault happen to it, looks at what is left, and runs the same command
again: the bytes must be those of a run that nothing happened to. A dozen rounds run always, hundreds with
CCRAWL_FAULT_ROUNDS=300; CCRAWL_FAULT_SEED=7 begins elsewhere, and a failing round says its seed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pyarrow.parquet as pq
import pytest
from support import warcs

from ccrawl.dataset.ledger import FAILURES, MANIFEST
from ccrawl.dataset.manifest import read_manifest

ROUNDS = int(os.environ.get("CCRAWL_FAULT_ROUNDS", "12"))
SEED = int(os.environ.get("CCRAWL_FAULT_SEED", "0"))
SHARDS, PAGES = 3, 40
ROWS = SHARDS * PAGES

# An export whose pages, files and clock can misbehave, by names in the pages' URLs and by the environment.
# Workers import this file too, as the main module of whoever started them.
DRIVER = """
import os, random, signal, sys, time
if __name__ == "__main__":  # while it imports, a Ctrl-C is nobody's business
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
import ccrawl, ccrawl.errors
from ccrawl.archives import window
from ccrawl.html import extractors
from ccrawl.run.options import ExportOptions

chance = random.Random(os.environ.get("FAULT_SEED", "") + str(os.getpid()))

if "clock" in os.environ.get("FAULT", ""):
    true_time = time.time
    time.time = lambda: true_time() + chance.choice((-1, 1)) * chance.uniform(0, 1e8)

if "read-error" in os.environ.get("FAULT", ""):
    read = window.Window._read_block
    def failing(self):
        if chance.random() < 0.1:
            raise OSError(5, "Input/output error")
        return read(self)
    window.Window._read_block = failing

def faulty(page, options):
    if page.url.endswith("/abort"):
        os.abort()
    if page.url.endswith("/loop"):
        while True:
            pass
    if page.url.endswith("/hoard"):
        hoard = [bytearray(64 << 20) for _ in range(1000)]
    return extractors.EXTRACTORS["main"].extract(page, options)

extractors.EXTRACTORS["faulty"] = extractors.Extractor("faulty", "1", faulty)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        report = ccrawl.export(
            sys.argv[3:], sys.argv[1], workers=int(sys.argv[2]), card=False,
            options=ExportOptions(extractor="faulty", page_timeout=1.0, worker_memory=512 << 20),
        )
    except ccrawl.errors.CcrawlError as error:
        sys.exit(f"ccrawl: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0 if report.complete else 3)
"""


class Outcome(NamedTuple):
    """What a finished dataset holds: hashes of its files, and its failures in order."""

    files: dict[str, str]
    failures: list[tuple[str, str]]


class Rig:
    """Sources and the command that exports them."""

    def __init__(self, folder: Path, name: str, hostile: tuple[str, ...]) -> None:
        self.script = folder / "driver.py"
        self.script.write_text(DRIVER)
        self.sources = []
        for shard in range(SHARDS):
            records = [warcs.response(1000 * shard + page) for page in range(PAGES)]
            if shard == 1:
                for place, page in enumerate(hostile):
                    records.insert(
                        9 * place + 5, warcs.response(9000 + place, url=f"http://site.test/{page}")
                    )
            self.sources.append(warcs.write(folder / name / f"{shard}.warc.gz", records))
        self.whole = folder / f"{name}-whole"
        running = self.start(self.whole, 2)
        _, errors = running.communicate()
        assert running.returncode == (3 if hostile else 0), errors
        self.expected = outcome(self.whole)

    def start(self, out: Path, workers: int, **environment: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, str(self.script), str(out), str(workers), *map(str, self.sources)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def outcome(out: Path) -> Outcome:
    files = {shard.file: shard.sha256 for shard in read_manifest(out).shards}
    failures = []
    if (out / FAILURES).exists():
        lines = [json.loads(line) for line in (out / FAILURES).read_text().splitlines()]
        failures = sorted((line["url"], line["cause"]) for line in lines)
    return Outcome(files, failures)


@pytest.fixture(scope="module")
def rigs(tmp_path_factory: pytest.TempPathFactory) -> list[Rig]:
    folder = tmp_path_factory.mktemp("faults")
    return [Rig(folder, "good", ()), Rig(folder, "hostile", ("abort", "loop", "hoard"))]


def moment(chance: random.Random) -> None:
    time.sleep(chance.uniform(0.05, 2.5))


def kill_run(running: subprocess.Popen[bytes], chance: random.Random) -> None:
    moment(chance)
    running.kill()


def kill_everything(running: subprocess.Popen[bytes], chance: random.Random) -> None:
    moment(chance)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)


def kill_workers(running: subprocess.Popen[bytes], chance: random.Random) -> None:
    """One process below the run at a time, up to two: a worker, a converter, the fork server."""
    for _ in range(chance.randint(1, 2)):
        moment(chance)
        with contextlib.suppress(psutil.Error):
            below = psutil.Process(running.pid).children(recursive=True)
            if below:
                chance.choice(below).kill()


def terminate(running: subprocess.Popen[bytes], chance: random.Random) -> None:
    moment(chance)
    running.terminate()


def interrupt(running: subprocess.Popen[bytes], chance: random.Random) -> None:
    moment(chance)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGINT)


def nothing(running: subprocess.Popen[bytes], chance: random.Random) -> None:
    pass


@contextlib.contextmanager
def small_disk(out: Path, kilobytes: int) -> Iterator[None]:
    """A file system of its own below `out`, of so many KiB; skipped where none can be mounted."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(out)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(out)], check=True)


# name: what is done to the run; exit codes that it may end with
Act = Callable[[subprocess.Popen[bytes], random.Random], None]
FAULTS: dict[str, tuple[Act, set[int]]] = {
    "kill-run": (kill_run, {-9}),
    "kill-everything": (kill_everything, {-9}),
    "kill-workers": (kill_workers, {1, 3}),
    "terminate": (terminate, {-15, 130, 143}),
    "interrupt": (interrupt, {-2, 130}),
    "clock": (nothing, set()),
    "read-error": (nothing, {3}),
    "full-disk": (nothing, {1}),
}


def settle(group: int) -> None:
    """Wait until no process of the group is left: workers notice that their run is gone."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if not any(alive(process, group) for process in psutil.process_iter()):
            return
        time.sleep(0.05)
    raise AssertionError("processes outlive their run")


def alive(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ProcessLookupError):
        return False


def check_what_is_left(out: Path) -> None:
    """No half file, and no ledger that claims more than there is."""
    for file in (out / "data").rglob("*.parquet") if (out / "data").exists() else ():
        if not file.name.startswith("."):
            assert pq.read_metadata(file).num_rows == PAGES
    if (out / MANIFEST).exists():
        for shard in read_manifest(out).shards:
            assert pq.read_metadata(out / shard.file).num_rows == shard.counts.rows


def play(rig: Rig, out: Path, fault: str, chance: random.Random) -> None:
    act, codes = FAULTS[fault]
    workers = chance.choice((1, 2, 3))
    hostile = bool(rig.expected.failures)
    running = rig.start(out, workers, FAULT=fault, FAULT_SEED=str(chance.random()))
    act(running, chance)
    _, errors = running.communicate(timeout=120)
    settle(running.pid)
    assert running.returncode in codes | {3 if hostile else 0}, errors
    assert b"Traceback" not in errors, errors
    check_what_is_left(out)
    if fault == "full-disk":
        subprocess.run(["mount", "-o", "remount,size=64m", str(out)], check=True)
    again = rig.start(out, 2)
    _, errors = again.communicate(timeout=120)
    assert again.returncode == (3 if hostile else 0), errors
    assert outcome(out) == rig.expected
    hidden = [path.name for path in out.rglob(".*") if path.name != ".lock"]
    assert hidden == []
    assert sum(pq.read_metadata(file).num_rows for file in (out / "data").rglob("*.parquet")) == ROWS


@pytest.mark.parametrize("number", range(ROUNDS))
def test_after_any_fault_the_same_command_finishes_to_the_same_bytes(
    number: int, rigs: list[Rig], tmp_path: Path
) -> None:
    chance = random.Random(f"{SEED} {number}")
    fault = [*FAULTS][number % len(FAULTS)]
    rig = rigs[number % 3 == 2]
    out = tmp_path / "out"
    with contextlib.ExitStack() as stack:
        if fault == "full-disk":
            out.mkdir()
            stack.enter_context(small_disk(out, chance.randint(4, 60)))
        play(rig, out, fault, chance)
