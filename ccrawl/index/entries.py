"""Files of entries, and entries sorted by key in bounded memory.

A file is an Arrow IPC stream (zstd) with the columns key (binary), date, url (string) and size (int64), in
batches of BATCH rows; it is written aside and renamed, so a file under its own name is whole.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from ccrawl.dataset.files import aside, sync_directory
from ccrawl.errors import OutputError
from ccrawl.index.types import EntryTuple, IndexFailure

BATCH = 8192
# Entries sorted in one go: some 300 bytes each, 75 MB.
SORT_ROWS = 250_000

_SCHEMA = pa.schema([("key", pa.binary()), ("date", pa.string()), ("url", pa.string()), ("size", pa.int64())])
_by_key = itemgetter(0)


def write_entries(path: Path, entries: Iterable[EntryTuple]) -> int:
    """Write a file of entries in the order given; returns how many. OutputError when the disk refuses."""
    temporary = aside(path)
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            pa.OSFile(str(temporary), "wb") as file,
            pa.ipc.new_stream(file, _SCHEMA, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer,
        ):
            rows = iter(entries)
            while batch := list(islice(rows, BATCH)):
                count += len(batch)
                columns = zip(*batch, strict=True)
                writer.write_batch(
                    pa.record_batch(
                        [
                            pa.array(column, field.type)
                            for column, field in zip(columns, _SCHEMA, strict=True)
                        ],
                        schema=_SCHEMA,
                    )
                )
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)
    return count


def read_entries(path: Path) -> Iterator[EntryTuple]:
    """The entries of a file, a batch in memory at a time. IndexFailure when it isn't one."""
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
            if reader.schema != _SCHEMA:
                raise IndexFailure(f"{path}: not a file of index entries")
            for batch in reader:
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
    except (OSError, pa.ArrowInvalid) as error:
        raise IndexFailure(f"{path}: not readable as index entries ({error})") from error


def sorted_entries(
    entries: Iterable[EntryTuple], scratch: Path, rows: int = SORT_ROWS
) -> Iterator[EntryTuple]:
    """The entries by key, equal keys in the order given; above `rows`, by way of files in `scratch`."""
    source = iter(entries)
    part = sorted(islice(source, rows), key=_by_key)
    if len(part) < rows:
        yield from part
        return
    files = [scratch / "sorted-000000.arrow"]
    write_entries(files[0], part)
    while part := sorted(islice(source, rows), key=_by_key):
        files.append(scratch / f"sorted-{len(files):06d}.arrow")
        write_entries(files[-1], part)
    yield from merged(files)


def merged(files: Sequence[Path]) -> Iterator[EntryTuple]:
    """The entries of sorted files as one sorted sequence; equal keys in the order of the files."""
    if len(files) == 1:
        return read_entries(files[0])
    return heapq.merge(*map(read_entries, files), key=_by_key)
