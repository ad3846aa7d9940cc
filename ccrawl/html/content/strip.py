"""Elements that never hold main content, cut before anything is counted.

More than a quarter of a modern page's nodes stand in them, and about 1 % of its main content (over the
pages that the weights were fitted on): cutting them first makes the rest cheaper and its figures truer.
"""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborNode

from ccrawl.html.content.tables import TABLES
from ccrawl.html.content.types import Removed
from ccrawl.native import address, checked, library

REASONS = {
    "nav": "navigation element",
    "footer": "footer element",
    "select": "form control",
    "datalist": "form control",
    "svg": "drawing",
    "aside": "aside element",
    "header": "page header",
    "form": "form",
}
_SELECTOR = ", ".join(REASONS)
_SHORT = 80


def strip(body: LexborNode, explain: bool) -> list[Removed]:
    """Cut those elements out of `body`; what was cut is listed when `explain` asks for it.

    <aside>, <header> and <form> are cut only where they are short and hold no <h1>, <main> or <article>: a
    form may be the whole page. A header within <main> or <article> is not the page's own, and stays. A footer
    in a quotation names the source, and stays. Where <nav>, <footer>, <aside>, <header> and <form> hold
    nearly all of the page's words, or there are very many, somebody has used them for something else, and
    they stay. `ccrawl/native/strip.c` has the limits.
    """
    if explain:
        return _explained(body)
    checked(library.ccrawl_strip(TABLES.address, body.mem_id, True, None, 0))
    return []


def _explained(body: LexborNode) -> list[Removed]:
    """The same, with what was cut: each without what was cut within it."""
    found = body.css(_SELECTOR)
    places = np.empty(len(found), np.uint64)
    count = checked(library.ccrawl_strip(TABLES.address, body.mem_id, False, address(places), len(places)))
    cut = set(places[:count].tolist())
    removed: list[Removed] = []
    for node in reversed(found):
        if node.mem_id in cut:
            tag = node.tag or ""
            if tag != "svg":
                text = " ".join(node.text(separator=" ").split())[:_SHORT]
                removed.append(Removed(REASONS[tag], text, tag))
            node.decompose()
    removed.reverse()
    return removed
