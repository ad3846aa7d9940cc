"""Backslashes where literal text would read as Markdown, and nowhere else.

The rules follow the delimiter rules of CommonMark 0.31 and GFM: a character is escaped only where a parser
could take it for markup. The text comes as one string of many pieces with BOUNDARY between them; what stands
on the other side of a boundary is not known here, so a character next to one counts as dangerous.
"""

from __future__ import annotations

import re

BOUNDARY = "\x01"
LINE = "\x03"
"""Marks the start of a line of text that begins with one of LINE_STARTS."""

LINE_STARTS = frozenset("#-+*>|:=_[0123456789")

# Characters of the page's text whose escape depends on what they stand in, which only the walk knows. Lone
# surrogates can't occur in decoded text, so they can stand for them until the end.
PIPE, OPEN_BRACKET, CLOSE_BRACKET, EXCLAMATION, HASH = "\udc00", "\udc01", "\udc02", "\udc03", "\udc04"
LITERAL = {PIPE: "\\|", OPEN_BRACKET: "\\[", CLOSE_BRACKET: "\\]", EXCLAMATION: "\\!", HASH: "\\#"}

_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~\x01\udc00-\udc04]|$)")
# Each begins with the character itself and not with a run of it: the search then jumps to it, which takes
# a tenth of the time of trying the pattern at every character.
_STARS = re.compile(r"\*\**")
_UNDERSCORES = re.compile(r"__*")
_TAG = re.compile(r"<(?=[A-Za-z/!?\x01]|$)")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{0,32}(?:[;\x01]|$))")
_CLOSE_BRACKET = re.compile(r"\](?=[(\[:\x01]|$)")
_TILDES = re.compile(r"~(?:~+|(?<![\s~]~)|(?=\x01|$))")


def _each(match: re.Match[str]) -> str:
    return "".join("\\" + character for character in match[0])


def _stars(match: re.Match[str]) -> str:
    """A run of stars with spaces around it opens and closes nothing."""
    text = match.string
    if text[match.start() - 1 : match.start()] == " " and text[match.end() : match.end() + 1] == " ":
        return match[0]
    return _each(match)


def _underscores(match: re.Match[str]) -> str:
    """Nor does a run of underscores within a word."""
    text = match.string
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if (before.isalnum() and after.isalnum()) or (before == after == " "):
        return match[0]
    return _each(match)


def escape(text: str) -> str:
    """`text` with a backslash before each character that Markdown would take for markup within a line."""
    if "\\" in text:
        text = _BACKSLASH.sub(r"\\\\", text)
    if "*" in text:
        text = _STARS.sub(_stars, text)
    if "_" in text:
        text = _UNDERSCORES.sub(_underscores, text)
    if "`" in text:
        text = text.replace("`", "\\`")
    if "<" in text:
        text = _TAG.sub(r"\\<", text)
    if "&" in text:
        text = _ENTITY.sub(r"\\&", text)
    if "]" in text:
        text = _CLOSE_BRACKET.sub(r"\\]", text)
    if "~" in text:
        text = _TILDES.sub(_each, text)
    return text


_BLOCK_START = re.compile(
    r"""\x03\ ?(?:
        (\#{1,6}(?=[\ \n]|$)                   # a heading
        |[-+*](?=[\ \n]|$)                     # a bullet
        |>                                     # a quote
        |[-|:=_](?=[-|:=_\ ]*(?:\n|$))         # a rule, an underlined heading, the second row of a table
        |\[(?=[\ xX]\](?:[\ \n]|$))            # a task
        )
        |(\d{1,9})([.)])(?=[\ \n]|$)           # a numbered item
        |)""",
    re.VERBOSE,
)


def _block_start(match: re.Match[str]) -> str:
    mark, number, stop = match.groups()
    return f"\\{mark}" if mark else f"{number}\\{stop}" if number else ""


def escape_line_starts(text: str) -> str:
    """A backslash before what would open a block where LINE stands; LINE itself goes."""
    return _BLOCK_START.sub(_block_start, text)
