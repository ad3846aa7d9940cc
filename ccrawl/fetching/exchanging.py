"""One request and its answer, within limits of time and size: what aiohttp is used for.

aiohttp speaks HTTP/1.1; see benchmarks/refetch.py for what it was measured against. HTTP/2 is left out on
purpose: it saves round trips where many requests go to one host at a time, and here that is `per_host`.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable

import aiohttp
from yarl import URL

from ccrawl.fetching.errors import FetchError, classify
from ccrawl.fetching.guard import Guard, Lookup, Resolver
from ccrawl.fetching.types import Exchange, FetchOptions
from ccrawl.fetching.urls import WebUrl
from ccrawl.fetching.wire import MAX_HEAD, TAPPED, Request, Response, Tap, exchange_of

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MIN_PROGRESS = 256  # bytes of a body within `idle_timeout`: a byte a second is silence
KEEP_ALIVE = 10.0  # seconds
# Memory is bounded by connections * SMALL + LARGE_BODIES: few of the bodies above SMALL come in at a time.
SMALL = 256 << 10
LARGE_BODIES = 64 << 20


class Answer:
    """What came of one request.

    error, detail: why it is not whole, "" when it is
    began, ended: seconds of the monotonic clock
    """

    __slots__ = ("began", "detail", "ended", "error", "keep", "large", "overdue", "parts", "response", "sent",
                 "size", "started_at", "tap", "task", "until", "url", "waits")  # fmt: skip

    def __init__(self, url: WebUrl, within: float, keep: bool, sent: Callable[[], None] | None) -> None:
        self.url = url
        self.keep = keep  # the connection, for the next request
        self.sent = sent
        self.large = self.waits = False
        self.started_at = time.time_ns() // 1_000_000
        self.began = self.ended = time.monotonic()
        self.until = self.began + within
        self.task = asyncio.current_task()
        self.overdue = ""
        self.tap: Tap | None = None  # once there is a connection
        self.response: Response | None = None  # once its head is there
        self.parts: list[bytes] = []
        self.size = 0
        self.error = self.detail = ""

    def exchange(self) -> Exchange | None:
        """What has come so far; None without a head."""
        if self.response is None:
            return None
        body = self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)
        return exchange_of(self.response, self.url.text, self.started_at, body, complete=not self.error)


class Exchanger:
    """Asks servers that the guard lets through. To be made in a running event loop, and closed."""

    def __init__(self, options: FetchOptions, lookup: Lookup | None, tls: ssl.SSLContext | None) -> None:
        self._options = options
        guard = Guard(public=bool(options.contact), private=options.allow_private)
        self._resolver = Resolver(guard, lookup, options.connect_timeout)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # the schedule counts
                use_dns_cache=False,  # the resolver keeps what it found
                resolver=self._resolver,
                socket_factory=guard.socket,
                ssl=tls or True,
                keepalive_timeout=KEEP_ALIVE,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            request_class=Request,
            response_class=Response,
            auto_decompress=False,
            headers={"User-Agent": options.user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPT_ENCODING},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=options.connect_timeout),
            max_line_size=MAX_HEAD,
            max_field_size=MAX_HEAD,
            max_headers=MAX_HEAD,
        )
        self._large = asyncio.Semaphore(max(1, LARGE_BODIES // options.max_body))
        # One watch for all requests: a timer for the total and one for silence, set and taken back for each
        # request, are a tenth of what a request costs.
        self._open: set[Answer] = set()
        self._tick = min(0.25, max(0.01, min(options.idle_timeout, options.total_timeout) / 10))
        self._loop = asyncio.get_running_loop()
        self._watch = self._loop.call_later(self._tick, self._end_overdue)

    async def close(self) -> None:
        """Close all connections. Requests under way are to be cancelled before."""
        self._watch.cancel()
        await self._session.close()
        await self._resolver.close()

    async def ask(
        self,
        url: WebUrl,
        *,
        max_body: int,
        within: float,
        keep: bool = True,
        sent: Callable[[], None] | None = None,
    ) -> Answer:
        """GET a URL, for at most `within` seconds and `max_body` bytes. A redirect is an answer like others.

        The answer has to be given back with `done`. `keep`: other requests to the host are to come.
        `sent` is called when the request goes out.
        """
        answer = Answer(url, within, keep, sent)
        self._open.add(answer)
        TAPPED.set(answer)
        try:
            await self._exchange(answer, max_body)
        except asyncio.CancelledError:
            if not answer.overdue or answer.task is None or answer.task.uncancel():
                self.done(answer)
                raise
            answer.error, answer.detail = "timeout", answer.overdue
        except Exception as caught:
            answer.error, answer.detail = classify(caught)
        finally:
            self._open.discard(answer)
        answer.ended = time.monotonic()
        return answer

    def done(self, answer: Answer) -> None:
        """The answer's body is not held any more."""
        if answer.large:
            answer.large = False
            self._large.release()

    async def _exchange(self, answer: Answer, max_body: int) -> None:
        try:
            address = URL(answer.url.text, encoded=True)
        except ValueError as error:
            raise FetchError("url", str(error)) from error
        response = await self._session.get(address, allow_redirects=False)
        try:
            assert isinstance(response, Response)
            if not response.head:
                raise FetchError("protocol", "the server spoke before it was asked")
            answer.response = response
            window = response.head_at
            came = 0  # in this window
            async for part in response.content.iter_any():
                answer.parts.append(part)
                answer.size += len(part)
                came += len(part)
                if answer.size > max_body:
                    answer.parts[-1] = part[: len(part) - (answer.size - max_body)]
                    raise FetchError("too-large", f"the body has more than {max_body} bytes")
                if answer.size > SMALL and not answer.large:
                    await self._wait_for_room(answer)
                    window = time.monotonic()
                now = time.monotonic()
                if now - window > self._options.idle_timeout:
                    if came < MIN_PROGRESS:
                        raise FetchError("timeout", f"{came} bytes in {now - window:.0f} s")
                    window, came = now, 0
            if response.broken:
                raise FetchError("truncated", "the chunks of the body can't be told apart")
        finally:
            response.close()

    async def _wait_for_room(self, answer: Answer) -> None:
        """Read no more of a large body until there is room for it. The wait is not the server's fault."""
        began = time.monotonic()
        answer.waits = True
        await self._large.acquire()
        answer.waits, answer.large = False, True
        answer.until += time.monotonic() - began
        assert answer.tap is not None
        answer.tap.heard_at = time.monotonic()

    def _end_overdue(self) -> None:
        now = time.monotonic()
        silent_since = now - self._options.idle_timeout
        for answer in self._open:
            if answer.overdue or answer.waits or answer.task is None:
                continue
            if now >= answer.until:
                answer.overdue = "not done within the limit"
            elif answer.tap is not None and answer.tap.heard_at < silent_since:
                answer.overdue = "silence for longer than the limit"
            if answer.overdue:
                answer.task.cancel()
        self._watch = self._loop.call_later(self._tick, self._end_overdue)
