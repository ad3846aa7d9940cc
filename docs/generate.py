#!/usr/bin/env python3
"""Write what the code itself knows best: commands, columns, exit codes, and the README's session.

docs/generate.py            write docs/reference/*.md and README.md
docs/generate.py --check    change nothing; exit 1 and name the pages that are out of date
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by docs/generate.py; change the code, not this page. -->\n"


def columns() -> str:
    """The dataset's columns."""
    from ccrawl.dataset.schema import COLUMNS

    types = {"double": "float64"}
    rows = [
        f"| `{column.name}` | {types.get(column.type, column.type)} | {column.meaning} |"
        for column in COLUMNS
    ]
    return "\n".join(
        [
            NOTE,
            "# Columns",
            "",
            "One row a page, in this order. The first twelve are the public open-markdown-v3 layout, name",
            "for name and type for type; files of either kind can be read as one dataset. Columns are only",
            "ever added at the end, and a name never changes its type or meaning.",
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
    os.environ.update(
        COLUMNS="80", TERMINAL_WIDTH="80", NO_COLOR="1", TERM="dumb", _TYPER_FORCE_DISABLE_TERMINAL="1"
    )
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


SESSION = (
    "scripts/ccrawl export samples/sample.warc.gz --out out --dedup-digest",
    "scripts/ccrawl dedup out --top 2",
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


PAGES = {
    REFERENCE / "columns.md": columns,
    REFERENCE / "exit-codes.md": exit_codes,
    REFERENCE / "commands.md": commands,
    ROOT / "README.md": readme,
}
TIMES = re.compile(r"^time .*$", re.MULTILINE)  # all that differs between two runs


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = []
    for path, make in PAGES.items():
        text = make()
        if path.exists() and TIMES.sub("", path.read_text(encoding="utf-8")) == TIMES.sub("", text):
            continue
        stale.append(path.name)
        if "--check" not in arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'out of date; run docs/generate.py' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
