"""All pairs of 64-bit fingerprints within a Hamming distance: complete, each pair once, nothing capped.

Each table of the plan (plan.py) sorts the fingerprints with its key on top. Neighbours with an equal key are
candidates, verified by counting the bits of their exclusive or. A pair that several tables find is reported
by the first. A hot bucket, more fingerprints under one key than chance explains, is a smaller problem of the
same kind: its members agree on the key, so it is searched by the bits in which they differ, with its own
plan.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from ccrawl.duplicates.bits import BITS, IN_PLACE, BitOrder, Words
from ccrawl.duplicates.plan import choose, key_masks

_CHUNK = 1 << 15
_LEAST_RUN = 64  # words in a rising run from which merging the runs pays
_PIECE = 1 << 10  # words that are sorted at once where the top bits are in order
_TILE = 1 << 21  # pairs compared at once where all are: 16 MiB
_HOT = 128  # members under one key from which a bucket is searched by itself
_SAMPLE = 1 << 16


def pairs_within(words: Words, distance: int) -> Iterator[tuple[Words, Words]]:
    """Every unordered pair of distinct `words` that differ in at most `distance` bits, in batches.

    `words` must be distinct. Yields (a, b) of equal length; each pair comes once, the order is unspecified.
    Working memory: about one copy of `words`, besides the batches.
    """
    if distance <= 0 or len(words) < 2:
        return
    masks, layout = choose_tables(words, len(words), distance)
    if not masks:
        yield from compare_all(words, distance)
        return
    if layout.identity:
        yield from _search_tables(words, distance, masks)
        return
    masks = [_reorder_mask(mask, layout) for mask in masks]
    for a, b in _search_tables(layout.apply(words), distance, masks):
        yield layout.invert(a), layout.invert(b)


def choose_tables(sample: Words, count: int, distance: int) -> tuple[list[int], BitOrder]:
    """The key of each table for `count` fingerprints, and an order of bits in which blocks of keys lie
    together.

    No tables where comparing every pair is cheaper.
    """
    weights = bit_weights(sample)
    plan = choose(count, distance, math.fsum(weights))
    masks, blocks = key_masks(plan, weights) if plan.segments else ([], [])
    if not masks or 0 in masks:  # an empty key selects nothing: fewer bits vary than there are blocks
        return [], IN_PLACE
    return masks, BitOrder([bit for block in reversed(blocks) for bit in block])


def bit_weights(words: Words) -> list[float]:
    """Information of each bit, 0 (constant) to 1 (balanced): -log2 of the chance that two words agree."""
    step = max(1, len(words) // _SAMPLE)
    sample = np.ascontiguousarray(words[::step]).astype("<u8", copy=False)
    ones = np.unpackbits(sample.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").mean(axis=0)
    agree = ones * ones + (1 - ones) * (1 - ones)
    return [float(weight) for weight in np.abs(np.log2(agree))]


def search_table(
    moved: Words, masks: list[int], table: int, order: BitOrder, distance: int
) -> Iterator[tuple[Words, Words]]:
    """The pairs that one table finds and none before it, for sorted words in the order of its key."""
    earlier = order.apply(np.array(masks[:table], np.uint64))
    for a, b in scan_sorted(moved, masks[table].bit_count(), distance):
        new = np.arange(len(a))
        difference = a ^ b
        for mask in earlier:
            unseen = (difference & mask) != 0
            if not unseen.all():
                new, difference = new[unseen], difference[unseen]
                if not len(new):
                    break
        if len(new):
            yield order.invert(a[new]), order.invert(b[new])


def scan_sorted(words: Words, key_bits: int, distance: int) -> Iterator[tuple[Words, Words]]:
    """Pairs within `distance` among sorted words that agree on their top `key_bits`; each pair once."""
    below = np.uint64(1) << np.uint64(BITS - key_bits)
    start = 0
    for hot_start, hot_end in _hot_buckets(words, below):
        yield from _scan_cool(words[start:hot_start], below, distance)
        yield from pairs_within(words[hot_start:hot_end], distance)
        start = hot_end
    yield from _scan_cool(words[start:], below, distance)


def _search_tables(words: Words, distance: int, masks: list[int]) -> Iterator[tuple[Words, Words]]:
    order, moved = IN_PLACE, words if (words[1:] > words[:-1]).all() else np.sort(words)
    spare: Words | None = (
        None  # two arrays take turns: new ones would cost a tenth of the time in page faults
    )
    for table, mask in enumerate(masks):
        before, order = order, order.with_key(mask)
        if before.shared_top(order)[0] < BITS:
            again = _sort_again(moved, before, order, np.empty_like(words) if spare is None else spare)
            moved, spare = again, None if moved is words else moved
        yield from search_table(moved, masks, table, order, distance)


def _sort_again(words: Words, before: BitOrder, after: BitOrder, out: Words) -> Words:
    """Words that are sorted in one order of bits, moved to `out` in another and sorted in that.

    Where the orders share top bits, words that differ in those need no comparing: the sort is one of many
    short pieces, which stay in the cache. Where the new order then leaves out some bits, a piece is a few
    rising runs, one for each value of those, and merging is faster than sorting. At ten million words this
    takes 0.3 to 0.6 of the time of sorting all of them.
    """
    shared, left_out = before.shared_top(after)
    moved = before.then(after).apply(words, out)
    runs = len(words) >> (shared + left_out) >= _LEAST_RUN
    low = np.uint64(BITS - shared)
    targets = np.arange(_PIECE, len(words), _PIECE) if shared else np.empty(0, np.int64)
    bounds = [0, *np.searchsorted(words, words[targets] >> low << low).tolist(), len(words)]
    for start, end in itertools.pairwise(bounds):
        moved[start:end].sort(kind="stable" if runs else "quicksort")
    return moved


def _reorder_mask(mask: int, order: BitOrder) -> int:
    return sum(1 << target for target, source in enumerate(order.sources) if mask >> source & 1)


def _hot_buckets(words: Words, below: np.uint64) -> list[tuple[int, int]]:
    """Runs of more than _HOT sorted words that agree on the key, as (start, end)."""
    hot: list[tuple[int, int]] = []
    for start in range(0, len(words) - _HOT, _CHUNK):
        end = min(start + _CHUNK, len(words) - _HOT)
        far = words[start:end] ^ words[start + _HOT : end + _HOT]
        inside = np.flatnonzero(far < below) + start
        position = hot[-1][1] if hot else 0
        while (next_inside := int(np.searchsorted(inside, position))) < len(inside):
            first = int(inside[next_inside])
            low = words[first] & ~(below - np.uint64(1))
            position = int(np.searchsorted(words, low | (below - np.uint64(1)), side="right"))
            hot.append((int(np.searchsorted(words, low)), position))
    return hot


def _scan_cool(words: Words, below: np.uint64, distance: int) -> Iterator[tuple[Words, Words]]:
    """The same for runs of bounded length: compares each word with the next, the one after, and so on."""
    for start in range(0, len(words) - 1, _CHUNK):
        end = min(start + _CHUNK, len(words) - 1)
        difference = words[start:end] ^ words[start + 1 : end + 1]
        first = np.flatnonzero(difference < below)
        difference = difference[first]
        first += start
        found: list[tuple[Words, Words]] = []
        step = 1
        while len(first):
            near = np.bitwise_count(difference) <= distance
            if near.any():
                a = words[first[near]]
                found.append((a, a ^ difference[near]))
            step += 1
            if int(first[-1]) + step >= len(words):
                first = first[first + step < len(words)]
            difference = words[first] ^ words[first + step]
            same = difference < below
            first, difference = first[same], difference[same]
        if found:
            yield np.concatenate([a for a, _ in found]), np.concatenate([b for _, b in found])


def compare_all(
    words: Words, distance: int, first: int = 0, last: int | None = None
) -> Iterator[tuple[Words, Words]]:
    """The pairs within `distance` of words[first:last] with a word after them, by looking at every one."""
    last = len(words) if last is None else last
    rows = max(1, _TILE // len(words))
    for start in range(first, last, rows):
        block = words[start : min(start + rows, last)]
        for column in range(start, len(words), _TILE):
            other = words[column : column + _TILE]
            near = np.bitwise_count(block[:, None] ^ other[None, :]) <= distance
            i, j = np.nonzero(near)
            later = j + column > i + start
            if later.any():
                yield block[i[later]], other[j[later]]
