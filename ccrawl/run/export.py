"""`ccrawl.export`: many shards into one dataset, side by side, resumable, each failing alone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ccrawl import __version__
from ccrawl.archives.sources import Source
from ccrawl.dataset.files import remove_leftovers
from ccrawl.dataset.layout import shard_file, shard_files
from ccrawl.dataset.ledger import Counts, FailedShard, FailureLog, Ledger
from ccrawl.errors import OutputError, UsageError
from ccrawl.run.duplicate_list import collect_duplicates
from ccrawl.run.events import Listener, RunStarted, ignore
from ccrawl.run.indexed import IndexReport, IndexRun, duplicates_file
from ccrawl.run.local import LocalRunner
from ccrawl.run.options import ExportOptions
from ccrawl.run.profile import profiling
from ccrawl.run.record import Record
from ccrawl.run.sources import fingerprint, refuse_streams
from ccrawl.run.task import ShardTask
from ccrawl.spark import Spark
from ccrawl.text.printable import printable

if TYPE_CHECKING:
    from ccrawl.index import DedupIndex
    from ccrawl.run.spark import SparkRunner


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
    spark: Spark | None = None,
    overwrite: bool = False,
    index: str | None = None,
    commit: bool = True,
    duplicates: Path | None = None,
    profile: Path | None = None,
    listener: Listener = ignore,
) -> ExportReport:
    """Export `sources` into `directory`. Each has its crawl's number, or else its place in the list.

    Shards run in `workers` processes here, or with `spark` on its cluster, a task each.
    `index` is the location of a dedupe index; the run is committed there when all shards are done, unless not
    `commit`. `duplicates` is a Parquet file for the list of what was dropped, `profile` a file for a sampled
    profile of the workers (.html, .json for speedscope, or .txt).

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
    refuse_streams(sources)
    if duplicates is not None and duplicates.is_dir():
        raise UsageError(f"--duplicates {duplicates}: a folder; name a file")
    if profile is not None and spark is not None:
        raise UsageError("--profile samples the workers of this machine; leave it out with --runner spark")
    with (
        profiling(profile) as samples,
        Ledger.open(directory, options.for_manifest(), __version__, overwrite=overwrite) as ledger,
        opened_index(index) as opened,
    ):
        options = replace(options, samples=samples)
        remove_leftovers(directory)
        numbered = _numbered(sources)
        fingerprints = {number: fingerprint(source) for number, source in numbered.items()}
        index_run = IndexRun.join(opened, index, directory, overwrite=overwrite) if opened and index else None

        def is_done(number: int) -> bool:
            return (
                ledger.is_done(number, numbered[number].name, fingerprints[number])
                and (index_run is None or index_run.has_files(number))
                and (not listing or duplicates_file(directory, number).exists())
            )

        with ThreadPoolExecutor(
            workers
        ) as pool:  # files are read whole, at the disk's speed and not one core's
            done = [
                number for number, kept in zip(numbered, pool.map(is_done, numbered), strict=True) if kept
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
            refuse_strangers(ledger, len(sources))
        ledger.save()  # from here on the folder is ours: a shard file without a manifest is not
        remove_unknown_files(ledger)
        failures = FailureLog(directory, keep=ledger.shards)
        record = Record(ledger, failures, fingerprints, listener)
        sizes = [task.source.size for task in tasks]
        try:
            with _runner(workers, spark if tasks else None, directory) as runner:
                listener(
                    RunStarted(
                        shards=len(sources),
                        done_before=len(sources) - len(tasks),
                        source_bytes=None if None in sizes else sum(size or 0 for size in sizes),
                        workers=runner.workers,
                    )
                )
                runner.run(tasks, record)
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
            counts=ledger.shards.counts,
            file_bytes=ledger.shards.file_bytes,
            failures=failures.count,
            seconds=time.monotonic() - started,
            cpu_seconds=record.cpu_seconds,
            index=finish_index(index_run, ledger, commit) if index_run else None,
        )


@contextlib.contextmanager
def _runner(workers: int, spark: Spark | None, directory: Path) -> Iterator[LocalRunner | SparkRunner]:
    if spark is None:
        yield LocalRunner(workers)
        return
    from ccrawl.run.spark import SparkRunner

    with spark.context("ccrawl export") as context:
        yield SparkRunner(context, directory)


@contextlib.contextmanager
def opened_index(index: str | None) -> Iterator[DedupIndex | None]:
    """The index at that location while the block lasts; None without one."""
    if index is None:
        yield None
        return
    from ccrawl.index import open_index

    with open_index(index) as opened:
        yield opened


def finish_index(index_run: IndexRun, ledger: Ledger, commit: bool) -> IndexReport | None:
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


def refuse_strangers(ledger: Ledger, shards: int) -> None:
    """A dataset that holds more shards than the sources given was made by another command."""
    if any(number >= shards for number in ledger.shards):
        raise OutputError(
            f"{ledger.directory}: holds {len(ledger.shards)} shards, but only {shards} "
            f"{'source was' if shards == 1 else 'sources were'} given; "
            "give the same sources, use another --out, or --overwrite to start again"
        )


def remove_unknown_files(ledger: Ledger) -> None:
    """Remove shard files that the ledger does not vouch for: a reader of the folder would take them for done.

    They are those of shards that will be done again, and after --overwrite those of the former dataset.
    """
    known = {ledger.directory / shard.file for shard in ledger.shards.values()}
    for path in shard_files(ledger.directory):
        if path not in known:
            path.unlink()
