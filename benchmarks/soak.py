"""Does memory stay flat? Workers over many pages, the run's own process over many shards, the ledger.

    benchmarks/soak.py [--pages 200000] [--shards 400] [--ledger 100000] [WARC ...]

Without WARC the pages are made here, 1,000 different ones over and over, 2 to 60 KB. Figures:
  worker     one shard of --pages pages in one process: its resident set on the way, and the slope of a line
             through the samples (the first half, in which caches and a row group fill, left out)
  converters the same shard, a quarter of it, fanned out to two converters: the steepest process of the three,
             and the peak of the one that reads ahead, which is bounded by batches, not by pages
  limit      RLIMIT_DATA of a worker, beside what it had at its start and --worker-memory
  parent     --shards shards of one page: the slope in KB a shard, and CPU ms a shard
  ledger     entries as a crawl's shards make them, added one by one: CPU ms and bytes of memory an entry; one
             write of the whole manifest; reading it back; and how long the driver would be busy for them all
Exits 1 when a worker grows by more than 20 MB in 100,000 pages, or the parent by more than 20 KB a shard.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

import ccrawl
from ccrawl.dataset.ledger import Counts, Ledger, ShardEntry
from ccrawl.run.events import Event, RunProgress
from ccrawl.run.options import ExportOptions

MB = 1e6
MAX_WORKER_SLOPE = 20.0  # MB in 100,000 pages
MAX_PARENT_SLOPE = 20.0  # KB a shard
WORDS = (
    "the",
    "quay",
    "ferry",
    "island",
    "noon",
    "lamp",
    "door",
    "blue",
    "warehouse",
    "garden",
    "lemon",
    "tree",
)


def page(draw: random.Random) -> bytes:
    """A page of some paragraphs, lists and a table between a menu and a footer."""
    blocks = []
    for _ in range(int(draw.paretovariate(1.1) * 8) % 150 + 4):
        text = " ".join(draw.choices(WORDS, k=draw.randrange(10, 80)))
        blocks.append(draw.choice(("<p>{}</p>", "<ul><li>{}</li></ul>", "<h2>{}</h2>")).format(text))
    menu = "".join(f'<li><a href="/{number}">{draw.choice(WORDS)}</a></li>' for number in range(20))
    return (
        f"<!DOCTYPE html><title>{draw.random()}</title><nav><ul>{menu}</ul></nav>"
        f"<main>{''.join(blocks)}</main><footer>Made by hand</footer>"
    ).encode()


def record(number: int, body: bytes) -> bytes:
    """A gzip member with a response record."""
    message = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012d}>\r\n"
        f"WARC-Date: 2025-01-01T00:00:00Z\r\nWARC-Target-URI: http://site.test/{number}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(message)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + message + b"\r\n\r\n", 6, mtime=0)


def made_pages(count: int) -> list[bytes]:
    """Records of different pages."""
    draw = random.Random(1)
    return [record(number, page(draw)) for number in range(count)]


def grow(path: Path, parts: Sequence[bytes], pages: int, pages_in_parts: int) -> Path:
    """An archive of at least `pages` pages: the parts over and over."""
    with path.open("wb") as file:
        for _ in range(-(-pages // pages_in_parts)):
            file.writelines(parts)
    return path


@dataclass
class Watch:
    """A listener that samples the memory of this process and of all below it at each event of progress."""

    pages: list[int] = field(default_factory=list)
    shards: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    others: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    limits: dict[int, int] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        if not isinstance(event, RunProgress):
            return
        me = psutil.Process()
        self.pages.append(event.progress.pages)
        self.shards.append(event.shards_done)
        self.own.append(me.memory_info().rss)
        for process in me.children(recursive=True):
            try:
                rss = process.memory_info().rss
                if rss:  # none of one that has just ended
                    self.others[process.pid].append((event.progress.pages, rss))
                self.limits[process.pid] = process.rlimit(psutil.RLIMIT_DATA)[0]
            except psutil.Error:
                continue

    def workers(self) -> dict[int, list[tuple[int, int]]]:
        """The samples of processes with a limit: workers, and not the fork server."""
        return {pid: samples for pid, samples in self.others.items() if self.limits.get(pid, -1) > 0}


def slope(samples: Sequence[tuple[int, int]]) -> float:
    """Bytes a unit, by least squares, without the first half of the way."""
    points = np.array(samples, float)
    points = points[points[:, 0] >= points[-1, 0] / 2]
    return float(np.polyfit(points[:, 0], points[:, 1], 1)[0]) if len(points) > 2 else 0.0


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """CPU seconds of this process."""
    spent = {"cpu": time.process_time()}
    yield spent
    spent["cpu"] = time.process_time() - spent["cpu"]


def soak_workers(base: Path, archive: Path, quarter: Path) -> bool:
    """The figures of workers; whether they are flat."""
    watch = Watch()
    report = ccrawl.export(archive, base / "whole", workers=1, listener=watch, card=False)
    (samples,) = (samples for samples in watch.workers().values() if len(samples) > 5)
    rise = slope(samples) * 1e5 / MB
    pages, ms = report.counts.pages, 1000 * report.cpu_seconds / report.counts.pages
    megabytes = [round(rss / MB) for _, rss in samples]
    tenth = len(megabytes) // 10
    print(
        f"worker      {pages:,} pages of {report.counts.html_bytes / pages / 1e3:.0f} KB, {ms:.2f} CPU ms; "
        f"{megabytes[tenth]} MB after a tenth, {megabytes[-1]} at the end, at most {max(megabytes)}; "
        f"{rise:+.1f} MB in 100,000 pages"
    )
    limit = max(watch.limits.values()) / 2**20
    allowed = ExportOptions().worker_memory / 2**20
    print(f"limit       {limit:,.0f} MiB of private memory a worker: {allowed:,.0f} beyond its start")
    fanned = Watch()
    ccrawl.export(quarter, base / "fanned", workers=2, listener=fanned, card=False)
    several = {pid: samples for pid, samples in fanned.workers().items() if len(samples) > 5}
    steepest = max(slope(samples) for samples in several.values()) * 1e5 / MB
    peak = max(rss for samples in several.values() for _, rss in samples) / MB
    print(
        f"converters  {len(several)} processes, at most {peak:.0f} MB; "
        f"the steepest {steepest:+.1f} MB in 100,000 pages"
    )
    return max(rise, steepest) <= MAX_WORKER_SLOPE


def soak_parent(base: Path, one_page: bytes, shards: int) -> bool:
    """The figures of the run's own process over many shards; whether it is flat."""
    folder = base / "many"
    folder.mkdir()
    for number in range(shards):
        (folder / f"{number:05d}.warc.gz").write_bytes(one_page)
    watch = Watch()
    with timed() as spent:
        ccrawl.export(folder, base / "out", workers=2, listener=watch, card=False)
    rise = slope(list(zip(watch.shards, watch.own, strict=True))) / 1e3
    print(
        f"parent      {shards:,} shards: {rise:+.1f} KB and {1000 * spent['cpu'] / shards:.1f} CPU ms a shard"
    )
    return rise <= MAX_PARENT_SLOPE


def soak_ledger(base: Path, entries: int) -> None:
    """The ledger of a whole crawl, without its shards."""
    draw = random.Random(1)
    languages = [first + second for first in "abcdefgh" for second in "klmnopqr"]

    def entry(number: int) -> ShardEntry:
        causes = ("not-response:request", "not-response:metadata", "not-html", "status:404", "status:301")
        counts = Counts(
            records=65_000,
            pages=21_000,
            rows=20_500,
            skipped={cause: draw.randrange(20_000) for cause in causes},
            languages={code: draw.randrange(1000) for code in languages},
        )
        name = f"crawl-data/CC-MAIN-2025-01/segments/1700000000.{number % 100:02d}/warc/{number:05d}.warc.gz"
        file = f"data/crawl=CC-MAIN-2025-01/{number:06d}.parquet"
        return ShardEntry(
            number,
            name,
            10**9 + number,
            f"size:{10**9 + number}",
            file,
            10**8,
            f"{number:064x}",
            counts,
            0,
            137.0,
            136.5,
        )

    rss = psutil.Process().memory_info
    before = rss().rss
    adding = 0.0
    with Ledger.open(base, {"crawl": "CC-MAIN-2025-01"}, "1") as ledger:
        for number in range(entries):
            made = entry(number)
            with timed() as spent:
                ledger.add(made)
            adding += spent["cpu"]
        held = rss().rss - before
        with timed() as saving:
            ledger.save()
    size = (base / "manifest.json").stat().st_size
    with timed() as reading, Ledger.open(base, {"crawl": "CC-MAIN-2025-01"}, "1") as again:
        assert len(again.shards) == entries
    print(
        f"ledger      {entries:,} shards: {1000 * adding / entries:.2f} CPU ms, {held / entries:,.0f} bytes; "
        f"manifest {size / MB:.0f} MB, {saving['cpu']:.1f} CPU s to write, {reading['cpu']:.1f} to read"
    )


def main() -> int:
    """Print the figures."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("warcs", nargs="*", type=Path, metavar="WARC")
    arguments.add_argument("--pages", type=int, default=200_000)
    arguments.add_argument("--shards", type=int, default=400)
    arguments.add_argument("--ledger", type=int, default=100_000)
    options = arguments.parse_args()
    python = platform.python_version()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {python}, ccrawl {ccrawl.__version__}")
    flat = True
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        if options.warcs:
            parts = [path.read_bytes() for path in options.warcs]
            count = sum(1 for path in options.warcs for _ in ccrawl.read_captures(path))
        else:
            parts = made_pages(1000)
            count = len(parts)
        if options.pages:
            archive = grow(base / "soak.warc.gz", parts, options.pages, count)
            quarter = grow(base / "quarter.warc.gz", parts, options.pages // 4, count)
            flat &= soak_workers(base, archive, quarter)
        if options.shards:
            flat &= soak_parent(base, made_pages(1)[0], options.shards)
        if options.ledger:
            (base / "ledger").mkdir()
            soak_ledger(base / "ledger", options.ledger)
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
