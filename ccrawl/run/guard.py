"""Limits around the conversion of one page, in the process that converts it.

Two timers, since neither is enough: a wall-clock alarm raises in Python code (and wakes a sleep), and costs
only the page; C code never returns to Python to raise, so a CPU-time timer with the default action ends the
process a little later. Whoever started the process sees SIGPROF as exit code and sets the page aside.
"""

from __future__ import annotations

import re
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar

from ccrawl.run.board import NO_PAGE, Board
from ccrawl.run.options import ExportOptions
from ccrawl.run.outcome import Outcome

# CPU seconds that C code may go on after the alarm before the process is ended (less for short limits).
_GRACE = 5.0

TIMEOUT = "timeout"
MEMORY = "memory"
CRASH = "crash"


class Numbered(Protocol):
    """A page on its way through conversion, whatever else it holds."""

    @property
    def number(self) -> int: ...


Made = TypeVar("Made")
Work = TypeVar("Work", bound=Numbered)
Convert = Callable[[Work, ExportOptions], Outcome[Made]]


class _Alarm(BaseException):
    """The page's time is up. A BaseException, so that no `except Exception` on the way swallows it."""


def _ring(_signal: int, _frame: FrameType | None) -> None:
    raise _Alarm


def limit_process(worker_memory: int) -> None:
    """Prepare this process for converting pages: the alarm's handler and a bound on its memory.

    The bound is on private writable memory (RLIMIT_DATA) beyond what the process has at its start: Arrow's
    allocator reserves a GiB with its first byte. Passing it raises MemoryError in Python and makes C
    libraries fail, which costs the page or at worst the process.
    """
    signal.signal(signal.SIGALRM, _ring)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = _private_memory() + worker_memory
    resource.setrlimit(
        resource.RLIMIT_DATA, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
    )


def _private_memory() -> int:
    """Bytes of private writable memory that this process has mapped; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmData:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def convert_guarded(
    convert: Convert[Work, Made], page: Work, options: ExportOptions, board: Board
) -> Outcome[Made]:
    """`convert(page, options)` under the page's time limit, with its index on the board while it lasts."""
    board.current_page = page.number
    try:
        signal.setitimer(signal.ITIMER_PROF, options.page_timeout + min(options.page_timeout, _GRACE))
        signal.setitimer(signal.ITIMER_REAL, options.page_timeout)
        outcome = convert(page, options)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except _Alarm:
        outcome = set_aside(page.number, TIMEOUT, options)
    signal.setitimer(signal.ITIMER_PROF, 0)
    board.current_page = NO_PAGE
    return outcome


def set_aside(index: int, cause: str, options: ExportOptions) -> Outcome[Any]:
    """The outcome of a page that ended its process, or would have."""
    detail = {
        TIMEOUT: f"not converted within {options.page_timeout:g} s; --page-timeout gives it longer",
        MEMORY: "its process was killed, most likely for want of memory",
        CRASH: "its process crashed while converting it",
    }[cause]
    return Outcome(index, None, cause, detail, failed=True)


def cause_of_death(exit_code: int | None) -> str:
    """Why a worker process ended, from its exit code (negative: the signal)."""
    if exit_code in (-signal.SIGPROF, -signal.SIGALRM):
        return TIMEOUT
    if exit_code == -signal.SIGKILL:  # what the kernel sends when memory runs out
        return MEMORY
    return CRASH
