"""Finding single rows of a dataset, without reading more of it than needed."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ccrawl.dataset.schema import EXPORT, REFETCH, Layout, RefetchRow, Row
from ccrawl.errors import SourceError, UsageError

# What the columns of a file that lacks them are shown as: files of the twelve-column layout are read too.
_MISSING = {"title": "", "payload_digest": "", "warc_filename": "", "warc_record_offset": None}
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row, of an export or of a refetch, and where it stands. number: in its file, from 0."""

    file: Path
    number: int
    row: Row | RefetchRow


def find_rows(
    path: str | os.PathLike[str],
    *,
    url: str | None = None,
    doc_id: str | None = None,
    row: int | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> list[StoredRow]:
    """The rows of a file, or of a dataset's folder, that one of the arguments asks for.

    url, doc_id: every row of that page; a URL is matched exactly
    row: the row of that number from 0, counted over the files in order
    sample: so many rows picked at random, the same ones for the same `seed`, in order

    Raises UsageError when not exactly one is given, SourceError when there is no such row or a file can't
    be read.
    """
    if sum(argument is not None for argument in (url, doc_id, row, sample)) != 1:
        raise UsageError("ask for rows by one of --url, --row, --doc-id and --sample")
    files = parquet_files(Path(path))
    if row is not None or sample is not None:
        return _numbered(path, files, row, sample, seed)
    wanted = doc_id if url is None else hashlib.sha256(url.encode(errors="replace")).hexdigest()[:32]
    found = [stored for file in files for stored in _matching(file, wanted or "", url)]
    if not found:
        raise SourceError(f"{path}: holds no row of {url or doc_id}")
    return found


def parquet_files(path: Path) -> list[Path]:
    """The dataset's files in order. SourceError when there are none."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith("."))
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise SourceError(f"{path}: no Parquet file; name one, or the folder of a dataset")
    return files


def _numbered(
    path: str | os.PathLike[str], files: Iterable[Path], row: int | None, sample: int | None, seed: int
) -> list[StoredRow]:
    """Rows by their numbers over all files."""
    sizes = []
    for file in files:
        with _open(file) as parquet:
            sizes.append((file, parquet.metadata.num_rows))
    total = sum(size for _, size in sizes)
    if row is not None:
        if not 0 <= row < total:
            raise SourceError(f"{path}: has no row {row}; there are {total:,}, from 0")
        wanted = [row]
    else:
        wanted = sorted(random.Random(seed).sample(range(total), min(sample or 0, total)))  # noqa: S311
    found: list[StoredRow] = []
    start = 0
    for file, size in sizes:
        inside = [number - start for number in wanted if start <= number < start + size]
        found += _read(file, inside)
        start += size
    return found


def _matching(file: Path, doc_id: str, url: str | None) -> list[StoredRow]:
    """The file's rows of one page. Only the ids are read before one is found."""
    numbers = []
    with _open(file) as parquet:
        start = 0
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=["doc_id"]):
            hits = pc.indices_nonzero(pc.fill_null(pc.equal(batch.column("doc_id"), doc_id), False))
            numbers += [start + hit for hit in hits.to_pylist()]
            start += batch.num_rows
    return [stored for stored in _read(file, numbers) if url is None or stored.row.url == url]


def _read(file: Path, numbers: list[int]) -> Iterator[StoredRow]:
    """The file's rows of these numbers, in order; only their row groups are read."""
    if not numbers:
        return
    with _open(file) as parquet:
        layout = _layout_of(parquet)
        missing = _MISSING if layout is EXPORT else {}
        start = 0
        for group in range(parquet.metadata.num_row_groups):
            size = parquet.metadata.row_group(group).num_rows
            inside = [number for number in numbers if start <= number < start + size]
            if inside:
                fields = [field for field in layout.schema() if field.name in parquet.schema_arrow.names]
                table = parquet.read_row_group(group, columns=[field.name for field in fields])
                table = table.select([field.name for field in fields]).cast(pa.schema(fields))
                for number in inside:
                    (values,) = table.slice(number - start, 1).to_pylist()
                    yield StoredRow(file, number, layout.row(**{**missing, **values}))
            start += size


def _layout_of(parquet: Any) -> Layout:
    """A file's layout, told by a column that only one of them has."""
    return REFETCH if "final_url" in parquet.schema_arrow.names else EXPORT


class _open:
    """An open Parquet file with the columns of the layout; its faults are told with the file's name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None

    def __enter__(self) -> Any:
        try:
            self._file = pq.ParquetFile(self._path)
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(error) from error
        layout = _layout_of(self._file)
        needed = [name for name in layout.row._fields if name not in (_MISSING if layout is EXPORT else ())]
        missing = [name for name in needed if name not in self._file.schema_arrow.names]
        if missing:
            self._file.close()
            raise SourceError(f"{self._path}: has no column {missing[0]}; is it a file of this layout?")
        return self._file

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._file.close()
        if isinstance(error, pa.ArrowException | UnicodeDecodeError | OSError):
            raise self._unreadable(error) from error

    def _unreadable(self, error: BaseException) -> SourceError:
        return SourceError(f"{self._path}: can't be read ({' '.join(str(error).split())[:200]})")
