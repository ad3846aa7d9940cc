"""What a user asks of an export, as one frozen object that travels from the command to the worker."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from ccrawl.html.options import ExtractOptions

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of `ccrawl.export`. The defaults stand here and nowhere else."""

    extractor: str = "main"
    extract: ExtractOptions = field(default_factory=ExtractOptions)
    dedup_digest: bool = False
    dedup_index: bool = False  # drop what an index knows; which one is the run's business, not the dataset's
    dedup_min_bytes: int = 0  # smaller bodies are never duplicates
    languages: tuple[str, ...] = ()  # ISO 639-3; empty: every language
    min_language_confidence: float = 0.8  # counts only where `languages` are asked for
    limit: int | None = None  # pages of each shard
    crawl: str = "local"  # the Hive partition data/crawl=ID
    resolve_revisits: bool = False  # a revisit becomes a row with the body of its original
    max_page_bytes: int = 16 * MIB  # decoded payload
    page_timeout: float = 30.0  # seconds
    worker_memory: int = 2048 * MIB  # of one worker process
    strict: bool = False  # the first damage or failed shard ends the run

    def for_manifest(self) -> dict[str, Any]:
        """The options that decide what the dataset holds, as JSON values.

        Limits that only say when to give up are left out: a run may be resumed with a longer timeout.
        """
        values = dataclasses.asdict(self)
        for name in ("page_timeout", "worker_memory", "strict"):
            del values[name]
        values["languages"] = list(self.languages)
        return values
