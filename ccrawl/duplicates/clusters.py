"""The clusters that were found, as columns; one becomes an object when somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ccrawl.duplicates.diameter import diameters
from ccrawl.duplicates.groups import Groups, Ints
from ccrawl.duplicates.keep import keep_first, url_lengths, url_ranks
from ccrawl.duplicates.options import Keep
from ccrawl.duplicates.rows import Rows

Kind = Literal["exact", "near"]


@dataclass(frozen=True, slots=True)
class Member:
    """A row of a cluster. `row` counts from 0 in its file; `distance` is in bits from the document kept."""

    url: str
    file: str
    row: int
    bytes: int
    distance: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rows that say the same. The first member is the one kept.

    `bytes` is the Markdown of the others, what dropping them saves. `diameter` is the distance of `furthest`,
    the two members furthest apart; no two members are further apart than `diameter_bound`.
    """

    number: int
    kind: Kind
    members: tuple[Member, ...]
    size: int
    bytes: int
    diameter: int
    diameter_bound: int
    furthest: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Clusters(Sequence[Cluster]):
    """All clusters, the largest first (then most bytes, exact before near, the URL of the one kept).

    As columns: `groups` has the rows of each with the one kept first, `distance` and `urls` one entry a
    member, the others one entry a cluster. `furthest` has the shape (clusters, 2), places among the members.
    """

    rows: Rows
    groups: Groups
    near: NDArray[np.bool_]
    bytes: Ints
    distance: Ints
    urls: Any
    diameter: Ints
    diameter_bound: Ints
    furthest: Ints

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, index: int) -> Cluster: ...
    @overload
    def __getitem__(self, index: slice) -> list[Cluster]: ...
    def __getitem__(self, index: int | slice) -> Cluster | list[Cluster]:
        if isinstance(index, slice):
            return [self.cluster(place) for place in range(*index.indices(len(self)))]
        return self.cluster(range(len(self))[index])

    def __iter__(self) -> Iterator[Cluster]:
        return map(self.cluster, range(len(self)))

    def cluster(self, place: int, most_members: int | None = None) -> Cluster:
        """One cluster, with its first `most_members` members, or all."""
        start, end = int(self.groups.offsets[place]), int(self.groups.offsets[place + 1])
        shown = end if most_members is None else min(end, start + most_members)
        return Cluster(
            number=place + 1,
            kind="near" if self.near[place] else "exact",
            members=self.members(range(start, shown)),
            size=end - start,
            bytes=int(self.bytes[place]),
            diameter=int(self.diameter[place]),
            diameter_bound=int(self.diameter_bound[place]),
            furthest=(int(self.furthest[place, 0]), int(self.furthest[place, 1])),
        )

    def members(self, places: range) -> tuple[Member, ...]:
        """The members at these places of `groups.members`."""
        numbers = self.groups.members[places.start : places.stop]
        files, rows = self.rows.place(numbers)
        urls = self.urls[places.start : places.stop].to_pylist()
        lengths = self.rows.length[numbers].tolist()
        distances = self.distance[places.start : places.stop].tolist()
        return tuple(
            Member(url.decode("utf-8", "replace"), self.rows.files[file], row, length, distance)
            for url, file, row, length, distance in zip(
                urls, files.tolist(), rows.tolist(), lengths, distances, strict=True
            )
        )


def build_clusters(exact: Groups, near: Groups, rows: Rows, keep: Keep) -> Clusters:
    """Puts exact and near groups in order, measures them, and chooses which document each keeps."""
    exact, near = keep_first(exact, rows, keep), keep_first(near, rows, keep)
    near = near.reorder_members(_by_distance(near, rows))
    groups = Groups(
        np.concatenate([exact.members, near.members]),
        np.concatenate([exact.offsets, near.offsets[1:] + exact.offsets[-1]]),
    )
    is_near = np.arange(len(groups)) >= len(exact)
    saved = _sums(rows.length[groups.members], groups) - rows.length[groups.first]
    order = _order(groups, is_near, saved, rows)
    groups, is_near, saved = _pick(groups, order), is_near[order], saved[order]
    fingerprints = rows.fingerprint[groups.members]
    distance = _from_kept(groups, rows)
    # Exact members have one fingerprint, so near clusters are the only ones that have something to measure.
    apart = diameters(fingerprints, groups.offsets)
    return Clusters(
        rows=rows,
        groups=groups,
        near=is_near,
        bytes=saved,
        distance=distance,
        urls=rows.take_urls(groups.members),
        diameter=apart.distance,
        diameter_bound=apart.bound,
        furthest=np.stack([apart.first, apart.second], axis=1),
    )


def _from_kept(groups: Groups, rows: Rows) -> Ints:
    kept = np.repeat(groups.first, groups.sizes)
    apart = np.bitwise_count(rows.fingerprint[groups.members] ^ rows.fingerprint[kept])
    distance: Ints = apart.astype(np.int64)
    return distance


def _by_distance(groups: Groups, rows: Rows) -> Ints:
    """The one kept first, then the others by distance from it, in the order they have where that is equal."""
    others = np.ones(len(groups.members), bool)
    others[groups.offsets[:-1]] = False
    return np.lexsort((_from_kept(groups, rows), others, groups.labels))


def _sums(values: Ints, groups: Groups) -> Ints:
    totals: Ints = np.concatenate([[0], np.cumsum(values)])
    return totals[groups.offsets[1:]] - totals[groups.offsets[:-1]]


def _order(groups: Groups, near: NDArray[np.bool_], saved: Ints, rows: Rows) -> Ints:
    kept = groups.first
    urls = rows.take_urls(kept)
    return np.lexsort(
        (kept, rows.digest[kept, 0], url_ranks(urls), url_lengths(urls), near, -saved, -groups.sizes)
    )


def _pick(groups: Groups, order: Ints) -> Groups:
    """The groups in another order."""
    sizes = groups.sizes[order]
    ends = np.cumsum(sizes)
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    within = np.arange(len(groups.members)) - np.repeat(offsets[:-1], sizes)
    return Groups(groups.members[np.repeat(groups.offsets[:-1][order], sizes) + within], offsets)
