"""`ccrawl.merge`: the outputs of several machines become one dataset, or nothing does.

What is checked before a byte is written: that all were made by one version with the same options, that no
shard of them stands for another source's number, and that nothing was made twice with different bytes.
Files are copied (or linked) under their own hash; the manifest is written last, so that a merge which was
stopped leaves a folder that the same command finishes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccrawl.dataset.files import aside, sync_directory, write_atomically
from ccrawl.dataset.layout import shard_file
from ccrawl.dataset.ledger import FAILURES, LOCK, MANIFEST, FailedShard, ShardEntry, file_sha256
from ccrawl.dataset.manifest import Manifest, crawl_of, manifest_bytes, read_manifest
from ccrawl.errors import OutputError, UsageError

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge made. same: shards that more than one dataset held, with the same bytes."""

    directory: Path
    datasets: int
    shards: int
    rows: int
    file_bytes: int
    same: int
    renumbered: bool
    failed_shards: tuple[FailedShard, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the datasets that are merged."""

    directory: Path
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class _Shard:
    """A shard of the merged dataset: its new entry, and where it comes from."""

    entry: ShardEntry
    part: _Part
    number: int  # in its part


def merge(
    directories: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    link: bool = False,
) -> MergeReport:
    """Join the datasets in `directories` into a new one in `out`.

    Shards keep their numbers when no two of a crawl claim the same one; otherwise the shards of a crawl are
    numbered anew by their sources' names, as one export of all the sources would have numbered them.
    `link` makes hard links instead of copies, on one file system.

    Raises OutputError when the datasets contradict each other, when a file is not what its manifest says,
    or when `out` already holds another dataset; then `out` has no manifest. UsageError for less than two.
    """
    target = Path(out)
    parts = [_Part(Path(directory), read_manifest(Path(directory))) for directory in directories]
    _check_arguments(parts, target)
    version, options = _common(parts)
    shards, same, renumbered = _shards(parts)
    failed = _failed(parts, shards)
    content = manifest_bytes(version, options, (shard.entry for shard in shards), failed)
    with _locked(target):
        _check_target(target, content)
        for shard in shards:
            _bring(shard.part.directory / _old_file(shard), target, shard.entry, link=link)
        _write_failures(target, shards)
        write_atomically(target / MANIFEST, content)
    return MergeReport(
        directory=target,
        datasets=len(parts),
        shards=len(shards),
        rows=sum(shard.entry.counts.rows for shard in shards),
        file_bytes=sum(shard.entry.file_bytes for shard in shards),
        same=same,
        renumbered=renumbered,
        failed_shards=failed,
    )


def _check_arguments(parts: Sequence[_Part], target: Path) -> None:
    places = [part.directory.resolve() for part in parts]
    if len(set(places)) < 2:
        raise UsageError("name two datasets or more to merge")
    if target.resolve() in places:
        raise UsageError(f"{target}: is one of the datasets; merge into a folder of its own")


def _common(parts: Sequence[_Part]) -> tuple[str, dict[str, Any]]:
    """The version and options that all parts share. `crawl` may differ: then all of them are listed."""
    first = parts[0]
    for part in parts[1:]:
        if part.manifest.version != first.manifest.version:
            raise OutputError(
                f"{part.directory}: was made by ccrawl {part.manifest.version}, {first.directory} by "
                f"{first.manifest.version}; export one of them again"
            )
        for name in sorted({*part.manifest.options, *first.manifest.options} - {"crawl"}):
            ours, theirs = first.manifest.options.get(name), part.manifest.options.get(name)
            if ours != theirs:
                raise OutputError(
                    f"{part.directory}: was made with {name} {json.dumps(theirs)}, {first.directory} with "
                    f"{json.dumps(ours)}; such rows don't belong in one dataset"
                )
    crawls = sorted({crawl for part in parts for crawl in _crawls(part.manifest)})
    options = dict(first.manifest.options)
    options["crawl"] = crawls[0] if len(crawls) == 1 else crawls
    return first.manifest.version, options


def _crawls(manifest: Manifest) -> Sequence[str]:
    """The crawls of a part, that of one without a shard included."""
    named = manifest.options.get("crawl")
    return manifest.crawls or ([named] if isinstance(named, str) else list(named or []))


def _shards(parts: Sequence[_Part]) -> tuple[list[_Shard], int, bool]:
    """All shards, by crawl and number; how many were there twice; whether numbers were given anew."""
    by_source: dict[tuple[str, str], _Shard] = {}
    same = 0
    for part in parts:
        for entry in part.manifest.shards:
            key = crawl_of(entry.file), entry.source
            known = by_source.setdefault(key, _Shard(entry, part, entry.number))
            if known.part is part:
                continue
            if known.entry.sha256 != entry.sha256:
                raise OutputError(
                    f"{entry.source}: {known.part.directory / known.entry.file} and "
                    f"{part.directory / entry.file} are both made from it, and differ; "
                    "ccrawl verify --source tells which is right"
                )
            same += 1
    merged: list[_Shard] = []
    renumbered = False
    for crawl in sorted({crawl for crawl, _ in by_source}):
        shards = [shard for (of, _), shard in sorted(by_source.items()) if of == crawl]
        if len({shard.number for shard in shards}) < len(shards):
            renumbered = True
            shards = [_numbered(shard, crawl, number) for number, shard in enumerate(shards)]
        merged += sorted(shards, key=lambda shard: shard.entry.number)
    return merged, same, renumbered


def _numbered(shard: _Shard, crawl: str, number: int) -> _Shard:
    entry = dataclasses.replace(shard.entry, number=number, file=shard_file(crawl, number))
    return dataclasses.replace(shard, entry=entry)


def _old_file(shard: _Shard) -> str:
    return shard_file(crawl_of(shard.entry.file), shard.number)


def _failed(parts: Sequence[_Part], shards: Sequence[_Shard]) -> tuple[FailedShard, ...]:
    """Shards that failed everywhere; one that a part finished is done. They follow the finished ones."""
    done = {shard.entry.source for shard in shards}
    failed = {one.source: one for part in parts for one in part.manifest.failed if one.source not in done}
    numbers = {shard.entry.number for shard in shards}
    merged = []
    for _, one in sorted(failed.items()):
        number = one.number if one.number not in numbers else max(numbers) + 1
        numbers.add(number)
        merged.append(dataclasses.replace(one, number=number))
    return tuple(sorted(merged, key=lambda one: one.number))


def _check_target(target: Path, content: bytes) -> None:
    """Only an empty folder, or one that the same merge left, is written to."""
    manifest = target / MANIFEST
    if manifest.exists() and manifest.read_bytes() != content:
        raise OutputError(f"{target}: already holds another dataset; choose another --out")
    known = {entry["file"] for entry in json.loads(content)["shards"]}
    for path in (target / "data").rglob("*.parquet"):
        if path.relative_to(target).as_posix() not in known and not path.name.startswith("."):
            raise OutputError(f"{path}: belongs to no dataset that is merged; choose another --out")


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Hold the folder as an export does, so that no two commands write there."""
    import fcntl

    try:
        target.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(target / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise OutputError(f"{target}: can't be used as output folder ({error.strerror or error})") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise OutputError(f"{target}: another ccrawl run is writing here") from error
    finally:
        os.close(descriptor)


def _bring(source: Path, target: Path, entry: ShardEntry, *, link: bool) -> None:
    """Put a shard's file in its place; what is there already with the right bytes stays."""
    path = target / entry.file
    if path.exists():
        if path.stat().st_size == entry.file_bytes and file_sha256(path) == entry.sha256:
            return
        raise OutputError(f"{path}: is there already with other bytes; remove it, or choose another --out")
    temporary = aside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if link:
            temporary.hardlink_to(source)
            found = file_sha256(temporary)
        else:
            found = _copy(source, temporary)
        if found != entry.sha256:
            raise OutputError(
                f"{source}: is not what its manifest says; ccrawl verify --repair makes it again, then merge"
            )
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        hint = "; leave --link out to copy" if link else ""
        raise OutputError(f"{source}: can't be put into {path} ({error.strerror or error}){hint}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _copy(source: Path, path: Path) -> str:
    """Copy and sync a file; returns the SHA-256 of what was read."""
    hasher = hashlib.sha256()
    with source.open("rb") as reading, path.open("xb") as writing:
        while piece := reading.read(_PIECE):
            hasher.update(piece)
            writing.write(piece)
        writing.flush()
        os.fsync(writing.fileno())
    shutil.copystat(source, path)
    return hasher.hexdigest()


def _write_failures(target: Path, shards: Sequence[_Shard]) -> None:
    """The parts' failures.jsonl as one, each line under its shard's new number."""
    numbers: Mapping[tuple[Path, int, str], int] = {
        (shard.part.directory, shard.number, shard.entry.source): shard.entry.number for shard in shards
    }
    lines = []
    for directory in dict.fromkeys(shard.part.directory for shard in shards):
        path = directory / FAILURES
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            try:
                failure = json.loads(line)
                number = numbers.get((directory, failure["shard"], failure["source"]))
            except (ValueError, KeyError, TypeError):  # cut short by a crash
                continue
            if number is not None:
                lines.append((number, json.dumps({**failure, "shard": number}) + "\n"))
    if lines:
        lines.sort(key=lambda numbered: numbered[0])  # stable: within a shard they stay in order
        write_atomically(target / FAILURES, "".join(line for _, line in lines).encode())
