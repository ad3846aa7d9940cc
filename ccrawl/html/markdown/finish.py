"""The end of a rendering: texts are spaced and escaped, all in one pass, and put between their marks."""

from __future__ import annotations

import re

from ccrawl.html.markdown.characters import plain_pieces
from ccrawl.html.markdown.escape import BOUNDARY, LINE, LITERAL, escape, escape_line_starts
from ccrawl.html.markdown.inline import DELIMITER, EMPHASIS, OPENED
from ccrawl.html.markdown.math import tex_span
from ccrawl.html.markdown.writer import Writer

_DELIMITERS = {opened[1]: EMPHASIS[kind] for kind, opened in OPENED.items()}
_TEX = rf"((?:[^{BOUNDARY}\\]|\\[^{BOUNDARY}()\[\]])+)"  # up to the next delimiter, so that time is linear
_FORMULA = re.compile(rf"\\\({_TEX}\\\)|\\\[{_TEX}\\\]")


def finish(writer: Writer) -> str:
    """The Markdown of what `writer` has been given, without a line break at its end."""
    texts = writer.texts
    if not texts:
        return ""
    ending = writer.closing()
    pieces = [""] * (2 * len(texts))
    pieces[0::2] = writer.marks
    pieces[1::2] = _finish_texts(texts)
    markdown = "".join(pieces) + ending
    if LINE in markdown:
        markdown = escape_line_starts(markdown)
    if DELIMITER in markdown:
        first, *rest = markdown.split(DELIMITER)
        markdown = first + "".join([_DELIMITERS[part[0]] + part[1:] for part in rest])
    if not markdown.isascii():
        for character, literal in LITERAL.items():
            if character in markdown:
                markdown = markdown.replace(character, literal)
    if writer.references:
        markdown += "\n\n" + "\n".join(f"[{number}]: {url}" for url, number in writer.references.items())
    return markdown.strip(" \n")


def _finish_texts(texts: list[str]) -> list[str]:
    joined = BOUNDARY.join(texts)
    if joined.count(BOUNDARY) != len(texts) - 1:
        joined = BOUNDARY.join([text.replace(BOUNDARY, "") for text in texts])
    joined = plain_pieces(joined, BOUNDARY)
    joined = _with_formulas(joined) if _FORMULA.search(joined) else escape(joined)
    return joined.split(BOUNDARY)


def _with_formulas(text: str) -> str:
    """`text` escaped, but for formulas between the delimiters of MathJax, which become dollar signs."""
    parts = _FORMULA.split(text)
    for index in range(0, len(parts), 3):
        parts[index] = escape(parts[index])
    for index in range(1, len(parts), 3):
        inline, display = parts[index : index + 2]
        parts[index : index + 2] = [tex_span(inline or display, display=not inline), ""]
    return "".join(parts)
