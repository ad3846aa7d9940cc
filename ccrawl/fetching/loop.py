"""The event loop of a refetch: shards are planned, fetched, converted and written, all beside each other.

    plan        a process reads the shard's input -> targets
    fetch       this process: client -> journal, in the order in which they are done
    convert     processes read the journal -> a second journal
    finish      a process reads both in the order of the input -> Parquet, WARC

Fetches of one shard go on while the one before it waits for its slowest host, so that hosts of all shards
share one client and its politeness. What is between the steps stands on the disk; as much of it as SHARDS
shards need.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from typing import TypeVar, cast

from ccrawl.dataset.layout import shard_file
from ccrawl.dataset.ledger import FailedShard, Failure, FailureLog, Ledger, ShardEntry
from ccrawl.errors import CcrawlError, OutputError, SourceError
from ccrawl.fetching.client import fetch
from ccrawl.fetching.compare import CompareTask, compare_process
from ccrawl.fetching.finish import FinishReport, FinishTask, WarcTarget, finish_process
from ccrawl.fetching.hosts import HostTimes
from ccrawl.fetching.journal import Journal, encode
from ccrawl.fetching.options import RefetchOptions
from ccrawl.fetching.pages import FetchedPage, encode_failure, may_have_page
from ccrawl.fetching.plan import Plan, PlanTask, plan_process, read_plan, read_targets
from ccrawl.fetching.pool import Pool
from ccrawl.fetching.targets import ARCHIVE, Input
from ccrawl.fetching.types import Fetched, Target
from ccrawl.fetching.work import Work, all_keys
from ccrawl.run.events import (
    Listener,
    Notice,
    RefetchProgress,
    ShardDone,
    ShardFailed,
    ShardRetried,
)
from ccrawl.run.guard import cause_of_death
from ccrawl.run.indexed import IndexUse
from ccrawl.run.outcome import Outcome
from ccrawl.run.processes import Worker, WorkerDied

P = TypeVar("P")
T = TypeVar("T")

SHARDS = 4  # planned and not yet written; a bound on what stands on the disk beside the dataset
_TRIES = 2  # of a step of a shard in a process of its own
_SYNC = 1.0  # seconds of work that a power cut may cost
_TICK = 0.5  # seconds between two events of progress
_AT_ONCE = 200  # pages handed to the pool before the loop has its turn


@dataclass(slots=True)
class _Shard:
    """A shard that is planned and not yet written. first: the position of its first target in this run."""

    number: int
    input: Input
    work: Work
    plan: Plan
    first: int
    fetched: Journal
    converted: Journal | None
    started: float
    to_fetch: int
    to_convert: int = 0
    complete: asyncio.Event = field(default_factory=asyncio.Event)
    compared: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Notice that every target is done."""
        if not self.to_fetch and not self.to_convert:
            self.complete.set()

    def sync(self) -> None:
        self.fetched.sync()
        if self.converted is not None:
            self.converted.sync()

    def close(self) -> None:
        self.fetched.close()
        if self.converted is not None:
            self.converted.close()


@dataclass(slots=True)
class Figures:
    """What a run has done. Seconds of fetch are wall-clock time, the others those of the processes."""

    planned: int = 0  # targets
    resumed: int = 0  # of them, those that a former run had fetched
    fetched: int = 0
    failed: int = 0
    converted: int = 0
    rows: int = 0
    shards_done: int = 0
    cpu_seconds: float = 0.0
    phases: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("plan", "fetch", "compare", "convert", "write"), 0.0)
    )


class Loop:
    """Carries out a refetch. Made for one `run`."""

    def __init__(
        self,
        ledger: Ledger,
        failures: FailureLog,
        options: RefetchOptions,
        context: ForkServerContext,
        *,
        fingerprints: Mapping[int, str],
        workers: int,
        index: IndexUse | None,
        warc: WarcTarget | None,
        listener: Listener,
    ) -> None:
        self.figures = Figures()
        self.hosts = HostTimes()
        self._ledger = ledger
        self._failures = failures
        self._options = options
        self._context = context
        self._fingerprints = fingerprints
        self._workers = workers
        self._index = index
        self._warc = warc
        self._listen = listener
        self._shards: list[_Shard] = []  # planned and not yet written, in order
        self._started = time.monotonic()
        self._pool: Pool | None = None

    async def run(self, inputs: Mapping[int, Input]) -> None:
        """Do all shards; returns when each is written or given up.

        Raises OutputError when the disk fails, UsageError for the options of the fetch, and with `strict` the
        first failed shard's error. Cancelled, it leaves journals that the next run goes on with.
        """
        self._slots = asyncio.Semaphore(SHARDS)
        self._comparing = asyncio.Lock()
        self._to_fetch: asyncio.Queue[_Shard | None] = asyncio.Queue()
        self._to_finish: asyncio.Queue[_Shard | None] = asyncio.Queue()
        if not self._options.fetch_only:
            self._pool = Pool(self._context, self._workers, self._options.pages, self._take_converted)
        try:
            async with asyncio.TaskGroup() as group:
                beside = [group.create_task(self._sync()), group.create_task(self._tell())]
                work = [
                    group.create_task(self._plan_all(inputs, group)),
                    group.create_task(self._fetch_all()),
                    group.create_task(self._finish_all()),
                ]
                await asyncio.wait(work)  # a failure of one ends the group, and this with it
                for task in beside:
                    task.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            if self._pool is not None:
                self._pool.stop()
                self.figures.phases["convert"] = self._pool.cpu_seconds
                self.figures.cpu_seconds += self._pool.cpu_seconds
            for shard in self._shards:
                shard.sync()
                shard.close()
        self._listen(self._progress())

    async def _plan_all(self, inputs: Mapping[int, Input], group: asyncio.TaskGroup) -> None:
        first = 0
        for number in sorted(inputs):
            await self._slots.acquire()
            shard = await self._planned(number, inputs[number], first)
            if shard is None:
                self._slots.release()
                continue
            first += shard.plan.targets
            self._shards.append(shard)
            if self._options.comparing and shard.input.kind == ARCHIVE and not shard.work.compared.exists():
                shard.compared = group.create_task(self._compare(shard))
            await self._convert_resumed(shard)
            shard.check()
            self._to_fetch.put_nowait(shard)
            self._to_finish.put_nowait(shard)
        self._to_fetch.put_nowait(None)
        self._to_finish.put_nowait(None)

    async def _planned(self, number: int, one: Input, first: int) -> _Shard | None:
        """The shard with its plan and what a former run has fetched of it; None when it can't be read."""
        started = time.monotonic()
        work = Work(self._ledger.directory, number)
        stamp = json.dumps([self._fingerprints[number], one.start, self._options.for_manifest()])
        plan = read_plan(work.plan, stamp)
        if plan is None or not work.keys.exists():
            work.remove()
            known = tuple(path for path in all_keys(self._ledger.directory) if path != work.keys)
            task = PlanTask(number, one, self._options.pages, work.plan, work.keys, known, stamp)
            try:
                plan = await self._tried(number, one.source.name, plan_process, task)
            except OutputError:
                raise
            except CcrawlError as error:
                self._give_up(number, one, error)
                return None
        self.figures.phases["plan"] += time.monotonic() - started
        fetched = Journal(work.fetched, plan.targets)
        self.figures.planned += plan.targets
        self.figures.resumed += fetched.recovered
        return _Shard(
            number=number,
            input=one,
            work=work,
            plan=plan,
            first=first,
            fetched=fetched,
            converted=None if self._pool is None else Journal(work.converted, plan.targets),
            started=started,
            to_fetch=plan.targets - fetched.recovered,
        )

    async def _convert_resumed(self, shard: _Shard) -> None:
        """Have converted what a former run has fetched only."""
        if self._pool is None or shard.converted is None or not shard.fetched.recovered:
            return
        for target in read_targets(shard.work.plan):
            at = target.position
            if at in shard.fetched and at not in shard.converted:
                self._submit(shard, at, shard.fetched.offset(at), target.url)
            if at % _AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _targets(self) -> AsyncIterator[Target]:
        while (shard := await self._to_fetch.get()) is not None:
            for target in read_targets(shard.work.plan, shard.first):
                if target.position - shard.first not in shard.fetched:
                    yield target

    async def _fetch_all(self) -> None:
        began = None
        fetching = cast("AsyncGenerator[Fetched, None]", fetch(self._targets(), self._options.fetch))
        async with aclosing(fetching) as results:
            async for fetched in results:
                began = began or time.monotonic() - fetched.duration_ms / 1000
                self._take(fetched)
                self.figures.phases["fetch"] = time.monotonic() - began

    def _take(self, fetched: Fetched) -> None:
        shard = self._shard_of(fetched.target.position)
        at = fetched.target.position - shard.first
        record = shard.fetched.append(at, encode(fetched, whole=self._options.warc))
        self.figures.fetched += 1
        self.figures.failed += bool(fetched.error)
        self.hosts.add(fetched)
        shard.to_fetch -= 1
        if self._pool is not None and may_have_page(fetched):
            self._submit(shard, at, record.offset, fetched.target.url)
        shard.check()

    def _submit(self, shard: _Shard, at: int, offset: int, url: str) -> None:
        assert self._pool is not None
        shard.to_convert += 1
        self._pool.submit(FetchedPage(shard.first + at, shard.work.fetched, offset, url))

    def _take_converted(self, outcome: Outcome[bytes]) -> None:
        shard = self._shard_of(outcome.number)
        assert shard.converted is not None
        content = outcome.row if outcome.row is not None else encode_failure(outcome.cause, outcome.detail)
        shard.converted.append(outcome.number - shard.first, [content])
        self.figures.converted += outcome.row is not None
        shard.to_convert -= 1
        shard.check()

    def _shard_of(self, position: int) -> _Shard:
        return next(shard for shard in reversed(self._shards) if shard.first <= position)

    async def _compare(self, shard: _Shard) -> None:
        """Fingerprint the archived pages of a shard; without them it is written all the same."""
        source = shard.input.source
        async with self._comparing:  # one at a time: today's pages come first
            started = time.monotonic()
            try:
                task = CompareTask(source, self._options.pages, shard.work.compared)
                self.figures.cpu_seconds += await self._in_process(compare_process, task)
            except (SourceError, WorkerDied) as error:
                self._listen(Notice(f"{source.name}: its pages can't be compared with today's ({error})"))
            self.figures.phases["compare"] += time.monotonic() - started

    async def _finish_all(self) -> None:
        """Write the shards one after the other, in their order: so WARC files have one order, too."""
        while (shard := await self._to_finish.get()) is not None:
            await shard.complete.wait()
            if shard.compared is not None:
                await shard.compared
            await self._finish(shard)
            self._shards.remove(shard)
            self._slots.release()

    async def _finish(self, shard: _Shard) -> None:
        started = time.monotonic()
        options = self._options
        source = shard.input.source
        task = FinishTask(
            number=shard.number,
            source=source.name,
            path=self._ledger.directory / shard_file(options.pages.crawl, shard.number),
            options=options,
            work=shard.work,
            plan=shard.plan,
            index=self._index,
            files=self._ledger.directory if self._index else None,
            warc=self._warc,
        )
        try:
            report = await self._tried(shard.number, source.name, finish_process, task)
        except OutputError:
            raise
        except CcrawlError as error:
            shard.close()
            self._give_up(shard.number, shard.input, error)
            return
        self.figures.phases["write"] += time.monotonic() - started
        self._record(shard, report)
        shard.close()
        shard.work.remove()

    def _record(self, shard: _Shard, report: FinishReport) -> None:
        self._failures.append(report.failures)
        source, counts = shard.input.source, report.counts
        seconds = time.monotonic() - shard.started
        file = report.written.path.relative_to(self._ledger.directory).as_posix()
        self._ledger.add(
            ShardEntry(
                number=shard.number,
                source=source.name,
                source_bytes=source.size,
                source_fingerprint=self._fingerprints[shard.number],
                file=file,
                file_bytes=report.written.bytes,
                sha256=report.written.sha256,
                counts=counts,
                failures=len(report.failures),
                seconds=round(seconds, 3),
                cpu_seconds=round(report.cpu_seconds, 3),
            )
        )
        self.figures.cpu_seconds += report.cpu_seconds
        self.figures.rows += counts.rows
        self.figures.shards_done += 1
        self._listen(ShardDone(shard.number, source.name, file, counts, seconds))

    def _give_up(self, number: int, one: Input, error: CcrawlError) -> None:
        if self._options.pages.strict:
            raise error
        name, message = one.source.name, str(error)
        self._failures.append([Failure(kind="shard", shard=number, source=name, cause=message)])
        self._ledger.add_failed(FailedShard(number, name, message))
        self.figures.shards_done += 1
        self._listen(ShardFailed(number, name, message))

    async def _tried(self, number: int, name: str, step: Callable[[P], T], task: P) -> T:
        """A step of a shard, tried again once when its process ends or its source fails."""
        for tries_left in reversed(range(_TRIES)):
            try:
                return await self._in_process(step, task)
            except WorkerDied as death:
                cause = cause_of_death(death.exit_code)
                error = SourceError(
                    f"{name}: its process ended ({cause}); free memory, or use fewer --workers, "
                    "and run the same command again"
                )
            except SourceError as failed:
                error = failed
            except CcrawlError:
                raise
            except Exception as bug:  # on this shard: the others go on
                error = SourceError(
                    f"{name}: {type(bug).__name__}: {bug}; a bug of ccrawl's: please report it"
                )
            if not tries_left:
                raise error
            self._listen(ShardRetried(number, name, str(error)))
        raise AssertionError

    async def _in_process(self, step: Callable[[P], T], task: P) -> T:
        """Run a step in a process of its own; the process ends when this is cancelled."""
        worker = Worker(self._context, step, task)
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        descriptor = worker.connection.fileno()
        loop.add_reader(descriptor, over.set)
        try:
            await over.wait()
        except asyncio.CancelledError:
            loop.remove_reader(descriptor)
            worker.stop()
            raise
        loop.remove_reader(descriptor)
        return worker.result()

    async def _sync(self) -> None:
        """Make durable what was fetched, without making the loop wait for the disk."""
        while True:
            await asyncio.sleep(_SYNC)
            for shard in list(self._shards):
                await asyncio.to_thread(shard.sync)

    async def _tell(self) -> None:
        while True:
            self._listen(self._progress())
            await asyncio.sleep(_TICK)

    def _progress(self) -> RefetchProgress:
        figures = self.figures
        return RefetchProgress(
            targets=figures.planned - figures.resumed,
            fetched=figures.fetched,
            failed=figures.failed,
            converted=figures.converted,
            rows=figures.rows,
            shards_done=figures.shards_done,
            seconds=time.monotonic() - self._started,
        )
