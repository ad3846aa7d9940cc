"""`ccrawl refetch` beside bare loops of client libraries and the converter alone, in one run on this machine.

    benchmarks/refetch.py               every figure of the table below
    benchmarks/refetch.py --pages N     with another number of pages (default: 10,000)

One process serves 200 host names on loopback addresses; all others are clients of it, each in a process of
its own. Figures:
  bare        a loop of the client library alone: pages a second, and CPU milliseconds a page
  fetch       `ccrawl.fetching.client.fetch` with robots.txt, guard, schedule, heads and timings
  ratio       pages a second of fetch over those of the bare aiohttp loop, and CPU the other way round
              (wanted: at least 0.6)
  memory      peak resident set with 1,000 connections under way (wanted: below 600 MB)
  mix         all pages, of which a fifth stand on dead, silent, dripping or hostile hosts, over the healthy
              ones alone, which take 0.1 s as over a network: wall time less one limit (wanted: at most 1.3)

  fetch, alone, beside, bound   conversion beside the fetch: see refetch_convert.py, which measures it

Bare and fetch are measured in turns, five times each, the server on the first core and the client on the
last: the machine may have other work. The ratio is that of the medians; that of the best stands below it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import platform
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import refetch_convert

HOSTS = 200
CONNECTIONS = 100
PER_HOST = 2
ROUNDS = 5
LIMIT = 4.0  # seconds, for one target
PAGE = b"<html><body>" + b"<p>The ferry to the island leaves at noon.</p>" * 450 + b"</body></html>"  # 20 KB
KINDS = ("dead", "silent", "drip", "hostile")


def answer(body: bytes, *fields: bytes, length: int | None = None) -> bytes:
    size = b"Content-Length: %d" % (len(body) if length is None else length)
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Type: text/html", size, *fields, b"", body])


GOOD = answer(PAGE)
NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
HOSTILE = [
    answer(PAGE, length=10**6),  # and then the end
    answer(gzip.compress(bytes(64 << 20), 1), b"Content-Encoding: gzip"),
    b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /again\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 500_000,
    b"220 smtp.test ESMTP\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


class Serving(asyncio.Protocol):
    """Answers by what the host name starts with; requests are not parsed further."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        path = data.split(b" ", 2)[1]
        host = data.partition(b"Host: ")[2].partition(b".")[0]
        if path == b"/robots.txt" and not host.startswith(b"silent"):
            transport.write(NO_ROBOTS)
        elif host.startswith(b"good"):
            transport.write(GOOD)
        elif host.startswith((b"slow", b"near")):
            pause = 1.0 if host.startswith(b"slow") else 0.1
            asyncio.get_running_loop().call_later(pause, transport.write, GOOD)
        elif host.startswith(b"drip"):
            transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            self._drip()
        elif host.startswith(b"hostile"):
            transport.write(HOSTILE[int(path[1:]) // HOSTS % len(HOSTILE) if path[1:].isdigit() else 2])
            transport.close()

    def _drip(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(b"x")
            asyncio.get_running_loop().call_later(1.0, self._drip)


async def serve() -> None:
    refetch_convert.pin(refetch_convert.FIRST)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Serving, "0.0.0.0", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)  # until the benchmark ends


def urls(kind: str, pages: int, port: int) -> list[str]:
    """Page after page in turns over the hosts, 50 of each with 10,000."""
    found = []
    for number in range(pages):
        host = number % HOSTS
        name = f"{kind}{host}"
        if kind == "mix":
            name = f"near{host}" if host % 5 else f"{KINDS[host // 5 % len(KINDS)]}{host}"
        elif kind == "healthy":
            if host % 5 == 0:
                continue
            name = f"near{host}"
        to = 1 if name.startswith("dead") else port  # nobody listens on port 1
        found.append(f"http://{name}.test:{to}/{number}")
    return found


async def lookup(host: str, port: int) -> list[str]:
    return [f"127.0.{1 + sum(map(ord, host)) % 200}.{sum(map(ord, host[:4])) % 250 + 1}"]


async def bare_aiohttp(pages: Iterator[str], workers: int) -> int:
    import aiohttp
    from aiohttp.abc import AbstractResolver

    class Loopback(AbstractResolver):
        async def resolve(self, host, port=0, family=socket.AF_INET):  # type: ignore[no-untyped-def]
            (address,) = await lookup(host, port)
            return [
                {
                    "hostname": host,
                    "host": address,
                    "port": port,
                    "family": socket.AF_INET,
                    "proto": 0,
                    "flags": 0,
                }
            ]

        async def close(self) -> None: ...

    done = 0

    async def work() -> None:
        nonlocal done
        for url in pages:
            async with session.get(url) as response:
                assert len(await response.read()) == len(PAGE)
                done += 1

    connector = aiohttp.TCPConnector(limit=0, resolver=Loopback())
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        await asyncio.gather(*(work() for _ in range(workers)))
    return done


async def bare_httpx(pages: Iterator[str], workers: int) -> int:
    try:
        import httpx2 as httpx  # the successor
    except ImportError:
        import httpx  # type: ignore[no-redef]
    done = 0

    async def work() -> None:
        nonlocal done
        for url in pages:
            # Without a resolver of one's own there: the address in the URL, the name in the Host field.
            name = url.split("/")[2]
            (address,) = await lookup(name.partition(":")[0], 0)
            response = await client.get(url.replace(name.partition(":")[0], address), headers={"Host": name})
            assert len(response.content) == len(PAGE)
            done += 1

    limits = httpx.Limits(max_connections=workers, max_keepalive_connections=workers)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        await asyncio.gather(*(work() for _ in range(workers)))
    return done


async def ours(pages: Iterator[str], workers: int) -> Counter[str]:
    from ccrawl.fetching.client import FetchOptions, fetch
    from ccrawl.fetching.types import Target

    options = FetchOptions(
        connections=workers,
        per_host=max(PER_HOST, workers // HOSTS),
        rate=0,
        connect_timeout=LIMIT / 3,
        idle_timeout=LIMIT / 3,
        total_timeout=LIMIT,
        allow_private=True,
    )
    errors: Counter[str] = Counter()
    targets = (Target(number, url) for number, url in enumerate(pages))
    async for fetched in fetch(targets, options, lookup=lookup):
        errors[fetched.error] += 1
        assert fetched.error or len(fetched.body) == len(PAGE)
    return errors


def client(which: str, kind: str, pages: int, port: int, workers: int) -> None:
    """One measurement, as JSON."""
    refetch_convert.pin(refetch_convert.LAST)
    # Imported before the clock starts.
    import aiohttp  # noqa: F401

    import ccrawl.fetching.client  # noqa: F401

    loops = {"aiohttp": bare_aiohttp, "httpx": bare_httpx, "ours": ours}
    asked = urls(kind, pages, port)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    wall, cpu = time.monotonic(), time.process_time()
    result = asyncio.run(loops[which](iter(asked), workers))
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"pages": len(asked), "wall": wall, "cpu": cpu, "peak": peak, "errors": result}))


def measure(port: int, which: str, kind: str, pages: int, workers: int = CONNECTIONS) -> dict:
    command = [sys.executable, __file__, "--client", which, kind, str(pages), str(port), str(workers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    found["rate"] = found["pages"] / found["wall"]
    found["ms"] = found["cpu"] / found["pages"] * 1000
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--client", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve())
        return
    if args.client:
        which, kind, *numbers = args.client
        client(which, kind, *map(int, numbers))
        return
    print(f"{platform.machine()}, Python {platform.python_version()}, {args.pages:,} pages of")
    print(f"{len(PAGE):,} bytes on {HOSTS} hosts, {CONNECTIONS} connections\n")
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None and server.stdout is not None
    try:
        report(int(server.stdout.readline()), args.pages)
    finally:
        server.stdin.close()
        server.wait()
    print()
    refetch_convert.report(max(500, args.pages // 4))


def report(port: int, pages: int) -> None:
    bare, fetch = [], []
    for _ in range(ROUNDS):
        bare.append(measure(port, "aiohttp", "good", pages))
        fetch.append(measure(port, "ours", "good", pages))
    httpx = measure(port, "httpx", "good", min(pages, 2000))
    for name, rounds in (("bare aiohttp", bare), ("bare httpx", [httpx]), ("fetch", fetch)):
        rate, ms, peak = (statistics.median(each[what] for each in rounds) for what in ("rate", "ms", "peak"))
        print(f"{name:14}{rate:8.0f} pages/s{ms:8.3f} CPU ms/page{peak:8.0f} MB")
    for name, rate_of, ms_of in (("ratio", statistics.median, statistics.median), ("of the best", max, min)):
        rate = rate_of(each["rate"] for each in fetch) / rate_of(each["rate"] for each in bare)
        cpu = ms_of(each["ms"] for each in bare) / ms_of(each["ms"] for each in fetch)
        print(f"{name:14}{rate:8.2f} of pages/s{cpu:8.2f} of CPU")
    print()
    wide = measure(port, "ours", "slow", max(pages // 2, 2000), 1000)
    print(f"{'memory':14}{wide['peak']:8.0f} MB with 1,000 connections ({wide['rate']:.0f} pages/s)\n")
    healthy = measure(port, "ours", "healthy", pages, 2 * CONNECTIONS)
    mix = measure(port, "ours", "mix", pages, 2 * CONNECTIONS)
    print(f"{'healthy':14}{healthy['wall']:8.2f} s for {healthy['pages']:,} pages")
    print(f"{'mix':14}{mix['wall']:8.2f} s for {mix['pages']:,} pages; limit {LIMIT} s; {mix['errors']}")
    print(f"{'ratio':14}{(mix['wall'] - LIMIT) / healthy['wall']:8.2f}")


if __name__ == "__main__":
    main()
