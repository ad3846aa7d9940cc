"""Values of options that the command line leaves out: from the environment, then from files.

    command line > CCRAWL_EXPORT_WORKERS > CCRAWL_WORKERS > project file > user file > the built-in default

In a file, the table of a command counts before the keys at the top; a nearer file before a farther one. Click
does the work: variables are its `envvar`, values of files its `default_map`.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperOption

from ccrawl.cli.help import PlainHelpCommand
from ccrawl.errors import UsageError, did_you_mean

PREFIX = "CCRAWL"
FILE_VARIABLE = "CCRAWL_CONFIG"  # the one file to read instead of those that are looked for; empty: none
PROJECT_FILE, PYPROJECT = "ccrawl.toml", "pyproject.toml"

# Options that mean the same in every command that has them: they may also be set for all of these at once.
SHARED = frozenset(
    (
        *("cache", "dedup-index", "extractor", "favor", "headings", "images", "json", "links", "quiet"),
        *("repo", "runner", "spark-master", "workers"),
    )
)
# What removes or replaces work, or opens what is closed for a reason, is asked for each time anew.
COMMAND_LINE_ONLY = frozenset(
    (
        *("allow-private", "force", "help", "ignore-robots", "open", "overwrite", "prune"),
        *("remove-others", "repair", "show-template"),
    )
)
# Options with a path in them, beside those whose metavar says so.
_PATHS = frozenset(["base-url", "dedup-index"])
_PATH_METAVAR = re.compile(r"DIR|FILE|PATH")
_USER_AND_PASSWORD = re.compile(r"(?<=://)[^/@\s]*(?=@)")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings: where it is, and what stands in it (of pyproject.toml the table `tool.ccrawl`)."""

    path: Path
    kind: str  # project, user or CCRAWL_CONFIG
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return shown_path(self.path)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that a file gives an option."""

    value: Any
    file: SettingsFile
    key: str  # as in export.workers

    @property
    def where(self) -> str:
        """The file and the key."""
        return f"{self.file}: {self.key}"


def shown_path(path: Path) -> str:
    """A path as a person finds it: short below the current folder."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def user_file() -> Path:
    """Where the user's own file is, or would be."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "ccrawl" / "config.toml"


def settings_files() -> list[SettingsFile]:
    """The files that count, nearest first. Raises UsageError for one that can't be read."""
    named = os.environ.get(FILE_VARIABLE)
    if named is not None:
        return [_read(Path(named), FILE_VARIABLE)] if named else []
    found = [file for file in (_project_file(),) if file]
    if user_file().is_file():
        found.append(_read(user_file(), "user"))
    return found


def _project_file() -> SettingsFile | None:
    """The nearest ccrawl.toml, or pyproject.toml with a table for us, in this folder or above."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).is_file():
            return _read(folder / PROJECT_FILE, "project")
        shared = folder / PYPROJECT
        # One without a word of us is not parsed: what is wrong in it is not our business.
        if shared.is_file() and b"tool.ccrawl" in shared.read_bytes():
            return _read(shared, "project")
    return None


def _read(path: Path, kind: str) -> SettingsFile:
    try:
        with path.open("rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{shown_path(path)}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{shown_path(path)}: not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{shown_path(path)}: lists or tables in it are nested too deep") from error
    if path.name == PYPROJECT:
        tool = values.get("tool")
        values = tool.get("ccrawl", {}) if isinstance(tool, dict) else {}
    return SettingsFile(path, kind, values)


class ConfiguredCommand(PlainHelpCommand):
    """A command whose options take values from the environment and from files, and that says which files."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Before parsing, tell click where values may come from. Help must work whatever a file says."""
        shows_help = {"-h", "--help"} & {*args} or (self.no_args_is_help and not args)
        if not ctx.resilient_parsing and not shows_help:
            ctx.meta["settings"] = configure(ctx, settings_files())
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Say what files have decided, unless silence or JSON lines were asked for."""
        if not ctx.params.get("quiet") and not ctx.params.get("as_json"):
            _tell(ctx)
        return super().invoke(ctx)


def configure(ctx: typer.Context, files: Sequence[SettingsFile]) -> dict[str, Setting]:
    """Give a command's options their variables and its context the values of files, all of them checked.

    Returns what files say, by key. Raises UsageError, which names the variable, or the file and the key.
    """
    settings = find_settings(ctx, files)
    values: dict[str, Any] = {}
    for option in options_of(ctx.command):
        option.envvar = variables(command_words(ctx), key_of(option))
        option.show_envvar = False  # not in messages: it would be a list
        if variable := variable_given(option):
            _check(ctx, option, option.value_from_envvar(ctx), variable)
        if setting := settings.get(key_of(option)):
            values[option.name] = _typed(option, setting)
            _check(ctx, option, values[option.name], setting.where)
    ctx.default_map = values
    return settings


def find_settings(ctx: typer.Context, files: Iterable[SettingsFile]) -> dict[str, Setting]:
    """What files say for a command, by key. Raises UsageError for a key that means nothing."""
    found: dict[str, Setting] = {}
    for file in files:
        for table, values, known in _tables(ctx, file):
            for key, value in values.items():
                name = f"{table}.{key}" if table else key
                if key in COMMAND_LINE_ONLY:
                    raise UsageError(f"{file}: {name}: --{key} works on the command line only")
                if key not in known:
                    raise UsageError(f"{file}: {name}: there is no such option{did_you_mean(key, known)}")
                found.setdefault(key, Setting(value, file, name))
    return found


def _tables(ctx: typer.Context, file: SettingsFile) -> Iterator[tuple[str, Mapping[str, Any], set[str]]]:
    """The tables of a file that a command looks at, its own first: name, values, keys that may be there."""
    from ccrawl.cli import COMMANDS

    words = command_words(ctx)
    top, tables = _split(file.values)
    for name in tables:
        if name not in COMMANDS:
            known = [*COMMANDS, *SHARED]
            raise UsageError(f"{file}: [{name}]: there is no such command{did_you_mean(name, known)}")
    outer, inner = _split(tables.get(words[0], {}))
    siblings: dict[str, Any] = {}
    if len(words) > 1 and ctx.parent is not None:
        siblings = getattr(ctx.parent.command, "commands", {})
        own = inner.get(words[1], {})
        yield ".".join(words[:2]), own, {key_of(option) for option in options_of(ctx.command)}
    for name in inner:
        if name not in siblings:
            hint = did_you_mean(name, siblings)
            raise UsageError(f"{file}: [{words[0]}.{name}]: there is no such command{hint}")
    members = siblings.values() or [ctx.command]
    yield words[0], outer, {key_of(option) for member in members for option in options_of(member)}
    yield "", top, {*SHARED}


def _split(values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The plain values of a table, and the tables in it."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    return plain, {key: value for key, value in values.items() if isinstance(value, dict)}


def options_of(command: Any) -> list[TyperOption]:
    """The options of a command that may be set elsewhere than on the command line."""
    return [
        parameter
        for parameter in command.params
        if isinstance(parameter, TyperOption) and key_of(parameter) not in COMMAND_LINE_ONLY
    ]


def key_of(option: TyperOption) -> str:
    """An option's name in files: `dedup-index` for --dedup-index."""
    return next(flag.removeprefix("--") for flag in option.opts if flag.startswith("--"))


def command_words(ctx: Any) -> list[str]:
    """`index import` of `ccrawl index import`."""
    return [] if ctx.parent is None else [*command_words(ctx.parent), ctx.info_name or ""]


def variables(words: Sequence[str], key: str) -> list[str]:
    """The environment variables that set an option of a command, the one that counts first before others."""
    prefixes = ["_".join([PREFIX, *words[:length]]) for length in range(len(words), 0, -1)]
    if key in SHARED:
        prefixes.append(PREFIX)
    return [f"{prefix}_{key}".replace("-", "_").upper() for prefix in prefixes]


def variable_given(option: TyperOption) -> str | None:
    """The variable that sets an option; one that is set to nothing counts as not set."""
    return next((name for name in option.envvar or () if os.environ.get(name)), None)


def _typed(option: TyperOption, setting: Setting) -> Any:
    """A file's value as the option wants it; UsageError when it is of another kind."""
    value = setting.value
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{setting.where}: {value!r} is no true or false")
        return value
    given = value if option.multiple and isinstance(value, list) else [value]
    for one in given:
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            wanted = "a list of texts" if option.multiple else "a text or a number"
            raise UsageError(f"{setting.where}: {one!r} is not {wanted}")
    texts = [_resolved(option, str(one), setting.file.path.parent) for one in given]
    return texts if option.multiple else texts[0]


def _resolved(option: TyperOption, text: str, folder: Path) -> str:
    """A relative path in a file counts from that file's folder, wherever the command runs."""
    is_path = key_of(option) in _PATHS or _PATH_METAVAR.search(option.metavar or "")
    if not is_path or not text or text == "-" or ":" in text.partition("/")[0]:
        return text
    return str(folder / Path(text).expanduser())


def _check(ctx: typer.Context, option: TyperOption, value: Any, where: str) -> None:
    """Raise UsageError when the option does not take the value."""
    try:
        option.process_value(ctx, value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    except Exception as error:
        message = getattr(error, "message", None)  # click's and typer's own
        if message is None:
            raise
        told = hinted(message)
        raise UsageError(f"{where}: {'' if repr(value) in told else f'{value!r}: '}{told}") from error


_CHOICES = re.compile(r"'(?P<word>[^']*)' is not one of (?P<choices>'.*')")


def hinted(message: str) -> str:
    """What click says of a wrong value, with the choice that was meant."""
    message = message.removeprefix("Value error, ").replace("Input should", "it should").rstrip(".")
    if found := _CHOICES.search(message):
        message += did_you_mean(found["word"], re.findall(r"'([^']*)'", found["choices"]))
    return message


def without_secrets(value: Any) -> Any:
    """A value to show: user name and password of a URL are left out."""
    if isinstance(value, str):
        return _USER_AND_PASSWORD.sub("***", value)
    return [without_secrets(one) for one in value] if isinstance(value, list | tuple) else value


def _tell(ctx: typer.Context) -> None:
    taken: dict[str, list[str]] = {}
    for option in options_of(ctx.command):
        if source_of(ctx, option) == FROM_FILE:
            setting = ctx.meta["settings"][key_of(option)]
            taken.setdefault(str(setting.file), []).append(f"--{key_of(option)}")
    for file, flags in taken.items():
        print(f"ccrawl: {file} sets {', '.join(flags)}", file=sys.stderr)


FROM_COMMAND_LINE, FROM_FILE = "COMMANDLINE", "DEFAULT_MAP"  # click's names


def source_of(ctx: typer.Context, option: TyperOption) -> str | None:
    """Click's name for where a parsed option's value came from."""
    source = ctx.get_parameter_source(option.name)
    return None if source is None else source.name
