"""What the dedupe index holds and tells, the same for every store.

    Key        a digest as the stores compare it: one byte for the algorithm, then the digest's raw bytes;
               for what rules have normalised (--dedup-normalize) a byte of its own and the name of the rules
    Entry      a first copy on its way into the index (EntryTuple where there are millions)
    Original   a first copy that was found in it
    Package    a file that a crawl's records lie in (a WACZ, a WARC, a CDX), Browsertrix's "wacz" slot
    Counts     Browsertrix's four counters of a crawl
    Crawl      one committed or open crawl; a run of ours is a crawl
    Stats      sums over the committed crawls

Two algorithms never make equal keys: the first byte differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import NamedTuple, Protocol

from ccrawl.archives import Digest
from ccrawl.archives.digests import empty_value
from ccrawl.errors import CcrawlError, UsageError

Key = bytes

# First byte of a key. Numbers are stored: never change one.
ALGORITHMS = {"md5": 1, "sha1": 2, "sha224": 3, "sha256": 4, "sha384": 5, "sha512": 6}
# First byte of the key of a normalised payload: RULES_BYTES that name the rules follow, then SHA-256.
NORMALISED_KEY = 7
RULES_BYTES = 8
_NORMALISED = "norm-"
_TAGS = {name: bytes([number]) for name, number in ALGORITHMS.items()}
_NAMES = {number: name for name, number in ALGORITHMS.items()}

# Redundant copies below this many bytes are not worth a record of their own: what a revisit costs
# (Browsertrix's import counts the bytes above it).
REVISIT_COST = 1000

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_EMPTY = frozenset(tag + empty_value(name) for name, tag in _TAGS.items())


class IndexFailure(CcrawlError):
    """The index can't be opened, is locked, or holds something else than expected."""


def key_of(digest: Digest) -> Key:
    """The key of a digest."""
    return _TAGS[digest.algorithm] + digest.value


def normalised_key(rules: bytes, value: bytes) -> Key:
    """The key of a payload under rules that RULES_BYTES name; `value` is the SHA-256 of what they leave."""
    return bytes([NORMALISED_KEY]) + rules + value


def kind_of_rules(rules: bytes) -> str:
    """The name of that kind of digest, where those of algorithms stand: norm-0123456789abcdef."""
    return _NORMALISED + rules.hex()


def kind_of(key: Key) -> str:
    """The algorithm of a key, or the name of the rules that it stands under."""
    if key[0] == NORMALISED_KEY:
        return kind_of_rules(key[1 : 1 + RULES_BYTES])
    return _NAMES[key[0]]


def is_empty_payload(key: Key) -> bool:
    """Whether this is the digest of zero bytes, which is no duplicate of anything."""
    return key in _EMPTY


class Entry(NamedTuple):
    """A first copy.

    date: 14 digits, or 17 with milliseconds; "" when the archive had none
    size: bytes of the record in its archive, at least 1
    """

    key: Key
    date: str
    url: str
    size: int


# What entries are where there are millions: a NamedTuple costs twice as much to make.
EntryTuple = tuple[Key, str, str, int]


class Original(NamedTuple):
    """Where the first copy of a payload is: crawl, and the package of it by position."""

    crawl: str
    package: int
    date: str
    url: str
    size: int


# A record that says "same payload as an earlier one": key, and the bytes of the revisit.
RevisitTuple = tuple[Key, int]


@dataclass(frozen=True, slots=True)
class Package:
    """A file with records. hash: SHA-256 of the file in hex; size: bytes; each None when not known."""

    filename: str
    hash: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """A crawl's counters: captures in all, those that were duplicates, bytes that these did not cost again
    (record lengths), bytes of its files."""

    total: int = 0
    duplicates: int = 0
    conserved: int = 0
    size: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.total + other.total,
            self.duplicates + other.duplicates,
            self.conserved + other.conserved,
            self.size + other.size,
        )

    def check(self) -> Counts:
        """Itself. AssertionError when more duplicates than captures were counted."""
        assert 0 <= self.duplicates <= self.total, self
        return self


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl of the index.

    state: committed; open (a run in progress or interrupted); staged (finished, not committed)
    owned: payloads whose first copy is this crawl's; redundant: further copies. None where the store keeps
    them only for all crawls together
    """

    id: str
    state: str
    counts: Counts = field(default_factory=Counts)
    owned: int | None = None
    redundant: int | None = None
    packages: tuple[Package, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """total = unique + duplicates + redundant, where the committed crawls are ours or imported by us."""

    crawls: int
    unfinished: int
    unique: int
    redundant: int
    counts: Counts


class View(Protocol):
    """What one run sees: what was committed before it began, however long it takes. Not shared between
    processes: each opens its own."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Algorithms, and names of rules (`kind_of_rules`), under which there is anything to find."""
        ...

    def find(self, keys: Sequence[Key]) -> list[Original | None]:
        """The original of each key, None where there is none. IndexFailure when the store can't be asked."""
        ...

    def close(self) -> None: ...


class DedupIndex(Protocol):
    """A store of first copies. Every method is safe against other processes that use the same store.

    location: where it is, without a password
    algorithm: what payloads are hashed with for it
    """

    location: str
    algorithm: str

    def begin(self, run: str) -> str:
        """Open a run, or find it open; returns a token that changes when the run is begun anew.
        UsageError when a crawl of this id is committed."""
        ...

    def view(self, run: str) -> View:
        """What the open run sees. IndexFailure when it isn't open."""
        ...

    def stage(self, run: str, entries: Iterable[EntryTuple], counts: Counts) -> None:
        """Put down all that an open run has found, in the order in which first copies win. Replaces what was
        staged before."""
        ...

    def commit(self, run: str) -> Crawl:
        """Make a staged run visible to runs that begin from now on. Done twice it is done once."""
        ...

    def cancel(self, run: str) -> bool:
        """Drop an open or staged run; False when there is none. UsageError when it is committed."""
        ...

    def known_packages(self, filenames: Iterable[str]) -> set[str]:
        """Those of the names that a package has which was imported or belongs to a committed crawl."""
        ...

    def add_package(
        self,
        crawl: str,
        package: Package,
        entries: Iterable[EntryTuple],
        revisits: Iterable[RevisitTuple] = (),
    ) -> None:
        """Add a package's records to a committed crawl (made if missing): all or nothing, and once, however
        often it is called. Both iterables come sorted by key, the first copy first."""
        ...

    def remove(self, crawls: Sequence[str], *, force: bool = False) -> None:
        """Take committed crawls out; what another crawl holds too becomes that one's. UsageError for an
        unknown id, and, without `force`, where an open run would notice (Redis keeps no view for it)."""
        ...

    def crawls(self) -> list[Crawl]: ...

    def stats(self) -> Stats: ...

    def verify(self) -> list[str]:
        """Recount everything; what does not add up, a line each."""
        ...

    def compact(self) -> None:
        """Give back space, and remove what interrupted commands left."""
        ...

    def close(self) -> None: ...
    def __enter__(self) -> DedupIndex: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def check_run_id(run: str) -> str:
    """`run` when it can name a run: UsageError otherwise."""
    if not _RUN_ID.fullmatch(run):
        raise UsageError(
            f"{run!r} can't name a run: use letters, digits, '.', '_' and '-', "
            "and begin with a letter or digit"
        )
    return run


def date_digits(date: datetime | None) -> str:
    """A date as the index writes it: 17 digits when there are milliseconds, else 14."""
    if date is None:
        return ""
    if date.year < 1000:  # a broken date; the stores have 14 digits that begin with the year
        return ""
    digits = date.strftime("%Y%m%d%H%M%S")
    return f"{digits}{date.microsecond // 1000:03d}" if date.microsecond >= 1000 else digits
