"""Single records by place: lists of filename, offset and length as CDX indexes give them.

Records that lie near each other in a file are fetched with one range request: at most `gap` bytes between two
of them are fetched for nothing, and no request is longer than `max_span`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO, cast

from ccrawl.archives.codecs import Codec, codec_of
from ccrawl.archives.formats import ARC, WARC, Head
from ccrawl.archives.framing import Damage, Framer, Record
from ccrawl.archives.members import CompressedMembers, PlainMembers
from ccrawl.archives.names import is_remote, resolve
from ccrawl.archives.opening import cached
from ccrawl.archives.remote import RemoteFile, open_url
from ccrawl.archives.sources import DEFAULT_GAP, DEFAULT_MAX_SPAN, DEFAULT_PART_SIZE, Location, Source
from ccrawl.archives.wacz import Section
from ccrawl.archives.window import Window
from ccrawl.errors import SourceError, UsageError

MAX_RECORD = 1 << 30


def location_sources(
    lines: Iterable[str],
    *,
    base_url: str,
    gap: int = DEFAULT_GAP,
    max_span: int = DEFAULT_MAX_SPAN,
    part_size: int = DEFAULT_PART_SIZE,
    cache: str = "",
) -> list[Source]:
    """Sources of at most `part_size` records each for JSON lines with filename, offset, length (and url).

    File names are resolved against `base_url`, a URL or a directory. Records are sorted by file and offset,
    and each place counts once, so the same list in another order makes the same parts. Numbers may be
    strings, as CDX servers write them. Raises UsageError with the line's number for a line that names no
    place.
    """
    if part_size < 1 or gap < 0 or max_span < 1:
        raise UsageError("--part-size and --max-span are at least 1, --gap at least 0")
    found: dict[tuple[str, int], Location] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            location = _location(line, number)
            found.setdefault((location.filename, location.offset), location)
    if not found:
        raise UsageError("the list of locations is empty")
    places = [found[key] for key in sorted(found)]
    parts = [tuple(places[at : at + part_size]) for at in range(0, len(places), part_size)]
    return [
        Source(
            f"locations-{number:06d}",
            base_url,
            sum(place.length for place in part),
            locations=part,
            number=number,
            gap=gap,
            max_span=max_span,
            cache=cache,
        )
        for number, part in enumerate(parts)
    ]


def _location(line: str, number: int) -> Location:
    try:
        fields = json.loads(line)
        filename = fields["filename"]
        offset, length = int(fields["offset"]), int(fields["length"])
        if not isinstance(filename, str) or not filename or offset < 0 or not 0 < length <= MAX_RECORD:
            raise ValueError("out of range")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"locations, line {number}: not a JSON object with filename, offset and length: "
            f"{line.strip()[:80]!r}"
        ) from error
    return Location(filename, offset, length, str(fields.get("url", "")))


def read_locations(
    source: Source, *, keep: Callable[[Head], int], damaged: Callable[[Damage], None]
) -> Iterator[tuple[str, Record]]:
    """The records of a source of locations, each with the file name it was asked for by."""
    for filename, group in groupby(source.locations, key=lambda location: location.filename):
        path = resolve(source.path, filename)
        with _open(path, source.cache) as file:
            for span in spans(list(group), source.gap, source.max_span):
                for piece, location in _pieces(file, span, source.max_span):
                    for record in records_in(piece, location, keep=keep, damaged=damaged):
                        yield filename, record


def spans(locations: list[Location], gap: int, max_span: int) -> Iterator[list[Location]]:
    """Groups of locations of one file, by offset, that are fetched together."""
    group: list[Location] = []
    end = 0
    for location in locations:
        location_end = location.offset + location.length
        if group and (location.offset - end > gap or max(end, location_end) - group[0].offset > max_span):
            yield group
            group, end = [], 0
        group.append(location)
        end = max(end, location_end)
    if group:
        yield group


def _open(path: str, cache: str) -> IO[bytes]:
    if is_remote(path):
        if not cache:
            return cast(IO[bytes], open_url(path))
        path = cached(path, cache)
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error


def _pieces(file: IO[bytes], span: list[Location], max_span: int) -> Iterator[tuple[IO[bytes], Location]]:
    """The bytes of each place of a span, as files. A place larger than `max_span` stays where it is."""
    start = span[0].offset
    if len(span) == 1 and span[0].length > max_span:
        yield cast(IO[bytes], Section(file, start, span[0].length)), span[0]
        return
    end = max(location.offset + location.length for location in span)
    if isinstance(file, RemoteFile):
        file.expect(end)
    file.seek(start)
    content = b""
    while len(content) < end - start and (piece := file.read(end - start - len(content))):
        content += piece
    for location in span:
        at = location.offset - start
        yield io.BytesIO(content[at : at + location.length]), location


def records_in(
    piece: IO[bytes], location: Location, *, keep: Callable[[Head], int], damaged: Callable[[Damage], None]
) -> Iterator[Record]:
    """The records in `piece`, a file of the bytes at `location`; offsets are those in the whole file."""

    def located(damage: Damage) -> None:
        damaged(replace(damage, offset=location.offset + damage.offset, source=location.filename))

    window = Window(piece, cheap_seek=False)
    start = window.read_at(0, ARC.peek)
    if not start:
        located(Damage(0, "cut", 0))
        return
    codec = codec_of(start, window)
    for record in Framer(
        CompressedMembers(window, codec) if codec else PlainMembers(window),
        ARC if ARC.starts(_start(start, codec), 0) else WARC,
        keep=keep,
        damaged=located,
    ):
        if record.offset is not None:
            record.offset += location.offset
        yield record


def _start(piece: bytes, codec: Codec | None) -> bytes:
    if codec is None:
        return piece[: ARC.peek]
    try:
        return codec.decoder().decompress(piece, ARC.peek)
    except codec.errors:
        return b""  # broken: the framer counts it
