"""A web server in a thread of its own, for tests of commands: `hostile.Server` does what it is told."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from support.hostile import Call, Route, Server


@dataclass
class Site:
    """The running server."""

    server: Server

    def url(self, path: str) -> str:
        return self.server.url(path)

    @property
    def asked(self) -> Counter[str]:
        """How often each path was asked for, robots.txt left out."""
        return Counter(self.server.paths)


@contextmanager
def serving(routes: Mapping[str, Route]) -> Iterator[Site]:
    """A server on a free port of this machine. `routes` may grow while it runs."""
    server = Server(routes)
    loop = asyncio.new_event_loop()
    ready, over = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield Site(server)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def late(answer: bytes, seconds: float) -> Route:
    """A route that answers after a while."""

    async def route(call: Call) -> None:
        await asyncio.sleep(seconds)
        await call.send(answer)

    return route
