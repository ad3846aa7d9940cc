"""robots.txt by RFC 9309."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import Call, Route, Server, answer, fetched, redirect, robots

from ccrawl.fetching.robots import MAX_ROBOTS, parse_robots
from ccrawl.fetching.urls import web_url

PAGE = answer(b"<p>Come in.</p>")
PRIVATE = "User-agent: *\nDisallow: /private/\n"
STAR_ALL = "User-agent: *\nDisallow: /\n"


def visit(rules: Route | None, paths: list[str], **options: object) -> tuple[dict[str, str], Server]:
    """(error by path, the server afterwards) with these rules; None for a server without."""

    async def main() -> tuple[dict[str, str], Server]:
        routes: dict[str, Route] = {"*": PAGE}
        routes["/robots.txt"] = answer(b"no", status="404 Not Found") if rules is None else rules
        async with Server(routes) as server:
            results = await fetched([server.url(path) for path in paths], **options)
            for result in results.values():
                assert bool(result.error) == (not result.exchanges)
            return {path: results[server.url(path)].error for path in paths}, server

    return asyncio.run(main())


async def never(call: Call) -> None:
    await call.reader.read()


BOTH = ["/page", "/private/x"]


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(None, id="404"),
        pytest.param(answer(b"", status="403 Forbidden"), id="403"),
        pytest.param(answer(b"", status="410 Gone"), id="410"),
        pytest.param(answer(b"<!doctype html><title>Home</title><p>Disallow: /"), id="a page in its place"),
        pytest.param(robots(""), id="empty"),
        pytest.param(robots("Disallow: /"), id="no group"),
        pytest.param(robots("User-agent: ccrawl\nAllow: /\n\n" + STAR_ALL), id="our group allows"),
        pytest.param(
            robots("User-agent: CCrawl/9.9\nDisallow:\n\n" + STAR_ALL), id="our group, case and version"
        ),
        pytest.param(
            robots("User-agent: c\nDisallow: /\n\nUser-agent: crawl\nDisallow: /"), id="part of our name"
        ),
        pytest.param(robots("User-agent: ccrawler\nDisallow: /"), id="a name that ours is part of"),
        pytest.param(redirect(b"/a"), id="a redirect to a page"),
        pytest.param(redirect(b"/robots.txt"), id="a redirect in a circle"),
        pytest.param(redirect(b"file:///etc/passwd"), id="a redirect to nothing"),
    ],
)
def test_what_allows_all(rules: Route | None) -> None:
    errors, server = visit(rules, BOTH)
    assert errors == {"/page": "", "/private/x": ""}
    assert len(server.asked("/robots.txt")) <= 6


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(robots(PRIVATE), id="plain"),
        pytest.param(robots("\ufeff" + PRIVATE), id="a byte order mark"),
        pytest.param(robots("Crawl-delay: 0\n\n" + PRIVATE), id="a rule outside of a group"),
        pytest.param(robots(PRIVATE.replace("\n", "\r")), id="CR line ends"),
        pytest.param(robots(PRIVATE.replace("\n", "\r\n")), id="CRLF line ends"),
        pytest.param(robots("User-agent: other\nCrawl-delay: 10\n\n" + PRIVATE), id="another's delay"),
        pytest.param(robots("User-agent: *\nCrawl-delay: abc\nDisallow: /private/"), id="a delay of letters"),
        pytest.param(
            robots("User-agent: *\nCrawl-delay: nan\nDisallow: /private/"), id="a delay that is none"
        ),
        pytest.param(robots("User-agent: *\nCrawl-delay: 0.05\nDisallow: /private/"), id="a delay in parts"),
        pytest.param(robots("user-agent:*\ndisallow:/private/ # all of it"), id="no blanks, and a comment"),
        pytest.param(
            robots("User-agent: other\nUser-agent: ccrawl\nDisallow: /private/"), id="a group of two"
        ),
        pytest.param(robots(b"\xff\xfe\n" + PRIVATE.encode()), id="bytes that are no text"),
        pytest.param(robots(PRIVATE + "#" * MAX_ROBOTS * 4 + "\nUser-agent: *\nDisallow: /"), id="too large"),
    ],
)
def test_what_forbids_a_part(rules: Route) -> None:
    began = time.monotonic()
    errors, server = visit(rules, BOTH)
    assert errors == {"/page": "", "/private/x": "robots"}
    assert server.paths == ["/page"]
    assert time.monotonic() - began < 5


def test_a_redirect_of_robots_txt_is_followed_to_another_host_too() -> None:
    async def main() -> None:
        async with Server({"/rules": robots(PRIVATE)}) as other:
            hops = {f"/{n}": redirect(b"/%d" % (n + 1)) for n in range(4)}
            hops["/3"] = redirect(other.url("/rules").encode())
            async with Server({"*": PAGE, "/robots.txt": redirect(b"/0"), **hops}) as server:
                results = await fetched([server.url(path) for path in BOTH])
                assert [result.error for result in results.values()].count("robots") == 1
                assert results[server.url("/private/x")].error == "robots"

    asyncio.run(main())


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(answer(b"", status="500 Oops"), id="500"),
        pytest.param(answer(b"", status="503 Busy"), id="503"),
        pytest.param(never, id="no answer"),
        pytest.param(b"What is it?\r\n\r\n", id="no HTTP"),
        pytest.param(redirect(b"http://127.0.0.1:1/robots.txt"), id="a redirect to a dead host"),
    ],
)
def test_what_forbids_all_for_now(rules: Route) -> None:
    errors, server = visit(rules, BOTH, idle_timeout=0.3)
    assert errors == {"/page": "robots-unavailable", "/private/x": "robots-unavailable"}
    assert server.paths == []


def test_the_longest_rule_decides() -> None:
    rules = robots("User-agent: *\nDisallow: /*.pdf$\nAllow: /private/x\nDisallow: /private/\n")
    errors, _ = visit(rules, ["/private/x", "/private/y", "/a.pdf", "/a.pdfx"])
    assert errors == {"/private/x": "", "/private/y": "robots", "/a.pdf": "robots", "/a.pdfx": ""}


def test_robots_txt_is_asked_for_once_an_origin_before_all_else_and_not_when_it_is_to_be_ignored() -> None:
    paths = [f"/{number}" for number in range(30)]
    _, server = visit(robots(PRIVATE), paths)
    assert len(server.asked("/robots.txt")) == 1
    assert server.calls[0].path == "/robots.txt"
    errors, server = visit(robots(STAR_ALL), paths, ignore_robots=True)
    assert set(errors.values()) == {""}
    assert not server.asked("/robots.txt")


def test_robots_txt_counts_behind_a_redirect_too() -> None:
    async def main() -> None:
        async with Server({"*": PAGE, "/robots.txt": robots(STAR_ALL)}) as shut:
            async with Server({"/": redirect(shut.url("/").encode())}) as server:
                (result,) = (await fetched([server.url("/")])).values()
            assert (result.error, result.status) == ("robots", 302)
            assert shut.paths == []

    asyncio.run(main())


def test_our_delay_is_kept() -> None:
    _, server = visit(robots("User-agent: ccrawl\nCrawl-delay: 0.2"), ["/1", "/2", "/3"])
    times = [call.at for call in server.calls if call.path != "/robots.txt"]
    assert all(later - earlier >= 0.19 for earlier, later in pairwise(times))


def test_a_file_made_to_take_long_takes_no_time() -> None:
    text = "".join(f"User-agent: a{n}\n" for n in range(14_000)) + "Disallow: /x*y*z*$\n" * 13_000
    began = time.process_time()
    rules = parse_robots(text.encode())
    assert rules.refusal(web_url("http://a.test/" + "x" * 5000)) is None
    assert time.process_time() - began < 2


@given(
    st.binary(max_size=200) | st.text(st.sampled_from("user-agent:disallow/*$ \n\r#\0ccrawl"), max_size=200)
)
def test_any_bytes_are_rules(body: bytes | str) -> None:
    rules = parse_robots(body.encode() if isinstance(body, str) else body)
    rules.refusal(web_url("http://a.test/a?b=c"))
    assert 0 <= rules.delay <= 30


@given(st.lists(st.sampled_from(["/", "/a", "/a/", "/ab", "/b", "/a/b"]), max_size=6), st.data())
def test_the_longest_of_plain_rules_decides_whatever_their_order(
    paths: list[str], data: st.DataObject
) -> None:
    allowed = {path: data.draw(st.booleans()) for path in paths}
    text = "User-agent: *\n" + "".join(
        f"{'Allow' if allowed[path] else 'Disallow'}: {path}\n" for path in data.draw(st.permutations(paths))
    )
    rules = parse_robots(text.encode())
    for path in ("/", "/a", "/a/b/c", "/abc", "/c"):
        longest = max((rule for rule in allowed if path.startswith(rule)), key=len, default=None)
        expected = longest is None or allowed[longest]
        assert (rules.refusal(web_url(f"http://a.test{path}")) is None) == expected
