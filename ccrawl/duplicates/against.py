"""What of one dataset is already in another: for people who add a crawl to a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ccrawl.duplicates.bits import Words
from ccrawl.duplicates.documents import Documents, collect_documents, lower_bound, ramp
from ccrawl.duplicates.exact import exact_groups
from ccrawl.duplicates.external import pairs_within_scratch
from ccrawl.duplicates.groups import Groups, Ints, run_offsets
from ccrawl.duplicates.keep import keep_first
from ccrawl.duplicates.near import say_estimate
from ccrawl.duplicates.options import DedupOptions
from ccrawl.duplicates.rows import Notice, Rows, read_rows
from ccrawl.duplicates.run import DEFAULTS, further_copies, silent
from ccrawl.duplicates.scratch import Scratch
from ccrawl.duplicates.sources import find_sources
from ccrawl.errors import UsageError

_FAR = 255


@dataclass(frozen=True, slots=True)
class Match:
    """A row of the dataset that the corpus has too, and the row of the corpus. `row` counts from 0 in its
    file.
    """

    kind: str
    distance: int
    url: str
    file: str
    row: int
    corpus_url: str
    corpus_file: str
    corpus_row: int


@dataclass(frozen=True, slots=True)
class AgainstReport:
    """Which rows of a dataset a corpus has already. `new_rows` is the rest.

    `matched` holds the rows that it has, rising; `match` and `distance` have for each the row of the corpus
    and the bits between the two; `exact` tells which are byte-identical. Rows are numbers in `rows`, where
    the corpus's files follow the dataset's.
    """

    files: int
    rows: int
    bytes: int
    corpus_files: int
    corpus_rows: int
    exact_rows: int
    exact_bytes: int
    near_rows: int
    near_bytes: int
    near_distance: int
    min_bytes: int
    no_fingerprint: int
    recomputed: int
    all_rows: Rows
    matched: Ints
    match: Ints
    distance: Ints
    exact: NDArray[np.bool_]

    @property
    def new_rows(self) -> int:
        return self.rows - self.exact_rows - self.near_rows

    @property
    def new_bytes(self) -> int:
        return self.bytes - self.exact_bytes - self.near_bytes

    def matches(self, start: int, end: int) -> list[Match]:
        """The matches at these places of `matched`."""
        ours, theirs = self.matched[start:end], self.match[start:end]
        places = (*self.all_rows.place(ours), *self.all_rows.place(theirs))
        urls = self.all_rows.take_urls(ours).to_pylist()
        corpus_urls = self.all_rows.take_urls(theirs).to_pylist()
        names = self.all_rows.files
        return [
            Match(
                kind="exact" if exact else "near",
                distance=distance,
                url=url.decode("utf-8", "replace"),
                file=names[file],
                row=row,
                corpus_url=corpus_url.decode("utf-8", "replace"),
                corpus_file=names[corpus_file],
                corpus_row=corpus_row,
            )
            for file, row, corpus_file, corpus_row, url, corpus_url, exact, distance in zip(
                *(place.tolist() for place in places),
                urls,
                corpus_urls,
                self.exact[start:end].tolist(),
                self.distance[start:end].tolist(),
                strict=True,
            )
        ]


def dedup_against(
    paths: Sequence[str | Path],
    corpus: Sequence[str | Path],
    *,
    options: DedupOptions = DEFAULTS,
    notice: Notice = silent,
) -> AgainstReport:
    """Finds which rows of `paths` the files of `corpus` hold already, byte for byte or nearly.

    Each row is matched with one row of the corpus: an exact copy, else the document with the fewest different
    bits, and of these the one nearest in length. Near means the same as in `dedup`. Raises UsageError and
    SourceError.
    """
    if options.runner != "local":
        raise UsageError("comparing two datasets runs on this machine; leave out the runner")
    ours, theirs = find_sources(paths), find_sources(corpus)
    with Scratch(options.memory, options.scratch) as scratch:
        rows = read_rows([*ours, *theirs], scratch, notice)
        border = int(rows.starts[len(ours)])
        match = np.full(border, -1, np.int64)
        distance = np.full(border, _FAR, np.int64)
        copies = keep_first(exact_groups(rows, scratch), rows, options.keep)
        _match_exact(copies, border, match, distance)
        exact = match >= 0
        dropped = np.zeros(len(rows), bool)
        dropped[further_copies(copies)] = True
        _match_near(rows, dropped, border, match, distance, options, scratch, notice)
        _spread(copies, border, match, distance)
        found = np.flatnonzero(match >= 0)
        lengths = rows.length[:border]
        near = (match >= 0) & ~exact
        return AgainstReport(
            files=len(ours),
            rows=border,
            bytes=int(lengths.sum()),
            corpus_files=len(theirs),
            corpus_rows=len(rows) - border,
            exact_rows=int(exact.sum()),
            exact_bytes=int(lengths[exact].sum()),
            near_rows=int(near.sum()),
            near_bytes=int(lengths[near].sum()),
            near_distance=options.distance,
            min_bytes=options.min_bytes,
            no_fingerprint=int((rows.fingerprint[:border] == 0).sum()),
            recomputed=rows.recomputed,
            all_rows=rows,
            matched=found,
            match=match[found],
            distance=distance[found],
            exact=exact[found],
        )


def _match_exact(copies: Groups, border: int, match: Ints, distance: Ints) -> None:
    """Gives each row with the text of a corpus row the most preferred of those."""
    labels = copies.labels
    theirs = np.flatnonzero(copies.members >= border)
    first = theirs[run_offsets(labels[theirs])[:-1]]
    best = np.full(len(copies), -1, np.int64)
    best[labels[first]] = copies.members[first]
    ours = copies.members < border
    match[copies.members[ours]] = best[labels[ours]]
    distance[match >= 0] = 0


def _match_near(
    rows: Rows,
    dropped: NDArray[np.bool_],
    border: int,
    match: Ints,
    distance: Ints,
    options: DedupOptions,
    scratch: Scratch,
    notice: Notice,
) -> None:
    """Gives each document without an exact copy in the corpus the nearest one there, if any is near."""
    in_corpus = np.arange(len(rows)) >= border
    done = np.concatenate([match >= 0, np.zeros(len(rows) - border, bool)])
    ours = collect_documents(rows, dropped | done | in_corpus, options.min_bytes, scratch)
    # A text that both have is dropped on our side and may be dropped on theirs: any copy of it there will do.
    left_out = ~in_corpus | _further_corpus_copies(dropped, match)
    theirs = collect_documents(rows, left_out, options.min_bytes, scratch)
    best = _Best(match, distance)
    both = np.intersect1d(ours.distinct, theirs.distinct, assume_unique=True)
    best.offer(*_candidates(ours, theirs, _number(ours, both), _number(theirs, both)), 0)
    every = _union(ours.distinct, theirs.distinct)
    say_estimate(len(every), options.distance, notice)
    for a, b in pairs_within_scratch(every, options.distance, scratch):
        for left, right in ((a, b), (b, a)):
            crossing = _has(ours, left) & _has(theirs, right)
            left, right = left[crossing], right[crossing]
            source, target, gap = _candidates(ours, theirs, _number(ours, left), _number(theirs, right))
            bits = np.bitwise_count(_words(rows, source) ^ _words(rows, target)).astype(np.int64)
            best.offer(source, target, gap, bits)


def _further_corpus_copies(dropped: NDArray[np.bool_], match: Ints) -> NDArray[np.bool_]:
    """`dropped`, but with the corpus rows that are somebody's exact match taken back in."""
    kept = dropped.copy()
    kept[match[match >= 0]] = False
    return kept


class _Best:
    """The nearest corpus row of each of our rows so far."""

    def __init__(self, match: Ints, distance: Ints) -> None:
        self._match, self._distance = match, distance
        self._gap = np.full(len(match), np.iinfo(np.int64).max, np.int64)

    def offer(self, source: Ints, target: Ints, gap: Ints, bits: Ints | int) -> None:
        distance = np.broadcast_to(np.asarray(bits, np.int64), source.shape)
        order = np.lexsort((target, gap, distance, source))
        first = np.concatenate([[True], source[order][1:] != source[order][:-1]]) if len(order) else order
        order = order[first]
        source, target, gap, distance = source[order], target[order], gap[order], distance[order]
        old = (self._distance[source], self._gap[source], self._match[source])
        better = distance < old[0]
        better |= (distance == old[0]) & (gap < old[1])
        better |= (distance == old[0]) & (gap == old[1]) & (target < old[2])
        source = source[better]
        self._distance[source], self._gap[source] = distance[better], gap[better]
        self._match[source] = target[better]


def _candidates(ours: Documents, theirs: Documents, a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """(our row, corpus row, difference in length): of each document the next longer and next shorter one.

    `a` and `b` are fingerprints, as indexes into the distinct ones of each side. Only pairs within a factor
    of two.
    """
    sizes = ours.starts[a + 1] - ours.starts[a]
    source = np.repeat(ours.starts[a], sizes) + ramp(sizes)
    low, high = np.repeat(theirs.starts[b], sizes), np.repeat(theirs.starts[b + 1], sizes)
    length = ours.length[source]
    longer = lower_bound(theirs.length, low, high, length)
    pairs = [(source[ok], place[ok]) for ok, place in ((longer < high, longer), (longer > low, longer - 1))]
    source, target = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    length, other = ours.length[source], theirs.length[target]
    close = np.maximum(length, other) <= 2 * np.minimum(length, other)
    gap = np.abs(length - other)
    return ours.row[source[close]], theirs.row[target[close]], gap[close]


def _spread(copies: Groups, border: int, match: Ints, distance: Ints) -> None:
    """Gives further exact copies on our side the near match of the copy that was compared."""
    kept = np.repeat(copies.first, copies.sizes)
    rest = (copies.members < border) & (kept < border)
    rest[rest] = match[copies.members[rest]] < 0
    match[copies.members[rest]] = match[kept[rest]]
    distance[copies.members[rest]] = distance[kept[rest]]


def _number(documents: Documents, words: Words) -> Ints:
    return np.searchsorted(documents.distinct, words)


def _union(a: Words, b: Words) -> Words:
    every = np.concatenate([a, b])
    every.sort()  # np.union1d hashes, which is ten times slower at ten million
    return every[run_offsets(every)[:-1]]


def _has(documents: Documents, words: Words) -> NDArray[np.bool_]:
    if not len(documents.distinct):
        return np.zeros(len(words), bool)
    places = np.minimum(_number(documents, words), len(documents.distinct) - 1)
    found: NDArray[np.bool_] = documents.distinct[places] == words
    return found


def _words(rows: Rows, numbers: Ints) -> Words:
    return rows.fingerprint[numbers]
