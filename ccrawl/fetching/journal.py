"""What a shard of a refetch has so far: a file that only grows, a record for each target that is done.

It is the queue between the fetch, the conversion and the writing of the shard: none of them waits for
another, and what waits stands on the disk, not in memory. And it is what a run that was killed goes on from:
records are framed and hashed, and what a crash cut off at the end is cut away when the file is opened.

    position    4 bytes   place of the target in its shard
    length      8 bytes   of the content
    hash        8 bytes   xxh3-64 of the content
    content
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from ccrawl.errors import OutputError
from ccrawl.fetching.types import Exchange, Fetched, Target

_FRAME = struct.Struct("<IQQ")
_LENGTH = struct.Struct("<I")
NOWHERE = -1


class Record(NamedTuple):
    """A record's place in the file: its content's first byte, and its length."""

    offset: int
    length: int


class Journal:
    """A journal open for writing; `in` says whether a target has a record. Raises OutputError."""

    def __init__(self, path: Path, targets: int) -> None:
        self.path = path
        self.size = 0
        self._synced = 0
        self._lock = threading.Lock()  # so that no file is closed while it is synced
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab+", buffering=0)
            self._offsets = np.full(targets, NOWHERE, np.int64)
            for position, record in _scan(self._file.fileno(), targets):
                self._offsets[position] = record.offset
                self.size = record.offset + record.length
            self._file.truncate(self.size)
        except OSError as error:
            raise self._failed(error) from error
        self.recovered = int((self._offsets != NOWHERE).sum())

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, position: int) -> bool:
        return bool(self._offsets[position] != NOWHERE)

    def offset(self, position: int) -> int:
        """Where the content of the target's record begins."""
        return int(self._offsets[position])

    def missing(self) -> Iterator[int]:
        """The targets without a record, as they stand now, in order."""
        return iter(np.flatnonzero(self._offsets == NOWHERE).tolist())

    def append(self, position: int, parts: Sequence[bytes]) -> Record:
        """Add a record; its content is `parts` end to end. Durable after `sync`."""
        content = b"".join(parts)
        try:
            frame = _FRAME.pack(position, len(content), xxh3_64_intdigest(content))
            left = memoryview(frame + content) if len(content) < 4096 else None
            for piece in (left,) if left is not None else (memoryview(frame), memoryview(content)):
                while piece:  # an unbuffered file may take less than it was given
                    piece = piece[self._file.write(piece) :]
        except OSError as error:
            raise self._failed(error) from error
        record = Record(self.size + _FRAME.size, len(content))
        self._offsets[position] = record.offset
        self.size = record.offset + record.length
        return record

    def sync(self) -> None:
        """Make what was appended before this call durable. May run in another thread."""
        with self._lock:
            size = self.size
            if size > self._synced and not self._file.closed:
                try:
                    os.fdatasync(self._file.fileno())
                except OSError as error:
                    raise self._failed(error) from error
                self._synced = size

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.path}: can't be written ({error.strerror or error}); "
            "free space or choose another --out, then run the same command again"
        )


def offsets_of(path: Path, targets: int) -> NDArray[np.int64]:
    """Where each target's record begins, NOWHERE for those without one. Nothing is checked but the frames."""
    offsets = np.full(targets, NOWHERE, np.int64)
    if path.exists():
        with path.open("rb", buffering=0) as file:
            for position, record in _scan(file.fileno(), targets, check=False):
                offsets[position] = record.offset
    return offsets


def read_record(descriptor: int, offset: int) -> bytes:
    """The content of the record whose content begins at `offset`."""
    _, length, _ = _FRAME.unpack(os.pread(descriptor, _FRAME.size, offset - _FRAME.size))
    return _pread(descriptor, length, offset)


def _scan(descriptor: int, targets: int, *, check: bool = True) -> Iterator[tuple[int, Record]]:
    """The records up to the first that is not whole."""
    offset, size = 0, os.fstat(descriptor).st_size
    while offset + _FRAME.size <= size:
        position, length, told = _FRAME.unpack(os.pread(descriptor, _FRAME.size, offset))
        offset += _FRAME.size
        if position >= targets or offset + length > size:
            return
        if check and xxh3_64_intdigest(_pread(descriptor, length, offset)) != told:
            return
        yield position, Record(offset, length)
        offset += length


def _pread(descriptor: int, length: int, offset: int) -> bytes:
    content = os.pread(descriptor, length, offset)
    while len(content) < length:  # a read of more than 2 GiB comes in parts
        more = os.pread(descriptor, length - len(content), offset + len(content))
        if not more:
            raise OSError("the journal is shorter than it says")
        content += more
    return content


def encode(fetched: Fetched, *, whole: bool) -> list[bytes]:
    """A fetch as a record: a line of JSON about it, then the bodies.

    `whole` keeps every exchange with its heads and body, as WARC files need them; without it the last one is
    kept, without heads, and with its body only where that has a content coding.
    """
    kept = fetched.exchanges if whole else fetched.exchanges[-1:]
    blobs = [fetched.body]
    exchanges = []
    for exchange in kept:
        own = exchange.body is not fetched.body and exchange.body != fetched.body
        exchanges.append(
            {
                "url": exchange.url,
                "started_at": exchange.started_at,
                "ip_address": exchange.ip_address,
                "request_head": exchange.request_head.decode("latin-1") if whole else "",
                "response_head": exchange.response_head.decode("latin-1") if whole else "",
                "status": exchange.status,
                "headers": exchange.headers,
                "complete": exchange.complete,
                "body": len(exchange.body) if own else None,  # None: it is that of the fetch
            }
        )
        if own:
            blobs.append(exchange.body)
    told = {
        "final_url": fetched.final_url,
        "ip_address": fetched.ip_address,
        "fetched_at": fetched.fetched_at,
        "duration_ms": fetched.duration_ms,
        "ttfb_ms": fetched.ttfb_ms,
        "error": fetched.error,
        "detail": fetched.detail,
        "body": len(fetched.body),
        "exchanges": exchanges,
    }
    line = json.dumps(told, separators=(",", ":")).encode()
    return [_LENGTH.pack(len(line)), line, *blobs]


def decode(content: bytes, target: Target) -> Fetched:
    """What `encode` kept of a fetch of `target`."""
    (length,) = _LENGTH.unpack_from(content)
    at = _LENGTH.size + length
    told: dict[str, Any] = json.loads(content[_LENGTH.size : at])
    body = content[at : at + told["body"]]
    at += len(body)
    exchanges = []
    for values in told.pop("exchanges"):
        own = values["body"]
        exchanges.append(
            Exchange(
                **{
                    **values,
                    "request_head": values["request_head"].encode("latin-1"),
                    "response_head": values["response_head"].encode("latin-1"),
                    "headers": tuple((name, value) for name, value in values["headers"]),
                    "body": body if own is None else content[at : at + own],
                }
            )
        )
        at += own or 0
    return Fetched(**{**told, "target": target, "exchanges": tuple(exchanges), "body": body})
