"""Which document of a cluster stays: one rule, the same answer whatever the order of rows and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ccrawl.duplicates.groups import Groups, Ints
from ccrawl.duplicates.options import Keep
from ccrawl.duplicates.rows import Rows, arrow_integers, numpy_integers


def keep_first(groups: Groups, rows: Rows, rule: Keep) -> Groups:
    """The groups with the document to keep in front and the others in the order in which they would follow
    it.
    """
    return groups.reorder_members(preference(groups.members, rows, rule, groups.labels))


def preference(members: Ints, rows: Rows, rule: Keep, labels: Ints | None = None) -> Ints:
    """The order of `members` by label, then by the rule, the preferred first.

    longest        most bytes of Markdown; then the shorter URL, the URL's bytes, the text's digest, the row
    shortest-url   fewest bytes of URL; then the URL's bytes, the longer text, the digest, the row
    first          the row's number: files by name, rows as they stand

    Only `first` looks at the order of the input before everything else is equal.
    """
    keys: list[NDArray[Any]] = [] if labels is None else [labels]
    if rule != "first":
        urls = rows.take_urls(members)
        by_url = [url_lengths(urls), url_ranks(urls)]
        longest = -rows.length[members]
        keys += [longest, *by_url] if rule == "longest" else [*by_url, longest]
        keys.append(rows.digest[members, 0])
    keys.append(members)
    return np.lexsort(keys[::-1])


def url_lengths(urls: Any) -> NDArray[Any]:
    return numpy_integers(pc.binary_length(urls))


def url_ranks(urls: Any) -> NDArray[Any]:
    """The place of each URL in the order of their bytes, equal for equal URLs."""
    if not len(urls):
        return np.empty(0, np.uint64)
    order = numpy_integers(pc.array_sort_indices(urls)).astype(np.int64)
    ordered = urls.take(arrow_integers(order))
    new = numpy_integers(pc.not_equal(ordered[1:], ordered[:-1]).cast(pa.int8()))
    ranks = np.empty(len(urls), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(new, dtype=np.int64)])
    return ranks
