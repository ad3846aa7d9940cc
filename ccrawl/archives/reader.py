"""Records of a source: its compression and format told by its bytes, then framing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ccrawl.archives.formats import WARC, Format, Head
from ccrawl.archives.framing import Damage, Framer, Record, sniff_format
from ccrawl.archives.members import (
    BZIP2,
    GZIP,
    PIECE,
    Broken,
    CompressedMembers,
    Members,
    PlainMembers,
)
from ccrawl.archives.sources import Source, open_window
from ccrawl.archives.window import Window
from ccrawl.errors import SourceError


def read_records(
    source: Source,
    *,
    keep: Callable[[Head], int],
    damaged: Callable[[Damage], None],
    feed: Callable[[Head], Callable[[bytes], object] | None] | None = None,
) -> Iterator[Record]:
    """The records of a source in order; see `Framer` for the callbacks. SourceError when it isn't an archive."""
    file, window = open_window(source)
    try:
        if not window.read_at(0, 1):
            raise SourceError(f"{source.path}: the file is empty")
        yield from Framer(
            members_of(window, source), _format_of(window, source), keep=keep, damaged=damaged, feed=feed
        )
    finally:
        file.close()


def members_of(window: Window, source: Source) -> Members:
    """The file's members by its first bytes, by its name where those are damaged."""
    start = window.read_at(0, 64).lstrip(b"\0")
    for codec in (GZIP, BZIP2):
        if start.startswith(codec.magic):
            return CompressedMembers(window, codec)
    name = source.name.lower()
    if name.endswith(".gz") and sniff_format(window.read_at(0, PIECE)) is None:
        return CompressedMembers(window, GZIP)
    return PlainMembers(window)


def _format_of(window: Window, source: Source) -> Format:
    """WARC or ARC, by the first member that can be decoded and looks like either."""
    members = members_of(window, source)
    tries = 0
    while True:
        try:
            if not members.begin():
                break
            start = b""
            while len(start) < PIECE and (piece := members.more()):
                start += piece
                if (format := sniff_format(start)) is not None:
                    return format
            tries += 1
            if tries == 100:
                break
        except Broken:
            if not members.resync(lambda piece: sniff_format(piece) is not None):
                break
    if source.name.lower().removesuffix(".gz").endswith((".warc", ".wet", ".wat")):
        return WARC
    raise SourceError(f"{source.path}: not a WARC or ARC file, also not a compressed one")
