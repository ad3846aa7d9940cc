"""How far apart the members of a near cluster are: what tells a chain from a set of copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ccrawl.duplicates.bits import BITS, Words
from ccrawl.duplicates.groups import Ints

_SMALL = 64  # up to this size all clusters are measured together, step by step
_EXACT = 20_000  # up to this many distinct fingerprints every pair is compared: half a second
_TILE = 1 << 21


@dataclass(frozen=True, slots=True)
class Diameters:
    """Of each cluster the pair furthest apart, as places among its members, and the distance.

    `bound` is what no pair exceeds: equal to `distance` except in clusters too large to compare every pair.
    """

    distance: Ints
    bound: Ints
    first: Ints
    second: Ints


def diameters(fingerprints: Words, offsets: Ints) -> Diameters:
    """Of clusters laid end to end: cluster c is `fingerprints[offsets[c]:offsets[c + 1]]`.

    Of several pairs equally far apart, one is chosen by the order of the members alone.
    """
    sizes = np.diff(offsets)
    count = len(sizes)
    result = Diameters(*(np.zeros(count, np.int64) for _ in range(4)))
    _measure_small(fingerprints, offsets, result)
    np.copyto(result.bound, result.distance)
    for cluster in np.flatnonzero(sizes > _SMALL).tolist():
        members = fingerprints[offsets[cluster] : offsets[cluster + 1]]
        values = (result.distance, result.bound, result.first, result.second)
        for column, value in zip(values, _measure_large(members), strict=True):
            column[cluster] = value
    return result


def _measure_small(fingerprints: Words, offsets: Ints, result: Diameters) -> None:
    sizes = np.diff(offsets)
    for step in range(1, _SMALL):
        clusters = np.flatnonzero((sizes > step) & (sizes <= _SMALL))
        if not len(clusters):
            break
        # All pairs of members `step` apart, laid end to end, and the furthest of each cluster.
        lengths = sizes[clusters] - step
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        left = np.repeat(offsets[clusters], lengths) + within
        apart = np.bitwise_count(fingerprints[left] ^ fingerprints[left + step]).astype(np.int64)
        most = np.maximum.reduceat(apart, ends - lengths)
        place = np.minimum.reduceat(
            np.where(apart == np.repeat(most, lengths), within, _SMALL), ends - lengths
        )
        further = most > result.distance[clusters]
        further |= (step == 1) & (most == 0)  # equal fingerprints: any pair is the furthest
        chosen = clusters[further]
        result.distance[chosen] = most[further]
        result.first[chosen] = place[further]
        result.second[chosen] = place[further] + step


def _measure_large(members: Words) -> tuple[int, int, int, int]:
    distinct, places = _distinct(members)
    if len(distinct) == 1:
        return 0, 0, 0, 1
    if len(distinct) <= _EXACT:
        distance, a, b = _furthest_of_all(distinct)
        bound = distance
    else:
        distance, a, b = _furthest_by_sweeps(distinct)
        from_kept = np.bitwise_count(distinct ^ members[0])
        two_largest = np.partition(from_kept, len(from_kept) - 2)[-2:]
        bound = min(BITS, int(two_largest.sum()))  # the way over the document kept
    first, second = sorted((int(places[a]), int(places[b])))
    return distance, bound, first, second


def _distinct(members: Words) -> tuple[Words, Ints]:
    """Each fingerprint once, in the order of its first member, and the place of that member."""
    order = np.argsort(members, kind="stable")
    ordered = members[order]
    first = np.sort(order[np.concatenate([[True], ordered[1:] != ordered[:-1]])])
    return members[first], first


def _furthest_of_all(words: Words) -> tuple[int, int, int]:
    best = (-1, 0, 0)
    rows = max(1, _TILE // len(words))
    for start in range(0, len(words), rows):
        apart = np.bitwise_count(words[start : start + rows, None] ^ words[None, :])
        place = int(apart.argmax())
        a, b = divmod(place, len(words))
        if int(apart[a, b]) > best[0]:
            best = (int(apart[a, b]), start + a, b)
    return best


def _furthest_by_sweeps(words: Words) -> tuple[int, int, int]:
    """From the first to the one furthest from it and on from there, until no step is longer."""
    before, here, distance = 0, 0, -1
    while True:
        apart = np.bitwise_count(words ^ words[here])
        there = int(apart.argmax())
        if int(apart[there]) <= distance:
            return distance, before, here
        distance, before, here = int(apart[there]), here, there
