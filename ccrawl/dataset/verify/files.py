"""One shard's file held against its entry in the manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.dataset.ledger import Counts, ShardEntry, file_sha256
from ccrawl.dataset.manifest import crawl_of
from ccrawl.dataset.schema import REFETCH, layout_of
from ccrawl.dataset.verify.faults import Fault, Faults
from ccrawl.dataset.verify.refetch import RefetchLaws
from ccrawl.dataset.verify.rows import RowLaws
from ccrawl.text.simhash import DEFINITION

# Rows held at once: with pages of megabytes, a few hundred MB at the very most.
BATCH_ROWS = 256


def check_file(
    directory: Path, entry: ShardEntry, version: str, options: Mapping[str, Any], *, rows: bool
) -> list[Fault]:
    """The faults of a shard's file; with `rows`, of every row too."""
    faults = Faults(entry.file)
    path = directory / entry.file
    try:
        size = path.stat().st_size
        if size != entry.file_bytes:
            faults.add("size", f"{size:,} bytes, not {entry.file_bytes:,}")
        elif (sha256 := file_sha256(path)) != entry.sha256:
            faults.add("sha256", f"{sha256}, not {entry.sha256}")
    except OSError as error:
        faults.add("file-missing", error.strerror or str(error))
        return list(faults)
    try:
        with pq.ParquetFile(path) as file:
            _check_parquet(file, entry, version, options, faults, rows=rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError) as error:
        code = "utf-8" if isinstance(error, UnicodeDecodeError) else "unreadable"
        faults.add(code, " ".join(str(error).split())[:200])
    return list(faults)


def _check_parquet(
    file: Any, entry: ShardEntry, version: str, options: Mapping[str, Any], faults: Faults, *, rows: bool
) -> None:
    metadata = file.metadata
    footer = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (metadata.metadata or {}).items()
    }
    _check_footer(footer, entry, version, options, faults)
    if metadata.num_rows != entry.counts.rows:
        faults.add("rows", f"{metadata.num_rows:,}, not {entry.counts.rows:,}")
    layout = layout_of(options)
    schema = layout.schema()
    if not file.schema_arrow.equals(schema):
        faults.add("schema", _difference(file.schema_arrow, schema))
        return
    if not rows:
        return
    if footer.get("ccrawl.simhash") != DEFINITION:
        faults.add("simhash-definition", f"{footer.get('ccrawl.simhash', 'none')}, not {DEFINITION}")
    extractor = footer.get("ccrawl.extractor", "")
    fingerprints = footer.get("ccrawl.simhash") == DEFINITION
    laws: RowLaws | RefetchLaws
    if layout is REFETCH:
        unique = bool(options.get("dedup_digest")) and not options.get("dedup_index")
        laws = RefetchLaws(faults, extractor=extractor, fingerprints=fingerprints, unique=unique)
    else:
        laws = RowLaws(faults, extractor=extractor, source=entry.source, fingerprints=fingerprints)
    for batch in file.iter_batches(batch_size=BATCH_ROWS):
        laws.check([column.to_pylist() for column in batch.columns])
    for name, value in laws.sums().items():
        expected = getattr(entry.counts, name)
        if value != expected:
            faults.add(
                "counts", f"{name}: the rows give {_short(value)}, the manifest says {_short(expected)}"
            )


def _check_footer(
    footer: Mapping[str, str], entry: ShardEntry, version: str, options: Mapping[str, Any], faults: Faults
) -> None:
    crawl = crawl_of(entry.file)
    expected = {"ccrawl.version": version, "ccrawl.source": entry.source, "ccrawl.crawl": crawl}
    for key, value in expected.items():
        if footer.get(key) != value:
            faults.add("footer", f"{key} is {footer.get(key)!r}, not {value!r}")
    if not footer.get("ccrawl.extractor"):
        faults.add("footer", "ccrawl.extractor is missing")
    if _json(footer.get("ccrawl.options")) != {**options, "crawl": crawl}:
        faults.add("footer", "ccrawl.options are not the manifest's")
    counts = _json(footer.get("ccrawl.counts"))
    known = Counts.__dataclass_fields__
    if not isinstance(counts, dict) or any(
        name in known and getattr(entry.counts, name) != value for name, value in counts.items()
    ):
        faults.add("footer", "ccrawl.counts are not the manifest's")


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return None


def _difference(schema: Any, expected: Any) -> str:
    """The first difference of two schemas, in words."""
    for place, field in enumerate(expected):
        if place >= len(schema.names):
            return f"no column {field.name}"
        found = schema.field(place)
        if found.name != field.name:
            return f"column {place + 1} is {found.name!r}, not {field.name!r}"
        if found.type != field.type:
            return f"{field.name} is {found.type}, not {field.type}"
    if len(schema.names) > len(expected.names):
        return f"a column more: {schema.names[len(expected.names)]!r}"
    return "a column's nullability differs"


def _short(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"
