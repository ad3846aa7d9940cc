"""Sources: what one shard is, and how the arguments of a command become a sorted list of them."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ccrawl.archives.names import WARC_SUFFIXES, is_remote
from ccrawl.errors import CcrawlError, SourceError, UsageError

# File names that a directory is searched for.
SUFFIXES = (*WARC_SUFFIXES, ".wacz")
# Of sources that are single records; the places of one file that lie near each other are read together.
DEFAULT_GAP = 64 << 10
DEFAULT_MAX_SPAN = 16 << 20
DEFAULT_PART_SIZE = 10_000


@dataclass(frozen=True, slots=True)
class Location:
    """A record by its place: what a CDX index says of it. `url` is for messages only."""

    filename: str
    offset: int
    length: int
    url: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One shard. Frozen and picklable: a run sends it to its workers.

    name: as the crawl names it; the base name of a local file, file/member for a member of a WACZ
    path: a local path or a URL; for locations the base that their file names are resolved against
    size: bytes, None when unknown beforehand
    members: the way to a member inside WACZ files, outermost first
    number: the shard's number in its crawl's manifest, None outside crawls
    locations: where given, only these records are read, by range requests (gap and max_span in bytes)
    cache: directory that keeps whole remote files, "" for none
    """

    name: str
    path: str
    size: int | None = None
    members: tuple[str, ...] = ()
    number: int | None = None
    locations: tuple[Location, ...] = ()
    gap: int = 0
    max_span: int = 0
    cache: str = ""


def find_sources(arguments: Sequence[str], *, cache: str = "") -> list[Source]:
    """The sources that paths, directories, glob patterns and URLs stand for, sorted by path, each once.

    A WACZ becomes one source a WARC inside it, a Multi-WACZ manifest (.json) those of the files it names; a
    WACZ that can't be opened stays one source, which fails when it is read. `file:`, http(s) and everything
    that fsspec knows are URLs; patterns and directories of a bucket (s3://bucket/folder/) work as local ones
    do.

    Raises UsageError when an argument names nothing.
    """
    if not arguments:
        raise UsageError("no source given: name WARC files, directories, patterns or URLs")
    found: dict[tuple[str, tuple[str, ...]], Source] = {}
    for argument in arguments:
        for source in _sources_of(argument):
            found.setdefault((source.path, source.members), replace(source, cache=cache))
    return [found[key] for key in sorted(found)]


def _sources_of(argument: str) -> Iterable[Source]:
    paths = _remote_paths(argument) if is_remote(argument) else _local_paths(argument.removeprefix("file://"))
    for path, size in paths:
        lowered = path.partition("?")[0].lower() if is_remote(path) else path.lower()
        if lowered.endswith(".json"):
            from ccrawl.archives.opening import read_small
            from ccrawl.archives.wacz import manifest_paths

            for inner in manifest_paths(read_small(path), path):
                yield from _sources_of(inner)
        elif lowered.endswith((".wacz", ".zip")):
            yield from _members_or_whole(Source(_base_name(path), path, size))
        else:
            yield Source(_base_name(path), path, size)


def _base_name(path: str) -> str:
    if is_remote(path):
        path = path.partition("?")[0]
    return path.rstrip("/").rpartition("/")[2]


def _local_paths(argument: str) -> list[tuple[str, int | None]]:
    path = Path(argument)
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.name.lower().endswith(SUFFIXES) and file.is_file()]
        if not files:
            raise UsageError(f"{argument}: the directory holds no WARC, ARC, WET or WACZ file")
    elif path.exists():
        files = [path]
    elif glob.has_magic(argument):
        # glob and not Path.glob: a pattern may be absolute
        matches = [Path(match) for match in glob.glob(argument, recursive=True)]  # noqa: PTH207
        files = [match for match in matches if match.is_file()]
        if not files:
            raise UsageError(f"{argument}: no file matches this pattern")
    else:
        raise UsageError(f"{argument}: no such file or directory")
    return [(str(file), file.stat().st_size if file.is_file() else None) for file in files]


def _remote_paths(argument: str) -> list[tuple[str, int | None]]:
    if argument.lower().startswith(("http://", "https://")):
        return [(argument, None)]
    pattern = glob.has_magic(argument)
    if not pattern and not argument.endswith("/"):
        return [(argument, None)]
    from ccrawl.archives.remote import filesystem_of

    filesystem, path = filesystem_of(argument)
    try:
        listed = filesystem.glob(path, detail=True) if pattern else filesystem.find(path, detail=True)
    except Exception as error:  # each file system has errors of its own
        raise SourceError(f"{argument}: can't be listed: {error}") from error
    files = [
        (filesystem.unstrip_protocol(name), entry.get("size"))
        for name, entry in listed.items()
        if entry.get("type") != "directory" and (pattern or name.lower().endswith(SUFFIXES))
    ]
    if not files:
        raise UsageError(f"{argument}: holds no WARC, ARC, WET or WACZ file")
    return files


def _members_or_whole(source: Source) -> list[Source]:
    try:
        return members_of_container(source) or [source]
    except CcrawlError:
        return [source]  # said when it is read, so that one broken file doesn't end a run before it begins


def members_of_container(source: Source) -> list[Source]:
    """The WARC files inside a WACZ as sources, those of nested WACZ files too, in the order of their names.

    Raises SourceError when it can't be opened.
    """
    from ccrawl.archives.opening import open_container
    from ccrawl.archives.wacz import MAX_DEPTH, warc_members

    if len(source.members) >= MAX_DEPTH:
        raise SourceError(f"{source.name}: WACZ files nested more than {MAX_DEPTH} deep")
    with open_container(source) as (archive, _):
        names = warc_members(archive)
        sizes = {name: archive.getinfo(name).file_size for name in names}
    found: list[Source] = []
    for name in names:
        inner = replace(
            source, name=f"{source.name}/{name}", size=sizes[name], members=(*source.members, name)
        )
        found += members_of_container(inner) if name.lower().endswith(".wacz") else [inner]
    return found
