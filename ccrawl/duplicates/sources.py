"""Which Parquet files the given paths mean, and how to open one: local or remote, never for writing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from ccrawl.errors import SourceError, UsageError, reason

_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Source:
    """One Parquet file: `name` is what reports call it, `path` what its file system does."""

    name: str
    path: str
    filesystem: Any  # fsspec's type; None: a local file, read without fsspec in between

    def open(self) -> Any:
        """A seekable binary file that pyarrow can read. Raises SourceError when it can't be opened."""
        try:
            if self.filesystem is None:
                return pa.OSFile(self.path, "rb")
            # pyarrow asks for exactly the column chunks that it needs: a cache in between would read more.
            return self.filesystem.open(self.path, "rb", cache_type="none")
        except read_errors() as error:
            raise SourceError(f"{self.name}: can't be opened ({reason(error)})") from error


def read_errors() -> tuple[type[Exception], ...]:
    """What reading a source may raise that is about the source: by pyarrow, the system, the HTTP client."""
    errors: tuple[type[Exception], ...] = (pa.ArrowException, OSError, ValueError)
    client = sys.modules.get("aiohttp")  # there when something is read over HTTP
    return errors if client is None else (*errors, client.ClientError)


def find_sources(paths: Sequence[str | Path]) -> tuple[Source, ...]:
    """The Parquet files under files, directories (any depth, Hive layouts), globs and URLs, each once, by
    name.

    The order in which paths are given does not matter: files are numbered in the order of their names. Names
    that start with a dot or an underscore are left out inside directories, as other readers do. Raises
    SourceError when a path leads to nothing.
    """
    if not paths:
        raise UsageError("give at least one Parquet file, directory, glob or URL")
    found = {source.name: source for path in paths for source in _expand(str(path))}
    return tuple(found[name] for name in sorted(found))


def _expand(path: str) -> Iterable[Source]:
    if "://" in path and not path.startswith("file://"):
        return _expand_remote(path)
    return _expand_local(path.removeprefix("file://"))


def _expand_local(path: str) -> list[Source]:
    target = Path(path)
    if target.is_file():
        files = [target]
    elif target.is_dir():
        files = [file for file in target.rglob("*.parquet") if _visible(str(file.relative_to(target)))]
    elif _GLOB & set(path):
        matches = [Path(match) for match in glob(path, recursive=True)]  # noqa: PTH207
        files = [
            file for match in matches for file in (match.rglob("*.parquet") if match.is_dir() else [match])
        ]
    else:
        raise SourceError(f"{path}: no such file or directory")
    if not files:
        raise SourceError(f"{path}: no .parquet file there")
    return [Source(str(file), str(file), None) for file in files if file.is_file()]


def _expand_remote(path: str) -> list[Source]:
    from fsspec.core import url_to_fs  # costs as much to load as numpy, and local files don't need it

    protocol = path.split("://", 1)[0]
    try:
        filesystem, inner = url_to_fs(path)
        if _GLOB & set(path) and protocol not in ("http", "https"):  # a "?" of an address is no pattern
            files = filesystem.glob(inner)
        elif PurePosixPath(inner).suffix == ".parquet" or protocol in ("http", "https"):
            files = [inner]
        else:
            files = [file for file in filesystem.find(inner) if file.endswith(".parquet")]
            files = [file for file in files if _visible(file[len(inner) :])]
    except ImportError as error:
        raise UsageError(f"{path}: {protocol} needs another package: {error}") from error
    except read_errors() as error:
        raise SourceError(f"{path}: can't be listed ({reason(error)})") from error
    if not files:
        raise SourceError(f"{path}: no .parquet file there")
    return [Source(filesystem.unstrip_protocol(file), file, filesystem) for file in files]


def _visible(relative: str) -> bool:
    return not any(part.startswith((".", "_")) for part in PurePosixPath(relative).parts)
