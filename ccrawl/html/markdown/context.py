"""What lines of Markdown are written in: how they begin, and what separates them."""

from __future__ import annotations

from functools import lru_cache

NOTHING, BR, NEXT_LINE, PARAGRAPH = range(4)
"""How much separates what is written from what comes: nothing, a hard break, a line, a blank line."""

MAX_DEPTH = 16
"""Quotes and lists nested deeper add no further prefix: the text stays, and indentation stays linear."""


class Context:
    """What lines are written in: the document, a quote, an item, or a heading or cell, which are one line.

    prefix: what each further line begins with
    lead: what the first line begins with, None once it is written
    separator: how the first line is separated from what stands before
    breaks: what to write for NOTHING, BR, NEXT_LINE and PARAGRAPH
    flow: whether blocks can stand inside
    line_starts: whether text at the start of a line could be read as the start of a block
    closed_list: marker of a list that ended here, and how many texts there were then
    """

    __slots__ = (
        "breaks",
        "closed_list",
        "depth",
        "flow",
        "lead",
        "line_starts",
        "parent",
        "prefix",
        "separator",
    )

    def __init__(self, parent: Context | None, lead: str, prefix: str, separator: int) -> None:
        self.parent = parent
        self.lead: str | None = lead
        self.prefix = prefix
        self.separator = separator
        self.flow = True
        self.line_starts = True
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.closed_list = ("", 0)
        self.breaks = _breaks(prefix)

    def one_line(self, joint: str) -> Context:
        """This context, where text has to stay on one line: `joint` stands where lines would end."""
        self.flow = self.line_starts = False
        self.breaks = ("", joint, joint, joint)
        return self


@lru_cache(maxsize=256)
def _breaks(prefix: str) -> tuple[str, str, str, str]:
    """What to write for NOTHING, BR, NEXT_LINE and PARAGRAPH where lines begin with `prefix`."""
    return "", f"\\\n{prefix}", f"\n{prefix}", f"\n{prefix.rstrip()}\n{prefix}"


class List:
    """An open list.

    context: what it stands in
    marker: "-" or "*", or what follows the number of an item, "." or ")"
    number, step: the number of the next item, and what is added to it for the one after
    tight: whether items follow each other without a blank line
    separator: what stands before its first item
    item: the context of its last item
    """

    __slots__ = ("_written", "context", "item", "marker", "number", "separator", "step", "tight")

    def __init__(
        self, context: Context, marker: str, number: int, step: int, tight: bool, separator: int
    ) -> None:
        self.context = context
        self.marker = marker
        self.number = number
        self.step = step
        self.tight = tight
        self.separator = separator
        self.item: Context | None = None
        self._written = False

    def has_text(self) -> bool:
        """Whether an item has been written, as those without text are not."""
        self._written = self._written or (self.item is not None and self.item.lead is None)
        return self._written
