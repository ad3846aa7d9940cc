"""The state of one rendering: what has been written, and what the next text has to be preceded by.

Writing is lazy. A block boundary, a list marker, `**` or `[` are only remembered when their element opens,
and written when text arrives: so an empty element leaves nothing behind, and boundaries never pile up.

Two lists grow side by side: `texts[i]` is text as the page has it, without the white space at its ends,
neither spaced nor escaped inside; `marks[i]` is the finished Markdown that stands before it. The texts are
spaced and escaped together when the page is done (finish.py): that is several times faster than node by node,
and is why this module looks at text as little as it can. What is no text of the page (an image, a code span)
is a mark before an empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ccrawl.html.markdown.characters import VANISHING, plain
from ccrawl.html.markdown.context import BR, NOTHING, PARAGRAPH, Context, List
from ccrawl.html.markdown.escape import CLOSE_BRACKET, EXCLAMATION, LINE, LINE_STARTS, OPEN_BRACKET
from ccrawl.html.markdown.inline import OPENED, Inline, choose_openings, must_end_as_html
from ccrawl.html.markdown.options import RenderOptions
from ccrawl.html.markdown.urls import Destinations

if TYPE_CHECKING:
    from ccrawl.html.markdown.tables import Table


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
        # The last code span: how many texts there were after it, its text, and its mark without itself.
        self.code = (-1, "", "")
        self.found_copies = False
        self.notes: frozenset[str] | None = None  # ids of what may be a footnote, None until they are needed
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

        `content` is finished Markdown that stands right before the text; where that is all, the text is
        empty.
        """
        if text and text[0] in VANISHING:
            text = plain(text)
            if not text:
                return
        spaced = True
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
            spaced = False
            self._join(content or text)
            mark = self._closings()
        else:
            mark = ""
        self.ws = False
        if self.opening:
            if spaced and len(self.inlines) > 1:
                choose_openings(self._fresh(), self._written(), " ", content or text)
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
            self._end(inline)
        if self.opening:
            self.opening = any(other.at is None and not other.done for other in self.inlines)

    def settle(self) -> None:
        """Write here what ends the open inline elements: the line is at its end."""
        if self.inlines:
            self._suspend()
        if self.tail or self.closed:
            self.marks.append(self._closings())
            self.texts.append("")

    def _end(self, inline: Inline) -> None:
        self.closed.append(inline)
        if inline.kind == "a":
            for index in range(inline.since, len(self.texts)):
                text = self.texts[index]
                if "[" in text or "]" in text:  # they would end the link's text, or begin it anew
                    self.texts[index] = text.replace("[", OPEN_BRACKET).replace("]", CLOSE_BRACKET)

    def _suspend(self) -> None:
        """End what is open at a block boundary; it goes on behind it, except a link that has had its text."""
        for index in range(len(self.inlines) - 1, -1, -1):
            inline = self.inlines[index]
            if inline.at is None:
                continue
            self._end(inline)
            again = Inline(inline.kind, inline.open, inline.close, len(self.texts))
            if inline.kind == "a":
                again.done = any(at not in self.pictures for at in range(inline.since, len(self.texts)))
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
        """What begins the first line of a context: its own lead, after those of the contexts that begin with
        it.
        """
        outer = context.parent
        if outer is None or outer.lead is None:  # as nearly always
            lead, context.lead = context.lead or "", None
            return outer.breaks[context.separator] + lead if outer is not None else lead
        leads: list[str] = []
        outer = context
        separator = NOTHING
        while outer is not None and outer.lead is not None:
            leads.append(outer.lead)
            outer.lead = None
            separator = outer.separator
            outer = outer.parent
        leads.reverse()
        return (outer.breaks[separator] if outer is not None else "") + "".join(leads)

    def _fresh(self) -> list[Inline]:
        return [inline for inline in self.inlines if inline.at is None and not inline.done]

    def _written(self) -> list[Inline]:
        return [inline for inline in self.inlines if inline.at is not None]

    def _join(self, following: str) -> None:
        """Settle how marks between the last text and `following`, with no space around them, are written."""
        closed = self.closed
        fresh: list[Inline] = []
        if self.opening:
            fresh = self._fresh()
            while fresh and closed and closed[-1].kind == fresh[0].kind and closed[-1].kind in OPENED:
                ended, again = closed.pop(), fresh.pop(0)  # </b><b>: it simply goes on
                again.at, again.html = ended.at, ended.html
            self.opening = bool(fresh)
        before = "" if self.tail else self.texts[-1][-1:]
        if fresh:
            choose_openings(fresh, self._written(), before, following)
            if closed and closed[-1].kind in OPENED and fresh[0].kind in OPENED:
                fresh[0].html = True
        elif closed and must_end_as_html(closed, before, following):
            self._as_html(closed[-1])
        if before == "!" and not closed and (fresh[0].open if fresh else following) == "[":
            self.texts[-1] = self.texts[-1][:-1] + EXCLAMATION

    def _as_html(self, inline: Inline) -> None:
        assert inline.at is not None
        inline.html = True
        self.marks[inline.at] = self.marks[inline.at].replace(OPENED[inline.kind], f"<{inline.kind}>", 1)


Close = Callable[[Writer], None]
"""What is done when the children of an element have been written."""


def end_block(writer: Writer) -> None:
    """How an element ends that only stands on lines of its own."""
    writer.brk = PARAGRAPH


def SKIP(writer: Writer) -> None:
    """Stands for an element that has been written, or shows nothing: its children are not walked. Never
    called.
    """
