"""One shard's Parquet file: written aside, synced, hashed, and only then given its name.

The bytes depend on the rows and their order alone: row groups are cut by the rows' own sizes, never
by when rows arrive, and no time, host or path goes into the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.dataset.entries import WrittenFile
from ccrawl.dataset.files import aside, sync_directory
from ccrawl.dataset.schema import EXPORT, Layout
from ccrawl.errors import OutputError

# Readers that stream (dataset viewers among them) take a row group at a time and refuse those of
# some 300 MB; small groups cost compression. A group is closed by whichever bound is met first.
ROW_GROUP_BYTES = 32 << 20
ROW_GROUP_ROWS = 20_000
# What a row costs beside its texts: ids, numbers.
ROW_OVERHEAD = 400


class _HashingFile(io.RawIOBase):
    """Passes writes on and hashes them, so that the ledger's SHA-256 costs no second read."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.sha256 = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        self.sha256.update(data)
        view = memoryview(data)
        while view:  # an unbuffered file may take less than it was given
            view = view[self._file.write(view) :]
        self.size += memoryview(data).nbytes
        return memoryview(data).nbytes

    def tell(self) -> int:
        return self.size


class ShardWriter:
    """Writes rows to `path`; nothing appears under that name before `finish` has returned.

    Use as a context manager: leaving it without `finish` (an error, a signal) removes what was written.
    Raises OutputError with the path when the disk refuses.
    """

    def __init__(self, path: Path, layout: Layout = EXPORT) -> None:
        self._path = path
        self._temporary = aside(path)
        self._layout = layout
        self._sized = attrgetter(*layout.sizes)
        self._pending: list[Any] = []
        self._pending_bytes = 0
        self._rows = 0
        with self._reporting():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._temporary.open("xb", buffering=0)
            self._hashing = _HashingFile(self._file)
            self._parquet = pq.ParquetWriter(
                self._hashing,
                layout.schema(),
                compression="zstd",
                compression_level=3,
                use_content_defined_chunking=True,
                write_page_index=True,
                write_statistics=True,
                data_page_version="1.0",
                version="2.6",
                use_dictionary=list(layout.dictionaries),
            )

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._temporary.exists():
            with contextlib.suppress(Exception):  # the file is thrown away: its footer doesn't matter
                self._parquet.close()
            self._file.close()
            self._temporary.unlink(missing_ok=True)

    def write(self, row: Any) -> None:
        """Add one row of the layout; rows must come in record order."""
        size = ROW_OVERHEAD + row.markdown_length + sum(map(len, self._sized(row)))
        if self._pending and self._pending_bytes + size > ROW_GROUP_BYTES:
            self._flush()
        self._pending.append(row)
        self._pending_bytes += size
        if len(self._pending) >= ROW_GROUP_ROWS:
            self._flush()

    def finish(self, metadata: Mapping[str, str]) -> WrittenFile:
        """Close the file with footer `metadata`, sync it and move it into place."""
        self._flush()
        with self._reporting():
            self._parquet.add_key_value_metadata(dict(metadata))
            self._parquet.close()
            os.fsync(self._file.fileno())
            self._file.close()
            self._temporary.replace(self._path)
            sync_directory(self._path.parent)
        return WrittenFile(self._path, self._rows, self._hashing.size, self._hashing.sha256.hexdigest())

    def _flush(self) -> None:
        if not self._pending:
            return
        with self._reporting():
            self._parquet.write_table(
                table_of(self._pending, self._layout), row_group_size=len(self._pending)
            )
        self._rows += len(self._pending)
        self._pending.clear()
        self._pending_bytes = 0

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"{self._path}: can't be written ({error.strerror or error}); "
                "free space or choose another --out, then run the same command again"
            ) from error


def table_of(rows: Sequence[Any], layout: Layout = EXPORT) -> pa.Table:
    """The rows as an Arrow table of the layout."""
    schema = layout.schema()
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(values, type=field.type) for field, values in zip(schema, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
