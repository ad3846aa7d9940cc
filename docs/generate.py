#!/usr/bin/env python3
"""Write what the code itself knows best: commands, columns, exit codes, the Python API, what sessions print.

docs/generate.py            write docs/reference/*.md, README.md, and what the tutorial and guides print
docs/generate.py --check    change nothing; exit 1 and name the pages that are out of date
docs/generate.py PAGE ...   only pages of these names, as in tutorial.md
"""

from __future__ import annotations

import difflib
import importlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import architecture
import configurable
import python_api
import sessions

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by docs/generate.py; change the code, not this page. -->\n"


def columns() -> str:
    """The dataset's columns."""
    from ccrawl.dataset.schema import COLUMNS, REFETCH_COLUMNS, Column

    types = {"double": "float64"}

    def table(columns: tuple[Column, ...]) -> list[str]:
        rows = [
            f"| `{column.name}` | {types.get(column.type, column.type)} | {column.meaning} |"
            for column in columns
        ]
        return ["| column | type | meaning |", "|---|---|---|", *rows, ""]

    return "\n".join(
        [
            NOTE,
            "# Columns",
            "",
            "One row a page, in this order. The first twelve are the public open-markdown-v3 layout, name",
            "for name and type for type; files of either kind can be read as one dataset. Columns are only",
            "ever added at the end, and a name never changes its type or meaning.",
            "",
            *table(COLUMNS),
            "## Of a refetch",
            "",
            "One row a URL, in the order of the input. The first 27 are the public refetch layout, name for",
            "name; the last three are ours. [The guide](../how-to/refetch.md) says what follows from which.",
            "",
            *table(REFETCH_COLUMNS),
        ]
    )


def exit_codes() -> str:
    """What a command's exit code says."""
    from ccrawl.cli import EXIT_CODES

    rows = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    return "\n".join([NOTE, "# Exit codes", "", "| code | meaning |", "|---|---|", *rows, ""])


def commands() -> str:
    """Every command's own help."""
    from ccrawl.cli import COMMANDS

    # Help as an 80-column terminal without colours shows it.
    os.environ.update(
        COLUMNS="80", TERMINAL_WIDTH="80", NO_COLOR="1", TERM="dumb", _TYPER_FORCE_DISABLE_TERMINAL="1"
    )
    parts = [NOTE, "# Commands", "", *block(["--help"], "ccrawl --help")]
    for name in COMMANDS:
        parts += ["", f"## ccrawl {name}", "", *block([name, "--help"], f"ccrawl {name} --help")]
        for inner in _inner_commands(name):
            shown = f"ccrawl {name} {inner}"
            parts += ["", f"### {shown}", "", *block([name, inner, "--help"], f"{shown} --help")]
    return "\n".join([*parts, ""])


def _inner_commands(name: str) -> list[str]:
    """The commands of a command that has some, in the order of its help."""
    module = importlib.import_module(f"ccrawl.cli.{name.replace('-', '_')}")
    if not hasattr(module, "app"):
        return []
    return [command.name or command.callback.__name__ for command in module.app.registered_commands]


def faults() -> str:
    """What `ccrawl verify` can find."""
    from ccrawl.dataset.verify import FAULTS

    rows = [f"| `{code}` | {meaning} |" for code, meaning in FAULTS.items()]
    head = [
        "Each line of `ccrawl verify` that begins with `fault` has one of these codes; the exit code is 3."
    ]
    return "\n".join([NOTE, "# Faults", "", *head, "", "| code | meaning |", "|---|---|", *rows, ""])


def fetch_errors() -> str:
    """What may have kept a URL from being fetched."""
    from ccrawl.fetching.types import ERRORS

    rows = [f"| `{error}` | {meaning} |" for error, meaning in ERRORS.items()]
    head = [
        "What the column `error` of a refetch says, when it is not empty. An HTTP status such as 404 is no",
        "error: the server has answered. [Fetching](fetching.md) has the limits that are spoken of here.",
    ]
    return "\n".join([NOTE, "# Fetch errors", "", *head, "", "| error | meaning |", "|---|---|", *rows, ""])


def configuration() -> str:
    """The options that files and the environment may set."""
    return f"{NOTE}\n{configurable.page()}"


def where_things_are() -> str:
    """The page on architecture."""
    return f"{NOTE}\n{architecture.page()}"


def block(arguments: list[str], shown: str) -> list[str]:
    """A command and what it prints, as a code block."""
    from ccrawl.cli import main

    output = io.StringIO()
    with redirect_stdout(output):
        code = main(arguments)
    assert code == 0, (arguments, output.getvalue())
    lines = [line.rstrip() for line in output.getvalue().strip("\n").splitlines()]
    return ["```text", f"$ {shown}", *lines, "```"]


SESSION = (
    "scripts/ccrawl export samples/sample.warc.gz --out out --dedup-digest",
    "scripts/ccrawl dedup out --top 1",
)
SESSION_BLOCK = re.compile(r"(<!-- session[^>]*-->\n).*?(<!-- /session -->)", re.DOTALL)


def readme() -> str:
    """The README with the output of its session as the commands print it now."""
    shown = []
    with tempfile.TemporaryDirectory() as out:
        for command in SESSION:
            words = [out if word == "out" else word for word in command.split()[1:]]
            done = subprocess.run(
                [sys.executable, "-m", "ccrawl", *words],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode in (0, 3), done.stderr
            shown += [f"$ {command}", *done.stdout.replace(out, "out").rstrip().splitlines(), ""]
    block = "\n".join(["```text", *shown[:-1], "```", ""])
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return SESSION_BLOCK.sub(lambda match: match[1] + block + match[2], text)


def python() -> str:
    """The Python API."""
    return f"{NOTE}\n{python_api.page()}"


def session(path: Path) -> str:
    """A page with what its commands print now."""
    return sessions.refreshed(path.read_text(encoding="utf-8"))


# Pages whose commands and programs are run.
SESSIONS = (
    "tutorial.md",
    "how-to/common-crawl.md",
    "how-to/configure.md",
    "how-to/extractor.md",
    "how-to/recover.md",
    "how-to/remove-duplicates.md",
    "how-to/tune.md",
    "how-to/wacz.md",
)
PAGES: dict[Path, Callable[[], str]] = {
    REFERENCE / "columns.md": columns,
    REFERENCE / "exit-codes.md": exit_codes,
    ROOT / "docs" / "architecture.md": where_things_are,
    ROOT / "docs" / architecture.PICTURE: architecture.picture,
    REFERENCE / "commands.md": commands,
    REFERENCE / "configuration.md": configuration,
    REFERENCE / "faults.md": faults,
    REFERENCE / "fetch-errors.md": fetch_errors,
    REFERENCE / "python.md": python,
    ROOT / "README.md": readme,
    **{path: partial(session, path) for path in (ROOT / "docs" / name for name in SESSIONS)},
}
TIMES = re.compile(r"^time .*$", re.MULTILINE)  # all that differs between two runs


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    check = "--check" in arguments
    names = [argument for argument in arguments if argument != "--check"]
    if unknown := set(names) - {path.name for path in PAGES}:
        print(f"not written by this program: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    stale = []
    for path, make in PAGES.items():
        if names and path.name not in names:
            continue
        text = make()
        former = path.read_text(encoding="utf-8") if path.exists() else ""
        if TIMES.sub("", former) == TIMES.sub("", text):
            continue
        stale.append(path.name)
        if check:
            sys.stdout.writelines(difflib.unified_diff(former.splitlines(True), text.splitlines(True), n=0))
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'out of date; run docs/generate.py' if check else 'written'}")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
