"""The part of benchmarks/refetch.py about conversion: beside the fetch, against the converter alone.

    benchmarks/refetch_convert.py               3,000 pages, those of the sample over and over
    benchmarks/refetch_convert.py --pages N

A process serves the pages on 200 loopback addresses; `ccrawl.refetch` fetches all and converts them in one
process. Server and fetcher share the first core, the converter has the last to itself, in all runs. Figures:
  fetch       pages a second of the refetch with --fetch-only
  alone       pages a second that `ccrawl.convert_dataset` converts of what that fetched, with one converter
  beside      pages a second that the refetch has converted, from its first fetch to its last page
  ratio       beside over the lesser of fetch and alone, which is named: no run can be faster than that
              (wanted: at least 0.85)
Each with its CPU time a page: that of the fetching process, and that of the converter. Measured in turns, as
often as --rounds says; the medians count.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ccrawl  # noqa: E402
from ccrawl.fetching.options import RefetchOptions  # noqa: E402
from ccrawl.fetching.types import FetchOptions  # noqa: E402
from ccrawl.run.events import RunProgress  # noqa: E402
from ccrawl.run.options import ExportOptions  # noqa: E402
from ccrawl.run.processes import worker_context  # noqa: E402

HOSTS = 200
ROUNDS = 3
OPTIONS = ExportOptions()
CORES = sorted(os.sched_getaffinity(0))
FIRST, LAST = CORES[0], CORES[-1]


def pin(core: int) -> None:
    """Keep this process, and what it starts, on one core."""
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208, names are wanted
        os.sched_setaffinity(int(thread), {core})


def bodies() -> list[bytes]:
    return [capture.payload() for capture in ccrawl.read_captures(ROOT / "samples" / "sample.warc.gz")]


def serve(ready: Connection) -> None:
    """Page N of the sample under /N, for good; tells the port."""
    pin(FIRST)
    pages = bodies()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:  # the client has all it wants
                writer.close()
                return
            path = head.split(b" ", 2)[1][1:]
            found = path.isdigit()
            body = pages[int(path) % len(pages)] if found else b""
            status = b"200 OK" if found else b"404 Not Found"
            writer.write(
                b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
                % (status, len(body), body)
            )

    async def run() -> None:
        server = await asyncio.start_server(answer, "0.0.0.0", 0, backlog=1024)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.get_event_loop_policy().new_event_loop().run_until_complete(run())


class Measure(NamedTuple):
    """Of one run: pages a second, CPU milliseconds a page of this process and of the converter."""

    rate: float
    ours: float
    converter: float

    def __str__(self) -> str:
        return f"{self.rate:8.1f} pages/s{self.ours:8.2f} + {self.converter:.2f} CPU ms/page"


def refetch(urls: Path, out: Path, count: int, *, fetch_only: bool) -> Measure:
    """From the start of the fetch to the last page, converted unless `fetch_only`."""
    options = RefetchOptions(
        fetch=FetchOptions(allow_private=True, rate=0, per_host=4), pages=OPTIONS, fetch_only=fetch_only
    )
    cpu = time.process_time()
    report = ccrawl.refetch(urls, out, options=options, workers=1, card=False)
    cpu = time.process_time() - cpu
    assert report.counts.rows == count and not report.failed
    phases = report.phases
    seconds = report.seconds - phases["plan"] - phases["write"]
    return Measure(count / seconds, cpu / count * 1000, phases["convert"] / count * 1000)


def convert(fetched: Path, out: Path, count: int) -> Measure:
    """From the start to the last page that is told of, without the end of the file, as for a refetch."""
    told = [(time.perf_counter(), 0)]

    def listen(event: object) -> None:
        if isinstance(event, RunProgress):
            told.append((time.perf_counter(), event.progress.rows))

    cpu = time.process_time()
    report = ccrawl.convert_dataset(fetched, out, options=OPTIONS, workers=1, card=False, listener=listen)
    cpu = time.process_time() - cpu
    last, rows = told[-1]
    assert report.counts.rows == count and not report.set_aside
    return Measure(rows / (last - told[0][0]), cpu / count * 1000, (report.cpu_seconds - cpu) / count * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args()
    report(args.pages, args.rounds)


def report(count: int, rounds: int = ROUNDS) -> None:
    if FIRST == LAST:
        print("one core only: nothing runs beside anything")
        return
    pin(LAST)
    worker_context()  # the fork server, whose core the converter inherits
    pin(FIRST)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        urls = folder / "urls.txt"
        urls.write_text(
            "\n".join(f"http://127.0.0.{number % HOSTS + 1}:{port}/{number}" for number in range(count))
        )
        for number in range(rounds):
            fetched, alone, beside = (folder / f"{what}{number}" for what in ("fetched", "alone", "beside"))
            fetch = refetch(urls, fetched, count, fetch_only=True)
            runs.append(
                (fetch, convert(fetched, alone, count), refetch(urls, beside, count, fetch_only=False))
            )
    server.terminate()
    server.join()
    # The middle run of each by its rate.
    fetch, alone, beside = (statistics.median_low(each) for each in zip(*runs, strict=True))
    print(f"fetch   {fetch}")
    print(f"alone   {alone}")
    print(f"beside  {beside}")
    bound, what = min((fetch.rate, "the fetch"), (alone.rate, "the converter"))
    print(f"ratio   {beside.rate / bound:8.2f} of {what}, which bounds the run")


if __name__ == "__main__":
    main()
