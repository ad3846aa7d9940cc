"""Addresses that may not be connected to, whatever name or notation leads there."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import Server, answer, fetched, redirect

from ccrawl.fetching.client import fetch
from ccrawl.fetching.guard import Guard, RefusedAddress, Resolver, embedded, is_public
from ccrawl.fetching.types import Fetched, FetchOptions, Target

PAGE = answer(b"<p>Not for you.</p>")
LIVE = FetchOptions(contact="me@site.test", rate=0, ignore_robots=True, total_timeout=5)

REFUSED = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
    "192.168.0.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "2001:0:7f00:1::", "2001:db8::1", "2606:4700::5efe:10.0.0.1", "100::1", "fc00::1", "fd00:ec2::254",
    "fe80::1", "fec0::1", "ff02::1", "3fff::1", "5f00::1",
]  # fmt: skip
ALLOWED = [
    "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.0.1", "223.1.1.1",
    "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
]  # fmt: skip


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    with pytest.raises(RefusedAddress):
        Guard(public=True, private=False).check(address)
    Guard(public=True, private=True).check(address)
    Guard(public=False, private=True).check(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
    Guard(public=True, private=False).check(address)
    with pytest.raises(RefusedAddress, match="contact"):
        Guard(public=False, private=True).check(address)


V4 = st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address) | st.sampled_from(
    [ipaddress.IPv4Address(text) for text in REFUSED + ALLOWED if ":" not in text]
)


# What the library's table does not hold in every Python version: protocol assignments, relays, metadata.
BEYOND_THE_LIBRARY = [
    ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")
]


def refused_by_the_standard_library(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return (
        not address.is_global
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


@given(V4)
def test_no_ipv4_address_passes_that_the_standard_library_calls_special(
    address: ipaddress.IPv4Address,
) -> None:
    if refused_by_the_standard_library(address):
        assert not is_public(address)
    elif not any(address in network for network in BEYOND_THE_LIBRARY):
        assert is_public(address)


@given(st.integers(0, 2**128 - 1).map(ipaddress.IPv6Address))
def test_no_ipv6_address_passes_that_the_standard_library_calls_special(
    address: ipaddress.IPv6Address,
) -> None:
    inside = address.ipv4_mapped is not None or address in ipaddress.ip_network("64:ff9b::/96")
    if refused_by_the_standard_library(address) and not inside:
        assert not is_public(address)


@given(V4, st.integers(0, 2**16 - 1))
def test_an_ipv4_address_is_the_same_inside_of_an_ipv6_one(inner: ipaddress.IPv4Address, rest: int) -> None:
    number = int(inner)
    for outer in (
        (0xFFFF << 32) | number,  # mapped
        (0x64_FF9B << 96) | number,  # NAT64
        (0x2002 << 112) | (number << 80) | rest,  # 6to4
        (0x2A00_1450 << 96) | (rest << 64) | (0x5EFE << 32) | number,  # ISATAP
    ):
        address = ipaddress.IPv6Address(outer)
        assert embedded(address) == inner
        assert is_public(address) == is_public(inner)
    for outer in ((0x2001_0000 << 96) | (number << 64) | rest, number):  # Teredo, and as it was written once
        assert not is_public(ipaddress.IPv6Address(outer))


def ask(urls: list[str], options: FetchOptions = LIVE, **names: list[str]) -> dict[str, Fetched]:
    asked.clear()

    async def lookup(host: str, port: int) -> list[str]:
        asked.append(host)
        return names[host.partition(".")[0]]

    async def main() -> dict[str, Fetched]:
        targets = [Target(at, url) for at, url in enumerate(urls)]
        return {result.target.url: result async for result in fetch(targets, options, lookup=lookup)}

    return asyncio.run(main())


asked: list[str] = []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
     "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "0", "%31%32%37.0.0.1", "１２７.0.0.1"],
)  # fmt: skip
def test_no_connection_is_made_to_an_address_in_the_url(host: str) -> None:
    async def main() -> None:
        async with Server({"*": PAGE}) as server:
            url = f"http://{host}:{server.port}/"
            results = [result async for result in fetch([Target(0, url)], LIVE)]
            assert [(result.error, result.exchanges) for result in results] == [("address", ())]
            assert "not a public address" in results[0].detail
            assert server.connections == 0

    asyncio.run(main())


def test_no_connection_is_made_to_what_a_name_resolves_to() -> None:
    async def main() -> None:
        async with Server({"*": PAGE}) as server:
            url = f"http://localhost:{server.port}/"
            results = [result async for result in fetch([Target(0, url)], LIVE)]
            assert results[0].error == "address"
            assert server.connections == 0

    asyncio.run(main())


def test_a_name_is_refused_when_all_its_addresses_are_and_no_refused_one_is_tried_otherwise() -> None:
    async def lookup(host: str, port: int) -> list[str]:
        return ["10.0.0.1", "::1"] if host == "inside.test" else ["127.0.0.1", "93.184.216.34", "fd00::1"]

    async def main() -> None:
        resolver = Resolver(Guard(public=True, private=False), lookup)
        with pytest.raises(RefusedAddress):
            await resolver.resolve("inside.test", 80)
        assert [found["host"] for found in await resolver.resolve("mixed.test", 80)] == ["93.184.216.34"]
        await resolver.close()

    asyncio.run(main())


@pytest.mark.parametrize("host", ["a..test", ".test", f"{'a' * 64}.test"])
def test_a_name_that_no_name_server_can_have_is_a_failure_of_the_name(host: str) -> None:
    async def main() -> None:
        options = FetchOptions(contact="mail@example.org", ignore_robots=True)
        (result,) = [result async for result in fetch([Target(0, f"http://{host}/")], options)]
        assert (result.error, result.detail) == ("dns", "not a name that a name server can have")

    asyncio.run(main())


SILENT = """
import asyncio, socket, time
from ccrawl.fetching.client import FetchOptions, fetch
from ccrawl.fetching.types import Target

async def main():
    options = FetchOptions(contact="me@site.test", connect_timeout=0.2)
    print([result.error async for result in fetch([Target(0, "http://silent.test/")], options)])

socket.getaddrinfo = lambda *_: time.sleep(60)
asyncio.run(main())
"""


def test_a_name_server_that_keeps_silent_holds_no_process_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SILENT], capture_output=True, text=True, timeout=40, check=True
    )
    assert done.stdout == "['dns']\n"


def test_the_socket_is_checked_too_whatever_way_led_to_it() -> None:
    guard = Guard(public=True, private=False)
    for family, place in ((socket.AF_INET, ("10.0.0.1", 80)), (socket.AF_INET6, ("fe80::1%lo", 80, 0, 1))):
        with pytest.raises(RefusedAddress):
            guard.socket((family, socket.SOCK_STREAM, 0, "", place))


def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """A name server that says something else the second time is not asked a second time."""
    answers = iter([["127.0.0.2"], ["127.0.0.1"]])

    async def lookup(host: str, port: int) -> list[str]:
        return next(answers)

    async def main() -> None:
        async with Server({"*": PAGE}, address="127.0.0.2") as server:
            targets = [Target(at, server.url(f"/{at}", "name.test")) for at in range(4)]
            options = FetchOptions(allow_private=True, rate=0)
            results = [result async for result in fetch(targets, options, lookup=lookup)]
        assert {result.ip_address for result in results} == {"127.0.0.2"}
        assert next(answers) == ["127.0.0.1"]

    asyncio.run(main())


def test_a_redirect_to_a_refused_address_is_not_followed() -> None:
    """127.0.0.1 stands for a live server here: only 10/8 and the like are refused."""

    async def main() -> None:
        async with Server({}) as server:
            places = [b"http://8.8.8.8/", b"http://[2606:4700::1111]/x", b"http://134744072/"]
            server.routes = {f"/{at}": redirect(place) for at, place in enumerate(places)}
            results = await fetched([server.url(f"/{at}") for at in range(len(places))])
        for result in results.values():
            assert (result.status, result.error, len(result.exchanges)) == (302, "address", 1)
            assert "contact" in result.detail

    asyncio.run(main())


def test_robots_txt_is_not_asked_for_at_a_refused_address() -> None:
    async def main() -> None:
        async with Server({"*": PAGE}) as server:
            options = FetchOptions(contact="me@site.test", rate=0)
            results = [result async for result in fetch([Target(0, server.url("/"))], options)]
            assert results[0].error == "address"
            assert server.connections == 0

    asyncio.run(main())


def test_a_name_is_asked_for_once_and_a_failure_does_not_hold_others() -> None:
    results = ask(
        [f"http://gone.test/{at}" for at in range(5)] + ["http://inside.test/"], gone=[], inside=["10.0.0.1"]
    )
    assert [result.error for result in results.values()].count("dns") == 5
    assert results["http://inside.test/"].error == "address"
    assert sorted(asked) == ["gone.test", "inside.test"]
