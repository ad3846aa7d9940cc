"""Exact and near duplicates over a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccrawl.lazily import names_of

if TYPE_CHECKING:
    from ccrawl.duplicates.against import AgainstReport, Match, dedup_against
    from ccrawl.duplicates.clusters import Cluster, Clusters, Member
    from ccrawl.duplicates.options import DedupOptions
    from ccrawl.duplicates.report import DedupReport
    from ccrawl.duplicates.run import dedup

__all__ = [
    "AgainstReport",
    "Cluster",
    "Clusters",
    "DedupOptions",
    "DedupReport",
    "Match",
    "Member",
    "dedup",
    "dedup_against",
]

__getattr__ = names_of(
    __name__,
    {
        "AgainstReport": "against",
        "Match": "against",
        "dedup_against": "against",
        "Cluster": "clusters",
        "Clusters": "clusters",
        "Member": "clusters",
        "DedupOptions": "options",
        "DedupReport": "report",
        "dedup": "run",
    },
)
