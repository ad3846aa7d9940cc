"""`--dedup-digest` and `--dedup-index`: byte-identical captures are dropped before anything is decoded.

Within a shard the first record survives; a set shared by the run would make the surviving copy depend on
scheduling, and would grow without a bound. With an index, captures that a committed run or crawl has already
are dropped too: what the index holds is fixed when the run begins, so the result is as independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccrawl.errors import PageError
from ccrawl.run.duplicate_list import INDEX, SHARD, Duplicate
from ccrawl.run.outcome import Page
from ccrawl.text.printable import printable

if TYPE_CHECKING:
    from ccrawl.archives import Capture
    from ccrawl.index import Entry, Original, View
    from ccrawl.index.rules import RuleSet

# Captures looked up at once: one round trip to a server for as many, and a bound on the memory they take.
BATCH_CAPTURES = 1024
_BATCH_BYTES = 8 << 20


class Lookup(NamedTuple):
    """An index as a shard uses it."""

    view: View
    run: str
    algorithm: str  # what first copies are put into the index under


class _First(NamedTuple):
    """The first copy of a payload in the shard."""

    number: int
    url: str
    date: str


class DuplicateFilter:
    """Passes the first capture of each payload on, and counts the others.

    Without an index, digests are compared within one algorithm, that of the shard's first usable digest (sha1
    when there is none); with one, within each algorithm that the index holds. A record that carries another
    digest, or none, has its payload hashed, so that a shard of mixed labels misses no duplicate. An empty
    payload, or one of less than `min_bytes`, is no duplicate of another.

    With `normalize`, pages that are alike under its rules are duplicates: the digest is that of what they
    leave of the decoded page. An index is asked for the payload as it is, too.
    """

    def __init__(
        self, *, min_bytes: int = 0, lookup: Lookup | None = None, normalize: RuleSet | None = None
    ) -> None:
        self.dropped = 0
        self.dropped_by_index = 0  # of the dropped, those that the index knows
        self.dropped_bytes = 0  # of their records, as stored
        self.duplicates: list[Duplicate] = []
        self._min_bytes = max(1, min_bytes)
        self._lookup = lookup
        self._normalize = normalize
        self._algorithms = _algorithms(lookup, normalize) if lookup else []
        self._first: dict[bytes, _First] = {}
        self._copies: dict[int, int] = {}  # page number of a first copy -> copies dropped
        self._with_row: set[int] = set()
        self._entries: dict[int, Entry] = {}  # by page number

    def pages(self, captures: Iterable[Capture]) -> Iterator[Page]:
        """Number the captures and leave the copies out (their numbers too)."""
        number = 0
        # Without an index nothing is gained by waiting, and a body is still in the processor's cache.
        batches = _batches(captures) if self._lookup else ([capture] for capture in captures)
        for batch in batches:
            keys = [self._keys(capture) for capture in batch]
            for capture, key, original in zip(batch, keys, self._find(keys), strict=True):
                if self._passes(number, capture, key[0] if key else None, original):
                    yield Page(number, capture)
                number += 1

    def made_row(self, number: int) -> None:
        """Tell that a page became a row, so that its copies would have become rows too."""
        self._with_row.add(number)

    @property
    def dropped_with_row(self) -> int:
        """How many of the dropped captures would have made a row: those whose first copy in the shard did."""
        return sum(copies for first, copies in self._copies.items() if first in self._with_row)

    def entries(self) -> list[Entry]:
        """What the shard adds to the index: first copies that became a row, in record order. A page without
        a row is left out: a later run, of other options perhaps, is to try it again."""
        return [entry for number, entry in self._entries.items() if number in self._with_row]

    def _keys(self, capture: Capture) -> list[bytes]:
        """What the payload is compared by; the first is the shard's own. Empty for one that never matches."""
        if len(capture.body) < self._min_bytes:
            return []
        if self._normalize is not None:
            return self._normalised(capture, self._normalize)
        digest = capture.payload_digest
        if self._lookup is None:
            if not self._algorithms:
                self._algorithms = [digest.algorithm if digest else "sha1"]
            algorithm = self._algorithms[0]
            known = digest if digest and digest.algorithm == algorithm else capture.compute_digest(algorithm)
            return [known.value]
        return _keys_of(capture, self._algorithms)

    def _normalised(self, capture: Capture, rules: RuleSet) -> list[bytes]:
        """The same under rules. A page that can't be decoded, or of which nothing is left, never matches."""
        try:
            key = rules.key(capture.payload())
        except PageError:  # said when it is converted
            return []
        return [key, *_keys_of(capture, self._algorithms[1:])] if key else []

    def _find(self, keys: list[list[bytes]]) -> list[Original | None]:
        """The original of each capture in the index, under whichever algorithm it is known."""
        found: list[Original | None] = [None] * len(keys)
        if self._lookup is None:
            return found
        view = self._lookup.view
        asked = [
            (at, key)
            for at, each in enumerate(keys)
            for name, key in zip(self._algorithms, each, strict=False)
            if name in view.algorithms
        ]
        for (at, _), original in zip(asked, view.find([key for _, key in asked]), strict=True):
            found[at] = found[at] or original
        return found

    def _passes(self, number: int, capture: Capture, key: bytes | None, original: Original | None) -> bool:
        if key is None:
            return True
        url, date = printable(capture.url), capture.date.isoformat() if capture.date else ""
        size = capture.record_length or max(1, len(capture.body))
        first = self._first.get(key)
        if first is None and original is None:
            self._first[key] = _First(number, url, date)
            if self._lookup is not None:
                from ccrawl.index import Entry, date_digits

                self._entries[number] = Entry(key, date_digits(capture.date), url, size)
            return True
        self.dropped += 1
        self.dropped_bytes += size
        if first is not None:
            self._copies[first.number] = self._copies.get(first.number, 0) + 1
            run = self._lookup.run if self._lookup else ""
            where = (SHARD, first.url, first.date, run)
        else:
            assert original is not None
            self.dropped_by_index += 1
            where = (INDEX, printable(original.url), _readable(original.date), original.crawl)
        record_id = printable(capture.record_id)
        self.duplicates.append(Duplicate(url, date, record_id, capture.filename, capture.offset, *where))
        return False


def _algorithms(lookup: Lookup, normalize: RuleSet | None) -> list[str]:
    """What captures are looked up by. First what the shard's own first copies stand under; then whatever the
    index holds, but for digests under other rules."""
    from ccrawl.index import ALGORITHMS

    own = normalize.name if normalize else lookup.algorithm
    others = [name for name in lookup.view.algorithms if name in ALGORITHMS and name != own]
    return [own, *others]


def _keys_of(capture: Capture, algorithms: Iterable[str]) -> list[bytes]:
    from ccrawl.index import key_of

    digest = capture.payload_digest
    return [
        key_of(digest if digest and digest.algorithm == name else capture.compute_digest(name))
        for name in algorithms
    ]


def _batches(captures: Iterable[Capture]) -> Iterator[list[Capture]]:
    batch: list[Capture] = []
    size = 0
    for capture in captures:
        batch.append(capture)
        size += len(capture.body)
        if len(batch) >= BATCH_CAPTURES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _readable(digits: str) -> str:
    """The index's date as captures' dates are written: ISO 8601 in UTC."""
    if len(digits) < 14:
        return ""
    day, clock = (
        f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}",
        f"{digits[8:10]}:{digits[10:12]}:{digits[12:14]}",
    )
    return f"{day}T{clock}{'.' + digits[14:] + '000' if len(digits) > 14 else ''}+00:00"
