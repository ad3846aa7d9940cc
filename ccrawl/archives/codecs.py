"""Compressions that archives come in: gzip, zstd (with and without a dictionary frame), bzip2, lz4.

A codec is its magic number and a decoder with the interface that bz2, igzip, lz4 and zstd share:
decompress(data, max_length), eof, needs_input, unused_data. Sources: RFC 1952, RFC 8878, the IIPC's
"zstandard compression for WARC" (a dictionary in a skippable frame 0x184D2A5D at the start of the file).
"""

from __future__ import annotations

import bz2
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from isal import igzip_lib, isal_zlib

from ccrawl.archives.window import Window
from ccrawl.errors import SourceError
from ccrawl.extras import install_command

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

MAX_DICTIONARY = 16 << 20
_DICTIONARY_FRAME = b"\x5d\x2a\x4d\x18"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Decoder(Protocol):
    """An incremental decompressor of one member."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes | memoryview, max_length: int = -1) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Codec:
    """A compression: its name, the bytes each member starts with, how to make a decoder, what that raises."""

    name: str
    magic: bytes
    decoder: Callable[[], Decoder]
    errors: tuple[type[Exception], ...]

    def skippable(self, head: bytes) -> int:
        """Bytes of a frame without content that `head` starts, 0 for none (zstd and lz4 have such frames)."""
        if self.magic not in (ZSTD_MAGIC, LZ4_MAGIC) or len(head) < 8 or not is_skippable(head):
            return 0
        return 8 + int.from_bytes(head[4:8], "little")


def _gzip_decoder() -> Decoder:
    decoder: Decoder = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    return decoder


def _lz4_decoder() -> Decoder:
    try:
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise SourceError(f"LZ4 archives need the package lz4: {install_command('lz4')}") from error
    decoder: Decoder = LZ4FrameDecompressor()
    return decoder


# The stubs of isal call this an instance.
ISAL_ERROR = cast(type[Exception], igzip_lib.IsalError)
ISAL_ZLIB_ERROR = cast(type[Exception], isal_zlib.error)
LZ4_MAGIC = b"\x04\x22\x4d\x18"
GZIP = Codec("gzip", b"\x1f\x8b\x08", _gzip_decoder, (ISAL_ERROR, EOFError))
BZIP2 = Codec("bzip2", b"BZh", bz2.BZ2Decompressor, (OSError, EOFError))
LZ4 = Codec("lz4", LZ4_MAGIC, _lz4_decoder, (RuntimeError, EOFError))


def zstd_codec(window: Window) -> Codec:
    """The zstd codec of a file, with the dictionary that the file may start with."""
    dictionary = _dictionary(window)

    def decoder() -> Decoder:
        made: Any = zstd.ZstdDecompressor(zstd_dict=dictionary)
        return made  # type: ignore[no-any-return]

    return Codec("zstd", ZSTD_MAGIC, decoder, (zstd.ZstdError, EOFError))


def _dictionary(window: Window) -> Any:
    head = window.read_at(0, 8)
    if len(head) < 8 or not head.startswith(_DICTIONARY_FRAME):
        return None
    size = int.from_bytes(head[4:], "little")
    if size > MAX_DICTIONARY:
        raise SourceError(f"the zstd dictionary of {size} bytes is larger than {MAX_DICTIONARY}")
    content = b""
    while len(content) < size and (piece := window.read_at(8 + len(content), size - len(content))):
        content += piece
    try:
        if content.startswith(ZSTD_MAGIC):
            content = zstd.ZstdDecompressor().decompress(content, MAX_DICTIONARY)
        is_raw = not content.startswith(b"\x37\xa4\x30\xec")
        return zstd.ZstdDict(content, is_raw=is_raw) if content else None
    except (zstd.ZstdError, ValueError) as error:
        raise SourceError(f"the zstd dictionary at the start of the file is damaged: {error}") from error


def is_skippable(start: bytes) -> bool:
    """Whether a zstd or lz4 frame without content starts there (RFC 8878, section 3.1.2)."""
    return start[1:4] == b"\x2a\x4d\x18" and start[0] & 0xF0 == 0x50


def codec_of(start: bytes, window: Window) -> Codec | None:
    """The codec by the first bytes of a file, None for a plain one."""
    for codec in (GZIP, BZIP2, LZ4):
        if start.startswith(codec.magic):
            return codec
    if start.startswith(ZSTD_MAGIC) or (
        start[1:4] == b"\x2a\x4d\x18" and start[:1] and start[0] & 0xF0 == 0x50
    ):
        return zstd_codec(window)
    return None


def codec_named(name: str, window: Window) -> Codec | None:
    """The codec by the end of a file's name, None for a name that says nothing of compression."""
    suffix = name.lower().rpartition(".")[2]
    if suffix == "zst":
        return zstd_codec(window)
    return {"gz": GZIP, "bz2": BZIP2, "lz4": LZ4}.get(suffix)
