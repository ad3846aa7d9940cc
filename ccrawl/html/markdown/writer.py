"""The state of one rendering: what has been written, and what the next text has to be preceded by.

Writing is lazy. A block boundary, a list marker, `**` or `[` are only remembered when their element opens, and
written when text arrives: so an empty element leaves nothing behind, and boundaries never pile up.

Two lists grow side by side: `texts[i]` is text as the page has it, without the white space at its ends, neither spaced
nor escaped inside; `marks[i]` is the finished Markdown that stands before it. The texts are spaced and escaped
together when the page is done (finish.py): that is several times faster than node by node, and is why this module
looks at text as little as it can. What is no text of the page (an image, a code span) is a mark before an empty text.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ccrawl.html.markdown.characters import VANISHING, plain
from ccrawl.html.markdown.escape import LINE, LINE_STARTS
from ccrawl.html.markdown.options import RenderOptions
from ccrawl.html.markdown.urls import Destinations

if TYPE_CHECKING:
    from ccrawl.html.markdown.tables import Table

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
    separator: how the first line is separated from what stands before
    breaks: what to write for NOTHING, BR, NEXT_LINE and PARAGRAPH
    flow: whether blocks can stand inside
    line_starts: whether text at the start of a line could be read as the start of a block
    closed_list: marker of a list that ended here, and how many texts there were then
    """

    __slots__ = ("breaks", "closed_list", "depth", "flow", "lead", "line_starts", "parent", "prefix", "separator")

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
        """This context, where all text has to stay on one line: parts that would be lines are separated by `joint`."""
        self.flow = self.line_starts = False
        self.breaks = ("", joint, joint, joint)
        return self


@lru_cache(maxsize=256)
def _breaks(prefix: str) -> tuple[str, str, str, str]:
    """What to write for NOTHING, BR, NEXT_LINE and PARAGRAPH where lines begin with `prefix`."""
    return "", f"\\\n{prefix}", f"\n{prefix}", f"\n{prefix.rstrip()}\n{prefix}"


class Inline:
    """An open inline element that has a mark at each end.

    kind: what it is; one of a kind inside another adds nothing and is not opened
    at: the index of the mark that opens it, None while that is not written
    since: how many texts there were when it was opened
    html: whether its marks are HTML this time
    done: a link that has more than a picture in it, and that further blocks in the element are not part of
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

    def shares_delimiter(self, other: Inline) -> bool:
        """Whether the marks of both, side by side, are one run of stars or tildes."""
        return other.kind in OPENED and EMPHASIS[self.kind][0] == EMPHASIS[other.kind][0] and not other.html


# The delimiter of an emphasis is marked until the page is done, so that it can still become HTML.
EMPHASIS = {"strong": "**", "em": "*", "del": "~~"}
DELIMITER = "\x0e"
OPENED = {"strong": f"{DELIMITER}b", "em": f"{DELIMITER}i", "del": f"{DELIMITER}d"}


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

    def __init__(self, context: Context, marker: str, number: int, step: int, tight: bool, separator: int) -> None:
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


class Writer:
    """One rendering in progress."""

    __slots__ = (
        "brk",
        "closed",
        "code",
        "context",
        "destinations",
        "found_copies",
        "images",
        "inlines",
        "list",
        "marks",
        "noted",
        "notes",
        "opening",
        "options",
        "pictures",
        "references",
        "saved",
        "table",
        "tail",
        "texts",
        "ws",
    )

    def __init__(self, base_url: str | None, options: RenderOptions) -> None:
        self.options = options
        self.destinations = Destinations(base_url)
        self.references: dict[str, int] = {}
        self.code = (-1, "", "")  # the last code span: how many texts there were after it, its text, its mark before that
        self.found_copies = False
        self.notes: frozenset[str] | None = None  # ids of what may be a footnote, None until they are asked for
        self.noted: dict[str, str] = {}  # those referred to, and their labels
        self.images: set[str] = set()  # where pictures are that have been written
        self.pictures: set[int] = set()  # the indices of their marks
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
        self.tail = ""  # the end of a link, finished, to be written before anything else
        self.closed: list[Inline] = []  # written ones that have ended since the last text, innermost first

    def put(self, text: str, content: str = "") -> None:
        """Write `text` after all that is pending before it. It has no white space at its ends.

        `content` is finished Markdown that stands right before the text; where that is all, the text is empty.
        """
        if text and text[0] in VANISHING:
            text = plain(text)
            if not text:
                return
        if brk := self.brk:
            context = self.context
            if brk > BR and self.inlines and (context.flow or context.lead is not None):
                self._suspend()
            mark = context.breaks[brk] if context.lead is None else self._lead(context)
            if self.opening and mark[-4:] == "<br>":
                mark += " "  # so that what opens can't be read as an end
            if self.tail or self.closed:
                mark = self._closings() + mark
            if text and text[0] in LINE_STARTS and context.line_starts and not content:
                mark += LINE
            self.brk = NOTHING
        elif self.ws:
            mark = self._closings() + " " if self.tail or self.closed else " "
        elif self.tail or self.opening or self.closed or content:
            self._join(content or text)
            mark = self._closings()
        else:
            mark = ""
        self.ws = False
        if self.opening:
            mark += self._openings()
        self.marks.append(mark + content)
        self.texts.append(text)

    def goes_on(self, following: str) -> bool:
        """Whether `following` would stand right behind the last text, nothing between."""
        if self.brk or self.ws or self.tail:
            return False
        if self.opening or self.closed:
            self._join(following)
        return not (self.opening or self.closed)

    def put_block(self, lines: Sequence[str]) -> None:
        """Write finished Markdown that is a block of its own."""
        prefix = self.context.prefix
        blank = prefix.rstrip()
        first, *rest = lines
        self.brk = PARAGRAPH
        self.put("", first + "".join([f"\n{prefix}{line}" if line else f"\n{blank}" for line in rest]))
        self.brk = PARAGRAPH

    def break_here(self) -> str:
        """What a block that is written by hand begins with."""
        context = self.context
        mark = context.breaks[PARAGRAPH] if context.lead is None else self._lead(context)
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
            self.closed.append(inline)
        if self.opening:
            self.opening = any(other.at is None and not other.done for other in self.inlines)

    def settle(self) -> None:
        """Write here what ends the open inline elements: the line is at its end."""
        self._suspend()
        if self.tail or self.closed:
            self.marks.append(self._closings())
            self.texts.append("")

    def _suspend(self) -> None:
        """End what is open at a block boundary; it goes on behind it, except a link that has had its text."""
        for index in range(len(self.inlines) - 1, -1, -1):
            inline = self.inlines[index]
            if inline.at is None:
                continue
            self.closed.append(inline)
            again = Inline(inline.kind, inline.open, inline.close, inline.since)
            if inline.kind == "a":
                again.done = any(index not in self.pictures for index in range(inline.since, len(self.texts)))
            self.inlines[index] = again
            self.opening = self.opening or not again.done

    def _closings(self) -> str:
        closings = self.tail
        self.tail = ""
        if self.closed:
            for inline in self.closed:
                closings += f"</{inline.kind}>" if inline.html else inline.close
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

    def _lead(self, context: Context) -> str:
        """What begins the first line of a context: its own lead, after those of the contexts that begin with it."""
        leads: list[str] = []
        outer: Context | None = context
        separator = NOTHING
        while outer is not None and outer.lead is not None:
            leads.append(outer.lead)
            outer.lead = None
            separator = outer.separator
            outer = outer.parent
        leads.reverse()
        return (outer.breaks[separator] if outer is not None else "") + "".join(leads)

    def _join(self, following: str) -> None:
        """Settle how the marks between the last text and `following` are written; there is no space around them.

        CommonMark (6.2) reads a delimiter with punctuation on its inner side only when its outer side is white space
        or punctuation too: `a**"b"**c` is no emphasis. Such an element is written as HTML. So is one that begins
        right where another ends, or right behind text of another that goes on around it: its delimiter could be read
        as the end of that one.
        """
        fresh = [inline for inline in self.inlines if inline.at is None and not inline.done] if self.opening else []
        closed = self.closed
        while fresh and closed and closed[-1].kind == fresh[0].kind and closed[-1].kind in OPENED:
            ended, again = closed.pop(), fresh.pop(0)  # </b><b>: it simply goes on
            again.at, again.html = ended.at, ended.html
        self.opening = bool(fresh)
        after_word = not self.tail and _is_word(self.texts[-1][-1:])
        if fresh:
            around = [inline for inline in self.inlines if inline.at is not None]
            for inline in fresh:
                inline.html = inline.kind in OPENED and any(map(inline.shares_delimiter, around))
            outer = fresh[0]
            if outer.kind in OPENED:
                run = list(itertools.takewhile(outer.shares_delimiter, fresh))
                before_word = len(run) == len(fresh) and _is_word(following[0])
                behind_another = bool(closed) and closed[-1].kind in OPENED
                outer.html = outer.html or behind_another or (after_word and not before_word)
        elif not fresh and closed and closed[-1].kind in OPENED and not closed[-1].html and _is_word(following[0]):
            if not (after_word and all(map(closed[-1].shares_delimiter, closed))):
                self._as_html(closed[-1])
        if self.texts[-1][-1:] == "!" and not closed and not self.tail and (fresh[0].open if fresh else following) == "[":
            self.texts[-1] = self.texts[-1][:-1] + EXCLAMATION

    def _as_html(self, inline: Inline) -> None:
        assert inline.at is not None
        inline.html = True
        self.marks[inline.at] = self.marks[inline.at].replace(OPENED[inline.kind], f"<{inline.kind}>", 1)


def _is_word(character: str) -> bool:
    """Whether it is neither white space nor punctuation nor a symbol, as CommonMark counts them."""
    return bool(character) and ( character.isalnum() or unicodedata.category(character)[0] not in "PSZC")


Close = Callable[[Writer], None]
"""What is done when the children of an element have been written."""


def end_block(writer: Writer) -> None:
    """How an element ends that only stands on lines of its own."""
    writer.brk = PARAGRAPH


def SKIP(writer: Writer) -> None:
    """Stands for an element that has been written, or shows nothing: its children are not walked. Never called."""
