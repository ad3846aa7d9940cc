"""The same clusters on a Spark cluster.

    rows        each file is read by a task, as on one machine
    exact       shuffled by the leading bits of the digest: copies of a text meet in one partition, which
                chooses the
                one to keep and passes one document a text on
    near        shuffled once for each table, by the leading bits of its key, as external.py deals to files
    components  from edges that the driver collects: what it holds grows with the duplicates, not with the
                rows

Arrays travel as bytes of numpy records, a partition at a time, so that Python handles few objects. The report
is made by the code that makes it on one machine, from the rows that are in clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ccrawl.duplicates.bits import IN_PLACE, Words
from ccrawl.duplicates.documents import collect_documents
from ccrawl.duplicates.exact import exact_groups
from ccrawl.duplicates.groups import Groups, Ints, group_by_label
from ccrawl.duplicates.hamming import choose_tables, compare_all, search_table
from ccrawl.duplicates.keep import keep_first
from ccrawl.duplicates.near import near_groups, say_estimate
from ccrawl.duplicates.options import DedupOptions, Keep
from ccrawl.duplicates.report import DedupReport
from ccrawl.duplicates.rows import DIGEST_WORDS, Notice, PickedRows, SourceReader
from ccrawl.duplicates.scratch import Scratch, top_bits
from ccrawl.duplicates.sources import Source
from ccrawl.spark import Spark

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

_RECORD = np.dtype(
    [
        ("digest", np.uint64, (DIGEST_WORDS,)),
        ("length", np.int64),
        ("fingerprint", np.uint64),
        ("number", np.int64),  # of the row: among those of its file, later among all
    ]
)
_SAMPLE = 1 << 16


@dataclass(frozen=True, slots=True)
class _Rows:
    """Some rows on their way: records as bytes of _RECORD, and a URL for each."""

    records: bytes
    urls: list[bytes]

    def array(self) -> NDArray[np.void]:
        return np.frombuffer(self.records, _RECORD)


def dedup_spark(sources: Sequence[Source], options: DedupOptions, notice: Notice) -> DedupReport:
    """As `dedup`, with Spark. Raises UsageError when pyspark is not installed, SparkFailure when Spark
    does not start."""
    with Spark(options.spark_master).context("ccrawl dedup") as context:
        return _dedup(context, sources, options, notice)


def _dedup(
    context: SparkContext, sources: Sequence[Source], options: DedupOptions, notice: Notice
) -> DedupReport:
    from ccrawl.duplicates.run import Totals, make_report  # that module starts this one

    read = context.parallelize(list(enumerate(sources)), len(sources)).map(_read_file).persist(_disk())
    files = sorted(read.map(lambda file: (file[0], file[1], file[2])).collect())
    for place, _, why in files:
        if why:
            notice(f"{sources[place].name}: {why}; fingerprints computed from the text")
    starts = np.concatenate([[0], np.cumsum([rows for _, rows, _ in files])]).astype(np.int64)
    counts = read.map(_count).reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]))
    parts = _power_of_two(max(context.defaultParallelism, len(sources)))
    keep, least = options.keep, max(options.min_bytes, 1)
    kept = (
        read.flatMap(lambda file: _deal_rows(file, starts, parts))
        .groupByKey(parts)
        .mapValues(lambda batches: _choose_copies(batches, keep, least))
        .values()
        .persist(_disk())
    )
    compared = kept.map(lambda part: part[1].array().size).sum()
    pairs = _pairs(context, kept, parts, options.distance, notice)
    members, exact = _collect(context, kept, pairs)
    rows = _picked(sources, starts, members)
    with Scratch() as scratch:
        found = np.searchsorted(rows.numbers, exact.members)
        exact = keep_first(Groups(found, exact.offsets), rows, options.keep)
        documents = collect_documents(rows, _not_documents(rows, exact), options.min_bytes, scratch)
        near = near_groups(documents, [pairs], rows, options, scratch)
    recomputed = sum(number for _, number, why in files if why)
    totals = Totals(
        files=len(sources),
        rows=int(starts[-1]),
        bytes=counts[0],
        no_fingerprint=counts[1],
        recomputed=recomputed,
        compared=compared,
    )
    for cached in (read, kept):
        cached.unpersist()
    return make_report(totals, rows, exact, near, options)


def _disk() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_AND_DISK


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


_File = tuple[int, int, str, list[_Rows]]


def _read_file(numbered: tuple[int, Source]) -> _File:
    """(place of the file, rows, why fingerprints are computed anew, the rows in batches)."""
    place, source = numbered
    reader = SourceReader(source)
    batches: list[_Rows] = []
    count = 0
    for batch in reader.batches():
        records = np.empty(len(batch.length), _RECORD)
        records["digest"], records["length"] = batch.digest, batch.length
        records["fingerprint"] = batch.fingerprint
        records["number"] = np.arange(count, count + len(records))
        batches.append(_Rows(records.tobytes(), batch.urls.to_pylist()))
        count += len(records)
    return place, count, reader.why_recompute, batches


def _count(file: _File) -> tuple[int, int]:
    """(bytes of Markdown, rows without a fingerprint)."""
    arrays = [batch.array() for batch in file[3]]
    return sum(int(a["length"].sum()) for a in arrays), sum(
        int((a["fingerprint"] == 0).sum()) for a in arrays
    )


def _deal_rows(file: _File, starts: Ints, parts: int) -> Iterator[tuple[int, _Rows]]:
    """The rows with text, numbered among all rows, by the partition in which copies of their text meet."""
    for batch in file[3]:
        records = batch.array().copy()
        records["number"] += starts[file[0]]
        part = top_bits(records["digest"][:, 0], parts)
        for number in np.unique(part[records["length"] > 0]).tolist():
            chosen = np.flatnonzero((part == number) & (records["length"] > 0))
            yield number, _pick(records, batch.urls, chosen)


def _pick(records: NDArray[np.void], urls: Sequence[bytes], chosen: Ints) -> _Rows:
    return _Rows(records[chosen].tobytes(), [urls[place] for place in chosen.tolist()])


def _join(batches: Iterable[_Rows]) -> tuple[NDArray[np.void], list[bytes]]:
    """All rows of some batches, in the order of their numbers."""
    batches = list(batches)
    records = np.frombuffer(b"".join(batch.records for batch in batches), _RECORD)
    urls = [url for batch in batches for url in batch.urls]
    order = np.argsort(records["number"])
    return records[order], [urls[place] for place in order.tolist()]


def _choose_copies(batches: Iterable[_Rows], keep: Keep, min_bytes: int) -> tuple[_Rows, _Rows]:
    """(rows in exact clusters, the documents for near search: one a text) of all rows of some texts."""
    records, urls = _join(batches)
    rows = _as_rows(records, urls, (), np.zeros(1, np.int64))
    with Scratch() as scratch:
        exact = keep_first(exact_groups(rows, scratch), rows, keep)
    copies = np.ones(len(exact.members), bool)
    copies[exact.offsets[:-1]] = False
    documents = (records["length"] >= min_bytes) & (records["fingerprint"] != 0)
    documents[exact.members[copies]] = False
    return _pick(records, urls, np.sort(exact.members)), _pick(records, urls, np.flatnonzero(documents))


def _as_rows(
    records: NDArray[np.void], urls: list[bytes], files: tuple[str, ...], starts: Ints
) -> PickedRows:
    return PickedRows(
        files=files,
        starts=starts,
        digest=np.ascontiguousarray(records["digest"]),
        length=np.ascontiguousarray(records["length"]),
        fingerprint=np.ascontiguousarray(records["fingerprint"]),
        urls=pa.chunked_array([pa.array(urls, pa.large_binary())]),
        recomputed=0,
        numbers=np.ascontiguousarray(records["number"]),
    )


def _pairs(
    context: SparkContext, kept: RDD[tuple[_Rows, _Rows]], parts: int, distance: int, notice: Notice
) -> tuple[Words, Words]:
    """All pairs of fingerprints within the distance, collected."""
    words = (
        kept.flatMap(lambda part: _deal_words(part[1].array()["fingerprint"], parts))
        .groupByKey(parts)
        .mapValues(_distinct)
        .values()
        .persist(_disk())
    )
    count = words.map(lambda part: len(part) // 8).sum()
    say_estimate(count, distance, notice)
    if distance == 0 or count < 2:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    share = max(1, count // _SAMPLE)
    sample = _words(b"".join(words.map(lambda part: _words(part)[::share].tobytes()).collect()))
    masks, _ = choose_tables(sample, count, distance)
    if masks:
        found = (
            words.flatMap(lambda part: _deal_tables(part, masks, parts))
            .groupByKey(parts * 2)
            .flatMap(lambda bucket: _search(bucket[0][0], bucket[1], masks, distance))
        )
    else:
        everything = context.broadcast(np.sort(_words(b"".join(words.collect()))))
        step = -(-count // (parts * 4))
        found = context.parallelize(range(0, count, step), parts * 4).flatMap(
            lambda first: _bytes(compare_all(everything.value, distance, first, min(first + step, count)))
        )
    batches = found.collect()
    words.unpersist()
    return _words(b"".join(a for a, _ in batches)), _words(b"".join(b for _, b in batches))


def _words(content: bytes) -> Words:
    return np.frombuffer(content, np.uint64)


def _bytes(pairs: Iterable[tuple[Words, Words]]) -> Iterator[tuple[bytes, bytes]]:
    return ((a.tobytes(), b.tobytes()) for a, b in pairs)


def _deal_words(words: Words, parts: int) -> Iterator[tuple[int, bytes]]:
    part = top_bits(words, parts)
    for number in np.unique(part).tolist():
        yield number, words[part == number].tobytes()


def _distinct(batches: Iterable[bytes]) -> bytes:
    words = np.sort(_words(b"".join(batches)))
    return words[np.concatenate([[True], words[1:] != words[:-1]])].tobytes() if len(words) else b""


def _deal_tables(content: bytes, masks: list[int], parts: int) -> Iterator[tuple[tuple[int, int], bytes]]:
    """For every table the fingerprints with its key on top, by the partition in which equal keys meet."""
    for table, mask in enumerate(masks):
        moved = IN_PLACE.with_key(mask).apply(_words(content))
        for part, words in _deal_words(moved, min(parts, 1 << mask.bit_count())):
            yield (table, part), words


def _search(
    table: int, batches: Iterable[bytes], masks: list[int], distance: int
) -> Iterator[tuple[bytes, bytes]]:
    moved = np.sort(_words(b"".join(batches)))
    return _bytes(search_table(moved, masks, table, IN_PLACE.with_key(masks[table]), distance))


def _collect(
    context: SparkContext, kept: RDD[tuple[_Rows, _Rows]], pairs: tuple[Words, Words]
) -> tuple[tuple[NDArray[np.void], list[bytes]], Groups]:
    """(the rows that can be in a cluster, the exact clusters as row numbers)."""
    near = context.broadcast(np.unique(np.concatenate(pairs)))
    shared = kept.flatMap(lambda part: _deal_words(part[1].array()["fingerprint"], 1 << 8)).groupByKey()
    several = context.broadcast(_words(b"".join(shared.mapValues(_repeated).values().collect())))
    batches = kept.flatMap(
        lambda part: [part[0], _with_fingerprint(part[1], np.concatenate([near.value, several.value]))]
    ).collect()
    records, urls = _join(batches)
    first = np.flatnonzero(np.concatenate([[True], records["number"][1:] != records["number"][:-1]]))[
        : len(urls)
    ]
    records, urls = records[first], [urls[place] for place in first.tolist()]  # the kept copy came twice
    _, labels = np.unique(records["digest"], axis=0, return_inverse=True)
    everyone = group_by_label(records["number"], labels.reshape(-1))
    several_rows = np.repeat(everyone.sizes > 1, everyone.sizes)
    return (records, urls), group_by_label(everyone.members[several_rows], everyone.labels[several_rows])


def _repeated(batches: Iterable[bytes]) -> bytes:
    """The fingerprints that more than one document has."""
    words = np.sort(_words(b"".join(batches)))
    return np.unique(words[1:][words[1:] == words[:-1]]).tobytes()


def _with_fingerprint(rows: _Rows, wanted: Words) -> _Rows:
    records = rows.array()
    return _pick(records, rows.urls, np.flatnonzero(np.isin(records["fingerprint"], wanted)))


def _picked(
    sources: Sequence[Source], starts: Ints, members: tuple[NDArray[np.void], list[bytes]]
) -> PickedRows:
    return _as_rows(*members, tuple(source.name for source in sources), starts)


def _not_documents(rows: PickedRows, exact: Groups) -> NDArray[np.bool_]:
    """Marks the further copies, which are no documents of near search."""
    marks = np.zeros(len(rows), bool)
    copies = np.ones(len(exact.members), bool)
    copies[exact.offsets[:-1]] = False
    marks[exact.members[copies]] = True
    return marks
