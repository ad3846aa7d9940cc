"""`ccrawl index import`: packages of other tools and of former runs into the index.

Worker processes read packages into sorted files; this process adds one package after the other, in the order
of the sources, each all or nothing. Killed at any moment, the same command goes on with the packages that are
missing, and comes to the same index.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

from ccrawl.archives import Source
from ccrawl.archives.names import is_remote
from ccrawl.archives.opening import open_container, open_file
from ccrawl.errors import CcrawlError, SourceError, UsageError
from ccrawl.index.cdx import lines_of, read_cdx
from ccrawl.index.collect import Collected, Collector, ImportPolicy
from ccrawl.index.records import read_archive, read_dataset_file
from ccrawl.index.sources import ImportSource, find_import_sources
from ccrawl.index.types import DedupIndex, Package

if TYPE_CHECKING:
    from ccrawl.run.processes import Worker

_WORKER_MEMORY = 4 << 30
_INDEX_SUFFIXES = (".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. skipped: records left out, by cause; failed: sources that could not be read."""

    packages: int
    known: int
    failed: tuple[str, ...]
    records: int
    skipped: dict[str, int] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Task:
    """What a worker needs to read one package."""

    source: ImportSource
    folder: Path
    policy: ImportPolicy
    algorithm: str | None


@dataclass(frozen=True, slots=True)
class _Read:
    """A package that was read."""

    package: Package
    collected: Collected


def import_sources(
    index: DedupIndex,
    arguments: Sequence[str],
    *,
    crawl: str | None = None,
    policy: ImportPolicy = ImportPolicy(),  # noqa: B008 (frozen)
    workers: int = 1,
    remove_others: bool = False,
    force: bool = False,
    scratch: Path | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> ImportReport:
    """Take in the packages of `arguments` that the index doesn't have yet.

    crawl: the crawl of packages whose manifest names none; without it each is a crawl of its own
    remove_others: afterwards, take out all committed crawls that none of the sources belongs to
    scratch: where the sorted files go, the system's temporary folder without it

    Raises UsageError for arguments that name nothing. A source that can't be read is in the report.
    """
    sources = find_import_sources(arguments, crawl)
    if not sources:
        raise UsageError("no package to import: the manifests name no WACZ file")
    known = index.known_packages(source.name for source in sources)
    missing = [source for source in sources if source.name not in known]
    skipped: Counter[str] = Counter()
    failed = _impostors(index, [source for source in sources if source.name in known])
    packages = records = 0
    with tempfile.TemporaryDirectory(prefix="ccrawl-import-", dir=scratch) as folder:
        algorithm = "sha256" if index.algorithm == "sha256" else None
        tasks = [
            _Task(source, Path(folder) / f"{number:06d}", policy, algorithm)
            for number, source in enumerate(missing)
        ]
        for task, read in _in_order(tasks, workers):
            if isinstance(read, CcrawlError):
                failed.append(str(read))
                notice(f"failed: {read}")
                continue
            index.add_package(
                task.source.crawl,
                read.package,
                read.collected.sorted_entries(),
                read.collected.sorted_revisits(),
            )
            packages += 1
            records += read.collected.taken
            skipped.update(read.collected.skipped)
            notice(f"{task.source.name}: {read.collected.taken:,} records")
            for file in task.folder.iterdir():
                file.unlink()
    keep = {source.crawl for source in sources}
    removed = _remove_others(index, keep, force) if remove_others else ()
    return ImportReport(
        packages=packages,
        known=len(sources) - len(missing),
        failed=tuple(failed),
        records=records,
        skipped=dict(sorted(skipped.items())),
        removed=removed,
    )


def _impostors(index: DedupIndex, known: Sequence[ImportSource]) -> list[str]:
    """Complaints about WACZ files that go by the name of another one in the index, told by their size."""
    named = [source for source in known if source.kind == "wacz" and Path(source.path).is_file()]
    if not named:
        return []
    sizes = {package.filename: package.size for crawl in index.crawls() for package in crawl.packages}
    return [
        f"{source.path}: another file of this name, of {sizes[source.name]:,} bytes, was taken in; rename it"
        for source in named
        if sizes.get(source.name) not in (None, Path(source.path).stat().st_size)
    ]


def _remove_others(index: DedupIndex, keep: set[str], force: bool) -> tuple[str, ...]:
    committed = {crawl.id for crawl in index.crawls() if crawl.state == "committed"}
    if not committed & keep:
        raise UsageError(
            f"{index.location}: none of its crawls belongs to the sources given; nothing would be kept, "
            "so nothing was removed"
        )
    others = sorted(committed - keep)
    if others:
        index.remove(others, force=force)
    return tuple(others)


def _in_order(tasks: Sequence[_Task], workers: int) -> Iterator[tuple[_Task, _Read | CcrawlError]]:
    """Each task's result, in the order of the tasks; a few are read ahead."""
    if workers <= 1:
        for task in tasks:
            yield task, _attempt(task)
        return
    from ccrawl.run.processes import Worker, WorkerDied, worker_context

    context = worker_context()
    waiting = deque(tasks)
    running: deque[tuple[_Task, Worker[_Read]]] = deque()
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append((waiting[0], Worker(context, _read_in_worker, waiting.popleft())))
            task, worker = running[0]
            wait([worker.connection])
            running.popleft()
            try:
                yield task, worker.result()
            except WorkerDied as death:
                yield task, SourceError(f"{task.source.path}: its process ended ({death.exit_code})")
            except CcrawlError as error:
                yield task, error
    finally:
        for _, worker in running:
            worker.stop()


def _attempt(task: _Task) -> _Read | CcrawlError:
    try:
        return _read(task)
    except CcrawlError as error:
        return error


def _read_in_worker(task: _Task) -> _Read:
    from ccrawl.run.processes import become_worker

    become_worker(_WORKER_MEMORY)
    return _read(task)


def _read(task: _Task) -> _Read:
    source = task.source
    path = Path(source.path)
    remote = is_remote(source.path)
    collector = Collector(task.folder, task.policy, task.algorithm)
    task.folder.mkdir(parents=True, exist_ok=True)
    if remote:
        with open_file(Source(source.name, source.path)) as file:
            size = file.seek(0, io.SEEK_END)
    else:
        try:
            size = path.stat().st_size
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from error
    archive = Source(path.name, source.path, size)
    if source.kind == "dataset":
        read_dataset_file(path, collector)
    elif source.kind == "warc":
        read_archive(archive, collector)
    elif source.kind == "cdx":
        with open_file(archive) as file:
            read_cdx(lines_of(file, source.path), collector)
    else:
        _read_wacz(archive, collector)
    digest = source.hash
    if digest is None and source.kind == "wacz" and not remote:  # a remote one is not read whole
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _Read(Package(source.name, digest, size), collector.finish())


def _read_wacz(source: Source, collector: Collector) -> None:
    """The lines of all indexes inside; where there are none, the records themselves."""
    with open_container(source) as (archive, _):
        names = sorted(
            name
            for name in archive.namelist()
            if name.startswith("indexes/") and name.lower().endswith(_INDEX_SUFFIXES)
        )
        for name in names:
            where = f"{source.path}/{name}"
            try:
                with archive.open(name) as member:
                    read_cdx(lines_of(member, where), collector)
            except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
                raise SourceError(f"{where}: can't be read ({error})") from error
    if not names:
        read_archive(source, collector)
