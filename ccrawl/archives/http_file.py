"""A file at an http or https URL, read forward in one stream and resumed where it broke.

One GET is asked for again from the byte where it ended: a shard is read at the speed of the line, and a lost
connection costs nothing but the pause.
"""

from __future__ import annotations

import contextlib
import email.message
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from ccrawl import __version__
from ccrawl.archives.remote import DEFAULT_RETRY, RemoteFile, Retry
from ccrawl.errors import SourceError

USER_AGENT = f"ccrawl/{__version__}"
_RETRIED = frozenset([408, 425, 429, 500, 502, 503, 504])
_CONTENT_RANGE = re.compile(r"bytes\s+(?:(\d+)-(\d+)|\*)/(\d+|\*)")


class _Refused(Exception):
    """A status that another attempt may change."""

    def __init__(self, status: int, retry_after: str | None) -> None:
        super().__init__(f"HTTP {status}")
        self.retry_after = retry_after


class HttpFile(RemoteFile):
    """A file at an http or https URL. Reads raise SourceError when the server or the line doesn't recover."""

    def __init__(self, url: str, retry: Retry = DEFAULT_RETRY) -> None:
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
