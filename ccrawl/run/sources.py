"""Telling whether a source can be a shard, and is still the one that a shard was made from."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

import xxhash

from ccrawl.archives import Source
from ccrawl.errors import UsageError

_SAMPLE = 64 << 10


def refuse_streams(sources: Iterable[Source]) -> None:
    """Raise UsageError for a pipe or a device: a shard may be read twice, and by another process."""
    for source in sources:
        try:
            kind = Path(source.path).stat().st_mode
        except (OSError, ValueError):
            continue  # a URL, or a file that is gone: said of this shard alone, when it is read
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise UsageError(
                f"{source.path}: a pipe or a device, which can't be read again after a failure; "
                "write its bytes into a file first"
            )


def fingerprint(source: Source) -> str:
    """Size and a hash of three samples (start, middle, end) for a local file; the size for others, as text.

    Cheap enough for 100,000 shards at each start, and independent of where and when the file was copied.
    A change of the same length between the samples goes unseen; `ccrawl verify --source` reads everything.
    """
    path = Path(source.path)
    hasher = xxhash.xxh3_64()
    try:
        if path.is_file():
            size = path.stat().st_size
            with path.open("rb") as file:
                for start in sorted({0, max(0, size // 2 - _SAMPLE // 2), max(0, size - _SAMPLE)}):
                    file.seek(start)
                    hasher.update(file.read(_SAMPLE))
            return f"size:{size} xxh3:{hasher.hexdigest()}"
    except OSError:
        pass  # no permission, or gone by now: said of this shard alone, when it is read
    return f"size:{source.size}" if source.size is not None else "unknown"
