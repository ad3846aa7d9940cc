"""Records of a source: its compression and format told by its bytes, then framing."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from ccrawl.archives.codecs import Codec, codec_named, codec_of
from ccrawl.archives.formats import ARC, WARC, Format, Head
from ccrawl.archives.framing import Damage, Framer, Record
from ccrawl.archives.locations import read_locations
from ccrawl.archives.members import PIECE, Broken, CompressedMembers, Members, PlainMembers
from ccrawl.archives.opening import open_source
from ccrawl.archives.sources import Source, members_of_container
from ccrawl.archives.wacz import ZIP_START
from ccrawl.archives.window import Window
from ccrawl.errors import SourceError

_log = logging.getLogger("ccrawl.archives")
# Members looked at for the format of a file whose beginning is damaged.
_FORMAT_TRIALS = 100

# Drafts of the format before 0.17: the version, the length and the fields in one line.
_DRAFT = re.compile(rb"warc/0\.\d+[ \t]+\d+[ \t]", re.IGNORECASE)

Keep = Callable[[Head], int]
Feed = Callable[[Head], Callable[[bytes], object] | None]


def read_records(
    source: Source,
    *,
    keep: Keep,
    damaged: Callable[[Damage], None],
    feed: Feed | None = None,
    described: Callable[[str], None] | None = None,
) -> Iterator[tuple[str, Record]]:
    """The records of a source in order, each with the name of the file it stands in.

    See `Framer` for keep, damaged and feed; `described` is told the form of each file that is opened (plain,
    gzip ...). A WACZ gives the records of all its WARC files. Raises SourceError when it isn't an archive.
    """
    if source.locations:
        yield from read_locations(source, keep=keep, damaged=damaged)
        return
    with open_source(source) as window:
        start = window.read_at(0, 4)
        if not start:
            raise SourceError(f"{source.path}: the file is empty")
        if not start.startswith(ZIP_START):
            yield from _read_file(window, source, keep, damaged, feed, described)
            return
    inside = members_of_container(source)
    if not inside:
        _log.warning("%s holds no WARC", source.path)
    for member in inside:
        yield from read_records(member, keep=keep, damaged=damaged, feed=feed, described=described)


def _read_file(
    window: Window,
    source: Source,
    keep: Keep,
    damaged: Callable[[Damage], None],
    feed: Feed | None,
    described: Callable[[str], None] | None,
) -> Iterator[tuple[str, Record]]:
    name = source.name
    format, members = _recognised(window, source)
    if described:
        described(f"{format.name}, {members.form}")

    def located(damage: Damage) -> None:
        damaged(replace(damage, source=name))

    try:
        for record in Framer(members, format, keep=keep, damaged=located, feed=feed):
            yield name, record
    except OSError as error:
        raise SourceError(f"{source.path}: reading stopped: {error.strerror or error}") from error


def _recognised(window: Window, source: Source) -> tuple[Format, Members]:
    """Format and members of a file, by its first bytes, or by its name where those are damaged."""
    start = window.read_at(0, 64).lstrip(b"\0")
    by_bytes, by_name = codec_of(start, window), codec_named(source.name, window)
    candidates = [by_bytes, by_name, None]
    if by_bytes is None and sniff_format(window.read_at(0, 4096).lstrip(b"\r\n")) is not None:
        candidates = [None, by_name]
    for codec in dict.fromkeys(candidates):
        format = _format_of(_members(window, codec), source)
        if format is not None:
            return format, _members(window, codec)
    raise SourceError(f"{source.path}: no WARC or ARC record was found in it")


def _members(window: Window, codec: Codec | None) -> Members:
    return PlainMembers(window) if codec is None else CompressedMembers(window, codec)


def sniff_format(start: bytes) -> Format | None:
    """The format of an archive by decoded bytes of it, None where no head can be seen in them."""
    at = WARC.find(start, 0)
    other = ARC.find(start, 0)
    if at >= 0 and (other < 0 or at < other):
        return WARC
    return ARC if other >= 0 else None


def _format_of(members: Members, source: Source) -> Format | None:
    """WARC or ARC, by the first member that can be decoded and holds a head of either."""
    tried = 0
    while tried < _FORMAT_TRIALS:
        try:
            if not members.begin():
                return None
            start = b""
            while len(start) < PIECE and (piece := members.more()):
                start += piece
                if _DRAFT.match(start):
                    raise SourceError(f"{source.path}: WARC of a draft before 0.17, with heads of one line")
                if (format := sniff_format(start)) is not None:
                    return format
            tried += bool(start)  # empty members tell nothing and are cheap
        except Broken:
            if not members.resync(lambda piece: sniff_format(piece) is not None):
                return None
    return None
