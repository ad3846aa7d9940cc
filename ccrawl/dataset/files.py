"""Files put in place whole: written aside, synced, renamed; and what killed runs leave of that, removed."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from ccrawl.errors import OutputError

TEMPORARY_SUFFIX = ".tmp"
# What `aside` makes: the file's own name, the process, four random bytes.
_ASIDE = re.compile(rf"\..+\.\d+-[0-9a-f]{{8}}{re.escape(TEMPORARY_SUFFIX)}", re.DOTALL)


def aside(path: Path) -> Path:
    """A name beside `path` that no other process uses."""
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Replace `path` by `content` so that a reader, or a power cut, sees the old or the new file."""
    temporary = aside(path)
    try:
        with temporary.open("xb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OutputError(f"{path}: can't be written ({error.strerror or error})") from error


def sync_directory(path: Path) -> None:
    """Make renames in `path` durable; a no-op on file systems that don't offer it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leftovers(directory: Path) -> list[Path]:
    """What runs that were killed left: files and folders that `aside` has named, none hidden by others."""
    return [path for path in directory.rglob(f".*{TEMPORARY_SUFFIX}") if _ASIDE.fullmatch(path.name)]


def remove_leftovers(directory: Path) -> int:
    """Delete what runs that were killed left; returns how many files and folders it was."""
    found = leftovers(directory)
    for path in found:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(found)
