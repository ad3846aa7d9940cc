"""Shards as tasks of a Spark cluster, one task a shard.

    task     an executor exports the shard in a process of its own, with the guards of a local run, into a
             folder that belongs to this try alone
    result   comes to the driver through an accumulator, which Spark adds to once a shard, however often the
             shard was tried
    commit   the driver moves the files of that try into place, then enters the shard in the ledger

A try that Spark has given up on, its copy by speculation or a straggler of a killed run may go on for a
while; none of them can touch a file of the dataset. The driver alone writes there, under the ledger's lock.
"""

from __future__ import annotations

import pickle
import re
import secrets
import shutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ccrawl import __version__
from ccrawl.archives.names import is_remote
from ccrawl.dataset.files import aside, remove_leftovers, sync_directory
from ccrawl.errors import OutputError, SourceError
from ccrawl.run.attempts import Again, Attempt, GivenUp, Tries
from ccrawl.run.board import Progress
from ccrawl.run.indexed import duplicates_file, entries_file
from ccrawl.run.processes import worker_context
from ccrawl.run.record import Record
from ccrawl.run.task import ShardReport, ShardTask
from ccrawl.spark import SparkFailure, first_line

if TYPE_CHECKING:
    from pyspark import SparkContext

_POLL = 0.5  # seconds between two events of progress while no shard ends

# How Spark says that it has given up on a task, and that a lost process or machine is why, not an exception.
_GAVE_UP = re.compile(r"Task (?P<place>\d+) in stage \S+ failed (?P<times>\d+) times")
_LOST = re.compile(r"ExecutorLostFailure|Python worker exited unexpectedly|FetchFailed")
_NO_PACKAGE = re.compile(r"No module named '(?P<name>\w+)")


@dataclass(frozen=True, slots=True)
class _Shared:
    """What an executor needs besides its shard, and what tells it that it is set up as the driver is."""

    directory: Path
    probe: Path  # a file of the driver's in that folder
    token: str  # which it holds
    versions: tuple[str, str]  # of ccrawl and pyarrow: both decide bytes

    @staticmethod
    def make(directory: Path) -> _Shared:
        probe, token = aside(directory / "spark"), secrets.token_hex(16)
        try:
            probe.write_text(token)
        except OSError as error:
            raise OutputError(f"{probe}: can't be written ({error.strerror or error})") from error
        return _Shared(directory, probe, token, _versions())

    def check(self) -> None:
        """Raise OutputError on a machine that could not do its part."""
        if self.versions != _versions():
            theirs, ours = (
                f"ccrawl {ccrawl} and pyarrow {arrow}" for ccrawl, arrow in (self.versions, _versions())
            )
            raise OutputError(
                f"{socket.gethostname()}: has {ours}, the driver {theirs}; give both the same packages"
            )
        try:
            same = self.probe.read_text() == self.token
        except OSError:
            same = False
        if not same:
            raise OutputError(
                f"{self.directory}: {socket.gethostname()} does not have the driver's folder under this "
                "name; put --out on a file system that all nodes share"
            )


def _versions() -> tuple[str, str]:
    return __version__, pa.__version__


@dataclass(frozen=True, slots=True)
class _Result:
    """What a task says of its shard. `retried` has the reason of each further try inside the task."""

    number: int
    end: ShardReport | GivenUp | OutputError
    retried: tuple[str, ...] = ()


class SparkRunner:
    """Runs shards as tasks of `context`; `workers` is what it says of its cores."""

    def __init__(self, context: SparkContext, directory: Path) -> None:
        self.workers = context.defaultParallelism
        self._context = context
        self._directory = directory.absolute()

    def run(self, tasks: Sequence[ShardTask], record: Record) -> None:
        """Run all tasks; returns when each is done or given up.

        Raises OutputError when --out can't be written or is not shared, SparkFailure when Spark ends the job.
        """
        shared = _Shared.make(self._directory)
        # The longest first: one that begins last would keep the others' cores waiting.
        left = {task.number: task for task in sorted(tasks, key=lambda task: -(task.source.size or 0))}
        try:
            while left:
                self._job(left, shared, record)
        finally:
            shared.probe.unlink(missing_ok=True)

    def _job(self, left: dict[int, ShardTask], shared: _Shared, record: Record) -> None:
        """Run the tasks of `left` as one job, and take out those that ended.

        A task that Spark gives up on ends the job: that costs its shard, and what was under way begins again.
        """
        from pyspark import InheritableThread

        submitted = list(left.values())
        results: SimpleQueue[_Result | _JobEnd] = SimpleQueue()
        group = f"ccrawl-{secrets.token_hex(8)}"
        work = partial(
            _submit, self._context, group, [_anywhere(task) for task in submitted], shared, results.put
        )
        thread = InheritableThread(target=work)
        thread.start()
        end = None
        try:
            while end is None:
                try:
                    result = results.get(timeout=_POLL)
                except Empty:
                    pass
                else:
                    if isinstance(result, _JobEnd):
                        end = result
                    else:
                        self._take(left.pop(result.number), result, record)
                record.progress(Progress())
        finally:
            if end is None:
                self._context.cancelJobGroup(group)
            thread.join()
        if end.error is not None:
            task, given_up = _blamed(end.error, submitted)
            record.given_up(task, given_up)
            left.pop(task.number, None)
        elif left:
            raise SparkFailure(
                f"Spark did not report {len(left)} of its tasks; the same command again does them"
            )

    def _take(self, task: ShardTask, result: _Result, record: Record) -> None:
        for why in result.retried:
            record.again(Again(task, why))
        if isinstance(result.end, OutputError):
            raise result.end
        if isinstance(result.end, GivenUp):
            record.given_up(task, result.end)
        else:
            record.done(task, self._commit(task, result.end))

    def _commit(self, task: ShardTask, report: ShardReport) -> ShardReport:
        """Put a try's files where those of a local run are, the Parquet file last."""
        made = report.written.path
        moves = {
            file(made.parent, task.number): file(self._directory, task.number)
            for file in (entries_file, duplicates_file)
        }
        moves[made] = task.path
        try:
            for source, target in moves.items():
                if source.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source.replace(target)
                    sync_directory(target.parent)
        except OSError as error:
            raise OutputError(f"{task.path}: can't be put in place ({error.strerror or error})") from error
        shutil.rmtree(made.parent, ignore_errors=True)
        return replace(report, written=replace(report.written, path=task.path))


@dataclass(frozen=True, slots=True)
class _JobEnd:
    """All results of a job are there, or it failed."""

    error: Exception | None = None


class _Delivery:
    """Adds results: on an executor to those of its task, on the driver to whoever waits for them.

    An AccumulatorParam, without its base class: the module must be readable where PySpark is not installed.
    """

    def __init__(self, deliver: Callable[[_Result], None] | None = None) -> None:
        self._deliver = deliver

    def __reduce__(self) -> tuple[type[_Delivery], tuple[()]]:
        return _Delivery, ()  # what a task gets knows of no driver

    def zero(self, _: list[_Result]) -> list[_Result]:
        return []

    def addInPlace(self, held: list[_Result], added: list[_Result]) -> list[_Result]:
        if self._deliver is None:
            return held + added
        for result in added:
            self._deliver(result)
        return []  # the driver holds none: a crawl has 100,000


def _submit(
    context: SparkContext,
    group: str,
    tasks: list[ShardTask],
    shared: _Shared,
    put: Callable[[_Result | _JobEnd], None],
) -> None:
    """Run a job to its end, in a thread of its own."""
    try:
        context.setJobGroup(group, "ccrawl export", interruptOnCancel=True)
        param: Any = _Delivery(put)
        delivery = context.accumulator([], param)
        # As bytes, so that an executor with another ccrawl can say so before it meets what it can't read.
        sealed = [(task.number, pickle.dumps(task)) for task in tasks]
        context.parallelize(sealed, len(sealed)).foreach(lambda task: delivery.add([_export(*task, shared)]))
    except Exception as error:  # Spark's, of many kinds; told by whoever waits
        put(_JobEnd(error))
    else:
        put(_JobEnd())


def _blamed(error: Exception, submitted: Sequence[ShardTask]) -> tuple[ShardTask, GivenUp]:
    """The shard that has cost its executors; SparkFailure when Spark tells of something else."""
    text = str(error)
    missing = _NO_PACKAGE.search(text)
    if missing:
        raise SparkFailure(
            f"the executors' Python has no {missing['name']}; give them an environment with ccrawl "
            "(spark-submit --archives, PYSPARK_PYTHON)"
        ) from error
    gave_up = _GAVE_UP.search(text)
    if gave_up is None or not _LOST.search(text):
        raise SparkFailure(
            f"Spark ended the run: {first_line(error)}; the same command again goes on"
        ) from error
    task = submitted[int(gave_up["place"])]
    return task, GivenUp(
        SourceError(
            f"{task.source.name}: its executor or worker was lost {gave_up['times']} times; give executors "
            "more memory, or a lower --worker-memory, and run the same command again"
        ),
        detail=first_line(error),
    )


def _anywhere(task: ShardTask) -> ShardTask:
    """The task with paths that mean the same in another process's folder."""
    source = task.source
    path = source.path if is_remote(source.path) else str(Path(source.path).absolute())
    cache = str(Path(source.cache).absolute()) if source.cache else ""
    return replace(task, source=replace(source, path=path, cache=cache))


def _export(number: int, sealed: bytes, shared: _Shared) -> _Result:
    """The body of a task. It ends with a result in any case but its own death: Spark has nothing to retry."""
    from pyspark import TaskContext

    spark_task = TaskContext.get()
    cores = spark_task.cpus() if spark_task else 1
    retried: list[str] = []
    try:
        shared.check()
        task: ShardTask = pickle.loads(sealed)  # noqa: S301, of our own driver
        folder = aside(shared.directory / f"{number:06d}")
        try:
            folder.mkdir()
        except OSError as error:
            raise OutputError(f"{folder}: can't be made ({error.strerror or error})") from error
        task = replace(
            task,
            path=folder / task.path.name,
            files=folder if task.files else None,
            converters=cores if cores > 1 else 0,
        )
        end = _attempts(task, retried)
        if isinstance(end, GivenUp):
            shutil.rmtree(folder, ignore_errors=True)
        return _Result(number, end, tuple(retried))
    except OutputError as error:
        return _Result(number, error, tuple(retried))


def _attempts(task: ShardTask, retried: list[str]) -> ShardReport | GivenUp:
    """Try the shard until it is done or given up."""
    context, tries = worker_context(), Tries()
    while True:
        attempt = Attempt(context, task)
        verdict = attempt.verdict(tries)
        if not isinstance(verdict, Again):
            return verdict
        retried.append(verdict.why)
        remove_leftovers(task.path.parent)
        task = verdict.task
