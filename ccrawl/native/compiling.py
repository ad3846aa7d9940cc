"""Compiling the native part: when the package is installed, and where its sources changed.

The compiler is $CC, else the machine's own, else the one in the ziglang package, which a build asks for only
where there is no other. The flags leave no choice to the machine: the same text comes out of a page anywhere.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LIBRARY = FOLDER / "_native.so"
ZIG = "ziglang==0.17.1"
# No -march, no -ffast-math, no multiplication fused with an addition: each would change results by machine.
_FLAGS = (
    "-std=c11",
    "-O3",
    "-ffp-contract=off",
    "-fno-sanitize=all",  # zig would add some
    "-fvisibility=hidden",
    "-fPIC",
    "-shared",
)
_PROBE = "#include <stdlib.h>\nint probe(void) { return abs(-1); }\n"


def sources_sum(folder: Path = FOLDER) -> int:
    """A checksum of the C sources in `folder`, 0 where there are none. The library knows that of its own."""
    total = 0
    for source in sorted((*folder.glob("*.c"), *folder.glob("*.h"))):
        total = zlib.crc32(source.read_bytes(), total)
    return total


def is_current(library: Path = LIBRARY) -> bool:
    """Whether the library is there, runs on this machine, and was made from the sources beside it."""
    try:
        return int(ctypes.CDLL(str(library)).ccrawl_sources()) & 0xFFFFFFFF == sources_sum()
    except (OSError, AttributeError):
        return False


def own_compiler() -> list[str] | None:
    """The command of a C compiler that works; None where the machine has none."""
    named = os.environ.get("CC")
    commands = [shlex.split(named)] if named else [["cc"], ["gcc"], ["clang"]]
    return next((command for command in commands if shutil.which(command[0]) and _works(command)), None)


def _works(command: list[str]) -> bool:
    """Whether it compiles and links against the C library, whose headers come in a package of their own."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(_PROBE)
        return _run([*command, *_FLAGS, str(source), "-o", str(source.with_suffix(".so"))]) is None


def _run(command: list[str]) -> str | None:
    """What the command says when it fails, on one line; None when it does not."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    if done.returncode == 0:
        return None
    return " ".join(done.stderr.split())[:500] or f"exit code {done.returncode}"


def compile_library(library: Path = LIBRARY, flags: Sequence[str] = ()) -> None:
    """Make the library, with more flags where they are wanted. SystemExit says in one line why it can't be
    made.
    """
    command = own_compiler()
    if command is None and find_spec("ziglang") is not None:
        command = [sys.executable, "-m", "ziglang", "cc"]
    if command is None:
        raise SystemExit(f"ccrawl: no C compiler works here; install gcc, or pip install {ZIG}, or set CC")
    sources = [str(source) for source in sorted(FOLDER.glob("*.c"))]
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".compiling-") as folder:
        made = Path(folder, library.name)
        define = f"-DCCRAWL_SOURCES={sources_sum()}"
        failed = _run([*command, *_FLAGS, *flags, define, *sources, "-o", str(made)])
        if failed is not None:
            raise SystemExit(f"ccrawl: {shlex.join(command)} can't compile the native part: {failed}")
        made.replace(library)  # whoever has the old one loaded keeps it
