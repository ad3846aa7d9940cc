"""Sets of rows: as groups laid end to end, and as connected components of edges that arrive in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups laid end to end: group g is `members[offsets[g]:offsets[g + 1]]`."""

    members: Ints
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def labels(self) -> Ints:
        """The group of each member, as a number that rises along `members`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def first(self) -> Ints:
        """The first member of each group."""
        return self.members[self.offsets[:-1]]

    def reorder_members(self, order: Ints) -> Groups:
        """The same groups with `members[order]`; `order` must not move a member to another group."""
        return Groups(self.members[order], self.offsets)


def groups_of_sizes(members: Ints, sizes: Ints) -> Groups:
    """Members laid end to end, cut into groups of these sizes."""
    return Groups(members, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def group_by_label(members: Ints, labels: Ints) -> Groups:
    """Groups of the members with equal labels, in the order of the labels; members keep their order."""
    order = np.argsort(labels, kind="stable")
    return Groups(members[order], run_offsets(labels[order]))


def run_offsets(values: NDArray[np.generic]) -> Ints:
    """Where runs of equal neighbours start, and the length of `values` at the end."""
    if not len(values):
        return np.zeros(1, np.int64)
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    return np.concatenate([[0], changes, [len(values)]]).astype(np.int64)


class Components:
    """Connected components of nodes 0 to count - 1. Memory: one integer a node.

    Every node points to one with a lower or its own number. Edges are added by pointing the higher of two
    roots to the lower, for a whole batch at a time, until no edge has two roots.
    """

    def __init__(self, parents: Ints) -> None:
        """`parents` must be 0, 1, 2 ...; it may be a mapped file, and is changed in place."""
        self._parents = parents

    def join(self, a: Ints, b: Ints) -> None:
        """Adds the edges a[i] - b[i]."""
        while len(a):
            a, b = self.roots(a), self.roots(b)
            apart = a != b
            a, b = a[apart], b[apart]
            np.minimum.at(self._parents, np.maximum(a, b), np.minimum(a, b))

    def roots(self, nodes: Ints) -> Ints:
        """The lowest number in the component of each node; shortens the ways for the next call."""
        roots = self._parents[nodes]
        while True:
            above = self._parents[roots]
            if np.array_equal(above, roots):
                break
            roots = self._parents[above]
        self._parents[nodes] = roots
        return roots
