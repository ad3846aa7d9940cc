"""A page's bytes as a tree: lexbor's, by the HTML standard's parsing algorithm.

Two kinds of pages are rewritten first, in `ccrawl.html._rewrite`: XHTML, whose `<title/>` is an empty
element in XML and swallows the page in HTML, and pages that nest so deep that parsing would be quadratic.
"""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html._rewrite import flattened, xhtml_as_html

# Opening an element costs lexbor a look at all that are open: 20,000 nested ones take it 0.5 to 2 s, and
# ten times as many a hundred times as long. Pages of real sites stay below both numbers, or close to them.
_DEEP_BYTES = 256 * 1024
_DEEP_TAGS = 20_000


def parse(utf8: bytes, *, xhtml: bool = False) -> LexborHTMLParser:
    """Parse valid UTF-8 (see ccrawl.html.decode). `xhtml` is for pages of type application/xhtml+xml.

    Any bytes give a tree, if an empty one. A page of more than 20,000 tags keeps 1,000 levels: elements
    further down lose their tags, not their text.
    """
    if xhtml:
        utf8 = xhtml_as_html(utf8)
    if len(utf8) > _DEEP_BYTES and np.count_nonzero(np.frombuffer(utf8, np.uint8) == ord("<")) > _DEEP_TAGS:
        utf8 = flattened(utf8)
    return LexborHTMLParser(utf8)
