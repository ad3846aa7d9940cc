"""https: certificates that hold, and those that do not."""

from __future__ import annotations

import asyncio
import datetime
import ssl

import pytest
import trustme
from support.hostile import Server, answer, fetched, redirect

PAGE = answer(b"<p>Under seal.</p>")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def serving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def test_a_page_behind_a_good_certificate_comes_and_a_redirect_may_change_the_scheme(
    authority: trustme.CA,
) -> None:
    async def main() -> None:
        secure = Server({"/ok": PAGE}, tls=serving(authority.issue_cert("localhost")))
        async with secure, Server({}) as plain:
            up, down = "/up", "/down"
            plain.routes = {up: redirect(secure.url("/ok", "localhost").encode()), "/ok": PAGE}
            secure.routes = {"/ok": PAGE, down: redirect(plain.url("/ok").encode())}
            urls = [secure.url("/ok", "localhost"), plain.url(up), secure.url(down, "localhost")]
            results = await fetched(urls, tls=trusting(authority))
            assert [(results[url].status, results[url].error) for url in urls] == [(200, "")] * 3
            assert results[urls[1]].final_url == urls[0]
            assert results[urls[2]].final_url == plain.url("/ok")
            exchange = results[urls[0]].exchanges[0]
            assert exchange.response_head + exchange.body == PAGE

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["unknown authority", "another name", "expired", "not yet valid"])
def test_a_certificate_that_does_not_hold_is_an_error_of_its_own(authority: trustme.CA, kind: str) -> None:
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    certificate = {
        "unknown authority": lambda: trustme.CA().issue_cert("localhost"),
        "another name": lambda: authority.issue_cert("other.test"),
        "expired": lambda: authority.issue_cert("localhost", not_before=now - 9 * day, not_after=now - day),
        "not yet valid": lambda: authority.issue_cert("localhost", not_before=now + day),
    }[kind]()

    async def main() -> None:
        async with Server({"*": PAGE}, tls=serving(certificate)) as server:
            url = server.url("/", "localhost")
            result = (await fetched([url], tls=trusting(authority)))[url]
            assert (result.error, result.exchanges, result.body) == ("tls", (), b"")
            assert "certificate" in result.detail
            assert server.calls == []

    asyncio.run(main())


def test_https_to_a_server_that_speaks_http_and_the_other_way_round(authority: trustme.CA) -> None:
    async def bad_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer(b"what?", status="400 Bad Request"))
        await writer.drain()
        writer.close()

    async def main() -> None:
        plain = await asyncio.start_server(bad_request, "127.0.0.1", 0)
        to_plain = f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/"
        async with plain, Server({"*": PAGE}, tls=serving(authority.issue_cert("localhost"))) as secure:
            to_secure = secure.url("/", "localhost").replace("https:", "http:")
            results = await fetched([to_plain, to_secure], tls=trusting(authority), ignore_robots=True)
        assert results[to_plain].error == "tls"
        assert results[to_secure].error in ("disconnect", "protocol")

    asyncio.run(main())
