"""The embedded index: a folder that any number of processes of one machine share.

    format.json     what this folder is
    lock            held by whoever writes (exclusive) or reads the store itself (shared)
    store/          RocksDB, see `tables`
    runs/RUN/       an open run: open.json (token, algorithms), view/ (the store as it was when the run began,
                    hard links), entries.arrow and staged.json once it has staged
    tmp/            work in progress; emptied by whoever writes next

A run reads its own view, so that no commit and no removal during its life changes what it sees, and takes no
lock. A run's folder appears and goes by one rename, a commit is one ingestion (`tables.Change`), so a process
that is killed at any moment leaves the index as it was before or after.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import os
import secrets
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from rocksdict import Checkpoint, Rdict

from ccrawl.dataset.files import write_atomically
from ccrawl.errors import UsageError
from ccrawl.index import merge
from ccrawl.index.entries import read_entries, sorted_entries, write_entries
from ccrawl.index.tables import (
    Change,
    crawl_record,
    crawl_records,
    kinds,
    many,
    open_store,
    package_key,
    record_key,
    unpack_plain,
)
from ccrawl.index.types import (
    Counts,
    Crawl,
    EntryTuple,
    IndexFailure,
    Key,
    Original,
    Package,
    RevisitTuple,
    Stats,
    check_run_id,
    kind_of,
)

P = ParamSpec("P")
T = TypeVar("T")

FORMAT = "ccrawl-index/1"


def _reported(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Errors of the store, of its files and of what stands in it as IndexFailure, with the index's name."""

    @functools.wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            raise IndexFailure(f"{self.location}: {error.strerror or error} ({error.filename})") from error
        except (struct.error, ValueError) as error:
            raise IndexFailure(f"{self.location}: {_DAMAGED} ({error})") from error
        except Exception as error:
            if type(error) is not Exception:  # what rocksdict raises, and nobody else
                raise
            raise IndexFailure(f"{self.location}: {_explained(error)}") from error

    return call


_DAMAGED = "the index is damaged; restore it, or import the datasets into a new one"


def _explained(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{_DAMAGED} ({said})" if said.startswith("Corruption") else f"the store says: {said}"


class EmbeddedIndex:
    """See `DedupIndex`. `location` is the folder."""

    algorithm = "sha1"

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """Open the folder, made if missing. IndexFailure when it is none of ours or can't be used."""
        self.location = str(path.resolve())  # told apart from other indexes by this
        self._path = path
        try:
            format_file = path / "format.json"
            if create and not format_file.exists():
                path.mkdir(parents=True, exist_ok=True)
                # Another process may be making the same index now: look for its mark again, after its files.
                strangers = any(
                    not entry.name.startswith(f".{format_file.name}.") for entry in path.iterdir()
                )
                if strangers and not format_file.exists():
                    raise IndexFailure(f"{path}: not empty, and not a dedupe index")
                write_atomically(format_file, json.dumps({"format": FORMAT}).encode() + b"\n")
            found = json.loads(format_file.read_bytes())
        except (OSError, ValueError) as error:
            raise IndexFailure(f"{path}: no dedupe index can be read there ({error})") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise IndexFailure(f"{path}: a dedupe index of another format; this version reads {FORMAT}")

    # Runs.

    @_reported
    def begin(self, run: str) -> str:
        folder = self._run(run)
        with self._writing() as store:
            if store.get(record_key(run)) is not None:
                raise UsageError(
                    f"{self.location}: run {run} is committed; take another id, or remove it first"
                )
            if folder.exists():
                return str(self._opened(run)["token"])
            token = secrets.token_hex(16)
            aside = self._scratch()
            Checkpoint(store).create_checkpoint(str(aside / "view"))
            opened = {"token": token, "algorithms": [kind_of(key) for key in kinds(store)]}
            write_atomically(aside / "open.json", json.dumps(opened).encode())
            folder.parent.mkdir(exist_ok=True)
            aside.rename(folder)
        return token

    @_reported
    def view(self, run: str) -> EmbeddedView:
        view = self._run(run) / "view"
        return EmbeddedView(self.location, view, tuple(self._opened(run)["algorithms"]))

    @_reported
    def stage(self, run: str, entries: Iterable[EntryTuple], counts: Counts) -> None:
        opened = self._opened(run)
        folder = self._run(run)
        (folder / "staged.json").unlink(missing_ok=True)  # it stands for entries that are whole
        scratch = folder / "sorting"
        try:
            write_entries(folder / "entries.arrow", sorted_entries(entries, scratch))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        staged = {"token": opened["token"], **dataclasses.asdict(counts.check())}
        write_atomically(folder / "staged.json", json.dumps(staged).encode())

    @_reported
    def commit(self, run: str) -> Crawl:
        folder = self._run(run)
        with self._writing() as store:
            done = crawl_record(store, run)
            if done is not None:  # by an earlier call, which may have been killed before it tidied up
                self._discard(folder)
                return done.as_crawl(run)
            counts = self._staged(run)
            if counts is None:
                raise UsageError(f"{self.location}: there is no finished run {run} to commit")
            change = Change(store, self._scratch())
            record = merge.merge(store, change, run, None, read_entries(folder / "entries.arrow"), (), counts)
            change.apply()
            self._discard(folder)
            return record.as_crawl(run)

    @_reported
    def cancel(self, run: str) -> bool:
        folder = self._run(run)
        with self._writing() as store:
            if store.get(record_key(run)) is not None:
                raise UsageError(
                    f"{self.location}: run {run} is committed; `ccrawl index remove` takes it out"
                )
            return self._discard(folder)

    # Packages and crawls.

    @_reported
    def known_packages(self, filenames: Iterable[str]) -> set[str]:
        with self._reading() as store:
            if store is None:
                return set()
            return {filename for filename in filenames if store.get(package_key(filename)) is not None}

    @_reported
    def add_package(
        self,
        crawl: str,
        package: Package,
        entries: Iterable[EntryTuple],
        revisits: Iterable[RevisitTuple] = (),
    ) -> None:
        with self._writing() as store:
            if store.get(package_key(package.filename)) is not None:
                return
            if crawl in self._runs():
                raise UsageError(f"{self.location}: {crawl} is a run in progress; commit or cancel it first")
            change = Change(store, self._scratch())
            merge.merge(store, change, crawl, package, entries, revisits, None)
            change.apply()

    @_reported
    def remove(self, crawls: Sequence[str], *, force: bool = False) -> None:
        with self._writing() as store:
            known = crawl_records(store)
            missing = [crawl for crawl in crawls if crawl not in known]
            if missing:
                raise UsageError(f"{self.location}: no committed crawl {missing[0]}")
            change = Change(store, self._scratch())
            merge.remove(store, change, dict.fromkeys(crawls))
            change.apply()

    @_reported
    def crawls(self) -> list[Crawl]:
        found = {run: Crawl(run, "open") for run in self._runs()}
        for run in found:
            counts = self._staged(run)
            if counts is not None:
                found[run] = Crawl(run, "staged", counts)
        with self._reading() as store:
            for crawl, record in crawl_records(store).items() if store is not None else ():
                found[crawl] = record.as_crawl(crawl)
        return [found[crawl] for crawl in sorted(found)]

    @_reported
    def stats(self) -> Stats:
        crawls = self.crawls()
        committed = [crawl for crawl in crawls if crawl.state == "committed"]
        return Stats(
            crawls=len(committed),
            unfinished=len(crawls) - len(committed),
            unique=sum(crawl.owned or 0 for crawl in committed),
            redundant=sum(crawl.redundant or 0 for crawl in committed),
            counts=sum((crawl.counts for crawl in committed), Counts()),
        )

    @_reported
    def verify(self) -> list[str]:
        with self._reading() as store:
            return [] if store is None else merge.recount(store)

    @_reported
    def compact(self) -> None:
        with self._writing() as store:
            for run in self._runs():  # committed, but killed before the folder was removed
                if store.get(record_key(run)) is not None:
                    self._discard(self._run(run))
            store.compact_range(None, None)

    def close(self) -> None:
        """Nothing is held between calls."""

    def __enter__(self) -> EmbeddedIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Folders and locks.

    def _run(self, run: str) -> Path:
        return self._path / "runs" / check_run_id(run)

    def _runs(self) -> list[str]:
        folder = self._path / "runs"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def _opened(self, run: str) -> dict[str, str]:
        try:
            opened: dict[str, str] = json.loads((self._run(run) / "open.json").read_bytes())
        except (OSError, ValueError) as error:
            raise IndexFailure(f"{self.location}: run {run} is not open (was it cancelled?)") from error
        return opened

    def _staged(self, run: str) -> Counts | None:
        try:
            staged = json.loads((self._run(run) / "staged.json").read_bytes())
        except OSError:
            return None
        return Counts(staged["total"], staged["duplicates"], staged["conserved"], staged["size"])

    def _scratch(self) -> Path:
        folder = self._path / "tmp" / f"{os.getpid()}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        return folder

    def _discard(self, folder: Path) -> bool:
        """Remove a run's folder by one rename; whether there was one."""
        aside = self._scratch()
        try:
            folder.rename(aside / "run")
        except FileNotFoundError:
            return False
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return True

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Rdict]:
        with self._locked(fcntl.LOCK_EX):
            shutil.rmtree(self._path / "tmp", ignore_errors=True)
            store = self._open(read_only=False)
            try:
                yield store
            finally:
                store.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Rdict | None]:
        """The store; None while nothing was ever written."""
        with self._locked(fcntl.LOCK_SH):
            if not self._holds_a_store():
                yield None
                return
            store = self._open(read_only=True)
            try:
                yield store
            finally:
                store.close()

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        try:
            lock = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise IndexFailure(f"{self.location}: can't be locked ({error.strerror})") from error
        try:
            fcntl.flock(lock, how)
            yield
        finally:
            os.close(lock)

    def _open(self, *, read_only: bool) -> Rdict:
        self._holds_a_store()
        return open_store(self._path / "store", read_only=read_only)

    def _holds_a_store(self) -> bool:
        """Whether anything was ever written. IndexFailure when tables are there, and not what names them: a
        new store in their place would remove them."""
        store = self._path / "store"
        if (store / "CURRENT").exists():
            return True
        if next(store.glob("*.sst"), None) is not None:
            raise IndexFailure(f"{self.location}: {_DAMAGED} (store/CURRENT is missing)")
        return False


class EmbeddedView:
    """The store as it was when a run began. See `View`."""

    def __init__(self, location: str, path: Path, algorithms: tuple[str, ...]) -> None:
        self.location = location
        self.algorithms = algorithms
        self._store = open_store(path, read_only=True)
        self._names = {record.number: crawl for crawl, record in crawl_records(self._store).items()}

    @_reported
    def find(self, keys: Sequence[Key]) -> list[Original | None]:
        names = self._names
        found: list[Original | None] = []
        for value in many(self._store, b"e", keys):
            if value is None:
                found.append(None)
            else:
                number, package, date, url, size = unpack_plain(value)
                if number not in names:
                    raise ValueError(f"a first copy of crawl number {number}, which is not there")
                found.append(Original(names[number], package, date, url, size))
        return found

    def close(self) -> None:
        self._store.close()
