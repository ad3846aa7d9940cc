"""Revisits: records that say "the same as that one", given back the body of the original.

Only the places of originals are kept, one a capture of the source; a body is read again when a revisit asks
for it. Crawlers write an original before its revisit, in a member of its own. Where a revisit meets neither,
the whole source is looked through for what may be meant, and originals that can't be read alone are kept in a
temporary file. Source: WARC 1.1, section 6.7.
"""

from __future__ import annotations

import functools
import io
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import IO, NamedTuple, cast

from ccrawl.archives.capture import SLACK, Capture, CaptureOptions, capture_of
from ccrawl.archives.digests import parse_digest
from ccrawl.archives.fields import host_of, parse_date, target_url
from ccrawl.archives.framing import Record
from ccrawl.archives.locations import records_in
from ccrawl.archives.opening import is_pipe, open_file
from ccrawl.archives.sources import Location, Source
from ccrawl.archives.wacz import Section
from ccrawl.errors import SourceError


class _Place(NamedTuple):
    """Where an original can be read again: in the source, or its copy in the temporary file."""

    offset: int
    length: int
    copied: bool = False


# What may name an original: its record id, its URL and date, its payload digest.
Key = tuple[str, ...] | tuple[str, bytes]


class Originals:
    """The captures of one source that revisits may refer to. `read` gives the source's records anew."""

    def __init__(
        self,
        source: Source,
        options: CaptureOptions,
        read: Callable[[], Iterable[tuple[str, Record]]],
    ) -> None:
        self._source = source
        self._options = options
        self._read_source = read
        self._places: dict[Key, _Place] = {}
        self._kept: IO[bytes] | None = None  # copies of originals that have no place of their own
        self._searched = False

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        if self._kept is not None:
            self._kept.close()

    def resolved(self, record: Record, found: Capture | str, filename: str) -> Capture | str:
        """`found` itself, remembered when it is a capture; for a revisit the capture it stands for."""
        if filename != self._source.name:  # a record of another file, by a list of locations
            return found
        if isinstance(found, Capture):
            if place := self._place_of(found):
                self._remember(record, found, place)
            return found
        if found != "revisit":
            return found
        original = self._original(record)
        if original is None and not self._searched:
            self._searched = True
            if not self._source.locations and not is_pipe(self._source):
                self._search()
            original = self._original(record)
        return _as_revisit(original, record) if original else found

    def _remember(self, record: Record, capture: Capture, place: _Place) -> None:
        for key in _names_of(record, capture):
            self._places.setdefault(key, place)

    def _original(self, record: Record) -> Capture | None:
        for key in _names_in(record):
            if (place := self._places.get(key)) and (original := self._read(place)):
                return original
        return None

    def _search(self) -> None:
        """Find all captures of the source that any of its revisits may mean."""
        wanted = {
            key
            for filename, record in self._read_source()
            if filename == self._source.name and record.head.type == "revisit"
            for key in _names_in(record)
        }
        for filename, record in self._read_source():
            if filename != self._source.name:
                continue
            found = capture_of(record, self._options, filename)
            if not isinstance(found, Capture) or wanted.isdisjoint(_names_of(record, found)):
                continue
            self._remember(record, found, self._place_of(found) or self._copied(found))

    def _place_of(self, capture: Capture) -> _Place | None:
        if capture.offset is None or capture.record_length is None or not self._seekable:
            return None
        return _Place(capture.offset, capture.record_length)

    @functools.cached_property
    def _seekable(self) -> bool:
        if is_pipe(self._source):
            return False
        with open_file(self._source) as file:
            return file.seekable()

    def _copied(self, capture: Capture) -> _Place:
        try:
            self._kept = self._kept or tempfile.TemporaryFile()  # noqa: SIM115 (close() does)
            start = self._kept.seek(0, io.SEEK_END)
            pickle.dump(capture, self._kept)
            return _Place(start, self._kept.tell() - start, copied=True)
        except OSError as error:
            raise SourceError(
                f"{self._source.path}: no room for originals of its revisits in {tempfile.gettempdir()} "
                f"({error.strerror or error}); set TMPDIR to a larger disk"
            ) from error

    def _read(self, place: _Place) -> Capture | None:
        if place.copied:
            assert self._kept is not None
            self._kept.seek(place.offset)
            copy: Capture = pickle.load(self._kept)  # noqa: S301 (written by this process)
            return copy
        hold = self._options.max_page_bytes + SLACK
        location = Location(self._source.name, place.offset, place.length)
        with open_file(self._source) as file:
            piece = cast(IO[bytes], Section(file, place.offset, place.length))
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
