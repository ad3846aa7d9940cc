"""Browsertrix Crawler's side of a shared index, written from the documented layout with bare Redis commands.

Nothing of ccrawl is used here: what this writes and reads is what the crawler would.
"""

from __future__ import annotations

import json
from typing import Any

import redis

DOCUMENTED = (
    *("alldupes", "allcounts", "allcrawls", "uncommittedcrawls", "canceledcrawls", "last_update_ts"),
    *("src:q", "src:qset", "src:d", "pending:q"),
)
COUNTERS = ("totalUrls", "dupeUrls", "conservedSize", "totalCrawlSize")


class Crawler:
    """One crawl that writes into the index while it runs."""

    def __init__(self, client: redis.Redis, crawl: str, wacz: str | None = None) -> None:
        self.redis: Any = client
        self.crawl = crawl
        self.slot = 0
        if wacz is not None:
            self.slot = self.redis.rpush(f"c:{crawl}:wacz", json.dumps({"filename": wacz})) - 1
        self.redis.sadd("uncommittedcrawls", crawl)

    def lookup(self, digest: str) -> dict[str, Any] | None:
        owner = self.redis.hget("alldupes", digest) or self.crawl
        value = self.redis.hget(f"h:{owner}", digest)
        if value is None:
            return None
        slot, date, url, size = value.split(" ")[:4]
        return {"crawl": owner, "slot": int(slot), "date": date, "url": url, "size": int(size)}

    def capture(self, digest: str, date: str, url: str, size: int, revisit_size: int = 300) -> bool:
        """Write a record as the crawler does; whether it became a revisit."""
        original = self.lookup(digest)
        counts = f"h:{self.crawl}:counts"
        self.redis.hincrby(counts, "totalUrls", 1)
        if original and original["size"]:
            self.redis.hincrby(counts, "dupeUrls", 1)
            self.redis.hincrby(counts, "conservedSize", max(0, original["size"] - revisit_size))
            return True
        self.redis.hsetnx(f"h:{self.crawl}", digest, f"{self.slot} {date} {url} {size}")
        return False

    def finish_wacz(self, name: str, digest: str, size: int) -> None:
        self.redis.lset(
            f"c:{self.crawl}:wacz",
            self.slot,
            json.dumps({"filename": name, "hash": digest, "size": size}),
        )
        self.redis.hincrby(f"h:{self.crawl}:counts", "totalCrawlSize", size)


def commit(client: Any, crawl: str) -> None:
    """`indexer --commitCrawlId`."""
    if not client.sismember("uncommittedcrawls", crawl):
        return
    for digest in client.hkeys(f"h:{crawl}"):
        client.hsetnx("alldupes", digest, crawl)
    for entry in client.lrange(f"c:{crawl}:wacz", 0, -1):
        client.sadd("src:d", json.loads(entry)["filename"])
    if not client.smove("uncommittedcrawls", "allcrawls", crawl):
        return
    for name, value in client.hgetall(f"h:{crawl}:counts").items():
        client.hincrby("allcounts", name, int(value))


def undocumented(client: Any) -> list[str]:
    """Keys that Browsertrix does not know, beside those under our own prefix."""
    return [
        key
        for key in client.scan_iter()
        if key not in DOCUMENTED and not key.startswith(("h:", "c:", "rev:", "noremove:", "ccrawl:"))
    ]
