"""The duplicates that `ccrawl dedup` found, for the card of the same dataset."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.dataset.card.facts import Facts
from ccrawl.dataset.card.options import CardOptions
from ccrawl.errors import SourceError, UsageError, reason

_COLUMNS = ("kind", "role", "distance")


@dataclass(frozen=True, slots=True)
class DedupFacts:
    """Counts as `ccrawl dedup --json` names them."""

    exact_clusters: int
    exact_duplicates: int
    exact_bytes: int
    near_clusters: int
    near_duplicates: int
    near_bytes: int
    near_distance: int
    no_fingerprint: int
    distances: tuple[tuple[int, int], ...] = ()  # (bits from the document kept, near duplicates)

    @property
    def redundant_rows(self) -> int:
        return self.exact_duplicates + self.near_duplicates

    @property
    def redundant_bytes(self) -> int:
        return self.exact_bytes + self.near_bytes


def read_dedup(options: CardOptions, facts: Facts) -> DedupFacts | None:
    """The report that the options name, None when they name none.

    Raises SourceError when it can't be read, and UsageError when it is about another dataset.
    """
    path = options.dedup_report
    if path is None:
        if options.clusters is not None:
            raise UsageError("--clusters shows distances; name the report they belong to with --dedup")
        return None
    try:
        values = json.loads(path.read_bytes())
        if not isinstance(values, dict):
            raise ValueError("no JSON object")
        names = [field.name for field in fields(DedupFacts) if field.name != "distances"]
        for name in [*names, "rows", "bytes"]:
            if type(values.get(name)) is not int:
                raise ValueError(f"no number {name}")
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(f"{path}: not a report of ccrawl dedup --json ({reason(error)})") from error
    if (values["rows"], values["bytes"]) != (facts.rows, facts.markdown_bytes):
        raise UsageError(
            f"{path}: is about {values['rows']:,} rows with {values['bytes']:,} bytes of Markdown, "
            f"the dataset has {facts.rows:,} with {facts.markdown_bytes:,}; run ccrawl dedup on this dataset"
        )
    distances = _distances(options.clusters) if options.clusters else ()
    if distances and sum(rows for _, rows in distances) != values["near_duplicates"]:
        raise UsageError(f"{options.clusters}: holds other near duplicates than {path}")
    return DedupFacts(**{name: values[name] for name in names}, distances=distances)


def _distances(path: Path) -> tuple[tuple[int, int], ...]:
    counted: Counter[int] = Counter()
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=list(_COLUMNS)):
                columns = (batch.column(name).to_pylist() for name in _COLUMNS)
                counted.update(
                    distance
                    for kind, role, distance in zip(*columns, strict=True)
                    if kind == "near" and role == "duplicate"
                )
    except (OSError, pa.ArrowException, KeyError) as error:
        cause = " ".join(str(error).split())[:200]
        raise SourceError(f"{path}: not a file of ccrawl dedup --clusters ({cause})") from error
    return tuple((bits, counted[bits]) for bits in range(max(counted, default=-1) + 1))
