"""Keys and values of the Redis index: Browsertrix Crawler's layout, and what we keep beside it.

Browsertrix's keys (its state.ts, 1.14):

    h:CRAWL            hash     digest -> "SLOT DATE URL SIZE"
    h:CRAWL:counts     hash     totalUrls, dupeUrls, conservedSize, totalCrawlSize
    c:CRAWL:wacz       list     {"filename", "hash", "size"}; the position is the SLOT
    uncommittedcrawls  set      crawls in progress
    allcrawls          set      committed crawls
    canceledcrawls     set      committed crawls marked for removal
    alldupes           hash     digest -> crawl of the first copy
    allcounts          hash     sums of the counters, estimatedRedundantSize, redundantUrls
    src:d              set      names of the files taken in
    rev:DIGEST:s|c     hash     crawl -> bytes and number of revisits whose original is not known yet

A digest is bare lower-case SHA-256 hex. Ours, which Browsertrix does not look at:

    ccrawl:h:CRAWL     hash     as h:CRAWL, for normalised payloads: RULES:DIGEST -> "SLOT DATE URL SIZE"
    ccrawl:alldupes    hash     as alldupes, for those
    ccrawl:rules       set      names of the rule sets that digests stand under
    ccrawl:lock        string   held by whoever commits, imports, cancels or removes
    ccrawl:runs        hash     open run -> token
    ccrawl:sees:RUN    hash     crawl -> how many slots it had when the run began
    ccrawl:staged      set      open runs whose data is complete
    ccrawl:merging     string   JSON, the `Merge` under way: whoever locks next finishes it
    ccrawl:revisits    hash     digest -> JSON sizes, the revisits of that merge
    ccrawl:removing    set      crawls being taken out: whoever locks next finishes it
    ccrawl:order       hash     crawl -> number of its commit
    ccrawl:commits     string   the last of those numbers
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import cast
from urllib.parse import quote

from ccrawl.index.types import (
    ALGORITHMS,
    NORMALISED_KEY,
    RULES_BYTES,
    Counts,
    EntryTuple,
    Key,
    Package,
)

ALL_CRAWLS, ALL_COUNTS = "allcrawls", "allcounts"
UNCOMMITTED, CANCELED, DONE = "uncommittedcrawls", "canceledcrawls", "src:d"
LOCK, RUNS, STAGED = "ccrawl:lock", "ccrawl:runs", "ccrawl:staged"
MERGING, REVISITS, REMOVING = "ccrawl:merging", "ccrawl:revisits", "ccrawl:removing"
ORDER, COMMITS = "ccrawl:order", "ccrawl:commits"
RULES = "ccrawl:rules"

_SHA256 = ALGORITHMS["sha256"]
_BLANK = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")
# What stands for a date that isn't known: Browsertrix pads what is missing to this.
_NO_DATE = "00000101000000"

_COUNTERS = {
    "total": "totalUrls",
    "duplicates": "dupeUrls",
    "conserved": "conservedSize",
    "size": "totalCrawlSize",
}


@dataclass(frozen=True, slots=True)
class Space:
    """The keys for one sort of digest. owners: the hash of digests to the crawl of their first copy"""

    owners: str
    prefix: str

    def hashes(self, crawl: str) -> str:
        """The hash of a crawl's first copies."""
        return f"{self.prefix}{crawl}"


PAYLOADS = Space("alldupes", "h:")
# Digests that no crawler computes stand where none looks for a payload's.
NORMALISED = Space("ccrawl:alldupes", "ccrawl:h:")
SPACES = (PAYLOADS, NORMALISED)


def counters(crawl: str) -> str:
    return f"h:{crawl}:counts"


def slots(crawl: str) -> str:
    return f"c:{crawl}:wacz"


def sees(run: str) -> str:
    return f"ccrawl:sees:{run}"


def space_of(key: Key) -> Space | None:
    """Where a key's digest stands; None for an algorithm that the layout has no place for."""
    if key[0] == _SHA256:
        return PAYLOADS
    return NORMALISED if key[0] == NORMALISED_KEY else None


def by_space(keys: Sequence[Key]) -> list[tuple[Space, list[int]]]:
    """Where keys stand that have a place: each space with the positions of its keys, in order."""
    kinds = bytes([key[0] for key in keys])
    if kinds.count(_SHA256) == len(keys):
        return [(PAYLOADS, list(range(len(keys))))] if keys else []
    places: dict[Space, list[int]] = {}
    for at, key in enumerate(keys):
        space = space_of(key)
        if space is not None:
            places.setdefault(space, []).append(at)
    return list(places.items())


def field_of(key: Key) -> str:
    """The field for a key that has a space."""
    if key[0] == _SHA256:
        return key[1:].hex()
    return f"{key[1 : 1 + RULES_BYTES].hex()}:{key[1 + RULES_BYTES :].hex()}"


def fields_of(space: Space, keys: Sequence[Key]) -> list[str]:
    """`field_of` for keys of one space."""
    if space is PAYLOADS:
        return [key.hex()[2:] for key in keys]
    return [field_of(key) for key in keys]


@dataclass(frozen=True, slots=True)
class Value:
    """A field's value, readable and usable."""

    slot: int
    date: str
    url: str
    size: int


def write_values(slot: int, entries: Sequence[EntryTuple]) -> list[str]:
    """`SLOT DATE URL SIZE` of each, with blanks in the URL as %20: readers split at blanks."""
    urls = "".join([url for _, _, url, _ in entries])
    if not urls.isprintable() or " " in urls:  # looked through in one go: it is seldom so
        entries = [(key, date, _without_blanks(url), size) for key, date, url, size in entries]
    return [f"{slot} {date or _NO_DATE} {url} {size if size > 0 else 1}" for _, date, url, size in entries]


def _without_blanks(url: str) -> str:
    return _BLANK.sub(lambda found: quote(found[0], errors="surrogatepass"), url)


def read_value(text: str | None) -> Value | None:
    """None for what is missing, malformed or of size 0: Browsertrix takes those as no duplicate, too."""
    plain = read_plain(text)
    return None if plain is None else Value(*plain)


def read_plain(text: str | None) -> tuple[int, str, str, int] | None:
    """`read_value` without the names, for the look-ups of a run."""
    if not text:
        return None
    parts = text.split(" ")
    if len(parts) < 4:
        return None
    slot, date, size = parts[0], parts[1], parts[-1]
    if not (slot.isdecimal() and date.isdecimal() and size.isdecimal()):
        return None
    length = int(size)
    url = parts[2] if len(parts) == 4 else " ".join(parts[2:-1])
    if length <= 0 or not url:
        return None
    dated = date[0] != "0" and len(date) in (14, 17)
    return int(slot), date if dated else "", url, length


def read_plains(texts: Sequence[str | None]) -> list[tuple[int, str, str, int] | None]:
    """`read_plain` for many texts: column by column, at half the cost, where all are as we write them."""
    if texts and None not in texts:
        return _read_columns(cast("Sequence[str]", texts)) or [read_plain(text) for text in texts]
    return [read_plain(text) for text in texts]


def _read_columns(texts: Sequence[str]) -> list[tuple[int, str, str, int] | None]:
    """The values, empty when one of them needs a closer look."""
    if set(map(str.count, texts, repeat(" "))) != {3}:
        return []
    joined = " ".join(texts)
    parts = joined.split(" ")
    slots, dates, urls, sizes = parts[::4], parts[1::4], parts[2::4], parts[3::4]
    if "  " in joined or "" in (parts[0], parts[-1]):
        return []
    if not ("".join(slots).isdecimal() and "".join(dates).isdecimal() and "".join(sizes).isdecimal()):
        return []
    lengths = list(map(int, sizes))
    dated = min(dates)[0] != "0" and set(map(len, dates)) <= {14, 17}
    return list(zip(map(int, slots), dates, urls, lengths, strict=True)) if dated and min(lengths) else []


def counts_fields(counts: Counts) -> dict[str, int]:
    """Counts as the four fields."""
    return {name: getattr(counts, field) for field, name in _COUNTERS.items()}


def read_counts(fields: dict[str, str]) -> Counts:
    """Counts from a counters hash; fields that are missing or no number are 0."""
    values = {}
    for field, name in _COUNTERS.items():
        text = fields.get(name, "0")
        values[field] = int(text) if text.lstrip("-").isdecimal() else 0
    return Counts(**values)


def write_package(package: Package) -> str:
    """A slot's JSON; what is not known is left out."""
    return json.dumps(
        {name: value for name, value in dataclasses.asdict(package).items() if value is not None}
    )


def read_package(text: str) -> Package | None:
    """A slot's package, None when the JSON isn't one."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("filename"), str):
        return None
    size = found.get("size")
    return Package(found["filename"], found.get("hash"), size if isinstance(size, int) else None)


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge under way, with all that another process needs to finish it.

    slot, package: None for a run's commit
    copies: lines of the package that are no revisits; large, large_bytes: of those, the ones longer than
    REVISIT_COST, and their bytes above it
    """

    crawl: str
    slot: int | None = None
    package: Package | None = None
    copies: int = 0
    revisits: int = 0
    large: int = 0
    large_bytes: int = 0

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> Merge:
        values = json.loads(text)
        if values["package"] is not None:
            values["package"] = Package(**values["package"])
        return Merge(**values)
