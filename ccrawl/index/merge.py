"""Merging into the embedded store, and taking out: what a commit, an import and a removal do to its keys.

Everything is one pass in key order, in bounded memory, into one `Change`.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter

from rocksdict import Rdict

from ccrawl.index.tables import (
    NEXT,
    Change,
    CrawlRecord,
    crawl_record,
    crawl_records,
    many,
    number_of,
    other_key,
    pack,
    package_key,
    record_key,
    scan,
    unpack,
)
from ccrawl.index.types import Counts, EntryTuple, Package, RevisitTuple

# Payloads that are looked up in one call.
_GROUP = 1000
_by_key = itemgetter(0)

# The copies of one payload: its first copy (None when there are only revisits), how many there are in
# all, the sizes of its revisits.
_Payload = tuple[bytes, EntryTuple | None, int, Sequence[int]]
_NO_REVISITS: tuple[int, ...] = ()


def merge(
    store: Rdict,
    change: Change,
    crawl: str,
    package: Package | None,
    entries: Iterable[EntryTuple],
    revisits: Iterable[RevisitTuple],
    counts: Counts | None,
) -> CrawlRecord:
    """Add copies to a crawl, which is made when it isn't there; returns its record as `change` leaves it.

    `counts` are the crawl's own where it counted them itself; else they are counted here.
    """
    pending = next(scan(store, b"v"), None) is not None
    records = crawl_records(store) if pending else {}  # there may be many, and few imports need them
    record = records.get(crawl) or crawl_record(store, crawl)
    if record is None:
        following = int(store.get(NEXT) or b"1")
        record = CrawlRecord(following, Counts())
        change.set(NEXT, b"%d" % (following + 1))
    position = len(record.packages)
    numbers = {known.number: known for known in records.values()} | {record.number: record}
    settled: set[int] = set()
    total = duplicates = conserved = 0
    payloads = _payloads(entries, revisits)
    while group := list(islice(payloads, _GROUP)):
        known = many(store, b"e", [payload[0] for payload in group])
        waiting = many(store, b"v", [payload[0] for payload in group]) if pending else [None] * len(group)
        new: list[tuple[bytes, bytes]] = []
        for (key, first, copies, sizes), value, unsettled in zip(group, known, waiting, strict=True):
            total += copies + len(sizes)
            duplicates += len(sizes)
            record.redundant += copies
            if first is not None:
                place = pack(record.number, position, first[1], first[2], first[3])
                if value is None:
                    value = place
                    new.append((b"e" + key, place))
                    if unsettled is not None:
                        for number, earlier in json.loads(unsettled).items():
                            if (owner := numbers.get(int(number))) is not None:
                                settled.add(owner.number)
                                owner.counts += Counts(conserved=_conserved(first[3], earlier))
                        change.set(b"v" + key, None)
                        unsettled = None
                elif number_of(value) != record.number:
                    other = other_key(key, record.number)
                    if store.get(other) is None:
                        change.put(other, place)
            if sizes:
                if value is not None:
                    conserved += _conserved(unpack(value).size, sizes)
                else:
                    by_number = json.loads(unsettled or b"{}")
                    by_number.setdefault(str(record.number), []).extend(sizes)
                    change.set(b"v" + key, json.dumps(by_number).encode())
        change.put_all(b"e", new)
        record.owned += len(new)
        record.redundant -= len(new)
    if package is not None:
        record.packages += (package,)
        change.set(package_key(package.filename), crawl.encode("utf-8", "surrogatepass"))
    record.counts += counts or Counts(
        total, duplicates, conserved, (package.size or 0) if package is not None else 0
    )
    for name, each in records.items():
        if each.number in settled:
            change.set(record_key(name), each.to_json())
    change.set(record_key(crawl), record.to_json())
    return record


def _conserved(original: int, revisits: Sequence[int]) -> int:
    return sum(max(0, original - size) for size in revisits)


def _payloads(entries: Iterable[EntryTuple], revisits: Iterable[RevisitTuple]) -> Iterator[_Payload]:
    """Copies and revisits, each sorted by key, joined by key."""
    if revisits == ():  # a run has none, and joining costs as much as all else here
        yield from _copies(entries)
        return
    both: Iterator[EntryTuple | RevisitTuple] = heapq.merge(entries, revisits, key=_by_key)
    for key, rows in groupby(both, _by_key):
        first: EntryTuple | None = None
        copies = 0
        sizes = []
        for row in rows:
            if len(row) == 2:
                sizes.append(row[1])
            else:
                copies += 1
                if first is None:
                    first = row
        yield key, first, copies, sizes


def _copies(entries: Iterable[EntryTuple]) -> Iterator[_Payload]:
    rows = iter(entries)
    first = next(rows, None)
    if first is None:
        return
    copies = 0
    key = first[0]
    for row in rows:
        copies += 1
        if row[0] != key:
            yield key, first, copies, _NO_REVISITS
            first, copies = row, 0
            key = row[0]
    yield key, first, copies + 1, _NO_REVISITS


def remove(store: Rdict, change: Change, crawls: Iterable[str]) -> None:
    """Take committed crawls out. A payload that others hold too goes to the one committed first."""
    records = crawl_records(store)
    gone = {records.pop(crawl).number: crawl for crawl in crawls}
    left = {record.number: record for record in records.values()}
    for key, value in scan(store, b"e"):
        if number_of(value) in gone:
            heirs = scan(store, b"o" + key[1:])
            heir = next((place for _, place in heirs if number_of(place) in left), None)
            if heir is None:
                change.delete(key)
            else:
                change.put(key, heir)
                left[number_of(heir)].owned += 1
                left[number_of(heir)].redundant -= 1
    for key, copies in groupby(scan(store, b"o"), lambda item: item[0][1:-4]):
        owner = store.get(b"e" + key)
        promoted = owner is not None and number_of(owner) in gone  # then its first copy left has moved to e
        for other, place in copies:
            if number_of(place) in gone:
                change.delete(other)
            elif promoted:
                change.delete(other)
                promoted = False
    for key, value in scan(store, b"v"):
        by_number = {number: sizes for number, sizes in json.loads(value).items() if int(number) not in gone}
        if len(by_number) != len(json.loads(value)):
            change.set(key, json.dumps(by_number).encode() if by_number else None)
    for key, value in scan(store, b"p"):
        if value.decode("utf-8", "surrogatepass") in gone.values():
            change.set(key, None)
    for crawl in gone.values():
        change.set(record_key(crawl), None)
    for crawl, record in records.items():
        change.set(record_key(crawl), record.to_json())


def recount(store: Rdict) -> list[str]:
    """What of the store does not add up, a line each."""
    records = crawl_records(store)
    by_number = {record.number: crawl for crawl, record in records.items()}
    owned: Counter[int] = Counter()
    wrong = []
    strangers = 0
    for _, value in scan(store, b"e"):
        owned[number_of(value)] += 1
    for key, value in scan(store, b"o"):
        number = number_of(value)
        first = store.get(b"e" + key[1:-4])
        if number not in by_number or first is None or number_of(first) == number:
            strangers += 1
    for number in owned:
        if number not in by_number:
            wrong.append(
                f"{owned[number]:,} first copies belong to crawl number {number}, which is not there"
            )
    if strangers:
        wrong.append(f"{strangers:,} further copies have no first copy, or no crawl")
    for crawl, record in records.items():
        counts = record.counts
        if record.owned != owned[record.number]:
            wrong.append(f"{crawl}: {record.owned:,} first copies recorded, {owned[record.number]:,} counted")
        if counts.total != counts.duplicates + record.owned + record.redundant:
            wrong.append(
                f"{crawl}: {counts.total:,} captures recorded, but {counts.duplicates:,} duplicates, "
                f"{record.owned:,} first copies and {record.redundant:,} further ones"
            )
    return wrong
