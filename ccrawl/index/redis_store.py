"""The shared index: a Redis or Kvrocks server, in the layout of `redis_layout`.

Whoever changes what is committed holds `ccrawl:lock`, a lease that is renewed while work goes on; that of a
process of the same machine that is no more is taken at once. Work that
takes more than one step is written down first (`ccrawl:merging`, `ccrawl:removing`), every step can be done
twice, and the last one is a transaction that moves the counters and deletes the note: whoever takes the lock
after a crash finishes what stands there. Browsertrix does not know the lock; its own commits use HSETNX as
ours do, so that none overwrites another's first copies.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Any

from redis.exceptions import LockError

from ccrawl.errors import UsageError
from ccrawl.index import holder
from ccrawl.index import redis_layout as layout
from ccrawl.index import redis_wire as wire
from ccrawl.index.redis_client import connect, reported, without_password
from ccrawl.index.redis_merge import Lease, finish_foreign_commits, finish_merge, finish_removal
from ccrawl.index.redis_verify import recount
from ccrawl.index.types import (
    REVISIT_COST,
    Counts,
    Crawl,
    EntryTuple,
    IndexFailure,
    Key,
    Original,
    Package,
    RevisitTuple,
    Stats,
    check_run_id,
    kind_of,
)

# Commands sent in one go.
BATCH = 1000
# Renewed at every step, so that only a process that is dead or stopped lets it run out.
_LEASE = 15.0  # seconds
_PATIENCE = 0.05  # seconds between two tries to take the lock

# Registers a run together with what it sees. One script, since a commit may come in between otherwise.
_BEGIN = """
local run, token = ARGV[1], ARGV[2]
if redis.call('SISMEMBER', 'allcrawls', run) == 1 then return 'committed' end
local known = redis.call('HGET', 'ccrawl:runs', run)
if redis.call('SISMEMBER', 'uncommittedcrawls', run) == 1 then
  if known then return known end
  return 'foreign'
end
redis.call('DEL', 'ccrawl:sees:' .. run, 'h:' .. run, 'ccrawl:h:' .. run, 'h:' .. run .. ':counts')
for _, crawl in ipairs(redis.call('SMEMBERS', 'allcrawls')) do
  redis.call('HSET', 'ccrawl:sees:' .. run, crawl, redis.call('LLEN', 'c:' .. crawl .. ':wacz'))
end
redis.call('HSET', 'ccrawl:runs', run, token)
redis.call('SADD', 'uncommittedcrawls', run)
return token
"""
# Takes the lock from a holder that is known to be dead, unless it is another's by now.
_BREAK = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"


class RedisIndex:
    """See `DedupIndex`."""

    algorithm = "sha256"

    def __init__(self, url: str) -> None:
        self.location = without_password(url)
        self._url = url
        self._redis: Any = connect(url)  # untyped: the client's stubs mix answers with awaitables
        self._wire = wire.Wire(self._redis)
        self._ping()

    @reported
    def _ping(self) -> None:
        self._redis.ping()

    # Runs.

    @reported
    def begin(self, run: str) -> str:
        check_run_id(run)
        with self._locked():
            token: str = self._redis.eval(_BEGIN, 0, run, secrets.token_hex(16))
        if token == "committed":  # noqa: S105
            raise UsageError(f"{self.location}: run {run} is committed; take another id, or remove it first")
        if token == "foreign":  # noqa: S105
            raise UsageError(f"{self.location}: {run} is another program's crawl in progress")
        return token

    @reported
    def view(self, run: str) -> RedisView:
        self._open(run)
        return RedisView(self._url, run)

    @reported
    def stage(self, run: str, entries: Iterable[EntryTuple], counts: Counts) -> None:
        self._open(run)
        pipe = self._redis.pipeline(transaction=True)
        pipe.srem(layout.STAGED, run)  # it stands for data that is whole
        pipe.delete(*(space.hashes(run) for space in layout.SPACES), layout.counters(run))
        pipe.execute()
        self._put(run, 0, entries)
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(layout.counters(run), mapping=layout.counts_fields(counts.check()))
        pipe.sadd(layout.STAGED, run)
        pipe.execute()

    @reported
    def commit(self, run: str) -> Crawl:
        with self._locked() as lease:
            if not self._redis.sismember(layout.ALL_CRAWLS, run):
                open_here = self._redis.hexists(layout.RUNS, run)
                if not self._redis.sismember(layout.UNCOMMITTED, run) or (
                    open_here and not self._redis.sismember(layout.STAGED, run)
                ):
                    raise UsageError(f"{self.location}: there is no finished run {run} to commit")
                self._merge(layout.Merge(run), lease)
        return self._committed(run)

    @reported
    def cancel(self, run: str) -> bool:
        with self._locked():
            if self._redis.sismember(layout.ALL_CRAWLS, run):
                raise UsageError(
                    f"{self.location}: run {run} is committed; `ccrawl index remove` takes it out"
                )
            pipe = self._redis.pipeline(transaction=True)
            pipe.srem(layout.UNCOMMITTED, run)
            pipe.srem(layout.STAGED, run)
            pipe.hdel(layout.RUNS, run)
            pipe.delete(*_keys_of(run))
            return bool(pipe.execute()[0])

    # Packages and crawls.

    @reported
    def known_packages(self, filenames: Iterable[str]) -> set[str]:
        known = set()
        names = iter(filenames)
        while batch := list(islice(names, BATCH)):
            pipe = self._redis.pipeline(transaction=False)
            for filename in batch:
                pipe.sismember(layout.DONE, filename)
            known |= {filename for filename, there in zip(batch, pipe.execute(), strict=True) if there}
        return known

    @reported
    def add_package(
        self,
        crawl: str,
        package: Package,
        entries: Iterable[EntryTuple],
        revisits: Iterable[RevisitTuple] = (),
    ) -> None:
        with self._locked() as lease:
            if self._redis.sismember(layout.DONE, package.filename):
                return
            if self._redis.sismember(layout.UNCOMMITTED, crawl):
                raise UsageError(f"{self.location}: {crawl} is a run in progress; commit or cancel it first")
            slot = self._slot(crawl, package)
            copies, large, large_bytes = self._put(crawl, slot, entries, lease)
            seen = self._put_revisits(revisits, lease)
            self._merge(layout.Merge(crawl, slot, package, copies, seen, large, large_bytes), lease)

    @reported
    def remove(self, crawls: Sequence[str], *, force: bool = False) -> None:
        with self._locked() as lease:
            for crawl in crawls:
                if not self._redis.sismember(layout.ALL_CRAWLS, crawl):
                    raise UsageError(f"{self.location}: no committed crawl {crawl}")
                for run in () if force else self._redis.hkeys(layout.RUNS):
                    if self._redis.hexists(layout.sees(run), crawl):
                        raise UsageError(
                            f"{self.location}: the open run {run} sees {crawl}; "
                            "commit or cancel it first, or use --force"
                        )
            if crawls:
                self._redis.sadd(layout.REMOVING, *crawls)
                finish_removal(self._redis, lease)

    @reported
    def crawls(self) -> list[Crawl]:
        found = {run: Crawl(run, "open") for run in self._redis.smembers(layout.UNCOMMITTED)}
        for run in self._redis.smembers(layout.STAGED) & found.keys():
            found[run] = Crawl(run, "staged", self._counts(run))
        for crawl in self._redis.smembers(layout.ALL_CRAWLS):
            found[crawl] = self._committed(crawl)
        return [found[crawl] for crawl in sorted(found)]

    @reported
    def stats(self) -> Stats:
        pipe = self._redis.pipeline(transaction=True)
        pipe.scard(layout.ALL_CRAWLS)
        pipe.scard(layout.UNCOMMITTED)
        pipe.hgetall(layout.ALL_COUNTS)
        for space in layout.SPACES:
            pipe.hlen(space.owners)
        crawls, unfinished, fields, *owned = pipe.execute()
        unique = sum(owned)
        counts = layout.read_counts(fields)
        return Stats(crawls, unfinished, unique, counts.total - counts.duplicates - unique, counts)

    @reported
    def verify(self) -> list[str]:
        return recount(self._redis)

    @reported
    def compact(self) -> None:
        """Finishes or removes what interrupted commands left; the server looks after its own space."""
        with self._locked():
            for run in self._redis.hkeys(layout.RUNS):
                if not self._redis.sismember(layout.UNCOMMITTED, run):
                    self._redis.hdel(layout.RUNS, run)
                    self._redis.delete(layout.sees(run))

    def close(self) -> None:
        self._wire.close()
        self._redis.close()

    def __enter__(self) -> RedisIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Steps.

    def _open(self, run: str) -> None:
        if not self._redis.hexists(layout.RUNS, check_run_id(run)):
            raise IndexFailure(f"{self.location}: run {run} is not open (was it cancelled?)")

    def _counts(self, crawl: str) -> Counts:
        return layout.read_counts(self._redis.hgetall(layout.counters(crawl)))

    def _committed(self, crawl: str) -> Crawl:
        packages = map(layout.read_package, self._redis.lrange(layout.slots(crawl), 0, -1))
        return Crawl(
            crawl,
            "committed",
            self._counts(crawl),
            packages=tuple(package for package in packages if package is not None),
        )

    def _put(
        self, crawl: str, slot: int, entries: Iterable[EntryTuple], lease: Lease | None = None
    ) -> tuple[int, int, int]:
        """Write first copies into a crawl's hash. Returns how many copies there were, how many of them are
        long, and the bytes of those above REVISIT_COST."""
        copies = large = large_bytes = 0
        kinds: set[str] = set()
        rows = iter(entries)
        while batch := list(islice(rows, BATCH)):
            for space, places in layout.by_space([key for key, _, _, _ in batch]):
                mine = batch if len(places) == len(batch) else [batch[at] for at in places]
                keys = [key for key, _, _, _ in mine]
                fields = layout.fields_of(space, keys, ",").split(",")
                self._wire.ask(wire.hsetnx(space.hashes(crawl), fields, layout.write_values(slot, mine)))
                copies += len(mine)
                excess = [size - REVISIT_COST for _, _, _, size in mine if size > REVISIT_COST]
                large += len(excess)
                large_bytes += sum(excess)
                if space is layout.NORMALISED:
                    kinds.update(map(kind_of, keys))
            if lease:
                lease.renew()
        if kinds:
            self._redis.sadd(layout.RULES, *sorted(kinds))
        return copies, large, large_bytes

    def _put_revisits(self, revisits: Iterable[RevisitTuple], lease: Lease) -> int:
        """Write down a package's revisits; returns how many there are. They come sorted by key."""
        self._redis.delete(layout.REVISITS)
        rows = iter(revisits)
        seen = 0
        sizes: dict[str, list[int]] = {}
        while batch := list(islice(rows, BATCH)):
            for key, size in batch:
                if layout.space_of(key) is layout.PAYLOADS:
                    seen += 1
                    sizes.setdefault(layout.field_of(key), []).append(size)
            *whole, _ = sizes or [""]  # the last digest may go on in the next batch
            self._flush_revisits({field: sizes.pop(field) for field in whole})
            lease.renew()
        self._flush_revisits(sizes)
        return seen

    def _flush_revisits(self, sizes: dict[str, list[int]]) -> None:
        if sizes:
            self._redis.hset(
                layout.REVISITS, mapping={field: ",".join(map(str, each)) for field, each in sizes.items()}
            )

    def _slot(self, crawl: str, package: Package) -> int:
        """The slot of a package in its crawl's list; what an interrupted import left there goes."""
        for slot, text in enumerate(self._redis.lrange(layout.slots(crawl), 0, -1)):
            known = layout.read_package(text)
            if known is not None and known.filename == package.filename:
                self._clear_slot(crawl, slot)
                return slot
        placeholder = layout.write_package(Package(package.filename))
        return int(self._redis.rpush(layout.slots(crawl), placeholder)) - 1

    def _clear_slot(self, crawl: str, slot: int) -> None:
        start = f"{slot} "
        hashes = layout.PAYLOADS.hashes(crawl)  # packages are of payloads as they are
        stale = [
            field for field, value in self._redis.hscan_iter(hashes, count=BATCH) if value.startswith(start)
        ]
        for at in range(0, len(stale), BATCH):
            fields = stale[at : at + BATCH]
            owners = self._redis.hmget(layout.PAYLOADS.owners, fields)
            gone = [field for field, owner in zip(fields, owners, strict=True) if owner != crawl]
            if gone:
                self._redis.hdel(hashes, *gone)

    def _merge(self, merge: layout.Merge, lease: Lease) -> None:
        self._redis.set(layout.MERGING, merge.to_json())
        finish_merge(self._redis, lease)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[Lease]:
        """Hold the lock, after finishing what a process that died has begun."""
        lock = self._redis.lock(layout.LOCK, timeout=_LEASE, thread_local=False)
        token = holder.token()
        while not lock.acquire(blocking=False, token=token):
            holding = self._redis.get(layout.LOCK)
            if holding is not None and holder.is_dead(holding):
                self._redis.eval(_BREAK, 1, layout.LOCK, holding)
            else:
                time.sleep(_PATIENCE)
        lease = Lease(lock, _LEASE)
        try:
            finish_merge(self._redis, lease)
            finish_removal(self._redis, lease)
            finish_foreign_commits(self._redis, lease)
            yield lease
        finally:
            with contextlib.suppress(LockError):  # the lease ran out: it is someone else's by now
                lock.release()


class RedisView:
    """What a run sees of a server: first copies of crawls that were committed when it began, in slots that
    were there. Others are no originals, whatever commits in the meantime. See `View`."""

    def __init__(self, url: str, run: str) -> None:
        self.location = without_password(url)
        self.algorithms: tuple[str, ...] = ()
        self._redis: Any = connect(url)
        self._wire = wire.Wire(self._redis)
        self._slots: dict[bytes, int] = {}
        self._load(run)

    @reported
    def _load(self, run: str) -> None:
        seen = self._redis.hgetall(layout.sees(run))
        self._slots = {crawl.encode("utf-8", "surrogateescape"): int(count) for crawl, count in seen.items()}
        if seen:
            self.algorithms = ("sha256", *sorted(self._redis.smembers(layout.RULES)))

    @reported
    def find(self, keys: Sequence[Key]) -> list[Original | None]:
        found: list[Original | None] = [None] * len(keys)
        if not self._slots:
            return found
        for space, places in layout.by_space(keys):
            if len(places) == len(keys):
                return self._find(space, keys)
            for at, original in zip(places, self._find(space, [keys[at] for at in places]), strict=True):
                found[at] = original
        return found

    def _find(self, space: layout.Space, keys: Sequence[Key]) -> list[Original | None]:
        """Two questions, each sent in one go: whose the first copies are, and what their crawls say."""
        fields = _fields(space, keys)
        [owners] = self._wire.ask([wire.hmget(space.owners, fields)])
        distinct = set(owners)
        seen = distinct & self._slots.keys()
        if not seen:
            return [None] * len(keys)
        if len(distinct) == 1:  # often so, and nothing to be sorted then
            return self._originals(space, {distinct.pop(): fields})[0]
        places: dict[bytes, list[int]] = {crawl: [] for crawl in sorted(seen)}
        for at, crawl in enumerate(owners):
            if crawl in seen:
                places[crawl].append(at)
        asked = {crawl: _fields(space, [keys[at] for at in mine]) for crawl, mine in places.items()}
        found: list[Original | None] = [None] * len(keys)
        for mine, originals in zip(places.values(), self._originals(space, asked), strict=True):
            for at, original in zip(mine, originals, strict=True):
                found[at] = original
        return found

    def _originals(self, space: layout.Space, asked: dict[bytes, wire.Fields]) -> list[list[Original | None]]:
        """What crawls say about fields, those that are asked of each."""
        crawls = {crawl: crawl.decode("utf-8", "surrogateescape") for crawl in asked}
        answers = self._wire.ask(
            [wire.hmget(space.hashes(crawls[crawl]), fields) for crawl, fields in asked.items()]
        )
        return [
            layout.read_originals(name, max(1, self._slots[crawl]), texts)
            for (crawl, name), texts in zip(crawls.items(), answers, strict=True)
        ]

    def close(self) -> None:
        self._wire.close()
        self._redis.close()


def _fields(space: layout.Space, keys: Sequence[Key]) -> wire.Fields:
    before = wire.between(space.width)
    return wire.Fields(len(keys), before + layout.fields_of(space, keys, before))


def _keys_of(crawl: str) -> tuple[str, ...]:
    hashes = (space.hashes(crawl) for space in layout.SPACES)
    return *hashes, layout.counters(crawl), layout.slots(crawl), layout.sees(crawl)
