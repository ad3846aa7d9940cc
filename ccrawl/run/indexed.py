"""An export's part in a dedupe index: its run is begun, fed shard by shard, and committed when all is done.

The dataset's folder remembers the run in `index/run.json`, and each finished shard leaves
`index/NNNNNN.arrow`, the first copies that it found, and its list of duplicates. So a run that was stopped
goes on with what it saw when it began, a shard that is done again replaces its file, and what goes into the
index in the end is read in shard order: nothing depends on scheduling, and nothing is counted twice.

A dataset that gets more sources after its run was committed begins another run for the new shards.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccrawl.dataset.files import write_atomically
from ccrawl.dataset.ledger import Counts
from ccrawl.errors import OutputError
from ccrawl.run.duplicates import DuplicateFilter, Lookup

if TYPE_CHECKING:
    from ccrawl.dataset.ledger import ShardEntry
    from ccrawl.index import Crawl, DedupIndex, Entry

FOLDER = "index"
_FILE = "run.json"


@dataclass(frozen=True, slots=True)
class IndexUse:
    """What a worker needs of the run's index."""

    url: str = field(repr=False)  # may hold a password
    run: str

    def lookup(self) -> Lookup:
        """Open it. IndexFailure when it can't be reached, or when the run was cancelled."""
        from ccrawl.index import open_index

        with open_index(self.url, create=False) as index:
            return Lookup(index.view(self.run), self.run, index.algorithm)


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What became of an export's run. new, redundant: first copies that went into the index, and those that
    another crawl had put there in the meantime; None where the store doesn't say, or before the commit."""

    run: str
    location: str
    committed: bool
    new: int | None = None
    redundant: int | None = None


def filter_of(
    *, dedup_digest: bool, min_bytes: int, use: IndexUse | None, rules: tuple[str, ...] = ()
) -> DuplicateFilter | None:
    """The filter that a shard's options ask for; None when they ask for none. rules: of --dedup-normalize"""
    if use is None and not dedup_digest:
        return None
    normalize = None
    if rules:
        from ccrawl.index.rules import rules_from

        normalize = rules_from(rules)
    return DuplicateFilter(min_bytes=min_bytes, lookup=use.lookup() if use else None, normalize=normalize)


def entries_file(directory: Path, number: int) -> Path:
    return directory / FOLDER / f"{number:06d}.arrow"


def duplicates_file(directory: Path, number: int) -> Path:
    return directory / FOLDER / f"{number:06d}.duplicates.arrow"


@dataclass(frozen=True, slots=True)
class _Run:
    """One of the dataset's runs, as run.json has it. shards: those it covers, once all are done."""

    id: str
    token: str
    committed: bool = False
    shards: tuple[int, ...] = ()


class IndexRun:
    """The run of one export. Made by `join`, ended by `finish`."""

    def __init__(self, index: DedupIndex, url: str, directory: Path) -> None:
        self._index = index
        self._url = url
        self._directory = directory
        self._runs = self._read()

    @staticmethod
    def join(index: DedupIndex, url: str, directory: Path, *, overwrite: bool) -> IndexRun:
        """Take up what the dataset's folder remembers, or with `overwrite` forget it.

        OutputError when it was made with another index, and with `overwrite` when a run of it is committed:
        the new one would find all of its own pages there.
        """
        run = IndexRun(index, url, directory)
        states = {crawl.id: crawl.state for crawl in index.crawls()} if run._runs else {}
        # A process may have been killed between the commit and the note of it.
        run._runs = [
            dataclasses.replace(one, committed=one.committed or states.get(one.id) == "committed")
            for one in run._runs
        ]
        if overwrite:
            for one in run._runs:
                if states.get(one.id) == "committed":
                    raise OutputError(
                        f"{directory}: its run {one.id} is committed to {index.location}, where a new run "
                        f"would find its pages; take it out first: ccrawl index remove {one.id}"
                    )
                index.cancel(one.id)
            shutil.rmtree(directory / FOLDER, ignore_errors=True)
            run._runs = []
        return run

    @property
    def settled(self) -> frozenset[int]:
        """Shards whose run is committed."""
        return frozenset(number for run in self._runs if run.committed for number in run.shards)

    def has_files(self, number: int) -> bool:
        """Whether a finished shard left all that the run needs of it."""
        return number in self.settled or (
            entries_file(self._directory, number).exists()
            and duplicates_file(self._directory, number).exists()
        )

    def begin(self, tasks: Iterable[int], name: str, shards: int) -> IndexUse | None:
        """Begin the run, or go on with it; None when there is nothing left to do.

        OutputError when the run was cancelled meanwhile (its finished shards saw another index than the
        others would), or when a shard of a committed run is to be done again (it would find itself).
        """
        again = sorted(self.settled.intersection(tasks))
        if again:
            raise OutputError(
                f"{self._directory}: shard {again[0]} is to be done again, but its run is committed; "
                f"take that out (ccrawl index remove {self._run_of(again[0])}), then use --overwrite"
            )
        current = self._current()
        if current is None:
            if self.settled.issuperset(range(shards)) and not list(tasks):
                return None
            run = f"{name}-{secrets.token_hex(4)}"
            # The note comes first: a run that nobody remembers would stay open for ever.
            self._runs.append(_Run(run, ""))
            self._write()
            current = self._runs[-1]
        token = self._index.begin(current.id)
        if current.token and token != current.token:
            raise OutputError(
                f"{self._directory}: its run {current.id} was cancelled in {self._index.location}; "
                "start again with --overwrite"
            )
        self._runs[-1] = dataclasses.replace(current, token=token)
        self._write()
        return IndexUse(self._url, current.id)

    def finish(self, shards: Mapping[int, ShardEntry], *, commit: bool) -> IndexReport | None:
        """Stage what the run's shards found and, unless told otherwise, commit it. None without a run."""
        current = self._current()
        if current is None:
            committed = [run for run in self._runs if run.committed]
            return IndexReport(committed[-1].id, self._index.location, True) if committed else None
        numbers = [number for number in sorted(shards) if number not in self.settled]
        self._index.stage(
            current.id, self._entries(numbers), _index_counts([shards[number] for number in numbers])
        )
        # Noted before the commit: a process that is killed right after it must know what it covered.
        self._runs[-1] = dataclasses.replace(current, shards=tuple(numbers))
        self._write()
        crawl: Crawl | None = self._index.commit(current.id) if commit else None
        self._runs[-1] = dataclasses.replace(self._runs[-1], committed=commit)
        self._write()
        return IndexReport(
            current.id,
            self._index.location,
            commit,
            crawl.owned if crawl else None,
            crawl.redundant if crawl else None,
        )

    def unfinished(self) -> IndexReport | None:
        """The report of a run that has to wait for failed shards."""
        current = self._current()
        return IndexReport(current.id, self._index.location, False) if current else None

    def _entries(self, numbers: Iterable[int]) -> Iterator[tuple[bytes, str, str, int]]:
        from ccrawl.index.entries import read_entries

        for number in numbers:
            yield from read_entries(entries_file(self._directory, number))

    def _current(self) -> _Run | None:
        return self._runs[-1] if self._runs and not self._runs[-1].committed else None

    def _run_of(self, number: int) -> str:
        return next(run.id for run in self._runs if number in run.shards)

    def _read(self) -> list[_Run]:
        path = self._directory / FOLDER / _FILE
        try:
            remembered: dict[str, Any] = json.loads(path.read_bytes())
            runs = [_Run(**{**run, "shards": tuple(run["shards"])}) for run in remembered["runs"]]
            location = remembered["location"]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise OutputError(f"{path}: not readable ({error}); --overwrite starts again") from error
        if location != self._index.location:
            raise OutputError(
                f"{path}: the dataset was begun with the index {location}, not {self._index.location}; "
                "give the same one, or use another --out"
            )
        return runs

    def _write(self) -> None:
        folder = self._directory / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        remembered = {
            "location": self._index.location,
            "runs": [dataclasses.asdict(run) for run in self._runs],
        }
        write_atomically(folder / _FILE, json.dumps(remembered, indent=1).encode() + b"\n")


def write_files(directory: Path, number: int, duplicates: DuplicateFilter, *, entries: bool) -> None:
    """What a finished shard leaves, before its Parquet file is put in place."""
    from ccrawl.run.duplicate_list import write_duplicates

    write_duplicates(duplicates_file(directory, number), duplicates.duplicates)
    if entries:
        from ccrawl.index.entries import write_entries

        found: list[Entry] = duplicates.entries()
        write_entries(entries_file(directory, number), found)


def _index_counts(shards: Iterable[ShardEntry]) -> Any:
    from ccrawl.index import Counts as IndexCounts

    shards = list(shards)
    counts = Counts.total(shard.counts for shard in shards)
    return IndexCounts(
        total=counts.duplicates + counts.indexed,
        duplicates=counts.duplicates,
        conserved=counts.duplicate_bytes,
        size=sum(shard.file_bytes for shard in shards),
    )
