"""The dedupe index beside what it stands on, in one run.

    python benchmarks/index.py [--entries N[,N...]] [--redis] [--rounds N]

Embedded: look-ups of a run's view and the commit of a staged run, beside a bare loop over rocksdict's own API
with the same keys and values (get; WriteBatch and flush). Import: a CDXJ file, beside reading and parsing the
JSON of its lines. Redis (with --redis: starts redis-server on a free port): look-ups and staging beside
redis-benchmark with one connection and the same commands. CPU seconds, the least of N rounds; for Redis those
of client and server together. Exits 1 when a target of the project is missed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import platform
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import redis
from isal import igzip
from rocksdict import WriteBatch

from ccrawl.index import Counts, Entry, open_index
from ccrawl.index.importer import import_sources
from ccrawl.index.tables import open_store, pack
from ccrawl.run.duplicates import BATCH_CAPTURES

MIN_OF_STORE = 0.6
MAX_BYTES = 60
MAX_OF_JSON = 3.0
MIN_OF_REDIS_BENCHMARK = 0.5
LOOKUPS = 100_000
BATCH = BATCH_CAPTURES  # as an export asks
CDX_LINES = 200_000


def key(number: int, tag: bytes = b"\x02") -> bytes:
    name = hashlib.sha1 if tag == b"\x02" else hashlib.sha256
    return tag + name(b"%d" % number, usedforsecurity=False).digest()


def url(number: int) -> str:
    return (
        f"https://www.host{number % 5003}.example/articles/{number}/some-words-{number * 7919 % 99991}.html"
    )


def entries(first: int, count: int, tag: bytes = b"\x02") -> Iterator[Entry]:
    for number in range(first, first + count):
        yield Entry(key(number, tag), "20250304050607", url(number), 2000 + number % 30000)


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


class Table:
    """Prints rows and remembers whether a target was missed."""

    def __init__(self) -> None:
        self.missed = False

    def row(self, what: str, ours: float, floor: float, bound: float, *, least: bool) -> None:
        met = ours >= bound * floor if least else ours <= bound * floor
        self.missed |= not met
        end = f"({'at least' if least else 'at most'} {bound:g}){'' if met else ' MISSED'}"
        print(f"{what:34}{ours:14,.2f}{floor:14,.2f}{ours / floor:8.2f}  {end}")


class Spent:
    """CPU seconds of some work in this thread, and of all that other threads have done in the meantime: the
    store compacts in the background, whatever this thread does then."""

    def __init__(self) -> None:
        self._here = 0.0
        self._behind = -_behind()

    def add(self, work: Callable[[], object]) -> None:
        begun = time.thread_time()
        work()
        self._here += time.thread_time() - begun

    def seconds(self) -> float:
        return self._here + self._behind + _behind()


def _behind() -> float:
    return time.process_time() - time.thread_time()


def embedded(table: Table, folder: Path, sizes: list[int], rounds: int) -> None:
    """Both stores grow from size to size; rates of inserts are those of all since the size before."""
    part = min(sizes[0], 1_000_000)
    filled = 0
    for size in sizes:
        commits = inserts = 0.0
        for first in range(filled, size, part):
            commits += _commit(folder / "ours", first, part)
        for first in range(filled, size, part):
            inserts += _insert(folder / "bare", first, part)
            print(f"\r{first + part:,} entries", end="", file=sys.stderr, flush=True)
        print(f"\rembedded, {size:,} entries in commits of {part:,}      ours         floor   ratio")
        added = size - filled
        table.row(
            "inserts/s (commit | WriteBatch)", added / commits, added / inserts, MIN_OF_STORE, least=True
        )
        _look_up(table, folder, size, rounds)
        filled = size


def _commit(path: Path, first: int, count: int) -> float:
    run = f"run-{first}"
    with open_index(str(path)) as index:
        index.begin(run)
        index.stage(run, entries(first, count), Counts(count))
        spent = Spent()
        spent.add(lambda: index.commit(run))
    return spent.seconds()


def _insert(path: Path, first: int, count: int) -> float:
    rows = [(b"e" + one.key, pack(1, 0, one.date, one.url, one.size)) for one in entries(first, count)]
    spent = Spent()

    def insert() -> None:
        bare = open_store(path, read_only=False)
        for at in range(0, len(rows), 10_000):
            batch = WriteBatch(raw_mode=True)
            for one, value in rows[at : at + 10_000]:
                batch.put(one, value)
            bare.write(batch)
        bare.flush()
        bare.close()  # as a commit does: what it compacts in the background belongs to the cost of either

    spent.add(insert)
    return spent.seconds()


def _look_up(table: Table, folder: Path, total: int, rounds: int) -> None:
    ours = folder / "ours"
    with open_index(str(ours)) as index:
        index.compact()
        index.begin("look")
        view = index.view("look")
    bare = open_store(folder / "bare", read_only=False)
    bare.compact_range(None, None)
    drawn = random.Random(1)
    for what, numbers in (
        ("hits", [drawn.randrange(total) for _ in range(LOOKUPS)]),
        ("misses", [-drawn.randrange(1, total + 1) for _ in range(LOOKUPS)]),
    ):
        keys = [key(number) for number in numbers]
        prefixed = [b"e" + one for one in keys]
        best_ours = best_floor = float("inf")
        for _ in range(rounds):
            best_ours = min(
                best_ours,
                cpu(lambda keys=keys: [view.find(keys[at : at + BATCH]) for at in range(0, LOOKUPS, BATCH)]),
            )
            best_floor = min(best_floor, cpu(lambda prefixed=prefixed: [bare.get(one) for one in prefixed]))
        table.row(
            f"look-ups/s, {what} (view | get)",
            LOOKUPS / best_ours,
            LOOKUPS / best_floor,
            MIN_OF_STORE,
            least=True,
        )
    view.close()
    bare.close()
    with open_index(str(ours)) as index:
        index.cancel("look")
    size = sum(file.stat().st_size for file in (ours / "store").iterdir())
    urls = sum(len(url(number)) for number in range(0, total, 97)) / len(range(0, total, 97))
    table.row("bytes an entry with its URL", size / total, urls, (MAX_BYTES + urls) / urls, least=False)
    print(f"most memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


def imported(table: Table, folder: Path, rounds: int) -> None:
    source = folder / "index.cdxj.gz"
    with gzip.open(source, "wb", compresslevel=6) as file:
        for number in range(CDX_LINES):
            record = {
                "url": url(number),
                "mime": "text/html",
                "mime-detected": "text/html",
                "status": "200",
                "digest": key(number, b"\x04")[1:].hex(),
                "length": str(2000 + number % 30000),
                "offset": str(number * 9000),
                "filename": "crawl-data/segments/1700000000.1/warc/part-00001.warc.gz",
                "languages": "eng",
                "encoding": "UTF-8",
            }
            file.write(
                f"example,host{number % 5003})/{number} 20250304050607 {json.dumps(record)}\n".encode()
            )

    def parse() -> None:
        with igzip.open(source, "rb") as lines:
            for line in lines:
                json.loads(line[line.index(b" {") + 1 :])

    best_ours = best_floor = float("inf")
    for number in range(rounds):
        best_floor = min(best_floor, cpu(parse))
        with open_index(str(folder / f"import-{number}")) as index:
            best_ours = min(best_ours, cpu(lambda index=index: import_sources(index, [str(source)])))
    print(f"\nimport, {CDX_LINES:,} lines of CDXJ                    ours         floor   ratio")
    each = 1e6 / CDX_LINES
    table.row(
        "us/line (import | read and parse)", best_ours * each, best_floor * each, MAX_OF_JSON, least=False
    )


def on_redis(table: Table, folder: Path, rounds: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        time.sleep(1)
        _on_redis(table, port, rounds)
    finally:
        server.terminate()
        server.wait()


def _on_redis(table: Table, port: int, rounds: int) -> None:
    count = 200_000
    rows = list(entries(0, count, b"\x04"))
    keys = [row.key for row in rows]
    client = redis.Redis(port=port)

    def cost(work: Callable[[], object]) -> float:
        """CPU seconds of the server, of this process and of its children: all that it takes."""

        def spent() -> float:
            server = client.info("cpu")
            children = resource.getrusage(resource.RUSAGE_CHILDREN)
            ours = time.process_time() + children.ru_utime + children.ru_stime
            return ours + float(server["used_cpu_user"]) + float(server["used_cpu_sys"])

        begun = spent()
        work()
        return spent() - begun

    def benchmark(requests: int, pipeline: int, *command: str) -> float:
        """Cost of a request of redis-benchmark's."""
        call = ["redis-benchmark", "-p", str(port), "-c", "1", "-P", str(pipeline), "-n", str(requests), "-q"]
        return cost(lambda: subprocess.run([*call, *command], capture_output=True, check=True)) / requests

    value = "0 20250304050607 " + url(123456) + " 2000"
    field = "a" * 52 + "__rand_int__"
    stage = setting = find = float("inf")
    with open_index(f"redis://127.0.0.1:{port}/0") as index:
        # Both fill an empty hash with new fields: of random numbers below 10^9, hardly any comes twice.
        for _ in range(rounds):
            index.cancel("run")
            index.begin("run")
            stage = min(stage, cost(lambda: index.stage("run", rows, Counts(count))) / count)
            client.delete("h:bench")
            setting = min(
                setting, benchmark(count, 1000, "-r", str(10**9), "HSETNX", "h:bench", field, value)
            )
        client.delete("h:bench")
        index.commit("run")
        index.begin("look")
        view = index.view("look")
        batches = [keys[at : at + BATCH] for at in range(0, count, BATCH)]
        for _ in range(rounds):
            find = min(find, cost(lambda: all(view.find(batch) for batch in batches)) / count)
        view.close()
    # A look-up is two of these, of as many digests: the owners, then the places. All of them hit, as ours do.
    numbers = ["a" * 52 + f"{number:012d}" for number in range(count)]
    for at in range(0, count, BATCH):
        client.hset("owners", mapping=dict.fromkeys(numbers[at : at + BATCH], "run"))
        client.hset("h:bench", mapping=dict.fromkeys(numbers[at : at + BATCH], value))
    fields = [field] * BATCH
    owners, places = (
        min(benchmark(count // BATCH, 1, "-r", str(count), "HMGET", name, *fields) for _ in range(rounds))
        for name in ("owners", "h:bench")
    )
    client.close()
    print(f"\nRedis, {count:,} entries                           ours         floor   ratio")
    table.row(
        "HSETNX/s (stage | redis-benchmark)", 1 / stage, 1 / setting, MIN_OF_REDIS_BENCHMARK, least=True
    )
    floor = BATCH / (owners + places)
    table.row("look-ups/s (view | redis-benchmark)", 1 / find, floor, MIN_OF_REDIS_BENCHMARK, least=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--entries",
        type=lambda text: sorted(map(int, text.split(","))),
        default=[1_000_000],
        metavar="N[,N...]",
        help="sizes of the stores that look-ups are timed at",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--redis", action="store_true")
    parser.add_argument(
        "--folder", type=Path, help="where the stores go, the system's temporary folder otherwise"
    )
    arguments = parser.parse_args()
    print(f"{platform.node()}, Python {platform.python_version()}")
    table = Table()
    folder = Path(tempfile.mkdtemp(prefix="ccrawl-bench-", dir=arguments.folder))
    try:
        embedded(table, folder, arguments.entries, arguments.rounds)
        imported(table, folder, arguments.rounds)
        if arguments.redis:
            on_redis(table, folder, arguments.rounds)
    finally:
        shutil.rmtree(folder)
    return int(table.missed)


if __name__ == "__main__":
    sys.exit(main())
