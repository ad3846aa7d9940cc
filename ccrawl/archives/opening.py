"""Opening a source: local or remote, whole or a member of a WACZ, through the cache where one is wanted."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from ccrawl.archives.names import is_remote
from ccrawl.archives.remote import open_url
from ccrawl.archives.wacz import MAX_MANIFEST, Forgiving, Inflated, Rewinding, open_member, open_zip
from ccrawl.archives.window import Window
from ccrawl.errors import SourceError

if TYPE_CHECKING:
    from ccrawl.archives.sources import Source

_COPY = 1 << 20


@contextmanager
def open_source(source: Source) -> Iterator[Window]:
    """The bytes of a source. Raises SourceError when it can't be opened."""
    with ExitStack() as stack:
        file, size, cheap = _opened(stack, source, source.members)
        yield Window(file, size, cheap_seek=cheap)


@contextmanager
def open_file(source: Source) -> Iterator[IO[bytes]]:
    """A source as a file that can be sought in. Raises SourceError when it can't be opened."""
    with ExitStack() as stack:
        yield _opened(stack, source, source.members)[0]


def is_pipe(source: Source) -> bool:
    """Whether the bytes of a source come only once."""
    return not is_remote(source.path) and not Path(source.path).is_file()


@contextmanager
def open_container(source: Source) -> Iterator[tuple[zipfile.ZipFile, IO[bytes]]]:
    """A WACZ as a ZIP file, and the file that it lies in."""
    with ExitStack() as stack:
        file, _, _ = _opened(stack, source, source.members)
        file = _seekable(stack, file, source.name)
        yield open_zip(file, source.name), file


def _opened(stack: ExitStack, source: Source, members: tuple[str, ...]) -> tuple[IO[bytes], int | None, bool]:
    if not members:
        return _outermost(stack, source)
    outer, _, cheap = _opened(stack, source, members[:-1])
    where = "/".join([source.path, *members[:-1]])
    outer = _seekable(stack, outer, where)
    archive = stack.enter_context(open_zip(outer, where))
    file, size, stored = open_member(archive, outer, members[-1], where)
    return file, size, cheap and stored


def _seekable(stack: ExitStack, file: IO[bytes], where: str) -> IO[bytes]:
    """`file` for reading at any place, as the directory at the end of a ZIP asks for."""
    raw: object = file
    if isinstance(raw, Inflated | Forgiving):
        raw = Rewinding(raw, where)
    if isinstance(raw, io.RawIOBase) and raw.seekable():
        return stack.enter_context(io.BufferedReader(raw, 1 << 16))
    if not file.seekable():
        raise SourceError(f"{where}: a ZIP can't be read from a pipe; name a file")
    return file


def _outermost(stack: ExitStack, source: Source) -> tuple[IO[bytes], int | None, bool]:
    path = source.path
    if is_remote(path):
        if not source.cache:
            remote = stack.enter_context(open_url(path))
            return cast(IO[bytes], remote), remote.size, False
        path = cached(path, source.cache)
    try:
        file = stack.enter_context(Path(path).open("rb", buffering=0))  # noqa: SIM115 (the stack closes it)
        size = os.fstat(file.fileno()).st_size
        if not file.seekable():
            return cast(IO[bytes], file), None, False
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    return cast(IO[bytes], file), size, True


def cached(url: str, directory: str) -> str:
    """The path of a local copy of `url` in `directory`, fetched when it isn't there yet.

    The copy is written aside and renamed when it is whole. Raises SourceError.
    """
    name = url.partition("?")[0].rpartition("/")[2]
    target = Path(directory) / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{name[-100:]}"
    if target.exists():
        return str(target)
    aside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_url(url) as remote, aside.open("wb") as copy:
            while block := remote.read(_COPY):
                copy.write(block)
        aside.replace(target)
    except OSError as error:
        raise SourceError(f"{target}: {error.strerror or error}: the cache can't be written") from error
    finally:
        aside.unlink(missing_ok=True)
    return str(target)


def read_small(path: str, limit: int = MAX_MANIFEST) -> bytes:
    """All of a small local or remote file. SourceError above `limit` bytes, or when it can't be read."""
    content = b""
    try:
        with cast(IO[bytes], open_url(path)) if is_remote(path) else Path(path).open("rb") as file:
            while len(content) <= limit and (block := file.read(_COPY)):
                content += block
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    if len(content) > limit:
        raise SourceError(f"{path}: larger than {limit} bytes")
    return content
