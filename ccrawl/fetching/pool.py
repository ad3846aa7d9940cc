"""Converter processes beside an event loop: they never make it wait, and it never makes them wait.

What is to be converted is named here, not held: a converter reads it from the journal itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from multiprocessing.context import ForkServerContext

from ccrawl.fetching.pages import FetchedPage, convert_fetched
from ccrawl.run.fanout import Converter, Suspects
from ccrawl.run.options import ExportOptions
from ccrawl.run.outcome import Outcome

# Pages in a batch, while there are many: some 150 ms of work, beside which a converter waits little for the
# loop to give it the next. They are named only, so that a batch is a few KB.
_BATCH = 64

Batch = list[FetchedPage]


class Pool:
    """Converts pages in `workers` processes and gives each outcome to `done`, in the loop that made it.

    A page that ends its process is tried once more alone, and then set aside.
    """

    def __init__(
        self,
        context: ForkServerContext,
        workers: int,
        options: ExportOptions,
        done: Callable[[Outcome[bytes]], None],
    ) -> None:
        self.cpu_seconds = 0.0
        self.waiting = 0  # pages, those under way included
        self._context = context
        self._workers = workers
        self._options = options
        self._done = done
        self._suspects = Suspects(options)
        self._pages: Batch = []
        self._again: deque[Batch] = deque()
        self._next = 0  # of self._pages
        self._idle: list[Converter[FetchedPage, bytes]] = []
        self._busy: set[Converter[FetchedPage, bytes]] = set()
        self._loop = asyncio.get_running_loop()

    def submit(self, page: FetchedPage) -> None:
        """Have a page converted. Returns at once."""
        self._pages.append(page)
        self.waiting += 1
        if self._idle or len(self._busy) < self._workers:
            self._feed()

    def stop(self) -> None:
        """End the processes, whatever they are at."""
        for converter in self._busy:
            self._loop.remove_reader(converter.connection.fileno())
        for converter in (*self._idle, *self._busy):
            converter.stop()
        self._idle, self._busy = [], set()

    def _feed(self) -> None:
        while (self._idle or len(self._busy) < self._workers) and (batch := self._batch()):
            converter = (
                self._idle.pop() if self._idle else Converter(self._context, convert_fetched, self._options)
            )
            converter.give(0, batch)
            self._busy.add(converter)
            self._loop.add_reader(converter.connection.fileno(), self._take, converter)

    def _batch(self) -> Batch:
        """The next pages; fewer at a time while they are few, so that every process has some."""
        if self._again:
            return self._again.popleft()
        left = len(self._pages) - self._next
        size = min(_BATCH, max(1, left // (2 * self._workers)))
        batch = self._pages[self._next : self._next + size]
        self._next += len(batch)
        if self._next > len(self._pages) // 2:
            del self._pages[: self._next]
            self._next = 0
        return batch

    def _take(self, converter: Converter[FetchedPage, bytes]) -> None:
        self._loop.remove_reader(converter.connection.fileno())
        self._busy.remove(converter)
        batch = converter.batch
        taken = converter.take()
        if taken is None:
            outcomes, again = self._suspects.after_death(converter, batch)
            self._again.extend(again)
        else:
            outcomes, cpu = taken
            self.cpu_seconds += cpu
            self._idle.append(converter)
        self._feed()  # before the outcomes are looked at, so that nobody waits for that
        for outcome in outcomes:
            self.waiting -= 1
            self._done(outcome)
