"""Counting a column's values over many files, and what counted lengths say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Counts of batches wait until there are so many, then they are added up: memory stays near that of the
# distinct values, and adding up is rare.
_PENDING = 1 << 20


class ColumnTally:
    """How many rows have each value of a column. `len` is the number of distinct values.

    Values are held by Arrow, some 30 bytes a host name, so that a crawl's 40 million hosts fit in 2 GB.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tables: list[Any] = []
        self._pending = 0

    def add(self, column: Any) -> None:
        """Count the values of an Arrow array."""
        counted = pc.value_counts(column)
        values, counts = counted.field("values"), counted.field("counts")
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        self._tables.append(pa.table({"value": values, "rows": counts}))
        self._pending += len(counted)
        if self._pending > _PENDING:
            self._add_up()

    def __len__(self) -> int:
        return int(self._add_up().num_rows)

    def values_in_order(self) -> list[tuple[Any, int]]:
        """(value, rows), by value."""
        return _pairs(self._add_up().sort_by("value"))

    def most_frequent(self, number: int | None = None) -> tuple[tuple[Any, int], ...]:
        """(value, rows), the most frequent first, equals by value; the first `number`."""
        table = self._add_up().sort_by([("rows", "descending"), ("value", "ascending")])
        return tuple(_pairs(table.slice(0, number)))

    def _add_up(self) -> Any:
        if not self._tables:
            return pa.table({"value": pa.array([], pa.string()), "rows": pa.array([], pa.int64())})
        if len(self._tables) > 1:
            table = pa.concat_tables(self._tables).group_by("value", use_threads=False)
            summed = table.aggregate([("rows", "sum")]).rename_columns({"rows_sum": "rows"})
            self._tables = [summed.select(["value", "rows"])]
        self._pending = 0
        return self._tables[0]


def _pairs(table: Any) -> list[tuple[Any, int]]:
    return list(zip(table.column("value").to_pylist(), table.column("rows").to_pylist(), strict=True))


@dataclass(frozen=True, slots=True)
class Spread:
    """Order statistics; a quantile is the smallest value that so many of the values do not exceed."""

    least: int
    tenth: int
    median: int
    ninetieth: int
    greatest: int
    mean: float


def spread(counted: Sequence[tuple[int, int]]) -> Spread | None:
    """The spread of (value, number) pairs that come in order; None for none."""
    total = sum(number for _, number in counted)
    if not total:
        return None

    def quantile(share: float) -> int:
        wanted, seen = max(1, math.ceil(share * total)), 0
        for value, number in counted:
            seen += number
            if seen >= wanted:
                return value
        raise AssertionError(counted)

    mean = sum(value * number for value, number in counted) / total
    return Spread(counted[0][0], quantile(0.1), quantile(0.5), quantile(0.9), counted[-1][0], mean)


def class_sizes(counted: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """(lower bound, number) of classes that double: [0, 1), [1, 2), [2, 4) ... without gaps in between."""
    classes: dict[int, int] = {}
    for value, number in counted:
        exponent = max(0, value).bit_length()
        classes[exponent] = classes.get(exponent, 0) + number
    if not classes:
        return ()
    return tuple(
        (1 << exponent >> 1, classes.get(exponent, 0)) for exponent in range(min(classes), max(classes) + 1)
    )
