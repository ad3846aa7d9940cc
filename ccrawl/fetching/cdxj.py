"""The index of WARC files: a CDXJ line a capture, sorted, as replay tools look captures up.

    com,example)/ 20250101000000 {"url": "http://example.com/", "mime": "text/html", "status": "200", ...}

The lines are those of cdxj-indexer. They are sorted in a SQLite file without a name, which keeps memory the
same for any number of them.

Compressed, an index is blocks of lines, each a gzip member, and a second file that says where each block
begins ("ZipNum"). Sources: pywb's CDXJ, Webrecorder's WACZ 1.1.1 (indexes).
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from isal import igzip

from ccrawl.archives import Damage, Source
from ccrawl.archives.fields import parse_date
from ccrawl.archives.framing import Record
from ccrawl.archives.http import content_type_of
from ccrawl.archives.media import HTML, XHTML, media_type
from ccrawl.archives.reader import read_records
from ccrawl.errors import ArchiveError, OutputError
from ccrawl.fetching.surt import surt
from ccrawl.fetching.warc_records import CONTAINER, warc_uri

BLOCK_LINES = 1024  # as py-wacz has it
_LEVEL = 2
_END_OF_TYPE = re.compile(r"[;\s]")


@dataclass(frozen=True, slots=True)
class PageCapture:
    """A capture that is a page: HTML, whole, status 200. date: its WARC-Date; title: "" when not known."""

    url: str
    date: str
    title: str = ""


class CdxIndex:
    """Captures of WARC files, and which of them are pages. OutputError when the disk is full."""

    def __init__(self) -> None:
        self.captures = 0
        self.containers: set[str] = set()  # names of WACZ files that revisits refer into
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("CREATE TABLE lines (line BLOB NOT NULL)")
        self._db.execute("CREATE TABLE pages (url TEXT NOT NULL, date TEXT NOT NULL)")
        self._db.execute("CREATE TABLE titles (url TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> CdxIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def add(self, path: Path) -> None:
        """Index the responses and revisits of a WARC file. ArchiveError when it is damaged."""

        def damaged(damage: Damage) -> None:
            raise ArchiveError(
                f"{path}: damaged at offset {damage.offset} ({damage.cause}); ccrawl check {path} tells more"
            )

        source = Source(path.name, str(path), path.stat().st_size)
        with _reporting():
            self._db.execute("BEGIN")
            # Of a body only as much is held as an HTTP head may take.
            for _, record in read_records(source, keep=lambda _: 1, damaged=damaged):
                if record.head.type in ("response", "revisit"):
                    self._add(record, path.name)
            self._db.execute("COMMIT")

    def add_titles(self, titles: Iterable[tuple[str, str]]) -> None:
        """Titles of pages by URL; the last one of a URL counts."""
        told = ((warc_uri(url), title.encode("utf-8", "replace").decode()) for url, title in titles if title)
        with _reporting():
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR REPLACE INTO titles VALUES (?, ?)", told)
            self._db.execute("COMMIT")

    def lines(self) -> Iterator[bytes]:
        """The lines of the index in order, each with its line end."""
        with _reporting():
            for (line,) in self._db.execute("SELECT line FROM lines ORDER BY line"):
                yield line

    def pages(self) -> Iterator[PageCapture]:
        """The captures that are pages, in the order in which they were added."""
        with _reporting():
            for page in self._db.execute(
                "SELECT url, date, coalesce(title, '') FROM pages LEFT JOIN titles USING (url) "
                "ORDER BY pages.rowid"
            ):
                yield PageCapture(*page)

    def _add(self, record: Record, filename: str) -> None:
        url, date = record.field(b"warc-target-uri"), record.field(b"warc-date")
        when = parse_date(date)
        http = record.http()
        content_type = content_type_of(http.fields.get(b"content-type", [])) if http else None
        status = http.status if http else None
        revisit = record.head.type == "revisit"
        kind = "warc/revisit" if revisit else _END_OF_TYPE.split(content_type or "", maxsplit=1)[0]
        told = {
            "url": url,
            "mime": kind,
            "status": "" if status is None else str(status),
            "digest": record.field(b"warc-payload-digest"),
            "length": str(record.length or 0),
            "offset": str(record.offset or 0),
            "filename": filename,
        }
        values = json.dumps({name: value for name, value in told.items() if value})
        timestamp = when.strftime("%Y%m%d%H%M%S") if when else "00000101000000"
        self._db.execute("INSERT INTO lines VALUES (?)", (f"{surt(url)} {timestamp} {values}\n".encode(),))
        self.captures += 1
        page = status == 200 and media_type(content_type) in (HTML, XHTML)
        if page and not record.field(b"warc-truncated"):
            self._db.execute("INSERT INTO pages VALUES (?, ?)", (url, date))
        if container := record.field(b"warc-refers-to-container"):
            self.containers.add(unquote(container.removeprefix(CONTAINER)))


def write_blocks(lines: Iterator[bytes], file: IO[bytes], filename: str) -> Iterator[bytes]:
    """Write sorted lines to `file`, which will be called `filename`, in compressed blocks; gives the lines of
    the index of blocks."""
    meta = {"format": "cdxj-gzip-1.0", "filename": filename}
    yield f"!meta 0 {json.dumps(meta)}\n".encode()
    offset = 0
    block: list[bytes] = []

    def flush() -> bytes:
        nonlocal offset
        packed = igzip.compress(b"".join(block), _LEVEL, mtime=0)
        file.write(packed)
        key = b" ".join(block[0].split(b" ", 2)[:2])
        place = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
        }
        offset += len(packed)
        block.clear()
        return key + f" {json.dumps(place)}\n".encode()

    for line in lines:
        block.append(line)
        if len(block) == BLOCK_LINES:
            yield flush()
    if block:
        yield flush()


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OutputError(
            f"the index can't be sorted ({error}); free space in the folder for temporary files (TMPDIR)"
        ) from error
