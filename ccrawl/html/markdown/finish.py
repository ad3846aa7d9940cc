"""The end of a rendering: texts spaced and escaped in one pass over all of them, and put between their marks."""

from __future__ import annotations

import re

from ccrawl.html.markdown.characters import plain_pieces
from ccrawl.html.markdown.escape import BOUNDARY, escape, escape_line_starts
from ccrawl.html.markdown.writer import BREAK, EMPHASIS, INNER, LINE, OPENED, STAND_IN, Writer

_LITERAL = {"\udc00": "\\|", "\udc01": "\\[", "\udc02": "\\]", "\udc03": "\\!", "\udc04": "\\#"}


_SPACE_ON_BOTH_SIDES = re.compile(f" ({BOUNDARY}+) ")


def _single_spaces(joined: str) -> str:
    """Where one text ends with a space, the next needs none."""
    if BOUNDARY * 2 in joined:  # a text of invisible characters only
        joined = _SPACE_ON_BOTH_SIDES.sub(r" \1", joined)
    return joined.replace(f" {BOUNDARY} ", f" {BOUNDARY}")


def finish(writer: Writer) -> str:
    """The Markdown of what `writer` has been given."""
    texts = writer.texts
    if not texts:
        return ""
    joined = BOUNDARY.join(texts)
    if joined.count(BOUNDARY) != len(texts) - 1:
        joined = BOUNDARY.join([text.replace(BOUNDARY, "") for text in texts])
    joined = escape(_single_spaces(plain_pieces(joined, BOUNDARY, STAND_IN)))
    pieces = [""] * (2 * len(texts))
    pieces[0::2] = writer.marks
    pieces[1::2] = joined.split(BOUNDARY)
    pieces += [writer.closing()]
    markdown = "".join(pieces).replace(f" {BREAK}", BREAK).replace(f"{LINE} ", LINE).replace(f"{INNER} ", INNER)
    markdown = escape_line_starts(markdown)
    for character in (BREAK, LINE, INNER, STAND_IN):
        markdown = markdown.replace(character, "")
    if "\x0e" in markdown:
        for kind, mark in OPENED.items():
            markdown = markdown.replace(mark, EMPHASIS[kind])
    if not markdown.isascii():
        for character, literal in _LITERAL.items():
            if character in markdown:
                markdown = markdown.replace(character, literal)
    return markdown.strip(" \n")
