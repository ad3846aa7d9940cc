"""A crawl on a cluster, simulated: where the time goes as cores, shards and the network change.

    benchmarks/simulate.py            print the tables
    benchmarks/simulate.py --write    put them into docs/explanation/scale.md
    benchmarks/simulate.py --check    exit 1 when that page has others

A discrete-event simulation with fixed seeds, standard library only. A node's cores share its link: a
shard that is read and converted at once needs its bytes at the rate at which a core converts them, and
all shards of a node slow down alike when that is more than the link gives. A finished shard waits for
the driver, which takes one at a time; its core has meanwhile begun another. Nodes are lost at random,
with what they had under way, and come back.

The simulation knows the product by the constants of Measured alone; what a cluster is like stands in Cluster.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "scale.md"
BEGIN, END = "<!-- simulated: benchmarks/simulate.py --write -->\n", "<!-- /simulated -->"

HOUR = 3600.0
MB, GB, GBIT = 1e6, 1e9, 1e9 / 8


@dataclass(frozen=True)
class Measured:
    """What was measured of this product, and by what; and allowances, on the high side."""

    cpu_ms_a_page: float = 4.8  # an export of 823 pages, 145 KB, on a machine kept busy: high
    pages_a_shard: int = 21_000  # a WARC file of Common Crawl
    shard_bytes: float = 1.0 * GB  # the same, compressed
    output_bytes: float = 0.06 * GB  # its Parquet file: allowed for
    start_seconds: float = 0.1  # a shard's process, from the fork server
    driver_ms_a_shard: float = 8.0  # allowed for: the ledger's 0.6 (benchmarks/soak.py), renames, scheduling
    whole_manifest_ms_a_shard: float = 0.5  # what writing manifest.json anew costs for each shard in it
    lookup_us: float = 3.0  # of the server, for a digest in batches (benchmarks/index.py --redis, its floor)

    @property
    def shard_seconds(self) -> float:
        """A core's time for a shard."""
        return self.pages_a_shard * self.cpu_ms_a_page / 1000

    @property
    def bytes_a_core_second(self) -> float:
        """What one core reads."""
        return self.shard_bytes / self.shard_seconds


MEASURED = Measured()


@dataclass(frozen=True)
class Cluster:
    """Machines and how they fail. spread: of the shards' sizes, as the deviation of a log-normal law."""

    nodes: int = 1
    cores: int = 64  # a node
    link: float = 10 * GBIT  # bytes a second into a node
    spread: float = 0.05  # one crawl's files are cut at 1 GB; an archive of one's own has 0.8 or more
    longest_first: bool = True
    lost_an_hour: float = 0.0  # chance of a node to be lost within an hour
    back_after: float = 300.0  # seconds
    price: float = 0.04  # of a core for an hour, in dollars

    @property
    def all_cores(self) -> int:
        return self.nodes * self.cores


@dataclass
class Outcome:
    """What a run took. Seconds; shares of what the cluster could have done."""

    seconds: float = 0.0
    busy: float = 0.0  # core-seconds of conversion that counted
    redone: float = 0.0  # core-seconds lost with nodes
    converted: float = 0.0  # the moment at which the last shard was
    full_until: float = 0.0  # the moment at which the first core found nothing left to do
    driver: float = 0.0  # seconds in which the driver was busy
    longest_queue: int = 0  # of finished shards that wait for the driver
    link_share: float = 0.0  # of the links' capacity, in the middle of the run


@dataclass
class _Node:
    """A machine. `clock` is work done by each of its cores: with equal shares it is the same for all."""

    clock: float = 0.0
    at: float = 0.0  # when `clock` was last right
    speed: float = 1.0
    epoch: int = 0  # counts changes, so that events planned before one are void
    running: list[tuple[float, float, int]] = field(default_factory=list)  # (clock at its end, work, shard)
    up: bool = True


def simulate(shards: int, cluster: Cluster, measured: Measured = MEASURED, seed: int = 1) -> Outcome:
    """One run. Work is counted in core-seconds."""
    draw = random.Random(seed)
    normal = NormalDist(-(cluster.spread**2) / 2, cluster.spread) if cluster.spread else None
    sizes = [
        measured.shard_seconds * (2.718281828459045 ** normal.inv_cdf(draw.random()) if normal else 1.0)
        for _ in range(shards)
    ]
    order = sorted(range(shards), key=lambda shard: -sizes[shard]) if cluster.longest_first else range(shards)
    waiting = deque(order)
    nodes = [_Node() for _ in range(cluster.nodes)]
    events: list[tuple[float, int, int, int]] = []  # (when, kind, node, epoch)
    outcome = Outcome()
    driver_free = 0.0
    queue: deque[float] = deque()  # when each waiting result is taken
    left = shards
    finish, lose, back = range(3)

    def plan(number: int, now: float) -> None:
        """Give a node's free cores work, and plan the end of its next shard."""
        node = nodes[number]
        while node.up and waiting and len(node.running) < cluster.cores:
            shard = waiting.popleft()
            work = sizes[shard] + measured.start_seconds
            heapq.heappush(node.running, (node.clock + work, work, shard))
        if not waiting and not outcome.full_until:
            outcome.full_until = now
        wanted = len(node.running) * measured.bytes_a_core_second
        node.speed = min(1.0, cluster.link / wanted) if wanted else 1.0
        node.epoch += 1
        if node.running:
            end = now + (node.running[0][0] - node.clock) / node.speed
            heapq.heappush(events, (end, finish, number, node.epoch))

    def advance(node: _Node, now: float) -> None:
        node.clock += (now - node.at) * node.speed
        node.at = now

    for number in range(cluster.nodes):
        plan(number, 0.0)
        if cluster.lost_an_hour:
            heapq.heappush(events, (draw.expovariate(cluster.lost_an_hour / HOUR), lose, number, 0))
    outcome.link_share = nodes[0].speed * len(nodes[0].running) * measured.bytes_a_core_second / cluster.link
    now = 0.0
    while left:
        now, kind, number, epoch = heapq.heappop(events)
        node = nodes[number]
        if kind == finish and epoch != node.epoch:
            continue
        advance(node, now)
        if kind == finish:
            _, work, _ = heapq.heappop(node.running)
            outcome.busy += work
            left -= 1
            while queue and queue[0] <= now:
                queue.popleft()
            driver_free = max(driver_free, now) + measured.driver_ms_a_shard / 1000
            outcome.driver += measured.driver_ms_a_shard / 1000
            queue.append(driver_free)
            outcome.longest_queue = max(outcome.longest_queue, len(queue))
        elif kind == lose:
            node.up = False
            for end, work, shard in node.running:
                outcome.redone += work - (end - node.clock)
                waiting.appendleft(shard)
            node.running.clear()
            heapq.heappush(events, (now + cluster.back_after, back, number, 0))
            for other in range(cluster.nodes):  # those that were idle at the end take the work
                if nodes[other].up and len(nodes[other].running) < cluster.cores:
                    advance(nodes[other], now)
                    plan(other, now)
        else:
            node.up = True
            heapq.heappush(events, (now + draw.expovariate(cluster.lost_an_hour / HOUR), lose, number, 0))
        plan(number, now)
    outcome.converted = now
    outcome.seconds = max(now, driver_free)
    return outcome


def bottleneck(cluster: Cluster, outcome: Outcome, measured: Measured = MEASURED) -> str:
    """What a further core, or a faster one, would not help against."""
    tail = outcome.seconds - outcome.full_until
    if outcome.seconds - outcome.converted > 0.1 * outcome.seconds:
        return "driver"
    if outcome.link_share > 0.99:
        return "network"
    if tail > 0.25 * outcome.seconds:
        return "last shards"
    return "cores"


def duration(seconds: float) -> str:
    if seconds < 2 * HOUR:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / HOUR:.1f} h" if seconds < 100 * HOUR else f"{seconds / HOUR / 24:.1f} days"


ONE = Cluster()
CASES: tuple[tuple[str, int, Cluster], ...] = (
    ("1 × 64 cores, 10 Gbit/s", 1_000, ONE),
    ("1 × 64 cores, 10 Gbit/s", 100_000, ONE),
    ("1 × 64 cores, 1 Gbit/s", 1_000, replace(ONE, link=GBIT)),
    ("4 × 16 cores, 1 Gbit/s each", 1_000, replace(ONE, nodes=4, cores=16, link=GBIT)),
    ("16 × 64 cores, 10 Gbit/s each", 1_000, replace(ONE, nodes=16)),
    ("16 × 64 cores, 10 Gbit/s each", 100_000, replace(ONE, nodes=16)),
    ("the same, nodes lost: 5 % an hour", 100_000, replace(ONE, nodes=16, lost_an_hour=0.05)),
    ("256 × 64 cores, 10 Gbit/s each", 100_000, replace(ONE, nodes=256)),
    ("1024 × 64 cores, 10 Gbit/s each", 100_000, replace(ONE, nodes=1024)),
)


def runs() -> str:
    """The table of runs."""
    lines = [
        "| cluster | shards | time | cores at work | bound by | tail | network a node | driver busy | cost |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, shards, cluster in CASES:
        out = simulate(shards, cluster)
        share = out.busy / (out.seconds * cluster.all_cores)
        link = out.link_share * cluster.link / GBIT
        cost = out.seconds / HOUR * cluster.all_cores * cluster.price
        lines.append(
            f"| {name} | {shards:,} | {duration(out.seconds)} | {share:.0%} | {bottleneck(cluster, out)} "
            f"| {duration(out.seconds - out.full_until)} | {link:.1f} Gbit/s "
            f"| {out.driver / out.seconds:.1%} | ${cost:,.0f} |"
        )
    return "\n".join(lines)


def stragglers() -> str:
    """The table of shards of different sizes."""
    lines = [
        "| sizes of the shards | in the order given | longest first |",
        "|---|---|---|",
    ]
    ideal = 1_000 * MEASURED.shard_seconds / ONE.all_cores
    for name, spread in (
        ("all alike", 0.0),
        ("a crawl's, ± 5 %", 0.05),
        ("± 50 %", 0.5),
        ("from tiny to huge (log σ 1.5)", 1.5),
    ):
        cells = []
        for first in (False, True):
            times = [
                simulate(1_000, replace(ONE, spread=spread, longest_first=first), seed=seed).seconds
                for seed in range(3)
            ]
            cells.append(f"{sorted(times)[1] / ideal:.2f}")
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def limits() -> str:
    """The table of what ends the growth, and at how many cores."""
    m = MEASURED
    per_core = 1 / m.shard_seconds  # shards a second
    lookups = m.pages_a_shard * per_core  # a second and core
    quadratic = m.whole_manifest_ms_a_shard / 1000 * 100_000**2 / 2
    rows = (
        (
            "link of a node, 10 Gbit/s",
            10 * GBIT / m.bytes_a_core_second,
            "cores a node",
            f"{m.bytes_a_core_second / MB:.1f} MB/s a core",
        ),
        ("link of a node, 1 Gbit/s", GBIT / m.bytes_a_core_second, "cores a node", "the same"),
        (
            "object store, 5,500 requests/s a prefix",
            5_500 / per_core,
            "cores",
            f"one request a shard: {64 * per_core:.2f} a second for 64 cores",
        ),
        (
            "a shared file system, 1 GB/s of writes",
            GB / (m.output_bytes * per_core),
            "cores",
            f"{m.output_bytes * per_core * 64 / MB:.0f} MB/s for 64 cores",
        ),
        (
            "driver, one shard at a time",
            1000 / m.driver_ms_a_shard / per_core,
            "cores",
            f"{m.driver_ms_a_shard:g} ms a shard: {m.driver_ms_a_shard * 100 / 60:.0f} min for 100,000",
        ),
        (
            "one Redis index, in batches",
            1e6 / m.lookup_us / lookups,
            "cores",
            f"{lookups:.0f} look-ups a second and core, {m.lookup_us:g} µs each",
        ),
    )
    lines = ["| what | is full at | needs |", "|---|---|---|"]
    lines += [f"| {what} | {cores:,.0f} {unit} | {needs} |" for what, cores, unit, needs in rows]
    lines += [
        "",
        f"Were `manifest.json` written anew after every shard, 100,000 shards would cost the driver "
        f"{quadratic / HOUR:,.0f} hours, half of all pairs; with the journal they cost it "
        f"{m.driver_ms_a_shard * 100 / 60:.0f} minutes.",
    ]
    return "\n".join(lines)


def inputs() -> str:
    """What goes in."""
    m = MEASURED
    return "\n".join(
        [
            "| input | value |",
            "|---|---|",
            f"| conversion, a page of 145 KB | {m.cpu_ms_a_page:g} CPU ms |",
            f"| a shard of Common Crawl | {m.pages_a_shard:,} pages, {m.shard_bytes / GB:g} GB compressed |",
            f"| so a core's time for it | {m.shard_seconds:.0f} s |",
            f"| its Parquet file | {m.output_bytes / MB:.0f} MB, allowed for |",
            f"| start of its process | {m.start_seconds:g} s |",
            f"| driver | {m.driver_ms_a_shard:g} ms a shard, allowed for; the ledger is 0.6 of it |",
            f"| look-up in a Redis index | {m.lookup_us:g} µs of the server, in batches |",
        ]
    )


def tables(parts: Sequence[str] = ()) -> str:
    """All tables, as the page has them."""
    made = {
        "Inputs": inputs(),
        "Runs": runs(),
        "Stragglers": stragglers(),
        "Where growth ends": limits(),
    }
    return "\n\n".join(f"### {title}\n\n{table}" for title, table in made.items()) + "\n"


def refreshed(page: str) -> str:
    """The page with the tables as they are now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def main() -> int:
    """Print, write or compare."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--check", action="store_true")
    options = arguments.parse_args()
    if not options.write and not options.check:
        print(tables())
        return 0
    former = PAGE.read_text(encoding="utf-8")
    now = refreshed(former)
    if options.write:
        PAGE.write_text(now, encoding="utf-8")
    elif former != now:
        print(f"{PAGE.name}: out of date; run benchmarks/simulate.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
