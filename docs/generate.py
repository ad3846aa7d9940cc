#!/usr/bin/env python3
"""Write the reference pages that the code itself knows best: commands, columns, exit codes.

    docs/generate.py            write docs/reference/*.md
    docs/generate.py --check    change nothing; exit 1 and name the pages that are out of date
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Written by docs/generate.py; change the code, not this page. -->\n"


def columns() -> str:
    """The dataset's columns."""
    from ccrawl.dataset.schema import COLUMNS

    types = {"double": "float64"}
    rows = [
        f"| `{column.name}` | {types.get(column.type, column.type)} | {column.meaning} |" for column in COLUMNS
    ]
    return "\n".join(
        [
            NOTE,
            "# Columns",
            "",
            "One row a page, in this order. The first twelve are the public open-markdown-v3 layout, name for name",
            "and type for type; files of either kind can be read as one dataset. Columns are only ever added at",
            "the end, and a name never changes its type or meaning.",
            "",
            "| column | type | meaning |",
            "|---|---|---|",
            *rows,
            "",
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
    os.environ.update(COLUMNS="80", TERMINAL_WIDTH="80", NO_COLOR="1", TERM="dumb", _TYPER_FORCE_DISABLE_TERMINAL="1")
    parts = [NOTE, "# Commands", "", *block(["--help"], "ccrawl --help")]
    for name in COMMANDS:
        parts += ["", f"## ccrawl {name}", "", *block([name, "--help"], f"ccrawl {name} --help")]
    return "\n".join([*parts, ""])


def block(arguments: list[str], shown: str) -> list[str]:
    """A command and what it prints, as a code block."""
    from ccrawl.cli import main

    output = io.StringIO()
    with redirect_stdout(output):
        code = main(arguments)
    assert code == 0, (arguments, output.getvalue())
    lines = [line.rstrip() for line in output.getvalue().strip("\n").splitlines()]
    return ["```text", f"$ {shown}", *lines, "```"]


PAGES = {"columns.md": columns, "exit-codes.md": exit_codes, "commands.md": commands}


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = []
    for name, make in PAGES.items():
        path, text = REFERENCE / name, make()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'out of date; run docs/generate.py' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
