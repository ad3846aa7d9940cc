"""What pages show is run, in order, in one folder; what is printed now takes the place of what stood there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sessions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_sessions", ROOT / "docs" / "sessions.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def fence(kind: str, *lines: str) -> str:
    return "\n".join([f"```{kind}", *lines, "```"])


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (fence("console", "$ echo one", "two"), fence("console", "$ echo one", "one")),
        (fence("console", "$ echo a \\", "  b"), fence("console", "$ echo a \\", "  b", "a b")),
        (fence("console", "$ false", "$ echo $?", "0"), fence("console", "$ false", "$ echo $?", "1")),
        (fence("console", "$ ls"), fence("console", "$ ls", "sample.warc.gz")),
        (
            fence("python", "print(1 + 1)") + "\n\n" + fence("text", "3"),
            fence("python", "print(1 + 1)") + "\n\n" + fence("text", "2"),
        ),
        (
            fence('json title="a.json"', "[7]") + "\n" + fence("console", "$ cat a.json"),
            fence('json title="a.json"', "[7]") + "\n" + fence("console", "$ cat a.json", "[7]"),
        ),
        (
            fence("python", "open('made', 'w').close()") + "\nthen\n" + fence("console", "$ ls made"),
            fence("python", "open('made', 'w').close()") + "\nthen\n" + fence("console", "$ ls made", "made"),
        ),
    ],
)
def test_a_block_shows_what_it_prints(sessions: ModuleType, shown: str, printed: str) -> None:
    assert sessions.refreshed(f"# A page\n\n{shown}\n\nmore\n") == f"# A page\n\n{printed}\n\nmore\n"


def test_other_blocks_are_left_alone(sessions: ModuleType) -> None:
    page = "\n\n".join(
        [fence("sh", "exit 1"), fence("text", "$ echo no"), "    $ echo no", fence("sql", "drop")]
    )
    assert sessions.refreshed(page) == page


def test_a_program_that_fails_is_no_output(sessions: ModuleType) -> None:
    with pytest.raises(RuntimeError, match="the reason"):
        sessions.refreshed(fence("python", "raise ValueError('the reason')"))


def test_warnings_of_a_program_are_errors(sessions: ModuleType) -> None:
    with pytest.raises(RuntimeError, match="soon gone"):
        sessions.refreshed(fence("python", "import warnings", "warnings.warn('soon gone')"))
