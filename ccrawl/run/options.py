"""What a user asks of an export, as one frozen object that travels from the command to the worker."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ccrawl.errors import UsageError
from ccrawl.html.extractors import get_extractor
from ccrawl.html.options import ExtractOptions

if TYPE_CHECKING:
    from ccrawl.archives import CaptureOptions

MIB = 1 << 20

_LEAST_MEMORY, _MOST_MEMORY = 64 * MIB, 1 << 50
_LEAST_TIMEOUT, _MOST_TIMEOUT = 0.1, 86_400.0  # seconds; a timer takes no infinity

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class Normalize:
    """Rules of --dedup-normalize: their name, and a line each, as `index.rules.read_rules` has them."""

    name: str = ""
    rules: tuple[str, ...] = ()

    @staticmethod
    def read(path: Path) -> Normalize:
        """Those of a file. UsageError when it can't be read, and for the first bad line, by its number."""
        from ccrawl.index.rules import read_rules

        found = read_rules(path)
        return Normalize(found.name, found.lines)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of `ccrawl.export`. The defaults stand here and nowhere else."""

    extractor: str = "main"
    extract: ExtractOptions = field(default_factory=ExtractOptions)
    dedup_digest: bool = False
    dedup_index: bool = False  # drop what an index knows; which one is the run's business, not the dataset's
    dedup_min_bytes: int = 0  # smaller bodies are never duplicates
    dedup_normalize: Normalize = field(default_factory=Normalize)  # rules under which pages are alike
    languages: tuple[str, ...] = ()  # ISO 639-3; empty: every language
    min_language_confidence: float = 0.8  # counts only where `languages` are asked for
    limit: int | None = None  # pages of each shard
    crawl: str = "local"  # the Hive partition data/crawl=ID
    resolve_revisits: bool = False  # a revisit becomes a row with the body of its original
    max_page_bytes: int = 16 * MIB  # decoded payload
    page_timeout: float = 30.0  # seconds
    worker_memory: int = 2048 * MIB  # of one worker process
    strict: bool = False  # the first damage or failed shard ends the run
    samples: str = ""  # the folder for samples of the workers' stacks, set by a run that is profiled

    def __post_init__(self) -> None:
        """Raise UsageError for limits under which no page could be converted, or that no system can set."""
        if not _LEAST_MEMORY <= self.worker_memory <= _MOST_MEMORY:
            raise UsageError(
                f"--worker-memory: {self.worker_memory} bytes; give a worker at least 64 MiB, at most 1 PiB"
            )
        if not _LEAST_TIMEOUT <= self.page_timeout <= _MOST_TIMEOUT:
            raise UsageError(f"--page-timeout: {self.page_timeout:g} s; give a page 0.1 s to a day (86400)")

    def for_manifest(self) -> dict[str, Any]:
        """The options that decide what the dataset holds, as JSON values.

        Limits that only say when to give up are left out: a run may be resumed with a longer timeout.
        """
        values = dataclasses.asdict(self)
        for name in ("page_timeout", "worker_memory", "strict", "samples"):
            del values[name]
        values["languages"] = list(self.languages)
        values["dedup_normalize"] = {
            "name": self.dedup_normalize.name,
            "rules": list(self.dedup_normalize.rules),
        }
        if not self.dedup_normalize.rules:
            del values["dedup_normalize"]
        return values

    @staticmethod
    def from_manifest(values: Mapping[str, Any]) -> ExportOptions:
        """What `for_manifest` wrote, the rest at its defaults. TypeError for an unknown name."""
        return _with_values(ExportOptions(), values)

    def for_reading(self) -> CaptureOptions:
        """What of this is the archive reader's business."""
        from ccrawl.archives import CaptureOptions

        return CaptureOptions(
            max_page_bytes=self.max_page_bytes,
            limit=self.limit,
            conversions=get_extractor(self.extractor).reads_text,
            resolve_revisits=self.resolve_revisits,
            strict=self.strict,
        )


def _with_values(options: Options, values: Mapping[str, Any]) -> Options:
    changes: dict[str, Any] = {}
    for name, value in values.items():
        former = getattr(options, name, None)
        if dataclasses.is_dataclass(former) and isinstance(value, dict):
            value = _with_values(former, value)
        changes[name] = tuple(value) if isinstance(value, list) else value
    return dataclasses.replace(options, **changes)  # type: ignore[type-var]


def normal_languages(codes: Iterable[str]) -> tuple[str, ...]:
    """ISO 639-3 codes, sorted, for those of either part; UsageError for a language that is not detected."""
    codes = tuple(codes)
    if not codes:
        return ()
    from ccrawl.text.language import iso639_3

    known = {code: iso639_3(code) for code in codes}
    for code, found in known.items():
        if found is None:
            raise UsageError(f"{code!r} is no language that is detected; use ISO 639-3 codes, as in eng")
    return tuple(sorted({found for found in known.values() if found}))
