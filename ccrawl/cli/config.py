"""`ccrawl config`: what options are set to, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main

from ccrawl.cli import COMMANDS, add_command
from ccrawl.cli.settings import (
    FILE_VARIABLE,
    PREFIX,
    PROJECT_FILE,
    SettingsFile,
    configure,
    key_of,
    options_of,
    settings_files,
    user_file,
    variable_given,
    without_secrets,
)
from ccrawl.errors import UsageError, did_you_mean

app = typer.Typer(
    help="Show what options are set to, and where: in the environment, in files, or nowhere.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@dataclass(frozen=True, slots=True)
class OptionValue:
    """What an option has when the command line says nothing, and where that stands."""

    command: str
    option: str  # its name in files
    value: Any
    source: str  # environment, project, user, CCRAWL_CONFIG or default
    where: str | None  # the variable, or the file and the key


@app.command(no_args_is_help=False)
def show(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", help="As in export, or index import: all its options.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every option's.")] = False,
) -> None:
    """Show each option's value and where it comes from. Passwords are left out.

    Without COMMAND: of all commands, what is not at its default.

    Example: ccrawl config show export
    """
    words = command or []
    names = [words[0]] if words else [name for name in COMMANDS if name != "config"]
    if words and words[0] not in COMMANDS:
        raise UsageError(f"there is no command {words[0]}{did_you_mean(words[0], COMMANDS)}")
    files = settings_files()
    values = [value for name in names for value in _values(name, files)]
    if words:
        values = [value for value in values if value.command.split()[: len(words)] == words]
    if words and not values:
        raise UsageError(f"there is no command {' '.join(words)} with options to set")
    if as_json:
        shown = [{name: getattr(value, name) for name in OptionValue.__slots__} for value in values]
        print(json.dumps(shown, ensure_ascii=False, indent=1))
    else:
        print(_as_text(values, only_set=not words))


@app.command(no_args_is_help=False)
def path() -> None:
    """Name the files that are read, nearest first, and those that would be."""
    files = settings_files()
    for file in files:
        print(f"{file.kind:<8} {file.path}")
    kinds = {file.kind for file in files}
    if FILE_VARIABLE not in kinds and "project" not in kinds:
        print(f"project  none: no {PROJECT_FILE} in this folder or above")
    if not kinds & {FILE_VARIABLE, "user"}:
        print(f"user     none: no {user_file()}")


def contexts(name: str) -> Iterator[typer.Context]:
    """A context for each command behind a name of the command line: one, or one for each inner command."""
    group = typer.Typer(add_completion=False)
    group.callback()(lambda: None)  # with it a single command keeps its name
    add_command(group, name)
    root = typer.main.get_command(group)
    assert isinstance(root, typer.core.TyperGroup)
    outer = typer.Context(root, info_name=PREFIX.lower())
    found = root.commands[name]
    inner = getattr(found, "commands", None)
    if inner is None:
        yield typer.Context(found, info_name=name, parent=outer)
        return
    parent = typer.Context(found, info_name=name, parent=outer)
    for word, command in inner.items():
        yield typer.Context(command, info_name=word, parent=parent)


def _values(name: str, files: Sequence[SettingsFile]) -> Iterator[OptionValue]:
    for ctx in contexts(name):
        settings = configure(ctx, files)
        command = ctx.command_path.partition(" ")[2]
        for option in options_of(ctx.command):
            given, _ = option.consume_value(ctx, {})
            value = None if given is None else option.process_value(ctx, given)
            variable, setting = variable_given(option), settings.get(key_of(option))
            source, where = "default", None
            if variable:
                source, where = "environment", variable
            elif setting:
                source, where = setting.file.kind, setting.where
            value = str(value) if isinstance(value, Path) else without_secrets(value)
            yield OptionValue(command, key_of(option), value, source, where)


def _as_text(values: Sequence[OptionValue], *, only_set: bool) -> str:
    shown = [value for value in values if value.where or not only_set]
    if not shown:
        return "every option is at its default; `ccrawl config show COMMAND` lists them"
    lines = []
    option_width = max(len(value.option) for value in shown)
    value_width = min(24, max(len(_plain(value.value)) for value in shown))
    for number, value in enumerate(shown):
        if number == 0 or value.command != shown[number - 1].command:
            lines += [""] * bool(number) + [value.command]
        text = _plain(value.value)
        lines.append(
            f"  {value.option:<{option_width}}  {text:<{value_width}}  {value.where or value.source}"
        )
    return "\n".join(lines)


def _plain(value: Any) -> str:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None or value == "" else str(value)
