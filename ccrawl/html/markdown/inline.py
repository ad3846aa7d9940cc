"""Inline elements with a mark at each end, and how the marks can be written for a parser to see them.

CommonMark (6.2) reads a delimiter with punctuation on its inner side only when its outer side is white space
or punctuation too: `a**"b"**c` is no emphasis. Such an element is written as HTML. So is one that begins
right where another ends, or right behind text of another that goes on around it: its delimiter could be read
as the end of that one.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence

# The delimiter of an emphasis is marked until the page is done, so that it can still become HTML.
EMPHASIS = {"strong": "**", "em": "*", "del": "~~"}
DELIMITER = "\x0e"
OPENED = {"strong": f"{DELIMITER}b", "em": f"{DELIMITER}i", "del": f"{DELIMITER}d"}


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


def choose_openings(fresh: Sequence[Inline], around: Sequence[Inline], before: str, following: str) -> None:
    """Decide for elements that begin here whether they are HTML.

    `fresh` are these, outermost first, and `around` those that are open around them. `before` is the
    character before the first mark, " " at the start of a line, "" where it is a mark itself; `following` is
    what stands behind the last one.
    """
    outer = fresh[0]
    run = list(itertools.takewhile(outer.shares_delimiter, fresh)) if outer.kind in OPENED else []
    for index, inline in enumerate(fresh):
        can_end = before != " " or index >= len(run)  # with white space before it, a delimiter can only begin
        inline.html = can_end and inline.kind in OPENED and any(map(inline.shares_delimiter, around))
    if run and not outer.html and is_word(before):
        outer.html = len(run) < len(fresh) or not is_word(following[0])


def must_end_as_html(closed: Sequence[Inline], before: str, following: str) -> bool:
    """Whether the outermost of elements that end between two texts, with no space around, has to be HTML.

    `closed` are these, innermost first; `before` is the character before the first mark, "" where that is a
    mark. Those inside it then have its tag behind them, which will do.
    """
    outer = closed[-1]
    if outer.kind not in OPENED or outer.html or not is_word(following[0]):
        return False
    return not (is_word(before) and all(map(outer.shares_delimiter, closed)))


def is_word(character: str) -> bool:
    """Whether it is neither white space nor punctuation nor a symbol, as CommonMark counts them."""
    return bool(character) and (character.isalnum() or unicodedata.category(character)[0] not in "PSZC")
