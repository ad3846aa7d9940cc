"""The dedupe index: which payloads earlier runs and crawls have captured.

    open_index(location)     a folder (embedded), or redis:// and rediss://
    import_sources(...)      WACZ, CDX, WARC files and finished datasets into it

A run begins, looks payloads up in its view, stages what it found, and is committed or cancelled.
"""

from __future__ import annotations

from ccrawl.index.open import open_index
from ccrawl.index.types import (
    ALGORITHMS,
    Counts,
    Crawl,
    DedupIndex,
    Entry,
    IndexFailure,
    Key,
    Original,
    Package,
    Stats,
    View,
    check_run_id,
    date_digits,
    key_of,
    kind_of_rules,
    normalised_key,
)

__all__ = [
    "ALGORITHMS",
    "Counts",
    "Crawl",
    "DedupIndex",
    "Entry",
    "IndexFailure",
    "Key",
    "Original",
    "Package",
    "Stats",
    "View",
    "check_run_id",
    "date_digits",
    "key_of",
    "kind_of_rules",
    "normalised_key",
    "open_index",
]
