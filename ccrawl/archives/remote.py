"""Files over the network, read forward in one stream and resumed where it broke.

HTTP(S) is one GET that is asked for again from the byte where it ended: a shard is read at the speed of the
line, and a lost connection costs nothing but the pause. All other protocols (s3, gs, az ...) go through
fsspec in blocks.
"""

from __future__ import annotations

import contextlib
import email.message
import http.client
import io
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ccrawl import __version__
from ccrawl.errors import SourceError
from ccrawl.extras import install_command

USER_AGENT = f"ccrawl/{__version__}"
BLOCK = 8 << 20
_RETRIED = frozenset([408, 425, 429, 500, 502, 503, 504])
_CONTENT_RANGE = re.compile(r"bytes\s+(?:(\d+)-(\d+)|\*)/(\d+|\*)")


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


class _Refused(Exception):
    """A status that another attempt may change."""

    def __init__(self, status: int, retry_after: str | None) -> None:
        super().__init__(f"HTTP {status}")
        self.retry_after = retry_after


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


class HttpFile(RemoteFile):
    """A file at an http or https URL. Reads raise SourceError when the server or the line doesn't recover."""

    def __init__(self, url: str, retry: Retry = Retry()) -> None:
        super().__init__()
        self.url = url
        self._retry = retry
        self._response: http.client.HTTPResponse | None = None
        self._total: int | None = None
        self._end: int | None = None  # where the current response ends, when it says so
        self._tag: str | None = None

    @property
    def size(self) -> int | None:
        """Bytes of the file, None while no response has told it."""
        return self._total

    def _size(self) -> int:
        if self._total is None:
            self._with_retries(self._open)
        if self._total is None:
            raise SourceError(f"{self.url}: the server doesn't tell the size of the file")
        return self._total

    def _moved(self) -> None:
        self._close_response()

    def readinto(self, buffer: Any) -> int:
        block: bytes = self._with_retries(lambda: self._read(len(buffer)))
        buffer[: len(block)] = block
        self._at += len(block)
        return len(block)

    def _with_retries(self, action: Callable[[], Any]) -> Any:
        failures = 0
        while True:
            try:
                return action()
            except (OSError, http.client.HTTPException, _Refused) as error:
                if isinstance(error, urllib.error.HTTPError):
                    raise SourceError(f"{self.url}: HTTP {error.code} {error.reason}") from error
                self._close_response()
                failures += 1
                if failures >= self._retry.attempts:
                    where = f" at byte {self._at}" + (f" of {self._total}" if self._total is not None else "")
                    raise SourceError(
                        f"{self.url}: reading stopped{where} after {failures} attempts: "
                        f"{error or type(error).__name__}"
                    ) from error
                self._retry.sleep(failures, error.retry_after if isinstance(error, _Refused) else None)

    def _read(self, size: int) -> bytes:
        if self._total is not None and self._at >= self._total:
            return b""
        if self._response is None or (self._end is not None and self._at >= self._end):
            self._close_response()
            self._open()
        if self._response is None:
            return b""
        block = self._response.read(size)
        if not block and self._end is not None and self._at < self._end:
            raise ConnectionError("the connection ended early")
        if not block:
            self._total = self._at if self._total is None else self._total
        return block

    def _open(self) -> None:
        until = self._until if self._until is not None and self._until > self._at else None
        wanted = f"bytes={self._at}-{until - 1 if until else ''}"
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", "Range": wanted}
        if self._tag and self._at:
            headers["If-Range"] = self._tag
        # open_url hands only http and https to this class.
        request = urllib.request.Request(self.url, headers=headers)  # noqa: S310
        try:
            response = urllib.request.urlopen(request, timeout=self._retry.timeout)  # noqa: S310
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 416:
                    self._past_the_end(error.headers)
                    return
                if error.code in _RETRIED:
                    raise _Refused(error.code, error.headers.get("Retry-After")) from error
                raise
        self._accept(response)

    def _past_the_end(self, headers: email.message.Message) -> None:
        """Range not satisfiable: the end, when the file is as long as what was read."""
        match = _CONTENT_RANGE.search(headers.get("Content-Range", ""))
        total = int(match[3]) if match and match[3] != "*" else None
        if self._at and (total is None or total != self._at) and self._total != self._at:
            raise ConnectionError(f"the server has no bytes from {self._at} on")
        self._total = self._at

    def _accept(self, response: http.client.HTTPResponse) -> None:
        headers = response.headers
        length = headers.get("Content-Length", "")
        tag = headers.get("ETag")
        if tag and tag.startswith("W/"):
            tag = None
        start = 0
        if response.status == 206:
            match = _CONTENT_RANGE.search(headers.get("Content-Range", ""))
            if match is None or match[1] is None or int(match[1]) != self._at:
                response.close()
                raise ConnectionError("the server answered with another range than asked for")
            start = self._at
            self._end = int(match[2]) + 1
            if match[3] != "*":
                self._total = int(match[3])
        else:
            self._end = int(length) if length.isdigit() else None
            if self._end is not None:
                self._total = self._end
        if self._tag and tag and tag != self._tag:
            response.close()
            raise SourceError(f"{self.url}: the file changed while it was read")
        self._tag = tag or self._tag
        # A server that ignores ranges sends the file from its start: pass over what has been read.
        while start < self._at:
            skipped = response.read(min(1 << 18, self._at - start))
            if not skipped:
                response.close()
                raise ConnectionError("the connection ended early")
            start += len(skipped)
        self._response = response

    def _close_response(self) -> None:
        if self._response is not None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._response.close()
            self._response = None

    def close(self) -> None:
        self._close_response()
        super().close()


class BlockFile(RemoteFile):
    """A file of an fsspec file system, fetched in blocks of BLOCK bytes, each tried several times."""

    def __init__(self, filesystem: Any, path: str, url: str, retry: Retry = Retry()) -> None:
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


def is_remote(path: str) -> bool:
    """Whether a path is a URL; file: URLs and plain paths aren't remote."""
    scheme, separator, _ = path.partition("://")
    return bool(separator) and scheme.replace("+", "").replace("-", "").isalnum() and scheme != "file"


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


def open_url(url: str, retry: Retry = Retry()) -> RemoteFile:
    """Open a remote file for reading."""
    if url.lower().startswith(("http://", "https://")):
        return HttpFile(url, retry)
    filesystem, path = filesystem_of(url)
    return BlockFile(filesystem, path, url, retry)
