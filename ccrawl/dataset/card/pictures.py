"""Bar charts as small SVG files: legible on light and dark pages, and without scripts or fonts of their own.

A picture in a card stands in an <img>, where the page's style does not reach; it brings its own colours for
both schemes, and a ground of its own, since a hub's scheme need not be the system's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ccrawl.dataset.card.escape import one_line

WIDTH = 720
_LETTER = 7.4  # pixels a letter of 13 pixels takes, on the safe side
_STYLE = (
    "<style>"
    "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:#1f2328}"
    ".title{font-weight:600;font-size:15px}.soft{fill:#59636e}"
    ".ground{fill:#fff;stroke:#d1d9e0}.bar{fill:#2f6fb3}.rest{fill:#a9b4c0}.axis{stroke:#d1d9e0}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9ea7b3}"
    ".ground{fill:#0d1117;stroke:#3d444d}.bar{fill:#5ba3ec}.rest{fill:#4a5360}.axis{stroke:#3d444d}}"
    "</style>"
)


class Bar(NamedTuple):
    """A bar: what it stands for, how much, and a remark behind the number. `rest` bars are grey."""

    label: str
    value: int
    remark: str = ""
    rest: bool = False


def across(title: str, bars: Sequence[Bar]) -> str:
    """Bars from left to right, one below the other, on a linear scale."""
    labels = [one_line(bar.label, 28) for bar in bars]
    numbers = [one_line(f"{bar.value:,} · {bar.remark}" if bar.remark else f"{bar.value:,}") for bar in bars]
    left = 20 + _LETTER * max((len(label) for label in labels), default=0) + 10
    room = WIDTH - left - 20 - _LETTER * max((len(number) for number in numbers), default=0) - 8
    highest = max((bar.value for bar in bars), default=0) or 1
    parts = []
    for place, (bar, label, number) in enumerate(zip(bars, labels, numbers, strict=True)):
        y = 52 + place * 26
        width = max(1.0, room * bar.value / highest) if bar.value else 0.0
        parts.append(
            f'<text x="{left - 10:.0f}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
            f'<rect class="{"rest" if bar.rest else "bar"}" x="{left:.0f}" y="{y}" width="{width:.1f}" '
            f'height="18" rx="2"/>'
            f'<text class="soft" x="{left + width + 8:.0f}" y="{y + 13}">{escape(number)}</text>'
        )
    return _picture(title, bars, 52 + 26 * len(bars) + 14, parts)


def upright(title: str, bars: Sequence[Bar], axis: str) -> str:
    """Bars side by side with their numbers above them, to scale; `axis` says what they stand along."""
    floor, top = 250, 62
    bars = [bar._replace(label=one_line(bar.label, 20)) for bar in bars]
    step = (WIDTH - 40) / max(1, len(bars))
    highest = max((bar.value for bar in bars), default=0) or 1
    # With many bars there is only room for every second or third name and number.
    longest = max((max(len(bar.label), len(_short(bar.value))) for bar in bars), default=1)
    every = max(1, math.ceil((longest + 1) * _LETTER / step))
    parts = []
    for place, bar in enumerate(bars):
        x, height = 20 + place * step, max(1.0, (floor - top) * bar.value / highest) if bar.value else 0.0
        middle = x + step / 2
        parts.append(
            f'<rect class="bar" x="{x + step * 0.1:.1f}" y="{floor - height:.1f}" width="{step * 0.8:.1f}" '
            f'height="{height:.1f}" rx="2"/>'
        )
        if place % every == 0:
            if bar.value:
                parts.append(
                    f'<text class="soft" x="{middle:.1f}" y="{floor - height - 6:.1f}" '
                    f'text-anchor="middle">{_short(bar.value)}</text>'
                )
            parts.append(
                f'<text x="{middle:.1f}" y="{floor + 18}" text-anchor="middle">{escape(bar.label)}</text>'
            )
    parts.append(f'<line class="axis" x1="20" x2="{WIDTH - 20}" y1="{floor}.5" y2="{floor}.5"/>')
    parts.append(
        f'<text class="soft" x="{WIDTH / 2:.0f}" y="{floor + 40}" text-anchor="middle">{escape(axis)}</text>'
    )
    return _picture(title, bars, floor + 56, parts)


def _picture(title: str, bars: Sequence[Bar], height: int, parts: Sequence[str]) -> str:
    """The frame, with the numbers in words for whoever can't see the picture."""
    told = "; ".join(f"{one_line(bar.label, 40)}: {bar.value:,}" for bar in bars)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t d">'
        f'<title id="t">{escape(title)}</title><desc id="d">{escape(told)}</desc>{_STYLE}'
        f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<text class="title" x="20" y="32">{escape(title)}</text>' + "\n".join(["", *parts, "</svg>", ""])
    )


def _short(number: int) -> str:
    """At most six characters: `9,999`, `12k`, `3.4M`."""
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= 10 * size or (number >= size and size > 1000):
            return f"{number / size:.3g}{unit}" if number < 999.5 * size else f"{number // size}{unit}"
    return f"{number:,}"
