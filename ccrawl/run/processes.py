"""Starting worker processes: each its own, from a fork server that has the imports done.

A process a shard (and a converter) rather than a pool: the workers of a pool share one task queue, and a
worker killed while it holds that queue's lock stalls all others. Here each has a pipe to its parent and
nothing else in common; a death is an end of file. pebble starts, watches and stops them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from multiprocessing.context import BaseContext
from typing import Any, ParamSpec, TypeVar

from pebble import ProcessFuture, concurrent

from ccrawl.run.guard import limit_process

P = ParamSpec("P")
T = TypeVar("T")

_PARENT_POLL = 0.5  # seconds
_STOP_PATIENCE = 4.0  # seconds; pebble kills what does not heed SIGTERM for three


def worker_context() -> BaseContext:
    """The fork server's context. Heavy imports are done once, in the server, not in each worker."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ccrawl.run.preload"])
    return context


def start(
    context: BaseContext, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> ProcessFuture[T]:
    """Run `function` in a process of its own.

    The future raises what the function raised, or pebble.ProcessExpired with `exitcode` when the process
    died.
    """
    run = concurrent.process(daemon=False, mp_context=context, name=function.__name__)(function)
    future: ProcessFuture[T] = run(*args, **kwargs)
    return future


def cancel(future: ProcessFuture[Any]) -> None:
    """Have the process of `future` ended, by a thread of pebble's."""
    future.cancel()  # type: ignore[no-untyped-call]


def stop(futures: Iterable[ProcessFuture[Any]]) -> None:
    """End the processes of `futures` and wait until they are gone, a few seconds at most."""
    for future in futures:
        cancel(future)
    deadline = time.monotonic() + _STOP_PATIENCE
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)


def become_worker(worker_memory: int) -> None:
    """First thing in a worker: limits, signals, and an end when whoever started it is gone.

    Ctrl-C goes to the whole process group; only the run's own process acts on it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    limit_process(worker_memory)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL)
    os._exit(1)
