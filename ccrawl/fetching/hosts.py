"""How long the hosts of a refetch took to answer."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from ccrawl.archives.fields import host_of
from ccrawl.fetching.types import Fetched


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A host, the URLs that were asked of it in this run, those that failed, and seconds a URL on average."""

    host: str
    fetches: int
    failed: int
    seconds: float


class HostTimes:
    """Adds up what each host took. Some 200 bytes a host."""

    def __init__(self) -> None:
        self._hosts: dict[str, list[int]] = {}  # fetches, failed, milliseconds

    def add(self, fetched: Fetched) -> None:
        """Count a fetch under the host of its target."""
        times = self._hosts.setdefault(host_of(fetched.target.url), [0, 0, 0])
        times[0] += 1
        times[1] += bool(fetched.error)
        times[2] += fetched.duration_ms

    def slowest(self, number: int) -> tuple[SlowHost, ...]:
        """The hosts with the longest average, the slowest first."""
        found = heapq.nlargest(
            number, self._hosts.items(), key=lambda item: (item[1][2] / item[1][0], item[0])
        )
        return tuple(
            SlowHost(host, fetches, failed, round(ms / fetches / 1000, 3))
            for host, (fetches, failed, ms) in found
        )
