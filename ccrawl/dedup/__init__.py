"""Exact and near duplicates over a dataset."""

from ccrawl.dedup.clusters import Cluster, Clusters, Member
from ccrawl.dedup.options import DedupOptions
from ccrawl.dedup.report import DedupReport
from ccrawl.dedup.run import dedup

__all__ = ["Cluster", "Clusters", "DedupOptions", "DedupReport", "Member", "dedup"]
