"""Every number of a card, read from the manifest and from the Parquet files, and held against each other.

What the manifest counts (records, drops) only it can know; what the files hold (rows, bytes, hosts, dates,
lengths, languages) is counted in the files. Where both know a number they must agree, or there is no card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.dataset.card.tally import ColumnTally, Spread, class_sizes, spread
from ccrawl.dataset.ledger import Counts, ShardEntry
from ccrawl.dataset.manifest import Manifest, crawl_of, read_manifest
from ccrawl.dataset.schema import REFETCH, Layout, layout_of
from ccrawl.errors import OutputError

# Few enough rows that the host names of one batch are small, many enough that batches cost nothing.
_BATCH_ROWS = 1 << 16
_EXAMPLE_ROWS = 64  # of each of the first files, among which the example is chosen
_EXAMPLE_FILES = 4
_EXAMPLE_BYTES = range(200, 1500)  # Markdown of a row that shows something and is short


@dataclass(frozen=True, slots=True)
class CrawlFacts:
    """One crawl's share."""

    name: str
    shards: int
    rows: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class Answers:
    """What the URLs of a refetch answered: (value, rows), the most rows first.

    statuses: as text, "" where no server answered; errors, changed: without the rows that have none
    first_day, last_day: of the fetches, YYYY-MM-DD
    """

    statuses: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]
    changed: tuple[tuple[str, int], ...]
    first_day: str
    last_day: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a dataset holds. Lists of (value, rows) come with the most rows first, then by value.

    lengths: of Markdown in bytes; length_classes: (lower bound, rows), bounds that double
    years: (year, rows) in order, "" for rows without a date
    hosts: all that there are; top_hosts: those with most rows
    extractors, simhashes: names that the files' metadata give
    answers: of a refetch, None of an export
    """

    manifest: Manifest
    counts: Counts
    crawls: tuple[CrawlFacts, ...]
    shards: int
    rows: int
    html_bytes: int
    markdown_bytes: int
    file_bytes: int
    languages: tuple[tuple[str, int], ...]
    hosts: int
    top_hosts: tuple[tuple[str, int], ...]
    first_date: str
    last_date: str
    years: tuple[tuple[str, int], ...]
    lengths: Spread | None
    length_classes: tuple[tuple[int, int], ...]
    extractors: tuple[str, ...]
    simhashes: tuple[str, ...]
    layout: Layout
    answers: Answers | None
    example: Any  # a row of the layout, None when there is none to show


def read_facts(directory: Path, *, top: int = 15) -> Facts:
    """Count the dataset in `directory`; `top` hosts are named.

    Raises OutputError when the manifest or a file can't be read, or when they contradict each other.
    """
    manifest = read_manifest(directory)
    layout = layout_of(manifest.options)
    tallies = {name: ColumnTally(name) for name in ("host", "crawl_date", "language", "markdown_length")}
    answers = AnswerTallies() if layout is REFETCH else None
    html_bytes = file_bytes = rows = 0
    footers: dict[str, set[str]] = {"ccrawl.extractor": set(), "ccrawl.simhash": set()}
    for entry in manifest.shards:
        with _reading(directory, entry, layout) as file:
            _agree(entry, "rows", file.metadata.num_rows, entry.counts.rows)
            rows += file.metadata.num_rows
            for key, names in footers.items():
                names.add((file.metadata.metadata or {}).get(key.encode(), b"").decode("utf-8", "replace"))
            columns = [*tallies, "html_length", *(answers.columns if answers else ())]
            for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
                if answers:
                    answers.add(batch)
                html_bytes += pa.compute.sum(batch.column("html_length")).as_py() or 0
                for name, tally in tallies.items():
                    if batch.column(name).null_count:
                        raise pa.ArrowInvalid(f"{name} without a value")
                    tally.add(batch.column(name))
        size = (directory / entry.file).stat().st_size
        _agree(entry, "bytes", size, entry.file_bytes)
        file_bytes += size
    counts = manifest.counts
    lengths = tallies["markdown_length"].values_in_order()
    markdown_bytes = sum(length * number for length, number in lengths)
    languages = tallies["language"].most_frequent()
    for name, found, told in [
        ("html_bytes", html_bytes, counts.html_bytes),
        ("markdown_bytes", markdown_bytes, counts.markdown_bytes),
        ("languages", dict(languages), counts.languages),
        *(answers.told(counts) if answers else ()),
    ]:
        if found != told:
            raise OutputError(
                f"{directory}: the rows' {name} contradict the manifest; ccrawl verify tells what is wrong"
            )
    dates = tallies["crawl_date"].values_in_order()
    known_dates = [date for date, _ in dates if date]
    return Facts(
        manifest=manifest,
        counts=counts,
        crawls=tuple(_crawl(manifest, crawl) for crawl in manifest.crawls),
        shards=len(manifest.shards),
        rows=rows,
        html_bytes=html_bytes,
        markdown_bytes=markdown_bytes,
        file_bytes=file_bytes,
        languages=languages,
        hosts=len(tallies["host"]),
        top_hosts=tallies["host"].most_frequent(top),
        first_date=known_dates[0] if known_dates else "",
        last_date=known_dates[-1] if known_dates else "",
        years=_years(dates),
        lengths=spread(lengths),
        length_classes=class_sizes(lengths),
        extractors=tuple(sorted(footers["ccrawl.extractor"] - {""})),
        simhashes=tuple(sorted(footers["ccrawl.simhash"] - {""})),
        layout=layout,
        answers=answers.answers() if answers else None,
        example=_example(directory, manifest.shards, layout),
    )


class AnswerTallies:
    """Counts what the rows of a refetch say of their answers."""

    columns = ("status", "error", "changed", "fetched_at")

    def __init__(self) -> None:
        self._tallies = {name: ColumnTally(name) for name in ("status", "error", "changed")}
        self._first: int | None = None
        self._last: int | None = None

    def add(self, batch: Any) -> None:
        """Count the rows of an Arrow batch."""
        for name, tally in self._tallies.items():
            column = batch.column(name)
            tally.add(column.cast(pa.string()).fill_null("") if name == "status" else column)
        found = pa.compute.min_max(batch.column("fetched_at")).as_py()
        if found["min"]:  # 0 where it is not known
            self._first = min(self._first or found["min"], found["min"])
        if found["max"]:
            self._last = max(self._last or found["max"], found["max"])

    def told(self, counts: Counts) -> list[tuple[str, object, object]]:
        """(name, what the rows give, what the manifest says)"""
        return [
            (name, dict(self._counted(column)), getattr(counts, name))
            for name, column in (("statuses", "status"), ("errors", "error"), ("changed", "changed"))
        ]

    def answers(self) -> Answers:
        """What was counted."""
        return Answers(
            statuses=self._counted("status"),
            errors=self._counted("error"),
            changed=self._counted("changed"),
            first_day=_day(self._first),
            last_day=_day(self._last),
        )

    def _counted(self, name: str) -> tuple[tuple[str, int], ...]:
        found = self._tallies[name].most_frequent()
        return tuple((value, rows) for value, rows in found if value or name == "status")


def _day(ms: int | None) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d") if ms else ""


class _reading:
    """An open Parquet file of ours; its faults are told with the file's name."""

    def __init__(self, directory: Path, entry: ShardEntry, layout: Layout) -> None:
        self._path = directory / entry.file
        self._layout = layout

    def __enter__(self) -> Any:
        try:
            self._file = pq.ParquetFile(self._path)
            if not self._file.schema_arrow.equals(self._layout.schema()):
                raise pa.ArrowInvalid("other columns or types than the layout's")
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self._path, error) from error
        return self._file

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._file.close()
        if isinstance(error, pa.ArrowException | UnicodeDecodeError) or type(error) is OSError:
            raise _unreadable(self._path, error) from error


def _unreadable(path: Path, error: BaseException) -> OutputError:
    cause = " ".join(str(error).split())[:200]
    return OutputError(f"{path}: can't be read ({cause}); ccrawl verify --repair makes it again")


def _agree(entry: ShardEntry, what: str, found: int, told: int) -> None:
    if found != told:
        raise OutputError(
            f"{entry.file}: holds {found:,} {what}, the manifest says {told:,}; "
            "ccrawl verify tells what else is wrong"
        )


def _crawl(manifest: Manifest, name: str) -> CrawlFacts:
    shards = [shard for shard in manifest.shards if crawl_of(shard.file) == name]
    return CrawlFacts(
        name=name,
        shards=len(shards),
        rows=sum(shard.counts.rows for shard in shards),
        file_bytes=sum(shard.file_bytes for shard in shards),
    )


def _years(dates: Sequence[tuple[Any, int]]) -> tuple[tuple[str, int], ...]:
    years: dict[str, int] = {}
    for date, number in dates:
        years[date[:4]] = years.get(date[:4], 0) + number
    return tuple(sorted(years.items()))


def _example(directory: Path, shards: Sequence[ShardEntry], layout: Layout) -> Any:
    """A row to show: the shortest of some first rows that has a title, a language and something to read."""
    best: tuple[bool, bool, int] | None = None
    example = None
    filled = [shard for shard in shards if shard.counts.rows][:_EXAMPLE_FILES]
    for row in (row for shard in filled for row in _first_rows(directory, shard, layout)):
        if any(value is None and name not in layout.nullable for name, value in row._asdict().items()):
            continue
        fit = row.markdown_length in _EXAMPLE_BYTES and bool(row.title and row.language)
        rank = (not fit, not row.markdown, row.markdown_length)
        if best is None or rank < best:
            best, example = rank, row
    return example


def _first_rows(directory: Path, shard: ShardEntry, layout: Layout) -> Iterator[Any]:
    with _reading(directory, shard, layout) as file:
        batch = next(file.iter_batches(_EXAMPLE_ROWS))
    for values in batch.slice(0, _EXAMPLE_ROWS).to_pylist():
        yield layout.row(**{column.name: values[column.name] for column in layout.columns})
