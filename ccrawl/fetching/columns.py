"""Columns of Parquet files that others wrote, as the types of our layouts.

Programs differ in how they store one and the same value: text as string, large_string, a dictionary or bare
bytes, numbers in whatever width. What means the same is taken over; what does not is refused by name, since
a guess would end up in a dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ccrawl.errors import SourceError, reason

TEXT, NUMBER, BYTES = pa.large_string(), pa.uint64(), pa.large_binary()
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES = (
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
    pa.types.is_fixed_size_binary,
)


def rows_as(batch: pa.RecordBatch, types: Mapping[str, pa.DataType], path: str) -> list[dict[str, Any]]:
    """The rows of a batch, with the columns that `types` names.

    Bytes that are no UTF-8 are text with replacement characters; a date is text as YYYY-MM-DD. Raises
    SourceError for a column that holds something else than its type, or a number that does not fit in it.
    """
    columns = []
    for name, wanted in types.items():
        try:
            columns.append(_as(batch.column(name), wanted))
        except pa.ArrowInvalid as error:
            raise SourceError(
                f"{path}: column {name} can't be read as {str(wanted).removeprefix('large_')} "
                f"({reason(error)}); convert it, or leave it out"
            ) from error
    rows: list[dict[str, Any]] = pa.RecordBatch.from_arrays(columns, names=list(types)).to_pylist()
    return rows


def holds_text(kind: pa.DataType) -> bool:
    """Whether a column of a type holds text, and not bytes."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(is_text(kind) for is_text in _TEXTS)


def _as(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_null(kind):
        return pa.nulls(len(column), wanted)
    if wanted == BYTES:
        if holds_text(kind) or _holds_bytes(kind):
            return column.cast(wanted)
    elif holds_text(wanted):
        if _holds_bytes(kind):
            return pa.array([_decoded(value) for value in column.cast(BYTES).to_pylist()], wanted)
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return column.cast(pa.date32(), safe=False).cast(wanted)
        if holds_text(kind) or pa.types.is_integer(kind):
            return column.cast(wanted)
    # Spark stores uint64 as a decimal.
    elif pa.types.is_integer(kind) or pa.types.is_decimal(kind) or _are_floats(kind, wanted):
        return column.cast(wanted)
    raise pa.ArrowInvalid(f"it holds {kind}")


def _are_floats(*kinds: pa.DataType) -> bool:
    return all(pa.types.is_floating(kind) for kind in kinds)


def _holds_bytes(kind: pa.DataType) -> bool:
    return any(is_bytes(kind) for is_bytes in _BYTES)


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")
