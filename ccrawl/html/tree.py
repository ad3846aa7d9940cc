"""A page's bytes as a tree: lexbor's, by the HTML standard's parsing algorithm.

Some pages are rewritten first, by `ccrawl.html._rewrite`: XHTML, whose `<title/>` is an empty element in
XML and swallows the page in HTML, and large ones made so that parsing them would take quadratic time.
"""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html._rewrite import flattened, with_fewer_attributes, xhtml_as_html

# Opening an element costs lexbor a look at all that are open, and an attribute a look at all of its tag:
# 20,000 nested elements take it 0.5 to 2 s, ten times as many a hundred times as long. Pages of real sites
# stay below both numbers, or close to them, and a page below either is parsed in bounded time.
_LARGE_BYTES = 256 * 1024
_MANY_TAGS = 20_000
_LONG_TAG_BYTES = 32 * 1024
_PIECE_BYTES = 64 * 1024


def parse(utf8: bytes, *, xhtml: bool = False) -> LexborHTMLParser:
    """Parse valid UTF-8 (see ccrawl.html.decode). `xhtml` is for pages of type application/xhtml+xml.

    Any bytes give a tree, if an empty one. In a page above 256 KB a tag keeps its first 1,000 attributes, and
    with more than 20,000 tags it keeps 1,000 levels: elements further down lose their tags, not their text.
    """
    if xhtml:
        utf8 = xhtml_as_html(utf8)
    if len(utf8) > _LARGE_BYTES:
        if _has_long_tag(utf8):
            utf8 = with_fewer_attributes(utf8)
        if _count_tags(utf8) > _MANY_TAGS:
            utf8 = flattened(utf8)
    return LexborHTMLParser(utf8)


def _has_long_tag(html: bytes) -> bool:
    """Whether some 32 KB hold no end of a tag: a script, a data URI, or a tag of a great many attributes."""
    return any(
        html.find(b">", start, start + _LONG_TAG_BYTES) < 0 for start in range(0, len(html), _LONG_TAG_BYTES)
    )


def _count_tags(html: bytes) -> int:
    """How many `<` there are, counted in pieces that stay in the processor's cache."""
    signs = np.frombuffer(html, np.uint8)
    pieces = (signs[start : start + _PIECE_BYTES] for start in range(0, len(html), _PIECE_BYTES))
    return sum(int(np.count_nonzero(piece == ord("<"))) for piece in pieces)
