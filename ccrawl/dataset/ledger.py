"""`manifest.json`: what is done, what failed and why; what a resumed run, the card and verify believe.

A shard counts as done when it stands in the ledger *and* its file still has the size and SHA-256
written there; that a file exists means nothing. The ledger is written aside, synced and renamed, by
the one run that holds the lock.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ccrawl.dataset.layout import shard_files
from ccrawl.dataset.writer import write_atomically
from ccrawl.errors import OutputError

if TYPE_CHECKING:
    from ccrawl.dataset.manifest import Manifest

MANIFEST = "manifest.json"
FAILURES = "failures.jsonl"
LOCK = ".lock"
FORMAT = "ccrawl-manifest/1"

# Writing the whole ledger after each of 100,000 shards would be quadratic. A run that is killed
# between two writes does the last shards again, to the same bytes, and at most this share of its time.
_LEDGER_TIME_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was set aside, as a line of failures.jsonl."""

    kind: str  # record, page or shard
    shard: int
    source: str
    cause: str
    detail: str = ""
    offset: int | None = None
    record_id: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the records of a shard went. `check` holds the law: nothing is lost, nothing counted twice.

    records = pages + skipped; pages = rows + duplicates + empty + other_language + failed.
    """

    records: int = 0
    pages: int = 0
    rows: int = 0
    duplicates: int = 0
    duplicates_with_row: int = 0  # of the duplicates, those whose first copy in the shard made a row
    duplicates_indexed: int = 0  # of the duplicates, those that the dedupe index knew
    duplicate_bytes: int = 0  # of the duplicates' records, as stored
    indexed: int = 0  # of the rows, those that the shard gives to the dedupe index
    empty: int = 0
    other_language: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # records that are no pages, by cause
    failed: dict[str, int] = field(default_factory=dict)  # pages set aside, by cause
    damage: dict[str, int] = field(default_factory=dict)  # damaged places in the archive, by cause
    languages: dict[str, int] = field(default_factory=dict)  # rows by language
    # Of a refetch's rows: by status ("" without an answer), by what failed, by what became of the page.
    statuses: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    archive_bytes: int = 0  # as stored
    html_bytes: int = 0  # payloads of the rows, decoded
    markdown_bytes: int = 0

    def check(self) -> None:
        """Raise AssertionError when a record is not accounted for: a bug, never the input's fault."""
        assert self.records == self.pages + sum(self.skipped.values()), self
        dropped = self.duplicates + self.empty + self.other_language + sum(self.failed.values())
        assert self.pages == self.rows + dropped, self

    @staticmethod
    def total(all_counts: Iterable[Counts]) -> Counts:
        """The field-wise sum."""
        sums: dict[str, Any] = {}
        for counts in all_counts:
            for name in (f.name for f in dataclasses.fields(Counts)):
                value = getattr(counts, name)
                if isinstance(value, dict):
                    into = sums.setdefault(name, {})
                    for cause, number in value.items():
                        into[cause] = into.get(cause, 0) + number
                else:
                    sums[name] = sums.get(name, 0) + value
        ordered: dict[str, Any] = {
            name: dict(sorted(value.items())) if isinstance(value, dict) else value
            for name, value in sums.items()
        }
        return Counts(**ordered)


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """A finished shard in the ledger."""

    number: int
    source: str
    source_bytes: int | None
    source_fingerprint: str
    file: str  # relative to the dataset's folder
    file_bytes: int
    sha256: str
    counts: Counts
    failures: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class FailedShard:
    """A shard that could not be read or written, after its retry."""

    number: int
    source: str
    error: str


class Ledger:
    """The dataset folder's ledger, held by one run at a time.

    `with Ledger.open(out, options, overwrite=...) as ledger:` takes the lock or raises OutputError.
    """

    def __init__(self, directory: Path, options: dict[str, Any], version: str) -> None:
        self.directory = directory
        self.options = options
        self.version = version
        self.shards: dict[int, ShardEntry] = {}
        self.failed: dict[int, FailedShard] = {}
        self._lock: int | None = None
        self._written = 0.0
        self._cost = 0.0

    @staticmethod
    def open(directory: Path, options: dict[str, Any], version: str, *, overwrite: bool = False) -> Ledger:
        """Lock `directory` (made if missing) and read its manifest.

        Raises OutputError when another run holds it, when the manifest is not ours or damaged, or when it was
        written with other options and `overwrite` is not given.
        """
        ledger = Ledger(directory, options, version)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            ledger._lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise OutputError(f"{directory}: can't be used as output folder ({error.strerror})") from error
        try:
            fcntl.flock(ledger._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(ledger._lock)
            raise OutputError(
                f"{directory}: another ccrawl run is writing here; wait for it or choose another --out"
            ) from error
        try:
            if not overwrite:
                ledger._read()
        except BaseException:
            ledger.close()
            raise
        return ledger

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_done(self, number: int, source: str, fingerprint: str) -> bool:
        """Whether shard `number` is finished from this very source and its file is intact on disk.

        Raises OutputError when the ledger knows that number by another source.
        """
        entry = self.shards.get(number)
        if entry is None:
            return False
        if entry.source != source or entry.source_fingerprint != fingerprint:
            made_from = entry.source if entry.source != source else "other content"
            raise OutputError(
                f"{self.directory / MANIFEST}: shard {number} was made from {made_from}, "
                f"now it would come from {source}; "
                "give the same sources, use another --out, or --overwrite to start again"
            )
        path = self.directory / entry.file
        try:
            intact = path.stat().st_size == entry.file_bytes and file_sha256(path) == entry.sha256
        except OSError:
            intact = False
        if not intact:
            del self.shards[number]
        return intact

    def add(self, entry: ShardEntry) -> None:
        """Record a finished shard; reaches the disk soon, and at the latest with `save`."""
        self.shards[entry.number] = entry
        self.failed.pop(entry.number, None)
        now = time.monotonic()
        if now - self._written > self._cost / _LEDGER_TIME_SHARE:
            self.save()

    def add_failed(self, failed: FailedShard) -> None:
        """Record a shard that was given up."""
        self.failed[failed.number] = failed

    def save(self) -> None:
        """Write the manifest, durably."""
        started = time.monotonic()
        shards = [self.shards[number] for number in sorted(self.shards)]
        manifest = {
            "format": FORMAT,
            "ccrawl": self.version,
            "options": self.options,
            "totals": {
                "shards": len(shards),
                "file_bytes": sum(shard.file_bytes for shard in shards),
                **dataclasses.asdict(Counts.total(shard.counts for shard in shards)),
            },
            "shards": [dataclasses.asdict(shard) for shard in shards],
            "failed_shards": [dataclasses.asdict(self.failed[number]) for number in sorted(self.failed)],
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        write_atomically(self.directory / MANIFEST, text.encode("utf-8", "surrogatepass"))
        self._written = time.monotonic()
        self._cost = self._written - started

    def _read(self) -> None:
        from ccrawl.dataset.manifest import read_manifest  # which is built on this module

        path = self.directory / MANIFEST
        if not os.path.lexists(path):
            if shard_files(self.directory):
                raise OutputError(
                    f"{self.directory}: holds shard files, but no {MANIFEST} that says what they are; "
                    "use another --out, or --overwrite to remove them and start again"
                )
            return
        try:
            manifest = read_manifest(self.directory)
        except OutputError as error:
            raise OutputError(f"{error}; use another --out, or --overwrite to start again") from error
        if manifest.options != self.options or manifest.version != self.version:
            raise OutputError(
                f"{path}: the dataset was made with other options ({_difference(manifest, self)}); "
                "give the same ones, use another --out, or --overwrite to start again"
            )
        self.shards = {shard.number: shard for shard in manifest.shards}


def _difference(manifest: Manifest, ledger: Ledger) -> str:
    """The options that differ, as `name: then, now`."""
    then = {**manifest.options, "ccrawl": manifest.version}
    now = {**ledger.options, "ccrawl": ledger.version}
    names = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    return "; ".join(
        f"{name}: {json.dumps(then.get(name))} then, {json.dumps(now.get(name))} now" for name in names
    )


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FailureLog:
    """`failures.jsonl`: one line for everything set aside. Lines of shards that are done again go first."""

    def __init__(self, directory: Path, *, keep: Container[int]) -> None:
        self._path = directory / FAILURES
        kept: list[str] = []
        if self._path.exists():
            with self._path.open(encoding="utf-8", errors="surrogateescape") as lines:
                kept = [line for line in lines if _shard_of(line) in keep]
            write_atomically(self._path, "".join(kept).encode("utf-8", "surrogateescape"))
        self.count = len(kept)

    def append(self, failures: Iterable[Failure]) -> None:
        """Add lines, durably; called before the shard enters the ledger."""
        lines = [json.dumps(dataclasses.asdict(failure)) + "\n" for failure in failures]
        if not lines:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written ({error.strerror or error})") from error
        self.count += len(lines)


def _shard_of(line: str) -> int | None:
    """The shard a line is about; None for a line that a crash cut short."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry.get("shard") if isinstance(entry, dict) else None
