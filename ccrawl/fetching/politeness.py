"""Whose turn it is: every host has a queue, and hosts take turns.

A pure schedule: it is told the time and what came of each turn, and asks nothing of network or clock. A host
may have `per_host` turns at a time and one in `interval` seconds. It is given up

- after `give_up` failed connections in a row, each followed by a pause twice the one before;
- when it is silent: after `give_up` turns without an answer in a row, as many URLs from all over its queue
  are tried (the first ones may be the only bad ones), and when they are silent too, it is given up. A host
  that has ever answered gets PATIENCE times as much. So a silent host costs two limits of time, not one for
  each of its URLs. It gets all its turns at a time only after its first answer;
- when it refuses (429, 503) for longer than the longest wait, or too often in a row.
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

J = TypeVar("J")

PATIENCE = 64
FIRST_PAUSE = 0.25  # seconds, after a connection that failed
FIRST_WAIT = 1.0  # seconds, after a 429 or 503 that does not say how long
REFUSALS = 6  # in a row, after which a host is given up
KEPT_HOSTS = 20_000  # without work


class Sign(Enum):
    """What a turn showed of its host."""

    ANSWER = 0
    SILENCE = 1  # a connection, but no answer in time, or closed without one
    NO_CONNECTION = 2
    NONE = 3  # nothing was asked


class Host(Generic[J]):
    """A host's queue and what is known of the host.

    interval: seconds between the starts of two turns; may be raised
    gated: the job that all others wait for, until the gate is lifted
    """

    __slots__ = (
        "active", "answered", "failures", "gated", "interval", "jobs", "listed", "name", "next_at",
        "refusals", "silences", "trial", "verdict", "width",
    )  # fmt: skip

    def __init__(self, name: str, width: int, interval: float) -> None:
        self.name = name
        self.interval = interval
        self.jobs: deque[J] = deque()
        self.width = width
        self.active = 0
        self.next_at = 0.0
        self.gated: J | None = None
        self.listed = False
        self.answered = False
        self.failures = 0  # connections in a row
        self.silences = 0  # in a row, in this trial
        self.refusals = 0  # in a row
        self.trial = 0
        self.verdict: tuple[str, str] | None = None  # error and detail, once it is given up


@dataclass(frozen=True, slots=True)
class Turn(Generic[J]):
    """A job that may start now. `trial`: in which trial of the host it started."""

    host: Host[J]
    job: J
    trial: int


class Schedule(Generic[J]):
    """The queues of all hosts. Times are seconds of one clock."""

    def __init__(self, *, per_host: int, rate: float, give_up: int, max_wait: float) -> None:
        self._per_host = per_host
        self._interval = 1 / rate if rate else 0.0
        self._give_up = give_up
        self._max_wait = max_wait
        self._hosts: OrderedDict[str, Host[J]] = OrderedDict()
        self._ready: deque[Host[J]] = deque()
        self._later: list[tuple[float, int, Host[J]]] = []
        self._ticket = itertools.count()

    def host(self, name: str) -> Host[J]:
        """The host of a name."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(name, self._per_host, self._interval)
            if len(self._hosts) > KEPT_HOSTS:
                self._forget_one()
        return host

    def _forget_one(self) -> None:
        """Drop the host that was met longest ago, when it has no work and was not given up."""
        name, host = self._hosts.popitem(last=False)
        if host.jobs or host.active or host.verdict:
            self._hosts[name] = host

    def add(self, name: str, job: J, now: float, *, first: bool = False) -> tuple[str, str] | None:
        """Queue a job of a host. A host that was given up takes none, and its verdict is returned."""
        host = self.host(name)
        if host.verdict is not None:
            return host.verdict
        if first:
            host.jobs.appendleft(job)
        else:
            host.jobs.append(job)
        self._list(host, now)
        return None

    def take(self, now: float) -> Turn[J] | None:
        """The next job that may start at `now`. It has to be given back with `finish`."""
        while self._later and self._later[0][0] <= now:
            self._ready.append(heapq.heappop(self._later)[2])
        while self._ready:
            host = self._ready.popleft()
            host.listed = False
            if host.next_at > now or not self._has_turn(host):
                self._list(host, now)
                continue
            job = host.jobs.popleft()
            host.active += 1
            host.next_at = now + host.interval
            self._list(host, now)
            return Turn(host, job, host.trial)
        return None

    def next_turn(self) -> float | None:
        """When a job may start that can't now; None when that hangs on a turn that has to finish."""
        return self._later[0][0] if self._later else None

    def sent(self, host: Host[J], now: float) -> None:
        """A request of the host went out now, some time after its turn began: the next one waits for that."""
        host.next_at = max(host.next_at, now + host.interval)

    def finish(self, turn: Turn[J], sign: Sign, detail: str, now: float) -> list[J]:
        """End a turn. Returns the jobs that are given up with the host, usually none."""
        host = turn.host
        host.active -= 1
        if sign is Sign.ANSWER:
            host.answered = True
            host.failures = host.silences = 0
        elif sign is Sign.NO_CONNECTION:
            host.failures += 1
            host.next_at = max(host.next_at, now + FIRST_PAUSE * 2 ** (host.failures - 1))
            if host.failures >= self._give_up:
                return self.give_up(host, "dead", f"{host.failures} connections failed in a row: {detail}")
        elif sign is Sign.SILENCE and turn.trial == host.trial:
            host.silences += 1
            if host.silences >= self._give_up * (PATIENCE if host.answered else 1):
                if host.answered or host.trial:
                    return self.give_up(host, "dead", f"no answer to {host.silences} requests: {detail}")
                self._try_others(host)
        self._list(host, now)
        return []

    def _try_others(self, host: Host[J]) -> None:
        """Put jobs from all over the queue first, the last one included."""
        host.trial += 1
        host.silences = 0
        if len(host.jobs) > self._give_up > 1:
            step = (len(host.jobs) - 1) / (self._give_up - 1)
            for moved, at in enumerate(range(self._give_up)):
                place = round(at * step)
                job = host.jobs[place]
                del host.jobs[place]
                host.jobs.insert(moved, job)

    def refused(self, host: Host[J], wait: float | None, detail: str, now: float) -> list[J]:
        """The host answered 429 or 503 and asked for a pause of `wait` seconds (None: it did not say).

        Returns the jobs that are given up with the host.
        """
        host.refusals += 1
        if wait is None:
            wait = FIRST_WAIT * 2 ** (host.refusals - 1)
        elif wait > self._max_wait:
            return self.give_up(host, "rate-limited", f"{detail}: asks for a pause of {wait:.0f} s")
        if host.refusals >= REFUSALS:
            return self.give_up(host, "rate-limited", f"{detail}: {host.refusals} times in a row")
        host.next_at = max(host.next_at, now + min(wait, self._max_wait))
        host.width = 1
        return []

    def accepted(self, host: Host[J]) -> None:
        """The host answered with something else than 429 or 503."""
        host.refusals = 0
        host.width = self._per_host

    def lift(self, host: Host[J], now: float) -> None:
        """Let a gated host have turns again."""
        host.gated = None
        self._list(host, now)

    def give_up(self, host: Host[J], error: str, detail: str) -> list[J]:
        """Give a host up; its jobs are returned, and further ones are refused."""
        host.verdict = host.verdict or (error, detail)
        jobs = list(host.jobs)
        host.jobs.clear()
        return jobs

    def _has_turn(self, host: Host[J]) -> bool:
        if not host.jobs or host.active >= host.width or host.gated is not None:
            return False
        # A host that has not answered yet has no more requests under way than it may fail to answer.
        return host.answered or host.active + host.silences < self._give_up

    def _list(self, host: Host[J], now: float) -> None:
        if host.listed or not self._has_turn(host):
            return
        host.listed = True
        if host.next_at <= now:
            self._ready.append(host)
        else:
            heapq.heappush(self._later, (host.next_at, next(self._ticket), host))
