"""The ledger's shards in memory, as the manifest's own text, and the manifest made of them.

As objects the counts of a shard of Common Crawl take 10 KB, most of it languages; compressed text takes under
1 KB, and a manifest of 100,000 shards is written without encoding them all again (benchmarks/soak.py).
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from ccrawl.dataset.entries import Counts, FailedShard, ShardEntry


class ShardTable(MutableMapping[int, ShardEntry]):
    """Entries by number. Each look-up makes the entry anew."""

    def __init__(self) -> None:
        self._texts: dict[int, bytes] = {}
        self._file_bytes = 0
        self._counts = Counts()
        self._summed = True  # whether the sums are those of the entries

    def __getitem__(self, number: int) -> ShardEntry:
        values = json.loads(self.text(number))
        return ShardEntry(**{**values, "counts": Counts(**values["counts"])})

    def __setitem__(self, number: int, entry: ShardEntry) -> None:
        if number in self._texts:
            self._summed = False
        self._texts[number] = zlib.compress(entry_text(entry), 1)
        if self._summed:
            self._add(entry)

    def __delitem__(self, number: int) -> None:
        del self._texts[number]
        self._summed = False

    def __iter__(self) -> Iterator[int]:
        return iter(self._texts)

    def __contains__(self, number: object) -> bool:
        return number in self._texts

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def counts(self) -> Counts:
        """The sum of the entries' counts."""
        self._sum()
        return self._counts

    @property
    def file_bytes(self) -> int:
        """Bytes of the entries' files."""
        self._sum()
        return self._file_bytes

    def totals(self) -> dict[str, Any]:
        """The manifest's `totals`."""
        return totals(len(self), self.file_bytes, self.counts)

    def text(self, number: int) -> bytes:
        """An entry as the manifest has it."""
        return zlib.decompress(self._texts[number])

    def texts(self) -> Iterator[bytes]:
        """Each entry's text, by number."""
        return map(self.text, sorted(self._texts))

    def _sum(self) -> None:
        if not self._summed:
            self._file_bytes, self._counts = 0, Counts()
            for entry in self.values():
                self._add(entry)
            self._summed = True

    def _add(self, entry: ShardEntry) -> None:
        self._file_bytes += entry.file_bytes
        self._counts = Counts.total((self._counts, entry.counts))


def totals(shards: int, file_bytes: int, counts: Counts) -> dict[str, Any]:
    """A manifest's `totals`."""
    return {"shards": shards, "file_bytes": file_bytes, **dataclasses.asdict(counts)}


def entry_text(entry: ShardEntry) -> bytes:
    """An entry as it stands in the manifest: a line."""
    return _encoded(json.dumps(entry, default=_fields, ensure_ascii=False))


def manifest_text(
    head: Mapping[str, Any],
    totals: Mapping[str, Any],
    entries: Iterable[bytes],
    failed: Sequence[FailedShard],
) -> Iterator[bytes]:
    """The manifest in parts: JSON of the keys of `head`, then totals, shards (a line each), failed_shards."""
    yield _indented({**head, "totals": totals}).removesuffix(b"\n}") + b',\n "shards": ['
    between = b"\n  "
    for text in entries:
        yield between + text
        between = b",\n  "
    yield b"]" if between == b"\n  " else b"\n ]"
    last = {"failed_shards": [dataclasses.asdict(shard) for shard in failed]}
    yield b"," + _indented(last).removeprefix(b"{") + b"\n"


def _fields(values: Any) -> dict[str, Any]:
    # dataclasses.asdict copies every dict below it, a number at a time: ten times the cost of the rest.
    return {field.name: getattr(values, field.name) for field in dataclasses.fields(values)}


def _indented(values: Mapping[str, Any]) -> bytes:
    return _encoded(json.dumps(values, ensure_ascii=False, indent=1))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # names of files may be any bytes
