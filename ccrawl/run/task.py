"""A shard's export as whoever schedules it sees it: what a worker is given, and what it gives back.

Nothing that converts pages is imported here: a run's own process sees none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ccrawl.archives.sources import Source
from ccrawl.dataset.entries import Counts, Failure, WrittenFile
from ccrawl.run.board import Board
from ccrawl.run.options import ExportOptions
from ccrawl.run.processes import become_worker
from ccrawl.run.profile import sampled

if TYPE_CHECKING:
    from ccrawl.run.indexed import IndexUse


@dataclass(frozen=True, slots=True)
class ShardTask:
    """Everything a worker needs to export one shard."""

    number: int
    source: Source
    path: Path
    options: ExportOptions
    converters: int = 0  # processes to convert in; 0: this one
    suspects: frozenset[int] = frozenset()  # pages that an earlier try died on
    ignored: Mapping[int, str] = field(default_factory=dict)  # page -> cause: set aside by earlier tries
    index: IndexUse | None = None
    files: Path | None = None  # the dataset's folder, when the shard is to leave what it dropped and found


@dataclass(frozen=True, slots=True)
class ShardReport:
    """What a finished shard holds and where its records went."""

    number: int
    written: WrittenFile
    counts: Counts
    failures: list[Failure]
    seconds: float
    cpu_seconds: float


def export_shard_process(task: ShardTask, board: Board) -> ShardReport:
    """`export_shard` as the body of a worker process."""
    from ccrawl.run.shard import export_shard

    become_worker(task.options.worker_memory)
    with sampled(task.options.samples):
        return export_shard(task, board)
