"""Runs what a page shows: its commands and programs, in order, in a folder of their own.

Three kinds of fences do something, in the folder that a page's reader would be in (it holds sample.warc.gz):

    ```console      lines that begin with "$ " are commands of a shell, the others are what they print
    ```python       a program; a ```text fence right behind it is what it prints
    ```html title="page.html"    (any language) a file of that name

Only standard output is compared: progress and notices go to standard error. A command may end with any exit
code; a page that wants to show it says `$ echo $?`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "samples" / "sample.warc.gz"

_FENCE = re.compile(
    r"^```console\n(?P<console>.*?)^```$|"
    r"^```\w+ title=\"(?P<name>[\w.-]+)\"\n(?P<content>.*?)^```$|"
    r"^```python\n(?P<python>.*?)^```$(?:\n\n?```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


class Folder:
    """A folder with the sample in it, a `ccrawl` and a `python` on the path, and the last exit code."""

    def __init__(self, path: Path) -> None:
        self._path = path / "work"
        self._exit_code = 0
        self._path.mkdir()
        shutil.copy(SAMPLE, self._path)
        programs = path / "bin"
        programs.mkdir()
        for name, words in (("ccrawl", [sys.executable, "-m", "ccrawl"]), ("python", [sys.executable])):
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            (programs / name).chmod(0o755)
        self._environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "CCRAWL_CONFIG": "",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "HF_HOME": str(path / "hub"),  # where `datasets` keeps what it has read
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        }

    def write(self, name: str, content: str) -> None:
        """Make a file."""
        (self._path / name).write_text(content, encoding="utf-8")

    def run(self, words: list[str]) -> list[str]:
        """The lines that a command prints, without blanks at their ends."""
        done = subprocess.run(
            words,
            cwd=self._path,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        self._exit_code = done.returncode
        if "Traceback" in done.stderr:
            raise RuntimeError(f"{words[-1]}\n{done.stderr[-1000:]}")
        return [line.rstrip() for line in done.stdout.rstrip().splitlines()]

    def shell(self, command: str) -> list[str]:
        """The lines that a shell's command prints; `$?` is the exit code of the one before."""
        return self.run(["bash", "-c", f"(exit {self._exit_code})\n{command}"])


def refreshed(page: str) -> str:
    """The page's text with what its commands and programs print now."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Folder(Path(directory))
        return _FENCE.sub(lambda fence: _rerun(fence, folder), page)


def _rerun(fence: re.Match[str], folder: Folder) -> str:
    if fence["console"] is not None:
        shown: list[str] = []
        for command in _commands(fence["console"].splitlines()):
            shown += [f"$ {command}", *folder.shell(command)]
        return "\n".join(["```console", *shown, "```"])
    if fence["name"] is not None:
        folder.write(fence["name"], fence["content"])
        return fence[0]
    printed = folder.run([sys.executable, "-W", "error", "-c", fence["python"]])
    if fence["printed"] is None:
        return fence[0]
    before = fence[0][: fence.start("printed") - fence.start()]
    return before + "\n".join([*printed, "```"])


def _commands(lines: Iterable[str]) -> list[str]:
    """The commands among the lines of a console; one that ends with a backslash goes on in the next."""
    found: list[str] = []
    goes_on = False
    for line in lines:
        if goes_on:
            found[-1] += "\n" + line
        elif line.startswith("$ "):
            found.append(line[2:])
        else:
            continue
        goes_on = line.endswith("\\")
    return found
