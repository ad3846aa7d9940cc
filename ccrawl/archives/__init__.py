"""Web archives: sources, records, captures.

    find_sources(arguments) -> list[Source]            paths, directories, globs, URLs, WACZ; sorted
    crawl_sources(crawl, shards, kind=, base_url=)     shards of a Common Crawl crawl by number
    location_sources(lines, base_url=, gap= ...)       single records by filename, offset and length
    read_captures(source, options=, tally=)            iterator of Capture, the pages of a source
    CaptureOptions, Tally, Damage                      what is wanted, what was met, what was broken
    check_sources(...) -> Iterator[FileCheck]          what an archive holds and whether it is sound

A source is read as: window (bytes by offset) -> members (compression) -> stream (decoded bytes) -> framing
(records) -> captures. One direction; `reader` puts the first four together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccrawl.lazily import names_of

if TYPE_CHECKING:
    from ccrawl.archives.capture import MAX_PAGE_BYTES, Capture, CaptureOptions, NotHtml
    from ccrawl.archives.captures import Skip, Tally, read_captures
    from ccrawl.archives.codings import UnsupportedCoding
    from ccrawl.archives.crawls import BASE_URL, crawl_sources
    from ccrawl.archives.digests import Digest, digest_of, parse_digest
    from ccrawl.archives.framing import Damage
    from ccrawl.archives.locations import location_sources
    from ccrawl.archives.sources import Location, Source, find_sources

__all__ = [
    "BASE_URL",
    "MAX_PAGE_BYTES",
    "Capture",
    "CaptureOptions",
    "Damage",
    "Digest",
    "Location",
    "NotHtml",
    "Skip",
    "Source",
    "Tally",
    "UnsupportedCoding",
    "crawl_sources",
    "digest_of",
    "find_sources",
    "location_sources",
    "parse_digest",
    "read_captures",
]

__getattr__ = names_of(
    __name__,
    {
        "MAX_PAGE_BYTES": "capture",
        "Capture": "capture",
        "CaptureOptions": "capture",
        "NotHtml": "capture",
        "Skip": "captures",
        "Tally": "captures",
        "read_captures": "captures",
        "UnsupportedCoding": "codings",
        "BASE_URL": "crawls",
        "crawl_sources": "crawls",
        "Digest": "digests",
        "digest_of": "digests",
        "parse_digest": "digests",
        "Damage": "framing",
        "location_sources": "locations",
        "Location": "sources",
        "Source": "sources",
        "find_sources": "sources",
    },
)
