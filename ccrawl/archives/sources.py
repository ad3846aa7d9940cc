"""Sources: what one shard is, and how the arguments of a command become a sorted list of them."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ccrawl.archives.window import Window
from ccrawl.errors import SourceError, UsageError

# File names that a directory is searched for.
SUFFIXES = tuple(
    f".{kind}{compressed}"
    for kind in ("warc", "arc", "warc.wet", "warc.wat", "wet", "wat")
    for compressed in ("", ".gz", ".zst", ".bz2")
) + (".wacz",)


@dataclass(frozen=True, slots=True)
class Source:
    """One shard. Frozen and picklable: a run sends it to its workers.

    name: as the crawl names it; the base name of a local file
    path: a local path or a URL
    size: bytes, None when unknown beforehand
    """

    name: str
    path: str
    size: int | None = None


def find_sources(arguments: Sequence[str]) -> list[Source]:
    """The sources that paths, directories and glob patterns stand for, sorted by path, each once.

    Raises UsageError when an argument names nothing.
    """
    if not arguments:
        raise UsageError("no source given: name WARC files, directories or patterns")
    found: dict[str, Source] = {}
    for argument in arguments:
        for path in _expand(argument):
            found.setdefault(str(path), Source(path.name, str(path), path.stat().st_size))
    return [found[path] for path in sorted(found)]


def _expand(argument: str) -> list[Path]:
    path = Path(argument)
    if path.is_dir():
        inside = [p for p in path.rglob("*") if p.name.lower().endswith(SUFFIXES) and p.is_file()]
        if not inside:
            raise UsageError(f"{argument}: the directory holds no WARC, ARC, WET or WACZ file")
        return inside
    if path.is_file():
        return [path]
    if glob.has_magic(argument):
        matches = [Path(match) for match in glob.glob(argument, recursive=True)]
        files = [match for match in matches if match.is_file()]
        if files:
            return files
        raise UsageError(f"{argument}: no file matches this pattern")
    raise UsageError(f"{argument}: no such file or directory")


def open_window(source: Source) -> tuple[BinaryIO, Window]:
    """Open a source for reading. Raises SourceError when it can't be."""
    try:
        file = Path(source.path).open("rb", buffering=0)
    except OSError as error:
        raise SourceError(f"{source.path}: {error.strerror or error}") from error
    size = file.seek(0, 2)
    file.seek(0)
    return file, Window(file, size)  # type: ignore[arg-type]
