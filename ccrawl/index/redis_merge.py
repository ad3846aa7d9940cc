"""The steps of a merge and of a removal on a server: each can be done twice, the last is a transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from redis.exceptions import LockError

from ccrawl.index import redis_layout as layout
from ccrawl.index.types import REVISIT_COST, Counts, IndexFailure

BATCH = 1000
_LOST = "the index's lock was lost (this process was stopped too long); run the same command again"
# HSETNX for many digests: the crawl in ARGV[1] gets those that have no first copy yet.
_CLAIM = "for at = 2, #ARGV do redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[1]) end"


class Lease:
    """The lock's lease, renewed while work goes on."""

    def __init__(self, lock: Any, seconds: float) -> None:
        self._lock = lock
        self._seconds = seconds
        self._renewed = time.monotonic()

    def renew(self) -> None:
        """Called between steps. IndexFailure when the lease has run out, so that another may be at work."""
        if time.monotonic() - self._renewed < self._seconds / 6:
            return
        self.check()

    def confirm(self) -> None:
        """IndexFailure when the lock is another's by now; changes nothing."""
        if not self._lock.owned():
            raise IndexFailure(_LOST)

    def check(self) -> None:
        """Renew now; before a transaction, so that it is sent well within the lease."""
        try:
            self._lock.reacquire()
        except LockError as error:
            raise IndexFailure(_LOST) from error
        self._renewed = time.monotonic()


def finish_merge(client: Any, lease: Lease) -> None:
    """Finish the merge that is written down, if there is one."""
    noted = client.get(layout.MERGING)
    if noted is None:
        return
    try:
        merge = layout.Merge.from_json(noted)
    except ValueError as error:
        raise IndexFailure(
            f"the server's {layout.MERGING} can't be read ({error}); the version that wrote it can finish it"
        ) from error
    _claim(client, merge, lease)
    settle = _settlements(client, merge, lease)
    conserved, unknown = _revisits(client, merge, lease)
    owned_large, owned_bytes = _owned(client, merge, lease)
    pipe = _last_step(client, lease)
    for field, sums in settle.items():
        pipe.delete(f"rev:{field}:s", f"rev:{field}:c")
        for crawl, saved in sums.items():
            pipe.hincrby(layout.counters(crawl), "conservedSize", saved)
            pipe.hincrby(layout.ALL_COUNTS, "conservedSize", saved)
    for field, sizes in unknown.items():
        pipe.hincrby(f"rev:{field}:s", merge.crawl, sum(sizes))
        pipe.hincrby(f"rev:{field}:c", merge.crawl, len(sizes))
    if merge.package is None:
        counts = layout.read_counts(client.hgetall(layout.counters(merge.crawl)))
        for text in client.lrange(layout.slots(merge.crawl), 0, -1):
            package = layout.read_package(text)
            if package is not None:
                pipe.sadd(layout.DONE, package.filename)
        pipe.smove(layout.UNCOMMITTED, layout.ALL_CRAWLS, merge.crawl)
        pipe.delete(layout.sees(merge.crawl))
        pipe.hdel(layout.RUNS, merge.crawl)
        pipe.srem(layout.STAGED, merge.crawl)
    else:
        counts = Counts(merge.copies + merge.revisits, merge.revisits, conserved, merge.package.size or 0)
        pipe.sadd(layout.ALL_CRAWLS, merge.crawl)
        pipe.sadd(layout.DONE, merge.package.filename)
        pipe.lset(layout.slots(merge.crawl), merge.slot, layout.write_package(merge.package))
        for name, number in layout.counts_fields(counts).items():
            pipe.hincrby(layout.counters(merge.crawl), name, number)
        if merge.large > owned_large:
            pipe.hincrby(layout.ALL_COUNTS, "redundantUrls", merge.large - owned_large)
            pipe.hincrby(layout.ALL_COUNTS, "estimatedRedundantSize", merge.large_bytes - owned_bytes)
    for name, number in layout.counts_fields(counts).items():
        pipe.hincrby(layout.ALL_COUNTS, name, number)
    pipe.hsetnx(layout.ORDER, merge.crawl, client.incr(layout.COMMITS))  # a gap in the numbers is no harm
    pipe.delete(layout.MERGING, layout.REVISITS)
    pipe.execute()


def finish_foreign_commits(client: Any, lease: Lease) -> None:
    """Claim what a crawler left out when it committed runs of ours: it knows no normalised payloads."""
    for run in client.sinter(layout.STAGED, layout.ALL_CRAWLS):
        _claim(client, layout.Merge(run), lease)
        lease.check()
        client.srem(layout.STAGED, run)


def _claim(client: Any, merge: layout.Merge, lease: Lease) -> None:
    claim = client.register_script(_CLAIM)
    for space in layout.SPACES:
        for fields, _ in _copies(client, merge, lease, space):
            claim(keys=[space.owners], args=[merge.crawl, *fields])


def _copies(
    client: Any, merge: layout.Merge, lease: Lease, space: layout.Space = layout.PAYLOADS
) -> Iterator[tuple[list[str], list[layout.Value | None]]]:
    """Fields and values of what is merged, in batches."""
    fields: list[str] = []
    values: list[layout.Value | None] = []
    for field, text in client.hscan_iter(space.hashes(merge.crawl), count=BATCH):
        value = layout.read_value(text)
        if merge.slot is None or (value is not None and value.slot == merge.slot):
            fields.append(field)
            values.append(value)
        if len(fields) >= BATCH:
            yield fields, values
            lease.renew()
            fields, values = [], []
    if fields:
        yield fields, values


def _owned(client: Any, merge: layout.Merge, lease: Lease) -> tuple[int, int]:
    """Of a package's first copies: how many are long, and their bytes above REVISIT_COST.

    Counted from what stands there, not from what HSETNX answered: a repeated step would not get it again.
    """
    large = large_bytes = 0
    if merge.package is None:
        return large, large_bytes
    for fields, values in _copies(client, merge, lease):
        for crawl, value in zip(client.hmget(layout.PAYLOADS.owners, fields), values, strict=True):
            if crawl == merge.crawl and value is not None and value.size > REVISIT_COST:
                large += 1
                large_bytes += value.size - REVISIT_COST
    return large, large_bytes


def _originals(client: Any, fields: list[str]) -> dict[str, int]:
    """Record size of each digest's first copy, for those that have one."""
    crawls = client.hmget(layout.PAYLOADS.owners, fields)
    pipe = client.pipeline(transaction=False)
    asked = [(field, crawl) for field, crawl in zip(fields, crawls, strict=True) if crawl is not None]
    for field, crawl in asked:
        pipe.hget(layout.PAYLOADS.hashes(crawl), field)
    sizes = {}
    for (field, _), text in zip(asked, pipe.execute(), strict=True):
        value = layout.read_value(text)
        if value is not None:
            sizes[field] = value.size
    return sizes


def _revisits(client: Any, merge: layout.Merge, lease: Lease) -> tuple[int, dict[str, list[int]]]:
    """Bytes that the package's revisits conserve, and the revisits whose original is not known."""
    conserved = 0
    unknown: dict[str, list[int]] = {}
    if not merge.revisits:
        return conserved, unknown
    for batch in _batched(client.hscan_iter(layout.REVISITS, count=BATCH)):
        sizes = {field: [int(size) for size in text.split(",")] for field, text in batch}
        originals = _originals(client, list(sizes))
        for field, each in sizes.items():
            if field in originals:
                conserved += sum(max(0, originals[field] - size) for size in each)
            else:
                unknown[field] = each
        lease.renew()
    return conserved, unknown


def _settlements(client: Any, merge: layout.Merge, lease: Lease) -> dict[str, dict[str, int]]:
    """For revisits seen before their original, which is there now: digest -> crawl -> bytes conserved."""
    settled: dict[str, dict[str, int]] = {}
    # Looked for by prefix alone, and told apart here: not every Kvrocks knows other patterns.
    waiting = (name for name in client.scan_iter("rev:*", count=BATCH) if name.endswith(":c"))
    for batch in _batched(waiting):
        names = {name[4:-2]: name for name in batch}
        fields = [
            name.rpartition(":")[2] for name in names
        ]  # Browsertrix keeps the algorithm's name in these
        originals = _originals(client, fields)
        for (label, name), field in zip(names.items(), fields, strict=True):
            if field in originals:
                counts = client.hgetall(name)
                sizes = client.hgetall(f"rev:{label}:s")
                settled[label] = {
                    crawl: max(
                        0, layout.read_number(count) * originals[field] - layout.read_number(sizes.get(crawl))
                    )
                    for crawl, count in counts.items()
                }
        lease.renew()
    return settled


def finish_removal(client: Any, lease: Lease) -> None:
    """Take out the crawls that are written down, if there are any."""
    going = client.smembers(layout.REMOVING)
    if not going:
        return
    order = client.hgetall(layout.ORDER)
    heirs = sorted(
        client.smembers(layout.ALL_CRAWLS) - going, key=lambda crawl: (int(order.get(crawl, 0)), crawl)
    )
    for crawl in sorted(going):
        for space in layout.SPACES:
            for batch in _batched(client.hscan_iter(space.hashes(crawl), count=BATCH)):
                fields = [field for field, _ in batch]
                owners = client.hmget(space.owners, fields)
                left = {field for field, owner in zip(fields, owners, strict=True) if owner == crawl}
                _hand_over(client, space, left, heirs)
                lease.renew()
        _drop(client, crawl, lease)


def _hand_over(client: Any, space: layout.Space, fields: set[str], heirs: list[str]) -> None:
    """Give first copies to the first crawl that holds them too; the others go."""
    pipe = client.pipeline(transaction=False)
    for heir in heirs:
        if not fields:
            break
        asked = sorted(fields)
        for field, text in zip(asked, client.hmget(space.hashes(heir), asked), strict=True):
            if layout.read_value(text) is not None:
                pipe.hset(space.owners, field, heir)
                fields.discard(field)
    if fields:
        pipe.hdel(space.owners, *fields)
    pipe.execute()


def _drop(client: Any, crawl: str, lease: Lease) -> None:
    """The crawl's own keys and its share of the sums, in one transaction."""
    counts = layout.read_counts(client.hgetall(layout.counters(crawl)))
    packages = map(layout.read_package, client.lrange(layout.slots(crawl), 0, -1))
    pending = list(client.scan_iter("rev:*", count=BATCH))
    committed = client.sismember(layout.ALL_CRAWLS, crawl)
    pipe = _last_step(client, lease)
    if committed:
        for name, number in layout.counts_fields(counts).items():
            pipe.hincrby(layout.ALL_COUNTS, name, -number)
    for package in packages:
        if package is not None:
            pipe.srem(layout.DONE, package.filename)
    for name in pending:
        pipe.hdel(name, crawl)
    pipe.srem(layout.ALL_CRAWLS, crawl)
    pipe.srem(layout.CANCELED, crawl)
    pipe.hdel(layout.ORDER, crawl)
    pipe.delete(
        *(space.hashes(crawl) for space in layout.SPACES), layout.counters(crawl), layout.slots(crawl)
    )
    pipe.srem(layout.REMOVING, crawl)
    pipe.execute()


def _last_step(client: Any, lease: Lease) -> Any:
    """A transaction that fails when the lock has become another's."""
    lease.check()
    pipe = client.pipeline(transaction=True)
    pipe.watch(layout.LOCK)
    lease.confirm()
    pipe.multi()
    return pipe


def _batched(rows: Iterator[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
