"""Exact and near duplicates of a dataset: read, group, search, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ccrawl.duplicates.clusters import build_clusters
from ccrawl.duplicates.documents import collect_documents
from ccrawl.duplicates.exact import exact_groups
from ccrawl.duplicates.groups import Groups, Ints
from ccrawl.duplicates.keep import keep_first
from ccrawl.duplicates.near import find_pairs, near_groups
from ccrawl.duplicates.options import DedupOptions
from ccrawl.duplicates.report import DedupReport
from ccrawl.duplicates.rows import Notice, Rows, read_rows
from ccrawl.duplicates.scratch import Scratch
from ccrawl.duplicates.sources import find_sources

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
    if options.runner == "spark":
        from ccrawl.duplicates.spark import dedup_spark  # needs the spark extra

        return dedup_spark(sources, options, notice)
    with Scratch(options.memory, options.scratch) as scratch:
        rows = read_rows(sources, scratch, notice)
        exact = keep_first(exact_groups(rows, scratch), rows, options.keep)
        dropped = _mark(len(rows), further_copies(exact))
        documents = collect_documents(rows, dropped, options.min_bytes, scratch)
        pairs = find_pairs(documents, options.distance, scratch, notice)
        near = near_groups(documents, pairs, rows, options, scratch)
        totals = Totals(
            files=len(rows.files),
            rows=len(rows),
            bytes=int(rows.length.sum()),
            no_fingerprint=int((rows.fingerprint == 0).sum()),
            recomputed=rows.recomputed,
            compared=len(documents),
        )
        return make_report(totals, rows, exact, near, options)


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over all rows, as DedupReport has them."""

    files: int
    rows: int
    bytes: int
    no_fingerprint: int
    recomputed: int
    compared: int


def make_report(
    totals: Totals, rows: Rows, exact: Groups, near: Groups, options: DedupOptions
) -> DedupReport:
    """The report on groups that were found, here or elsewhere; `rows` has at least their members."""
    clusters = build_clusters(exact, near, rows, options.keep)
    is_near = clusters.near
    extra = clusters.groups.sizes - 1
    return DedupReport(
        files=totals.files,
        rows=totals.rows,
        bytes=totals.bytes,
        exact_clusters=int((~is_near).sum()),
        exact_duplicates=int(extra[~is_near].sum()),
        exact_bytes=int(clusters.bytes[~is_near].sum()),
        near_clusters=int(is_near.sum()),
        near_duplicates=int(extra[is_near].sum()),
        near_bytes=int(clusters.bytes[is_near].sum()),
        near_distance=options.distance,
        min_bytes=options.min_bytes,
        no_fingerprint=totals.no_fingerprint,
        recomputed=totals.recomputed,
        compared=totals.compared,
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
