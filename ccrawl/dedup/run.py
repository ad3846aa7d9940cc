"""Exact and near duplicates of a dataset: read, group, search, report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ccrawl.dedup.clusters import build_clusters
from ccrawl.dedup.documents import collect_documents
from ccrawl.dedup.exact import exact_groups
from ccrawl.dedup.groups import Groups, Ints
from ccrawl.dedup.keep import keep_first
from ccrawl.dedup.near import near_groups
from ccrawl.dedup.options import DedupOptions
from ccrawl.dedup.report import DedupReport
from ccrawl.dedup.rows import Notice, Rows, read_rows
from ccrawl.dedup.scratch import Scratch
from ccrawl.dedup.sources import find_sources

DEFAULTS = DedupOptions()


def silent(_: str) -> None:
    """A `notice` for callers that want none."""


def dedup(
    paths: Sequence[str | Path], *, options: DedupOptions = DEFAULTS, notice: Notice = silent
) -> DedupReport:
    """Finds the exact and near duplicates in Parquet files, directories, globs or URLs.

    Reads the columns url, markdown and simhash, and writes nothing. `notice` is told what a user should know
    before the result is there: files whose fingerprints are computed anew, and the expected time of a long
    search. Raises UsageError and SourceError.
    """
    sources = find_sources(paths)
    with Scratch(options.memory, options.scratch) as scratch:
        rows = read_rows(sources, scratch, notice)
        exact = keep_first(exact_groups(rows, scratch), rows, options.keep)
        dropped = _mark(len(rows), further_copies(exact))
        documents = collect_documents(rows, dropped, options.min_bytes, scratch)
        near = near_groups(documents, rows, options, scratch, notice)
        return make_report(rows, exact, near, len(documents), options)


def make_report(rows: Rows, exact: Groups, near: Groups, compared: int, options: DedupOptions) -> DedupReport:
    """The report on groups that were found, here or elsewhere."""
    clusters = build_clusters(exact, near, rows, options.keep)
    is_near = clusters.near
    extra = clusters.groups.sizes - 1
    return DedupReport(
        files=len(rows.files),
        rows=len(rows),
        bytes=int(rows.length.sum()),
        exact_clusters=int((~is_near).sum()),
        exact_duplicates=int(extra[~is_near].sum()),
        exact_bytes=int(clusters.bytes[~is_near].sum()),
        near_clusters=int(is_near.sum()),
        near_duplicates=int(extra[is_near].sum()),
        near_bytes=int(clusters.bytes[is_near].sum()),
        near_distance=options.distance,
        min_bytes=options.min_bytes,
        no_fingerprint=int((rows.fingerprint == 0).sum()),
        recomputed=rows.recomputed,
        compared=compared,
        clusters=clusters,
    )


def further_copies(exact: Groups) -> Ints:
    """The members of groups that are not kept; the one kept stands first."""
    others = np.ones(len(exact.members), bool)
    others[exact.offsets[:-1]] = False
    return exact.members[others]


def _mark(count: int, rows: Ints) -> NDArray[np.bool_]:
    marks = np.zeros(count, bool)
    marks[rows] = True
    return marks
