"""What the whole crawl would give, judged by the shards that are done."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ccrawl.dataset.card.facts import Facts
from ccrawl.dataset.ledger import ShardEntry
from ccrawl.errors import UsageError

_QUANTITIES: tuple[tuple[str, Callable[[ShardEntry], int]], ...] = (
    ("pages", lambda shard: shard.counts.pages),
    ("rows", lambda shard: shard.counts.rows),
    ("html_bytes", lambda shard: shard.counts.html_bytes),
    ("markdown_bytes", lambda shard: shard.counts.markdown_bytes),
    ("file_bytes", lambda shard: shard.file_bytes),
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A total over all shards. margin: two standard errors, None when there is but one shard to judge by."""

    name: str
    total: int
    margin: int | None


def estimate(facts: Facts, shards: int) -> tuple[Estimate, ...]:
    """Totals for a crawl of `shards` shards.

    The mean of a shard times their number; the standard error is that of a sample without replacement
    (Cochran, Sampling Techniques, 1977, section 2.9). It holds for shards picked at random, and a crawl's
    shards are filled at random by the crawler. Raises UsageError when there is nothing to scale.
    """
    done = facts.shards
    if not done:
        raise UsageError("--estimate-total: no shard is done, so there is nothing to scale")
    if shards < done:
        raise UsageError(f"--estimate-total {shards}: the dataset has {done} shards already")
    estimates = []
    for name, value in _QUANTITIES:
        values = [value(shard) for shard in facts.manifest.shards]
        mean = sum(values) / done
        margin = None
        if done > 1:
            variance = sum((one - mean) ** 2 for one in values) / (done - 1)
            margin = round(2 * shards * math.sqrt(variance / done * (1 - done / shards)))
        estimates.append(Estimate(name, round(mean * shards), margin))
    return tuple(estimates)
