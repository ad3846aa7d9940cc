"""Content codings: gzip, deflate, br, zstd, tried and not trusted, with a limit on what they expand to.

Each function returns the decoded body, as far as it goes when the coded one is cut, or None when the body
isn't coded that way at all. PageTooLarge is raised as soon as the output passes the limit, so a bomb costs no
more than the limit in memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import brotli
from isal import isal_zlib

from ccrawl.archives.codecs import ISAL_ZLIB_ERROR, zstd
from ccrawl.errors import PageError, PageTooLarge

STEP = 1 << 16
MAX_CODINGS = 4
GZIP_MAGIC = b"\x1f\x8b\x08"
# What servers write where nothing is coded.
_NO_CODING = frozenset(
    [
        b"",
        b"identity",
        b"none",
        b"utf-8",
        b"utf8",
        b"binary",
        b"8bit",
        b"7bit",
        b"chunked",
        b"text",
        b"raw",
        b"plain",
    ]
)


class UnsupportedCoding(PageError):
    """A payload in a content coding that can't be removed."""

    cause = "unsupported-coding"


def decode_body(body: bytes, codings: bytes, limit: int) -> bytes:
    """Remove the codings that a Content-Encoding header lists from `body`.

    A coding that isn't there is passed over. Gzip that no header tells of is removed too. Raises PageTooLarge
    above `limit` bytes and UnsupportedCoding for a binary body in an unknown coding.
    """
    names = [name.strip(b" \t\"'") for name in codings.lower().split(b",")] if codings else []
    names = [name for name in names if name not in _NO_CODING]
    if len(names) > MAX_CODINGS:
        raise UnsupportedCoding(
            f"{len(names)} content codings on one payload, at most {MAX_CODINGS} are removed"
        )
    for name in reversed(names):
        decoder = _DECODERS.get(name.removeprefix(b"x-"))
        if decoder is not None:
            decoded = decoder(body, limit)
            if decoded is not None:
                body = decoded
        elif b"\0" in body[:1024] or not _mostly_text(body[:1024]):
            raise UnsupportedCoding(f"unknown content coding {name[:40].decode('latin-1')!r}")
    if body.startswith(GZIP_MAGIC):
        decoded = _gunzip(body, limit)
        body = body if decoded is None else decoded
    if len(body) > limit:
        raise PageTooLarge(f"the payload has more than {limit} bytes")
    return body


def _mostly_text(start: bytes) -> bool:
    controls = sum(1 for byte in start if byte < 32 and byte not in (9, 10, 12, 13, 27))
    return controls * 50 <= len(start)


def _inflated(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes, bool]:
    """(what `body` decodes to, what stands after it, whether its end was reached)."""
    parts: list[bytes] = []
    size = 0
    decoder: Any = isal_zlib.decompressobj(wbits)
    try:
        rest = body
        while rest and not decoder.eof:
            decoded = decoder.decompress(rest, STEP * 16)
            rest = decoder.unconsumed_tail
            parts.append(decoded)
            size += len(decoded)
            if size > limit:
                raise PageTooLarge(f"the payload decodes to more than {limit} bytes")
        return b"".join(parts), decoder.unused_data, decoder.eof
    except ISAL_ZLIB_ERROR:
        return _inflated_before_damage(body, wbits, limit)


def _inflated_before_damage(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes, bool]:
    """The same for a damaged body: the part before the damage, in small steps, since an error returns
    nothing."""
    parts: list[bytes] = []
    size = 0
    decoder = zlib.decompressobj(wbits)
    try:
        for at in range(0, len(body), 32):
            decoded = decoder.decompress(body[at : at + 32])
            parts.append(decoded)
            size += len(decoded)
            if size > limit:
                raise PageTooLarge(f"the payload decodes to more than {limit} bytes")
    except zlib.error:
        pass  # the damage itself; what came before is the result
    return b"".join(parts), b"", False


def _gunzip(body: bytes, limit: int) -> bytes | None:
    if not body.startswith(GZIP_MAGIC):
        return None
    parts: list[bytes] = []
    left = limit
    while body.startswith(GZIP_MAGIC):
        decoded, body, ended = _inflated(body, 31, left)
        parts.append(decoded)
        left -= len(decoded)
        if not ended:
            break
    return b"".join(parts) or (None if not ended else b"")


def _inflate(body: bytes, limit: int) -> bytes | None:
    """deflate: zlib as RFC 9110 has it, or the raw stream that some servers send."""
    if body.startswith(GZIP_MAGIC):
        return _gunzip(body, limit)
    for wbits in (15, -15):
        decoded, _, ended = _inflated(body, wbits, limit)
        # Plain text read as a raw stream may decode to a few bytes before it fails.
        if ended or len(decoded) > max(64, len(body) // 2):
            return decoded
    return None


def _unbrotli(body: bytes, limit: int) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    decoder = brotli.Decompressor()
    try:
        piece = decoder.process(body, output_buffer_limit=STEP * 16)
        while True:
            parts.append(piece)
            size += len(piece)
            if size > limit:
                raise PageTooLarge(f"the payload decodes to more than {limit} bytes")
            if decoder.is_finished() or (not piece and decoder.can_accept_more_data()):
                break
            piece = decoder.process(b"", output_buffer_limit=STEP * 16)
    except brotli.error:
        return b"".join(parts) if size > len(body) else None
    decoded = b"".join(parts)
    return decoded if decoder.is_finished() or (decoded and _mostly_text(decoded[:1024])) else None


def _unzstd(body: bytes, limit: int) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    while body.startswith(b"\x28\xb5\x2f\xfd"):
        decoder = zstd.ZstdDecompressor()
        try:
            while not decoder.eof:
                piece = decoder.decompress(body, STEP * 16)
                body = b""
                if not piece and decoder.needs_input:
                    return b"".join(parts) or None
                parts.append(piece)
                size += len(piece)
                if size > limit:
                    raise PageTooLarge(f"the payload decodes to more than {limit} bytes")
        except zstd.ZstdError:
            return b"".join(parts) or None
        body = decoder.unused_data
    return b"".join(parts) if parts else None


_DECODERS: dict[bytes, Callable[[bytes, int], bytes | None]] = {
    b"gzip": _gunzip,
    b"deflate": _inflate,
    b"br": _unbrotli,
    b"zstd": _unzstd,
}
