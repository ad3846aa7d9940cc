"""What the sections of a card are built from: the card's content, tables, fences, numbers in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ccrawl.dataset.card.dedup import DedupFacts
from ccrawl.dataset.card.estimate import Estimate
from ccrawl.dataset.card.facts import Facts
from ccrawl.dataset.card.options import CardOptions
from ccrawl.units import size


@dataclass(frozen=True, slots=True)
class Card:
    """All that the sections draw on. `pictures` are file names below assets/."""

    facts: Facts
    options: CardOptions
    name: str
    folder: str
    dedup: DedupFacts | None
    estimates: tuple[Estimate, ...]
    pictures: frozenset[str]


def section(title: str, *parts: str) -> str:
    return "\n\n".join([f"## {title}", *(part for part in parts if part)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right; empty without rows."""
    rows = list(rows)
    if not rows:
        return ""
    numeric = [
        all(row[column][:1].isdigit() or row[column][:1] in "≈±" for row in rows)
        for column in range(len(head))
    ]
    rule = ["---:" if right and column else "---" for column, right in enumerate(numeric)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *rows])


def fence(language: str, lines: Iterable[str]) -> str:
    """A fenced block. Its lines begin with nothing that could close it: the callers see to that."""
    return "\n".join([f"```{language}", *lines, "```"])


def picture(card: Card, name: str, alternative: str) -> str:
    file = f"{name}.svg"
    return f"![{alternative}](assets/{file})" if file in card.pictures else ""


def ordered(causes: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(causes.items(), key=lambda item: (-item[1], item[0]))


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def bytes_of(number: int) -> str:
    return f"{size(number)} ({number:,} bytes)" if number >= 1000 else f"{number:,} bytes"
