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
    Original,
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
_DATES = frozenset({14, 17})  # lengths of a date, without and with milliseconds
_DIGITS = 18  # of a number: the server adds 64-bit integers

_COUNTERS = {
    "total": "totalUrls",
    "duplicates": "dupeUrls",
    "conserved": "conservedSize",
    "size": "totalCrawlSize",
}


@dataclass(frozen=True, slots=True)
class Space:
    """The keys for one sort of digest. owners: the hash of digests to the crawl of their first copy; width:
    length of a field"""

    owners: str
    prefix: str
    width: int

    def hashes(self, crawl: str) -> str:
        """The hash of a crawl's first copies."""
        return f"{self.prefix}{crawl}"


PAYLOADS = Space("alldupes", "h:", 64)
# Digests that no crawler computes stand where none looks for a payload's.
NORMALISED = Space("ccrawl:alldupes", "ccrawl:h:", 2 * RULES_BYTES + 1 + 64)
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


def by_space(keys: Sequence[Key]) -> list[tuple[Space, Sequence[int]]]:
    """Where keys stand that have a place: each space with the positions of its keys, in order."""
    kinds = bytes([key[0] for key in keys])
    if kinds.count(_SHA256) == len(keys):
        return [(PAYLOADS, range(len(keys)))] if keys else []
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


def fields_of(space: Space, keys: Sequence[Key], between: str) -> str:
    """`field_of` for keys of one space, with something between two of them."""
    if space is PAYLOADS and keys:  # in one go, at a third of the cost
        return b"".join(keys).hex(",", len(keys[0])).replace(f",{_SHA256:02x}", between)[2:]
    return between.join(map(field_of, keys))


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
    if not text:
        return None
    parts = text.split(" ")
    if len(parts) < 4:
        return None
    slot, date, size = parts[0], parts[1], parts[-1]
    if not (_is_number(slot) and _is_number(size) and date.isascii() and date.isdecimal()):
        return None
    length = int(size)
    url = parts[2] if len(parts) == 4 else " ".join(parts[2:-1])
    if length <= 0 or not url:
        return None
    return Value(int(slot), date if date[0] != "0" and len(date) in _DATES else "", url, length)


def read_originals(crawl: str, slots: int, texts: Sequence[bytes | None]) -> list[Original | None]:
    """What a crawl's values say: None for one that `read_value` refuses, or of a slot from `slots` on."""
    columns = _columns(texts)
    if columns is not None and max(columns[0]) < slots:
        # One object each, made in C: a fifth of what the class's own constructor costs.
        return list(map(tuple.__new__, repeat(Original), zip(repeat(crawl), *columns)))
    values = (None if text is None else read_value(text.decode("utf-8", "surrogateescape")) for text in texts)
    return [
        None
        if value is None or value.slot >= slots
        else Original(crawl, value.slot, value.date, value.url, value.size)
        for value in values
    ]


def _columns(texts: Sequence[bytes | None]) -> tuple[list[int], list[str], list[str], list[int]] | None:
    """Slots, dates, URLs and sizes, at a quarter of what it costs to read one text after another. None when
    one of the texts is not as we write them, and needs a closer look."""
    if not texts or None in texts:
        return None
    joined = b" \n ".join(cast("Sequence[bytes]", texts)).decode("utf-8", "surrogateescape")
    parts = joined.split(" ")
    between = parts[4::5]
    # Each text is of four parts if all that is between two texts is where it then would be.
    if len(parts) != 5 * len(texts) - 1 or not (joined.count("\n") == between.count("\n") == len(between)):
        return None
    slots, dates, urls, sizes = parts[::5], parts[1::5], parts[2::5], parts[3::5]
    numbers = {slot: int(slot) for slot in set(slots) if _is_number(slot)}  # few
    widths = set(map(len, sizes))
    if "" in urls or numbers.keys() != set(slots) or not (min(widths) > 0 and max(widths) <= _DIGITS):
        return None
    digits = "".join(dates + sizes).encode("utf-8", "surrogateescape")
    if not (digits.isdigit() and _DATES.issuperset(map(len, dates)) and min(dates)[0] != "0"):
        return None
    lengths = list(map(int, sizes))
    return (list(map(numbers.__getitem__, slots)), dates, urls, lengths) if min(lengths) else None


def _is_number(text: str) -> bool:
    """Whether this is a number as we count: ASCII digits, and no more of them than the server can add to."""
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def counts_fields(counts: Counts) -> dict[str, int]:
    """Counts as the four fields."""
    return {name: getattr(counts, field) for field, name in _COUNTERS.items()}


def read_counts(fields: dict[str, str]) -> Counts:
    """Counts from a counters hash; fields that are missing or no number are 0."""
    return Counts(**{field: read_number(fields.get(name)) for field, name in _COUNTERS.items()})


def read_number(text: str | None) -> int:
    """A counter, 0 when it is missing or no number."""
    return int(text) if text and _is_number(text.removeprefix("-")) else 0


def write_package(package: Package) -> str:
    """A slot's JSON; what is not known is left out."""
    return json.dumps(
        {name: value for name, value in dataclasses.asdict(package).items() if value is not None}
    )


def read_package(text: str) -> Package | None:
    """A slot's package, None when the JSON isn't one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("filename"), str):
        return None
    digest, size = found.get("hash"), found.get("size")
    return Package(
        found["filename"],
        digest if isinstance(digest, str) else None,
        size if type(size) is int and 0 <= size < 10**_DIGITS else None,
    )


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
        """ValueError when another version, or nobody of ours, wrote it."""
        try:
            values = json.loads(text)
            if values["package"] is not None:
                values["package"] = Package(**values["package"])
            return Merge(**values)
        except (TypeError, KeyError, RecursionError) as error:
            raise ValueError(f"no merge of this version: {error}") from error
