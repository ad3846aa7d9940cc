"""Datasets written row by row, so that a test knows every number in them without an export."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ccrawl import __version__
from ccrawl.dataset.layout import shard_file
from ccrawl.dataset.ledger import Counts, Ledger, ShardEntry
from ccrawl.dataset.schema import EXPORT, LAYOUTS, RefetchRow, Row
from ccrawl.dataset.writer import ShardWriter
from ccrawl.run.options import ExportOptions
from ccrawl.text.simhash import DEFINITION, simhash

EXTRACTOR = "main@test"


def row(number: int, *, source: str = "a.warc.gz", **changed: Any) -> Row:
    """A row that keeps every law; `changed` columns follow along (lengths, doc_id, simhash) unless given."""
    url = changed.pop("url", f"http://site.test/{number}")
    markdown = changed.pop("markdown", f"# Page {number}\n\nThe ferry number {number} leaves at noon.\n")
    values: dict[str, Any] = {
        "doc_id": hashlib.sha256(url.encode()).hexdigest()[:32],
        "url": url,
        "host": url.split("/")[2],
        "crawl_date": "2025-03-04",
        "warc_record_id": f"<urn:uuid:00000000-0000-0000-0000-{number:012d}>",
        "html_length": 3 * len(markdown),
        "markdown_length": len(markdown.encode()),
        "markdown": markdown,
        "language": "eng",
        "language_confidence": 0.9,
        "extractor": EXTRACTOR,
        "simhash": simhash(markdown),
        "title": f"Page {number}",
        "payload_digest": "sha1:" + "A" * 32,
        "warc_filename": source,
        "warc_record_offset": 1000 * number,
        **changed,
    }
    return Row(**values)


def write(
    directory: Path,
    shards: Mapping[str, Sequence[Row]],
    *,
    options: ExportOptions | None = None,
    numbers: Sequence[int] | None = None,
    drops: Mapping[str, Any] | None = None,
) -> Path:
    """A dataset of a shard a source; `drops` are counts of pages and records that made no row, a shard."""
    options = options or ExportOptions()
    with Ledger.open(directory, options.for_manifest(), __version__) as ledger:
        for number, (source, rows) in zip(numbers or range(len(shards)), shards.items(), strict=False):
            counts = counts_of(rows, **(drops or {}))
            counts.check()
            file = shard_file(options.crawl, number)
            with ShardWriter(directory / file) as writer:
                for one in rows:
                    writer.write(one)
                written = writer.finish(footer(options, source, counts))
            ledger.shards[number] = ShardEntry(
                number=number,
                source=source,
                source_bytes=counts.archive_bytes,
                source_fingerprint=f"size:{counts.archive_bytes}",
                file=file,
                file_bytes=written.bytes,
                sha256=written.sha256,
                counts=counts,
                failures=0,
                seconds=1.5,
                cpu_seconds=1.25,
            )
        ledger.save()
    return directory


def counts_of(
    rows: Sequence[Row],
    *,
    duplicates: int = 0,
    empty: int = 0,
    other_language: int = 0,
    skipped: Mapping[str, int] | None = None,
    failed: Mapping[str, int] | None = None,
) -> Counts:
    """The counts of a shard that holds `rows` and dropped the rest."""
    pages = len(rows) + duplicates + empty + other_language + sum((failed or {}).values())
    return Counts(
        records=pages + sum((skipped or {}).values()),
        pages=pages,
        rows=len(rows),
        duplicates=duplicates,
        duplicates_with_row=duplicates,
        empty=empty,
        other_language=other_language,
        skipped=dict(skipped or {}),
        failed=dict(failed or {}),
        languages=dict(sorted(Counter(row.language for row in rows).items())),
        archive_bytes=5000,
        html_bytes=sum(row.html_length for row in rows),
        markdown_bytes=sum(row.markdown_length for row in rows),
    )


def footer(options: ExportOptions, source: str, counts: Counts) -> dict[str, str]:
    """A file's metadata as an export writes it."""
    return {
        "ccrawl.version": __version__,
        "ccrawl.extractor": EXTRACTOR,
        "ccrawl.simhash": DEFINITION,
        "ccrawl.source": source,
        "ccrawl.crawl": options.crawl,
        "ccrawl.options": json.dumps(options.for_manifest()),
        "ccrawl.counts": json.dumps(dataclasses.asdict(counts)),
    }


def edit_manifest(directory: Path, change: Any) -> None:
    """Pass the manifest's values through `change`, which alters them in place."""
    path = directory / "manifest.json"
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def reseal(
    directory: Path, file: str, rows: Sequence[Row | RefetchRow], metadata: Mapping[str, str] | None = None
) -> None:
    """Write other rows under a shard's name and have the manifest agree in size and SHA-256 only."""
    import pyarrow.parquet as pq

    if metadata is None:
        kept = pq.read_metadata(directory / file).metadata
        metadata = {key.decode(): value.decode() for key, value in kept.items() if key.startswith(b"ccrawl")}
    (directory / file).unlink()
    layout = next((one for one in LAYOUTS.values() if rows and isinstance(rows[0], one.row)), EXPORT)
    with ShardWriter(directory / file, layout) as writer:
        for one in rows:
            writer.write(one)
        written = writer.finish(metadata)

    def change(values: Any) -> None:
        (entry,) = (entry for entry in values["shards"] if entry["file"] == file)
        values["totals"]["file_bytes"] += written.bytes - entry["file_bytes"]
        entry.update(file_bytes=written.bytes, sha256=written.sha256)

    edit_manifest(directory, change)
