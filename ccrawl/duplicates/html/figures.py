"""The two pictures of the report, as SVG: sizes of clusters, and how far copies are from what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

import numpy as np

from ccrawl.duplicates.groups import Ints

_WIDTH, _HEIGHT = 460, 200
_LEFT, _TOP, _BOTTOM = 8, 24, 28


def size_figure(exact: Ints, near: Ints) -> str:
    """Bars: clusters by size, in classes that double, exact and near side by side."""
    largest = int(max(exact.max(initial=2), near.max(initial=2)))
    bounds = [2, 3, 4]
    while bounds[-1] <= largest:
        bounds.append(bounds[-1] * 2)
    names = [str(low) if high == low + 1 else f"{low:,}+" for low, high in pairwise(bounds)]
    series = [
        ("exact", np.histogram(exact, bounds)[0].tolist()),
        ("near", np.histogram(near, bounds)[0].tolist()),
    ]
    return _bars("Clusters by size", names, series)


def distance_figure(distances: Ints) -> str:
    """Bars: near copies by the bits that differ from the document kept."""
    most = int(distances.max(initial=3))
    counts = np.bincount(distances, minlength=most + 1).tolist()
    return _bars(
        "Near copies by bits from the one kept", [str(bits) for bits in range(most + 1)], [("near", counts)]
    )


def _bars(title: str, names: Sequence[str], series: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Bars on a logarithmic scale, since one size is usually most of them; every bar says its count."""
    highest = max(1, *(count for _, counts in series for count in counts))
    step = (_WIDTH - 2 * _LEFT) / len(names)
    bar = step * 0.8 / len(series)
    floor = _HEIGHT - _BOTTOM
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">']
    for column, name in enumerate(names):
        left = _LEFT + column * step + step * 0.1
        for place, (kind, counts) in enumerate(series):
            count = counts[column]
            height = (floor - _TOP) * np.log1p(count) / np.log1p(highest)
            x, y = left + place * bar, floor - height
            parts.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{height:.1f}">'
                f"<title>{escape(name)}, {kind}: {count:,}</title></rect>"
            )
            if count:
                parts.append(
                    f'<text class="count" x="{x + bar / 2:.1f}" y="{y - 4:.1f}">{_short(count)}</text>'
                )
        parts.append(
            f'<text class="name" x="{left + step * 0.4:.1f}" y="{_HEIGHT - 10}">{escape(name)}</text>'
        )
    parts.append(f'<line x1="0" x2="{_WIDTH}" y1="{floor}" y2="{floor}"/></svg>')
    return "".join(parts)


def _short(count: int) -> str:
    for unit, size in (("M", 1_000_000), ("k", 10_000)):
        if count >= size:
            return f"{count / (1_000_000 if unit == 'M' else 1000):.3g}{unit}"
    return f"{count:,}"
