"""`manifest.json`: what is done, what failed and why; what a resumed run, the card and verify believe.

A shard counts as done when it stands in the ledger *and* its file still has the size and SHA-256
written there; that a file exists means nothing. The ledger is written aside, synced and renamed, by
the one run that holds the lock. What was finished since then stands in a journal beside it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ccrawl.dataset.entries import Counts, FailedShard, Failure, ShardEntry
from ccrawl.dataset.files import write_atomically
from ccrawl.dataset.journal import Journal, read_journal
from ccrawl.dataset.layout import shard_files
from ccrawl.dataset.shard_table import ShardTable, manifest_text
from ccrawl.errors import OutputError

if TYPE_CHECKING:
    from ccrawl.dataset.manifest import Manifest

MANIFEST = "manifest.json"
FAILURES = "failures.jsonl"
LOCK = ".lock"
FORMAT = "ccrawl-manifest/1"

__all__ = [
    "FAILURES",
    "FORMAT",
    "LOCK",
    "MANIFEST",
    "Counts",
    "FailedShard",
    "Failure",
    "FailureLog",
    "Ledger",
    "ShardEntry",
    "file_sha256",
]

# Writing the whole ledger after each of 100,000 shards would be quadratic. The journal has what came between
# two writes, so this only says how old the manifest that others read may be.
_LEDGER_TIME_SHARE = 0.02


class Ledger:
    """The dataset folder's ledger, held by one run at a time.

    `with Ledger.open(out, options, overwrite=...) as ledger:` takes the lock or raises OutputError.
    """

    def __init__(self, directory: Path, options: dict[str, Any], version: str) -> None:
        self.directory = directory
        self.options = options
        self.version = version
        self.shards = ShardTable()
        self.failed: dict[int, FailedShard] = {}
        self._lock: int | None = None
        self._written = 0.0
        self._cost = 0.0
        self._journal: Journal | None = None  # of the manifest that this ledger wrote last
        self._made_folder = False

    @staticmethod
    def open(directory: Path, options: dict[str, Any], version: str, *, overwrite: bool = False) -> Ledger:
        """Lock `directory` (made if missing) and read its manifest.

        Raises OutputError when another run holds it, when the manifest is not ours or damaged, or when it was
        written with other options and `overwrite` is not given.
        """
        ledger = Ledger(directory, options, version)
        try:
            ledger._made_folder = not directory.exists()
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
        if not _names(directory / LOCK, ledger._lock):  # a run that failed at its start has just removed it
            os.close(ledger._lock)
            return Ledger.open(directory, options, version, overwrite=overwrite)
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
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            if self._made_folder and not self._written:  # the run failed before it began: nothing to keep
                with contextlib.suppress(OSError):
                    if [*self.directory.iterdir()] == [self.directory / LOCK]:
                        (self.directory / LOCK).unlink()
                        self.directory.rmdir()
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
        """Record a finished shard, durably; `manifest.json` has it soon, and at the latest with `save`."""
        self.shards[entry.number] = entry
        self.failed.pop(entry.number, None)
        now = time.monotonic()
        if self._journal is None or now - self._written > self._cost / _LEDGER_TIME_SHARE:
            self.save()
        else:
            self._journal.append(self.shards.text(entry.number))

    def add_failed(self, failed: FailedShard) -> None:
        """Record a shard that was given up."""
        self.failed[failed.number] = failed

    def save(self) -> None:
        """Write the manifest, durably."""
        started = time.monotonic()
        hasher = hashlib.sha256()

        def hashed(parts: Iterable[bytes]) -> Iterator[bytes]:
            for part in parts:
                hasher.update(part)
                yield part

        failed = [self.failed[number] for number in sorted(self.failed)]
        head = {"format": FORMAT, "ccrawl": self.version, "options": self.options}
        parts = manifest_text(head, self.shards.totals(), self.shards.texts(), failed)
        write_atomically(self.directory / MANIFEST, hashed(parts))
        if self._journal is not None:
            self._journal.close()
        self._journal = Journal(self.directory, hasher.hexdigest())
        self._written = time.monotonic()
        self._cost = self._written - started

    def _read(self) -> None:
        from ccrawl.dataset.manifest import checked_entry, read_manifest  # which are built on this module

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
        self.shards.update((shard.number, shard) for shard in manifest.shards)
        for entry in read_journal(self.directory, lambda: file_sha256(path), checked_entry):
            self.shards[entry.number] = entry


def _names(path: Path, descriptor: int) -> bool:
    """Whether the file that is open is the one that stands at `path`."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


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
