"""A file's key-value metadata: what made it and what it holds; nothing that differs between runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ccrawl import __version__
from ccrawl.dataset.ledger import Counts
from ccrawl.html.extractors import get_extractor
from ccrawl.text import simhash


def footer(
    source: str, crawl: str, extractor: str, options: Mapping[str, Any], counts: Counts, names: Iterable[str]
) -> dict[str, str]:
    """The metadata of a shard's file. options: the manifest's; names: those of `counts` that go into it."""
    return {
        "ccrawl.version": __version__,
        "ccrawl.extractor": get_extractor(extractor).label,
        "ccrawl.simhash": simhash.DEFINITION,
        "ccrawl.source": source,
        "ccrawl.crawl": crawl,
        "ccrawl.options": _json(options),
        "ccrawl.counts": _json({name: getattr(counts, name) for name in names}),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
