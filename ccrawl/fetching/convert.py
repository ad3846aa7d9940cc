"""`ccrawl.convert_dataset`: the Markdown of pages that a dataset holds as HTML."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from ccrawl import __version__
from ccrawl.archives import Source
from ccrawl.archives.fields import host_of
from ccrawl.dataset.entries import WrittenFile
from ccrawl.dataset.files import remove_leftovers
from ccrawl.dataset.footer import footer
from ccrawl.dataset.layout import check_crawl_id, shard_file
from ccrawl.dataset.ledger import Counts, FailedShard, Failure, FailureLog, Ledger, ShardEntry
from ccrawl.dataset.schema import REFETCH, RefetchRow
from ccrawl.dataset.writer import ShardWriter
from ccrawl.duplicates.sources import find_sources as find_parquet
from ccrawl.duplicates.sources import read_errors
from ccrawl.errors import OutputError, SourceError, UsageError, reason
from ccrawl.fetching.columns import BYTES, TEXT, holds_text, rows_as
from ccrawl.fetching.finish import FOOTER_COUNTS
from ccrawl.fetching.pages import CONVERT, Text, text_of
from ccrawl.fetching.rows import RowCounts, body_digest
from ccrawl.fetching.targets import crawl_of_path, dataset_source
from ccrawl.run.board import Progress
from ccrawl.run.convert import doc_id
from ccrawl.run.events import Listener, RunProgress, RunStarted, ShardDone, ShardFailed, ignore
from ccrawl.run.export import refuse_strangers, remove_unknown_files
from ccrawl.run.fanout import FanOut
from ccrawl.run.options import ExportOptions
from ccrawl.run.outcome import Outcome, attempt
from ccrawl.run.processes import worker_context
from ccrawl.run.sources import fingerprint
from ccrawl.text.printable import printable

_BATCH_ROWS = 64
_TELL_EVERY = 64  # rows between two events of progress


@dataclass(frozen=True, slots=True)
class ConvertDatasetReport:
    """What a conversion did. `counts` covers the whole new dataset, shards of former runs included."""

    directory: Path
    shards: int
    skipped_shards: int  # finished by a former run
    failed_shards: tuple[FailedShard, ...]
    counts: Counts
    file_bytes: int
    failures: int  # lines of failures.jsonl
    seconds: float
    cpu_seconds: float

    @property
    def set_aside(self) -> int:
        """Pages that could not be converted."""
        return set_aside(self.counts)

    @property
    def complete(self) -> bool:
        """Whether every shard is done and no page was set aside."""
        return not self.failed_shards and not self.set_aside


def set_aside(counts: Counts) -> int:
    """The rows of which the page came and could not be converted."""
    return sum(number for error, number in counts.errors.items() if error.startswith(CONVERT))


class _Stored(NamedTuple):
    """A page of a dataset on its way through conversion."""

    number: int
    html: bytes
    url: str
    content_type: str | None


def _convert(page: _Stored, options: ExportOptions) -> Outcome[Text]:
    return attempt(
        page.number,
        lambda: Outcome(page.number, text_of(page.html, page.url, page.content_type, options)),
    )


def run_convert(
    paths: list[str],
    directory: Path,
    options: ExportOptions,
    *,
    workers: int,
    keep_html: bool = False,
    overwrite: bool = False,
    listener: Listener = ignore,
) -> ConvertDatasetReport:
    """Convert the Parquet files that `paths` stand for into a dataset in `directory`, a shard each.

    Raises UsageError and OutputError before any work is done, OutputError when the disk fails, and with
    `options.strict` the first failed shard's error. Other failures are in the report.
    """
    started, cpu_started = time.monotonic(), time.process_time()
    if options.languages or options.dedup_digest:
        raise UsageError("converting a dataset keeps every row: neither languages nor copies can be left out")
    sources = [dataset_source(found.name) for found in find_parquet(paths)]
    for source in sources:
        if directory.resolve() in Path(source.path).resolve().parents:
            raise UsageError(f"{directory}: holds what is to be converted; choose another --out")
    kept = _for_manifest(options, keep_html)
    with Ledger.open(directory, kept, __version__, overwrite=overwrite) as ledger:
        remove_leftovers(directory)
        prints = [fingerprint(source) for source in sources]
        left = [
            number
            for number, source in enumerate(sources)
            if not ledger.is_done(number, source.name, prints[number])
        ]
        for number in left:
            ledger.shards.pop(number, None)
        refuse_strangers(ledger, len(sources))
        ledger.save()
        remove_unknown_files(ledger)
        failures = FailureLog(directory, keep=ledger.shards)
        listener(RunStarted(len(sources), len(sources) - len(left), None, workers))
        run = _Run(options, keep_html, workers, listener)
        try:
            for number in left:
                _shard(run, ledger, failures, number, sources[number], prints[number])
        finally:
            ledger.save()
            remove_leftovers(directory)
        return ConvertDatasetReport(
            directory=directory,
            shards=len(ledger.shards),
            skipped_shards=len(sources) - len(left),
            failed_shards=tuple(ledger.failed[number] for number in sorted(ledger.failed)),
            counts=ledger.shards.counts,
            file_bytes=ledger.shards.file_bytes,
            failures=failures.count,
            seconds=time.monotonic() - started,
            cpu_seconds=run.cpu_seconds + time.process_time() - cpu_started,
        )


def _for_manifest(options: ExportOptions, keep_html: bool) -> dict[str, Any]:
    """The options that decide what the dataset holds."""
    values = options.for_manifest()
    return {
        "layout": REFETCH.name,
        "converted": True,
        "keep_html": keep_html,
        **{name: values[name] for name in ("extractor", "extract", "crawl")},
    }


@dataclass(slots=True)
class _Run:
    """What the shards of a run share."""

    options: ExportOptions
    keep_html: bool
    workers: int
    listen: Listener
    progress: Progress = field(default_factory=Progress)
    shards_done: int = 0
    cpu_seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def tell(self) -> None:
        self.listen(RunProgress(self.progress, self.shards_done, time.monotonic() - self.started))


def _shard(run: _Run, ledger: Ledger, failures: FailureLog, number: int, source: Source, print_: str) -> None:
    """Convert one file; a file that can't be read fails alone."""
    started, cpu_started = time.monotonic(), run.cpu_seconds
    try:
        crawl = check_crawl_id(crawl_of_path(source.path) or run.options.crawl)
        written, counts, found = _convert_file(run, ledger.directory, number, source, crawl)
    except OutputError:
        raise
    except (SourceError, UsageError) as error:
        if run.options.strict:
            raise
        failures.append([Failure(kind="shard", shard=number, source=source.name, cause=str(error))])
        ledger.add_failed(FailedShard(number, source.name, str(error)))
        run.listen(ShardFailed(number, source.name, str(error)))
        return
    failures.append(found)
    file = written.path.relative_to(ledger.directory).as_posix()
    seconds = time.monotonic() - started
    ledger.add(
        ShardEntry(
            number=number,
            source=source.name,
            source_bytes=source.size,
            source_fingerprint=print_,
            file=file,
            file_bytes=written.bytes,
            sha256=written.sha256,
            counts=counts,
            failures=len(found),
            seconds=round(seconds, 3),
            cpu_seconds=round(run.cpu_seconds - cpu_started, 3),
        )
    )
    run.shards_done += 1
    run.listen(ShardDone(number, source.name, file, counts, seconds))


def _convert_file(
    run: _Run, directory: Path, number: int, source: Source, crawl: str
) -> tuple[WrittenFile, Counts, list[Failure]]:
    options = replace(run.options, crawl=crawl)
    waiting: deque[tuple[int, RefetchRow]] = deque()
    sums = RowCounts()
    found: list[Failure] = []
    fan_out = FanOut(worker_context(), run.workers, _convert, options, size=lambda page: len(page.html))

    def pages() -> Iterator[_Stored]:
        for at, (row, page) in enumerate(_rows(source, at_crawl=crawl)):
            waiting.append((at, row if run.keep_html else row._replace(html=b"")))
            if page is not None:
                yield page._replace(number=at)

    def write(row: RefetchRow) -> None:
        sums.add(row)
        writer.write(row)
        run.progress += Progress(records=1, pages=1, rows=1, html_bytes=row.html_length)
        if sums.rows % _TELL_EVERY == 0:
            run.tell()

    with ShardWriter(directory / shard_file(crawl, number), REFETCH) as writer:
        for outcome in fan_out.outcomes(pages()):
            while waiting[0][0] < outcome.number:
                write(waiting.popleft()[1])
            row = _with_text(waiting.popleft()[1], outcome)
            if outcome.failed:
                found.append(
                    Failure(
                        kind="page",
                        shard=number,
                        source=source.name,
                        cause=outcome.cause,
                        detail=outcome.detail,
                        url=row.url,
                    )
                )
            write(row)
        for _, row in waiting:
            write(row)
        counts = sums.counts(records=sums.rows, pages=sums.rows, archive_bytes=source.size or 0)
        counts.check()
        kept = {**_for_manifest(options, run.keep_html)}
        written = writer.finish(footer(source.name, crawl, options.extractor, kept, counts, FOOTER_COUNTS))
    run.cpu_seconds += fan_out.cpu_seconds
    return written, counts, found


def _with_text(row: RefetchRow, outcome: Outcome[Text]) -> RefetchRow:
    text = outcome.row or Text()
    error = "" if row.error.startswith(CONVERT) else row.error
    return row._replace(
        markdown_length=len(text.markdown.encode()),
        markdown=text.markdown,
        language=text.language,
        language_confidence=text.language_confidence,
        extractor=text.extractor,
        simhash=text.simhash,
        title=text.title or row.title,
        error=error or (CONVERT + outcome.cause if outcome.failed else ""),
    )


_LARGE = {"string": TEXT, "binary": BYTES}
_TYPES = {field.name: _LARGE.get(str(field.type), field.type) for field in REFETCH.schema()}


def _rows(source: Source, *, at_crawl: str) -> Iterator[tuple[RefetchRow, _Stored | None]]:
    """The file's rows in the refetch layout, and the page of those that have one.

    Columns of other layouts are left out; what a row lacks is worked out, or is as where nothing is known.
    """
    (found,) = find_parquet([source.path])
    try:
        with found.open() as opened, pq.ParquetFile(opened) as file:
            schema = file.schema_arrow
            for name in ("url", "html"):
                if name not in schema.names:
                    raise SourceError(f"{source.path}: has no column {name}")
            # Text has been decoded already, whatever the page says of itself.
            decoded = holds_text(schema.field("html").type)
            types = {name: kind for name, kind in _TYPES.items() if name in schema.names}
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(types)):
                for values in rows_as(batch, types, source.path):
                    row = _row(values, at_crawl)
                    content_type = "text/html; charset=utf-8" if decoded else row.content_type or None
                    url = row.final_url or row.url
                    yield row, _Stored(0, row.html, url, content_type) if row.html else None
    except read_errors() as error:
        raise SourceError(f"{source.path}: can't be read ({reason(error)})") from error


def _row(values: dict[str, Any], crawl: str) -> RefetchRow:
    url = printable(values["url"] or "")
    html = values["html"] or b""
    worked_out = {
        "doc_id": doc_id(url),
        "url": url,
        "final_url": url,
        "host": host_of(url),
        "crawl_id": crawl,
        "fetched_at": 0,
        "fetch_duration_ms": 0,
        "body_length": len(html),
        "digest": body_digest(html),
        "html_length": len(html),
        "language_confidence": 0.0,
        "markdown_length": len((values.get("markdown") or "").encode()),
        "simhash": 0,
    }
    nothing = {column.name: None if column.name in REFETCH.nullable else "" for column in REFETCH.columns}
    told = {name: value for name, value in values.items() if value is not None}
    return RefetchRow(**{**nothing, **worked_out, **told, "url": url, "doc_id": doc_id(url), "html": html})
