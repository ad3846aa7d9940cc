"""Heads of records: WARC (0.17 to 1.1, CRLF or bare LF) and ARC (1.0 and 1.1).

A `Format` knows where a head starts, how to parse it and how to find the next one in bytes that are damaged.
Sources: ISO 28500 (WARC 1.0), the IIPC's WARC 1.1 specification, the Internet Archive's ARC file format.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

# A head longer than this is damage. The longest real ones hold a URL or a JSON field of some 10 KiB.
MAX_HEAD = 256 << 10
MAX_ARC_LINE = 16 << 10


class Head:
    """A record's head.

    format, version: "warc" or "arc" and what it says of itself
    type: in lower case; length: of the block, in bytes
    fields: values by lower-case name, read when they are first asked for: most records are only passed over
    """

    __slots__ = ("_fields", "_raw", "_read", "format", "length", "type", "version")

    def __init__(
        self,
        format: str,
        version: str,
        type: str,
        length: int,
        raw: bytes,
        read: Callable[[bytes], dict[bytes, bytes]],
    ) -> None:
        self.format = format
        self.version = version
        self.type = type
        self.length = length
        self._raw = raw
        self._read = read
        self._fields: dict[bytes, bytes] | None = None

    @property
    def fields(self) -> dict[bytes, bytes]:
        if self._fields is None:
            self._fields = self._read(self._raw)
        return self._fields


class BadHead(Exception):
    """A head that can't be used. `cause` is the damage it is counted as."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


def _plain_value(head: bytes, start: bytes) -> bytes:
    """The value of a field that is written exactly as `start`, in one line, b"" otherwise."""
    at = head.find(start)
    if at < 0:
        return b""
    at += len(start)
    end = head.find(b"\n", at)
    return b"" if head[end + 1 : end + 2] in (b" ", b"\t") else head[at:end].strip()


class Format(Protocol):
    """How one archive format writes heads."""

    name: str
    peek: int  # bytes needed to tell whether a head starts there
    max_head: int
    newlines: int  # line ends that stand between a block and the next head

    def starts(self, buffer: bytes, at: int) -> bool: ...
    def head_end(self, buffer: bytes, at: int) -> int: ...
    def parse(self, head: bytes) -> Head: ...
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

    def head_end(self, buffer: bytes, at: int) -> int:
        """Index of the block's first byte, -1 while the empty line isn't in the buffer."""
        crlf = buffer.find(b"\n\r\n", at, at + MAX_HEAD)
        bare = buffer.find(b"\n\n", at, crlf + 1 if crlf >= 0 else at + MAX_HEAD)
        if bare >= 0:
            return bare + 2
        return crlf + 3 if crlf >= 0 else -1

    def parse(self, head: bytes) -> Head:
        """Raises BadHead without a readable Content-Length."""
        length, kind = _plain_value(head, b"\nContent-Length: "), _plain_value(head, b"\nWARC-Type: ")
        if not length or not kind:  # another spelling than nearly all writers', or none
            fields = self._fields(head)
            length, kind = fields.get(b"content-length", b""), fields.get(b"warc-type", b"")
        if not length.isdigit() or len(length) > 18:
            raise BadHead("bad-length" if length else "no-length")
        version = head[5 : head.find(b"\n")].strip().decode("latin-1")
        return Head("warc", version, kind.decode("latin-1").lower(), int(length), head, self._fields)

    @staticmethod
    def _fields(head: bytes) -> dict[bytes, bytes]:
        fields: dict[bytes, bytes] = {}
        name = b""
        for line in head.split(b"\n")[1:]:
            if line[:1] in (b" ", b"\t"):
                if name and (more := line.strip()):  # a folded line continues the field before it
                    fields[name] = (fields[name] + b" " + more).strip()
                continue
            name, colon, value = line.partition(b":")
            name = name.strip().lower()
            if not colon or name in fields:  # the first of several stands
                name = b""
                continue
            fields[name] = value.strip()
        return fields

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

    def head_end(self, buffer: bytes, at: int) -> int:
        return buffer.find(b"\n", at, at + MAX_ARC_LINE) + 1 or -1

    def parse(self, head: bytes) -> Head:
        match = self._match(head, 0, len(head) - 1)
        if match is None:
            raise BadHead("bad-head")
        mime = match["rest"]
        if second := _ARC_SECOND.match(mime):
            mime = second["mime"]
        fields = {
            b"warc-target-uri": match["url"],
            b"warc-ip-address": match["ip"],
            b"warc-date": match["date"],
            b"content-type": mime,
        }
        kind = "filedesc" if match["url"].startswith(b"filedesc:") else "response"
        return Head("arc", "1.1" if second else "1.0", kind, int(match["length"]), head, lambda _: fields)

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
