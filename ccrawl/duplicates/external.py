"""The search of hamming.py for fingerprints that don't fit in memory, with the same result.

For each table the fingerprints are dealt to partitions on disk by the leading bits of their key. Equal keys
meet in one partition, so each is sorted and scanned by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ccrawl.duplicates.bits import IN_PLACE, Words
from ccrawl.duplicates.hamming import choose_tables, pairs_within, search_table
from ccrawl.duplicates.scratch import Scratch, chunks, top_bits

_BYTES_A_WORD = 24  # the words, a partition and its batches


def pairs_within_scratch(words: Words, distance: int, scratch: Scratch) -> Iterator[tuple[Words, Words]]:
    """As `pairs_within`, using at most about the memory that `scratch` allows."""
    parts = scratch.partitions(len(words) * _BYTES_A_WORD)
    if parts == 1 or distance == 0:
        yield from pairs_within(words, distance)
        return
    masks, _ = choose_tables(words, len(words), distance)
    if not masks:
        yield from pairs_within(words, distance)  # compares tile by tile: needs no copy
        return
    for table, mask in enumerate(masks):
        order = IN_PLACE.with_key(mask)
        table_parts = min(parts, 1 << mask.bit_count())
        split = scratch.split(table_parts, np.uint64)
        for piece in chunks(len(words)):
            moved = order.apply(words[piece])
            split.append(moved, top_bits(moved, table_parts))
        for part in split:
            part.sort()
            yield from search_table(part, masks, table, order, distance)
