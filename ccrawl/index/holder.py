"""Who holds a lock on a server: told well enough that others on the same machine see whether it still lives.

    MACHINE/PID/STARTED/RANDOM

MACHINE is the boot of this machine and the space that process ids are counted in (containers have their own);
STARTED tells a process from a later one of the same number. Of other machines' processes, and elsewhere than
on Linux, nothing is known: the lock's lease decides.
"""

from __future__ import annotations

import functools
import os
import secrets
from pathlib import Path

_PROC = Path("/proc")


def token() -> str:
    """A new token of this process."""
    return f"{_machine()}/{os.getpid()}/{_started(os.getpid()) or ''}/{secrets.token_hex(8)}"


def is_dead(other: str) -> bool:
    """Whether the process that made this token is known to be gone. One that is only stopped is not."""
    machine, _, rest = other.partition("/")
    pid, _, rest = rest.partition("/")
    started = rest.partition("/")[0]
    if not machine or machine != _machine() or not pid.isdecimal() or not started:
        return False
    return _started(int(pid)) != started


@functools.cache
def _machine() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        space = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{boot}:{space}"


def _started(pid: int) -> str | None:
    """When a process was started, in ticks since the boot; None when there is none, or it is a zombie."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
