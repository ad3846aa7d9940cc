"""A slow and obvious reader of sound archives, to hold ours against. It knows no damage: it raises."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zipfile
from dataclasses import dataclass

import zstandard


class Unsound(Exception):
    """What the reference reader can't read; `found` is what it read before."""

    def __init__(self, found: list[Block]) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True)
class Block:
    """One record: its type (WARC) or its URL's scheme (ARC), and its block."""

    kind: str
    block: bytes


def files(data: bytes) -> list[bytes]:
    """The decompressed archives in a file: one, or those of a WACZ."""
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside = []
            for name in sorted(archive.namelist()):
                if re.search(r"\.(warc|arc)(\.gz)?$|\.wacz$", name):
                    inside += files(archive.read(name))
            return inside
    if data[:3] == b"\x1f\x8b\x08":
        return [gzip.decompress(data)]
    if data[:3] == b"BZh":
        return [bz2.decompress(data)]
    if data[1:4] == b"\x2a\x4d\x18" or data[:4] == b"\x28\xb5\x2f\xfd":
        return [_zstd(data)]
    if data[:4] == b"\x04\x22\x4d\x18":
        lz4 = __import__("lz4.frame").frame
        parts = []
        while data:
            part, used = lz4.decompress(data, return_bytes_read=True)
            parts.append(part)
            data = data[used:]
        return [b"".join(parts)]
    return [data]


def _zstd(data: bytes) -> bytes:
    dictionary = None
    if data[:4] == b"\x5d\x2a\x4d\x18":
        size = int.from_bytes(data[4:8], "little")
        content, data = data[8 : 8 + size], data[8 + size :]
        if content[:4] == b"\x28\xb5\x2f\xfd":
            content = zstandard.ZstdDecompressor().stream_reader(content).read()
        dictionary = zstandard.ZstdCompressionDict(content)
    decompressor = zstandard.ZstdDecompressor(dict_data=dictionary)
    return decompressor.stream_reader(data, read_across_frames=True).read()


def records(data: bytes) -> list[Block]:
    """All records of a decompressed archive. Raises Unsound at the first thing that isn't one."""
    found: list[Block] = []
    arc = not re.match(rb"\s*warc/", data, re.IGNORECASE)
    at = 0
    while True:
        at += len(re.match(rb"[\r\n]*", data[at:])[0])
        if at == len(data):
            return found
        if arc:
            head = re.match(rb"[a-z]+:[^\n]* (\d+)[ \t]*\r?\n", data[at:], re.IGNORECASE)
        else:
            head = re.match(rb"warc/[\d.]+[^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n", data[at:], re.IGNORECASE)
        if head is None:
            raise Unsound(found)
        if arc:
            length, kind = head[1], head[0].partition(b":")[0]
        else:
            unfolded = re.sub(rb"\r?\n[ \t]+", b" ", head[0])
            match = re.search(rb"\ncontent-length[ \t]*:[ \t]*(\d+)[ \t]*\r?\n", unfolded, re.IGNORECASE)
            named = re.search(rb"\nwarc-type[ \t]*:[ \t]*([^\r\n]*)", unfolded, re.IGNORECASE)
            if match is None:
                raise Unsound(found)
            length, kind = match[1], named[1].strip() if named else b""
        start = at + head.end()
        at = start + int(length)
        if at > len(data):
            raise Unsound(found)
        follows = data[at : at + 16]
        if follows and not re.match(rb"\r?\n\r?\n" if not arc else rb"\r?\n", follows):
            rest = data[at:].lstrip(b"\r\n")
            if rest and not re.match(
                rb"[a-z]+:\S*[^\n]* \d+ \S+ \d+\r?\n" if arc else rb"warc/", rest, re.IGNORECASE
            ):
                raise Unsound(found)
        found.append(Block(kind.decode("latin-1").lower(), data[start:at]))
