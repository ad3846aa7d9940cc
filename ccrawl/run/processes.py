"""Worker processes: each its own, started from a fork server that has the imports done.

A process a shard (and a converter) rather than a pool: the workers of a pool share one task queue, and a
worker killed while it holds that queue's lock stalls all others. Here each has a pipe to whoever started it,
and nothing else in common with the others; a death is an end of file.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any, Generic, ParamSpec, TypeVar

from ccrawl.errors import CcrawlError, OutputError, reason
from ccrawl.run.guard import limit_process

P = ParamSpec("P")
T = TypeVar("T")

_START_TRIES = 3
_STOP_PATIENCE = 2.0  # seconds that a process has to heed SIGTERM


class WorkerDied(Exception):
    """A worker process ended without a result. `exit_code` is negative for a signal."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(f"ended with {exit_code}")
        self.exit_code = exit_code


def worker_context() -> ForkServerContext:
    """The fork server's context. Heavy imports are done once, in the server, not in each worker."""
    try:
        os.getcwd()  # noqa: PTH109, which workers are started in
    except FileNotFoundError as error:
        raise OutputError("the current folder is gone: change to another and run the same again") from error
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ccrawl.run.preload"])
    # A Ctrl-C while the server imports would make it print a traceback; it inherits what is blocked here.
    # The tracker goes first, since starting it unblocks the signal.
    resource_tracker.ensure_running()
    try:
        with interrupts_held():
            forkserver.ensure_running()
    except OSError as error:  # the folder for its socket: missing, full, or a path longer than 100 bytes
        folder = tempfile.gettempdir()
        raise OutputError(
            f"{folder}: no socket can be made here ({reason(error)}); set TMPDIR to another folder"
        ) from error
    return context


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """A Ctrl-C during the block is felt after it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Worker(Generic[T]):
    """A function running in a process of its own. `connection` turns readable when it is over."""

    def __init__(
        self, context: ForkServerContext, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        self.connection, theirs = context.Pipe(duplex=False)
        for tries_left in reversed(range(_START_TRIES)):
            # Not a daemon: those may not start processes, and a shard's process starts converters.
            self._process = context.Process(target=_run, args=(theirs, function, args, kwargs))
            try:
                self._process.start()
                break
            except (EOFError, OSError) as error:  # the fork server was killed: the next try starts another
                if not tries_left:
                    raise OutputError(f"no worker process can be started here ({reason(error)})") from error
        theirs.close()  # so that the process's death is an end of file here

    def result(self) -> T:
        """What the function returned; waits for it. Raises what it raised, or WorkerDied."""
        try:
            returned, value = self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            raise WorkerDied(self._process.exitcode) from None
        finally:
            self.connection.close()
        self._process.join()
        if not returned:
            raise value
        result: T = value
        return result

    def exit_code(self) -> int | None:
        """The exit code of a process that has ended, or is about to."""
        self._process.join(_STOP_PATIENCE)
        return self._process.exitcode

    def stop(self) -> None:
        """End the process and wait until it is gone."""
        self._process.terminate()
        self._process.join(_STOP_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.connection.close()


def in_worker(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a function returns, called in a process of its own. Raises what it raised, or WorkerDied."""
    with interrupts_held():  # else a Ctrl-C could leave a process that nobody knows of
        worker = Worker(worker_context(), function, *args, **kwargs)
    try:
        return worker.result()
    except BaseException:
        worker.stop()
        raise


def _run(connection: Connection, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    try:
        answer = (True, function(*args, **kwargs))
    except Exception as error:
        if not isinstance(error, CcrawlError):  # a bug: tell where, since the traceback stays here
            error.add_note(traceback.format_exc())
        answer = (False, error)
    with contextlib.suppress(OSError):  # whoever started this process may be gone
        connection.send(answer)


def become_worker(worker_memory: int | None) -> None:
    """First thing in a worker: limits, signals, and an end when whoever started it is gone.

    worker_memory: bytes that it may take, None for a worker that sees no pages and has no bound
    Ctrl-C goes to the whole process group; only the run's own process acts on it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    starter = multiprocessing.parent_process()
    if starter is not None:
        # Before the limit: a thread that can't get its stack is waited for without end.
        threading.Thread(target=_end_with, args=(starter,), daemon=True).start()
    if worker_memory is not None:
        limit_process(worker_memory)


def _end_with(starter: BaseProcess) -> None:
    # Not by getppid: the parent is the fork server, which lives on while any process of its making does.
    starter.join()
    os._exit(1)
