"""Requests and answers as they go over the wire, beside what aiohttp makes of them.

aiohttp parses the head of an answer and throws it away; an archive keeps the bytes as received. A `Tap`
stands between the transport and aiohttp's protocol and copies them on the way. It also makes up for two
things in aiohttp 3.14: an answer is lost whole when its end comes in one piece with something that can't be
parsed (so the head is handed over alone), and whoever reads a body is not told when its chunks are broken.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

import aiohttp

from ccrawl.fetching.types import Exchange

MAX_HEAD = 256 << 10  # bytes of a head, interim ones before it included
REDIRECTS = frozenset([301, 302, 303, 307, 308])
_INTERIM = re.compile(rb"HTTP/\d\.\d[ \t]+1(?!01)\d\d\b")


class HeadTooLarge(Exception):
    """An answer whose head is larger than the limit."""


class Tapped(Protocol):
    """Whoever is to know the tap of a request, and when it goes out; `keep` its connection."""

    tap: Tap | None
    keep: bool
    sent: Callable[[], None] | None


# Set where the request is made; aiohttp hands nothing through to `Request.send`.
TAPPED: ContextVar[Tapped] = ContextVar("TAPPED")


class Tap(asyncio.Protocol):
    """Hands what comes in to `inner` and keeps the head of the answer. One connection, one answer at a time.

    head: of the final answer, with its empty line; b"" while it is not complete
    head_at: when it was, in seconds of the monotonic clock
    heard_at: when the last byte came, or the request went out
    broken: the framing of the body can't be read on
    keep: the connection after the answer
    response: whose body it is
    """

    def __init__(self, inner: Any, transport: asyncio.Transport) -> None:
        self._inner = inner
        self._transport = transport
        self._waiting = False  # for a head
        self._asked = False  # for an answer
        self.keep = True
        self._received = bytearray()
        self._start = 0  # of the last head in what was received: interim ones come before the final one
        self.head = b""
        self.head_at = self.heard_at = 0.0
        self.broken = False

    def begin(self) -> None:
        """A request goes out: what comes in now is its answer."""
        self._waiting = self._asked = True
        self.heard_at = time.monotonic()
        self._received = bytearray()
        self._start = 0
        self.head = b""
        self.broken = False
        self.response: Response | None = None

    def end(self) -> None:
        """The answer is complete. Whatever else comes in was not asked for."""
        self._asked = False
        if not self.keep:
            self._inner.force_close()

    def data_received(self, data: bytes) -> None:
        self.heard_at = time.monotonic()
        if not self._waiting:
            if self._asked:
                self._body_received(data)
            else:  # left over of the answer before, or an answer to nothing: never one to the next request
                self._transport.abort()
            return
        before = len(self._received)
        self._received += data
        end = self._end_of_head(before)
        if (end or len(self._received)) > MAX_HEAD:
            self._inner.set_exception(HeadTooLarge(f"the head is larger than {MAX_HEAD} bytes"))
            self._transport.abort()
            return
        if end is None:
            self._inner.data_received(data)
            return
        self._waiting = False
        self._received = bytearray()
        self.head_at = self.heard_at
        cut = end - before
        self._inner.data_received(data[:cut])
        if cut < len(data):
            self._body_received(data[cut:])

    def _body_received(self, data: bytes) -> None:
        self._inner.data_received(data)
        if self._transport.is_closing() and self._inner.exception() is not None:
            self.broken = True
            if self.response is not None:
                self.response.end_if_broken()

    def _end_of_head(self, seen: int) -> int | None:
        """Where the body of the final answer starts in what was received, None when its head is not whole.

        `seen` bytes were looked at before.
        """
        at = max(self._start, seen - 3)
        while (end := _end_of_lines(self._received, at)) is not None:
            if not _INTERIM.match(self._received, self._start):
                self.head = bytes(self._received[self._start : end])
                return end
            self._start = at = end
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        received: bool | None = self._inner.eof_received()
        return received

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def _end_of_lines(received: bytearray, at: int) -> int | None:
    """Where the first empty line from `at` on ends, with CRLF or LF. A pattern takes ten times as long."""
    crlf = received.find(b"\n\r\n", at)
    lf = received.find(b"\n\n", at, crlf + 1 if crlf >= 0 else len(received))
    if lf >= 0:
        return lf + 2
    return crlf + 3 if crlf >= 0 else None


class Response(aiohttp.ClientResponse):
    """An answer that knows the tap and the address it came through.

    head: as received, b"" for an answer that was there before the request
    head_at: when it came, in seconds of the monotonic clock
    broken: the framing could not be read on, and the body ends there
    """

    tap: Tap
    ip_address: str
    head: bytes
    head_at: float
    broken = False

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        await super().start(connection)
        self.head, self.head_at = self.tap.head, self.tap.head_at
        self.end_if_broken()
        return self

    def end_if_broken(self) -> None:
        """End the body, for whoever reads it, where it can't be read on."""
        content: aiohttp.StreamReader | None = self.content
        if self.tap.broken and content is not None and not content.is_eof():
            self.broken = True
            content.feed_eof()


class Request(aiohttp.ClientRequest):
    """A request whose connection is tapped before it goes out."""

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        transport = conn.transport
        if transport is None:  # lost since it was taken from the pool: asked for again on another one
            raise aiohttp.ServerDisconnectedError
        tap = transport.get_protocol()
        if not isinstance(tap, Tap):
            tap = Tap(tap, transport)
            transport.set_protocol(tap)
        tap.begin()
        conn.add_callback(tap.end)
        tapped = TAPPED.get()
        tapped.tap, tap.keep = tap, tapped.keep
        if tapped.sent is not None:
            tapped.sent()
        response = await super().send(conn)
        assert isinstance(response, Response)
        response.tap = tap
        tap.response = response
        response.ip_address = str(transport.get_extra_info("peername")[0])
        return response


def _request_head(response: aiohttp.ClientResponse) -> bytes:
    """The request line and fields as they were sent."""
    request = response.request_info
    fields = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    return f"{request.method} {request.url.raw_path_qs} HTTP/1.1\r\n{fields}\r\n".encode()


def exchange_of(response: Response, url: str, started_at: int, body: bytes, *, complete: bool) -> Exchange:
    """What went over the wire for a response, of whose body `body` came."""
    return Exchange(
        url=url,
        started_at=started_at,
        ip_address=response.ip_address,
        request_head=_request_head(response),
        response_head=response.head,
        status=response.status,
        headers=_headers(response),
        body=body,
        complete=complete,
    )


def _headers(response: Response) -> tuple[tuple[str, str], ...]:
    """The fields in their order; bytes that are no UTF-8 are read as Latin-1."""
    if response.head.isascii():
        return tuple([(name.decode(), value.decode()) for name, value in response.raw_headers])
    return tuple([(_text(name), _text(value)) for name, value in response.raw_headers])


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def field_of(exchange: Exchange, name: str) -> bytes:
    """The first field of a name in an answer's head as received, b"" where there is none."""
    match = re.search(rb"(?im)^%b[ \t]*:[ \t]*([^\r\n]*)" % name.encode(), exchange.response_head)
    return match[1].rstrip() if match else b""


def codings_of(exchange: Exchange) -> bytes:
    """The content codings of an answer's body, as `decode_body` takes them."""
    return ",".join(
        [value for name, value in exchange.headers if name.lower() == "content-encoding"]
    ).encode()
