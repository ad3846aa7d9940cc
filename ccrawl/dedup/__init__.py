"""Exact and near duplicates over a dataset."""

from ccrawl.dedup.against import AgainstReport, Match, dedup_against
from ccrawl.dedup.clusters import Cluster, Clusters, Member
from ccrawl.dedup.options import DedupOptions
from ccrawl.dedup.report import DedupReport
from ccrawl.dedup.run import dedup

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
