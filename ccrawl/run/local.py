"""Shards side by side in processes of this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait

from ccrawl.run.attempts import Again, Attempt, GivenUp, Tries
from ccrawl.run.board import Progress
from ccrawl.run.processes import interrupts_held, worker_context
from ccrawl.run.record import Record
from ccrawl.run.task import ShardTask

_POLL = 0.1  # seconds between two looks at the boards


class LocalRunner:
    """Runs shards over `workers` processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._context = worker_context()
        self._running: dict[Connection, Attempt] = {}
        self._tries: dict[int, Tries] = {}

    def run(self, tasks: Sequence[ShardTask], record: Record) -> None:
        """Run all tasks; returns when each is done or given up."""
        # As many shards as fill the workers evenly are done whole, a process each; each of the few that are
        # left over has its pages fanned out, so that no worker is idle while the last shards run.
        whole = len(tasks) - len(tasks) % self.workers
        rest = tasks[whole:]
        converters = self.workers // len(rest) if rest else 0
        waiting = deque(tasks[:whole])
        waiting.extend(replace(task, converters=converters if converters > 1 else 0) for task in rest)
        try:
            while waiting or self._running:
                while waiting and self._busy() + max(1, waiting[0].converters) <= self.workers:
                    with interrupts_held():  # else a Ctrl-C could leave a process that nobody knows of
                        attempt = Attempt(self._context, waiting.popleft())
                        self._running[attempt.connection] = attempt
                over = wait(list(self._running), timeout=_POLL)
                for connection in [connection for connection in self._running if connection in over]:
                    again = self._settle(self._running.pop(connection), record)
                    if again is not None:
                        waiting.append(again)
                record.progress(sum((attempt.board.read() for attempt in self._running.values()), Progress()))
        finally:
            for attempt in self._running.values():
                attempt.stop()

    def _busy(self) -> int:
        return sum(max(1, attempt.task.converters) for attempt in self._running.values())

    def _settle(self, attempt: Attempt, record: Record) -> ShardTask | None:
        """Take an attempt's end; returns the task when it is to be done again."""
        task = attempt.task
        tries = self._tries.pop(task.number, None) or Tries()
        verdict = attempt.verdict(tries)
        if isinstance(verdict, Again):
            self._tries[task.number] = tries
            record.again(verdict)
            return verdict.task
        if isinstance(verdict, GivenUp):
            record.given_up(task, verdict)
        else:
            record.done(task, verdict)
        return None
