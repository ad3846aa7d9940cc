"""`manifest.json` read by whoever does not write it: the card, verify, merge, publish.

The ledger (`ccrawl.dataset.ledger`) is the one writer, and holds a lock; reading needs none, since the
file is replaced whole. A manifest comes with a dataset from anywhere, so it is checked like any input:
types, and that no path in it leaves the dataset's folder.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccrawl.dataset.ledger import FORMAT, MANIFEST, Counts, FailedShard, ShardEntry
from ccrawl.dataset.shard_table import entry_text, manifest_text, totals
from ccrawl.errors import OutputError, reason

# What `layout.shard_file` makes; nothing else is a shard's file.
_FILE = re.compile(r"data/crawl=([A-Za-z0-9][A-Za-z0-9._-]{0,199})/(\d{6,9})\.parquet")

# How Common Crawl's lists of shards name them; such shards have the numbers of that list.
CRAWL_LIST = "crawl-data/"
# How shards of single records are named (ccrawl.archives.locations).
LOCATIONS = "locations-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A dataset's manifest. `shards` come by crawl, then number."""

    version: str  # of the ccrawl that wrote it
    options: Mapping[str, Any]
    totals: Mapping[str, Any]  # as written; `counts` and `file_bytes` are the sums
    shards: tuple[ShardEntry, ...]
    failed: tuple[FailedShard, ...]

    @property
    def counts(self) -> Counts:
        """The sum over the shards."""
        return Counts.total(shard.counts for shard in self.shards) if self.shards else Counts()

    @property
    def file_bytes(self) -> int:
        """Bytes of all Parquet files."""
        return sum(shard.file_bytes for shard in self.shards)

    @property
    def fingerprint(self) -> str:
        """Stands for the dataset's files, their names and contents: 32 hex characters."""
        lines = "".join(f"{shard.file} {shard.sha256}\n" for shard in self.shards)
        return hashlib.sha256(lines.encode()).hexdigest()[:32]

    @property
    def crawls(self) -> tuple[str, ...]:
        """The crawls' names, sorted."""
        return tuple(sorted({crawl_of(shard.file) for shard in self.shards}))


def crawl_of(file: str) -> str:
    """The crawl that a shard's file belongs to; ValueError for a path that no shard has."""
    match = _FILE.fullmatch(file)
    if match is None:
        raise ValueError(f"{file!r} is no shard's file")
    return match[1]


def ranges(numbers: Iterable[int]) -> list[str]:
    """Numbers as people write them, and as --shards reads them: `3`, `5-9`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in found]


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest of the dataset in `directory`.

    Raises OutputError when there is none, or when it is damaged or not ours.
    """
    path = directory / MANIFEST
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise OutputError(
            f"{directory}: holds no {MANIFEST}; name the folder that ccrawl export wrote (its --out)"
        ) from error
    except OSError as error:
        raise OutputError(f"{path}: can't be read ({reason(error)})") from error
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{path}: not readable as a manifest ({error})") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise OutputError(f"{path}: not a {FORMAT} file")
    try:
        shards = [checked_entry(entry) for entry in values["shards"]]
        manifest = Manifest(
            version=_typed(values["ccrawl"], str),
            options=_typed(values["options"], dict),
            totals=_typed(values["totals"], dict),
            shards=tuple(sorted(shards, key=lambda shard: (crawl_of(shard.file), shard.number))),
            failed=tuple(FailedShard(**_fields(entry, FailedShard)) for entry in values["failed_shards"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise OutputError(f"{path}: a damaged manifest ({type(error).__name__}: {error})") from error
    files = [shard.file for shard in manifest.shards]
    if len(set(files)) < len(files):
        raise OutputError(f"{path}: a damaged manifest (a file stands in it twice)")
    return manifest


def manifest_bytes(
    version: str, options: Mapping[str, Any], shards: Iterable[ShardEntry], failed: Iterable[FailedShard]
) -> bytes:
    """A manifest as it stands on disk, key for key as the ledger writes it."""
    entries = list(shards)
    sums = totals(
        len(entries),
        sum(shard.file_bytes for shard in entries),
        Counts.total(shard.counts for shard in entries) if entries else Counts(),
    )
    head = {"format": FORMAT, "ccrawl": version, "options": dict(options)}
    return b"".join(manifest_text(head, sums, map(entry_text, entries), list(failed)))


def checked_entry(entry: Any) -> ShardEntry:
    """An entry from the values of its JSON; KeyError, TypeError or ValueError when they are not one."""
    values = _fields(entry, ShardEntry)
    counts = Counts(**_fields(values["counts"], Counts))
    for field in dataclasses.fields(Counts):
        value = getattr(counts, field.name)
        numbers = value.values() if isinstance(value, dict) else [value]
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError(f"{field.name} holds what is no count")
    shard = ShardEntry(**{**values, "counts": counts})
    crawl_of(_typed(shard.file, str))
    for number in (shard.number, shard.file_bytes, shard.failures):
        if _typed(number, int) < 0:
            raise ValueError("a number below 0")
    for text in (shard.source, shard.source_fingerprint, shard.sha256):
        _typed(text, str)
    for seconds in (shard.seconds, shard.cpu_seconds):
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise TypeError("seconds that are no number")
    return shard


def _fields(entry: Any, of: type) -> dict[str, Any]:
    """The entry's values for the fields of `of`. Fields of later versions are passed over."""
    names = {field.name for field in dataclasses.fields(of)}
    return {name: value for name, value in _typed(entry, dict).items() if name in names}


def _typed(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{str(value)[:60]!r} is no {kind.__name__}")
    return value
