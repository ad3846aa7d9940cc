"""The words of blocks, counted: character classes, words, interface phrases, matches with what the head
says.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from ccrawl.html.content.head import PageHead
from ccrawl.html.content.tables import CLASSES, TABLES
from ccrawl.html.content.walk import Bits, Floats, Walk
from ccrawl.native import HeadTexts, address, checked, library

_LENGTH, _WORDS, _LINKED, _LAST, _IN_BODY, _IN_DESCRIPTION, _TITLE, _PHRASES = range(CLASSES, CLASSES + 8)
TEXT_ROWS = CLASSES + 8
# Characters of the head's texts, times the blocks that are looked for in them. Real pages stay at some
# millions; of a page that was made to have more, the beginning is searched.
_MOST_SEARCHED = 50_000_000


@dataclass(frozen=True, slots=True)
class BlockText:
    """Figures of each block's words; one entry a block."""

    rows: Floats  # in native order

    @property
    def counts(self) -> Floats:
        """Characters of each class: CLASSES x blocks."""
        return self.rows[:CLASSES]

    @property
    def length(self) -> Floats:
        """Characters that are not white space, at least 1."""
        return self.rows[_LENGTH, :]

    @property
    def words(self) -> Floats:
        """Words; a WIDE character is a part of one."""
        return self.rows[_WORDS, :]

    @property
    def linked(self) -> Floats:
        """Of `length`, inside links."""
        return self.rows[_LINKED, :]

    @property
    def last(self) -> Floats:
        """The class of the last character that is not white space; SPACE where there is none."""
        return self.rows[_LAST, :]

    @property
    def phrases(self) -> Bits:
        """PHRASES groups that a short block begins with."""
        return self.rows[_PHRASES, :].view(np.uint64)

    @property
    def in_body(self) -> Floats:
        """Its beginning stands in the head's article body: 1 or 0, -1 when there is no such body."""
        return self.rows[_IN_BODY, :]

    @property
    def in_description(self) -> Floats:
        """Its beginning stands in the description: 1 or 0."""
        return self.rows[_IN_DESCRIPTION, :]

    @property
    def title(self) -> Floats:
        """It is the title (1), contains it or is contained in it (0.5)."""
        return self.rows[_TITLE, :]


def read_text(page: Walk, head: PageHead, title: str) -> BlockText:
    """Count the words of every block of `page`."""
    rows = np.empty((TEXT_ROWS, page.blocks))
    texts = head_texts(page, head, title)
    checked(
        library.ccrawl_read_text(
            TABLES.address, ctypes.byref(page.arrays), ctypes.byref(texts), address(rows)
        )
    )
    return BlockText(rows)


def head_texts(page: Walk, head: PageHead, title: str) -> HeadTexts:
    """What blocks are looked for in."""
    meta, most = head.meta, _MOST_SEARCHED // max(page.blocks, 1)
    bodies = _one_line(" ".join(head.bodies)) if head.bodies else ""
    description = _one_line(meta.get("description", "") + " " + meta.get("og:description", ""))
    wanted = _one_line(title).lower()
    utf8 = [text.encode("utf-8", "replace") for text in (bodies[:most], description[:most], wanted)]
    return HeadTexts(
        *(utf8[0], len(utf8[0]) if head.bodies else -1),
        *(utf8[1], len(utf8[1])),
        *(utf8[2], len(utf8[2]), len(wanted)),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
