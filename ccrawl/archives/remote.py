"""Files over the network, read forward: http(s) in one stream (`http_file`), all else through fsspec."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ccrawl.errors import SourceError
from ccrawl.extras import install_command

BLOCK = 8 << 20


@dataclass(frozen=True, slots=True)
class Retry:
    """attempts: without a byte of progress; timeout and pauses in seconds, each pause twice the one before"""

    attempts: int = 6
    timeout: float = 60.0
    pause: float = 0.5
    longest_pause: float = 60.0

    def sleep(self, failures: int, asked: str | None = None) -> None:
        """Wait before the next attempt, as long as the server asked for where it did (Retry-After)."""
        pause = self.pause * 2 ** (failures - 1)
        if asked and asked.strip().isdigit():
            pause = max(pause, float(asked.strip()))
        time.sleep(min(pause, self.longest_pause))


DEFAULT_RETRY = Retry()


class RemoteFile(io.RawIOBase):
    """A read-only remote file with a position; `readinto` and `_size` are what protocols differ in."""

    def __init__(self) -> None:
        self._at = 0
        self._until: int | None = None

    def expect(self, end: int) -> None:
        """Ask for no bytes from `end` on with the next request: more than that isn't wanted for now."""
        self._until = end
        self._moved()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def _size(self) -> int:
        """Bytes of the file, asked for where it isn't known."""
        raise NotImplementedError

    @property
    def size(self) -> int | None:
        """Bytes of the file, None while that isn't known."""
        raise NotImplementedError

    def _moved(self) -> None:
        """The position was set by hand."""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: 0}[whence]
        if whence == io.SEEK_END:
            at += self._size()
        if at != self._at:
            self._at = max(0, at)
            self._moved()
        return self._at


class BlockFile(RemoteFile):
    """A file of an fsspec file system, fetched in blocks of BLOCK bytes, each tried several times."""

    def __init__(self, filesystem: Any, path: str, url: str, retry: Retry = DEFAULT_RETRY) -> None:
        super().__init__()
        self.url = url
        self._filesystem = filesystem
        self._path = path
        self._retry = retry
        self._block = b""
        self._start = 0
        self._bytes = int(self._tried(lambda: filesystem.size(path)) or 0)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._bytes

    def _size(self) -> int:
        return self._bytes

    def readinto(self, buffer: Any) -> int:
        if self._at >= self.size:
            return 0
        if not self._start <= self._at < self._start + len(self._block):
            start, end = self._at, min(self._at + BLOCK, self.size)
            if self._until is not None and start < self._until < end:
                end = self._until
            self._block = self._tried(lambda: self._fetch(start, end))
            self._start = start
        index = self._at - self._start
        piece = self._block[index : index + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _fetch(self, start: int, end: int) -> bytes:
        block: bytes = self._filesystem.cat_file(self._path, start=start, end=end)
        if len(block) != end - start:
            raise ConnectionError(f"{len(block)} bytes came where {end - start} were asked for")
        return block

    def _tried(self, action: Callable[[], Any]) -> Any:
        failures = 0
        while True:
            try:
                return action()
            except (FileNotFoundError, PermissionError) as error:
                raise SourceError(f"{self.url}: {_cause(error)}") from error
            except Exception as error:  # each file system has errors of its own
                failures += 1
                if failures >= self._retry.attempts or type(error).__name__ in _HOPELESS:
                    raise SourceError(f"{self.url}: {_cause(error)}") from error
                self._retry.sleep(failures)


_HOPELESS = frozenset(
    ["NoCredentialsError", "ImportError", "ValueError", "TypeError", "ParamValidationError"]
)


def _cause(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return " ".join(str(error).split())[:300] or type(error).__name__


def filesystem_of(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL and the path in it. s3 without credentials is read anonymously."""
    import fsspec

    scheme = url.partition("://")[0]
    options: dict[str, Any] = {}
    if scheme in ("s3", "s3a") and not _has_s3_credentials():
        options["anon"] = True
    try:
        filesystem, path = fsspec.core.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise SourceError(f"{url}: {_cause(error)}; for s3 and http: {install_command('remote')}") from error
    return filesystem, path


def _has_s3_credentials() -> bool:
    try:
        import botocore.session  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return True
    try:
        return botocore.session.get_session().get_credentials() is not None
    except Exception:  # a broken profile: s3fs says what is wrong with it
        return True


def open_url(url: str, retry: Retry = DEFAULT_RETRY) -> RemoteFile:
    """Open a remote file for reading."""
    if url.lower().startswith(("http://", "https://")):
        from ccrawl.archives.http_file import (
            HttpFile,  # with the modules for TLS, which local files do without
        )

        return HttpFile(url, retry)
    filesystem, path = filesystem_of(url)
    return BlockFile(filesystem, path, url, retry)
