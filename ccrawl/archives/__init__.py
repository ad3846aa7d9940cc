"""Web archives: sources, records, captures.

    find_sources(arguments) -> list[Source]      paths, directories, globs; sorted
    read_captures(source, options=, tally=)      iterator of Capture, the pages of a source
    CaptureOptions, Tally, Damage                what is wanted, what was met, what was broken

A source is read as: window (bytes by offset) -> members (compression) -> framing (records) -> captures.
"""

from ccrawl.archives.captures import MAX_PAGE_BYTES, Capture, CaptureOptions, NotHtml, Tally, read_captures
from ccrawl.archives.codings import UnsupportedCoding
from ccrawl.archives.digests import Digest, digest_of, parse_digest
from ccrawl.archives.framing import Damage
from ccrawl.archives.sources import Source, find_sources

__all__ = [
    "MAX_PAGE_BYTES",
    "Capture",
    "CaptureOptions",
    "Damage",
    "Digest",
    "NotHtml",
    "Source",
    "Tally",
    "UnsupportedCoding",
    "digest_of",
    "find_sources",
    "parse_digest",
    "read_captures",
]
