"""Elements that never hold main content, cut before anything is counted.

A fifth of a modern page's nodes stand in <nav> and <footer>, and 0.3 % of its main content (measured over
the pages that the weights were fitted on): cutting them first makes the rest cheaper and the page's figures
truer.
"""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from ccrawl.html.content.types import Removed

REASONS = {
    "nav": "navigation element",
    "footer": "footer element",
    "select": "form control",
    "datalist": "form control",
    "svg": "drawing",
}
_SELECTOR = ", ".join(REASONS)
_MUCH = 400  # characters; less than that in <nav> and <footer> is cut without a further look
_MANY = 200  # elements; a page with more of them has another idea of what they are
_SHORT = 80


def strip(body: LexborNode, explain: bool) -> list[Removed]:
    """Cut those elements out of `body`; what was cut is listed when `explain` asks for it.

    A footer in a quotation names the source, and stays. Where <nav> and <footer> hold more than half of the
    page's words, or there are very many, somebody has used them for something else, and they stay.
    """
    found = [(node, node.tag or "") for node in body.css(_SELECTOR)]
    around = [node for node, tag in found if tag == "nav" or tag == "footer"]
    keep = len(around) > _MANY
    if not keep:
        words = sum(len(node.text()) for node in around)
        keep = words > _MUCH and 2 * words > len(body.text())
    removed: list[Removed] = []
    # Backwards, so that an element is cut before the one around it, and none is touched after it is gone.
    for node, tag in reversed(found):
        if tag == "nav" or tag == "footer":
            parent = node.parent
            if keep or (parent is not None and parent.tag == "blockquote"):
                continue
        if explain and tag != "svg":
            removed.append(Removed(REASONS[tag], " ".join(node.text(separator=" ").split())[:_SHORT], tag))
        node.decompose()
    removed.reverse()
    return removed
