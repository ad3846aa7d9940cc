"""Spark, for commands that run on a cluster: the context of their tasks, and its failures in one line."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ccrawl.errors import CcrawlError, UsageError
from ccrawl.extras import install_command

if TYPE_CHECKING:
    from pyspark import SparkContext

Runner = Literal["local", "spark"]

_RAISED = re.compile(
    r"^[\w.]*(?:Error|Exception|Failure): .+$", re.MULTILINE
)  # the end of Python's traceback


class SparkFailure(CcrawlError):
    """Spark can't be started, or has ended a job."""


@dataclass(frozen=True, slots=True)
class Spark:
    """Where Spark runs: a URL, or `local[4]`; None: as spark-submit or Spark's configuration say."""

    master: str | None = None

    @contextlib.contextmanager
    def context(self, name: str) -> Iterator[SparkContext]:
        """The context of the application that this process is already, or else one for as long as needed.

        Raises UsageError when pyspark is not installed, SparkFailure when Spark doesn't start.
        """
        try:
            from pyspark import SparkConf, SparkContext
        except ImportError as error:
            raise UsageError(f"--runner spark needs PySpark: {install_command('spark')}") from error
        running = SparkContext._active_spark_context  # no public name tells without starting one
        if running is not None:
            yield running
            return
        if self.master is not None and self.master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers here need the same packages
        conf = SparkConf().setAppName(name).set("spark.ui.showConsoleProgress", "false")
        if self.master is not None:
            conf.setMaster(self.master)
        interrupt = signal.getsignal(signal.SIGINT)
        try:
            context = SparkContext(conf=conf)
        except Exception as error:  # of many kinds: no Java, no such master, a setting it refuses
            raise SparkFailure(f"Spark can't be started here: {first_line(error)}") from error
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)  # Spark has put its own in place
        try:
            yield context
        finally:
            context.stop()


def spark_of(
    runner: str, master: str | None, *, workers: int | None, dedup_index: str | None
) -> Spark | None:
    """Where the shards of an export run: None for this machine.

    Raises UsageError for an unknown runner, and for what can't go with the one that is named.
    """
    if runner not in get_args(Runner):
        raise UsageError(f"--runner {runner}: give one of {', '.join(get_args(Runner))}")
    if runner == "local":
        if master is not None:
            raise UsageError("--spark-master says where Spark runs; add --runner spark")
        return None
    if workers is not None:
        raise UsageError("--workers are of this machine; with --runner spark, Spark's settings say how many")
    from ccrawl.index.open import is_server

    if dedup_index is not None and not is_server(dedup_index):
        raise UsageError(
            f"--dedup-index {dedup_index}: a folder can't be shared by machines; "
            "with --runner spark give a server, redis://host:port/db"
        )
    return Spark(master)


def first_line(error: BaseException) -> str:
    """What a failure says, without the stacks of two languages around it."""
    raised: list[str] = _RAISED.findall(str(error))
    if raised:  # by Python in a task
        return raised[-1][:500]
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip()]
    # Py4J begins with the name of the call, and says what happened in the line after it.
    told = next((line for line in lines if not line.startswith("An error occurred while calling")), "")
    return told[:500] or type(error).__name__
