"""The embedded store's RocksDB: options, layout of keys and values, and writes that are all or nothing.

    e KEY            the first copy of a payload: `pack`ed place
    m next           number that the next committed crawl gets
    o KEY NUMBER     a further copy, of the crawl with that number: `pack`ed place
    p FILENAME       a package that was taken in: its crawl's id
    r CRAWL          a committed crawl: JSON, see `CrawlRecord`
    v KEY            revisits whose original is not known yet: JSON, crawl number -> sizes

A change is written into sorted table files beside the store, and those are ingested in one step: RocksDB
adds all of them to its manifest or none, whatever their size, and memory stays that of the tables' buffers.
RocksDB rather than LMDB: with 2 million random SHA-1 keys, inserted in batches of 100,000, LMDB took 320
bytes an entry beside the URL (137 with fixed-size duplicates and the URLs in a file of their own), RocksDB
less than the URL itself, which compresses; look-ups are slower (5 us against 2 us) and still far below 1 % of
what a page costs.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    IngestExternalFileOptions,
    Options,
    Rdict,
    SstFileWriter,
)

from ccrawl.index.types import NORMALISED_KEY, RULES_BYTES, Counts, Crawl, Key, Package

# Block cache of an open store. Filters and table indexes live in it too, so it bounds a worker's memory.
CACHE = 64 << 20
# A table file is closed at this size.
TABLE = 128 << 20

_PLACE = struct.Struct(">IIQI")
_pack = _PLACE.pack
_MAX_SIZE = 0xFFFFFFFF
_URL = _PLACE.size

NEXT = b"m next"


class Place(NamedTuple):
    """Where a copy is: number of the crawl, position of the package in it, date, URL, record size."""

    number: int
    package: int
    date: str
    url: str
    size: int


def pack(number: int, package: int, date: str, url: str, size: int) -> bytes:
    """The stored value of a place."""
    digits = int(date) if date and date[0] != "0" else 0  # no web before the year 1000
    return _pack(number, package, digits, size if size < _MAX_SIZE else _MAX_SIZE) + url.encode(
        "utf-8", "surrogatepass"
    )


def unpack(value: bytes) -> Place:
    """The place that a stored value describes."""
    return Place(*unpack_plain(value))


def unpack_plain(value: bytes) -> tuple[int, int, str, str, int]:
    """`unpack` without the names, for the look-ups of a run."""
    number, package, digits, size = _PLACE.unpack_from(value)
    date = str(digits) if digits else ""
    return number, package, date, value[_URL:].decode("utf-8", "surrogatepass"), size


def number_of(value: bytes) -> int:
    """The crawl number of a stored place."""
    return int.from_bytes(value[:4], "big")


@dataclass(slots=True)
class CrawlRecord:
    """A committed crawl as stored. `number` counts commits: the lower one was there first."""

    number: int
    counts: Counts
    owned: int = 0
    redundant: int = 0
    packages: tuple[Package, ...] = ()

    def as_crawl(self, crawl: str) -> Crawl:
        return Crawl(crawl, "committed", self.counts, self.owned, self.redundant, self.packages)

    def to_json(self) -> bytes:
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False).encode("utf-8", "surrogatepass")

    @staticmethod
    def from_json(text: bytes) -> CrawlRecord:
        """ValueError when this is no record."""
        try:
            values = json.loads(text)
            values["counts"] = Counts(**values["counts"])
            values["packages"] = tuple(Package(**package) for package in values["packages"])
            return CrawlRecord(**values)
        except (TypeError, KeyError, RecursionError) as error:
            raise ValueError(f"no record of a crawl: {error}") from error


def options() -> Options:
    """Options of the store and of its table files."""
    blocks = BlockBasedOptions()
    blocks.set_bloom_filter(10, False)
    blocks.set_block_size(8 << 10)
    blocks.set_format_version(5)
    blocks.set_block_cache(Cache(CACHE))
    # Indexes and filters in blocks of their own: a table's whole filter (1.2 MB for a million keys) is larger
    # than a shard of the cache, and would be read again for each look-up (100 us instead of 5).
    blocks.set_index_type(BlockBasedIndexType.two_level_index_search())
    blocks.set_partition_filters(True)
    blocks.set_metadata_block_size(8 << 10)
    blocks.set_pin_top_level_index_and_filter(True)
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    found = Options(raw_mode=True)
    found.create_if_missing(True)
    found.set_block_based_table_factory(blocks)
    found.set_compression_type(DBCompressionType.lz4())
    found.set_max_background_jobs(2)
    found.set_keep_log_file_num(1)
    found.set_max_open_files(512)
    found.set_target_file_size_base(64 << 20)
    return found


def open_store(path: Path, *, read_only: bool) -> Rdict:
    """Open a store; a missing one is made unless `read_only`."""
    access = AccessType.read_only(False) if read_only else AccessType.read_write()
    chosen = options()
    # Named for the column family too: a read-only store takes the defaults, without filters, otherwise.
    return Rdict(str(path), chosen, {"default": chosen}, access)


def scan(store: Rdict, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values under a prefix, in order, from `start` on. As the store's calls do, it raises a bare
    Exception where the store can't be read."""
    iterator = store.iter()
    iterator.seek(prefix if start is None else start)
    while iterator.valid():
        key = iterator.key()
        if not key.startswith(prefix):
            return
        yield key, iterator.value()
        iterator.next()
    iterator.status()  # the end, or a block that can't be read


def many(store: Rdict, prefix: bytes, keys: Iterable[Key]) -> list[bytes | None]:
    """The values of keys under a prefix. One call a key: rocksdict's call for a list costs 5 us for each key
    that the filters refuse, this one 1 us."""
    get = store.get
    return [get(prefix + key) for key in keys]


def kinds(store: Rdict) -> Iterator[Key]:
    """A key of each algorithm, and of each set of rules, that there are first copies under."""
    start = b"e"
    while (found := next(scan(store, b"e", start), None)) is not None:
        key = found[0][1:]
        yield key
        kind = key[: 1 + RULES_BYTES] if key[0] == NORMALISED_KEY else key[:1]
        start = b"e" + (int.from_bytes(kind) + 1).to_bytes(len(kind))


def crawl_records(store: Rdict) -> dict[str, CrawlRecord]:
    """The committed crawls, in the order of their ids."""
    return {
        key[1:].decode("utf-8", "surrogatepass"): CrawlRecord.from_json(value)
        for key, value in scan(store, b"r")
    }


def crawl_record(store: Rdict, crawl: str) -> CrawlRecord | None:
    """A committed crawl; None for one that isn't."""
    value = store.get(record_key(crawl))
    return None if value is None else CrawlRecord.from_json(value)


def record_key(crawl: str) -> bytes:
    return b"r" + crawl.encode("utf-8", "surrogatepass")


def package_key(filename: str) -> bytes:
    return b"p" + filename.encode("utf-8", "surrogatepass")


def other_key(key: Key, number: int) -> bytes:
    return b"o" + key + number.to_bytes(4, "big")


class Change:
    """A change under way. First copies and further copies go to table files as they come, in key order within
    each kind; all else is few and kept until `apply`."""

    def __init__(self, store: Rdict, scratch: Path) -> None:
        self._store = store
        self._scratch = scratch
        self._files: list[str] = []
        self._open: dict[bytes, Any] = {}
        self._small: dict[bytes, bytes | None] = {}

    def put(self, key: bytes, value: bytes) -> None:
        """A first or a further copy."""
        self._writer(key[:1])[key] = value

    def put_all(self, kind: bytes, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Copies of one kind, first or further: a thousand of them cost half of what they do one by one."""
        if not rows:
            return
        writer = self._writer(kind)
        for key, value in rows:
            writer[key] = value

    def delete(self, key: bytes) -> None:
        """A first or a further copy that goes."""
        del self._writer(key[:1])[key]

    def set(self, key: bytes, value: bytes | None) -> None:
        """Anything else; None deletes."""
        self._small[key] = value

    def apply(self) -> None:
        """Make the change: after this it is there, durably; before, nothing of it."""
        for key in sorted(self._small):
            value = self._small[key]
            if value is None:
                del self._writer(key[:1])[key]
            else:
                self._writer(key[:1])[key] = value
        for kind in list(self._open):
            self._close(kind)
        if self._files:
            ingest = IngestExternalFileOptions()
            ingest.set_move_files(True)
            self._store.ingest_external_file(self._files, ingest)

    def _writer(self, kind: bytes) -> Any:
        writer = self._open.get(kind)
        if writer is not None and writer.file_size() > TABLE:
            self._close(kind)
            writer = None
        if writer is None:
            path = self._scratch / f"{len(self._files):06d}.sst"
            writer = SstFileWriter(options())
            writer.open(str(path))
            self._files.append(str(path))
            self._open[kind] = writer
        return writer

    def _close(self, kind: bytes) -> None:
        self._open.pop(kind).finish()
