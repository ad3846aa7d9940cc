"""`ccrawl.refetch`: what every URL of archives, datasets or lists answers today, as a dataset."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ccrawl import __version__
from ccrawl.dataset.files import remove_leftovers
from ccrawl.dataset.layout import shard_files
from ccrawl.dataset.ledger import Counts, FailedShard, FailureLog, Ledger
from ccrawl.fetching.convert import set_aside
from ccrawl.fetching.finish import WarcTarget
from ccrawl.fetching.hosts import SlowHost
from ccrawl.fetching.loop import Loop
from ccrawl.fetching.options import RefetchOptions
from ccrawl.fetching.targets import STDIN, Input
from ccrawl.fetching.wacz import WaczReport, write_wacz
from ccrawl.fetching.warc import WarcOptions, WarcOutput, remove_warcs
from ccrawl.fetching.work import FOLDER, Work
from ccrawl.run.events import Listener, Notice, RunStarted, ignore
from ccrawl.run.export import finish_index, opened_index, refuse_strangers, remove_unknown_files
from ccrawl.run.indexed import IndexReport, IndexRun
from ccrawl.run.processes import worker_context
from ccrawl.run.sources import fingerprint
from ccrawl.text.printable import printable

_SLOWEST = 10  # hosts that a report names


@dataclass(frozen=True, slots=True)
class RefetchReport:
    """What a refetch did. `counts` covers the whole dataset, shards of former runs included.

    fetched: fetches of this run; resumed: those that a former run had made of the shards that this one wrote
    failed: of the fetches of this run, those with an error
    phases: seconds of plan, fetch, compare, convert and write; they overlap, and convert is processor time
    slow_hosts: of this run, by their average
    """

    directory: Path
    shards: int
    skipped_shards: int  # finished by a former run
    failed_shards: tuple[FailedShard, ...]
    counts: Counts
    file_bytes: int
    failures: int  # lines of failures.jsonl
    fetched: int
    failed: int
    resumed: int
    seconds: float
    cpu_seconds: float
    phases: dict[str, float]
    slow_hosts: tuple[SlowHost, ...]
    warc: Path | None = None  # the folder of WARC files
    wacz: WaczReport | None = None
    index: IndexReport | None = None  # with a dedupe index

    @property
    def set_aside(self) -> int:
        """Pages that came and could not be converted."""
        return set_aside(self.counts)

    @property
    def pages_per_second(self) -> float:
        """Fetches of this run a second, while there were any; 0 without."""
        seconds = self.phases["fetch"]
        return self.fetched / seconds if seconds else 0.0

    @property
    def complete(self) -> bool:
        """Whether every URL has its row, no page was set aside and no archive was damaged.

        A fetch that failed has its row, which says so: that is what was asked for.
        """
        return not self.failed_shards and not self.set_aside and not self.counts.damage


def run_refetch(
    inputs: Sequence[Input],
    directory: Path,
    options: RefetchOptions,
    *,
    workers: int,
    overwrite: bool = False,
    index: str | None = None,
    commit: bool = True,
    warc: Path | None = None,
    wacz: Path | None = None,
    listener: Listener = ignore,
) -> RefetchReport:
    """Fetch the URLs of `inputs` and write them to `directory`, a shard each; `workers` processes convert.

    warc: the folder for WARC files; wacz: a file that packs them when all shards are done, those of
    DIR/warc unless `warc` says otherwise. index, commit: as in an export.

    Raises UsageError and OutputError before anything is asked for, OutputError when the disk fails, and with
    `strict` the first failed shard's error. Other failures are in the report. Ctrl-C and SIGTERM end it in
    good order before they do what they would have done.
    """
    started, cpu_started = time.monotonic(), time.process_time()
    if wacz is not None and warc is None:
        warc = directory / "warc"
    pages = replace(options.pages, dedup_index=index is not None)
    options = replace(options, pages=pages, warc=warc is not None)
    options.check()
    target = None if warc is None else WarcTarget(warc, _warc_options(options))
    with (
        Ledger.open(directory, options.for_manifest(), __version__, overwrite=overwrite) as ledger,
        opened_index(index) as opened,
    ):
        remove_leftovers(directory)
        if overwrite:
            _forget(directory, target)
        numbered = _numbered(inputs)
        fingerprints = {number: fingerprint(one.source) for number, one in numbered.items()}
        index_run = IndexRun.join(opened, index, directory, overwrite=overwrite) if opened and index else None
        done = {
            number
            for number, one in numbered.items()
            if ledger.is_done(number, one.source.name, fingerprints[number])
            and (index_run is None or index_run.has_files(number))
        }
        left = {number: one for number, one in numbered.items() if number not in done}
        for number in left:
            ledger.shards.pop(number, None)
        for number in done:  # a run may have been killed before it took them away
            Work(directory, number).remove()
        use = index_run.begin(left, pages.crawl, len(inputs)) if index_run else None
        if all(one.source.number is None for one in inputs):
            refuse_strangers(ledger, len(inputs))
        ledger.save()
        remove_unknown_files(ledger)
        failures = FailureLog(directory, keep=ledger.shards)
        listener(RunStarted(shards=len(inputs), done_before=len(done), source_bytes=None, workers=workers))
        if options.fetch.ignore_robots:
            listener(Notice("robots.txt is not asked for: what sites forbid is fetched"))
        loop = Loop(
            ledger,
            failures,
            options,
            worker_context(),
            fingerprints=fingerprints,
            workers=workers,
            index=use,
            warc=target,
            listener=listener,
        )
        try:
            if left:
                _run(loop, left)
        finally:
            ledger.save()
            remove_leftovers(directory)  # of shards that were stopped
        if not ledger.failed:
            (directory / FOLDER / STDIN).unlink(missing_ok=True)
        warcs = _finished(target) if target else None
        figures = loop.figures
        return RefetchReport(
            directory=directory,
            shards=len(ledger.shards),
            skipped_shards=len(done),
            failed_shards=tuple(ledger.failed[number] for number in sorted(ledger.failed)),
            counts=ledger.shards.counts,
            file_bytes=ledger.shards.file_bytes,
            failures=failures.count,
            fetched=figures.fetched,
            failed=figures.failed,
            resumed=figures.resumed,
            seconds=time.monotonic() - started,
            cpu_seconds=figures.cpu_seconds + time.process_time() - cpu_started,
            phases={phase: round(seconds, 3) for phase, seconds in figures.phases.items()},
            slow_hosts=loop.hosts.slowest(_SLOWEST),
            warc=warc,
            wacz=_packed(warcs, wacz, ledger, listener) if warcs and wacz else None,
            index=finish_index(index_run, ledger, commit) if index_run else None,
        )


def _numbered(inputs: Sequence[Input]) -> dict[int, Input]:
    """The inputs by shard number, as an export numbers its sources."""
    return {
        place if one.source.number is None else one.source.number: replace(
            one, source=replace(one.source, name=printable(one.source.name))
        )
        for place, one in enumerate(inputs)
    }


def _warc_options(options: RefetchOptions) -> WarcOptions:
    return WarcOptions(
        prefix=options.pages.crawl,
        operator=options.fetch.contact,
        user_agent=options.fetch.user_agent,
        robots="ignore" if options.fetch.ignore_robots else "obey",
    )


def _forget(directory: Path, target: WarcTarget | None) -> None:
    """Take away what former runs have left, but for the list that stands on stdin now."""
    folder = directory / FOLDER
    for path in folder.iterdir() if folder.exists() else ():
        if path.name != STDIN:
            path.unlink(missing_ok=True)
    if target is not None and target.directory.exists():
        remove_warcs(target.directory, target.options.prefix)


def _finished(target: WarcTarget) -> WarcOutput:
    """The output, with a name for the file that its last shard has left open."""
    output = WarcOutput(target.directory, target.options)
    output.close()
    return output


def _packed(output: WarcOutput, wacz: Path, ledger: Ledger, listener: Listener) -> WaczReport | None:
    """The WACZ of all that was fetched. Not while shards are missing: the same command makes it then."""
    if ledger.failed:
        listener(Notice(f"{wacz}: not written, since shards failed; the same command again tries them"))
        return None
    folder = ledger.directory.resolve()
    return write_wacz(
        output.files, wacz, title=folder.name, titles=_titles(folder), requires=output.containers()
    )


def _titles(directory: Path) -> Iterator[tuple[str, str]]:
    """URLs and titles of the dataset's pages."""
    import pyarrow.parquet as pq

    for path in shard_files(directory):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["final_url", "title"]):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _run(loop: Loop, left: dict[int, Input]) -> None:
    """Run the loop in this thread, or beside it where another event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _run_until_stopped(loop, left)
    else:
        _run_beside(loop, left)


def _run_beside(loop: Loop, left: dict[int, Input]) -> None:
    """Run the loop in a thread. An exception in this one meanwhile, Ctrl-C say, ends it in good order."""
    ready: Future[Callable[[], object]] = Future()

    async def run() -> None:
        task, running = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        ready.set_result(partial(running.call_soon_threadsafe, task.cancel))
        await loop.run(left)

    with ThreadPoolExecutor(1, "refetch") as threads:
        done = threads.submit(asyncio.run, run())
        try:
            done.result()
        except BaseException:
            if not done.done():
                with contextlib.suppress(RuntimeError):  # it has ended by now
                    ready.result()()
            raise


def _run_until_stopped(loop: Loop, left: dict[int, Input]) -> None:
    """Run the loop. A signal ends it in good order, and is then raised for whoever handled it before."""
    stopped: list[int] = []

    async def run() -> None:
        task = asyncio.current_task()
        running = asyncio.get_running_loop()
        assert task is not None

        def stop(number: int) -> None:
            stopped.append(number)
            for each in (signal.SIGINT, signal.SIGTERM):
                running.remove_signal_handler(each)  # a second one ends the process at once
            task.cancel()

        with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: no signals come here
            for each in (signal.SIGINT, signal.SIGTERM):
                running.add_signal_handler(each, stop, each)
        await loop.run(left)

    with _former_handlers():
        try:
            asyncio.run(run())
        except asyncio.CancelledError:
            if not stopped:
                raise
    if stopped:
        signal.raise_signal(stopped[0])
        raise KeyboardInterrupt  # whoever handled it before did nothing


@contextlib.contextmanager
def _former_handlers() -> Iterator[None]:
    """Put the signals' handlers back, which an event loop does not."""
    former = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # not the main thread
            for each, handler in former.items():
                signal.signal(each, handler)
