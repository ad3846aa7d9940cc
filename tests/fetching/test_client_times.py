"""Limits on time: whatever a server does slowly, its slot is free again in time."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from support.hostile import Call, Server, answer, fetched

PAGE = b"<p>In time.</p>"


async def drip(call: Call) -> None:
    await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    await call.drip(b"x" * 100_000, 0.05)


async def slow_head(call: Call) -> None:
    await call.drip(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 10_000, 0.05)


async def stall(call: Call) -> None:
    await call.send(answer(b"x" * 500, length=1000))
    await asyncio.sleep(60)


async def silence(call: Call) -> None:
    await asyncio.sleep(60)


async def ok(call: Call) -> None:
    await asyncio.sleep(0.02)
    await call.send(answer(PAGE))


def test_slow_answers_end_at_the_total_limit_and_the_good_ones_of_their_host_all_come() -> None:
    routes = {"/drip": drip, "/slowhead": slow_head, "/stall": stall, "/accept": silence, "/ok": ok}

    async def main() -> None:
        async with Server(routes) as server:
            urls = [server.url(f"{path}?{number}") for path in routes for number in range(12)]
            began = time.monotonic()
            results = await fetched(urls, connections=16, total_timeout=0.5, idle_timeout=20)
            # 48 slow ones, 16 at a time
            assert time.monotonic() - began < 3 * 0.5 + 2
            for url, result in results.items():
                if "/ok" in url:
                    assert (result.status, result.error, result.body) == (200, "", PAGE)
                else:
                    assert (result.error, result.body) == ("timeout", b"")
                    assert 450 <= result.duration_ms < 1500
            assert len([task for task in asyncio.all_tasks() if "_turn" in repr(task)]) == 0

    asyncio.run(main())


@pytest.mark.parametrize("route", [stall, silence, drip])
def test_silence_ends_a_fetch_before_the_total_limit_and_a_byte_a_moment_is_silence(route: object) -> None:
    async def main() -> None:
        async with Server({"/": route}) as server:  # type: ignore[dict-item]
            (result,) = (await fetched([server.url("/")], idle_timeout=0.3, ignore_robots=True)).values()
        assert (result.error, result.body) == ("timeout", b"")
        assert 250 <= result.duration_ms < 1500

    asyncio.run(main())


def test_a_body_that_comes_steadily_may_take_longer_than_silence_may() -> None:
    async def steady(call: Call) -> None:
        await call.send(answer(length=8000), *(b"x" * 1000 for _ in range(8)), pause=0.25)

    async def main() -> None:
        async with Server({"/": steady}) as server:
            (result,) = (await fetched([server.url("/")], idle_timeout=1.5)).values()
        assert (result.error, len(result.body)) == ("", 8000)

    asyncio.run(main())


def test_a_host_that_takes_no_connection_is_left_after_the_limit_on_connecting() -> None:
    async def main() -> None:
        # A listener whose queue is full: Linux drops further SYNs, as a firewall does.
        with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            for client in (first, second):
                client.setblocking(False)
                client.connect_ex(listener.getsockname())
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            (result,) = (await fetched([url], connect_timeout=0.3, ignore_robots=True)).values()
        assert result.error == "timeout"
        assert "connection" in result.detail
        assert 250 <= result.duration_ms < 1500

    asyncio.run(main())
