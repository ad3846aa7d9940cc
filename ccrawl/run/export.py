"""`ccrawl.export`: many shards into one dataset, side by side, resumable, each failing alone."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import TYPE_CHECKING

from ccrawl import __version__
from ccrawl.archives import Source
from ccrawl.dataset.layout import shard_file, shard_files
from ccrawl.dataset.ledger import FAILURES, Counts, FailedShard, Failure, FailureLog, Ledger, ShardEntry
from ccrawl.dataset.writer import remove_leftovers
from ccrawl.errors import CcrawlError, OutputError, SourceError, UsageError
from ccrawl.run.board import NO_PAGE, Board, Progress
from ccrawl.run.convert import printable
from ccrawl.run.duplicate_list import collect_duplicates
from ccrawl.run.events import (
    Listener,
    RunProgress,
    RunStarted,
    ShardDone,
    ShardFailed,
    ShardRetried,
    ignore,
)
from ccrawl.run.guard import cause_of_death
from ccrawl.run.indexed import IndexReport, IndexRun, duplicates_file
from ccrawl.run.options import ExportOptions
from ccrawl.run.processes import Worker, WorkerDied, worker_context
from ccrawl.run.shard import ShardReport, ShardTask, export_shard_process
from ccrawl.run.sources import fingerprint

if TYPE_CHECKING:
    from ccrawl.index import DedupIndex

_POLL = 0.1  # seconds between two looks at the boards
_DEATHS = 3  # of one shard's process without a page to blame, before the shard is given up


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did. `counts` covers the whole dataset, shards of former runs included."""

    directory: Path
    shards: int
    skipped_shards: int  # finished by a former run
    failed_shards: tuple[FailedShard, ...]
    counts: Counts
    file_bytes: int
    failures: int  # lines of failures.jsonl
    seconds: float
    cpu_seconds: float
    index: IndexReport | None = None  # with a dedupe index

    @property
    def complete(self) -> bool:
        """Whether every shard is done, no page was set aside and no archive was damaged."""
        return not self.failed_shards and not self.counts.failed and not self.counts.damage


def run_export(
    sources: Sequence[Source],
    directory: Path,
    options: ExportOptions,
    *,
    workers: int,
    overwrite: bool = False,
    index: str | None = None,
    commit: bool = True,
    duplicates: Path | None = None,
    listener: Listener = ignore,
) -> ExportReport:
    """Export `sources` into `directory`. Each has its crawl's number, or else its place in the list.

    `index` is the location of a dedupe index; the run is committed there when all shards are done, unless not
    `commit`. `duplicates` is a Parquet file for the list of what was dropped.

    Raises UsageError and OutputError before any work is done, OutputError when the disk fails, and, with
    `options.strict`, the first failed shard's error. Other failures are in the report.
    """
    started = time.monotonic()
    options = replace(options, dedup_index=index is not None)
    listing = duplicates is not None
    try:
        str(directory).encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"--out {directory}: no UTF-8, which Parquet's readers need; choose another"
        ) from error
    if duplicates is not None and duplicates.is_dir():
        raise UsageError(f"--duplicates {duplicates}: a folder; name a file")
    with (
        Ledger.open(directory, options.for_manifest(), __version__, overwrite=overwrite) as ledger,
        _opened(index) as opened,
    ):
        remove_leftovers(directory)
        numbered = _numbered(sources)
        fingerprints = {number: fingerprint(source) for number, source in numbered.items()}
        index_run = IndexRun.join(opened, index, directory, overwrite=overwrite) if opened and index else None
        done = [
            number
            for number, source in numbered.items()
            if ledger.is_done(number, source.name, fingerprints[number])
            and (index_run is None or index_run.has_files(number))
            and (not listing or duplicates_file(directory, number).exists())
        ]
        left = sorted(set(numbered) - set(done))
        for number in left:
            ledger.shards.pop(number, None)
        use = index_run.begin(left, options.crawl, len(sources)) if index_run else None
        tasks = [
            ShardTask(
                number,
                numbered[number],
                directory / shard_file(options.crawl, number),
                options,
                index=use,
                files=directory if listing or use else None,
            )
            for number in left
        ]
        if all(source.number is None for source in sources):
            _refuse_strangers(ledger, len(sources))
        ledger.save()  # from here on the folder is ours: a shard file without a manifest is not
        _remove_unknown_files(ledger)
        failures = FailureLog(directory, keep=ledger.shards)
        sizes = [task.source.size for task in tasks]
        listener(
            RunStarted(
                shards=len(sources),
                done_before=len(sources) - len(tasks),
                source_bytes=None if None in sizes else sum(size or 0 for size in sizes),
                workers=workers,
            )
        )
        run = _Run(ledger, failures, fingerprints, workers, options.strict, listener)
        try:
            run.export(tasks)
        finally:
            ledger.save()
            remove_leftovers(directory)  # of shards that were stopped
        if duplicates is not None:
            collect_duplicates(
                (duplicates_file(directory, number) for number in sorted(ledger.shards)), duplicates
            )
        return ExportReport(
            directory=directory,
            shards=len(ledger.shards),
            skipped_shards=len(sources) - len(tasks),
            failed_shards=tuple(ledger.failed[number] for number in sorted(ledger.failed)),
            counts=Counts.total(shard.counts for shard in ledger.shards.values()),
            file_bytes=sum(shard.file_bytes for shard in ledger.shards.values()),
            failures=failures.count,
            seconds=time.monotonic() - started,
            cpu_seconds=run.cpu_seconds,
            index=_finish(index_run, ledger, commit) if index_run else None,
        )


@contextlib.contextmanager
def _opened(index: str | None) -> Iterator[DedupIndex | None]:
    if index is None:
        yield None
        return
    from ccrawl.index import open_index

    with open_index(index) as opened:
        yield opened


def _finish(index_run: IndexRun, ledger: Ledger, commit: bool) -> IndexReport | None:
    """Commit the run when every shard is done; the same command again does the others first."""
    if ledger.failed:
        return index_run.unfinished()
    return index_run.finish(ledger.shards, commit=commit)


def _numbered(sources: Sequence[Source]) -> dict[int, Source]:
    """The sources by shard number. A crawl's shards have theirs, so a dataset may get more of them later.

    Names go into columns and footers, which hold UTF-8 only; a file's name on disk may be any bytes.
    """
    return {
        place if source.number is None else source.number: replace(source, name=printable(source.name))
        for place, source in enumerate(sources)
    }


def _refuse_strangers(ledger: Ledger, shards: int) -> None:
    """A dataset that holds more shards than the sources given was made by another command."""
    if any(number >= shards for number in ledger.shards):
        raise OutputError(
            f"{ledger.directory}: holds {len(ledger.shards)} shards, but only {shards} "
            f"{'source was' if shards == 1 else 'sources were'} given; "
            "give the same sources, use another --out, or --overwrite to start again"
        )


def _remove_unknown_files(ledger: Ledger) -> None:
    """Remove shard files that the ledger does not vouch for: a reader of the folder would take them for done.

    They are those of shards that will be done again, and after --overwrite those of the former dataset.
    """
    known = {ledger.directory / shard.file for shard in ledger.shards.values()}
    for path in shard_files(ledger.directory):
        if path not in known:
            path.unlink()


@dataclass(slots=True)
class _Running:
    """A shard under way."""

    task: ShardTask
    board: Board
    worker: Worker[ShardReport]


@dataclass(slots=True)
class _Tries:
    """What earlier tries of a shard have taught."""

    deaths: int = 0
    errors: int = 0
    suspects: set[int] = field(default_factory=set)
    ignored: dict[int, str] = field(default_factory=dict)


class _Run:
    """Schedules shards over worker processes."""

    def __init__(
        self,
        ledger: Ledger,
        failures: FailureLog,
        fingerprints: Mapping[int, str],
        workers: int,
        strict: bool,
        listener: Listener,
    ) -> None:
        self.cpu_seconds = 0.0
        self._ledger = ledger
        self._failures = failures
        self._fingerprints = fingerprints
        self._workers = workers
        self._strict = strict
        self._listen = listener
        self._context: ForkServerContext = worker_context()
        self._running: dict[Connection, _Running] = {}
        self._tries: dict[int, _Tries] = {}
        self._finished = Progress()
        self._done = 0

    def export(self, tasks: Sequence[ShardTask]) -> None:
        """Run all tasks; returns when each is done or given up."""
        started = time.monotonic()
        # As many shards as fill the workers evenly are done whole, a process each; each of the few that are
        # left over has its pages fanned out, so that no worker is idle while the last shards run.
        whole = len(tasks) - len(tasks) % self._workers
        rest = tasks[whole:]
        converters = self._workers // len(rest) if rest else 0
        waiting = deque(tasks[:whole])
        waiting.extend(replace(task, converters=converters if converters > 1 else 0) for task in rest)
        try:
            while waiting or self._running:
                while waiting and self._busy() + max(1, waiting[0].converters) <= self._workers:
                    self._start(waiting.popleft())
                over = wait(list(self._running), timeout=_POLL)
                for connection in [connection for connection in self._running if connection in over]:
                    again = self._settle(self._running.pop(connection))
                    if again is not None:
                        waiting.append(again)
                progress = sum((running.board.read() for running in self._running.values()), self._finished)
                self._listen(RunProgress(progress, self._done, time.monotonic() - started))
        finally:
            for running in self._running.values():
                running.worker.stop()

    def _busy(self) -> int:
        return sum(max(1, running.task.converters) for running in self._running.values())

    def _start(self, task: ShardTask) -> None:
        board = Board(self._context)
        worker = Worker(self._context, export_shard_process, task, board)
        self._running[worker.connection] = _Running(task, board, worker)

    def _settle(self, running: _Running) -> ShardTask | None:
        """Take a shard's result; returns the task when it is to be done again."""
        task = running.task
        tries = self._tries.setdefault(task.number, _Tries())
        try:
            report = running.worker.result()
        except WorkerDied as death:
            return self._after_death(running, tries, death.exit_code)
        except SourceError as error:
            tries.errors += 1
            if tries.errors > 1 or self._strict:
                self._give_up(task, error)
                return None
            self._listen(ShardRetried(task.number, task.source.name, str(error)))
            return task
        except OutputError:
            raise  # the disk is full or gone: no other shard would fare better
        except CcrawlError as error:
            self._give_up(task, error)
            return None
        except Exception as error:  # a bug, on this shard: the others go on, and failures.jsonl says where
            what = f"{task.source.name}: {type(error).__name__}: {error}"
            self._give_up(
                task,
                SourceError(f"{what}; a bug of ccrawl's: please report it, with {FAILURES}"),
                detail="".join(getattr(error, "__notes__", ())),
            )
            return None
        self._record(task, report)
        return None

    def _record(self, task: ShardTask, report: ShardReport) -> None:
        self._failures.append(report.failures)
        self.cpu_seconds += report.cpu_seconds
        written = report.written
        file = written.path.relative_to(self._ledger.directory).as_posix()
        self._ledger.add(
            ShardEntry(
                number=task.number,
                source=task.source.name,
                source_bytes=task.source.size,
                source_fingerprint=self._fingerprints[task.number],
                file=file,
                file_bytes=written.bytes,
                sha256=written.sha256,
                counts=report.counts,
                failures=len(report.failures),
                seconds=round(report.seconds, 3),
                cpu_seconds=round(report.cpu_seconds, 3),
            )
        )
        counts = report.counts
        self._finished += Progress(
            records=counts.records,
            pages=counts.pages,
            rows=counts.rows,
            duplicates=counts.duplicates,
            failed=sum(counts.failed.values()),
            archive_bytes=counts.archive_bytes,
            html_bytes=counts.html_bytes,
        )
        self._done += 1
        self._listen(ShardDone(task.number, task.source.name, file, counts, report.seconds))

    def _after_death(self, running: _Running, tries: _Tries, exit_code: int | None) -> ShardTask | None:
        """A shard's process died. Do it again with its pages fanned out: then a death costs one page."""
        task = running.task
        page = running.board.current_page
        cause = cause_of_death(exit_code)
        tries.deaths += 1
        if page == NO_PAGE and tries.deaths >= _DEATHS:
            error = SourceError(
                f"{task.source.name}: its process ended {tries.deaths} times between pages ({cause}); "
                "free memory, or use fewer --workers, and run the same command again"
            )
            self._give_up(task, error)
            return None
        if page != NO_PAGE:
            if page in tries.suspects:
                tries.ignored[page] = cause
            tries.suspects.add(page)
        why = f"its process ended ({cause})" + (f" on page {page}" if page != NO_PAGE else "")
        self._listen(ShardRetried(task.number, task.source.name, why))
        return replace(
            task,
            converters=max(1, task.converters),
            suspects=frozenset(tries.suspects),
            ignored=dict(tries.ignored),
        )

    def _give_up(self, task: ShardTask, error: CcrawlError, detail: str = "") -> None:
        if self._strict:
            raise error
        message = str(error)
        self._failures.append(
            [Failure(kind="shard", shard=task.number, source=task.source.name, cause=message, detail=detail)]
        )
        self._ledger.add_failed(FailedShard(task.number, task.source.name, message))
        self._done += 1
        self._listen(ShardFailed(task.number, task.source.name, message))
