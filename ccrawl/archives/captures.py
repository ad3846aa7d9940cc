"""Captures out of sources: the public reader, and the tally of what it passed over."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ccrawl.archives.capture import SLACK, Capture, CaptureOptions, capture_of
from ccrawl.archives.formats import Head
from ccrawl.archives.framing import Damage, Record
from ccrawl.archives.reader import read_records
from ccrawl.archives.revisits import Originals
from ccrawl.archives.sources import Source, find_sources
from ccrawl.errors import ArchiveError

MAX_DAMAGE_LISTED = 1000
DEFAULT_OPTIONS = CaptureOptions()


@dataclass(frozen=True, slots=True)
class Skip:
    """A record that was passed over: why, and where it stands (no offset where records share a member)."""

    cause: str
    filename: str
    offset: int | None
    record_id: str
    url: str


@dataclass(slots=True)
class Tally:
    """What reading met. records == captures + sum(skipped.values()); damage is counted beside them.

    on_skip: called with each record that is passed over, where somebody wants to list them
    types: records by WARC-Type ("" for none); damage: the first MAX_DAMAGE_LISTED regions; damaged: all, by
    cause
    """

    types: Counter[str] = field(default_factory=Counter)
    captures: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    damage: list[Damage] = field(default_factory=list)
    damaged: Counter[str] = field(default_factory=Counter)
    on_skip: Callable[[Skip], None] | None = None

    @property
    def records(self) -> int:
        """Records that were read whole."""
        return self.types.total()

    def add_damage(self, damage: Damage) -> None:
        """Count a damaged region."""
        self.damaged[damage.cause] += 1
        if len(self.damage) < MAX_DAMAGE_LISTED:
            self.damage.append(damage)


def read_captures(
    source: Source | str | Path,
    *,
    options: CaptureOptions = DEFAULT_OPTIONS,
    tally: Tally | None = None,
) -> Iterator[Capture]:
    """Read the pages of a source, or of all sources that a path or URL stands for.

    Yields captures in record order. What was passed over and why goes to `tally`. Raises SourceError when the
    source can't be read or isn't an archive, and ArchiveError at damage with `options.strict`.
    """
    tally = Tally() if tally is None else tally
    sources = [source] if isinstance(source, Source) else find_sources([str(source)])
    for one in sources:
        yield from _read_one(one, options, tally)


def _read_one(source: Source, options: CaptureOptions, tally: Tally) -> Iterator[Capture]:
    if options.limit is not None and options.limit <= 0:
        return
    hold = options.max_page_bytes + SLACK
    wanted = frozenset(["conversion"] if options.conversions else ["response", "resource"])

    def keep(head: Head) -> int:
        return hold if head.type in wanted else 0

    def damaged(damage: Damage) -> None:
        tally.add_damage(damage)
        if options.strict:
            raise ArchiveError(f"{damage.source}: damage at byte {damage.offset}: {damage.cause}")

    with contextlib.ExitStack() as stack:
        originals = None
        if options.resolve_revisits:
            # Damage was told, or will be, by the reading that counts.
            again = functools.partial(read_records, source, keep=keep, damaged=lambda _: None)
            originals = stack.enter_context(contextlib.closing(Originals(source, options, again)))
        records = read_records(source, keep=keep, damaged=damaged)
        yield from _captures_of(records, originals, options, tally)


def _captures_of(
    records: Iterator[tuple[str, Record]], originals: Originals | None, options: CaptureOptions, tally: Tally
) -> Iterator[Capture]:
    stop = None if options.limit is None else tally.captures + options.limit
    for filename, record in records:
        tally.types[record.head.type] += 1
        found = capture_of(record, options, filename)
        if originals is not None:
            found = originals.resolved(record, found, filename)
        if isinstance(found, str):
            tally.skipped[found] += 1
            if tally.on_skip:
                record_id, url = record.field(b"warc-record-id"), record.field(b"warc-target-uri")
                tally.on_skip(Skip(found, filename, record.offset, record_id, url))
            continue
        tally.captures += 1
        yield found
        if tally.captures == stop:
            return
