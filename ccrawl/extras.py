"""The optional parts of ccrawl, what they need, and the command that installs it."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# The extras of pyproject.toml and what each is for.
EXTRAS = {
    "remote": "http(s) and s3 sources",
    "index": "the dedupe index in a folder",
    "redis": "the dedupe index on a server",
    "refetch": "ccrawl refetch",
    "hub": "ccrawl publish",
    "profile": "ccrawl export --profile",
    "lz4": "archives compressed with LZ4",
    "spark": "--runner spark",
}

# `name[extra]>=1.2,<2; python_version < "3.14" and extra == "remote"`, as the package's metadata has it.
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?(?:>=(?P<least>[\d.]+))?")
_EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")
_PYTHON_BELOW = re.compile(r"python_version < ['\"]3\.(\d+)['\"]")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that this Python needs: always (extra None), or for an optional part."""

    name: str
    least: str | None  # the version that is needed at least
    text: str  # as pip takes it
    extra: str | None


def requirements(stated: Iterable[str] | None = None) -> list[Requirement]:
    """What ccrawl's metadata, or `stated` of its form, asks for on this version of Python."""
    from importlib import metadata

    found = []
    for line in metadata.requires("ccrawl") or [] if stated is None else stated:
        text, _, marker = line.partition(";")
        parts = _REQUIREMENT.match(text.strip())
        below = _PYTHON_BELOW.search(marker)
        if parts is None or (below and sys.version_info >= (3, int(below[1]))):
            continue
        extra = _EXTRA.search(marker)
        found.append(Requirement(parts["name"], parts["least"], text.strip(), extra[1] if extra else None))
    return found


def install_command(extra: str) -> str:
    """The command that installs what an optional part needs, as one line for a shell.

    It names this Python and the packages, not ccrawl: so it is right for a checkout with its .venv and for an
    installed ccrawl alike.
    """
    return pip_command(requirement.text for requirement in requirements() if requirement.extra == extra)


def pip_command(packages: Iterable[str]) -> str:
    """The command that installs packages, as pip takes them, for this Python."""
    return shlex.join([_python(), "-m", "pip", "install", *packages])


def _python() -> str:
    """This Python as a shell in the current folder finds it."""
    path = Path(sys.executable or "python3")
    with contextlib.suppress(ValueError, OSError):  # elsewhere, or the folder is gone
        return str(path.relative_to(Path.cwd()))
    return str(path)
