"""`--duplicates FILE.parquet`: every capture that was dropped, and of what it is a copy.

Each shard leaves its list in the dataset's folder when it is finished; the file is made of those, so that it
is whole however often the run was stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ccrawl.errors import OutputError, reason

if TYPE_CHECKING:
    import pyarrow as pa

SHARD, INDEX = "shard", "index"  # where the original is

_BATCH = 16_384


class Duplicate(NamedTuple):
    """A dropped capture. Dates are ISO 8601, "" when unknown.

    source, offset: the shard and the record's place in it
    scope: shard for a copy of an earlier record of the same shard, index for one of an earlier run or crawl
    original_run: the run or crawl of the original, "" without an index
    """

    url: str
    date: str
    record_id: str
    source: str
    offset: int | None
    scope: str
    original_url: str
    original_date: str
    original_run: str


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, pa.int64() if name == "offset" else pa.string()) for name in Duplicate._fields])


def write_duplicates(path: Path, duplicates: list[Duplicate]) -> None:
    """A shard's list, written aside and renamed. OutputError when the disk refuses."""
    import pyarrow as pa

    from ccrawl.dataset.files import write_atomically

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _schema(), options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for at in range(0, len(duplicates), _BATCH):
            writer.write_batch(_batch(duplicates[at : at + _BATCH]))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror or error})") from error
    write_atomically(path, sink.getvalue().to_pybytes())


def _batch(duplicates: list[Duplicate]) -> pa.RecordBatch:
    import pyarrow as pa

    schema = _schema()
    columns = zip(*duplicates, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def collect_duplicates(shards: Iterable[Path], path: Path) -> int:
    """Write the lists of all shards into one Parquet file; returns how many rows it has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ccrawl.dataset.files import aside

    temporary = aside(path)
    rows = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(str(temporary), _schema(), compression="zstd") as writer:
            for batch in _batches(shards):
                writer.write_batch(batch)
                rows += batch.num_rows
        temporary.replace(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise OutputError(f"{path}: can't be written ({reason(error)})") from error
    finally:
        temporary.unlink(missing_ok=True)
    return rows


def _batches(shards: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for shard in shards:
        with pa.memory_map(str(shard)) as file, pa.ipc.open_stream(file) as reader:
            yield from reader
