"""`--dedup-digest`: byte-identical captures of one shard are dropped before anything is decoded.

The scope is a shard: a set shared by the run would make the surviving copy depend on scheduling, and
would grow without a bound. The first record survives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ccrawl.archives import Capture
from ccrawl.run.convert import Page


class DigestFilter:
    """Passes the first capture of each payload on, and counts the others.

    Digests are compared within one algorithm, that of the shard's first usable digest (sha1 when there is
    none): a record that carries another one, or none, has its payload hashed, so that a shard of mixed
    labels misses no duplicate. An empty payload is no duplicate of another.
    """

    def __init__(self, shard: str) -> None:
        self.dropped = 0
        self._shard = shard
        self._algorithm: str | None = None
        self._first: dict[bytes, int] = {}  # payload digest -> page index of its first copy
        self._copies: dict[int, int] = {}  # page index of a first copy -> copies dropped
        self._with_row: set[int] = set()

    def pages(self, captures: Iterable[Capture]) -> Iterator[Page]:
        """Number the captures and leave the copies out (their numbers too)."""
        for index, capture in enumerate(captures):
            if not capture.body:
                yield Page(index, capture, self._shard)
                continue
            first = self._first.setdefault(self._key(capture), index)
            if first == index:
                yield Page(index, capture, self._shard)
            else:
                self.dropped += 1
                self._copies[first] = self._copies.get(first, 0) + 1

    def made_row(self, index: int) -> None:
        """Tell that page `index` became a row, so that its copies would have become rows too."""
        self._with_row.add(index)

    @property
    def dropped_with_row(self) -> int:
        """How many of the dropped captures would have made a row: those whose first copy made one."""
        return sum(copies for first, copies in self._copies.items() if first in self._with_row)

    def _key(self, capture: Capture) -> bytes:
        digest = capture.payload_digest
        if self._algorithm is None:
            self._algorithm = digest.algorithm if digest else "sha1"
        if digest is None or digest.algorithm != self._algorithm:
            digest = capture.compute_digest(self._algorithm)
        return digest.value
