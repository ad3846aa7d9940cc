"""Near clusters: documents whose fingerprints differ in few bits and whose lengths are within a factor of
two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ccrawl.duplicates.bits import Words
from ccrawl.duplicates.documents import Documents, chain_edges, cross_edges
from ccrawl.duplicates.external import pairs_within_scratch
from ccrawl.duplicates.groups import Components, Groups, Ints, group_by_label, groups_of_sizes
from ccrawl.duplicates.keep import preference
from ccrawl.duplicates.options import DedupOptions
from ccrawl.duplicates.plan import choose
from ccrawl.duplicates.rows import Notice, Rows
from ccrawl.duplicates.scratch import Scratch, chunks

_SAY_FROM = 30.0  # seconds of expected search from which the user is told


def find_pairs(
    documents: Documents, distance: int, scratch: Scratch, notice: Notice
) -> Iterator[tuple[Words, Words]]:
    """All pairs of fingerprints of documents that are within the distance, in batches."""
    say_estimate(len(documents.distinct), distance, notice)
    yield from pairs_within_scratch(documents.distinct, distance, scratch)


def near_groups(
    documents: Documents,
    pairs_found: Iterable[tuple[Words, Words]],
    rows: Rows,
    options: DedupOptions,
    scratch: Scratch,
) -> Groups:
    """Groups of two or more near documents, as row numbers, from all pairs of their fingerprints."""
    represent = options.linkage == "representative"
    pairs: list[tuple[Ints, Ints]] = []
    components = Components(_counting(len(documents), scratch))
    for a, b in chain_edges(documents):
        components.join(a, b)
    for words_a, words_b in pairs_found:
        a, b = number(documents, words_a), number(documents, words_b)
        components.join(*cross_edges(documents, a, b))
        if represent:
            pairs.append((a, b))
    groups = _components(documents, components)
    if represent:
        groups = _representatives(documents, groups, pairs, rows, options)
    return Groups(documents.row[groups.members], groups.offsets)


def say_estimate(count: int, distance: int, notice: Notice) -> None:
    """Tells the user before a search that will take long, and how long."""
    plan = choose(count, distance)
    if distance and plan.seconds >= _SAY_FROM:
        how = f"{plan.tables:,} tables of {plan.key_bits:.0f} bits" if plan.segments else "every pair"
        notice(
            f"near search of {count:,} fingerprints at distance {distance} compares {how}: "
            f"about {_duration(plan.seconds)}; a smaller --distance is faster"
        )


def number(documents: Documents, words: Words) -> Ints:
    """The index of each word, which must be there, in `documents.distinct`."""
    return np.searchsorted(documents.distinct, words)


def _counting(count: int, scratch: Scratch) -> Ints:
    column = scratch.column(np.int64)
    for piece in chunks(count):
        column.append(np.arange(piece.start, piece.stop))
    return column.finish()


def _components(documents: Documents, components: Components) -> Groups:
    """Components of two or more, as indexes into the documents."""
    members: list[Ints] = []
    for piece in chunks(len(documents)):
        nodes = np.arange(piece.start, piece.stop)
        roots = components.roots(nodes)
        members.append(nodes[roots != nodes])
        members.append(roots[roots != nodes])
    chosen = np.concatenate(members) if members else np.empty(0, np.int64)
    chosen.sort()
    chosen = chosen[np.concatenate([[True], chosen[1:] != chosen[:-1]])] if len(chosen) else chosen
    return group_by_label(chosen, components.roots(chosen))


def _representatives(
    documents: Documents,
    components: Groups,
    pairs: list[tuple[Ints, Ints]],
    rows: Rows,
    options: DedupOptions,
) -> Groups:
    """Groups in which every member is near the one kept.

    Documents are visited in the order of the keep rule; one that belongs to no group yet takes all its
    neighbours that do not either. What is left alone is in no group.
    """
    neighbours = _Neighbours(len(documents.distinct), pairs)
    owner = np.full(len(documents), -1, np.int64)
    nodes = components.members
    groups: list[Ints] = []
    for node in nodes[preference(documents.row[nodes], rows, options.keep)].tolist():
        if owner[node] >= 0:
            continue
        fingerprint = int(np.searchsorted(documents.starts, node, side="right")) - 1
        owner[node] = node
        length = int(documents.length[node])
        members = [np.array([node])]
        for other in (fingerprint, *neighbours.of(fingerprint)):
            start, end = int(documents.starts[other]), int(documents.starts[other + 1])
            lengths = documents.length[start:end]
            low = start + int(np.searchsorted(lengths, (length + 1) // 2))
            high = start + int(np.searchsorted(lengths, 2 * length, side="right"))
            free = np.flatnonzero(owner[low:high] < 0) + low
            owner[free] = node
            members.append(free)
        group = np.concatenate(members)
        if len(group) > 1:
            groups.append(group)
    everyone = np.concatenate(groups) if groups else np.empty(0, np.int64)
    return groups_of_sizes(everyone, np.array([len(group) for group in groups], np.int64))


class _Neighbours:
    """Which fingerprints are within the distance of a fingerprint, as lists laid end to end."""

    def __init__(self, count: int, pairs: list[tuple[Ints, Ints]]) -> None:
        a = np.concatenate([np.empty(0, np.int64), *(side for pair in pairs for side in pair)])
        b = np.concatenate([np.empty(0, np.int64), *(side for pair in pairs for side in reversed(pair))])
        order = np.lexsort((b, a))
        self._others = b[order]
        self._offsets = np.searchsorted(a[order], np.arange(count + 1))

    def of(self, fingerprint: int) -> Iterator[int]:
        yield from self._others[self._offsets[fingerprint] : self._offsets[fingerprint + 1]].tolist()


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"
