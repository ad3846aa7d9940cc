"""Markdown without link and image destinations: what a reader sees, not where it points.

A destination is known by its form alone, also inside code, so that a fingerprint needs no Markdown
parser and any other program can compute the same one:

- inline links and images: after `](`, either `<...>` on one line or a run without white space whose
  parentheses are balanced (at most two deep, those behind a backslash not counted), when `)` or a title
  follows. `\\](` opens none;
- reference definitions: after `[label]:` at the start of a line, the same two forms, when the line ends
  there or a title follows. Footnotes (`[^label]:`) are text;
- autolinks: `<scheme:...>`, which are nothing but a destination;
- HTML tags: the value of `href` and `src`.

Link texts, image descriptions, titles and bare addresses in running text are text and stay.
"""

from __future__ import annotations

import re

# Possessive quantifiers (++, *+) and stops at the next `(`, `<` or line keep every search linear.
_RUN = r"[^\s()\\]*+(?:\\.[^\s()\\]*+)*+"
_BARE = rf"(?!<){_RUN}(?:\({_RUN}(?:\({_RUN}\){_RUN})*+\){_RUN})*+"
_DESTINATION = rf"(?:<[^<>\n]*+>|{_BARE})"

_INLINE = re.compile(rf"\]\((?<!\\\]\()\s*+{_DESTINATION}(?=\s*+\)|\s++[\"'(])")
_DEFINITION = re.compile(
    rf"^( {{0,3}}\[(?!\^)[^\]\[\n]++\]:)[ \t]*+{_DESTINATION}(?=[ \t]*+$|[ \t]++[\"'(])", re.MULTILINE
)
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*+>")
_TAG = re.compile(r"<[A-Za-z][^<>]*+>")
_ATTRIBUTE = re.compile(r"""(\s(?:href|src)\s*+=\s*+)(?:"[^"]*+"|'[^']*+'|[^\s"'<>]++)""", re.IGNORECASE)


def without_destinations(markdown: str) -> str:
    """The Markdown with the destinations of links and images removed; linear in its length."""
    if "](" in markdown:
        markdown = _INLINE.sub("](", markdown)
    if "]:" in markdown:
        markdown = _DEFINITION.sub(r"\1", markdown)
    if "<" in markdown:
        markdown = _AUTOLINK.sub(" ", markdown)
        if "=" in markdown:
            markdown = _TAG.sub(_without_values, markdown)
    return markdown


def _without_values(tag: re.Match[str]) -> str:
    return _ATTRIBUTE.sub(r"\1", tag[0])
