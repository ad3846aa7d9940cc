"""Answers that lie about themselves, break off or are not HTTP: a result each, and no harm to the next one."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable

import pytest
from support.hostile import Call, Route, Server, answer, fetched

from ccrawl.fetching.types import Fetched

BODY = b"<html><body><p>Marker</p>" + b"x" * 3000 + b"</body></html>"


def run(route: Route, **options: object) -> tuple[Fetched, Fetched]:
    """What comes of the route, and of a good page asked for after it, on the same connection if it is kept."""

    async def main() -> tuple[Fetched, Fetched]:
        async with Server({"/odd": route, "/good": answer(b"good")}) as server:
            results = await fetched(
                [server.url("/odd"), server.url("/good")], per_host=1, ignore_robots=True, **options
            )
            return results[server.url("/odd")], results[server.url("/good")]

    odd, good = asyncio.run(main())
    assert (good.body, good.error) == (b"good", "")
    return odd, good


def closing(data: bytes) -> Callable[[Call], Awaitable[None]]:
    async def route(call: Call) -> None:
        await call.send(data)
        call.close()

    return route


def chunks(data: bytes, *, size: str = "", end: bytes = b"0\r\n\r\n") -> bytes:
    head = (size or f"{len(data):X}").encode()
    return answer(head + b"\r\n" + data + b"\r\n" + end, "Transfer-Encoding: chunked")


def raw_deflate(data: bytes) -> bytes:
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    return coder.compress(data) + coder.flush()


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(answer(BODY, "Set-Cookie: a=" + "y" * 20_000), id="a long field"),
        pytest.param(answer(BODY, *(f"X-{n}: {n}" for n in range(300))), id="many fields"),
        pytest.param(answer(BODY, "X-A: one\r\n two"), id="a folded field"),
        pytest.param(answer(BODY, "X-A: caf\xe9"), id="Latin-1 in a field"),
        pytest.param(answer(BODY).replace(b"\r\n", b"\n"), id="bare line feeds"),
        pytest.param(answer(BODY, status="200"), id="no reason"),
        pytest.param(chunks(BODY), id="chunked"),
        pytest.param(chunks(BODY, size=f"{len(BODY):x} "), id="a blank after the size of a chunk"),
        pytest.param(chunks(BODY, end=b"0\r\nX-Trailer: 1\r\n\r\n"), id="a trailer"),
        pytest.param(closing(b"HTTP/1.0 200 OK\r\n\r\n" + BODY), id="until the end of the connection"),
        pytest.param(answer(raw_deflate(BODY), "Content-Encoding: deflate"), id="raw deflate"),
        pytest.param(answer(BODY, "Content-Encoding: gzip"), id="a coding that is not there"),
        pytest.param(answer(gzip.compress(BODY)), id="gzip that no field tells of"),
        pytest.param(answer(BODY, "Content-Encoding: utf-8"), id="a charset for a coding"),
    ],
)
def test_oddities_that_browsers_show_are_read(route: Route) -> None:
    odd, _ = run(route)
    assert (odd.status, odd.error, odd.body) == (200, "", BODY)
    assert odd.exchanges[0].complete


def test_a_length_of_the_text_on_its_coded_form_is_no_loss_whether_the_connection_ends_or_not() -> None:
    data = answer(gzip.compress(BODY), "Content-Encoding: gzip", length=len(BODY))
    for route in (data, closing(data)):
        odd, _ = run(route, idle_timeout=0.3)
        assert (odd.status, odd.error, odd.body) == (200, "", BODY)
        assert odd.exchanges[0].complete


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(closing(answer(BODY, length=5000)), id="a length above what comes"),
        pytest.param(closing(chunks(BODY, end=b"")), id="no last chunk"),
        pytest.param(chunks(BODY, end=b"zz\r\n"), id="a chunk without a size"),
        pytest.param(
            closing(answer(gzip.compress(BODY), "Content-Encoding: gzip", length=9999)), id="coded and cut"
        ),
    ],
)
def test_what_came_of_a_cut_body_is_kept_and_said_to_be_cut(route: Route) -> None:
    odd, _ = run(route)
    assert (odd.status, odd.error, odd.body) == (200, "truncated", BODY)
    assert odd.detail
    assert not odd.exchanges[0].complete


def test_a_reset_in_the_middle_of_a_body_is_a_cut() -> None:
    async def reset(call: Call) -> None:
        await call.send(answer(BODY, length=5000))
        await asyncio.sleep(0.05)
        call.reset()

    odd, _ = run(reset)
    assert (odd.error, odd.body) == ("truncated", BODY)


def test_bytes_after_the_length_are_no_part_of_this_body_nor_of_the_next_answer() -> None:
    odd, _ = run(answer(BODY, length=30))
    assert (odd.error, odd.body) == ("", BODY[:30])


def test_an_answer_to_nothing_is_not_taken_for_the_next_one() -> None:
    async def twice(call: Call) -> None:
        await call.send(answer(BODY), answer(b"an answer that nobody asked for"), pause=0.05)

    odd, _ = run(twice, rate=5)  # the good page is asked for later than that
    assert odd.body == BODY

    async def twice_at_once(call: Call) -> None:
        await call.send(answer(BODY) + answer(b"an answer that nobody asked for"))

    odd, _ = run(twice_at_once)
    assert odd.body == BODY


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_a_status_without_a_body_has_none(status: str) -> None:
    odd, _ = run(answer(BODY, status=status))
    assert (odd.status, odd.error, odd.body) == (int(status[:3]), "", b"")


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(closing(BODY), id="no head"),
        pytest.param(closing(b"SSH-2.0-OpenSSH_9.9\r\n"), id="another protocol"),
        pytest.param(answer(BODY, "Content-Length: 12"), id="two lengths"),
        pytest.param(
            answer(BODY, "Transfer-Encoding: chunked", "Content-Length: 12"), id="length and chunks"
        ),
        pytest.param(answer(BODY, length=-5), id="a length below 0"),
        pytest.param(answer(BODY, length=10**30), id="a length above all"),
        pytest.param(answer(BODY, "X-A: a\0b"), id="NUL in a field"),
        pytest.param(answer(BODY, "no colon"), id="a field without a colon"),
        pytest.param(answer(BODY, status="20 OK"), id="a status of two digits"),
        pytest.param(answer(BODY, "X-A: " + "y" * 300_000), id="a head that is too large"),
        pytest.param(answer(BODY, *("X-A: b" for _ in range(50_000))), id="too many fields"),
    ],
)
def test_what_is_not_http_is_an_error_of_its_own(route: Route) -> None:
    odd, _ = run(route)
    assert (odd.error, odd.body, odd.exchanges) == ("protocol", b"", ())
    assert odd.detail and "\n" not in odd.detail and len(odd.detail) <= 300


def test_a_head_without_end_is_given_up_at_its_limit() -> None:
    async def endless(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await call.send(b"X-More: and more\r\n" * 1000)

    odd, _ = run(endless)
    assert odd.error == "protocol"


def test_a_server_that_ends_the_connection_without_an_answer() -> None:
    async def close(call: Call) -> None:
        call.close()

    async def reset(call: Call) -> None:
        call.reset()

    for route in (close, reset):
        odd, _ = run(route)
        assert (odd.error, odd.exchanges) == ("disconnect", ())


def test_a_body_above_the_limit_is_cut_where_the_limit_is() -> None:
    async def endless(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await call.send(b"x" * 10_000)

    odd, _ = run(endless, max_body=100_000)
    assert (odd.status, odd.error, odd.body) == (200, "too-large", b"")
    assert (len(odd.exchanges[0].body), odd.exchanges[0].complete) == (100_000, False)
    exact, _ = run(answer(b"x" * 100_000), max_body=100_000)
    assert (exact.error, len(exact.body)) == ("", 100_000)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate", "gzip, gzip"])
def test_a_bomb_is_given_up_at_the_limit_of_what_it_decodes_to(coding: str) -> None:
    import brotli
    import zstandard

    zeros = bytes(80 << 20)
    if coding == "gzip, gzip":
        bomb = gzip.compress(gzip.compress(zeros, 6), 6)
    else:
        bomb = {
            "gzip": lambda: gzip.compress(zeros, 6),
            "deflate": lambda: zlib.compress(zeros, 6),
            "br": lambda: brotli.compress(zeros, quality=3),
            "zstd": lambda: zstandard.compress(zeros),
        }[coding]()
    odd, _ = run(answer(bomb, f"Content-Encoding: {coding}"), max_body=1 << 20)
    assert (odd.error, odd.body) == ("too-large", b"")
    assert odd.exchanges[0].body == bomb


def test_an_unknown_coding_of_bytes_is_an_error_of_its_own() -> None:
    odd, _ = run(answer(bytes(range(256)) * 8, "Content-Encoding: aes128gcm"))
    assert (odd.error, odd.body) == ("coding", b"")
