"""Where a dataset's files are: a Hive partition a crawl, a Parquet file a shard."""

from __future__ import annotations

import re
from pathlib import Path

from ccrawl.errors import UsageError

_SHARD = re.compile(r"\d{6,}\.parquet")
_CRAWL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def shard_file(crawl: str, number: int) -> str:
    """Path of a shard's file below the dataset's folder, with forward slashes."""
    return f"data/crawl={crawl}/{number:06d}.parquet"


def shard_files(directory: Path) -> list[Path]:
    """The files in `directory` that are named as shards are, sorted."""
    return sorted(path for path in directory.glob("data/crawl=*/*.parquet") if _SHARD.fullmatch(path.name))


def check_crawl_id(crawl: str) -> str:
    """`crawl` when it can stand in a path and a Hive partition; UsageError otherwise."""
    if not _CRAWL_ID.fullmatch(crawl):
        raise UsageError(
            f"{crawl!r} can't name a crawl: "
            "use letters, digits, '.', '_' and '-', and begin with a letter or digit"
        )
    return crawl
