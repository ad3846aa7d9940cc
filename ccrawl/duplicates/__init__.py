"""Exact and near duplicates over a dataset."""

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
