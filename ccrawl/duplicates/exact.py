"""Exact clusters: rows with byte-identical Markdown, of any length."""

from __future__ import annotations

import numpy as np

from ccrawl.duplicates.groups import Groups, Ints, groups_of_sizes, run_offsets
from ccrawl.duplicates.rows import Rows
from ccrawl.duplicates.scratch import Scratch, chunks, top_bits

_BYTES_A_ROW = 48  # row number, the leading word twice, an index and what is around them


def exact_groups(rows: Rows, scratch: Scratch) -> Groups:
    """Groups of two or more rows with the same text; rows in order inside a group. Rows without text are left
    out.
    """
    parts = scratch.partitions(len(rows) * _BYTES_A_ROW)
    split = scratch.split(parts, np.int64)
    for piece in chunks(len(rows)):
        numbers = np.flatnonzero(rows.length[piece] > 0) + piece.start
        split.append(numbers, top_bits(rows.digest[numbers, 0], parts))
    groups = [_groups_of(rows, numbers) for numbers in split]
    sizes = np.concatenate([group.sizes for group in groups])
    members = np.concatenate([group.members for group in groups])
    return groups_of_sizes(members, sizes)


def _groups_of(rows: Rows, numbers: Ints) -> Groups:
    """The groups among some rows that hold all copies of each of their texts."""
    leading = rows.digest[numbers, 0]
    order = np.argsort(leading)
    leading = leading[order]
    same = leading[1:] == leading[:-1]
    copied = np.concatenate([same, [False]]) | np.concatenate([[False], same]) if len(leading) else same
    numbers = numbers[order[copied]]
    # The leading words are equal; now the whole digests, for the few rows that are left.
    digest = rows.digest[numbers]
    order = np.lexsort((numbers, digest[:, 3], digest[:, 2], digest[:, 1], digest[:, 0]))
    numbers, digest = numbers[order], digest[order]
    changes = (digest[1:] != digest[:-1]).any(axis=1)
    labels = np.concatenate([[0], np.cumsum(changes)])[: len(numbers)]
    sizes = np.diff(run_offsets(labels))
    return groups_of_sizes(numbers[np.repeat(sizes > 1, sizes)], sizes[sizes > 1])
