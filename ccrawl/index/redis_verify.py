"""Recounting an index on a server."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ccrawl.index import redis_layout as layout
from ccrawl.index.types import Counts

_BATCH = 1000


def recount(client: Any) -> list[str]:
    """What does not add up, a line each. Crawls in progress are left out: they may change meanwhile."""
    wrong = []
    committed = client.smembers(layout.ALL_CRAWLS)
    owned: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    for space in layout.SPACES:
        batch: dict[str, list[str]] = {}
        for field, crawl in client.hscan_iter(space.owners, count=_BATCH):
            owned[crawl] += 1
            batch.setdefault(crawl, []).append(field)
            if len(batch[crawl]) >= _BATCH:
                missing[crawl] += _absent(client, space.hashes(crawl), batch.pop(crawl))
        for crawl, fields in batch.items():
            missing[crawl] += _absent(client, space.hashes(crawl), fields)
    for crawl in sorted(owned):
        if crawl not in committed:
            wrong.append(f"{crawl}: owns {owned[crawl]:,} first copies, but is not committed")
        if missing[crawl]:
            wrong.append(f"{crawl}: {missing[crawl]:,} of its first copies are not in its own hash")
    sums = Counts()
    for crawl in sorted(committed):
        counts = layout.read_counts(client.hgetall(layout.counters(crawl)))
        sums += counts
        held = sum(client.hlen(space.hashes(crawl)) for space in layout.SPACES)
        if counts.total - counts.duplicates < held:
            wrong.append(
                f"{crawl}: {counts.total:,} captures and {counts.duplicates:,} duplicates recorded, "
                f"but {held:,} first copies"
            )
        unknown = 0
        for space in layout.SPACES:
            fields = []
            for field, _ in client.hscan_iter(space.hashes(crawl), count=_BATCH):
                fields.append(field)
                if len(fields) >= _BATCH:
                    unknown += _absent(client, space.owners, fields)
                    fields = []
            unknown += _absent(client, space.owners, fields) if fields else 0
        if unknown:
            wrong.append(f"{crawl}: {unknown:,} of its payloads have no first copy in the index")
    recorded = layout.read_counts(client.hgetall(layout.ALL_COUNTS))
    if recorded != sums:
        wrong.append(f"sums recorded: {recorded}; the committed crawls add up to {sums}")
    return wrong


def _absent(client: Any, name: str, fields: list[str]) -> int:
    values: list[str | None] = client.hmget(name, fields)
    return values.count(None)
