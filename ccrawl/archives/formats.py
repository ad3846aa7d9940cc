"""Heads of records: WARC (0.17 to 1.1, CRLF or bare LF) and ARC (1.0 and 1.1).

A `Format` knows where a head starts, how to parse it and how to find the next one in bytes that are damaged.
Sources: ISO 28500 (WARC 1.0), the IIPC's WARC 1.1 specification, the Internet Archive's ARC file format.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import c_int64
from typing import Protocol

from ccrawl.archives.fields import unfolded
from ccrawl.native import library

# A head longer than this is damage. The longest real ones hold a URL or a JSON field of some 10 KiB.
MAX_HEAD = 256 << 10
MAX_ARC_LINE = 16 << 10


class Head(Protocol):
    """A record's head.

    format: "warc" or "arc"
    type: in lower case; length: of the block, in bytes
    """

    format: str
    type: str
    length: int

    def value(self, name: bytes) -> bytes:
        """The value of a field, by its lower-case name; b"" where there is none."""
        ...


# The fields of WARC that anybody asks for, each with its place in Spans.
_WARC_FIELDS = {name: 2 * number for number, name in enumerate(library.ccrawl_warc_fields().split())}
_Spans = c_int64 * (2 * len(_WARC_FIELDS))
_LENGTH, _TYPE = b"content-length", b"warc-type"
# Written so by nearly all; any other spelling is put in lower case.
_TYPES = {
    kind.encode(): kind for kind in ("response", "request", "metadata", "conversion", "revisit", "resource")
}


class WarcHead:
    """A head whose values are taken out when they are asked for: most records are only passed over.

    KeyError for a field that the native part does not know. BadHead without a readable Content-Length.
    """

    __slots__ = ("_raw", "_spans", "length", "type")
    format = "warc"

    def __init__(self, raw: bytes, spans: ctypes.Array[c_int64]) -> None:
        self._raw = raw
        self._spans = spans
        length = self.value(_LENGTH)
        if not length.isdigit() or len(length) > 18:
            raise BadHead("bad-length" if length else "no-length")
        self.length = int(length)
        kind = self.value(_TYPE)
        self.type = _TYPES.get(kind) or kind.decode("latin-1").lower()

    def value(self, name: bytes) -> bytes:
        """See Head."""
        at = _WARC_FIELDS[name]
        spans = self._spans
        return unfolded(self._raw[spans[at] : spans[at + 1]])


class ArcHead:
    """A head of one line."""

    __slots__ = ("_values", "length", "type")
    format = "arc"

    def __init__(self, type: str, length: int, values: dict[bytes, bytes]) -> None:
        self.type = type
        self.length = length
        self._values = values

    def value(self, name: bytes) -> bytes:
        """See Head."""
        return self._values.get(name, b"")


class BadHead(Exception):
    """A head that can't be used. `cause` is the damage it is counted as."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Format(Protocol):
    """How one archive format writes heads."""

    name: str
    peek: int  # bytes needed to tell whether a head starts there
    max_head: int
    newlines: int  # line ends that stand between a block and the next head

    def starts(self, buffer: bytes, at: int) -> bool: ...
    def read(self, buffer: bytes, at: int) -> tuple[Head, int] | None: ...
    def find(self, buffer: bytes, at: int) -> int: ...
    def tail(self, buffer: bytes) -> int: ...


class Warc:
    """WARC: a version line, named fields, an empty line."""

    name = "warc"
    peek = 5
    max_head = MAX_HEAD
    newlines = 2
    _HEAD = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n[A-Za-z]", re.IGNORECASE)

    def starts(self, buffer: bytes, at: int) -> bool:
        return buffer.startswith(b"WARC/", at) or buffer[at : at + 5].upper() == b"WARC/"

    def read(self, buffer: bytes, at: int) -> tuple[Head, int] | None:
        """The head that starts at `at` and the index of its block; None while the empty line isn't there.

        Raises BadHead where no head starts, or without a readable Content-Length.
        """
        spans = _Spans()
        block = library.ccrawl_warc_head(buffer, len(buffer), at, MAX_HEAD, spans)
        if block < 0:
            return None
        if not self.starts(buffer, at):
            raise BadHead("garbage")
        return WarcHead(buffer[at:block], spans), block

    def find(self, buffer: bytes, at: int) -> int:
        """Index of the next head at or after `at`, -1 where there is none in the buffer."""
        match = self._HEAD.search(buffer, at)
        return match.start() if match else -1

    def tail(self, buffer: bytes) -> int:
        """Index from which a head may start that the buffer's end cuts off."""
        return len(buffer) - 32


# An ARC head is one line: URL IP-address date MIME-type [status checksum location offset filename] length.
# URLs hold spaces in real files, so the line is read from the address and the date.
_ARC_LINE = re.compile(
    rb"(?P<url>[a-zA-Z][a-zA-Z0-9+.-]*:\S.*?) (?P<ip>\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*|-)"
    rb" (?P<date>\d{8,20}) (?P<rest>.*?) ?(?P<length>\d{1,18})[ \t]*\r?\n"
)
_SCHEMES = rb"(?:https?|ftp|gopher|news|dns|whois|mailto|filedesc|metadata):"
_ARC_SCHEME = re.compile(_SCHEMES)
_ARC_CANDIDATE = re.compile(rb"(?:^|(?<=\n))[a-zA-Z][a-zA-Z0-9+.-]*:|" + _SCHEMES)
# The file's own first record is told by its scheme, whatever its other fields are.
_ARC_FILEDESC = re.compile(
    rb"(?P<url>filedesc:\S*) (?P<ip>\S+) (?P<date>\S+) (?P<rest>.*?) ?(?P<length>\d{1,18})[ \t]*\r?\n"
)
_ARC_SECOND = re.compile(
    rb"(?P<mime>.*?) (?P<status>\d{3}|-) (?P<sum>\S+) (?P<location>\S+) (?P<offset>\d+) \S+$"
)


class Arc:
    """ARC: one line a head; the file starts with a `filedesc:` record."""

    name = "arc"
    peek = MAX_ARC_LINE
    max_head = MAX_ARC_LINE
    newlines = 1

    def starts(self, buffer: bytes, at: int) -> bool:
        # Without a line end before it only a scheme that exists is a head: where a length is wrong by a byte,
        # what is left of "http:" would look like one.
        if at and buffer[at - 1] != 10 and not _ARC_SCHEME.match(buffer, at):
            return False
        end = buffer.find(b"\n", at, at + MAX_ARC_LINE)
        return end >= 0 and self._match(buffer, at, end) is not None

    def _match(self, buffer: bytes, at: int, end: int) -> re.Match[bytes] | None:
        if not buffer[max(at, end - 3) : end].strip()[-1:].isdigit():
            return None
        if buffer.startswith(b"filedesc:", at):
            return _ARC_FILEDESC.match(buffer, at, end + 1)
        return _ARC_LINE.match(buffer, at, end + 1)

    def read(self, buffer: bytes, at: int) -> tuple[Head, int] | None:
        """The head that starts at `at` and the index of its block; None while its line isn't whole.

        Raises BadHead where no head starts, or for a line that is none.
        """
        block = buffer.find(b"\n", at, at + MAX_ARC_LINE) + 1
        if not block:
            return None
        if not self.starts(buffer, at):
            raise BadHead("garbage")
        head = buffer[at:block]
        match = self._match(head, 0, len(head) - 1)
        if match is None:
            raise BadHead("bad-head")
        mime = match["rest"]
        if second := _ARC_SECOND.match(mime):
            mime = second["mime"]
        values = {
            b"warc-target-uri": match["url"],
            b"warc-date": match["date"],
            b"content-type": mime,
        }
        kind = "filedesc" if match["url"].startswith(b"filedesc:") else "response"
        return ArcHead(kind, int(match["length"]), values), block

    def find(self, buffer: bytes, at: int) -> int:
        for candidate in _ARC_CANDIDATE.finditer(buffer, at):
            start = candidate.start()
            end = buffer.find(b"\n", start, start + MAX_ARC_LINE)
            if end >= 0 and self._match(buffer, start, end):
                return start
        return -1

    def tail(self, buffer: bytes) -> int:
        """Index from which a head may start that the buffer's end cuts off."""
        return max(buffer.rfind(b"\n") + 1, len(buffer) - MAX_ARC_LINE)


WARC = Warc()
ARC = Arc()
