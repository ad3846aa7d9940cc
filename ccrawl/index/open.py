"""From what a user writes after --dedup-index to an open index."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from ccrawl.errors import UsageError
from ccrawl.extras import install_command
from ccrawl.index.types import DedupIndex


def open_index(location: str, *, create: bool = True) -> DedupIndex:
    """Open the index at a path, a `file:` URL, or a `redis://` or `rediss://` URL.

    Raises UsageError for a location that names no store (or, without `create`, a folder that isn't there),
    IndexFailure when the store can't be reached or is something else.
    """
    if is_server(location):
        try:
            from ccrawl.index.redis_store import RedisIndex
        except ImportError as error:
            raise missing("an index on a server", "redis") from error
        return RedisIndex(location)
    path = local_path(location)
    if not create and not path.exists():
        raise UsageError(f"{path}: no dedupe index is there")
    try:
        from ccrawl.index.embedded import EmbeddedIndex
    except ImportError as error:
        raise missing("an index in a folder", "index") from error
    return EmbeddedIndex(path, create=create)


def is_server(location: str) -> bool:
    """Whether a location names a server, which many machines can use at once, and not a folder."""
    return location.lower().startswith(("redis:", "rediss:"))


def missing(what: str, extra: str) -> UsageError:
    """The error for a part whose packages are not installed."""
    return UsageError(f"{what} needs a package that is not installed: {install_command(extra)}")


def local_path(location: str) -> Path:
    """The folder that a path or `file:` URL names."""
    if location.lower().startswith("file:"):
        parts = urlsplit(location)
        if parts.netloc not in ("", "localhost"):
            raise UsageError(
                f"{location}: a file: URL names a folder of this machine, as in file:///data/index"
            )
        return Path(unquote(parts.path))
    if "://" in location:
        raise UsageError(f"{location}: an index is a folder, a file: URL, redis:// or rediss://")
    return Path(location)
