"""Lines of CDX indexes: CDXJ as pywb, Common Crawl, cdxj-indexer and Browsertrix write it, and the older CDX
with columns, told by its header or by the number of columns.

    com,example)/ 20250101000000 {"url": ..., "mime": ..., "status": ..., "digest": ..., "length": ...}
     CDX N b a m s k r M S V g

A line that can't be read is counted and passed over; nothing on a line raises. This is the hot path of an
import: a line costs little more than its JSON (benchmarks/index.py).
"""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any

from isal import igzip, igzip_lib

from ccrawl.archives import Digest, parse_digest
from ccrawl.errors import SourceError
from ccrawl.index.collect import REVISIT, Collector
from ccrawl.index.types import ALGORITHMS, Key

# The longest lines of real indexes are some 10 KB, for URLs and POST bodies.
MAX_LINE = 1 << 20
# The JSON value at an index of a text. json.loads would look at the blanks around it twice (1 us a line).
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_SHA1_BASE32 = re.compile(r"[A-Z2-7]{32}\Z")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+\Z")
_BY_HEX_LENGTH = {32: "md5", 40: "sha1", 64: "sha256", 96: "sha384", 128: "sha512"}
_SHA256 = bytes([ALGORITHMS["sha256"]])
# Columns by their number where no header tells (the two that the Wayback machine writes).
_COLUMNS = {11: "N b a m s k r M S V g", 9: "N b a m s k r V g"}


def read_cdx(lines: Iterable[bytes], collector: Collector) -> None:
    """Give the captures and revisits of CDX or CDXJ lines to `collector`."""
    skipped = collector.skipped
    policy = collector.policy
    wanted = None if policy.statuses is None else {str(status) for status in policy.statuses} | {"", "-"}
    algorithm = None if collector.algorithm is None else ALGORITHMS[collector.algorithm]
    columns = None
    for line in lines:
        text = line.decode("utf-8", "replace")
        at = text.find(" {")
        if at >= 0:
            try:
                record, _ = _scan(text, at + 1)
                url = record["url"]
                digest = record.get("digest") or ""
                media_type = record.get("mime") or ""
                status = record.get("status") or ""
                size = int(record.get("length") or 0)
            except (ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError):
                skipped["malformed"] += 1
                continue
            if type(url) is not str or type(digest) is not str or type(media_type) is not str:
                skipped["malformed"] += 1
                continue
            if type(status) is not str:
                status = str(status)
            date = text[text.rfind(" ", 0, at) + 1 : at]
        else:
            if text.startswith((" CDX ", "CDX N")):
                columns = text.split()[1:]
                continue
            fields = _fields(text, columns)
            if fields is None:
                if text.strip():
                    skipped["malformed"] += 1
                continue
            url, date, digest = fields.get("a", ""), fields.get("b", ""), fields.get("k", "")
            status, media_type = fields.get("s", ""), fields.get("m", "")
            length = fields.get("S", "0")
            size = int(length) if length.isdecimal() and len(length) < 18 else 0
        if (wanted is not None and status not in wanted) or policy.media_types is not None:
            cause = policy.cause(status, media_type)
            if cause:
                skipped[cause] += 1
                continue
        if url.startswith(("urn:", "dns:")):
            skipped["not-http"] += 1
            continue
        key = key_of_text(digest)
        if key is None:
            skipped["no-digest"] += 1
        elif algorithm is not None and key[0] != algorithm:
            skipped["other-digest"] += 1
        elif media_type == REVISIT:
            collector.revisit(key, size if size > 0 else 1)
        else:
            dated = len(date) in (14, 17) and date.isdecimal() and date.isascii() and date[0] != "0"
            collector.entry(key, date if dated else "", url, size if size > 0 else 1)


def _fields(text: str, columns: list[str] | None) -> dict[str, str] | None:
    values = text.split()
    if columns is None:
        names = _COLUMNS.get(len(values))
        return dict(zip(names.split(), values, strict=True)) if names else None
    return dict(zip(columns, values, strict=True)) if len(values) == len(columns) else None


def key_of_text(text: str) -> Key | None:
    """The key of a digest as indexes write it: with the algorithm's name, or bare; None when it is neither.

    Bare: 64 hex digits are SHA-256 (Browsertrix), 32 Base32 characters SHA-1 (Common Crawl, pywb). Hex of
    other lengths is the algorithm of that length.
    """
    if len(text) == 64 and text.isalnum():
        try:
            return _SHA256 + bytes.fromhex(text)
        except ValueError:
            return None
    digest: Digest | None
    if ":" in text:
        digest = parse_digest(text)
    elif _SHA1_BASE32.match(text):
        digest = parse_digest("sha1:" + text)
    elif _HEX.match(text) and len(text) in _BY_HEX_LENGTH:
        digest = parse_digest(f"{_BY_HEX_LENGTH[len(text)]}:{text}")
    else:
        digest = None
    return bytes([ALGORITHMS[digest.algorithm]]) + digest.value if digest else None


def lines_of(file: IO[bytes], name: str) -> Iterator[bytes]:
    """The lines of an index, compressed (one gzip member or many) or not. A line above MAX_LINE comes in
    pieces, which can't be read and are counted. SourceError when the compression is damaged."""
    try:
        magic = file.read(1) + file.read(1)  # a pipe may give less than it is asked for
        stream: IO[bytes] = _Prefixed(magic, file)  # type: ignore[assignment]
        if magic == b"\x1f\x8b":
            stream = io.BufferedReader(_gzip(stream), 1 << 17)
        else:
            stream = io.BufferedReader(stream, 1 << 17)  # type: ignore[type-var]
        while line := stream.readline(MAX_LINE):
            yield line
    except (OSError, EOFError, zlib.error, igzip_lib.error) as error:  # type: ignore[misc]
        raise SourceError(f"{name}: the index is damaged or cut ({error})") from error


def _gzip(stream: IO[bytes]) -> Any:
    return igzip.IGzipFile(fileobj=stream, mode="rb")  # type: ignore[no-untyped-call]


class _Prefixed(io.RawIOBase):
    """A stream whose first bytes were read already: members of a ZIP can't always go back."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        super().__init__()
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self._start or self._rest.read(len(buffer))
        piece, self._start = piece[: len(buffer)], piece[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
