"""WACZ: archives inside a ZIP file, read in place.

Members are read where they lie: stored ones as a section of the file, deflated ones as a stream. Nothing is
unpacked to disk or whole into memory. Sources: WACZ 1.1.1 and Multi-WACZ (Webrecorder specifications),
PKWARE's APPNOTE.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import IO, Any, cast
from urllib.parse import urljoin

from isal import isal_zlib

from ccrawl.archives.codecs import GZIP, ISAL_ZLIB_ERROR
from ccrawl.archives.names import WARC_SUFFIXES
from ccrawl.errors import SourceError

ZIP_START = (b"PK\x03\x04", b"PK\x05\x06")
MAX_ENTRIES = 1_000_000
MAX_DIRECTORY = 256 << 20
MAX_DEPTH = 3
MAX_MANIFEST = 16 << 20
# A WACZ packed inside another unpacks to at most so many bytes, or so many times its packed size: it holds
# compressed records, which hardly shrink.
MAX_UNPACKED, MAX_PACKED_TIMES = 1 << 30, 8
_STEP = 1 << 16
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_END = struct.Struct("<4s8xLL")


class Section(io.RawIOBase):
    """Bytes start to start+size of a seekable file, as a file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__()
        self._file = file
        self._start = start
        self.size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._start + self._at)
        piece = self._file.read(max(0, min(len(buffer), self.size - self._at)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


class Inflated(io.RawIOBase):
    """What a deflated member decodes to, read forward. It ends where the member is damaged.

    zipfile's own stream raises there and at a wrong checksum, and takes with it what it had decoded.
    """

    def __init__(self, section: Section) -> None:
        super().__init__()
        self.packed_size = section.size
        self._section = section
        self.rewind()

    def rewind(self) -> None:
        """Begin anew."""
        self._section.seek(0)
        self._inflater: Any = isal_zlib.decompressobj(-15)
        self._input = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        decoded = b""
        while not decoded and not self._inflater.eof:
            self._input = self._input or self._section.read(_STEP) or b""
            try:
                # Without input too: what it has taken in may not all have been given out.
                decoded = self._inflater.decompress(self._input, len(buffer))
            except ISAL_ZLIB_ERROR:
                break
            if not self._input and not decoded:
                break
            self._input = self._inflater.unconsumed_tail
        buffer[: len(decoded)] = decoded
        return len(decoded)


class Forgiving(io.RawIOBase):
    """A member in another compression, through zipfile. It too ends where the member is damaged."""

    def __init__(self, file: IO[bytes], packed_size: int) -> None:
        super().__init__()
        self.packed_size = packed_size
        self._file = file

    def rewind(self) -> None:
        """Begin anew."""
        self._file.seek(0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read(min(len(buffer), _STEP))
        except (zipfile.BadZipFile, OSError, EOFError, lzma.LZMAError):
            return 0
        buffer[: len(piece)] = piece
        return len(piece)


class Rewinding(io.RawIOBase):
    """A compressed member that can be sought in: going back begins anew. For a WACZ packed inside another,
    whose directory costs two or three readings of it. SourceError beyond MAX_UNPACKED.
    """

    def __init__(self, file: Inflated | Forgiving, where: str) -> None:
        super().__init__()
        self._file = file
        self._where = where
        self._most = max(MAX_UNPACKED, MAX_PACKED_TIMES * file.packed_size)
        self._at = 0  # where the caller stands
        self._stands = 0  # where the member itself stands

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            while self._skip(_STEP):
                pass
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._stands}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at < self._stands:
            self._file.rewind()
            self._stands = 0
        while self._stands < self._at:
            if not self._skip(min(_STEP, self._at - self._stands)):
                return 0
        size = self._file.readinto(buffer)
        self._stands += size
        self._at = self._stands
        return size

    def _skip(self, size: int) -> int:
        skipped = len(self._file.read(size) or b"")
        self._stands += skipped
        if self._stands > self._most:
            raise SourceError(
                f"{self._where}: unpacks to more than {self._most} bytes; store it in its ZIP instead"
            )
        return skipped


def open_zip(file: IO[bytes], name: str) -> zipfile.ZipFile:
    """Open a ZIP for reading. SourceError when its directory is missing, damaged or absurdly large."""
    try:
        file.seek(0, io.SEEK_END)
        size = file.tell()
        file.seek(max(0, size - 66_000))
        tail = file.read(66_000)
        end = tail.rfind(b"PK\x05\x06")
        if end >= 0 and len(tail) >= end + _END.size:
            directory = _END.unpack_from(tail, end)[1]
            if directory != 0xFFFFFFFF and directory > MAX_DIRECTORY:
                raise SourceError(f"{name}: the ZIP directory of {directory} bytes is above {MAX_DIRECTORY}")
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError, EOFError) as error:
        raise SourceError(
            f"{name}: the ZIP directory at the end of the file is missing or damaged ({error}); "
            "the file was probably cut: fetch it again, or repair it with `zip -FF`"
        ) from error
    if len(archive.infolist()) > MAX_ENTRIES:
        raise SourceError(f"{name}: {len(archive.infolist())} entries, at most {MAX_ENTRIES} are read")
    return archive


def warc_members(archive: zipfile.ZipFile) -> list[str]:
    """Names of the WARC (and nested WACZ) members, sorted; names that climb out of the ZIP are left out."""
    found = set()
    for entry in archive.infolist():
        name = entry.filename
        if entry.is_dir() or name.startswith("/") or ".." in PurePosixPath(name.replace("\\", "/")).parts:
            continue
        lowered = name.lower()
        if lowered.endswith((*WARC_SUFFIXES, ".wacz")) or (
            lowered.startswith("archive/") and _is_archive(archive, entry)
        ):
            found.add(name)
    return sorted(found)


def _is_archive(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    """Whether a member under archive/ with a name of another kind is WARC by its bytes."""
    try:
        with archive.open(entry) as file:
            start = file.read(4096)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, zlib.error, EOFError):
        return False
    if start.startswith(GZIP.magic):
        try:
            start = GZIP.decoder().decompress(start, 64)
        except GZIP.errors:
            return False
    return start.startswith((b"WARC/", b"filedesc:"))


def open_member(
    archive: zipfile.ZipFile, file: IO[bytes], name: str, where: str
) -> tuple[IO[bytes], int, bool]:
    """Open a member: (file, size in bytes, whether seeking in it is cheap)."""
    try:
        entry = archive.getinfo(name)
        if entry.flag_bits & 1:
            raise SourceError(f"{where}: the member {name} is encrypted")
        if entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            start = entry.header_offset
            file.seek(start)
            magic, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
            if magic != b"PK\x03\x04":
                raise SourceError(f"{where}: the ZIP directory points to no member for {name}")
            data = start + _LOCAL_HEADER.size + int(name_length) + int(extra_length)
            section = Section(file, data, entry.compress_size)
            if entry.compress_type == zipfile.ZIP_STORED:
                return cast(IO[bytes], section), entry.compress_size, True
            return cast(IO[bytes], Inflated(section)), entry.file_size, False
        return cast(IO[bytes], Forgiving(archive.open(entry), entry.compress_size)), entry.file_size, False
    except KeyError as error:
        raise SourceError(f"{where}: holds no member {name}") from error
    except (
        zipfile.BadZipFile,
        OSError,
        struct.error,
        RuntimeError,
        NotImplementedError,
        zlib.error,
    ) as error:
        raise SourceError(f"{where}: the member {name} can't be read: {error}") from error


def manifest_paths(text: bytes, base: str) -> list[str]:
    """Paths or URLs of the WACZ files that a Multi-WACZ manifest (JSON) names, resolved against its own
    place.

    SourceError when it isn't one.
    """
    try:
        manifest = json.loads(text)
        resources = manifest["resources"]
        names = [resource.get("url") or resource["path"] for resource in resources]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(
            f"{base}: not a Multi-WACZ manifest: a JSON object with resources that have a path"
        ) from error
    folder = base.rpartition("/")[0]
    resolved = []
    for name in names:
        if not isinstance(name, str) or not name.partition("?")[0].lower().endswith(".wacz"):
            continue
        if "://" in name:
            if not name.lower().startswith(("http://", "https://", "s3://")):
                raise SourceError(f"{base}: names {name[:100]!r}, which is no http, https or s3 URL")
            resolved.append(name)
        elif "://" in base:
            resolved.append(urljoin(base, name))
        elif name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise SourceError(f"{base}: names {name[:100]!r}, which lies outside its folder")
        else:
            resolved.append(f"{folder}/{name}" if folder else name)
    return resolved
