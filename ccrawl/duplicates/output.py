"""Reports for other programs: JSON values and Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.duplicates.against import AgainstReport
from ccrawl.duplicates.clusters import Cluster
from ccrawl.duplicates.report import DedupReport
from ccrawl.errors import OutputError, UsageError

MOST_LISTED = 1000  # members of one cluster that JSON lists; the Parquet file has all
_BATCH = 1 << 16

CLUSTER_SCHEMA = pa.schema(
    [
        ("cluster", pa.int64()),  # from 1, the largest first
        ("kind", pa.dictionary(pa.int8(), pa.string())),  # exact or near
        ("size", pa.int64()),  # members of the cluster
        ("role", pa.dictionary(pa.int8(), pa.string())),  # keep or duplicate
        ("file", pa.string()),
        ("row", pa.int64()),  # from 0, in the file
        ("url", pa.string()),
        ("bytes", pa.int64()),  # of Markdown
        ("distance", pa.int16()),  # bits from the document kept
        ("diameter", pa.int16()),  # bits between the two members furthest apart
        ("diameter_bound", pa.int16()),  # no two members are further apart
    ]
)
MATCH_SCHEMA = pa.schema(
    [
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("distance", pa.int16()),
        ("file", pa.string()),
        ("row", pa.int64()),
        ("url", pa.string()),
        ("corpus_file", pa.string()),
        ("corpus_row", pa.int64()),
        ("corpus_url", pa.string()),
    ]
)


def as_json(report: DedupReport, top: int) -> dict[str, Any]:
    """The counts and the `top` largest clusters."""
    return {
        "files": report.files,
        "rows": report.rows,
        "bytes": report.bytes,
        "exact_clusters": report.exact_clusters,
        "exact_duplicates": report.exact_duplicates,
        "exact_bytes": report.exact_bytes,
        "near_clusters": report.near_clusters,
        "near_duplicates": report.near_duplicates,
        "near_bytes": report.near_bytes,
        "near_distance": report.near_distance,
        "min_bytes": report.min_bytes,
        "redundant_rows": report.redundant_rows,
        "redundant_bytes": report.redundant_bytes,
        "redundant_share": round(report.redundant_share, 6),
        "redundant_bytes_share": round(report.redundant_bytes_share, 6),
        "no_fingerprint": report.no_fingerprint,
        "recomputed": report.recomputed,
        "compared": report.compared,
        "clusters": [
            _cluster(report.clusters.cluster(place, MOST_LISTED))
            for place in range(min(top, len(report.clusters)))
        ],
    }


def _cluster(cluster: Cluster) -> dict[str, Any]:
    first, second = cluster.furthest
    return {
        "number": cluster.number,
        "kind": cluster.kind,
        "size": cluster.size,
        "bytes": cluster.bytes,
        "diameter": cluster.diameter,
        "diameter_bound": cluster.diameter_bound,
        "furthest": [first, second],
        "keep": cluster.members[0].url,
        "urls": [member.url for member in cluster.members],
        "members": [
            {"file": m.file, "row": m.row, "bytes": m.bytes, "distance": m.distance} for m in cluster.members
        ],
        "not_listed": cluster.size - len(cluster.members),
    }


def against_as_json(report: AgainstReport, top: int) -> dict[str, Any]:
    """The counts and the first `top` matches."""
    return {
        "files": report.files,
        "rows": report.rows,
        "bytes": report.bytes,
        "corpus_files": report.corpus_files,
        "corpus_rows": report.corpus_rows,
        "exact_rows": report.exact_rows,
        "exact_bytes": report.exact_bytes,
        "near_rows": report.near_rows,
        "near_bytes": report.near_bytes,
        "near_distance": report.near_distance,
        "min_bytes": report.min_bytes,
        "new_rows": report.new_rows,
        "new_bytes": report.new_bytes,
        "no_fingerprint": report.no_fingerprint,
        "recomputed": report.recomputed,
        "matches": [
            {name: getattr(match, name) for name in match.__slots__}
            for match in report.matches(0, max(top, 0))
        ],
    }


def write_clusters(report: DedupReport, path: Path) -> None:
    """Writes every member of every cluster, in the order of the clusters, the one kept first."""
    clusters = report.clusters
    labels, first = clusters.groups.labels, np.zeros(len(clusters.groups.members), bool)
    first[clusters.groups.offsets[:-1]] = True
    sizes = clusters.groups.sizes
    with _writer(path, CLUSTER_SCHEMA) as writer:
        for start in range(0, len(labels), _BATCH):
            end = min(start + _BATCH, len(labels))
            label = labels[start:end]
            members = clusters.members(range(start, end))
            columns = [
                label + 1,
                np.where(clusters.near[label], "near", "exact"),
                sizes[label],
                np.where(first[start:end], "keep", "duplicate"),
                [member.file for member in members],
                [member.row for member in members],
                [member.url for member in members],
                [member.bytes for member in members],
                clusters.distance[start:end],
                clusters.diameter[label],
                clusters.diameter_bound[label],
            ]
            writer.write_batch(_batch(columns, CLUSTER_SCHEMA))


def write_matches(report: AgainstReport, path: Path) -> None:
    """Writes every row that the corpus has already, in the order of the rows."""
    with _writer(path, MATCH_SCHEMA) as writer:
        for start in range(0, len(report.matched), _BATCH):
            matches = report.matches(start, start + _BATCH)
            columns = [[getattr(match, name) for match in matches] for name in MATCH_SCHEMA.names]
            writer.write_batch(_batch(columns, MATCH_SCHEMA))


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[str | Path]) -> None:
    """Raises UsageError, before any work, for an output that would be written into the input or can't be
    written.
    """
    for output in outputs:
        if output is None:
            continue
        target = output.resolve()
        if not target.parent.is_dir():
            raise UsageError(f"{output}: no such directory {target.parent}")
        for path in inputs:
            place = Path(path).resolve()
            inside = place.is_dir() and target.is_relative_to(place) and target.suffix == ".parquet"
            if target == place or inside:
                raise UsageError(f"{output}: lies in the input {path}, which is never changed")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives the name of a file to write beside `path`; it takes the place of `path` when all went well."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror or error})") from error
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def _writer(path: Path, schema: Any) -> Iterator[Any]:
    with replacing(path) as aside, pq.ParquetWriter(aside, schema, compression="zstd") as writer:
        yield writer


def _batch(columns: list[Any], schema: Any) -> Any:
    arrays = []
    for column, field in zip(columns, schema, strict=True):
        if pa.types.is_dictionary(field.type):
            arrays.append(pa.array(column, pa.string()).dictionary_encode().cast(field.type))
        else:
            arrays.append(pa.array(column, field.type))
    return pa.record_batch(arrays, schema=schema)
