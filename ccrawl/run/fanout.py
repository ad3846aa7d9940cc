"""One shard's pages converted by several processes, outcomes in record order.

The shard's own process reads and writes; converters get pages in batches and send outcomes back. A
converter that dies costs the page it was on one try: the page is tried once more, alone, in a new
process, since a process may also die from outside; when that one dies too, the page is set aside. The rest
of the batch goes on.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from typing import Generic

from ccrawl.run.board import NO_PAGE, Board
from ccrawl.run.guard import Convert, Made, Work, cause_of_death, convert_guarded, set_aside
from ccrawl.run.options import MIB, ExportOptions
from ccrawl.run.outcome import Outcome
from ccrawl.run.processes import Worker, become_worker
from ccrawl.run.profile import sampled

# Small enough that a converter never waits long for the reader, large enough that the hand-over is a
# few per cent of the work (16 pages of 145 KB take some 30 ms).
_BATCH_PAGES = 16
_BATCH_BYTES = 4 * MIB
# Batches that may be read ahead of the slowest converter, for each converter: bounds the memory.
_AHEAD = 6
_UNBEGUN_TRIES = 3  # of a batch whose processes end without having begun a page


class Converter(Generic[Work, Made]):
    """A converter process and the batch it has. `convert` is a function that a worker can import."""

    def __init__(
        self, context: ForkServerContext, convert: Convert[Work, Made], options: ExportOptions
    ) -> None:
        self.batch: list[Work] = []
        self.sequence = -1
        self._sampled = bool(options.samples)
        self._board = Board(context)
        self.connection, theirs = context.Pipe()
        self._worker = Worker(context, _convert_batches, theirs, self._board, convert, options)
        theirs.close()  # so that the process's death is an end of file here

    def give(self, sequence: int, batch: list[Work]) -> None:
        """Send a batch. A converter that is dead by now shows in `take`."""
        self.sequence, self.batch = sequence, batch
        try:
            self.connection.send(batch)
        except OSError:
            pass

    def take(self) -> tuple[list[Outcome[Made]], float] | None:
        """Outcomes of the batch and the CPU seconds spent, or None when the process has died."""
        try:
            outcomes, cpu = self.connection.recv()
        except (EOFError, OSError):
            return None
        self.batch, self.sequence = [], -1
        return outcomes, cpu

    def autopsy(self) -> tuple[int, str]:
        """After a death: index of the page it was on (or NO_PAGE) and the cause."""
        self.connection.close()
        return self._board.current_page, cause_of_death(self._worker.exit_code())

    def stop(self) -> None:
        """End the process; idle ones end by the end of file."""
        self.connection.close()
        if self._sampled:
            self._worker.exit_code()  # waits until it has left its samples
        self._worker.stop()


def _convert_batches(
    connection: Connection, board: Board, convert: Convert[Work, Made], options: ExportOptions
) -> None:
    """A converter's life: batches in, outcomes out, until the other end closes."""
    become_worker(options.worker_memory)
    spent = time.process_time()
    with sampled(options.samples), contextlib.suppress(EOFError, OSError):
        while True:
            batch: list[Work] = connection.recv()
            outcomes = [convert_guarded(convert, page, options, board) for page in batch]
            now = time.process_time()
            connection.send((outcomes, now - spent))
            spent = now


class Suspects:
    """Pages that have ended a process once; the next death is final."""

    def __init__(self, options: ExportOptions, suspects: Iterable[int] = ()) -> None:
        self._options = options
        self._numbers = set(suspects)
        self._unbegun: Counter[int] = Counter()  # deaths on no page, by the batch's first one

    def after_death(
        self, dead: Converter[Work, Made], batch: list[Work]
    ) -> tuple[list[Outcome[Made]], list[list[Work]]]:
        """What a converter's death settles, and the batches that are to be done again."""
        index, cause = dead.autopsy()
        if index == NO_PAGE:  # killed between pages: nobody's fault, unless no process gets any further
            first = batch[0].number
            self._unbegun[first] += 1
            if self._unbegun[first] < _UNBEGUN_TRIES:
                return [], [batch]
            return [set_aside(page.number, cause, self._options) for page in batch], []
        culprit = [page for page in batch if page.number == index]
        others = [page for page in batch if page.number != index]
        if index in self._numbers:
            return [set_aside(index, cause, self._options)], [others] if others else []
        self._numbers.add(index)
        return [], [part for part in (culprit, others) if part]


class FanOut(Generic[Work, Made]):
    """Converts pages in `workers` processes. `cpu_seconds` is what they have spent so far.

    size: bytes of a page, by which batches are cut
    """

    def __init__(
        self,
        context: ForkServerContext,
        workers: int,
        convert: Convert[Work, Made],
        options: ExportOptions,
        *,
        size: Callable[[Work], int],
        suspects: Iterable[int] = (),
    ) -> None:
        self.cpu_seconds = 0.0
        self._context = context
        self._workers = workers
        self._convert = convert
        self._options = options
        self._size = size
        self._suspects = Suspects(options, suspects)

    def outcomes(self, pages: Iterator[Work]) -> Iterator[Outcome[Made]]:
        """The outcome of each page, in the order of the pages."""
        # Started when there is a batch for them: a small shard needs few.
        idle: list[Converter[Work, Made]] = []
        busy: dict[Connection, Converter[Work, Made]] = {}
        ready: deque[tuple[int, list[Work]]] = deque()
        parts: dict[int, list[Outcome[Made]]] = {}  # outcomes by batch sequence, complete or not
        sizes: dict[int, int] = {}
        batches = enumerate(_batches(pages, self._size))
        next_out = 0
        exhausted = False
        try:
            while True:
                while ready and (idle or len(busy) < self._workers):
                    converter = idle.pop() if idle else Converter(self._context, self._convert, self._options)
                    sequence, batch = ready.popleft()
                    converter.give(sequence, batch)
                    busy[converter.connection] = converter
                while next_out in sizes and len(parts.get(next_out, ())) == sizes[next_out]:
                    yield from sorted(parts.pop(next_out, ()))
                    del sizes[next_out]
                    next_out += 1
                if not exhausted and len(sizes) < self._workers * _AHEAD:
                    # Read on; completions are looked at after each batch, which takes a few ms.
                    following = next(batches, None)
                    if following is None:
                        exhausted = True
                    else:
                        sizes[following[0]] = len(following[1])
                        ready.append(following)
                    patience: float | None = 0
                elif busy:
                    patience = None
                elif ready:
                    continue
                elif exhausted and not sizes:
                    return
                else:
                    patience = 0
                heard = wait(list(busy), patience)
                for connection in [connection for connection in busy if connection in heard]:
                    converter = busy.pop(connection)
                    sequence, batch = converter.sequence, converter.batch
                    taken = converter.take()
                    if taken is not None:
                        parts.setdefault(sequence, []).extend(taken[0])
                        self.cpu_seconds += taken[1]
                        idle.append(converter)
                    else:
                        outcomes, again = self._suspects.after_death(converter, batch)
                        parts.setdefault(sequence, []).extend(outcomes)
                        ready.extendleft((sequence, part) for part in reversed(again))
        finally:
            for converter in (*idle, *busy.values()):
                converter.stop()


def _batches(pages: Iterable[Work], size_of: Callable[[Work], int]) -> Iterator[list[Work]]:
    batch: list[Work] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += size_of(page)
        if len(batch) >= _BATCH_PAGES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
