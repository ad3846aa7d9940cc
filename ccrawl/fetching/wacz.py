"""`--wacz`: WARC files, their index and their pages in one file that replay tools open (WACZ 1.1.1).

    archive/*.warc.gz           the WARC files, stored as they are
    indexes/index.cdx.gz, .idx  every capture, by URL
    pages/pages.jsonl           what a reader may open
    datapackage.json            the list of all that, with SHA-256; which other WACZ files this one needs
    datapackage-digest.json     the SHA-256 of that list

Written aside and renamed. Sources: Webrecorder's WACZ 1.1.1 specification; `relation.requires` as Browsertrix
Crawler writes it. Above 4 GiB the file is ZIP64.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ccrawl.dataset.files import aside, sync_directory
from ccrawl.dataset.ledger import file_sha256
from ccrawl.errors import OutputError, UsageError
from ccrawl.fetching.cdxj import CdxIndex, PageCapture, write_blocks
from ccrawl.fetching.warc_records import SOFTWARE, Container

VERSION = "1.1.1"
_STEP = 1 << 20
_IN_MEMORY = 16 << 20
_PAGE_IDS = uuid.UUID("0a3a5b3e-7f0e-5d43-9a0e-6f5ae1c6d9b1")  # ours, for the ids of pages


@dataclass(frozen=True, slots=True)
class WaczReport:
    """A finished WACZ, as a dedupe index or another WACZ refers to it. sha256: in hex; bytes: its size."""

    path: Path
    bytes: int
    sha256: str
    captures: int
    pages: int


@dataclass(frozen=True, slots=True)
class _Resource:
    """A file of the package, as datapackage.json lists it."""

    path: str
    sha256: str
    bytes: int

    def as_json(self) -> dict[str, Any]:
        # A name may have lower-case letters only (Frictionless Data Resource).
        name = self.path.rpartition("/")[2].lower()
        return {"name": name, "path": self.path, "hash": f"sha256:{self.sha256}", "bytes": self.bytes}


def write_wacz(
    warcs: Sequence[Path],
    path: Path,
    *,
    title: str = "",
    description: str = "",
    titles: Iterable[tuple[str, str]] = (),
    requires: Iterable[Container] = (),
    created: datetime | None = None,
) -> WaczReport:
    """Pack WARC files into a WACZ at `path`, replacing one that is there.

    Its pages are the HTML captures of status 200, named by `titles`, pairs of URL and title. `requires` are
    the WACZ files that hold originals of revisits; others that the revisits name are added by their name.
    `created` is now unless given.

    Raises UsageError for two files of one name, ArchiveError for a damaged one, OutputError.
    """
    names = [warc.name for warc in warcs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{path}: two WARC files are named {twice}; a WACZ can hold one of them")
    created = (created or datetime.now(UTC)).astimezone(UTC)
    temporary = aside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with CdxIndex() as index:
            for warc in warcs:
                index.add(warc)
            index.add_titles(titles)
            with zipfile.ZipFile(temporary, "x", zipfile.ZIP_STORED) as package:
                packing = _Packing(package, created)
                for warc in warcs:
                    with warc.open("rb") as file:
                        packing.store(f"archive/{warc.name}", file)
                _pack_index(packing, index)
                count = _pack_pages(packing, index.pages())
                needed = _needed(requires, index.containers, path.name)
                packing.describe(title, description, needed)
            captures = index.captures
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        report = WaczReport(path, temporary.stat().st_size, file_sha256(temporary), captures, count)
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise OutputError(f"{path}: can't be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)
    return report


class _Packing:
    """A ZIP under construction and the list of what is in it."""

    def __init__(self, package: zipfile.ZipFile, created: datetime) -> None:
        self._package = package
        self._created = created
        self._resources: list[_Resource] = []

    def store(self, name: str, file: IO[bytes]) -> None:
        """Copy a file into the package from its beginning. WARC files and compressed indexes have to lie
        there as they are, so that readers can go to a record; others are deflated."""
        entry = zipfile.ZipInfo(name, self._created.timetuple()[:6])
        if not name.endswith(".gz"):
            entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        entry.file_size = file.seek(0, os.SEEK_END)  # whether the entry has to be ZIP64 depends on it
        file.seek(0)
        digest = hashlib.sha256()
        with self._package.open(entry, "w") as member:
            while piece := file.read(_STEP):
                digest.update(piece)
                member.write(piece)
        self._resources.append(_Resource(name, digest.hexdigest(), entry.file_size))

    def fill(self, name: str, fill: Callable[[IO[bytes]], None]) -> None:
        """Store what `fill` writes."""
        folder = str(Path(self._package.filename or ".").parent)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=folder) as file:
            fill(file)
            self.store(name, file)

    def describe(self, title: str, description: str, requires: list[dict[str, Any]]) -> None:
        """Store datapackage.json, and the digest of it."""
        package: dict[str, Any] = {
            "profile": "data-package",
            "resources": [resource.as_json() for resource in self._resources],
            "created": self._created.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "wacz_version": VERSION,
            "software": SOFTWARE,
        }
        if title:
            package["title"] = title
        if description:
            package["description"] = description
        if requires:
            package["relation"] = {"requires": requires}
        text = json.dumps(package, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}
        for name, content in (
            ("datapackage.json", text),
            ("datapackage-digest.json", json.dumps(digest, indent=2).encode()),
        ):
            self._package.writestr(zipfile.ZipInfo(name, self._created.timetuple()[:6]), content)


def _pack_index(packing: _Packing, index: CdxIndex) -> None:
    blocks: list[bytes] = []
    packing.fill(
        "indexes/index.cdx.gz",
        lambda file: blocks.extend(write_blocks(index.lines(), file, "index.cdx.gz")),
    )
    packing.fill("indexes/index.idx", lambda file: file.writelines(blocks))


def _pack_pages(packing: _Packing, pages: Iterable[PageCapture]) -> int:
    count = 0

    def fill(file: IO[bytes]) -> None:
        nonlocal count
        file.write(b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n')
        for page in pages:
            line = {"id": str(uuid.uuid5(_PAGE_IDS, f"{count} {page.date} {page.url}"))}
            line |= {"url": page.url, "ts": page.date}
            line |= {"title": page.title} if page.title else {}
            file.write(json.dumps(line).encode() + b"\n")
            count += 1

    packing.fill("pages/pages.jsonl", fill)
    return count


def _needed(requires: Iterable[Container], named: Iterable[str], own: str) -> list[dict[str, Any]]:
    """`relation.requires`: what is known of each WACZ, by name; a package never requires itself."""
    known = list(requires)
    names = {container.filename for container in known}
    known += [Container(name) for name in named if name not in names]
    needed = []
    for container in sorted(known, key=lambda one: (one.filename, one.crawl)):
        if container.filename == own:
            continue
        told = {
            "filename": container.filename,
            "hash": container.hash,
            "size": container.size,
            "crawlId": container.crawl or None,
        }
        needed.append({name: value for name, value in told.items() if value is not None})
    return needed
