"""Redirects: where a Location leads, and where it may not."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import Call, Server, answer, fetched, redirect

from ccrawl.fetching.urls import BadUrl, join, web_url

PAGE = answer(b"<p>Here it is.</p>")


async def hop(call: Call) -> None:
    number = int(call.path.rpartition("/")[2])
    await call.send(PAGE if number == 31 else redirect(b"/n/%d" % (number + 1)))


def test_loops_and_long_chains_end_with_one_request_more_than_the_limit() -> None:
    routes = {
        "/loop-a": redirect(b"/loop-b"),
        "/loop-b": redirect(b"/loop-a"),
        "/self": redirect(b"/self"),
        "/cookie": redirect(b"/cookie", "Set-Cookie: seen=1"),
        **{f"/n/{number}": hop for number in range(32)},
    }

    async def main() -> None:
        async with Server(routes) as server:
            began = time.monotonic()
            urls = [server.url(path) for path in ("/loop-a", "/self", "/cookie", "/n/0")]
            results = await fetched(urls, max_redirects=5)
            assert time.monotonic() - began < 2
            assert {result.error for result in results.values()} == {"redirects"}
            assert all("redirects" in r.detail or "loop" in r.detail for r in results.values())
            assert len([path for path in server.paths if path.startswith("/n/")]) == 6
            assert len(server.paths) == 6 + 2 + 1 + 1
            chain = results[server.url("/n/0")]
            assert chain.final_url == server.url("/n/5") and chain.status == 302
            assert [exchange.url for exchange in chain.exchanges] == [server.url(f"/n/{n}") for n in range(6)]
            last = (await fetched([server.url("/n/26")], max_redirects=5))[server.url("/n/26")]
            assert (last.error, last.final_url, len(last.exchanges)) == ("", server.url("/n/31"), 6)

    asyncio.run(main())


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
def test_every_kind_of_redirect_is_followed_and_kept_with_its_body(status: str) -> None:
    async def main() -> None:
        async with Server(
            {"/": redirect(b"/ok", status=status, body=b"<p>Moved.</p>"), "/ok": PAGE}
        ) as server:
            (result,) = (await fetched([server.url("/")])).values()
            assert (result.status, result.error, result.body) == (200, "", b"<p>Here it is.</p>")
            assert [exchange.status for exchange in result.exchanges] == [int(status[:3]), 200]
            assert result.exchanges[0].body == b"<p>Moved.</p>"
            assert result.final_url == server.url("/ok")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        (b"/caf\xe9", "/caf%E9"),  # the byte as it is, Latin-1
        (b"/caf\xc3\xa9", "/caf%C3%A9"),  # the bytes as they are, UTF-8
        (b"?x=1", "/from/here?x=1"),
        (b"there", "/from/there"),
        (b"../there", "/there"),
        (b"./a/../../b/.", "/b/"),
        (b"/ok#sec", "/ok"),
        (b"/ok?u=http%3A%2F%2Fa%3Fb", "/ok?u=http%3A%2F%2Fa%3Fb"),
        (b"/ok?a=b c\"<d>", "/ok?a=b%20c%22%3Cd%3E"),
        (b"\t/o\r k \x00", "/o%20k"),
        (b"\\ok\\there", "/ok/there"),
    ],
)  # fmt: skip
def test_where_a_location_leads(location: bytes, leads_to: str) -> None:
    async def main() -> None:
        odd = redirect(location.replace(b"\r", b"").replace(b"\0", b""))

        async def here(call: Call) -> None:
            await call.send(odd if call.path == "/from/here" else PAGE)

        async with Server({"*": here}) as server:
            (result,) = (await fetched([server.url("/from/here")])).values()
            assert (result.status, result.error, result.final_url) == (200, "", server.url(leads_to))
            assert server.paths == ["/from/here", leads_to]
        assert join(web_url("http://a.test/from/here"), location).text == "http://a.test" + leads_to

    asyncio.run(main())


def test_a_location_may_leave_out_the_scheme_or_name_another_host() -> None:
    async def main() -> None:
        async with Server({"/ok": PAGE}) as other:
            routes = {
                "/scheme": redirect(b"//127.0.0.1:%d/ok" % other.port),
                "/host": redirect(b"http://LOCALHOST:%d/ok" % other.port),
                "/user": redirect(b"http://me:secret@127.0.0.1:%d/ok" % other.port),
            }
            async with Server(routes) as server:
                results = await fetched([server.url(path) for path in routes])
            assert {result.status for result in results.values()} == {200}
            assert results[server.url("/host")].final_url == f"http://localhost:{other.port}/ok"
            assert results[server.url("/user")].final_url == f"http://127.0.0.1:{other.port}/ok"
            assert not [call for call in other.calls if b"uthorization" in call.head]

    asyncio.run(main())


def test_a_redirect_without_a_location_is_an_answer() -> None:
    async def main() -> None:
        async with Server({"/": answer(b"nowhere", status="302 Found")}) as server:
            (result,) = (await fetched([server.url("/")])).values()
        assert (result.status, result.error, result.body) == (302, "", b"nowhere")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("location", "error"),
    [
        (b"file:///etc/passwd", "scheme"),
        (b"javascript:1", "scheme"),
        (b"data:text/html,x", "scheme"),
        (b"ftp://127.0.0.1/x", "scheme"),
        (b"gopher://127.0.0.1/x", "scheme"),
        (b"http://", "url"),
        (b"http://[::1/", "url"),
        (b"http://127.0.0.1:99999/", "url"),
        (b"http://a b.test/", "url"),
        (b"http://1.2.3.4.5/", "url"),
        (b"/" + b"x" * 20_000, "url"),
    ],
)
def test_a_location_that_cannot_be_fetched_is_an_error_and_the_last_url_stays(
    location: bytes, error: str
) -> None:
    async def main() -> None:
        async with Server({"/": redirect(location)}) as server:
            (result,) = (await fetched([server.url("/")])).values()
            assert (result.status, result.error, result.body) == (302, error, b"")
            assert result.final_url == server.url("/")
            assert server.paths == ["/"]

    asyncio.run(main())


@given(st.binary(max_size=60))
def test_any_location_leads_to_a_url_in_ascii_or_to_an_error(location: bytes) -> None:
    base = web_url("https://a.test/b/c?d")
    try:
        joined = join(base, location)
    except BadUrl as error:
        assert error.error in ("url", "scheme")
        return
    assert joined.text.isascii() and joined.text.isprintable() and " " not in joined.text
    assert joined.scheme in ("http", "https") and joined.host
    assert web_url(joined.text) == joined  # it is what it is asked for as


PATHS = st.text(st.sampled_from("ab/.?=&:@%20"), max_size=20)


@given(PATHS, PATHS)
def test_relative_locations_lead_where_rfc_3986_says(path: str, location: str) -> None:
    base = web_url("http://a.test/" + path.replace("?", ""))
    # The standard library departs from the RFC for empty segments and queries, and for what may be a scheme.
    odd = "//" in f"{base.text[7:]} {location}" or ":" in location.partition("/")[0]
    if not location or odd or "?" in (location[0], location[-1]):
        return
    expected = urljoin(base.text, location)
    assert join(base, location.encode()).text == web_url(expected).text
