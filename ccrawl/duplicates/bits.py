"""Reordering the 64 bits of many fingerprints at once.

A search table needs the bits of its key on top, so that sorting brings equal keys together. Moving whole
blocks takes one shift a block; an arbitrary order of bits is cheaper by one table look-up a byte.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

BITS = 64
_CHUNK = 1 << 15  # 256 KiB of words: source, result and temporary stay in the second-level cache
_MOST_SHIFTS = (
    16  # beyond this many shifts, eight look-ups are faster (measured: 1.1 ns a shift, 14 ns for eight)
)


class BitOrder:
    """A permutation of bit positions: bit `sources[i]` of the input becomes bit `i` of the output."""

    def __init__(self, sources: Sequence[int]) -> None:
        if sorted(sources) != list(range(BITS)):
            raise ValueError("a bit order names each of the 64 bits once")
        self.sources = tuple(sources)
        self.identity = self.sources == tuple(range(BITS))
        inverse = [0] * BITS
        for target, source in enumerate(self.sources):
            inverse[source] = target
        self._forward = _Mover(self.sources)
        self._backward = _Mover(tuple(inverse))

    def then(self, after: BitOrder) -> BitOrder:
        """The order that takes words of this order to `after`, where both are orders of the same words."""
        place = {source: target for target, source in enumerate(self.sources)}
        return BitOrder([place[source] for source in after.sources])

    def shared_top(self, after: BitOrder) -> tuple[int, int]:
        """How many bits both orders have in the same places from the top, and how many `after` then leaves
        out.
        """
        ours, theirs = self.sources[::-1], after.sources[::-1]
        pairs = zip(ours, theirs, strict=True)
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        return shared, ours.index(theirs[shared]) - shared if shared < BITS else 0

    def with_key(self, mask: int) -> BitOrder:
        """This order with the bits of `mask` moved to the top, keeping the order among them and among the
        rest.
        """
        rest = [bit for bit in self.sources if not mask >> bit & 1]
        return BitOrder(rest + [bit for bit in self.sources if mask >> bit & 1])

    def apply(self, words: Words, out: Words | None = None) -> Words:
        """The words in the new order: in `out`, another array of the same length, or in a new one."""
        return self._forward.move(words, np.empty_like(words) if out is None else out)

    def invert(self, words: Words) -> Words:
        """The words whose `apply` gives these; a new array of the same length."""
        return self._backward.move(words, np.empty_like(words))


class _Mover:
    """Moves bits in one direction, by shifts or by look-ups, whichever is fewer operations."""

    def __init__(self, sources: tuple[int, ...]) -> None:
        masks: dict[int, int] = defaultdict(int)
        for target, source in enumerate(sources):
            masks[target - source] |= 1 << source
        self._shifts = [(np.uint64(mask), shift) for shift, mask in sorted(masks.items())]
        self._tables = _byte_tables(sources) if len(self._shifts) > _MOST_SHIFTS else None

    def move(self, words: Words, out: Words) -> Words:
        for start in range(0, len(words), _CHUNK):
            part = words[start : start + _CHUNK]
            if self._tables is None:
                self._shift(part, out[start : start + _CHUNK])
            else:
                self._look_up(part, out[start : start + _CHUNK])
        return out

    def _shift(self, part: Words, out: Words) -> None:
        spare = np.empty_like(part)
        for place, (mask, shift) in enumerate(self._shifts):
            moved = spare if place else out
            np.bitwise_and(part, mask, out=moved)
            if shift > 0:
                np.left_shift(moved, np.uint64(shift), out=moved)
            elif shift < 0:
                np.right_shift(moved, np.uint64(-shift), out=moved)
            if place:
                np.bitwise_or(out, moved, out=out)

    def _look_up(self, part: Words, out: Words) -> None:
        assert self._tables is not None
        octets = np.ascontiguousarray(part).astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
        np.take(self._tables[0], octets[:, 0], out=out)
        for place in range(1, 8):
            np.bitwise_or(out, self._tables[place][octets[:, place]], out=out)


def _byte_tables(sources: tuple[int, ...]) -> Words:
    """Shape (8, 256): what each value of each input byte contributes to the output."""
    tables = np.zeros((8, 256), dtype=np.uint64)
    values = np.arange(256, dtype=np.uint64)
    for target, source in enumerate(sources):
        bit = values >> np.uint64(source % 8) & np.uint64(1)
        tables[source // 8] |= bit << np.uint64(target)
    return tables


IN_PLACE = BitOrder(range(BITS))
