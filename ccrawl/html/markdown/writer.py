"""The state of one rendering: what has been written, and what the next text has to be preceded by.

Writing is lazy. A block boundary, a list marker, `**` or `[` are only remembered when their element opens, and
written when text arrives: so an empty element leaves nothing behind, and boundaries never pile up.

Two lists grow side by side: `texts[i]` is text as the page has it, neither spaced nor escaped, `marks[i]` the
finished Markdown that stands before it. The texts are spaced and escaped together when the page is done (finish.py):
that is several times faster than text node by text node, and is why this module looks at text as little as it can.
What is no text of the page (an image, a code span) is a mark, followed by STAND_IN for a text.

Marks carry two control characters for finish.py, which the page's text can't hold by then: BREAK before whatever
ends a line (spaces before it go), LINE or INNER where text starts (spaces after it go; after LINE, text must not
look like the start of a block).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ccrawl.html.markdown.characters import VANISHING, plain
from ccrawl.html.markdown.options import RenderOptions
from ccrawl.html.markdown.urls import Destinations

if TYPE_CHECKING:
    from ccrawl.html.markdown.tables import Table

BREAK = "\x02"
LINE = "\x03"
INNER = "\x04"
STAND_IN = "\x05"

# Characters of the page's text whose escape depends on what they stand in, which only the walk knows. Lone surrogates
# can't occur in decoded text, so they can stand for them until the end.
PIPE, OPEN_BRACKET, CLOSE_BRACKET, EXCLAMATION, HASH = "\udc00", "\udc01", "\udc02", "\udc03", "\udc04"

NOTHING, BR, NEXT_LINE, PARAGRAPH = range(4)
"""How much separates what is written from what comes: nothing, a hard break, a line, a blank line."""

MAX_DEPTH = 16
"""Quotes and lists nested deeper add no further prefix: the text stays, and indentation stays linear."""


class Context:
    """What lines are written inside of: the document, a quote, a list item, or a heading or cell, which have one line.

    prefix: what each further line begins with
    lead: what the first line begins with, None once it is written
    separator: how the first line was separated from what stood before
    flow: whether blocks can stand inside
    closed_list: marker of a list that ended here, and how many texts there were then
    """

    __slots__ = ("closed_list", "depth", "flow", "hard", "lead", "line", "paragraph", "parent", "prefix", "separator", "start")

    def __init__(self, parent: Context | None, lead: str, prefix: str, separator: int) -> None:
        self.parent = parent
        self.lead: str | None = lead
        self.prefix = prefix
        self.separator = separator
        self.flow = True
        self.start = LINE
        self.depth = parent.depth + 1 if parent else 0
        self.closed_list = ("", 0)
        self.hard = f"{BREAK}\\\n{prefix}{LINE}"
        self.line = f"{BREAK}\n{prefix}{LINE}"
        self.paragraph = f"{BREAK}\n{prefix.rstrip()}\n{prefix}{LINE}"

    def one_line(self, joint: str) -> Context:
        """This context, where all text has to stay on one line: parts that would be lines are separated by `joint`."""
        self.flow = False
        self.start = INNER
        self.hard = self.line = self.paragraph = f"{BREAK}{joint}{INNER}"
        return self


class Inline:
    """An open inline element that has a mark at each end.

    kind: what it is; one of a kind inside another adds nothing and is not opened
    at: the index of the mark that opens it, None while that is not written
    since: how many texts there were when it was opened
    html: whether its marks are HTML this time
    done: a link whose text has been written, which further blocks inside the element are not part of
    """

    __slots__ = ("at", "close", "done", "html", "kind", "open", "since")

    def __init__(self, kind: str, opening: str, closing: str, since: int) -> None:
        self.kind = kind
        self.open = opening
        self.close = closing
        self.at: int | None = None
        self.since = since
        self.html = False
        self.done = False


# The delimiter of an emphasis is marked until the page is done, so that it can still become HTML.
EMPHASIS = {"strong": "**", "em": "*", "del": "~~"}
OPENED = {"strong": "\x0eb", "em": "\x0ei", "del": "\x0ed"}


class List:
    """An open list. `item` is the context of its last item."""

    __slots__ = ("context", "item", "marker", "number", "step", "tight")

    def __init__(self, context: Context, marker: str, number: int, step: int, tight: bool) -> None:
        self.context = context
        self.item: Context | None = None
        self.marker = marker
        self.number = number
        self.step = step
        self.tight = tight


class Writer:
    """One rendering in progress."""

    __slots__ = (
        "brk",
        "closed",
        "context",
        "destinations",
        "images",
        "inlines",
        "list",
        "marks",
        "opening",
        "options",
        "references",
        "saved",
        "table",
        "texts",
        "ws",
    )

    def __init__(self, base_url: str | None, options: RenderOptions) -> None:
        self.options = options
        self.destinations = Destinations(base_url)
        self.references: dict[str, int] = {}
        self.images: set[str] = set()
        self.texts: list[str] = []
        self.marks: list[str] = []
        self.context = Context(None, "", "", NOTHING)
        self.list: List | None = None
        self.table: Table | None = None
        self.saved: list[Any] = []  # what elements put back when they end
        self.brk = PARAGRAPH
        self.ws = False  # white space has been seen since the last text
        self.inlines: list[Inline] = []  # open, outermost first
        self.opening = False  # whether some of them are to be written before the next text
        self.closed: list[Inline] = []  # written ones that have ended since the last text, innermost first

    def put(self, text: str, content: str = "") -> None:
        """Write `text`, which is more than white space, after all that is pending before it.

        `content` is finished Markdown that stands before the text; then the text is STAND_IN.
        """
        if text[0] in VANISHING and text != STAND_IN or (text[0].isspace() and text.lstrip()[0] in VANISHING):
            text = plain(text).strip()
            if not text:
                return
        brk = self.brk
        if brk:
            if brk > BR and self.inlines:
                self._suspend()
            mark = self._closings() + self._break(brk)
            self.brk = NOTHING
            text = text.lstrip()
        elif self.ws or text[0].isspace():
            mark = self._closings() + ("" if self.texts[-1][-1:].isspace() else " ")
            text = text.lstrip()
        else:
            if self.opening or self.closed:
                self._join(content or text)
            mark = self._closings()
        self.ws = False
        if self.opening:
            mark += self._openings()
        self.marks.append(mark + content)
        self.texts.append(text)

    def put_block(self, lines: Sequence[str]) -> None:
        """Write finished Markdown that is a block of its own."""
        prefix = self.context.prefix
        blank = prefix.rstrip()
        first, *rest = lines
        self.brk = PARAGRAPH
        self.put(STAND_IN, first + "".join([f"\n{prefix}{line}" if line else f"\n{blank}" for line in rest]))
        self.brk = PARAGRAPH

    def break_here(self) -> str:
        """What a block written by hand begins with."""
        mark = self._closings() + self._break(PARAGRAPH)
        self.brk = PARAGRAPH
        return mark

    def closing(self) -> str:
        """What ends the inline elements that end with the page."""
        self._suspend()
        return self._closings()

    def open(self, kind: str, opening: str, closing: str) -> bool:
        """Open an inline element; False where one of its kind is open already."""
        for inline in self.inlines:
            if inline.kind == kind:
                return False
        self.inlines.append(Inline(kind, opening, closing, len(self.texts)))
        self.opening = True
        return True

    def close(self) -> None:
        """End the innermost open inline element."""
        inline = self.inlines.pop()
        if inline.at is not None:
            self._end(inline)
        if self.opening:
            self.opening = any(other.at is None and not other.done for other in self.inlines)

    def settle(self) -> None:
        """Write here what ends the open inline elements: the line is at its end."""
        self._suspend()
        if self.closed:
            self.marks.append(self._closings())
            self.texts.append(STAND_IN)

    def _end(self, inline: Inline) -> None:
        stripped = self.texts[-1].rstrip()
        if len(stripped) != len(self.texts[-1]):
            self.texts[-1] = stripped
            self.ws = True
        self.closed.append(inline)

    def _suspend(self) -> None:
        """End what is open at a block boundary; it goes on behind it, except a link that has its text."""
        for index in range(len(self.inlines) - 1, -1, -1):
            inline = self.inlines[index]
            if inline.at is None:
                continue
            self._end(inline)
            again = Inline(inline.kind, inline.open, inline.close, inline.since)
            if inline.kind == "a":
                again.done = any(text != STAND_IN for text in self.texts[inline.since :])
            self.inlines[index] = again
            self.opening = self.opening or not again.done

    def _closings(self) -> str:
        if not self.closed:
            return ""
        closings = "".join([f"</{inline.kind}>" if inline.html else inline.close for inline in self.closed])
        self.closed.clear()
        return closings

    def _openings(self) -> str:
        mark = ""
        for inline in self.inlines:
            if inline.at is None and not inline.done:
                mark += f"<{inline.kind}>" if inline.html else inline.open
                inline.at = len(self.marks)
        self.opening = False
        return mark

    def _break(self, brk: int) -> str:
        """What separates the next text from what is written, with the leads of quotes and items begun here."""
        context = self.context
        if context.lead is None:
            return (context.hard, context.line, context.paragraph)[brk - 1]
        leads: list[str] = []
        outer: Context | None = context
        separator = NOTHING
        while outer is not None and outer.lead is not None:
            leads.append(outer.lead)
            outer.lead = None
            separator = outer.separator
            outer = outer.parent
        before = "" if outer is None else (outer.hard, outer.line, outer.paragraph)[separator - 1][:-1]
        leads.reverse()
        return before + "".join(leads) + context.start

    def _join(self, following: str) -> None:
        """Settle how the marks between the last text and `following` are written; there is no space around them.

        CommonMark (6.2) reads a delimiter with punctuation on its inner side only when its outer side is white space
        or punctuation too: `a**"b"**c` is no emphasis. Such an element is written as HTML. So is one that begins
        where another ends, as the two delimiters would be read as one run.
        """
        fresh = [inline for inline in self.inlines if inline.at is None and not inline.done] if self.opening else []
        closed = self.closed
        while fresh and closed and closed[-1].kind == fresh[0].kind and closed[-1].kind in OPENED:
            ended, again = closed.pop(), fresh.pop(0)  # </b><b>: it simply goes on
            again.at, again.html = ended.at, ended.html
        self.opening = bool(fresh)
        last = self.texts[-1]
        if fresh:
            edge = bool(closed) or _is_word(last[-1])
            for inline, inner in zip(fresh, [*fresh[1:], None], strict=True):
                if inline.kind in OPENED and edge:
                    after = following if inner is None else inner.open
                    inline.html = bool(closed) or not _is_word(after[0]) and after[0] != "\x0e"
                edge = edge and inline.kind in OPENED and not inline.html
            if fresh[0].kind == "a" and not closed and last[-1] == "!":
                self.texts[-1] = last[:-1] + EXCLAMATION
        elif closed and _is_word(following[0]):
            edge = _is_word(last[-1])
            for inline, outer in zip(closed, [*closed[1:], None], strict=True):
                if inline.kind not in OPENED:
                    edge = False
                elif not edge and not inline.html and (outer is None or outer.kind in OPENED):
                    self._as_html(inline)
                    edge = False

    def _as_html(self, inline: Inline) -> None:
        assert inline.at is not None
        inline.html = True
        self.marks[inline.at] = self.marks[inline.at].replace(OPENED[inline.kind], f"<{inline.kind}>", 1)


def _is_word(character: str) -> bool:
    """Whether it is neither white space nor punctuation nor a symbol, as CommonMark counts them."""
    return character.isalnum() or unicodedata.category(character)[0] not in "PSZC"
