"""Records on their way from a source into the index: filtered, counted, sorted by key in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

from ccrawl.index.entries import SORT_ROWS, merged, write_entries
from ccrawl.index.types import EntryTuple, Key, RevisitTuple, is_empty_payload

_by_key = itemgetter(0)
REVISIT = "warc/revisit"


@dataclass(frozen=True, slots=True)
class ImportPolicy:
    """Which records of a source count as captures.

    statuses: HTTP statuses; None for every one. Records that don't say theirs are taken.
    media_types: as in text/html; None for every one
    """

    statuses: frozenset[int] | None = frozenset({200})
    media_types: frozenset[str] | None = None

    def cause(self, status: str, media_type: str) -> str:
        """Why a record is left out; empty for one that is taken. Revisits have no type of their own."""
        if self.statuses is not None and status.isdecimal() and int(status[:9]) not in self.statuses:
            return f"status:{status[:3]}"
        if self.media_types is not None and media_type not in self.media_types and media_type != REVISIT:
            return "media-type"
        return ""


@dataclass(slots=True)
class Collected:
    """What a source holds, as files sorted by key. skipped: records left out, by cause."""

    entries: list[Path] = field(default_factory=list)
    revisits: list[Path] = field(default_factory=list)
    taken: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def sorted_entries(self) -> Iterator[EntryTuple]:
        return merged(self.entries) if self.entries else iter(())

    def sorted_revisits(self) -> Iterator[RevisitTuple]:
        rows = merged(self.revisits) if self.revisits else iter(())
        return ((key, size) for key, _, _, size in rows)


class Collector:
    """Takes records, in source order. `algorithm` restricts the index to digests of one kind, None: any."""

    def __init__(self, folder: Path, policy: ImportPolicy, algorithm: str | None) -> None:
        self.policy = policy
        self.algorithm = algorithm
        self.result = Collected()
        self.skipped = self.result.skipped
        self._folder = folder
        self._entries: list[EntryTuple] = []
        self._revisits: list[EntryTuple] = []

    def entry(self, key: Key, date: str, url: str, size: int) -> None:
        """A capture. Nothing is a copy of an empty payload, so that is left out."""
        if is_empty_payload(key):
            self.skipped["empty"] += 1
            return
        self._entries.append((key, date, url, size))
        if len(self._entries) >= SORT_ROWS:
            self._flush("entries", self._entries, self.result.entries)

    def revisit(self, key: Key, size: int) -> None:
        """A record that repeats a payload."""
        self._revisits.append((key, "", "", size))
        if len(self._revisits) >= SORT_ROWS:
            self._flush("revisits", self._revisits, self.result.revisits)

    def finish(self) -> Collected:
        """Put down the rest."""
        self._flush("entries", self._entries, self.result.entries)
        self._flush("revisits", self._revisits, self.result.revisits)
        return self.result

    def _flush(self, name: str, rows: list[EntryTuple], files: list[Path]) -> None:
        if not rows:
            return
        rows.sort(key=_by_key)
        files.append(self._folder / f"{name}-{len(files):06d}.arrow")
        self.result.taken += write_entries(files[-1], rows)
        rows.clear()
