"""An HTTP server that does to its clients what a test says, byte by byte, and remembers what it was asked.

    async with Server({"/ok": answer(b"hello")}) as server:
        server.url("/ok")

A route is the bytes of an answer, after which the connection is kept, or a function of a Call that does as it
likes. "*" is the route of all other paths; without one they are 404.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccrawl.fetching.client import fetch
from ccrawl.fetching.types import Fetched, FetchOptions, Target


@dataclass
class Call:
    """A request as it came, and the connection to answer it on."""

    path: str
    head: bytes
    at: float  # of the monotonic clock
    connection: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    server: Server

    async def send(self, *parts: bytes, pause: float = 0.0) -> None:
        """Send parts, each one a packet of its own."""
        for number, part in enumerate(parts):
            if pause and number:
                await asyncio.sleep(pause)
            self.writer.write(part)
            await self.writer.drain()

    async def drip(self, data: bytes, pause: float) -> None:
        await self.send(*(data[at : at + 1] for at in range(len(data))), pause=pause)

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """End the connection with RST instead of FIN."""
        self.writer.transport.abort()


Route = bytes | Callable[[Call], Awaitable[None]]


def answer(
    body: bytes = b"",
    *fields: str,
    status: str = "200 OK",
    content_type: str | None = "text/html",
    length: int | None = None,
) -> bytes:
    """A whole answer. `length` is what Content-Length says instead of the truth."""
    lines = [f"HTTP/1.1 {status}", *fields]
    if content_type:
        lines.append(f"Content-Type: {content_type}")
    if not any(line.lower().startswith("transfer-encoding") for line in fields):
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def redirect(location: bytes, *fields: str, status: str = "302 Found", body: bytes = b"") -> bytes:
    head, empty, rest = answer(body, *fields, status=status).partition(b"\r\n\r\n")
    return head + b"\r\nLocation: " + location + empty + rest


def robots(text: bytes | str) -> bytes:
    return answer(text.encode() if isinstance(text, str) else text, content_type="text/plain")


@dataclass
class Server:
    """`calls` in the order in which they came; `open` connections."""

    routes: Mapping[str, Route]
    tls: ssl.SSLContext | None = None
    address: str = "127.0.0.1"
    calls: list[Call] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    most_open: int = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._accept, self.address, 0, ssl=self.tls, backlog=2048)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._tasks: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # connections close in the loop's next turn

    def url(self, path: str, host: str | None = None) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{host or self.address}:{self.port}{path}"

    def asked(self, path: str) -> list[Call]:
        return [call for call in self.calls if call.path == path]

    @property
    def paths(self) -> list[str]:
        """What was asked for but for robots.txt."""
        return [call.path for call in self.calls if call.path != "/robots.txt"]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        task = asyncio.ensure_future(self._serve(reader, writer, self.connections))
        self._tasks.add(task)

        def ended(_: object) -> None:
            self.open -= 1
            self._tasks.discard(task)
            writer.transport.abort()

        task.add_done_callback(ended)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode("latin-1")
                call = Call(path, head, time.monotonic(), number, reader, writer, self)
                self.calls.append(call)
                route = self.routes.get(path) or self.routes.get(path.partition("?")[0])
                route = route or self.routes.get("*") or answer(b"no such page", status="404 Not Found")
                if isinstance(route, bytes):
                    await call.send(route)
                else:
                    await route(call)
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the client is gone, or the test over


async def fetched(
    urls: Sequence[str], tls: ssl.SSLContext | None = None, **options: Any
) -> dict[str, Fetched]:
    """What comes of URLs, by URL, fetched as fast as this machine lets, from private addresses too."""
    given = FetchOptions(
        **({"allow_private": True, "rate": 0, "per_host": 16, "total_timeout": 20} | options)
    )
    targets = [Target(position, url) for position, url in enumerate(urls)]
    results = [result async for result in fetch(targets, given, tls=tls)]
    assert sorted(result.target.position for result in results) == list(range(len(urls)))
    return {result.target.url: result for result in results}
