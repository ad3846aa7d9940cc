"""The documents that near search looks at, sorted by fingerprint and, within one, by length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ccrawl.duplicates.groups import Ints, run_offsets
from ccrawl.duplicates.rows import Rows
from ccrawl.duplicates.scratch import Scratch, chunks, top_bits

_RECORD = np.dtype([("fingerprint", np.uint64), ("length", np.int64), ("row", np.int64)])
_BYTES_A_DOCUMENT = 3 * _RECORD.itemsize


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents in the order (fingerprint, length, row), and where those of each fingerprint start."""

    row: Ints
    length: Ints
    fingerprint: NDArray[np.uint64]
    distinct: NDArray[np.uint64]  # the fingerprints, rising, each once
    starts: Ints  # documents of distinct[g]: starts[g] to starts[g + 1]

    def __len__(self) -> int:
        return len(self.row)


def collect_documents(rows: Rows, dropped: NDArray[np.bool_], min_bytes: int, scratch: Scratch) -> Documents:
    """The rows that have a fingerprint and enough text and are not `dropped` (further exact copies)."""
    parts = scratch.partitions(len(rows) * _BYTES_A_DOCUMENT)
    split = scratch.split(parts, _RECORD)
    for piece in chunks(len(rows)):
        length, fingerprint = rows.length[piece], rows.fingerprint[piece]
        chosen = np.flatnonzero((length >= max(min_bytes, 1)) & (fingerprint != 0) & ~dropped[piece])
        records = np.empty(len(chosen), _RECORD)
        records["fingerprint"], records["length"] = fingerprint[chosen], length[chosen]
        records["row"] = chosen + piece.start
        split.append(records, top_bits(records["fingerprint"], parts))
    columns = {name: scratch.column(_RECORD[name]) for name in _RECORD.names or ()}
    distinct, starts = scratch.column(np.uint64), scratch.column(np.int64)
    count = 0
    for records in split:
        order = _sort_order(records)
        for name, column in columns.items():
            column.append(records[name][order])
        fingerprint = records["fingerprint"][order]
        offsets = run_offsets(fingerprint)
        distinct.append(fingerprint[offsets[:-1]])
        starts.append(offsets[:-1] + count)
        count += len(fingerprint)
    starts.append(np.array([count], np.int64))
    return Documents(
        row=columns["row"].finish(),
        length=columns["length"].finish(),
        fingerprint=columns["fingerprint"].finish(),
        distinct=distinct.finish(),
        starts=starts.finish(),
    )


def _sort_order(records: NDArray[np.void]) -> Ints:
    """By fingerprint first, which is fast and settles nearly all; the ties then by length and row."""
    fingerprint = np.ascontiguousarray(records["fingerprint"])
    order = np.argsort(fingerprint)
    offsets = run_offsets(fingerprint[order])
    sizes = np.diff(offsets)
    tied = np.flatnonzero(np.repeat(sizes > 1, sizes))
    members = order[tied]
    within = np.lexsort((records["row"][members], records["length"][members], fingerprint[members]))
    order[tied] = members[within]
    return order


def chain_edges(documents: Documents) -> Iterator[tuple[Ints, Ints]]:
    """Edges that join the documents of one fingerprint whose lengths are within a factor of two.

    Neighbours by length are enough: what lies between two documents within the factor is within it of both.
    """
    for piece in chunks(len(documents) - 1):
        after = slice(piece.start + 1, piece.stop + 1)
        same = documents.fingerprint[piece] == documents.fingerprint[after]
        close = documents.length[after] <= 2 * documents.length[piece]
        a = np.flatnonzero(same & close) + piece.start
        yield a, a + 1


def cross_edges(documents: Documents, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Edges that join the documents of the fingerprints distinct[a[i]] and distinct[b[i]].

    Of all edges between documents within a factor of two in length, those from each document of the smaller
    side to the next shorter and the next longer of the other side: with `chain_edges`, the components are the
    same.
    """
    size_a, size_b = _sizes(documents, a), _sizes(documents, b)
    smaller, larger = np.where(size_a <= size_b, a, b), np.where(size_a <= size_b, b, a)
    sizes = np.minimum(size_a, size_b)
    source = np.repeat(documents.starts[smaller], sizes) + ramp(sizes)
    low = np.repeat(documents.starts[larger], sizes)
    high = np.repeat(documents.starts[larger + 1], sizes)
    length = documents.length[source]
    longer = lower_bound(documents.length, low, high, length)
    inside = longer < high
    longer_ok = np.flatnonzero(inside)[documents.length[longer[inside]] <= 2 * length[inside]]
    inside = longer > low
    shorter = longer - 1
    shorter_ok = np.flatnonzero(inside)[2 * documents.length[shorter[inside]] >= length[inside]]
    return (
        np.concatenate([source[longer_ok], source[shorter_ok]]),
        np.concatenate([longer[longer_ok], shorter[shorter_ok]]),
    )


def lower_bound(values: Ints, low: Ints, high: Ints, wanted: Ints) -> Ints:
    """For each i the first place in the rising values[low[i]:high[i]] with at least wanted[i]."""
    low, high = low.copy(), high.copy()
    while len(open_ := np.flatnonzero(low < high)):
        middle = (low[open_] + high[open_]) // 2
        less = values[middle] < wanted[open_]
        low[open_[less]] = middle[less] + 1
        high[open_[~less]] = middle[~less]
    return low


def _sizes(documents: Documents, fingerprints: Ints) -> Ints:
    return documents.starts[fingerprints + 1] - documents.starts[fingerprints]


def ramp(sizes: Ints) -> Ints:
    """0, 1 ... size - 1 for each size, end to end."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
