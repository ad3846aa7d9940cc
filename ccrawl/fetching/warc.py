"""`--warc`: what a refetch saw, as WARC files that are whole whenever the run is stopped.

    DIR/PREFIX-00000.warc.gz         finished, PREFIX-00001 and so on after it
    DIR/PREFIX-00002.warc.gz.open    being written
    DIR/.PREFIX.places.sqlite        where each record is; made anew from the files when it is missing

Each exchange gives a response and its request, redirects too. A body that the output holds already, or that
the caller knows to stand elsewhere, gives a revisit. An empty, cut or unreadable one never does.

A killed run leaves an `.open` file whose last record may be cut off in the middle. The next one cuts it
behind its last whole record and goes on there; an exchange that was written is not written again, so that a
caller may hand over everything it is not sure of.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import unquote

from ccrawl.archives import Damage, Location, parse_digest
from ccrawl.archives.locations import records_in
from ccrawl.archives.wacz import Section
from ccrawl.dataset.files import sync_directory
from ccrawl.dataset.layout import check_crawl_id
from ccrawl.errors import OutputError
from ccrawl.fetching.types import Exchange, Fetched
from ccrawl.fetching.warc_places import Place, Places
from ccrawl.fetching.warc_records import (
    CONTAINER,
    Container,
    Earlier,
    has_payload,
    payload_digest,
    record_ids,
    request_record,
    response_record,
    revisit_record,
    truncation,
    warc_date,
    warc_uri,
    warcinfo_record,
)

if TYPE_CHECKING:
    from ccrawl.archives import Digest
    from ccrawl.archives.framing import Record
    from ccrawl.index import Original, Package

SUFFIX = ".warc.gz"
OPEN = ".open"
MAX_BYTES = 1 << 30
_STEP = 1 << 16


@dataclass(frozen=True, slots=True)
class WarcOptions:
    """prefix: what the files' names begin with, as a crawl may be named; max_bytes: a file that would grow
    above it is finished, and another begun (a single exchange may be larger)
    operator, user_agent, robots, description: for the warcinfo record, left out when empty
    """

    prefix: str = "refetch"
    max_bytes: int = MAX_BYTES
    operator: str = ""
    user_agent: str = ""
    robots: str = ""
    description: str = ""

    @property
    def warcinfo(self) -> list[tuple[str, str]]:
        """The fields of the warcinfo record."""
        return [
            ("operator", self.operator),
            ("http-header-user-agent", self.user_agent),
            ("robots", self.robots),
            ("isPartOf", self.prefix),
            ("description", self.description),
        ]


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found of a run that was killed: files left open; whole records in them that were not synced;
    bytes cut off."""

    files: int = 0
    records: int = 0
    cut_bytes: int = 0


class WarcOutput:
    """WARC files in a folder, written by one process at a time. Use as a context manager.

    Every method raises OutputError when the disk refuses, and the constructor when another process writes
    here. Not for two threads at once; any thread may be the one.
    """

    def __init__(self, directory: Path, options: WarcOptions | None = None) -> None:
        self._options = options or WarcOptions()
        check_crawl_id(self._options.prefix)
        self._directory = directory
        self._file: IO[bytes] | None = None
        self._name = ""
        self._size = 0
        self._containers: list[Container] | None = None  # once closed
        with _reporting(directory):
            directory.mkdir(parents=True, exist_ok=True)
        self._places = Places(directory / f".{self._options.prefix}.places.sqlite")
        try:
            with _reporting(directory):
                self.recovered = self._recover()
        except BaseException:
            self._places.close()
            raise

    def __enter__(self) -> WarcOutput:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def files(self) -> list[Path]:
        """The finished files, in the order in which they were written."""
        return _files(self._directory, self._options.prefix)

    def write(self, fetched: Fetched, earlier: Earlier | None = None) -> list[Place]:
        """Write what came of a target; returns where its records are, answer before request, hop by hop.

        `earlier` is a record elsewhere with the payload of the last answer, as the dedupe index knows it; one
        in this output is preferred to it. What was written before is not written again, and where it is is
        returned. Durable after `sync`.
        """
        places: list[Place] = []
        last = len(fetched.exchanges) - 1
        for hop, exchange in enumerate(fetched.exchanges):
            if not exchange.response_head:
                continue
            ids = record_ids(fetched.target.position, hop, exchange)
            error, known = (fetched.error, earlier) if hop == last else ("", None)
            places += self._write_exchange(exchange, ids, truncation(exchange, error), known)
        return places

    def sync(self) -> None:
        """Make all that was written durable."""
        if self._file is not None:
            with _reporting(self._path(OPEN)):
                os.fsync(self._file.fileno())
        self._places.commit()

    def containers(self) -> list[Container]:
        """The WACZ files elsewhere that revisits of this output refer into, what `write_wacz` needs to know.
        To be asked after `close`, too."""
        return self._places.containers() if self._containers is None else self._containers

    def close(self) -> None:
        """Finish the open file, so that all of the output can be read. May be called twice."""
        if self._containers is not None:
            return
        try:
            self._finish()
            self._containers = self._places.containers()
        finally:
            self._places.close()

    def leave(self) -> None:
        """Let go of the output as it is, durable; the next one of the folder goes on in the open file."""
        try:
            self.sync()
        finally:
            if self._file is not None:
                self._file.close()
            self._places.close()

    def _write_exchange(
        self, exchange: Exchange, ids: tuple[str, str], truncated: str, elsewhere: Earlier | None
    ) -> list[Place]:
        answer_id, request_id = ids
        digest = payload_digest(exchange.body) if has_payload(exchange) else None
        repeatable = digest if exchange.body and not truncated else None
        earlier = (self._places.first(repeatable) or elsewhere) if repeatable else None
        request = request_record(exchange, request_id, answer_id) if exchange.request_head else b""
        answer = self._places.find(answer_id)
        if answer is None:
            kind, member = (
                ("revisit", revisit_record(exchange, answer_id, earlier))
                if earlier
                else ("response", response_record(exchange, answer_id, digest, truncated))
            )
            self._make_room(len(member) + len(request), exchange.started_at)
            answer = self._append(answer_id, kind, member)
            if repeatable and not earlier:
                uri, date = warc_uri(exchange.url), warc_date(exchange.started_at)
                self._places.add_payload(repeatable, uri, date, answer)
        if earlier and earlier.container and answer.type == "revisit":
            self._places.add_container(earlier.container)
        if not request:
            return [answer]
        asked = self._places.find(request_id)
        if asked is None:
            if self._file is None:  # the run was killed between the two, at a file's end
                self._begin(warc_date(exchange.started_at))
            asked = self._append(request_id, "request", request)
        return [answer, asked]

    def _append(self, record_id: str, kind: str, member: bytes) -> Place:
        assert self._file is not None
        place = Place(record_id, kind, self._name, self._size, len(member))
        try:
            with _reporting(self._path(OPEN)):
                view = memoryview(member)
                while view:  # an unbuffered file may take less than it was given
                    view = view[self._file.write(view) :]
        except OutputError:
            self._file.truncate(self._size)  # no half record stays, even when nobody comes back
            raise
        self._size += len(member)
        self._places.add(place)
        return place

    def _make_room(self, size: int, started_at: int) -> None:
        """Have a file open that may grow by `size` bytes. A new one is dated as its first exchange is."""
        if self._file is not None and self._size + size > self._options.max_bytes:
            self._finish()
        if self._file is None:
            self._begin(warc_date(started_at))

    def _begin(self, date: str) -> None:
        files = self.files
        serial = int(files[-1].name.removesuffix(SUFFIX).rpartition("-")[2]) + 1 if files else 0
        self._name, self._size = f"{self._options.prefix}-{serial:05d}{SUFFIX}", 0
        with _reporting(self._path(OPEN)):
            self._file = self._path(OPEN).open("xb", buffering=0)
        self._append("", "warcinfo", warcinfo_record(self._name, date, self._options.warcinfo))

    def _finish(self) -> None:
        """Give the open file its name."""
        if self._file is None:
            return
        with _reporting(self._path(OPEN)):
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
            self._path(OPEN).rename(self._path())
            sync_directory(self._directory)
        self._places.commit()

    def _path(self, suffix: str = "") -> Path:
        return self._directory / (self._name + suffix)

    def _recover(self) -> Recovered:
        """Learn what the folder holds; go on with the file that a killed run left open."""
        left = _files(self._directory, self._options.prefix, OPEN)
        there = {path.name.removesuffix(OPEN) for path in [*self.files, *left]}
        for name in self._places.files():
            if name not in there:  # somebody took it away
                self._places.forget(name)
        for path in self.files:
            self._learn(path, path.name)
        records = cut = 0
        for path in left:
            self._finish()
            self._name = path.name.removesuffix(OPEN)
            count, self._size = self._learn(path, self._name)
            records += count
            cut += path.stat().st_size - self._size
            if not self._size:
                path.unlink()
                continue
            os.truncate(path, self._size)
            self._file = path.open("ab", buffering=0)
        self._places.commit()
        return Recovered(len(left), records, cut)

    def _learn(self, path: Path, name: str) -> tuple[int, int]:
        """Note the records of a file that the places don't have. Returns how many whole records it holds
        from there on, and where the last of all ends."""
        size, known = path.stat().st_size, self._places.length(name)
        if known > size:  # somebody cut it
            self._places.forget(name)
            known = 0
        count = 0
        with path.open("rb") as file:
            for record in _whole_records(file, name, known, size):
                known = self._note(record, name)
                count += 1
        return count, known

    def _note(self, record: Record, file: str) -> int:
        """Put a record that was read back among the places; returns where it ends."""
        assert record.offset is not None and record.length is not None
        kind = record.head.type
        record_id = "" if kind == "warcinfo" else record.field(b"warc-record-id")
        place = Place(record_id, kind, file, record.offset, record.length)
        self._places.add(place)
        digest = parse_digest(record.field(b"warc-payload-digest"))
        if kind == "response" and digest and not record.field(b"warc-truncated"):
            url, date = record.field(b"warc-target-uri"), record.field(b"warc-date")
            if digest != payload_digest(b""):
                self._places.add_payload(digest, url, date, place)
        if container := record.field(b"warc-refers-to-container"):
            self._places.add_container(Container(unquote(container.removeprefix(CONTAINER))))
        return record.offset + record.length


def earlier_in_index(original: Original, digest: Digest, package: Package | None) -> Earlier:
    """What the dedupe index knows of a payload's first copy, for `WarcOutput.write`.

    `digest` is the one it was found by. `package` is the file of its crawl that holds it, where known: a WACZ
    is named in the revisit, so that a reader finds it.
    """
    digits = original.date
    date = ""
    if len(digits) >= 14:
        date = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}"
        date += f".{digits[14:]}Z" if digits[14:] else "Z"
    container = None
    if package is not None and package.filename.lower().endswith(".wacz"):
        container = Container(package.filename, package.hash, package.size, original.crawl)
    return Earlier(original.url, date, digest, container=container)


def remove_warcs(directory: Path, prefix: str) -> int:
    """Delete an output, finished or not; returns how many WARC files it had. For a run that starts again."""
    check_crawl_id(prefix)
    with _reporting(directory):
        found = [*_files(directory, prefix), *_files(directory, prefix, OPEN)]
        for path in [*found, *directory.glob(f".{prefix}.places.sqlite*")]:
            path.unlink(missing_ok=True)
    return len(found)


def _files(directory: Path, prefix: str, suffix: str = "") -> list[Path]:
    named = re.compile(rf"{re.escape(prefix)}-(\d{{5,}}){re.escape(SUFFIX + suffix)}")
    found = [(match, path) for path in directory.iterdir() if (match := named.fullmatch(path.name))]
    return [path for _, path in sorted(found, key=lambda pair: int(pair[0][1]))]


def _whole_records(file: IO[bytes], name: str, start: int, end: int) -> Iterator[Record]:
    """The records of a file between two offsets, as far as they follow each other without damage."""
    damage: list[Damage] = []
    note: Callable[[Damage], None] = damage.append
    if start >= end:
        return
    piece = cast(IO[bytes], Section(file, start, end - start))
    location = Location(name, start, end - start)
    for record in records_in(piece, location, keep=lambda _: 0, damaged=note):
        if damage or record.offset != start or record.length is None:
            return
        after = record.offset + record.length
        if after == end and not _is_whole_member(file, record.offset, end):
            return  # readers forgive a member that lacks its checksum; what is put after it would be lost
        yield record
        start = after


def _is_whole_member(file: IO[bytes], start: int, end: int) -> bool:
    inflater = zlib.decompressobj(31)
    file.seek(start)
    while not inflater.eof and (piece := file.read(min(_STEP, end - file.tell()))):
        inflater.decompress(piece)
    return inflater.eof


@contextmanager
def _reporting(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: can't be written ({error.strerror or error}); "
            "free space or choose another folder, then run the same command again"
        ) from error
