"""Worker processes end with whoever started them, whatever they are doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

# Prints the pid of a worker that sleeps, and of one that this worker has started.
STARTER = """
import os, sys, time
from ccrawl.run.processes import Worker, become_worker, worker_context

def sleep(pids):
    become_worker(1 << 30)
    with open(pids, "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(600)

def start_another(pids):
    inner = Worker(worker_context(), sleep, pids)
    sleep(pids)

if __name__ == "__main__":
    outer = Worker(worker_context(), start_another, sys.argv[1])
    outer.result()
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_workers_end_when_whoever_started_them_is_killed(tmp_path: Path) -> None:
    script, pids = tmp_path / "starter.py", tmp_path / "pids"
    script.write_text(STARTER)
    starter = subprocess.Popen([sys.executable, script, pids])
    deadline = time.monotonic() + 60
    while not pids.exists() or pids.read_text().count("\n") < 2:
        assert time.monotonic() < deadline and starter.poll() is None
        time.sleep(0.05)
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    left = [int(line) for line in pids.read_text().splitlines()]
    deadline = time.monotonic() + 20
    while any(map(alive, left)) and time.monotonic() < deadline:
        time.sleep(0.05)
    still = [pid for pid in left if alive(pid)]
    for pid in still:
        os.kill(pid, signal.SIGKILL)
    assert still == []
