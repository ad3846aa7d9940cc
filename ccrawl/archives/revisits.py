"""Revisits: records that say "the same as that one", given back the body of the original.

Only the places of originals are kept, one a capture of the source; a body is read again when a revisit asks
for it. An original stands before its revisit, as crawlers write them. Source: WARC 1.1, section 6.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import IO, cast

from ccrawl.archives.capture import SLACK, Capture, CaptureOptions, capture_of
from ccrawl.archives.digests import parse_digest
from ccrawl.archives.fields import host_of, parse_date, target_url
from ccrawl.archives.framing import Record
from ccrawl.archives.locations import records_in
from ccrawl.archives.opening import open_file
from ccrawl.archives.sources import Location, Source
from ccrawl.archives.wacz import Section

# What may name an original: its record id, its URL and date, its payload digest.
Key = tuple[str, ...] | tuple[str, bytes]


class Originals:
    """The captures of one source that revisits may refer to."""

    def __init__(self, source: Source, options: CaptureOptions) -> None:
        self._source = source
        self._options = options
        self._places: dict[Key, tuple[int, int]] = {}

    def resolved(self, record: Record, found: Capture | str, filename: str) -> Capture | str:
        """`found` itself, remembered when it is a capture; for a revisit the capture it stands for."""
        if filename != self._source.name:  # a record of another file, by a list of locations
            return found
        if isinstance(found, Capture):
            if found.offset is not None and found.record_length is not None:
                for key in _names_of(record, found):
                    self._places.setdefault(key, (found.offset, found.record_length))
            return found
        if found != "revisit":
            return found
        for key in _names_in(record):
            if (place := self._places.get(key)) and (original := self._read(*place)):
                return _as_revisit(original, record)
        return found

    def _read(self, offset: int, length: int) -> Capture | None:
        hold = self._options.max_page_bytes + SLACK
        location = Location(self._source.name, offset, length)
        with open_file(self._source) as file:
            piece = cast(IO[bytes], Section(file, offset, length))
            for record in records_in(piece, location, keep=lambda _: hold, damaged=lambda _: None):
                capture = capture_of(record, self._options, self._source.name)
                return capture if isinstance(capture, Capture) else None
        return None


def _names_of(record: Record, capture: Capture) -> Iterator[Key]:
    yield ("id", capture.record_id)
    yield ("capture", capture.url, record.field(b"warc-date"))
    if capture.payload_digest is not None:
        yield (capture.payload_digest.algorithm, capture.payload_digest.value)


def _names_in(record: Record) -> Iterator[Key]:
    if refers_to := record.field(b"warc-refers-to"):
        yield ("id", refers_to)
    if url := record.field(b"warc-refers-to-target-uri"):
        yield ("capture", target_url(url), record.field(b"warc-refers-to-date"))
    if digest := parse_digest(record.field(b"warc-payload-digest")):
        yield (digest.algorithm, digest.value)


def _as_revisit(original: Capture, record: Record) -> Capture:
    url = target_url(record.field(b"warc-target-uri"))
    return replace(
        original,
        url=url,
        host=host_of(url),
        date=parse_date(record.field(b"warc-date")),
        record_id=record.field(b"warc-record-id"),
        record_type="revisit",
        offset=record.offset,
        record_length=record.length,
    )
