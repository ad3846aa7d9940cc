"""What stands in the WARC files of a refetch: where each record is, and the first record of each payload.

A SQLite file beside them, so that memory stays the same however many there are, and so that a run that goes
on need not read them again. It holds nothing that the files don't: where it is missing, old or damaged, it is
made anew from them. It is committed after the files were synced, never before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccrawl.archives import Digest
from ccrawl.errors import OutputError
from ccrawl.fetching.warc_records import Container, Earlier

_VERSION = 1
_TABLES = """
CREATE TABLE files (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, file TEXT NOT NULL,
    start INTEGER NOT NULL, length INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE payloads (
    sha256 BLOB PRIMARY KEY, url TEXT NOT NULL, date TEXT NOT NULL, record TEXT NOT NULL, file TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE containers (
    filename TEXT NOT NULL, crawl TEXT NOT NULL, hash TEXT, size INTEGER, PRIMARY KEY (filename, crawl)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands. file: its name in the output's folder; offset, length: bytes there."""

    record_id: str
    type: str
    file: str
    offset: int
    length: int


class Places:
    """The places of one output, held by one process at a time. OutputError when another has it, or when the
    disk refuses."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._reporting():
            try:
                self._db = self._opened()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:  # damaged: what it held can be read from the WARC files
                path.unlink()
                self._db = self._opened()

    def _opened(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("BEGIN EXCLUSIVE")
            if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    db.execute(f'DROP TABLE "{name}"')
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            db.close()
            raise
        return db

    def length(self, file: str) -> int:
        """Bytes of a file whose records are known."""
        row = self._db.execute("SELECT bytes FROM files WHERE name = ?", (file,)).fetchone()
        return int(row[0]) if row else 0

    def files(self) -> list[str]:
        """The files that records are known of."""
        return [name for (name,) in self._db.execute("SELECT name FROM files")]

    def find(self, record_id: str) -> Place | None:
        """Where a record stands, None when it was not written."""
        row = self._db.execute(
            "SELECT id, type, file, start, length FROM records WHERE id = ?", (record_id,)
        ).fetchone()
        return Place(*row) if row else None

    def first(self, digest: Digest) -> Earlier | None:
        """The first record of a payload, None when there is none."""
        row = self._db.execute(
            "SELECT url, date, record FROM payloads WHERE sha256 = ?", (digest.value,)
        ).fetchone()
        return Earlier(row[0], row[1], digest, row[2]) if row else None

    def add(self, place: Place) -> None:
        """A record was written at the end of its file."""
        with self._reporting():
            if place.record_id:
                self._db.execute(
                    "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?)",
                    (place.record_id, place.type, place.file, place.offset, place.length),
                )
            self._db.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?)", (place.file, place.offset + place.length)
            )

    def add_payload(self, digest: Digest, url: str, date: str, place: Place) -> None:
        """`place` holds a payload; the first one that does stays its original."""
        with self._reporting():
            self._db.execute(
                "INSERT OR IGNORE INTO payloads VALUES (?, ?, ?, ?, ?)",
                (digest.value, url, date, place.record_id, place.file),
            )

    def add_container(self, container: Container) -> None:
        """A revisit refers into `container`."""
        with self._reporting():
            self._db.execute(
                "INSERT OR REPLACE INTO containers VALUES (?, ?, ?, ?)",
                (container.filename, container.crawl, container.hash, container.size),
            )

    def containers(self) -> list[Container]:
        """What revisits refer into, by name. Of one that was read back from a WARC only the name is known;
        it gives way to one that the index described."""
        found = [
            Container(*row)
            for row in self._db.execute(
                "SELECT filename, hash, size, crawl FROM containers ORDER BY filename, crawl"
            )
        ]
        described = {container.filename for container in found if container.crawl}
        return [one for one in found if one.crawl or one.filename not in described]

    def forget(self, file: str) -> None:
        """Drop all that is known of a file."""
        with self._reporting():
            for table, column in (("files", "name"), ("records", "file"), ("payloads", "file")):
                self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (file,))  # noqa: S608

    def commit(self) -> None:
        """Make what was added durable."""
        with self._reporting():
            self._db.execute("COMMIT")
            self._db.execute("BEGIN EXCLUSIVE")

    def close(self) -> None:
        """Give the file back; what was not committed is forgotten."""
        self._db.close()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise OutputError(
                    f"{self._path.parent}: another ccrawl run is writing WARC files here; "
                    "wait for it or choose another folder"
                ) from error
            raise OutputError(
                f"{self._path}: can't be written ({error}); "
                "free space or choose another folder, then run the same command again"
            ) from error
