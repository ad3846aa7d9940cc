"""Text that is not in the tree: structured data, a script's state, the copy for browsers without frames."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.head import PageHead, load_json

# Characters. A body shorter than this is a teaser; a string of a script's state shorter than this is
# interface.
_LEAST_BODY = 200
_LEAST_STRING = 120
_SENTENCES = re.compile(r"\w[\w,;:'’\"()\s-]{15,}[.!?](?:\s|$)|[。！？]")
_TAG = re.compile(r"<(?:p|br|div|h[1-6]|ul|ol|li|a|strong|em|span|blockquote)\b[^>]*>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\s*\n\s*")
_MARKUP_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~])")
_SURROGATES = re.compile("[\ud800-\udfff]")
_DEPTH_LIMIT = 60


def from_head(head: PageHead, shown: int) -> str:
    """The longest text body of structured data, as Markdown; "" when the page itself shows more than half
    of it.
    """
    body = max(head.bodies, key=len, default="")
    if len(body) < _LEAST_BODY or 2 * shown > len(body):
        return ""
    return as_markdown(body)


def from_state(tree: LexborHTMLParser) -> str:
    """The running text in the JSON state of a page that a script renders, as Markdown; "" when there is
    none.
    """
    pieces: list[str] = []
    for script in tree.css('script[type="application/json"], script#__NEXT_DATA__'):
        pieces += _running_text(load_json(script.text()))
    return "\n\n".join(dict.fromkeys(filter(None, map(as_markdown, pieces))))


def from_noframes(tree: LexborHTMLParser) -> LexborHTMLParser | None:
    """The page that a frameset shows to browsers without frames."""
    source = "".join(node.text() for node in tree.css("noframes"))
    return LexborHTMLParser(source) if source.strip() else None


def as_markdown(text: str) -> str:
    """A string from JSON, plain or with tags, as Markdown paragraphs. Lone surrogates become U+FFFD."""
    text = _SURROGATES.sub("\ufffd", text)
    if _TAG.search(text):
        from ccrawl.html.markdown import render  # not needed by pages that are pages

        tree = LexborHTMLParser(text)
        return render(tree.body).strip() if tree.body is not None else ""
    lines = _BLANK_LINES.split(text.strip())
    return "\n\n".join(" ".join(_MARKUP_SIGNS.sub(r"\\\1", line).split()) for line in lines if line)


def _running_text(value: Any) -> list[str]:
    """The long strings of a JSON value that hold sentences, in order."""
    found: list[str] = []
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        here, depth = stack.pop()
        if isinstance(here, str):
            if len(here) >= _LEAST_STRING and " " in here and _SENTENCES.search(here, 0, 5000):
                found.append(here)
        elif depth < _DEPTH_LIMIT and isinstance(here, (dict, list)):
            children = list(here.values()) if isinstance(here, dict) else here
            stack.extend((child, depth + 1) for child in reversed(children))
    return found
