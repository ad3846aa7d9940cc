"""A command loads what it uses and no more: start-up is time that every call pays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ccrawl.cli import COMMANDS
from tests.support.warcs import response, write

# Runs a command in this process and prints the modules that it leaves.
PROGRAM = """
import json, sys
from ccrawl.cli import main
code = main(sys.argv[1:])
print("\\n" + json.dumps([code, [*sys.modules]]))
"""
ARROW = {"numpy", "pandas", "pyarrow"}
PARSING = {"fasttext", "numpy", "selectolax", "ccrawl.html.content"}
READING = {"brotli", "isal", "idna"}
NETWORK = {"aiohttp", "http.client", "redis", "ssl"}
DISPLAY = {"rich", "textual"}
SETTINGS = {"tomllib"}


def loaded(*arguments: object) -> set[str]:
    """The modules that are there when a command is over."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write(tmp_path / "a.warc.gz", [response(number) for number in range(3)])


def test_help_loads_nothing_that_takes_long() -> None:
    assert not loaded("--help") & (ARROW | PARSING | READING | NETWORK | DISPLAY | SETTINGS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_loads_nothing_that_the_command_works_with(command: str) -> None:
    assert not loaded(command, "--help") & (ARROW | PARSING | NETWORK | DISPLAY)


def test_the_process_of_an_export_leaves_pages_files_and_the_card_to_workers(
    archive: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert not loaded("export", archive, "--out", out) & (ARROW | PARSING | READING | NETWORK | DISPLAY)
    assert (out / "README.md").exists()


def test_checking_an_archive_parses_no_page(archive: Path) -> None:
    assert not loaded("check", archive) & (ARROW | PARSING | NETWORK)


def test_a_dataset_is_read_without_a_parser(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    loaded("export", archive, "--out", out, "--no-card", "--quiet")
    for command in ("card", "dedup", "show"):
        assert not loaded(command, out) & ({"fasttext", "pandas", "selectolax"} | READING | DISPLAY)


def test_workers_find_no_pandas_and_leave_it_to_others() -> None:
    program = (
        "import sys, ccrawl.run.preload as preload; assert 'pandas' not in sys.modules; "
        "import pandas, pyarrow; assert pyarrow.table({'a': [1]}).to_pandas().a[0] == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
