"""Working arrays that may be larger than memory.

Without a limit everything is a numpy array. With one, columns are files that the system maps into memory, and
what has to be sorted is dealt to partitions by its leading bits, so that each can be sorted by itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

_CHUNK = 1 << 18


class Scratch:
    """Makes columns and partitions; a context manager that removes its files at the end."""

    def __init__(self, memory: int | None = None, directory: Path | None = None) -> None:
        self.memory = memory
        self._directory = directory
        self._files: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def __enter__(self) -> Self:
        if self.memory is not None:
            self._files = tempfile.TemporaryDirectory(prefix="ccrawl-dedup-", dir=self._directory)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._files is not None:
            self._files.cleanup()
            self._files = None

    def path(self) -> Path | None:
        """The path of a new scratch file, or None where everything stays in memory."""
        if self._files is None:
            return None
        self._count += 1
        return Path(self._files.name) / f"{self._count:06}"

    def column(self, dtype: DTypeLike, width: int = 1) -> Column:
        """A new column; with `width` above 1 its array has the shape (rows, width)."""
        return Column(self.path(), np.dtype(dtype), width)

    def partitions(self, size: int) -> int:
        """Into how many parts, a power of two, `size` bytes go so that one can be sorted in memory."""
        if self.memory is None:
            return 1
        parts = 1
        while size / parts > self.memory / 4:  # a part, its sorted copy, an index, and what is around them
            parts *= 2
        return min(parts, 4096)

    def split(self, parts: int, dtype: DTypeLike, width: int = 1) -> Partitions:
        return Partitions([self.column(dtype, width) for _ in range(parts)])


class Column:
    """An array that grows by batches."""

    def __init__(self, path: Path | None, dtype: np.dtype[Any], width: int) -> None:
        self._path = path
        self._dtype = dtype
        self._shape = (-1, width) if width > 1 else (-1,)
        self._batches: list[NDArray[Any]] = []
        self._file = path.open("wb") if path else None

    def append(self, batch: NDArray[Any]) -> None:
        batch = np.ascontiguousarray(batch, dtype=self._dtype)
        if self._file is None:
            self._batches.append(batch)
        else:
            batch.tofile(self._file)

    def finish(self) -> NDArray[Any]:
        """All batches as one array; nothing can be appended after that."""
        if self._file is None:
            batches, self._batches = self._batches, []
            empty = np.empty(0, self._dtype).reshape(self._shape)
            return np.concatenate(batches).reshape(self._shape) if batches else empty
        self._file.close()
        assert self._path is not None
        if self._path.stat().st_size == 0:
            return np.empty(0, self._dtype).reshape(self._shape)
        return np.memmap(self._path, dtype=self._dtype, mode="r+").reshape(self._shape)

    def discard(self) -> None:
        """Gives the space of a finished column back; its array must not be used any more."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


class Partitions:
    """Columns among which records are dealt; taken back one at a time, each then discarded."""

    def __init__(self, columns: list[Column]) -> None:
        self._columns = columns

    def append(self, records: NDArray[Any], part: NDArray[Any]) -> None:
        """Adds `records[i]` to the partition `part[i]`, keeping the order."""
        if len(self._columns) == 1:
            self._columns[0].append(records)
            return
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(len(self._columns) + 1))
        records = records[order]
        for place, column in enumerate(self._columns):
            if bounds[place] < bounds[place + 1]:
                column.append(records[bounds[place] : bounds[place + 1]])

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for column in self._columns:
            yield column.finish()
            column.discard()


def chunks(length: int) -> Iterator[slice]:
    """Slices that cover `length` elements, each small enough for a few temporary arrays."""
    for start in range(0, length, _CHUNK):
        yield slice(start, min(start + _CHUNK, length))


def top_bits(words: NDArray[np.uint64], parts: int) -> NDArray[np.uint64]:
    """The partition of each word: its leading bits, for `parts` a power of two."""
    bits = parts.bit_length() - 1
    return words >> np.uint64(64 - bits) if bits else np.zeros(len(words), np.uint64)
