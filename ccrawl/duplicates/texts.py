"""Texts of chosen rows, read again for a report that shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.duplicates.sources import Source, read_errors
from ccrawl.errors import SourceError, reason


def read_texts(
    sources: Sequence[Source], places: Iterable[tuple[str, int]], most_bytes: int
) -> dict[tuple[str, int], str]:
    """The first `most_bytes` of the Markdown of rows given as (file name, row in it), cut between characters.

    Only the row groups that hold such a row are read. Raises SourceError when a file changed so that a row is
    gone.
    """
    wanted: dict[str, set[int]] = defaultdict(set)
    for file, row in places:
        wanted[file].add(row)
    texts: dict[tuple[str, int], str] = {}
    for source in sources:
        if source.name not in wanted:
            continue
        rows = sorted(wanted[source.name])
        try:
            with source.open() as handle:
                for row, text in _texts_of(pq.ParquetFile(handle), rows, most_bytes):
                    texts[source.name, row] = text
        except read_errors() as error:
            raise SourceError(f"{source.name}: can't be read again ({reason(error)})") from error
    return texts


def _texts_of(file: pq.ParquetFile, rows: list[int], most_bytes: int) -> Iterable[tuple[int, str]]:
    start = 0
    for group in range(file.num_row_groups):
        end = start + file.metadata.row_group(group).num_rows
        here = [row for row in rows if start <= row < end]
        if here:
            column = file.read_row_group(group, columns=["markdown"]).column(0)
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            for row in here:
                raw = column[row - start].cast(pa.large_binary()).as_py() or b""
                yield row, raw[:most_bytes].decode("utf-8", "ignore")
        start = end
