"""Starting worker processes: each its own, from a fork server that has the imports done.

A process a shard (and a converter) rather than a pool: the workers of a pool share one task queue, and a
worker killed while it holds that queue's lock stalls all others. Here each has a pipe to its parent and
nothing else in common; a death is an end of file. pebble starts, watches and stops them.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.context import BaseContext
from typing import Generic, ParamSpec, TypeVar

from pebble import ProcessFuture, concurrent

from ccrawl.run.guard import limit_process

P = ParamSpec("P")
T = TypeVar("T")

_PARENT_POLL = 0.5  # seconds
_STOP_PATIENCE = 2.0  # seconds


def worker_context() -> BaseContext:
    """The fork server's context. Heavy imports are done once, in the server, not in each worker."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ccrawl.run.preload"])
    return context


class Worker(Generic[T]):
    """A function running in a process of its own.

    `future` raises what the function raised, or pebble.ProcessExpired with `exitcode` when the process died.
    """

    def __init__(
        self, context: BaseContext, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        self._name = f"ccrawl-{function.__name__}-{secrets.token_hex(8)}"
        run = concurrent.process(daemon=False, mp_context=context, name=self._name)(function)
        self.future: ProcessFuture[T] = run(*args, **kwargs)

    def stop(self) -> None:
        """End the process and wait until it is gone."""
        # Not by cancelling the future: that races with a death of the process, in a thread of pebble's.
        for process in multiprocessing.active_children():
            if process.name == self._name:
                process.terminate()
                process.join(_STOP_PATIENCE)
                if process.is_alive():
                    process.kill()
                    process.join(_STOP_PATIENCE)


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
