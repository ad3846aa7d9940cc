"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

Result = subprocess.CompletedProcess[str]


def ccrawl(*arguments: object, timeout: float = 90) -> Result:
    return subprocess.run(
        [sys.executable, "-m", "ccrawl", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def export(*arguments: object, code: int = 0) -> dict[str, Any]:
    """Run an export with --json; returns its summary."""
    done = ccrawl("export", "--json", *arguments)
    assert done.returncode == code, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary
