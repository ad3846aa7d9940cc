"""The reference page of configuration: every option that a file or the environment may set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

INTRODUCTION = """\
# Configuration

[Set defaults](../how-to/configure.md) shows the use. An option has the value of the first place that
gives one:

1. the command line;
2. the environment: `CCRAWL_EXPORT_WORKERS`, or for inner commands `CCRAWL_INDEX_IMPORT_WORKERS` and then
   `CCRAWL_INDEX_WORKERS`; then, for options that commands share, `CCRAWL_WORKERS`;
3. the project's file: `ccrawl.toml`, or `pyproject.toml` with a table `tool.ccrawl`, in the current folder or
   the nearest one above it that has either;
4. the user's file: `ccrawl/config.toml` in `$XDG_CONFIG_HOME`, by default `~/.config`;
5. the built-in default, which `ccrawl COMMAND --help` shows.

In one file, the table of a command counts before the keys at the top. `CCRAWL_CONFIG` names a file to read
instead of those two; with an empty value none is read.

At the top of a file, or in a variable without a command's name, may stand what means the same in every
command that has it: {shared}.

Only the command line can give {command_line_only}.

Paths in a file count from the file's own folder. An empty variable counts as not set; lists in variables are
separated by spaces. A key that is not known, or a value of another kind, ends the command with one line and
exit code 2. Two more variables are no options: `CCRAWL_REDIS_PASSWORD` is the password of an index on a
server, and `NO_COLOR` turns colours off.

A command that takes values from a file says so on standard error, unless `--quiet` or `--json` is given.
Files and variables are read by the command line only: functions of the [Python API](python.md) have their own
defaults."""


def page() -> str:
    """The page, Markdown."""
    from ccrawl.cli import COMMANDS
    from ccrawl.cli.config import contexts
    from ccrawl.cli.settings import COMMAND_LINE_ONLY, SHARED, command_words, options_of

    parts: list[str] = []
    flags: set[str] = set()
    for ctx in (ctx for name in COMMANDS for ctx in contexts(name)):
        words = command_words(ctx)
        flags |= {flag.removeprefix("--") for parameter in ctx.command.params for flag in parameter.opts}
        if rows := [_row(option, words, ctx) for option in options_of(ctx.command)]:
            parts += [f"## {' '.join(words)}", "", f"In a file: `[{'.'.join(words)}]`.", ""]
            parts += ["| key | value | variable | |", "|---|---|---|---|", *rows, ""]
    introduction = INTRODUCTION.format(
        shared=_listed(SHARED & flags), command_line_only=_listed(COMMAND_LINE_ONLY & flags)
    )
    return "\n".join([introduction, "", *parts])


def _row(option: Any, words: list[str], ctx: Any) -> str:
    from ccrawl.cli.help import value_name
    from ccrawl.cli.settings import key_of, variables

    key = key_of(option)
    value = "true or false" if option.is_flag else f"`{value_name(option, ctx)}`".replace("|", "\\|")
    value += ", or a list of them" if option.multiple else ""
    return f"| `{key}` | {value} | `{variables(words, key)[0]}` | {option.help or ''} |"


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(keys))
