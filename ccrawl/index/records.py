"""Captures of WARC and ARC files, and rows of finished datasets, on their way into the index."""

from __future__ import annotations

from pathlib import Path

from ccrawl.archives import Digest, Source, digest_of, parse_digest
from ccrawl.archives.fields import parse_date, target_url
from ccrawl.archives.formats import Head
from ccrawl.archives.framing import Damage, Record
from ccrawl.archives.http import content_type_of, dechunk
from ccrawl.archives.media import media_type
from ccrawl.archives.reader import read_records
from ccrawl.errors import SourceError
from ccrawl.index.collect import REVISIT, Collector
from ccrawl.index.types import date_digits, key_of

# Larger records are not read into memory: they count when they carry a digest of the right kind.
MAX_RECORD = 256 << 20
_COLUMNS = ["url", "crawl_date", "payload_digest", "html_length"]


def read_archive(source: Source, collector: Collector) -> None:
    """Give the responses and revisits of an archive to `collector`. SourceError when it can't be read."""

    def keep(head: Head) -> int:
        return MAX_RECORD if head.type in ("response", "resource", "revisit") else 0

    def damaged(damage: Damage) -> None:
        collector.skipped[f"damage:{damage.cause}"] += 1

    for _, record in read_records(source, keep=keep, damaged=damaged):
        if record.head.type in ("response", "resource", "revisit"):
            _take(record, collector)


def _take(record: Record, collector: Collector) -> None:
    revisit = record.head.type == "revisit"
    http = record.http()
    status = "" if http is None or http.status is None else str(http.status)
    kind = (
        REVISIT
        if revisit
        else media_type(
            _content_type(record) if http is None else content_type_of(http.fields.get(b"content-type", []))
        )
    )
    cause = collector.policy.cause(status, kind)
    if cause:
        collector.skipped[cause] += 1
        return
    algorithm = collector.algorithm or "sha1"
    digest = parse_digest(record.field(b"warc-payload-digest"))
    if digest is None or (collector.algorithm is not None and digest.algorithm != algorithm):
        if revisit:  # its payload isn't here to be hashed
            collector.skipped["other-digest" if digest else "no-digest"] += 1
            return
        if not record.whole:
            collector.skipped["too-large"] += 1
            return
        digest = _hashed(record, http.end if http else 0, chunked=_is_chunked(http), name=algorithm)
    size = max(1, record.length or record.head.length)
    if revisit:
        collector.revisit(key_of(digest), size)
    else:
        date = date_digits(parse_date(record.field(b"warc-date")))
        collector.entry(key_of(digest), date, target_url(record.field(b"warc-target-uri")), size)


def _content_type(record: Record) -> str | None:
    return record.field(b"content-type") or None


def _is_chunked(http: object) -> bool:
    last = getattr(http, "last", None)
    return last is not None and b"chunked" in last(b"transfer-encoding").lower()


def _hashed(record: Record, start: int, *, chunked: bool, name: str) -> Digest:
    body = record.after(start)
    if chunked and (whole := dechunk(body)) is not None:
        body = whole
    return digest_of(body, name)


def read_dataset_file(path: Path, collector: Collector) -> None:
    """Give the rows of one of a dataset's Parquet files to `collector`.

    A dataset keeps the day of a capture and not the length of its record: the time is midnight, the size that
    of the decoded page. SourceError when the file isn't one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=_COLUMNS):
                for url, day, text, size in zip(
                    *(batch.column(name).to_pylist() for name in _COLUMNS), strict=True
                ):
                    digest = parse_digest(text or "")
                    if digest is None:
                        collector.skipped["no-digest"] += 1
                    elif collector.algorithm is not None and digest.algorithm != collector.algorithm:
                        collector.skipped["other-digest"] += 1
                    else:
                        date = f"{day.replace('-', '')}000000" if day and len(day) == 10 else ""
                        collector.entry(key_of(digest), date, url, max(1, size or 0))
    except (OSError, pa.ArrowException, KeyError) as error:
        raise SourceError(f"{path}: not readable as a file of a dataset ({error})") from error
