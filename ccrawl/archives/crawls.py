"""Shards of a Common Crawl crawl by number, from its list of paths."""

from __future__ import annotations

import re
import zlib

from ccrawl.archives.names import resolve
from ccrawl.archives.sources import Source
from ccrawl.errors import SourceError, UsageError

BASE_URL = "https://data.commoncrawl.org"
MAX_PATHS = 64 << 20
_CRAWL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")


def crawl_sources(
    crawl: str, shards: str, *, kind: str = "warc", base_url: str = BASE_URL, cache: str = ""
) -> list[Source]:
    """The shards of `crawl` that `shards` asks for, in order, each with its number.

    shards: "all", or numbers and ranges such as "0-9,20"; kind: warc, wet or wat; base_url: a URL, an s3
    prefix or a directory that mirrors Common Crawl's layout (crawl-data/ID/KIND.paths.gz). Raises UsageError
    for a number that the crawl doesn't have, SourceError when the list can't be read.
    """
    if not _CRAWL.match(crawl):
        raise UsageError(f"{crawl!r} is no name of a crawl, such as CC-MAIN-2024-10")
    if kind not in ("warc", "wet", "wat"):
        raise UsageError(f"{kind!r}: the kinds of shards are warc, wet and wat")
    paths = read_paths(f"{base_url.rstrip('/')}/crawl-data/{crawl}/{kind}.paths.gz")
    return [
        Source(paths[number], resolve(base_url, paths[number]), number=number, cache=cache)
        for number in parse_shards(shards, len(paths))
    ]


def read_paths(path: str) -> list[str]:
    """The lines of a list of paths, gzip or plain. SourceError when it is missing, damaged or empty."""
    from ccrawl.archives.opening import read_small

    content = read_small(path, MAX_PATHS)
    if content.startswith(b"\x1f\x8b"):
        inflater = zlib.decompressobj(31)
        try:
            content = inflater.decompress(content, MAX_PATHS)
        except zlib.error as error:
            raise SourceError(f"{path}: damaged gzip: {error}") from error
        if not inflater.eof:
            raise SourceError(f"{path}: the list is cut, or decodes to more than {MAX_PATHS} bytes")
    paths = [line.strip() for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
    if not paths:
        raise SourceError(f"{path}: the list of shards is empty")
    return paths


def parse_shards(shards: str, count: int) -> list[int]:
    """Numbers below `count` that a list such as "0-9,20" or "all" names, ascending, each once."""
    if shards.strip().lower() == "all":
        return list(range(count))
    numbers: set[int] = set()
    for part in shards.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.strip().isdecimal() and (not dash or last.strip().isdecimal())):
            raise UsageError(
                f"--shards {shards!r}: {part.strip()!r} is neither a number nor a range such as 0-9"
            )
        low, high = int(first), int(last) if dash else int(first)
        if low > high:
            raise UsageError(f"--shards {shards!r}: the range {part.strip()!r} runs backwards")
        if high >= count:
            raise UsageError(f"--shards {shards!r}: there is no shard {high}; the crawl has 0 to {count - 1}")
        numbers.update(range(low, high + 1))
    return sorted(numbers)
