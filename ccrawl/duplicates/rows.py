"""Reads of a dataset what clustering needs: for each row a digest, a length, a fingerprint, and where its URL
is.

Only the columns `url`, `markdown` and `simhash` are read, a row group at a time; the texts are gone when
their batch is. Fingerprints are taken from the file when its footer names our definition, else computed from
the text: fingerprints of two definitions are never compared.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ccrawl.duplicates.scratch import Scratch
from ccrawl.duplicates.sources import Source, read_errors
from ccrawl.errors import SourceError, reason
from ccrawl.text.simhash import DEFINITION, simhash

FOOTER_KEY = b"ccrawl.simhash"
DIGEST_WORDS = (
    4  # SHA-256: no collision of it is known, so equal digests are equal texts without a second look
)
_BATCH_ROWS = 2048
_PIECE = 1 << 20

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one file that were read together; `urls` is a pyarrow array of large_binary."""

    digest: NDArray[np.uint64]  # (rows, DIGEST_WORDS)
    length: NDArray[np.int64]
    fingerprint: NDArray[np.uint64]
    urls: Any


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows, numbered from 0 in the order of files and of rows in them. Arrays have one entry a row.

    length is 0 where there is no text; fingerprint is 0 where there is none.
    """

    files: tuple[str, ...]
    starts: NDArray[np.int64]  # number of the first row of each file, and of all rows at the end
    digest: NDArray[np.uint64]
    length: NDArray[np.int64]
    fingerprint: NDArray[np.uint64]
    urls: Any  # pyarrow ChunkedArray of large_binary
    recomputed: int  # rows whose fingerprint was computed here

    def __len__(self) -> int:
        return len(self.length)

    def place(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(index into `files`, row number in that file) of rows."""
        file = np.searchsorted(self.starts, rows, side="right") - 1
        return file, rows - self.starts[file]

    def take_urls(self, rows: NDArray[np.int64]) -> Any:
        """The URLs of rows, as one pyarrow large_binary array."""
        return self.urls.take(arrow_integers(rows)).combine_chunks()


@dataclass(frozen=True, slots=True)
class PickedRows(Rows):
    """Some of all rows: entry i of the arrays is about the row `numbers[i]`, rising."""

    numbers: NDArray[np.int64]

    def place(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return Rows.place(self, self.numbers[rows])


def read_rows(sources: Sequence[Source], scratch: Scratch, notice: Notice) -> Rows:
    """Reads all sources once. Raises SourceError for a file that is not such a dataset."""
    digest = scratch.column(np.uint64, DIGEST_WORDS)
    length = scratch.column(np.int64)
    fingerprint = scratch.column(np.uint64)
    urls = _Urls(scratch)
    starts = [0]
    recomputed = 0
    for source in sources:
        rows = 0
        reader = SourceReader(source)
        for batch in reader.batches():
            digest.append(batch.digest)
            length.append(batch.length)
            fingerprint.append(batch.fingerprint)
            urls.append(batch.urls)
            rows += len(batch.length)
        if reader.why_recompute:
            recomputed += rows
            notice(f"{source.name}: {reader.why_recompute}; fingerprints computed from the text")
        starts.append(starts[-1] + rows)
    return Rows(
        files=tuple(source.name for source in sources),
        starts=np.array(starts, dtype=np.int64),
        digest=digest.finish(),
        length=length.finish(),
        fingerprint=fingerprint.finish(),
        urls=urls.finish(),
        recomputed=recomputed,
    )


def arrow_integers(values: NDArray[np.int64]) -> Any:
    """The values as a pyarrow array, without a copy. `pyarrow.array` would load pandas where it is there."""
    values = np.ascontiguousarray(values, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def numpy_integers(values: Any) -> NDArray[Any]:
    """A pyarrow array of integers without nulls, as it is. `to_numpy` would load pandas where it is there."""
    dtype = np.dtype(values.type.to_pandas_dtype())
    _, content = values.buffers()
    return np.frombuffer(content or b"", dtype)[values.offset : values.offset + len(values)]


class SourceReader:
    """One open Parquet file. `why_recompute` is empty when its fingerprints can be used as they are."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._handle = source.open()
        try:
            # Far files are asked for all chunks of a row group at once; near ones are read piece by piece.
            far = source.filesystem is not None
            self._file = pq.ParquetFile(self._handle, pre_buffer=far, buffer_size=0 if far else _PIECE)
        except read_errors() as error:
            raise SourceError(f"{source.name}: not a readable Parquet file ({reason(error)})") from error
        names = self._file.schema_arrow.names
        missing = [name for name in ("url", "markdown") if name not in names]
        if missing:
            raise SourceError(
                f"{source.name}: no column {' and no column '.join(missing)}; it has {', '.join(names)}"
            )
        self.why_recompute = self._why_recompute()

    def _why_recompute(self) -> str:
        if "simhash" not in self._file.schema_arrow.names:
            return "no simhash column"
        written = (self._file.metadata.metadata or {}).get(FOOTER_KEY)
        if written is None:
            return "the footer does not say how the simhash column was made"
        if written != DEFINITION.encode():
            return f"the simhash column is of another definition ({written.decode('utf-8', 'replace')})"
        if not pa.types.is_integer(self._file.schema_arrow.field("simhash").type):
            return "the simhash column holds no integers"
        return ""

    def batches(self) -> Iterator[Batch]:
        columns = ["url", "markdown"] + ([] if self.why_recompute else ["simhash"])
        with self._handle:
            try:
                # One column holds nearly all bytes, so threads, one a column, would only add work.
                for batch in self._file.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
                    yield self._measure(batch)
            except read_errors() as error:
                raise SourceError(f"{self._source.name}: can't be read on ({reason(error)})") from error

    def _measure(self, batch: Any) -> Batch:
        texts = _slices(batch.column("markdown"))
        length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        sha256 = hashlib.sha256
        digest = b"".join([sha256(text).digest() for text in texts])
        if self.why_recompute:
            fingerprint = np.array(
                [simhash(str(t, "utf-8", "replace")) if len(t) else 0 for t in texts], np.uint64
            )
        else:
            fingerprint = numpy_integers(_filled(batch.column("simhash"), 0)).astype(np.uint64)
        fingerprint[length == 0] = 0
        return Batch(
            digest=np.frombuffer(digest, dtype=">u8").astype(np.uint64).reshape(-1, DIGEST_WORDS),
            length=length,
            fingerprint=fingerprint,
            urls=_filled(_plain(batch.column("url")), b""),
        )


class _Urls:
    """The URLs of all rows: in memory, or in a file that is mapped when it is complete."""

    def __init__(self, scratch: Scratch) -> None:
        self._path = scratch.path()
        self._batches: list[Any] = []
        self._schema = pa.schema([("url", pa.large_binary())])
        self._writer = pa.ipc.new_file(str(self._path), self._schema) if self._path else None

    def append(self, urls: Any) -> None:
        if self._writer is None:
            self._batches.append(urls)
        else:
            self._writer.write_batch(pa.record_batch([urls], schema=self._schema))

    def finish(self) -> Any:
        if self._writer is None:
            return pa.chunked_array(self._batches, type=pa.large_binary())
        self._writer.close()
        return pa.ipc.open_file(pa.memory_map(str(self._path))).read_all().column("url")


def _plain(column: Any) -> Any:
    """A text column of any Arrow encoding (dictionary, view, large) as large_binary."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_binary())


def _filled(column: Any, value: bytes | int) -> Any:
    return column.fill_null(value) if column.null_count else column


def _slices(column: Any) -> list[memoryview]:
    """The bytes of each value, without copies; a null is empty."""
    column = _filled(_plain(column), b"")
    if not len(column):
        return []
    _, offsets, content = column.buffers()
    places = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1].tolist()
    view = memoryview(content) if content is not None else memoryview(b"")
    return [view[start:end] for start, end in itertools.pairwise(places)]
