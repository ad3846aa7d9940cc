"""From the arguments of an import to its packages: files that are taken in whole, each once.

FILE.wacz                  the indexes inside it
FILE.json                  a Multi-WACZ manifest or a collection: the WACZ files it names
FILE.cdx .cdxj (.gz)       an index; FILE.idx: the compressed indexes it points into
FILE.warc .arc (.gz ...)   the records
DIR with manifest.json     a finished dataset: its Parquet files
any other DIR, a pattern   what lies there
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import xxhash

from ccrawl.archives import Source
from ccrawl.archives.opening import read_small
from ccrawl.archives.wacz import WARC_SUFFIXES
from ccrawl.dataset.ledger import FORMAT, MANIFEST
from ccrawl.errors import SourceError, UsageError
from ccrawl.run.sources import fingerprint

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
    path = Path(argument.removeprefix("file://"))
    if path.is_dir():
        if _is_dataset(path):
            yield from _dataset(path, crawl)
            return
        inside = sorted(one for one in path.rglob("*") if one.is_file() and _kind(one.name))
        if not inside:
            raise UsageError(f"{argument}: the folder holds no WACZ, CDX or WARC file, and is no dataset")
        for one in inside:
            yield from _file(one, crawl)
    elif path.is_file():
        yield from _file(path, crawl)
    elif glob.has_magic(argument) and (matches := glob.glob(argument, recursive=True)):  # noqa: PTH207
        for match in sorted(matches):
            yield from _expand(match, crawl)
    else:
        raise UsageError(f"{argument}: no such file or folder")


def _kind(name: str) -> str:
    lowered = name.lower()
    if lowered.endswith(".wacz"):
        return "wacz"
    if lowered.endswith(_CDX_SUFFIXES):
        return "cdx"
    if lowered.endswith(".idx"):
        return "idx"
    return "warc" if lowered.endswith(WARC_SUFFIXES) else ""


def _file(path: Path, crawl: str | None) -> Iterator[ImportSource]:
    kind = _kind(path.name)
    if kind == "idx":
        yield from _blocks(path, crawl)
    elif kind:
        name = path.name if kind == "wacz" else _identified(path)
        yield ImportSource(name, str(path), kind, crawl or path.name)
    elif path.suffix.lower() == ".json":
        yield from _manifest(path, crawl, [])
    else:
        raise UsageError(f"{path}: neither a WACZ, CDX or WARC file, nor a manifest (.json)")


def _identified(path: Path) -> str:
    """The name of an index or archive: many crawls name theirs alike, so what is in it counts too."""
    told = fingerprint(Source(path.name, str(path), path.stat().st_size))
    return f"{path.name}@{xxhash.xxh3_64_hexdigest(told.encode())}"


def _blocks(path: Path, crawl: str | None) -> Iterator[ImportSource]:
    """The compressed indexes that a ZipNum index (`key TAB file TAB offset TAB length ...`) points into."""
    names: dict[str, None] = {}
    with path.open("rb") as lines:
        while line := lines.readline(1 << 20):
            columns = line.split(b"\t")
            if len(columns) >= 4:
                names[columns[1].decode("utf-8", "replace")] = None
    if not names:
        raise SourceError(f"{path}: points to no compressed index")
    for name in names:
        if PurePosixPath(name).name != name:
            raise SourceError(f"{path}: points to {name[:100]!r}, which lies outside its folder")
        shard = path.with_name(name)
        if not shard.is_file():
            raise SourceError(f"{path}: points to {name}, which is not beside it")
        yield ImportSource(_identified(shard), str(shard), "cdx", crawl or path.name)


def _manifest(path: Path, crawl: str | None, seen: list[Path]) -> Iterator[ImportSource]:
    """WACZ files of a manifest: `{"resources": [{"name", "path", "hash", "crawlId"}, ...]}`, which may name
    further manifests. A path is taken relative to the manifest."""
    if path.resolve() in seen or len(seen) >= MAX_MANIFESTS:
        return
    seen.append(path.resolve())
    try:
        resources = json.loads(read_small(str(path), MAX_MANIFEST_BYTES))["resources"]
        entries = [
            (entry["path"], entry.get("name"), entry.get("hash"), entry.get("crawlId")) for entry in resources
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"{path}: not a manifest: a JSON object with resources that have a path") from error
    for where, name, digest, of in entries:
        if not isinstance(where, str) or "://" in where:
            raise SourceError(f"{path}: names {str(where)[:100]!r}; only files beside it can be imported")
        place = path.parent / where
        if where.lower().endswith(".json"):
            yield from _manifest(place, crawl, seen)
        elif where.lower().endswith(".wacz"):
            title = name if isinstance(name, str) and name else place.name
            bare = digest.rpartition(":")[2] if isinstance(digest, str) else None
            yield ImportSource(
                title, str(place), "wacz", of if isinstance(of, str) and of else crawl or title, bare
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
