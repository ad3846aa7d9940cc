"""Sizes, durations and lines, read and written as people write them."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from ccrawl.errors import UsageError

_FACTORS = {
    "": 1,
    "b": 1,
    "k": 1000,
    "kb": 1000,
    "m": 1000**2,
    "mb": 1000**2,
    "g": 1000**3,
    "gb": 1000**3,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes of `16MiB`, `500 MB`, `1048576`; UsageError for anything else."""
    match = _SIZE.fullmatch(text.strip())
    factor = _FACTORS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise UsageError(f"{text!r} is no size; write a number with B, KB, MB, GB, KiB, MiB or GiB")
    return int(float(match[1]) * factor)


def path_named(text: str) -> Path:
    """`text` as a path; UsageError when it is empty, which would stand for the current folder.

    `--out "$OUT"` with a variable that is not set must not write where the user happens to be.
    """
    if not text:
        raise UsageError("a path is empty (a variable that is not set?); use . for the current folder")
    return Path(text)


def size(number: float) -> str:
    """`1.5 MB`: SI units, as disks and networks count."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(number) < 1000 or unit == "TB":
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError


def binary_size(number: int) -> str:
    """`16 MiB`, for limits that are powers of two."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number % factor == 0 and number >= factor:
            return f"{number // factor} {unit}"
    return f"{number} B"


def duration(seconds: float) -> str:
    """`0.8 s`, `12 s`, `3 min 05 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 page`, `1,024 pages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


TOGETHER = "\N{NO-BREAK SPACE}"  # stands between words that `folded` keeps on one line


def folded(label: str, value: str) -> str:
    """A label and its value, folded at 80 columns under the value."""
    text = textwrap.fill(
        value,
        80,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return text.replace(TOGETHER, " ")
