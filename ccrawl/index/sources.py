"""From the arguments of an import to its packages: files that are taken in whole, each once.

FILE.wacz                  the indexes inside it
FILE.json                  a Multi-WACZ manifest or a collection: the WACZ files it names
FILE.cdx .cdxj (.gz)       an index; FILE.idx: the compressed indexes it points into
FILE.warc .arc (.gz ...)   the records
DIR with manifest.json     a finished dataset: its Parquet files
any other DIR, a pattern   what lies there

All but datasets and folders may be http, https or s3 URLs; patterns in a bucket, too.
"""

from __future__ import annotations

import glob
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import xxhash

from ccrawl.archives import Source
from ccrawl.archives.names import WARC_SUFFIXES, is_remote
from ccrawl.archives.opening import open_file, read_small
from ccrawl.archives.remote import filesystem_of
from ccrawl.dataset.ledger import FORMAT, MANIFEST
from ccrawl.errors import SourceError, UsageError
from ccrawl.run.sources import fingerprint

_SCHEMES = ("http://", "https://", "s3://")
_CDX_SUFFIXES = (".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")
MAX_MANIFESTS = 1000
MAX_MANIFEST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ImportSource:
    """One package of an import.

    name: what it is known by in the index. A WACZ goes by its file's name, as Browsertrix has it; other files
    by name and content
    crawl: what it belongs to
    kind: wacz, cdx, warc or dataset
    hash: SHA-256 of the file where the manifest gives it
    """

    name: str
    path: str
    kind: str
    crawl: str
    hash: str | None = None


def find_import_sources(arguments: Sequence[str], crawl: str | None = None) -> list[ImportSource]:
    """The packages that arguments stand for, in order, each once. `crawl` is the id of those that have none
    in their manifest; without it each file is a crawl of its own, and a dataset one.

    Raises UsageError for an argument that names nothing, SourceError for a manifest that can't be read.
    """
    found: dict[str, ImportSource] = {}
    for argument in arguments:
        for source in _expand(argument, crawl):
            earlier = found.setdefault(source.name, source)
            if earlier.path != source.path:
                raise UsageError(
                    f"{source.path} and {earlier.path} have one name, by which the index tells them apart"
                )
    return list(found.values())


def _expand(argument: str, crawl: str | None) -> Iterator[ImportSource]:
    if is_remote(argument):
        for url in _urls(argument):
            yield from _file(url, crawl)
        return
    path = Path(argument.removeprefix("file://"))
    if path.is_dir():
        if _is_dataset(path):
            yield from _dataset(path, crawl)
            return
        inside = sorted(one for one in path.rglob("*") if one.is_file() and _kind(one.name))
        if not inside:
            raise UsageError(f"{argument}: the folder holds no WACZ, CDX or WARC file, and is no dataset")
        for one in inside:
            yield from _file(str(one), crawl)
    elif path.is_file():
        yield from _file(str(path), crawl)
    elif glob.has_magic(argument) and (matches := glob.glob(argument, recursive=True)):  # noqa: PTH207
        for match in sorted(matches):
            yield from _expand(match, crawl)
    else:
        raise UsageError(f"{argument}: no such file or folder")


def _urls(argument: str) -> list[str]:
    """The files that a URL stands for: itself, or in a bucket those that its pattern matches."""
    if not glob.has_magic(argument) or argument.lower().startswith(("http://", "https://")):
        return [argument]
    filesystem, pattern = filesystem_of(argument)
    try:
        names = sorted(filesystem.glob(pattern))
    except Exception as error:  # each file system has errors of its own
        raise SourceError(f"{argument}: can't be listed: {error}") from error
    if not names:
        raise UsageError(f"{argument}: no file matches this pattern")
    return [filesystem.unstrip_protocol(name) for name in names]


def _kind(name: str) -> str:
    lowered = name.lower()
    if lowered.endswith(".wacz"):
        return "wacz"
    if lowered.endswith(_CDX_SUFFIXES):
        return "cdx"
    if lowered.endswith(".idx"):
        return "idx"
    return "warc" if lowered.endswith(WARC_SUFFIXES) else ""


def _file(path: str, crawl: str | None) -> Iterator[ImportSource]:
    base = _base_name(path)
    kind = _kind(base)
    if kind == "idx":
        yield from _blocks(path, crawl)
    elif kind:
        name = base if kind == "wacz" else _identified(path)
        yield ImportSource(name, path, kind, crawl or base)
    elif base.lower().endswith(".json"):
        yield from _manifest(path, crawl, [])
    else:
        raise UsageError(f"{path}: neither a WACZ, CDX or WARC file, nor a manifest (.json)")


def _base_name(path: str) -> str:
    return _place(path).rpartition("/")[2]


def _place(path: str) -> str:
    """A path, or a URL without its query: that of a signed one changes."""
    return path.partition("?")[0] if is_remote(path) else path


def _beside(path: str, name: str) -> str:
    """A file in the folder of another."""
    folder, slash, _ = _place(path).rpartition("/")
    return f"{folder}{slash}{name}"


def _identified(path: str) -> str:
    """The name of an index or archive: many crawls name theirs alike, so what is in it counts too, or for a
    URL where it is."""
    base = _base_name(path)
    told = _place(path) if is_remote(path) else fingerprint(Source(base, path, Path(path).stat().st_size))
    return f"{base}@{xxhash.xxh3_64_hexdigest(told.encode())}"


def _blocks(path: str, crawl: str | None) -> Iterator[ImportSource]:
    """The compressed indexes that a ZipNum index (`key TAB file TAB offset TAB length ...`) points into."""
    names: dict[str, None] = {}
    with open_file(Source(_base_name(path), path)) as file:
        lines = io.BufferedReader(file)  # type: ignore[type-var]
        while line := lines.readline(1 << 20):
            columns = line.split(b"\t")
            if len(columns) >= 4:
                names[columns[1].decode("utf-8", "replace")] = None
    if not names:
        raise SourceError(f"{path}: points to no compressed index")
    for name in names:
        if PurePosixPath(name).name != name:
            raise SourceError(f"{path}: points to {name[:100]!r}, which lies outside its folder")
        shard = _beside(path, name)
        if not is_remote(shard) and not Path(shard).is_file():
            raise SourceError(f"{path}: points to {name}, which is not beside it")
        yield ImportSource(_identified(shard), shard, "cdx", crawl or _base_name(path))


def _manifest(path: str, crawl: str | None, seen: list[str]) -> Iterator[ImportSource]:
    """WACZ files of a manifest: `{"resources": [{"name", "path", "hash", "crawlId"}, ...]}`, which may name
    further manifests. A path is relative to the manifest; http, https and s3 URLs stand for themselves."""
    place = _place(path) if is_remote(path) else str(Path(path).resolve())
    if place in seen or len(seen) >= MAX_MANIFESTS:
        return
    seen.append(place)
    try:
        resources = json.loads(read_small(path, MAX_MANIFEST_BYTES))["resources"]
        entries = [
            (entry["path"], entry.get("name"), entry.get("hash"), entry.get("crawlId")) for entry in resources
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"{path}: not a manifest: a JSON object with resources that have a path") from error
    for where, name, digest, of in entries:
        if not isinstance(where, str) or ("://" in where and not where.lower().startswith(_SCHEMES)):
            raise SourceError(
                f"{path}: names {str(where)[:100]!r}, which is neither a file beside it nor an http, https "
                "or s3 URL"
            )
        if "://" in where:
            member = where
        elif is_remote(path):
            member = _beside(path, where)
        else:
            member = str(Path(path).parent / where)
        base = _base_name(member)
        if base.lower().endswith(".json"):
            yield from _manifest(member, crawl, seen)
        elif base.lower().endswith(".wacz"):
            title = name if isinstance(name, str) and name else base
            bare = digest.rpartition(":")[2] if isinstance(digest, str) else None
            yield ImportSource(
                title, member, "wacz", of if isinstance(of, str) and of else crawl or title, bare
            )


def _is_dataset(path: Path) -> bool:
    return (path / MANIFEST).is_file() and (path / "data").is_dir()


def _dataset(path: Path, crawl: str | None) -> Iterator[ImportSource]:
    """A dataset's Parquet files; each is known by its content, since all datasets name theirs alike."""
    manifest = path / MANIFEST
    try:
        ledger = json.loads(manifest.read_bytes())
        if ledger["format"] != FORMAT:
            raise SourceError(f"{manifest}: not a {FORMAT} file")
        files = [(shard["file"], shard["sha256"]) for shard in ledger["shards"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{manifest}: not readable as the manifest of a dataset ({error})") from error
    for file, sha256 in files:
        name = f"{PurePosixPath(file).as_posix()}@{sha256[:16]}"
        yield ImportSource(name, str(path / file), "dataset", crawl or path.resolve().name, sha256)
