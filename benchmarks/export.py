"""Export beside its floor and its peer, in one run on one file.

    benchmarks/export.py WARC [WARC ...]        every figure of the table below
    benchmarks/export.py --no-peer WARC         without datatrove, which takes minutes
    benchmarks/export.py --steps WARC           each step beside its floor and budget, no more

Figures, CPU milliseconds a page unless said otherwise:
  floor       gunzip (isal) and a bare lexbor parse of the same pages
  ccrawl      `ccrawl export` with one worker: processor time of the run and all its processes
  datatrove   WarcReader + Trafilatura + ParquetWriter with its defaults, one task
  memory      peak resident set of a worker process
  scaling     wall time with one worker over wall time with two, for one shard and for two
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from steps import print_steps

HERE = Path(__file__).resolve().parent
CCRAWL = [sys.executable, "-m", "ccrawl"]


PR_SET_CHILD_SUBREAPER = 36


def child_cpu(command: list[str], **kwargs: object) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds of the command and everything it started, and its stdout."""
    # As a subreaper we inherit what the command leaves behind (fork servers), so that no CPU time is lost.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, **kwargs)  # type: ignore[call-overload]
    wall = time.monotonic() - started
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{command} ended with {done.returncode}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def floor(paths: list[Path]) -> tuple[float, int]:
    """CPU seconds for gunzip and lexbor on the pages, and how many pages there are."""
    from isal import igzip
    from selectolax.lexbor import LexborHTMLParser

    import ccrawl

    spent, pages = 0.0, 0
    for path in paths:
        started = time.process_time()
        with igzip.open(path) as file:
            while file.read(1 << 20):
                pass
        spent += time.process_time() - started
        for capture in ccrawl.read_captures(path):
            payload = capture.payload(64 << 20)
            started = time.process_time()
            LexborHTMLParser(payload)
            spent += time.process_time() - started
            pages += 1
    return spent, pages


def as_installed() -> dict[str, str]:
    """The environment of a command whose modules are compiled once, as an installation's are.

    A checkout's need not be: containers like to set PYTHONDONTWRITEBYTECODE, and then each process compiles.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "ccrawl-compiled")}


def export(paths: list[Path], out: Path, workers: int, *flags: str) -> tuple[float, float, dict]:
    """Wall seconds, CPU seconds (all processes) and the summary of one export."""
    shutil.rmtree(out, ignore_errors=True)
    command = [*CCRAWL, "export", *map(str, paths), "--out", str(out), "-j", str(workers), "--json", *flags]
    wall, cpu, output = child_cpu(command, stderr=subprocess.DEVNULL, env=as_installed())
    summary = json.loads(output)
    return wall, cpu, summary


def worker_peak(paths: list[Path], out: Path) -> int:
    """Peak resident bytes of any worker while one shard is exported with one worker."""
    import psutil

    shutil.rmtree(out, ignore_errors=True)
    command = [*CCRAWL, "export", *map(str, paths), "--out", str(out), "-j", "1", "--quiet"]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        me = psutil.Process(running.pid)
        while running.poll() is None:
            for process in me.children(recursive=True):
                try:
                    peak = max(peak, process.memory_info().rss)
                except psutil.Error:
                    continue
            time.sleep(0.02)
    return peak


DATATROVE = """
import sys, time, shutil, logging
from loguru import logger
logger.remove()
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.writers import ParquetWriter
folder, name, out = sys.argv[1:]
started = time.process_time()
LocalPipelineExecutor(
    pipeline=[WarcReader(folder, glob_pattern=name), Trafilatura(), ParquetWriter(out)],
    tasks=1, workers=1, logging_dir=out + "-logs",
).run()
"""


def datatrove(path: Path, out: Path) -> tuple[float, int]:
    """CPU seconds of datatrove's pipeline on the same file, its child processes included, and its rows."""
    import pyarrow.parquet as pq

    _, cpu, _ = child_cpu(
        [sys.executable, "-W", "ignore", "-c", DATATROVE, str(path.parent), path.name, str(out)],
        stderr=subprocess.DEVNULL,
    )
    rows = sum(pq.read_metadata(file).num_rows for file in out.rglob("*.parquet"))
    return cpu, rows


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("warcs", nargs="+", type=Path)
    arguments.add_argument("--no-peer", action="store_true")
    arguments.add_argument("--steps", action="store_true")
    options = arguments.parse_args()
    first = options.warcs[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {first.name}")
    if options.steps:
        print_steps(first)
        return
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        floor_cpu, pages = floor([first])
        export([first], base / "a", 1, "--limit", "1")  # compiles the modules
        _, cpu, summary = export([first], base / "a", 1)
        _, cpu_dedup, _ = export([first], base / "a", 1, "--dedup-digest")
        startup = export([first], base / "a", 1, "--limit", "1")[1]
        counts = summary["counts"]
        print(f"pages {pages}, rows {counts['rows']}, HTML {counts['html_bytes'] / 1e6:.1f} MB")
        print(f"floor             {1000 * floor_cpu / pages:7.3f} ms a page")
        print(f"ccrawl            {1000 * cpu / pages:7.3f} ms a page, {cpu / floor_cpu:.2f} times the floor")
        steady, ratio = cpu - startup, cpu_dedup / cpu
        print(f"  after start-up  {1000 * steady / pages:7.3f} ms a page, {steady / floor_cpu:.2f} times")
        print(f"  --dedup-digest  {1000 * cpu_dedup / pages:7.3f} ms a page, {ratio:.2f} times without")
        print(f"memory            {worker_peak([first], base / 'a') / 1e6:7.0f} MB peak of a worker")
        if not options.no_peer:
            peer_cpu, peer_rows = datatrove(first, base / "peer")
            print(
                f"datatrove         {1000 * peer_cpu / pages:7.3f} ms a page, "
                f"{peer_cpu / cpu:.1f} times ccrawl, {peer_rows} rows"
            )
        # Scaling needs enough work that start-up doesn't count: the same bytes, several times over.
        big = base / "big.warc.gz"
        with big.open("wb") as file:
            for _ in range(4):
                file.write(first.read_bytes())
        second = base / "big2.warc.gz"
        shutil.copyfile(big, second)
        for label, paths in (("one shard", [big]), ("two shards", [big, second])):
            one = min(export(paths, base / "a", 1)[0] for _ in range(2))
            two = min(export(paths, base / "a", 2)[0] for _ in range(2))
            print(f"two workers       {one / two:7.2f} times one worker, {label} ({one:.1f} s, {two:.1f} s)")


if __name__ == "__main__":
    main()
