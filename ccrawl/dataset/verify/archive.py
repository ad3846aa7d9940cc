"""A shard's rows held against the archive that they came from, read again from its first byte."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from ccrawl.archives import Capture, Source, Tally, read_captures
from ccrawl.dataset.ledger import ShardEntry
from ccrawl.dataset.verify.faults import Fault, Faults
from ccrawl.dataset.verify.files import BATCH_ROWS
from ccrawl.errors import CcrawlError, PageError
from ccrawl.run.options import ExportOptions
from ccrawl.text.printable import printable

_COLUMNS = ["warc_record_id", "warc_record_offset", "url", "crawl_date", "html_length", "payload_digest"]


class _Row(NamedTuple):
    """What a row says of its record."""

    number: int
    record_id: str
    offset: int | None
    url: str
    crawl_date: str
    html_length: int
    digest: str


def check_source(
    directory: Path, entry: ShardEntry, source: Source, options: Mapping[str, Any]
) -> list[Fault]:
    """The faults that reading `source` again brings to light. Holds six short values a row."""
    faults = Faults(entry.file)
    tally = Tally()
    try:
        capture_options = ExportOptions.from_manifest(options).for_reading()
        with pq.ParquetFile(directory / entry.file) as file:
            rows = _rows_by_record(file)
        for capture in read_captures(source, options=capture_options, tally=tally):
            found = rows.get((printable(capture.record_id), capture.offset))
            if found:
                _compare(found.popleft(), capture, capture_options.max_page_bytes, faults)
    except CcrawlError as error:
        faults.add("source-unreadable", str(error))
        return list(faults)
    for row in sorted(row for left in rows.values() for row in left):
        faults.add_row(
            "source-record", row.number, f"{row.record_id} at {row.offset} is not in {source.path}"
        )
    found_counts, expected = (tally.records, tally.captures), (entry.counts.records, entry.counts.pages)
    if found_counts != expected:
        faults.add(
            "source-counts",
            f"{tally.records:,} records and {tally.captures:,} pages, "
            f"not {entry.counts.records:,} and {entry.counts.pages:,}",
        )
    return list(faults)


def _rows_by_record(file: Any) -> dict[tuple[str, int | None], deque[_Row]]:
    """Rows under record id and offset; more than one where an archive without offsets repeats an id."""
    rows: dict[tuple[str, int | None], deque[_Row]] = {}
    number = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=_COLUMNS):
        values = batch.to_pydict()
        for columns in zip(*(values[name] for name in _COLUMNS), strict=True):
            row = _Row(number, *columns)
            rows.setdefault((row.record_id, row.offset), deque()).append(row)
            number += 1
    return rows


def _compare(row: _Row, capture: Capture, limit: int, faults: Faults) -> None:
    try:
        html_length: object = len(capture.payload(limit))
    except PageError as error:
        html_length = str(error)
    expected = {
        "url": printable(capture.url),
        "crawl_date": capture.date.strftime("%Y-%m-%d") if capture.date else "",
        "html_length": html_length,
    }
    for name, value in expected.items():
        if (ours := getattr(row, name)) != value:
            faults.add_row("source-value", row.number, f"{name} is {ours!r}, the record's is {value!r}")
    digest = str(capture.payload_digest or capture.compute_digest())
    if row.digest != digest:
        faults.add_row("source-digest", row.number, f"{row.digest!r}, the record's is {digest!r}")
