"""What becomes of single characters: white space, invisible characters, and what has no place in a text.

Documented rule: every white space character of Unicode is a space, and runs of them are one. Characters that
show nothing and only mark where a line may break (soft hyphen, zero width space, word joiner, byte order
mark) are removed, as are control characters and noncharacters. Joiners (U+200C, U+200D) stay: scripts and
emoji need them. Directional marks stay: the order of the text depends on them.
"""

from __future__ import annotations

import re

_SPACES = "\t\n\x0b\f\r\x1c\x1d\x1e\x1f"
NO_BREAK_SPACE = "\xa0"
_WIDE_SPACES = "\x85\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_INVISIBLE = "\xad\u200b\u2060\ufeff"
_CONTROLS = "".join(chr(c) for c in (*range(0x20), 0x7F) if chr(c) not in _SPACES)
_NONCHARACTERS = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_UNSEEN = re.compile(f"[{_CONTROLS}{_INVISIBLE}\x80-\x84\x86-\x9f\ufdd0-\ufdef{_NONCHARACTERS}]+")
_RUN_OF_SPACES = re.compile("  +")  # " {2,}" takes five times as long
VANISHING = frozenset(_CONTROLS + _INVISIBLE)
"""Characters that leave nothing; a text that starts with one may be empty in the end."""


def plain(text: str) -> str:
    """`text` with single spaces for white space, without what is invisible or no character."""
    text = " ".join(text.split())
    return text if text.isprintable() else " ".join(_visible(text).split())


def plain_pieces(text: str, boundary: str) -> str:
    """The same for one long string of pieces, none of which has white space at its ends; `boundary` is a
    control character.

    Replacing characters one by one is several times faster here than splitting into words.
    """
    for character in _SPACES:
        if character in text:
            text = text.replace(character, " ")
    if text.isascii():
        for character in _CONTROLS:
            if character in text and character != boundary:
                text = text.replace(character, "")
    else:
        if NO_BREAK_SPACE in text:
            text = text.replace(NO_BREAK_SPACE, " ")
        if not text.replace(boundary, "").isprintable():
            text = _visible_pieces(text, boundary)
    return _RUN_OF_SPACES.sub(" ", text) if "  " in text else text


def _visible_pieces(text: str, boundary: str) -> str:
    for character in _WIDE_SPACES:
        if character in text:
            text = text.replace(character, " ")
    pieces = text.split(boundary)
    for index, piece in enumerate(pieces):
        if not piece.isprintable():
            kept = _UNSEEN.sub("", piece)
            pieces[index] = kept.rstrip(" ")
            if kept[-1:] == " " and index + 1 < len(pieces):
                pieces[index + 1] = " " + pieces[index + 1]  # it stood before something invisible
    return boundary.join(pieces)


def verbatim(text: str) -> str:
    """`text` for a code block: line breaks and spaces stay, what is invisible or no character goes."""
    text = (
        text.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\x0b", "\n")
        .replace("\f", "\n")
        .replace(NO_BREAK_SPACE, " ")
    )
    if text.isascii() and not any(character in text for character in _CONTROLS):
        return text
    return "\n".join("\t".join(map(_visible, line.split("\t"))) for line in text.split("\n"))


def _visible(text: str) -> str:
    """`text` without control characters, noncharacters and invisible ones. Python's `isprintable` screens."""
    return text if text.isprintable() else _UNSEEN.sub("", text)
