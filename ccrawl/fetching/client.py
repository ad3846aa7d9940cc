"""Fetching targets: many hosts at a time, each one politely, none of them trusted."""

from __future__ import annotations

import asyncio
import resource
import ssl
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from ccrawl.archives.codings import GZIP_MAGIC, decode_body
from ccrawl.errors import PageError, PageTooLarge, UsageError
from ccrawl.fetching.errors import FetchError, classify
from ccrawl.fetching.exchanging import Answer, Exchanger
from ccrawl.fetching.guard import Lookup
from ccrawl.fetching.origins import Origins
from ccrawl.fetching.politeness import Host, Schedule, Sign, Turn
from ccrawl.fetching.retry_after import pause_of
from ccrawl.fetching.types import ERRORS, Exchange, Fetched, FetchOptions, Target
from ccrawl.fetching.urls import BadUrl, WebUrl, join, web_url
from ccrawl.fetching.wire import REDIRECTS, codings_of, field_of

__all__ = ["FetchOptions", "fetch"]

TICK = 0.002  # seconds that a timer may be early
# Bytes as sent, and four times as many decoded: what is larger is decoded in a thread, not between two
# packets. 256 KiB take a millisecond at most, ten times what a thread costs.
DECODED_HERE = 64 << 10
SPARE_FILES = 256  # that a process has open beside connections
MAX_WAITING = 64 << 20  # bytes of results that the caller has not taken, above which no fetch starts
_REFUSALS = frozenset([429, 503])
_SIGNS = {
    "timeout": Sign.SILENCE,
    "disconnect": Sign.SILENCE,
    "connect": Sign.NO_CONNECTION,
    "tls": Sign.NO_CONNECTION,
    "url": Sign.NONE,
    "address": Sign.NONE,
    "dns": Sign.NONE,
    "internal": Sign.NONE,
}


async def fetch(
    targets: Iterable[Target] | AsyncIterable[Target],
    options: FetchOptions,
    *,
    lookup: Lookup | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Fetched]:
    """What came of each target, in the order in which they are done; exactly one for each.

    Targets are taken as there is room for them, `options.window` ahead, and no fetch starts while as many
    results as connections wait for the caller. `lookup` replaces the system's name server, `tls` the system's
    certificates. Leaving the loop, or cancelling it, ends all fetches and closes all connections; when it is
    cancelled, what has come until then is given first.

    Raises UsageError for the options, before anything is asked for, and whatever `targets` raises.
    """
    options.check()
    _make_room_for(options.connections)
    fetcher = _Fetcher(options, lookup, tls)
    try:
        fetcher.begin(targets)
        while await fetcher.any():
            yield fetcher.give()
    except asyncio.CancelledError:
        for fetched in fetcher.come():
            yield fetched
        raise
    finally:
        await fetcher.close()


def _make_room_for(connections: int) -> None:
    """Let this process open the sockets it needs. Raises UsageError when it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = float("inf") if hard == resource.RLIM_INFINITY else hard
    if connections + SPARE_FILES > most:
        raise UsageError(
            f"{connections} connections are more than the {hard} files that this process may open allow: "
            "ulimit -n shows the limit, fewer --connections keep it"
        )
    wanted = int(min(2 * connections + SPARE_FILES, most))  # idle connections are kept for a while
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@dataclass(slots=True, eq=False)
class _Job:
    """A target on its way: the URL that is next, what went before it, and the time that took."""

    target: Target
    url: WebUrl
    exchanges: list[Exchange] = field(default_factory=list)
    started_at: int = 0  # Unix ms
    spent: float = 0.0  # seconds
    ttfb_ms: int | None = None
    requests: int = 0  # for this URL
    seen: set[str] = field(default_factory=set)


class _Fetcher:
    def __init__(self, options: FetchOptions, lookup: Lookup | None, tls: ssl.SSLContext | None) -> None:
        self._options = options
        self._exchanger = Exchanger(options, lookup, tls)
        self._schedule: Schedule[_Job] = Schedule(
            per_host=options.per_host,
            rate=options.rate,
            give_up=options.give_up,
            max_wait=options.max_wait,
        )
        self._origins = Origins(self._exchanger, options.total_timeout)
        self._results: deque[Fetched] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._bytes = 0  # of the bodies among the results
        self._caught_up = asyncio.Event()
        self._pending = 0  # targets taken and not yet among the results
        self._running = 0
        self._closed = False
        self._fault: BaseException | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._loop = asyncio.get_running_loop()

    def begin(self, targets: Iterable[Target] | AsyncIterable[Target]) -> None:
        self._feeder = self._loop.create_task(self._feed(targets))
        self._tasks.add(self._feeder)

    async def any(self) -> bool:
        """Wait for a result; False when all have been given."""
        while not self._results:
            if self._fault is not None:
                raise self._fault
            if self._feeder.done():
                self._feeder.result()
                if not self._pending:
                    return False
            self._wake.clear()
            await self._wake.wait()
        return True

    def give(self) -> Fetched:
        """The next result, which is the caller's from now on."""
        was_behind = self._behind()
        fetched = self._results.popleft()
        self._pending -= 1
        self._bytes -= _size_of(fetched)
        self._room.set()
        if was_behind and not self._behind():
            self._caught_up.set()
            self._start()
        return fetched

    def come(self) -> Iterator[Fetched]:
        """The results that wait; no fetch starts any more."""
        self._closed = True
        while self._results:
            yield self.give()

    def _behind(self) -> bool:
        """Whether the caller has more results to take than it should have."""
        return len(self._results) >= self._options.connections or self._bytes >= MAX_WAITING

    async def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._exchanger.close()

    async def _feed(self, targets: Iterable[Target] | AsyncIterable[Target]) -> None:
        try:
            if isinstance(targets, AsyncIterable):
                async for target in targets:
                    await self._take(target)
            else:
                for number, target in enumerate(targets):
                    await self._take(target)
                    if number % 64 == 0:
                        await asyncio.sleep(0)
        finally:
            self._wake.set()

    async def _take(self, target: Target) -> None:
        while self._pending >= self._options.window:
            self._room.clear()
            await self._room.wait()
        self._pending += 1
        try:
            job = _Job(target, web_url(target.url))
        except BadUrl as error:
            self._finish(_Job(target, WebUrl(target.url, "", "", 0, "")), *classify(error))
            return
        self._enqueue(job)
        self._start()

    def _enqueue(self, job: _Job, *, first: bool = False) -> None:
        # http and https on their own ports are one host: it is the same machine that works.
        refused = self._schedule.add(job.url.authority, job, time.monotonic(), first=first)
        if refused is not None:
            self._finish(job, *refused)

    def _start(self) -> None:
        """Start what may start now, and see to it that what may start later does."""
        while self._running < self._options.connections and (turn := self._next()) is not None:
            self._running += 1
            worker = self._loop.create_task(self._work(turn))
            self._tasks.add(worker)
            worker.add_done_callback(self._ended)
        at = self._schedule.next_turn()
        if at is not None and not self._closed and (self._timer is None or at < self._timer_at):
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = at
            self._timer = self._loop.call_later(max(0.0, at - time.monotonic()) + TICK, self._due)

    def _due(self) -> None:
        self._timer = None
        self._start()

    def _next(self) -> Turn[_Job] | None:
        """A turn that may start now, unless the caller is far behind."""
        if self._closed or self._behind():
            return None
        turn = self._schedule.take(time.monotonic())
        if turn is not None and not self._options.ignore_robots and not self._origins.knows(turn.job.url):
            turn.host.gated = turn.job  # all other URLs wait for the rules
        return turn

    async def _work(self, turn: Turn[_Job] | None) -> None:
        """One turn after the other, as long as there are any."""
        while turn is not None:
            await self._turn(turn)
            turn = self._next()
            self._start()

    def _ended(self, worker: asyncio.Task[None]) -> None:
        self._tasks.discard(worker)
        self._running -= 1
        if not worker.cancelled() and (fault := worker.exception()) is not None:
            self._fault = fault
            self._wake.set()
        self._start()

    async def _turn(self, turn: Turn[_Job]) -> None:
        job, host = turn.job, turn.host
        rules_first = host.gated is job
        sign, detail = Sign.NONE, ""
        try:
            step = self._read_rules if rules_first else self._request
            sign, detail = await step(job, host)
        except Exception as error:  # a fault of ours costs one target, not the run
            self._finish(job, *classify(error))
        now = time.monotonic()
        if rules_first:
            self._schedule.lift(host, now)
        self._give_up(host, self._schedule.finish(turn, sign, detail, now))

    def _give_up(self, host: Host[_Job], jobs: list[_Job]) -> None:
        for job in jobs:
            assert host.verdict is not None
            self._finish(job, *host.verdict)

    async def _read_rules(self, job: _Job, host: Host[_Job]) -> tuple[Sign, str]:
        """Read the robots.txt of the job's origin; the job itself waits, or fails as its host does."""
        try:
            delay = await self._origins.read(job.url)
        except FetchError as error:
            if error.error not in _SIGNS:  # it refuses for now
                jobs = self._schedule.refused(host, error.pause, str(error), time.monotonic())
                self._give_up(host, jobs)
            else:
                job.started_at = job.started_at or _now_ms()
                self._finish(job, error.error, f"robots.txt: {error}")
                return _SIGNS[error.error], str(error)
        else:
            host.interval = max(host.interval, delay)
        self._enqueue(job, first=True)
        return Sign.NONE, ""  # a host may answer this and nothing else

    async def _request(self, job: _Job, host: Host[_Job]) -> tuple[Sign, str]:
        """Ask for the job's URL, when its host lets us."""
        refusal = self._origins.refusal(job.url)
        if refusal is not None:
            self._finish(job, *refusal)
            return Sign.NONE, ""
        job.requests += 1
        job.seen.add(job.url.text)
        options = self._options
        answer = await self._exchanger.ask(
            job.url,
            max_body=options.max_body,
            within=options.total_timeout - job.spent,
            keep=bool(host.jobs),
            sent=partial(self._sent, host) if host.interval else None,
        )
        try:
            return await self._conclude(job, host, answer)
        finally:
            self._exchanger.done(answer)

    def _sent(self, host: Host[_Job]) -> None:
        self._schedule.sent(host, time.monotonic())

    async def _conclude(self, job: _Job, host: Host[_Job], answer: Answer) -> tuple[Sign, str]:
        """Do what follows from an answer."""
        error, detail = answer.error, answer.detail
        job.started_at = job.started_at or answer.started_at
        if answer.response is not None:
            job.ttfb_ms = round((job.spent + answer.response.head_at - answer.began) * 1000)
        job.spent += answer.ended - answer.began
        exchange = answer.exchange()
        if exchange is not None:
            job.exchanges.append(exchange)
        if exchange is None or error not in ("", "truncated", "timeout"):
            self._finish(job, error, detail)
        elif exchange.status in _REFUSALS:
            self._refused(job, host, exchange)
        elif exchange.status in REDIRECTS and field_of(exchange, "location"):
            self._schedule.accepted(host)
            self._redirected(job, field_of(exchange, "location"))
        else:
            self._schedule.accepted(host)
            error = await self._answered(job, exchange, error, detail)
        return _SIGNS.get(error, Sign.ANSWER), detail

    def _refused(self, job: _Job, host: Host[_Job], exchange: Exchange) -> None:
        """429 or 503: the host is left alone for a while, and the job is asked for again, up to a limit."""
        said = f"HTTP {exchange.status}"
        retry_after = field_of(exchange, "retry-after").decode("latin-1")
        now = time.monotonic()
        given_up = self._schedule.refused(host, pause_of(retry_after, time.time()), said, now)
        if host.verdict is None and job.requests < self._options.attempts:
            job.exchanges.pop()
            self._enqueue(job, first=True)
        elif exchange.status == 429 or retry_after:
            self._finish(
                job, "rate-limited", host.verdict[1] if host.verdict else f"{said}, {job.requests} times"
            )
        else:  # a server's error like any other
            self._finish(job, "", "")
        self._give_up(host, given_up)

    def _redirected(self, job: _Job, location: bytes) -> None:
        try:
            following = join(job.url, location)
        except BadUrl as error:
            self._finish(job, *classify(error))
            return
        if following.text in job.seen:
            self._finish(job, "redirects", f"a loop: back to {following.text}")
        elif len(job.exchanges) > self._options.max_redirects:
            self._finish(job, "redirects", f"more than {self._options.max_redirects} redirects")
        else:
            job.url = following
            job.requests = 0
            self._enqueue(job, first=True)

    async def _answered(self, job: _Job, exchange: Exchange, error: str, detail: str) -> str:
        """The last answer of a target, whole or cut. Returns the error that it ends with."""
        body = b""
        try:
            body = await self._decoded(exchange)
        except PageError as caught:
            error, detail = classify(caught)
        if error and codings_of(exchange) and field_of(exchange, "content-length") == b"%d" % len(body):
            # The length of the text was written for the length of its coded form: all of it came.
            error = detail = ""
            job.exchanges[-1] = replace(exchange, complete=True)
        self._finish(job, error, detail, body if error in ("", "truncated") else b"")
        return error

    async def _decoded(self, exchange: Exchange) -> bytes:
        """The body without its codings, once there is room for it. Raises PageError."""
        while self._behind():
            self._caught_up.clear()
            await self._caught_up.wait()
        body, codings, limit = exchange.body, codings_of(exchange), self._options.max_body
        if not codings and not body.startswith(GZIP_MAGIC):
            return body
        if len(body) <= DECODED_HERE:
            try:
                return decode_body(body, codings, min(limit, DECODED_HERE * 4))
            except PageTooLarge:
                if limit <= DECODED_HERE * 4:
                    raise
        return await asyncio.to_thread(decode_body, body, codings, limit)

    def _finish(self, job: _Job, error: str, detail: str, body: bytes = b"") -> None:
        assert error in ERRORS or not error
        last = job.exchanges[-1] if job.exchanges else None
        fetched = Fetched(
            target=job.target,
            exchanges=tuple(job.exchanges),
            final_url=job.url.text,
            ip_address=last.ip_address if last is not None else "",
            fetched_at=job.started_at or _now_ms(),
            duration_ms=round(job.spent * 1000),
            ttfb_ms=job.ttfb_ms,
            body=body,
            error=error,
            detail=detail,
        )
        self._results.append(fetched)
        self._bytes += _size_of(fetched)
        self._wake.set()


def _size_of(fetched: Fetched) -> int:
    return len(fetched.body) + sum([len(exchange.body) for exchange in fetched.exchanges])


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
