"""What a run tells while it goes on: small frozen events, for a progress display or for a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ccrawl.dataset.entries import Counts
from ccrawl.run.board import Progress


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The plan: shards in all, those a former run has finished, and what is left."""

    shards: int
    done_before: int
    source_bytes: int | None  # of the shards left; None when a source's size is not known
    workers: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Sums over the shards of this run, finished or under way."""

    progress: Progress
    shards_done: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RefetchProgress:
    """Of this run: URLs to fetch as far as shards are planned, fetches done, those that failed, pages
    converted, rows written."""

    targets: int
    fetched: int
    failed: int
    converted: int
    rows: int
    shards_done: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ShardDone:
    """A shard whose file is in place and in the ledger."""

    number: int
    source: str
    file: str
    counts: Counts
    seconds: float


@dataclass(frozen=True, slots=True)
class ShardRetried:
    """A shard that is done again: its process died, or its source failed once."""

    number: int
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class ShardFailed:
    """A shard that was given up; the run goes on."""

    number: int
    source: str
    error: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should know, and that stops nothing."""

    text: str


Event = Notice | RunStarted | RunProgress | RefetchProgress | ShardDone | ShardRetried | ShardFailed
Listener = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """The listener of whoever doesn't want to know."""
