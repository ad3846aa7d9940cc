"""Verifying a dataset: the manifest, the folder, then shard by shard, side by side."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from ccrawl.archives import Source, find_sources
from ccrawl.dataset.card.template import card_is_of
from ccrawl.dataset.files import leftovers
from ccrawl.dataset.ledger import MANIFEST, ShardEntry
from ccrawl.dataset.manifest import CRAWL_LIST, Manifest, crawl_of, ranges, read_manifest
from ccrawl.dataset.schema import REFETCH, layout_of
from ccrawl.dataset.verify.faults import Fault
from ccrawl.dataset.verify.files import check_file
from ccrawl.errors import UsageError
from ccrawl.run.processes import Worker, WorkerDied, worker_context

README = "README.md"

OnShard = Callable[[int, int, str], None]  # shards done, shards in all, the file just done


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked and what is wrong.

    shards, rows, file_bytes: of the manifest
    rows_checked: whether every row was looked at, or only the files
    sources: archives that were read again
    repaired: files that were exported again
    faults: those left, by the files' order
    """

    directory: Path
    shards: int
    rows: int
    file_bytes: int
    rows_checked: bool
    sources: int
    repaired: tuple[str, ...]
    faults: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    @property
    def by_code(self) -> dict[str, int]:
        """Faults by code, the most frequent first."""
        return dict(Counter(fault.code for fault in self.faults).most_common())


def verify(
    directory: str | os.PathLike[str],
    *,
    sources: Sequence[str | os.PathLike[str] | Source] | None = None,
    rows: bool = True,
    repair: bool = False,
    workers: int = 1,
    on_shard: OnShard | None = None,
) -> VerifyReport:
    """Check the dataset in `directory` against its manifest, and every row against its own laws.

    With `sources` (paths, folders, globs or URLs of the archives, or sources found before) each archive is
    read again, and record ids, offsets, URLs, dates, lengths and payload digests are compared. Without `rows`
    only files are checked. `repair` exports the shards that fail again, and needs the same `sources` as the
    export.

    Raises OutputError when there is no readable manifest or the repair can't be done, and UsageError for
    wrong arguments. What is wrong with the dataset is in the report.
    """
    if repair and not sources:
        raise UsageError("a repair exports again: name the archives, as in --repair --source crawl/*.warc.gz")
    folder = Path(directory)
    manifest = read_manifest(folder)
    if sources is not None and layout_of(manifest.options) is REFETCH:
        raise UsageError(
            f"{folder}: a refetch; its answers are in no archive to compare with, or to repair from"
        )
    archives = None if sources is None else find_archives(sources)
    faults = _check(folder, manifest, archives, rows=rows, workers=workers, on_shard=on_shard)
    repaired: tuple[str, ...] = ()
    if repair and faults:
        from ccrawl.dataset.verify.repair import export_again

        assert archives is not None
        repaired = export_again(folder, manifest, archives, faults, workers=workers)
        manifest = read_manifest(folder)
        faults = _check(folder, manifest, archives, rows=rows, workers=workers, on_shard=on_shard)
    return VerifyReport(
        directory=folder,
        shards=len(manifest.shards),
        rows=manifest.counts.rows,
        file_bytes=manifest.file_bytes,
        rows_checked=rows,
        sources=len(archives or []),
        repaired=repaired,
        faults=tuple(faults),
    )


def _check(
    directory: Path,
    manifest: Manifest,
    archives: Sequence[Source] | None,
    *,
    rows: bool,
    workers: int,
    on_shard: OnShard | None,
) -> list[Fault]:
    faults = [*_check_manifest(manifest), *_check_folder(directory, manifest)]
    by_name = {source.name: source for source in archives or ()}
    tasks = [
        _Task(
            directory=directory,
            entry=entry,
            version=manifest.version,
            options=manifest.options,
            read_sources=archives is not None,
            source=source_named(entry.source, by_name),
            rows=rows,
        )
        for entry in manifest.shards
    ]
    found: dict[str, list[Fault]] = {}
    results = _side_by_side(tasks, workers) if workers > 1 else ((task, _check_shard(task)) for task in tasks)
    for done, (task, of_shard) in enumerate(results, 1):
        found[task.entry.file] = of_shard
        if on_shard is not None:
            on_shard(done, len(tasks), task.entry.file)
    return faults + [fault for task in tasks for fault in found[task.entry.file]]


def _check_manifest(manifest: Manifest) -> list[Fault]:
    faults = []
    sums = {"shards": len(manifest.shards), "file_bytes": manifest.file_bytes, **asdict(manifest.counts)}
    for name, value in sums.items():
        told = manifest.totals.get(name, type(value)())  # versions that did not count it knew of none
        if told != value:
            detail = f"totals.{name} is {told!r}, the shards add up to {value!r}"
            faults.append(Fault("manifest", MANIFEST, detail[:200]))
    for entry in manifest.shards:
        try:
            entry.counts.check()
        except AssertionError:
            faults.append(Fault("manifest", MANIFEST, f"records of {entry.file} are unaccounted for"))
    faults += [Fault("shard-failed", failed.source, failed.error) for failed in manifest.failed]
    failed_numbers = {failed.number for failed in manifest.failed}
    for crawl in manifest.crawls:
        shards = [entry for entry in manifest.shards if crawl_of(entry.file) == crawl]
        if any(entry.source.startswith(CRAWL_LIST) for entry in shards):
            continue  # a choice of shards, under the numbers of the crawl's own list
        numbers = {entry.number for entry in shards}
        missing = set(range(max(numbers))) - numbers - failed_numbers
        if missing:
            faults.append(Fault("shard-missing", MANIFEST, f"crawl {crawl}: shard {_told(missing)}"))
    return faults


def find_archives(sources: Sequence[str | os.PathLike[str] | Source]) -> list[Source]:
    """The sources that arguments stand for. UsageError when one names nothing."""
    paths = [os.fspath(source) for source in sources if not isinstance(source, Source)]
    found = [source for source in sources if isinstance(source, Source)]
    return found + (find_sources(paths) if paths or not found else [])


def source_named(name: str, by_name: Mapping[str, Source]) -> Source | None:
    """The source of that name, else one whose name is its last part: a local copy of a crawl's file."""
    return by_name.get(name) or by_name.get(_base_name(name))


def _base_name(name: str) -> str:
    return name.rpartition("/")[2]


def _check_folder(directory: Path, manifest: Manifest) -> list[Fault]:
    known = {entry.file for entry in manifest.shards}
    found = {
        path.relative_to(directory).as_posix()
        for path in (directory / "data").rglob("*.parquet")
        if not path.name.startswith(".")
    }
    left = (path.relative_to(directory).as_posix() for path in leftovers(directory))
    try:
        card = (directory / README).read_text(encoding="utf-8", errors="replace")
    except OSError:
        card = ""
    stale = card_is_of(card) not in (None, manifest.fingerprint)
    return [
        *([Fault("card", README, "numbers of other files")] if stale else []),
        *(Fault("file-extra", file, "not in the manifest; remove it") for file in sorted(found - known)),
        *(Fault("leftover", file, "of a run that was killed") for file in sorted(left)),
    ]


@dataclass(frozen=True, slots=True)
class _Task:
    """All that checking one shard needs; picklable."""

    directory: Path
    entry: ShardEntry
    version: str
    options: Mapping[str, Any]
    read_sources: bool
    source: Source | None
    rows: bool


def _check_shard(task: _Task) -> list[Fault]:
    entry = task.entry
    faults = check_file(task.directory, entry, task.version, task.options, rows=task.rows)
    if not task.read_sources or any(fault.code in _NO_ROWS for fault in faults):
        return faults
    if task.source is None:
        return [*faults, Fault("source-missing", entry.source, "name it with --source", shard=entry.file)]
    from ccrawl.dataset.verify.archive import check_source

    return faults + check_source(task.directory, entry, task.source, task.options)


_NO_ROWS = ("file-missing", "unreadable", "schema", "utf-8")


def _side_by_side(tasks: Sequence[_Task], workers: int) -> Iterable[tuple[_Task, list[Fault]]]:
    """Check shards in processes of their own: a file that crashes its reader costs one shard."""
    context = worker_context()
    waiting = list(reversed(tasks))
    running: dict[Connection, tuple[_Task, Worker[list[Fault]]]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                task = waiting.pop()
                worker = Worker(context, _check_shard, task)
                running[worker.connection] = (task, worker)
            over = wait(list(running))
            for connection in [connection for connection in running if connection in over]:
                task, worker = running.pop(connection)
                yield task, _result(worker, task.entry.file)
    finally:
        for _, worker in running.values():
            worker.stop()


def _result(worker: Worker[list[Fault]], file: str) -> list[Fault]:
    try:
        return worker.result()
    except WorkerDied as death:
        return [Fault("unreadable", file, f"its reader ended with code {death.exit_code}", shard=file)]


def _told(numbers: Iterable[int]) -> str:
    """`3, 5-9`: the first eight ranges."""
    told = ranges(numbers)
    return ", ".join(told[:8]) + (f" and {len(told) - 8} more ranges" if len(told) > 8 else "")


def faults_of_shards(faults: Iterable[Fault]) -> Mapping[str, set[str]]:
    """Codes by the shard's file they were found in."""
    codes: dict[str, set[str]] = {}
    for fault in faults:
        if fault.shard:
            codes.setdefault(fault.shard, set()).add(fault.code)
    return codes
