"""Export one shard: source -> captures -> pages -> outcomes -> rows -> Parquet, in one direction."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from ccrawl.archives import Capture, Tally, read_captures
from ccrawl.dataset.footer import footer
from ccrawl.dataset.ledger import Counts, Failure
from ccrawl.dataset.schema import Row
from ccrawl.dataset.writer import ShardWriter
from ccrawl.run.board import Board
from ccrawl.run.convert import convert
from ccrawl.run.duplicates import DuplicateFilter
from ccrawl.run.fanout import FanOut
from ccrawl.run.guard import convert_guarded, set_aside
from ccrawl.run.indexed import filter_of, write_files
from ccrawl.run.outcome import EMPTY, OTHER_LANGUAGE, Outcome, Page
from ccrawl.run.processes import worker_context
from ccrawl.run.task import ShardReport, ShardTask

# Rows between two updates of the board: often enough for a smooth display, too seldom to cost anything.
_POST_EVERY = 16


def export_shard(task: ShardTask, board: Board) -> ShardReport:
    """Convert one shard into its Parquet file, which appears under its name only when it is whole.

    Raises SourceError when the source can't be read, OutputError when the file can't be written. Damage
    inside the archive and pages that can't be converted are counted and listed in the report.
    """
    started, cpu_started = time.monotonic(), time.process_time()
    options = task.options
    tally = Tally()
    captures = read_captures(
        task.source,
        options=options.for_reading(),
        tally=tally,
    )
    duplicates = filter_of(
        dedup_digest=options.dedup_digest,
        min_bytes=options.dedup_min_bytes,
        rules=options.dedup_normalize.rules,
        use=task.index,
    )
    account = _Account(task, tally, duplicates, board)
    pages = duplicates.pages(captures) if duplicates else _numbered(captures)
    pages = account.pages(pages)
    fan_out = None
    if task.converters:
        fan_out = FanOut(
            worker_context(),
            task.converters,
            convert,
            options,
            size=lambda page: len(page.capture.body),
            suspects=task.suspects,
        )
        outcomes = fan_out.outcomes(pages)
    else:
        outcomes = (convert_guarded(convert, page, options, board) for page in pages)
    with ShardWriter(task.path) as writer:
        for outcome in outcomes:
            account.take(outcome)
            if outcome.row is not None:
                writer.write(outcome.row)
        counts = account.counts()
        counts.check()
        if duplicates and task.files:
            write_files(task.files, task.number, duplicates, entries=task.index is not None)
        written = writer.finish(_footer(task, counts))
    cpu = time.process_time() - cpu_started + (fan_out.cpu_seconds if fan_out else 0.0)
    return ShardReport(task.number, written, counts, account.failures(), time.monotonic() - started, cpu)


def _numbered(captures: Iterator[Capture]) -> Iterator[Page]:
    return (Page(number, capture) for number, capture in enumerate(captures))


def _footer(task: ShardTask, counts: Counts) -> dict[str, str]:
    options = task.options
    return footer(
        task.source.name, options.crawl, options.extractor, options.for_manifest(), counts, _FOOTER_COUNTS
    )


_FOOTER_COUNTS = (
    *("records", "pages", "rows", "duplicates", "duplicates_with_row", "duplicates_indexed"),
    *("empty", "other_language", "skipped", "failed"),
)


class _Account:
    """Keeps count of a shard while it streams, and publishes it on the board."""

    def __init__(
        self, task: ShardTask, tally: Tally, duplicates: DuplicateFilter | None, board: Board
    ) -> None:
        self._task = task
        self._tally = tally
        self._duplicates = duplicates
        self._board = board
        self._rows = self._empty = self._other_language = 0
        self._html_bytes = self._markdown_bytes = 0
        self._position = 0  # in the archive, of the last page read
        self._failed: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._page_failures: list[Failure] = []
        # What failures.jsonl will say of a page, kept while the page is under way.
        self._underway: dict[int, tuple[int | None, str, str]] = {}

    def pages(self, pages: Iterator[Page]) -> Iterator[Page]:
        """Pass the pages on, but for those that earlier tries have set aside."""
        for page in pages:
            capture = page.capture
            self._position = capture.offset or self._position
            self._underway[page.number] = (capture.offset, capture.record_id, capture.url)
            cause = self._task.ignored.get(page.number)
            if cause is None:
                yield page
            else:
                self.take(set_aside(page.number, cause, self._task.options))

    def take(self, outcome: Outcome[Row]) -> None:
        """Count an outcome."""
        offset, record_id, url = self._underway.pop(outcome.number)
        row = outcome.row
        if row is not None:
            self._rows += 1
            self._html_bytes += row.html_length
            self._markdown_bytes += row.markdown_length
            self._languages[row.language] += 1
            if self._duplicates:
                self._duplicates.made_row(outcome.number)
        elif outcome.failed:
            self._failed[outcome.cause] += 1
            self._page_failures.append(
                Failure(
                    kind="page",
                    shard=self._task.number,
                    source=self._task.source.name,
                    cause=outcome.cause,
                    detail=outcome.detail,
                    offset=offset,
                    record_id=record_id,
                    url=url,
                )
            )
        elif outcome.cause == EMPTY:
            self._empty += 1
        else:
            assert outcome.cause == OTHER_LANGUAGE, outcome
            self._other_language += 1
        if outcome.number % _POST_EVERY == 0:
            self._post()

    def counts(self) -> Counts:
        """The final counts, once every outcome was taken."""
        self._post()
        tally = self._tally
        return Counts(
            records=tally.records,
            pages=tally.captures,
            rows=self._rows,
            duplicates=self._duplicates.dropped if self._duplicates else 0,
            duplicates_with_row=self._duplicates.dropped_with_row if self._duplicates else 0,
            duplicates_indexed=self._duplicates.dropped_by_index if self._duplicates else 0,
            duplicate_bytes=self._duplicates.dropped_bytes if self._duplicates else 0,
            indexed=len(self._duplicates.entries()) if self._duplicates else 0,
            empty=self._empty,
            other_language=self._other_language,
            skipped=dict(sorted(tally.skipped.items())),
            failed=dict(sorted(self._failed.items())),
            damage=dict(sorted(tally.damaged.items())),
            languages=dict(sorted(self._languages.items())),
            archive_bytes=self._task.source.size or self._position,
            html_bytes=self._html_bytes,
            markdown_bytes=self._markdown_bytes,
        )

    def failures(self) -> list[Failure]:
        """Lines for failures.jsonl: damaged records first, then pages set aside, in record order."""
        damaged = [
            Failure(
                kind="record",
                shard=self._task.number,
                source=self._task.source.name,
                cause=damage.cause,
                detail=f"{damage.length} bytes passed over",
                offset=damage.offset,
            )
            for damage in self._tally.damage
        ]
        return damaged + self._page_failures

    def _post(self) -> None:
        self._board.post(
            (
                self._tally.records,
                self._tally.captures,
                self._rows,
                self._duplicates.dropped if self._duplicates else 0,
                sum(self._failed.values()),
                self._position,
                self._html_bytes,
            )
        )
