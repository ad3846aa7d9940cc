"""Where a dataset's files are: a Hive partition a crawl, a Parquet file a shard."""

from __future__ import annotations

import re

from ccrawl.errors import UsageError

_CRAWL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def shard_file(crawl: str, number: int) -> str:
    """Path of a shard's file below the dataset's folder, with forward slashes."""
    return f"data/crawl={crawl}/{number:06d}.parquet"


def check_crawl_id(crawl: str) -> str:
    """`crawl` when it can stand in a path and a Hive partition; UsageError otherwise."""
    if not _CRAWL_ID.fullmatch(crawl):
        raise UsageError(
            f"{crawl!r} can't name a crawl: "
            "use letters, digits, '.', '_' and '-', and begin with a letter or digit"
        )
    return crawl
