"""Elements that never hold main content, cut before anything is counted.

More than a quarter of a modern page's nodes stand in them, and about 1 % of its main content (over the
pages that the weights were fitted on): cutting them first makes the rest cheaper, since every node that
stays costs a microsecond in the walk, and the page's figures truer.
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
    "aside": "aside element",
    "header": "page header",
    "form": "form",
}
_SELECTOR = ", ".join(REASONS)
_AROUND = frozenset({"nav", "footer", "aside", "header", "form"})
# Cut only where they are short and hold nothing that says "here is the content": a form may be the whole
# page, a header an article's own.
_DOUBTFUL = frozenset({"aside", "header", "form"})
_CONTENT = "h1, main, article"
_LONG = 1_000  # characters
_MUCH = 400  # characters; less than that in <nav>, <footer> and so on is cut without a further look
_MANY = 200  # elements; a page with more of them has another idea of what they are
_WHOLE = 0.6  # of the page's words
_FAR = 100  # levels
_SHORT = 80


def strip(body: LexborNode, explain: bool) -> list[Removed]:
    """Cut those elements out of `body`; what was cut is listed when `explain` asks for it.

    A footer in a quotation names the source, and stays. Where <nav>, <footer>, <aside>, <header> and <form>
    hold nearly all of the page's words, or there are very many, somebody has used them for something else,
    and they stay.
    """
    found = [(node, node.tag or "") for node in body.css(_SELECTOR)]
    many = sum(tag in _AROUND for _, tag in found) > _MANY
    cut: list[tuple[LexborNode, str]] = []
    around: dict[int, int] = {}  # characters of each
    # Backwards, so that an element is cut before the one around it, and none is touched after it is gone.
    for node, tag in reversed(found):
        if tag in _AROUND:
            parent = node.parent
            if many or (parent is not None and parent.tag == "blockquote"):
                continue
            length = len(node.text_lexbor() or "")
            if tag in _DOUBTFUL and (length > _LONG or node.css_first(_CONTENT) is not None):
                continue
            around[node.mem_id] = length
        cut.append((node, tag))
    if sum(around.values()) > _MUCH:
        words = sum(around[node.mem_id] for node, tag in cut if tag in _AROUND and not _inside(node, around))
        if words > _WHOLE * len(body.text_lexbor() or ""):
            cut = [(node, tag) for node, tag in cut if tag not in _AROUND]
    removed: list[Removed] = []
    for node, tag in cut:
        if explain and tag != "svg":
            removed.append(Removed(REASONS[tag], " ".join(node.text(separator=" ").split())[:_SHORT], tag))
        node.decompose()
    removed.reverse()
    return removed


def _inside(node: LexborNode, others: dict[int, int]) -> bool:
    """Whether one of `others` stands around `node`, not too far up."""
    here = node.parent
    for _ in range(_FAR):
        if here is None:
            return False
        if here.mem_id in others:
            return True
        here = here.parent
    return False
