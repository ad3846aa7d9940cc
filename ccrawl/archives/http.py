"""HTTP responses as archives hold them: the head, and a body whose codings are tried and not trusted.

Heads in archives are broken in many ways (RFC 9112 is what they should be): names with blanks before the
colon, folded and colonless lines, Latin-1, an interim 100 response before the real one. Crawlers remove
chunking or compression and leave the header, or keep the coding and lose it.
"""

from __future__ import annotations

import re
from ctypes import c_int64
from dataclasses import dataclass

from ccrawl.archives.fields import unfolded
from ccrawl.native import library

MAX_HEAD = 1 << 20
# The headers that say how to read the body; the others are passed over.
_FIELDS = library.ccrawl_http_fields().split()
_FOUND = 16  # of them, that there is room for at first
_Found = c_int64 * (3 * _FOUND)
_Message = c_int64 * 2
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """status: None when the status line can't be read. fields: those that say how to read the body, by
    lower-case name. end: where the body begins, counted from where parsing did."""

    status: int | None
    fields: dict[bytes, list[bytes]]
    end: int

    def last(self, name: bytes) -> bytes:
        """The last value that isn't empty of the header, b"" when there is none."""
        for value in reversed(self.fields.get(name, ())):
            if value:
                return value
        return b""


def parse_head(buffer: bytes, start: int, end: int) -> ResponseHead | None:
    """The head of the final HTTP response in buffer[start:end], None when there is no HTTP head."""
    begun = start
    while True:
        head = _one_head(buffer, start, end)
        if head is None:
            return None
        status, fields, body = head
        if status is None or not 100 <= status < 200 or not buffer.startswith(b"HTTP", body):
            return ResponseHead(status, fields, body - begun)
        start = body


def _one_head(buffer: bytes, start: int, end: int) -> tuple[int | None, dict[bytes, list[bytes]], int] | None:
    if not buffer.startswith(b"HTTP", start):
        beginning = buffer[start : start + 64]
        if not beginning.startswith((b"\r\n", b"\n\n")) or not beginning.lstrip().startswith(b"HTTP/"):
            return None
        start += len(beginning) - len(beginning.lstrip())
    message, found = _Message(), _Found()
    count = library.ccrawl_http_head(buffer, start, end, MAX_HEAD, message, found, _FOUND)
    if count > _FOUND:
        found = (c_int64 * (3 * count))()
        library.ccrawl_http_head(buffer, start, end, MAX_HEAD, message, found, count)
    fields: dict[bytes, list[bytes]] = {}
    for at in range(0, 3 * count, 3):
        name, value, value_end = found[at : at + 3]
        fields.setdefault(_FIELDS[name], []).append(unfolded(buffer[value:value_end]))
    status, body = message
    return status if status >= 0 else None, fields, body


def content_type_of(values: list[bytes]) -> str | None:
    """The Content-Type that holds of several: the last readable one (Fetch, "extract a MIME type").

    The charset of an earlier one of its type stands when it names none. Outer quotes are taken off.
    """
    held = ""
    for raw in values:
        value = raw.decode("latin-1").strip(" \t\"'")
        if "/" not in value:
            continue
        if "charset" not in value.lower() and "charset" in held.lower() and _essence(value) == _essence(held):
            continue
        held = value
    return held or None


def _essence(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def dechunk(body: bytes) -> bytes | None:
    """The body without chunked framing; None when it isn't framed so.

    Each chunk has to be followed by its line end. A body that ends before its last chunk is taken as far as
    it goes, when at least one chunk was whole or the first one is cut by the end of the body.
    """
    parts: list[bytes] = []
    at = 0
    size_of_body = len(body)
    while at < size_of_body:
        match = _CHUNK.match(body, at)
        if match is None:
            return None if not parts or at + 20 < size_of_body else b"".join(parts)
        size = int(match[1], 16)
        at = match.end()
        if size == 0:
            return b"".join(parts)
        end = at + size
        if end > size_of_body:
            # Cut: one chunk that claims more than there is proves nothing, the ones before it do.
            return b"".join([*parts, body[at:]]) if parts else None
        parts.append(body[at:end])
        if body.startswith(b"\r\n", end):
            at = end + 2
        elif body.startswith(b"\n", end):
            at = end + 1
        elif end == size_of_body:
            break
        else:
            return None
    return b"".join(parts) if parts else None
