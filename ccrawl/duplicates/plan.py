"""Which bits to sort by, so that no pair within the distance can be missed and few others are looked at.

Two fingerprints that differ in at most D bits are found by the pigeonhole principle (Manku, Jain and Das
Sarma, "Detecting near-duplicates for web crawling", WWW 2007), applied twice:

1. The bits are cut into segments that allow e1, e2 ... differences with (e1+1) + (e2+1) + ... = D + 1. A pair
   that broke every allowance would differ in D + 1 bits, so some segment holds at most its e.
2. A segment is cut into b blocks; at most e of them can hold a difference, so the pair agrees on b - e whole
   blocks. Each choice of b - e blocks is the key of one table.

A pair is therefore equal on the key of at least one table. Few segments and many blocks make long keys (few
candidates) and many tables (many sorts); `choose` takes the cheapest by the costs below. For D = 3 and ten
million fingerprints that is two segments of four blocks: 8 tables of 24 bits, where one level alone needs 10
or 20.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ccrawl.duplicates.bits import BITS

# Measured on one core of a 2.6 GHz server with AVX-512, in seconds; only their ratios decide the plan.
SORT_COST = 1.76e-9  # one fingerprint moved, sorted and compared with the next, by log2 of their number
CANDIDATE_COST = 1.4e-8  # one pair with an equal key compared
BRUTE_COST = 1.4e-9  # one pair compared where all are
TABLE_COST = 2e-4  # what a table costs with nothing in it

# Of plans that cost nearly the same, the longest keys: fingerprints that have more in common than random
# ones, as pages made from one template do, then cost least.
_NEARLY = 1.2
_MOST_SEGMENTS = 8
_MOST_BLOCKS = 24
_MOST_TABLES = 20_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the fingerprint that may hold `errors` differences, cut into `blocks`."""

    errors: int
    blocks: int

    @property
    def tables(self) -> int:
        return math.comb(self.blocks, self.errors)

    @property
    def sorting(self) -> float:
        """Cost of its sorts for that of full ones: tables that keep the first block are nearly in order."""
        return 0.6 + 0.7 * self.errors / self.blocks if self.errors else 1.0

    @property
    def spread(self) -> float:
        """Bits of the segment for one bit of key."""
        return self.blocks / (self.blocks - self.errors)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to search: by the tables of these segments, or, without any, by comparing every pair.

    `seconds` is the expected time for fingerprints whose bits are independent.
    """

    segments: tuple[Segment, ...]
    key_bits: float
    seconds: float

    @property
    def tables(self) -> int:
        return sum(segment.tables for segment in self.segments)


def choose(count: int, distance: int, weight: float = BITS) -> Plan:
    """The cheapest plan for `count` distinct fingerprints that hold `weight` bits of information each."""
    # Costs change slowly: rounding the arguments makes the cache work for the many groups of a skewed input.
    return _choose(round(math.log2(max(count, 2)) * 4), distance, round(weight))


@lru_cache(maxsize=4096)
def _choose(quarter_log: int, distance: int, weight: int) -> Plan:
    count = 2 ** (quarter_log / 4)
    pairs = count * count / 2
    sort = count * math.log2(count) * SORT_COST
    best = Plan((), 0.0, pairs * BRUTE_COST + TABLE_COST)
    plans = [best]
    for number in range(1, min(distance + 1, _MOST_SEGMENTS) + 1):
        for segments in _segmentations(distance, number):
            tables = sum(segment.tables for segment in segments)
            if tables > _MOST_TABLES:
                continue
            key_bits = weight / sum(segment.spread for segment in segments)
            if key_bits < 1:
                continue
            candidates = pairs * 2.0**-key_bits
            seconds = tables * (candidates * CANDIDATE_COST + TABLE_COST)
            seconds += sum(segment.tables * segment.sorting for segment in segments) * sort
            if seconds < best.seconds * _NEARLY:
                plans.append(Plan(segments, key_bits, seconds))
                best = min(best, plans[-1], key=lambda plan: plan.seconds)
    good = [plan for plan in plans if plan.seconds <= best.seconds * _NEARLY]
    return max(good, key=lambda plan: (round(plan.key_bits, 6), -plan.seconds))


def _segmentations(distance: int, number: int) -> list[tuple[Segment, ...]]:
    """Every way to cut into `number` segments with balanced allowances, equal ones being cut alike."""
    low, more = divmod(distance + 1, number)
    sizes = [(low - 1, number - more)] + ([(low, more)] if more else [])
    choices = [
        [(Segment(errors, blocks),) * times for blocks in _block_counts(errors)] for errors, times in sizes
    ]
    return [tuple(itertools.chain.from_iterable(parts)) for parts in itertools.product(*choices)]


def _block_counts(errors: int) -> range:
    return range(1, 2) if errors == 0 else range(errors + 1, _MOST_BLOCKS + 1)


def key_masks(plan: Plan, weights: Sequence[float]) -> tuple[list[int], list[list[int]]]:
    """The plan's keys as bit masks, for bits that hold `weights` of information each (0 to 1).

    Returns the mask of each table, in the order in which they are searched, and the bits of each block.
    Tables that follow each other share leading blocks, so that each is nearly sorted by the one before. Every
    block gets its share of the information, not of the bits: sixteen bits that are the same in most
    fingerprints are spread over the blocks, and no key is made of them alone.
    """
    targets = [plan.key_bits * s.spread / s.blocks for s in plan.segments for _ in range(s.blocks)]
    blocks = _deal(weights, targets)
    masks: list[int] = []
    first = 0
    for segment in plan.segments:
        own = [sum(1 << bit for bit in block) for block in blocks[first : first + segment.blocks]]
        first += segment.blocks
        masks += [sum(key) for key in itertools.combinations(own, segment.blocks - segment.errors)]
    return masks, blocks


def _deal(weights: Sequence[float], targets: Sequence[float]) -> list[list[int]]:
    """Deals bits to blocks so that the weight of each block comes near its target.

    Even weights give runs of neighbouring bits from the top, which move with one shift; others go heaviest
    first to the block that lacks most.
    """
    total, wanted = sum(weights), sum(targets)
    blocks: list[list[int]] = [[] for _ in targets]
    if min(weights) > 0.9:
        place, reached = 0, 0.0
        bounds = list(itertools.accumulate(target * total / wanted for target in targets))
        for bit in reversed(range(BITS)):
            weight = weights[bit]
            reached += weight
            while place + 1 < len(targets) and reached - weight / 2 > bounds[place]:
                place += 1
            blocks[place].insert(0, bit)
        return blocks
    lacks = [target * total / wanted for target in targets]
    for bit in sorted(range(BITS), key=lambda bit: (-weights[bit], bit)):
        place = max(range(len(lacks)), key=lambda block: (lacks[block], -block))
        blocks[place].append(bit)
        lacks[place] -= weights[bit]
    return [sorted(block) for block in blocks]
