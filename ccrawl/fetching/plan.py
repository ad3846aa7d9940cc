"""The plan of a shard: its targets, each URL of the dataset once, in a file that a later run finds again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ccrawl.archives import Tally
from ccrawl.dataset.files import write_atomically
from ccrawl.dataset.ledger import Failure
from ccrawl.errors import OutputError
from ccrawl.fetching.targets import Input, Read, Wanted, read_wanted, targets_schema
from ccrawl.fetching.types import Archived, Target
from ccrawl.run.options import ExportOptions
from ccrawl.run.processes import become_worker

_BATCH = 4096


@dataclass(frozen=True, slots=True)
class PlanTask:
    """A shard to plan. known: files of keys of the dataset's other shards, whose URLs are not wanted again.

    stamp: what the plan depends on; a plan with another stamp is of no use
    """

    number: int
    input: Input
    options: ExportOptions
    path: Path
    keys: Path
    known: tuple[Path, ...]
    stamp: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned shard. records == targets + sum(skipped.values()); the others as in the ledger's Counts."""

    targets: int
    records: int
    skipped: dict[str, int]
    damage: dict[str, int]
    archive_bytes: int
    failures: list[Failure] = field(default_factory=list)


def plan_process(task: PlanTask) -> Plan:
    """`plan` as the body of a worker process."""
    become_worker(task.options.worker_memory)
    return plan(task)


def plan(task: PlanTask) -> Plan:
    """Read a shard's input and write its targets and their keys. SourceError, OutputError.

    A URL that stands in the input twice, or that another shard has, is counted under `repeated-url`.
    """
    read = Read()
    others = [np.fromfile(path, "<u8") for path in task.known]
    known = np.sort(np.concatenate([np.array([], "<u8"), *others]))
    keys: set[int] = set()
    sink = pa.BufferOutputStream()
    repeated = 0
    schema = targets_schema()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        batch: list[Wanted] = []
        for wanted in read_wanted(task.input, task.options, read):
            key = _key(wanted.url)
            if key in keys or _holds(known, key):
                repeated += 1
                continue
            keys.add(key)
            batch.append(wanted)
            if len(batch) == _BATCH:
                writer.write_batch(_columns(batch, schema))
                batch = []
        if batch:
            writer.write_batch(_columns(batch, schema))
    found = _plan(task, read, len(keys), repeated)
    try:
        task.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{task.path}: can't be written ({error.strerror or error})") from error
    write_atomically(task.keys, np.sort(np.fromiter(keys, "<u8", len(keys))).tobytes())
    write_atomically(task.path, sink.getvalue().to_pybytes())
    note = {"stamp": task.stamp, **dataclasses.asdict(found)}
    write_atomically(_note(task.path), json.dumps(note).encode())
    return found


def _plan(task: PlanTask, read: Read, targets: int, repeated: int) -> Plan:
    skipped = read.skipped + Counter({"repeated-url": repeated})  # of which a sum keeps nothing at 0
    tally = read.archive
    if tally is None:
        return Plan(targets, read.records, dict(sorted(skipped.items())), {}, task.input.source.size or 0)
    return Plan(
        targets=targets,
        records=tally.records,
        skipped=dict(sorted((tally.skipped + skipped).items())),
        damage=dict(sorted(tally.damaged.items())),
        archive_bytes=task.input.source.size or 0,
        failures=_damaged(task, tally),
    )


def _damaged(task: PlanTask, tally: Tally) -> list[Failure]:
    return [
        Failure(
            kind="record",
            shard=task.number,
            source=task.input.source.name,
            cause=damage.cause,
            detail=f"{damage.length} bytes passed over",
            offset=damage.offset,
        )
        for damage in tally.damage
    ]


def _key(url: str) -> int:
    """64 bits of the URL's SHA-256: of a billion URLs, one in forty would be missed by chance in all."""
    return int.from_bytes(hashlib.sha256(url.encode()).digest()[:8])


def _holds(keys: Any, key: int) -> bool:
    place = int(np.searchsorted(keys, np.uint64(key)))
    return place < len(keys) and int(keys[place]) == key


def _columns(batch: Iterable[Wanted], schema: pa.Schema) -> pa.RecordBatch:
    rows = [{"url": wanted.url, **dataclasses.asdict(wanted.archived)} for wanted in batch]
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def read_plan(path: Path, stamp: str) -> Plan | None:
    """The plan at `path`, None when there is none of that stamp."""
    try:
        values = json.loads(_note(path).read_bytes())
        if values.pop("stamp") != stamp or not path.exists():
            return None
        return Plan(**{**values, "failures": [Failure(**failure) for failure in values["failures"]]})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def read_targets(path: Path, first: int = 0) -> Iterator[Target]:
    """The targets of a plan, in order; positions count from `first`."""
    position = first
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as batches:
        for batch in batches:
            for values in batch.to_pylist():
                yield Target(position, values.pop("url"), Archived(**values))
                position += 1


def remove_plan(path: Path) -> None:
    """Take a plan away; the keys of its URLs stay."""
    _note(path).unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _note(path: Path) -> Path:
    return path.with_suffix(".json")
