"""What the ledger holds: where a shard's records went, which file came of it, and what was set aside."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was set aside, as a line of failures.jsonl."""

    kind: str  # record, page or shard
    shard: int
    source: str
    cause: str
    detail: str = ""
    offset: int | None = None
    record_id: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the records of a shard went. `check` holds the law: nothing is lost, nothing counted twice.

    records = pages + skipped; pages = rows + duplicates + empty + other_language + failed.
    """

    records: int = 0
    pages: int = 0
    rows: int = 0
    duplicates: int = 0
    duplicates_with_row: int = 0  # of the duplicates, those whose first copy in the shard made a row
    duplicates_indexed: int = 0  # of the duplicates, those that the dedupe index knew
    duplicate_bytes: int = 0  # of the duplicates' records, as stored
    indexed: int = 0  # of the rows, those that the shard gives to the dedupe index
    empty: int = 0
    other_language: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # records that are no pages, by cause
    failed: dict[str, int] = field(default_factory=dict)  # pages set aside, by cause
    damage: dict[str, int] = field(default_factory=dict)  # damaged places in the archive, by cause
    languages: dict[str, int] = field(default_factory=dict)  # rows by language
    # Of a refetch's rows: by status ("" without an answer), by what failed, by what became of the page.
    statuses: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    archive_bytes: int = 0  # as stored
    html_bytes: int = 0  # payloads of the rows, decoded
    markdown_bytes: int = 0

    def check(self) -> None:
        """Raise AssertionError when a record is not accounted for: a bug, never the input's fault."""
        assert self.records == self.pages + sum(self.skipped.values()), self
        dropped = self.duplicates + self.empty + self.other_language + sum(self.failed.values())
        assert self.pages == self.rows + dropped, self

    @staticmethod
    def total(all_counts: Iterable[Counts]) -> Counts:
        """The field-wise sum."""
        sums: dict[str, Any] = {}
        for counts in all_counts:
            for name in (f.name for f in dataclasses.fields(Counts)):
                value = getattr(counts, name)
                if isinstance(value, dict):
                    into = sums.setdefault(name, {})
                    for cause, number in value.items():
                        into[cause] = into.get(cause, 0) + number
                else:
                    sums[name] = sums.get(name, 0) + value
        ordered: dict[str, Any] = {
            name: dict(sorted(value.items())) if isinstance(value, dict) else value
            for name, value in sums.items()
        }
        return Counts(**ordered)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A finished Parquet file, as the ledger records it."""

    path: Path
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """A finished shard in the ledger."""

    number: int
    source: str
    source_bytes: int | None
    source_fingerprint: str
    file: str  # relative to the dataset's folder
    file_bytes: int
    sha256: str
    counts: Counts
    failures: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class FailedShard:
    """A shard that could not be read or written, after its retry."""

    number: int
    source: str
    error: str
