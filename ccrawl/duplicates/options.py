"""What a deduplication is asked to do. Defaults live here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ccrawl.errors import UsageError, did_you_mean
from ccrawl.spark import Runner

Keep = Literal["longest", "first", "shortest-url"]
Linkage = Literal["component", "representative"]

MOST_DISTANCE = 16
_LEAST_MEMORY = 64 << 20


@dataclass(frozen=True, slots=True)
class DedupOptions:
    """How to look for duplicates.

    distance    most bits in which two fingerprints of near duplicates differ, 0 to 16
    min_bytes   documents with less Markdown (UTF-8 bytes) are compared exactly only
    keep        which document of a cluster stays: the longest, the first of the input, the shortest URL
    linkage     component: whoever is near a member is a member; representative: every member is near the one
                kept
    memory      bytes for the working arrays; above that they go to sorted runs on disk. None: all in memory
    scratch     where those runs are written; None: the system's directory for temporary files
    runner      local, or spark (needs the `spark` extra)
    spark_master  where Spark runs, e.g. "local[2]"; None: as the environment says
    """

    distance: int = 3
    min_bytes: int = 512
    keep: Keep = "longest"
    linkage: Linkage = "component"
    memory: int | None = None
    scratch: Path | None = None
    runner: Runner = "local"
    spark_master: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.distance <= MOST_DISTANCE:
            raise UsageError(f"distance {self.distance}: give 0 to {MOST_DISTANCE} bits")
        if self.min_bytes < 0:
            raise UsageError(f"min-bytes {self.min_bytes}: give 0 or more")
        if self.memory is not None and self.memory < _LEAST_MEMORY:
            raise UsageError(f"memory {self.memory}: give at least {_LEAST_MEMORY >> 20}MiB")
        for name, value, known in (
            ("keep", self.keep, get_args(Keep)),
            ("linkage", self.linkage, get_args(Linkage)),
            ("runner", self.runner, get_args(Runner)),
        ):
            if value not in known:
                hint = did_you_mean(value, known)
                raise UsageError(f"{name} {value!r}: give one of {', '.join(known)}{hint}")
