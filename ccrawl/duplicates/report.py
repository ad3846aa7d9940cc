"""What a deduplication found."""

from __future__ import annotations

from dataclasses import dataclass

from ccrawl.duplicates.clusters import Clusters


@dataclass(frozen=True, slots=True)
class DedupReport:
    """Counts over all rows, and the clusters.

    exact_duplicates    rows beyond the one kept of each exact cluster, and their Markdown in exact_bytes
    near_duplicates     documents beyond the one kept of each near cluster (exact copies are not among them)
    no_fingerprint      rows without text or fingerprint; they are in no near cluster
    recomputed          rows whose fingerprint was computed from the text
    compared            documents that near search looked at
    """

    files: int
    rows: int
    bytes: int
    exact_clusters: int
    exact_duplicates: int
    exact_bytes: int
    near_clusters: int
    near_duplicates: int
    near_bytes: int
    near_distance: int
    min_bytes: int
    no_fingerprint: int
    recomputed: int
    compared: int
    clusters: Clusters

    @property
    def redundant_rows(self) -> int:
        return self.exact_duplicates + self.near_duplicates

    @property
    def redundant_bytes(self) -> int:
        return self.exact_bytes + self.near_bytes

    @property
    def redundant_share(self) -> float:
        """Redundant rows of all rows, 0 to 1."""
        return self.redundant_rows / self.rows if self.rows else 0.0

    @property
    def redundant_bytes_share(self) -> float:
        """Redundant Markdown of all Markdown, 0 to 1."""
        return self.redundant_bytes / self.bytes if self.bytes else 0.0
