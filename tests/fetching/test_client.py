"""Fetching from servers that do as they should: what is kept of an exchange, and how the run ends."""

from __future__ import annotations

import asyncio
import gzip
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import brotli
import pytest
from support.hostile import Call, Server, answer, fetched, redirect

import ccrawl
from ccrawl import __version__
from ccrawl.errors import UsageError
from ccrawl.fetching import client, exchanging
from ccrawl.fetching.client import fetch
from ccrawl.fetching.types import Fetched, FetchOptions, Target

LOOPBACK = FetchOptions(allow_private=True, rate=0, ignore_robots=True)
PAGE = b"<html><body><p>The lemon trees are out of the glass house.</p></body></html>"


def test_an_exchange_holds_the_heads_and_the_body_as_they_went_over_the_wire() -> None:
    sent = answer(gzip.compress(PAGE), "Content-Encoding: gzip", "X-odd:\t caf\xe9  ", "x-ODD: 2")

    async def main() -> None:
        async with Server({"/a%7eb": sent}) as server:
            url = server.url("/a%7eb?q=%3A#part")
            result = (await fetched([url], ignore_robots=True, contact="me@site.test"))[url]
        (exchange,) = result.exchanges
        head, _, body = sent.partition(b"\r\n\r\n")
        assert exchange.response_head == head + b"\r\n\r\n"
        assert exchange.body == body
        assert exchange.request_head == server.calls[0].head
        assert server.calls[0].head.startswith(b"GET /a%7eb?q=%3A HTTP/1.1\r\n")
        assert f"User-Agent: ccrawl/{__version__} (+me@site.test)".encode() in server.calls[0].head
        assert exchange.url == result.final_url == server.url("/a%7eb?q=%3A")
        assert ("x-ODD", "2") in exchange.headers and ("X-odd", "caf\xe9") in exchange.headers
        assert exchange.ip_address == result.ip_address == "127.0.0.1"
        assert exchange.complete and exchange.status == result.status == 200
        assert result.body == PAGE and not result.error
        assert 0 <= (result.ttfb_ms or 0) <= result.duration_ms < 20_000
        assert result.fetched_at <= exchange.started_at

    asyncio.run(main())


def test_interim_answers_are_no_part_of_the_head() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

    async def main() -> None:
        async def split(call: Call) -> None:
            await call.drip(interim + answer(PAGE, "X: y"), 0)

        async with Server({"/at-once": interim + answer(PAGE, "X: y"), "/in-bytes": split}) as server:
            for result in (await fetched([server.url("/at-once"), server.url("/in-bytes")])).values():
                assert result.exchanges[0].response_head == answer(PAGE, "X: y")[: -len(PAGE)]
                assert result.body == PAGE

    asyncio.run(main())


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_codings_are_taken_off_the_body_and_left_in_the_exchange(coding: str) -> None:
    coded = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}[coding](PAGE)

    async def main() -> None:
        async with Server({"/": answer(coded, f"Content-Encoding: {coding}")}) as server:
            (result,) = (await fetched([server.url("/")])).values()
        assert result.body == PAGE
        assert result.exchanges[0].body == coded

    asyncio.run(main())


def test_connections_are_kept_and_shared_by_the_urls_of_a_host() -> None:
    async def main() -> None:
        async with Server({"*": answer(PAGE)}) as server:
            await fetched([server.url(f"/{number}") for number in range(60)], per_host=3)
        assert len(server.paths) == 60
        assert server.connections <= 3

    asyncio.run(main())


def test_no_host_gets_more_requests_at_a_time_than_it_may() -> None:
    async def main() -> None:
        under_way = most = 0

        async def slow(call: Call) -> None:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.01)
            under_way -= 1
            await call.send(answer(PAGE))

        async with Server({"*": slow}) as server:
            await fetched([server.url(f"/{number}") for number in range(24)], per_host=4, ignore_robots=True)
        assert most == 4

    asyncio.run(main())


def test_a_connection_is_closed_with_the_last_url_of_its_host() -> None:
    async def main() -> None:
        async def later(call: Call) -> None:
            await asyncio.sleep(0.3)
            await call.send(answer(PAGE))

        async with Server({"*": answer(PAGE)}) as server, Server({"*": later}) as other:
            targets = [Target(0, server.url("/1")), Target(1, server.url("/2")), Target(2, other.url("/"))]
            async for _ in fetch(targets, FetchOptions(allow_private=True, rate=0, per_host=1)):
                if len(server.paths) == 2:
                    await asyncio.sleep(0.02)
                    assert (server.connections, server.open) == (1, 0)

    asyncio.run(main())


def test_large_bodies_come_in_few_at_a_time_and_wait_for_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanging, "LARGE_BODIES", 16 << 20)
    monkeypatch.setattr(client, "MAX_WAITING", 16 << 20)
    part, size = b"x" * 500_000, 16_000_000

    async def main() -> None:
        sent = 0

        async def large(call: Call) -> None:
            nonlocal sent
            await call.send(answer(length=size))
            for _ in range(size // len(part)):
                await call.send(part)
                sent += len(part)

        async with Server({"*": large}) as server:
            options = FetchOptions(
                allow_private=True, rate=0, per_host=8, give_up=8, ignore_robots=True, idle_timeout=0.3
            )
            results = fetch([Target(at, server.url(f"/{at}")) for at in range(8)], options)
            first = await anext(results)
            await asyncio.sleep(0.6)  # longer than silence may be: those that wait are not silent
            assert len(first.body) == size
            assert sent < 7 * size  # with much of it in the buffers of sockets
            rest = [result async for result in results]
            assert {(result.error, len(result.body)) for result in rest} == {("", size)}

    asyncio.run(main())


def test_more_connections_than_files_may_be_open_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (1024, 1024))

    async def main() -> None:
        async for _ in fetch([], FetchOptions(allow_private=True, connections=1000)):
            pass

    with pytest.raises(UsageError, match="ulimit"):
        asyncio.run(main())


def test_a_package_that_is_not_there_is_said_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ccrawl.fetching.run", None)
    with pytest.raises(UsageError, match=r"pip install .*protego"):
        ccrawl.refetch("urls.txt", tmp_path)


def test_cookies_are_neither_kept_nor_sent() -> None:
    async def main() -> None:
        routes = {
            "/set": redirect(b"/page", "Set-Cookie: a=1; Path=/"),
            "/page": answer(PAGE, "Set-Cookie: b=2"),
        }
        async with Server(routes) as server:
            await fetched([server.url("/set"), server.url("/page")], per_host=1)
            await fetched([server.url("/page")])
        assert not [call.head for call in server.calls if b"cookie" in call.head.lower()]

    asyncio.run(main())


def test_targets_are_taken_only_as_far_ahead_as_the_window() -> None:
    taken = 0

    def endless() -> Iterator[Target]:
        nonlocal taken
        while True:
            yield Target(taken, f"{base}/{taken}")
            taken += 1

    base = ""

    async def main() -> None:
        nonlocal base
        async with Server({"*": answer(PAGE)}) as server:
            base = server.url("")
            results = fetch(endless(), FetchOptions(allow_private=True, rate=0, window=50, connections=8))
            for _ in range(20):
                await anext(results)
            assert taken <= 71
            await results.aclose()

    asyncio.run(main())


def test_an_asynchronous_source_of_targets_may_be_slow() -> None:
    async def main() -> None:
        async with Server({"*": answer(PAGE)}) as server:

            async def slowly() -> AsyncIterator[Target]:
                for number in range(5):
                    await asyncio.sleep(0.01)
                    yield Target(number, server.url(f"/{number}"))

            results = [result async for result in fetch(slowly(), LOOPBACK)]
        assert [result.target.position for result in results] == [0, 1, 2, 3, 4]

    asyncio.run(main())


def test_an_error_of_the_source_ends_the_run_with_that_error() -> None:
    async def main() -> None:
        async with Server({"*": answer(PAGE)}) as server:

            def broken() -> Iterator[Target]:
                yield Target(0, server.url("/0"))
                raise UsageError("no more of it")

            with pytest.raises(UsageError, match="no more"):
                async for _ in fetch(broken(), LOOPBACK):
                    pass

    asyncio.run(main())


@pytest.mark.parametrize("way", ["leave", "cancel"])
def test_leaving_early_leaves_no_task_and_no_socket_behind(way: str) -> None:
    async def main() -> None:
        async def never(call: Call) -> None:
            await call.reader.read()  # until the client is gone

        async with Server({"/page": answer(PAGE), "*": never}) as server:
            before = asyncio.all_tasks()
            sockets = _sockets()
            urls = ["/page", *(f"/{number}" for number in range(20))]
            results = fetch([Target(at, server.url(path)) for at, path in enumerate(urls)], LOOPBACK)
            assert (await anext(results)).body == PAGE
            if way == "leave":
                await results.aclose()
            else:
                waiting = asyncio.ensure_future(anext(results))
                await asyncio.sleep(0.05)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            for _ in range(100):
                await asyncio.sleep(0.01)
                if not server.open:
                    break
            assert server.open == 0
            assert {task for task in asyncio.all_tasks() if task not in before} == set()
            assert _sockets() <= sockets

    asyncio.run(main())


def test_what_has_come_is_given_when_the_fetch_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Server({"/page": answer(PAGE)}) as server:
            results = fetch([Target(0, server.url("/page"))], LOOPBACK)
            waiting = asyncio.ensure_future(anext(results))
            size_of = client._size_of

            def cancelling(fetched: Fetched) -> int:  # between its coming and its being given
                monkeypatch.undo()
                waiting.cancel()
                return size_of(fetched)

            monkeypatch.setattr(client, "_size_of", cancelling)
            assert (await waiting).body == PAGE
            with pytest.raises(asyncio.CancelledError):
                await anext(results)

    asyncio.run(main())


def _sockets() -> int:
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            count += str(link.readlink()).startswith("socket:")
        except OSError:  # the folder's own
            continue
    return count


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (FetchOptions(), "contact"),
        (FetchOptions(contact="nobody"), "neither a mail address nor a URL"),
        (FetchOptions(contact="a@b.test\r\nX: y"), "neither"),
        (FetchOptions(allow_private=True, connections=0), "connections"),
        (FetchOptions(allow_private=True, total_timeout=0), "total_timeout"),
        (FetchOptions(allow_private=True, rate=-1), "rate"),
    ],
)
def test_wrong_options_are_told_before_anything_is_asked_for(options: FetchOptions, said: str) -> None:
    def none() -> Iterator[Target]:
        raise AssertionError("a target was taken")
        yield

    async def main() -> None:
        async for _ in fetch(none(), options):
            pass

    with pytest.raises(UsageError, match=said):
        asyncio.run(main())
