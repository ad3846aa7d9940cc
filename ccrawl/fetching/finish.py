"""A shard that is fetched and converted becomes its Parquet file, and its part of the WARC files.

    targets -> fetches, in the order of the input -> WARC -> copies left out -> rows -> Parquet

The one place that decides which of two equal bodies stays: by the order of the input, not of the answers.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ccrawl.archives import Capture
from ccrawl.archives.fields import host_of
from ccrawl.dataset.entries import WrittenFile
from ccrawl.dataset.footer import footer
from ccrawl.dataset.ledger import Counts, Failure
from ccrawl.dataset.schema import REFETCH, RefetchRow
from ccrawl.dataset.writer import ShardWriter
from ccrawl.fetching.compare import read_simhashes
from ccrawl.fetching.journal import NOWHERE, decode, offsets_of, read_record
from ccrawl.fetching.options import RefetchOptions
from ccrawl.fetching.originals import Originals
from ccrawl.fetching.pages import CONVERT, Converted, content_type_of, decode_converted
from ccrawl.fetching.plan import Plan, read_targets
from ccrawl.fetching.rows import RowCounts, row_of
from ccrawl.fetching.types import Fetched
from ccrawl.fetching.warc import WarcOptions, WarcOutput
from ccrawl.fetching.warc_records import Earlier
from ccrawl.fetching.wire import codings_of
from ccrawl.fetching.work import Work
from ccrawl.run.duplicates import DuplicateFilter
from ccrawl.run.indexed import IndexUse, filter_of, write_files
from ccrawl.run.processes import become_worker

_WARC_BATCH = 64  # fetches that the index is asked about at once


# The counts of a refetch's file; those of an export's drops that a refetch has none of are left out.
FOOTER_COUNTS = (
    *("records", "pages", "rows", "duplicates", "duplicates_with_row", "duplicates_indexed"),
    *("skipped", "statuses", "errors", "changed"),
)


@dataclass(frozen=True, slots=True)
class WarcTarget:
    """Where WARC files go: the folder, and how they are written."""

    directory: Path
    options: WarcOptions


@dataclass(frozen=True, slots=True)
class FinishTask:
    """A shard to write. work: where its plan and its journals are.

    files: the dataset's folder, when the shard is to leave what it dropped and found
    """

    number: int
    source: str
    path: Path
    options: RefetchOptions
    work: Work
    plan: Plan
    index: IndexUse | None = None
    files: Path | None = None
    warc: WarcTarget | None = None


@dataclass(frozen=True, slots=True)
class FinishReport:
    """What a finished shard holds and where its targets went."""

    written: WrittenFile
    counts: Counts
    failures: list[Failure]
    cpu_seconds: float


class _Done(NamedTuple):
    """A target with all that came of it."""

    fetched: Fetched
    converted: Converted | None
    simhash: int | None  # of the archived page


def finish_process(task: FinishTask) -> FinishReport:
    """`finish` as the body of a worker process."""
    become_worker(task.options.pages.worker_memory)
    return finish(task)


def finish(task: FinishTask) -> FinishReport:
    """Write a shard of which every target is done. OutputError when the disk refuses."""
    cpu_started = time.process_time()
    pages = task.options.pages
    duplicates = filter_of(
        dedup_digest=pages.dedup_digest,
        min_bytes=pages.dedup_min_bytes,
        use=task.index,
        rules=pages.dedup_normalize.rules,
    )
    sums, failures = RowCounts(), list(task.plan.failures)
    done = _in_order(task)
    with ShardWriter(task.path, REFETCH) as writer, contextlib.ExitStack() as stack:
        if task.warc:
            output = WarcOutput(task.warc.directory, task.warc.options)
            stack.callback(output.leave)  # the next shard goes on with its last file
            done = _written(done, output, task.index)
        for one in _without_copies(done, duplicates, task) if duplicates else done:
            row = row_of(one.fetched, one.converted, keep_html=task.options.fetch_only, simhash=one.simhash)
            sums.add(row)
            if row.error.startswith(CONVERT) and one.converted is not None:
                failures.append(_failure(task, row, one.converted))
            writer.write(row)
        counts = sums.counts(
            records=task.plan.records,
            pages=task.plan.targets,
            duplicates=duplicates.dropped if duplicates else 0,
            duplicates_with_row=duplicates.dropped_with_row if duplicates else 0,
            duplicates_indexed=duplicates.dropped_by_index if duplicates else 0,
            duplicate_bytes=duplicates.dropped_bytes if duplicates else 0,
            indexed=len(duplicates.entries()) if duplicates else 0,
            skipped=task.plan.skipped,
            damage=task.plan.damage,
            archive_bytes=task.plan.archive_bytes,
        )
        counts.check()
        if duplicates and task.files:
            write_files(task.files, task.number, duplicates, entries=task.index is not None)
        written = writer.finish(
            footer(
                *(task.source, pages.crawl, pages.extractor, task.options.for_manifest(), counts),
                FOOTER_COUNTS,
            )
        )
    return FinishReport(written, counts, failures, time.process_time() - cpu_started)


def _in_order(task: FinishTask) -> Iterator[_Done]:
    """Every target of the shard with what came of it, in the order of the input."""
    work, number = task.work, task.plan.targets
    fetched_at, converted_at = offsets_of(work.fetched, number), offsets_of(work.converted, number)
    simhashes = read_simhashes(work.compared) if work.compared.exists() else None
    with work.fetched.open("rb", buffering=0) as fetches, contextlib.ExitStack() as stack:
        conversions = (
            stack.enter_context(work.converted.open("rb", buffering=0)) if work.converted.exists() else None
        )
        # The place in the dataset, not in this run: a record of a WARC is known by it when it comes again.
        for at, target in enumerate(read_targets(work.plan, task.number << 32)):
            assert fetched_at[at] != NOWHERE, (task.source, at)
            fetched = decode(read_record(fetches.fileno(), int(fetched_at[at])), target)
            converted = None
            if conversions is not None and converted_at[at] != NOWHERE:
                converted = decode_converted(read_record(conversions.fileno(), int(converted_at[at])))
            known = target.archived.simhash
            if known is None and simhashes is not None:
                known = simhashes.get(target.url) or None
            yield _Done(fetched, converted, known)


def _written(done: Iterator[_Done], output: WarcOutput, index: IndexUse | None) -> Iterator[_Done]:
    """Write each fetch to the WARC files and pass it on."""
    originals = Originals(index) if index else None
    while batch := list(islice(done, _WARC_BATCH)):
        earlier: list[Earlier | None] = [None] * len(batch)
        if originals:
            exchanges = [one.fetched.exchanges for one in batch]
            earlier = originals.find([each[-1].body if each else b"" for each in exchanges])
        for one, known in zip(batch, earlier, strict=True):
            output.write(one.fetched, known)
            yield one
    output.sync()


def _without_copies(done: Iterable[_Done], duplicates: DuplicateFilter, task: FinishTask) -> Iterator[_Done]:
    """Leave out what `duplicates` knows. Fetches that brought no page of their own pass: nothing is a copy of
    a failure."""
    held: dict[int, _Done] = {}

    def captures() -> Iterator[Capture]:
        for number, one in enumerate(done):
            held[number] = one
            yield _capture(one.fetched, task)

    for page in duplicates.pages(captures()):
        for number in [number for number in held if number < page.number]:
            del held[number]
        if page.capture.body:
            duplicates.made_row(page.number)
        yield held.pop(page.number)


def _capture(fetched: Fetched, task: FinishTask) -> Capture:
    """A fetch as the duplicate filter looks at it; without a body when it is never a copy.

    Within a dataset a body counts as it is read, so that what has one digest in the file is one row. An index
    keys what WARC files hold, so there the content coding counts, as in an export.
    """
    url = fetched.target.url
    body = coding = b""
    if not fetched.error and 200 <= (fetched.status or 0) < 300:
        body = fetched.body
        if task.index:
            body, coding = fetched.exchanges[-1].body, codings_of(fetched.exchanges[-1])
    return Capture(
        url=url,
        host=host_of(url),
        filename=task.source,
        date=datetime.fromtimestamp(fetched.fetched_at / 1000, UTC),
        record_id=fetched.target.archived.warc_record_id,
        record_type="response",
        offset=None,
        record_length=None,
        status=fetched.status,
        content_type=content_type_of(fetched),
        media_type="",
        truncated=None,
        payload_digest=None,
        language="",
        content_coding=coding,
        chunked=False,
        body=body,
    )


def _failure(task: FinishTask, row: RefetchRow, converted: Converted) -> Failure:
    return Failure(
        kind="page",
        shard=task.number,
        source=task.source,
        cause=converted.cause,
        detail=converted.detail,
        record_id=row.warc_record_id or None,
        url=row.url,
    )
