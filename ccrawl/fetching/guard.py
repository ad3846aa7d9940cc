"""Which addresses may be connected to, checked on the address itself and at the moment of connecting.

A name is resolved here and nowhere else: the addresses that pass are the ones that the connection is made
to, so that a name server which changes its mind between the check and the connection (DNS rebinding) gains
nothing. `guarded_socket` checks again what the socket is made for, whatever way led to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Name and port -> addresses as text. Raises OSError when there are none.
Lookup = Callable[[str, int], Awaitable[list[str]]]

KEPT_FOR = 300.0  # seconds that an answer of a name server counts
FAILURE_KEPT_FOR = 30.0
KEPT_NAMES = 100_000
# getaddrinfo blocks a thread as long as a name server keeps silent: few threads would let the slow names
# hold the fast ones, and nothing but a daemon thread would let the process end meanwhile.
THREADS = 64

# Not public, whatever Python version's table of them is asked (IANA special-purpose registries).
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and metadata of one cloud
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of another, at a public address
        "169.254.0.0/16",  # link-local, and the metadata of most
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",  # unspecified, loopback, and IPv4 as it was written once
        "64:ff9b:1::/48",
        "100::/64",
        "100:0:0:1::/64",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class RefusedAddress(OSError):
    """An address that may not be connected to."""


def embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a gateway would take out of an IPv6 one (mapped, NAT64, 6to4, ISATAP), if any."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    low = int(address) & 0xFFFFFFFF
    if address in _NAT64 or (int(address) >> 32) & 0xFDFFFFFF == 0x00005EFE:
        return ipaddress.IPv4Address(low)
    return address.sixtofour


@lru_cache(maxsize=65536)
def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet, with the IPv4 address inside it."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = embedded(address)
        if inner is not None and not is_public(inner):
            return False
        if inner is not None and (address.ipv4_mapped is not None or address in _NAT64):
            return True
    return (
        address.is_global
        and not (address.is_multicast or address.is_reserved)
        and not any(address in network for network in _NOT_PUBLIC if network.version == address.version)
    )


class Guard:
    """Says which addresses may be connected to.

    public: servers of the internet, which are owed a contact; private: all others.
    """

    def __init__(self, *, public: bool, private: bool) -> None:
        self._public = public
        self._private = private

    def check(self, address: str) -> None:
        """Raise RefusedAddress for an address that may not be connected to."""
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError as error:
            raise RefusedAddress(f"{address!r} is not an address") from error
        if not is_public(parsed):
            if not self._private:
                raise RefusedAddress(f"{parsed} is not a public address")
        elif not self._public:
            raise RefusedAddress(f"{parsed} is a live host, which is fetched with a contact only")

    def socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """A socket for an address, checked: what aiohttp's connector makes its sockets with."""
        family, kind, protocol, _, place = address
        self.check(str(place[0]))
        return socket.socket(family, kind, protocol)


class Resolver(AbstractResolver):
    """Names to addresses that passed the guard; every answer is kept for a while, and asked for once.

    within: seconds that are waited for an answer
    """

    def __init__(self, guard: Guard, lookup: Lookup | None = None, within: float = 10.0) -> None:
        self._guard = guard
        self._within = within
        self._threads = asyncio.Semaphore(THREADS)
        self._lookup = lookup or self._system
        self._answers: OrderedDict[str, tuple[float, asyncio.Future[list[str]]]] = OrderedDict()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a host that may be connected to.

        Raises RefusedAddress when there are others only, another OSError when there are none.
        """
        passed: list[ResolveResult] = []
        refused: RefusedAddress | None = None
        for address in await self._addresses(host, port):
            try:
                self._guard.check(address)
            except RefusedAddress as error:
                refused = error
                continue
            passed.append(
                ResolveResult(
                    hostname=host,
                    host=address,
                    port=port,
                    family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                    proto=0,
                    flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
                )
            )
        if not passed:
            raise refused or OSError(None, f"{host} has no address")
        return passed

    async def _addresses(self, host: str, port: int) -> list[str]:
        now = time.monotonic()
        kept = self._answers.get(host)
        if kept is None or (kept[1].done() and kept[0] < now):
            kept = (now + KEPT_FOR, asyncio.ensure_future(self._lookup(host, port)))
            kept[1].add_done_callback(lambda answer: self._keep_failure(host, answer))
            self._answers[host] = kept
            if len(self._answers) > KEPT_NAMES:
                self._answers.popitem(last=False)
        if not kept[1].done():
            await asyncio.wait([kept[1]], timeout=self._within)  # which leaves the question to others
            if not kept[1].done():
                raise OSError(None, "the name server does not answer in time")
        return kept[1].result()

    def _keep_failure(self, host: str, answer: asyncio.Future[list[str]]) -> None:
        if answer.cancelled() or answer.exception() is not None:
            self._answers[host] = (time.monotonic() + FAILURE_KEPT_FOR, answer)

    async def _system(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def ask() -> None:
            tell: Callable[[], object]
            try:
                found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
                tell = partial(answer.set_result, list(dict.fromkeys(str(place[0]) for *_, place in found)))
            except UnicodeError:  # a part is empty or longer than 63 bytes: no name server is asked for that
                tell = partial(answer.set_exception, OSError(None, "not a name that a name server can have"))
            except Exception as error:
                tell = partial(answer.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(lambda: answer.done() or tell())

        async with self._threads:
            threading.Thread(target=ask, name=f"name of {host}", daemon=True).start()
            return await answer

    async def close(self) -> None:
        """Ask no more; answers that are still open are not waited for."""
        for _, answer in self._answers.values():
            answer.cancel()
        self._answers.clear()
