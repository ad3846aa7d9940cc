"""Why a block was dropped, in words."""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborNode

from ccrawl.html.content.tags import HIDDEN, TAG_BIT
from ccrawl.html.content.text import BlockText
from ccrawl.html.content.types import Removed
from ccrawl.html.content.vocabulary import markup_bit, phrase_bit
from ccrawl.html.content.walk import Flags, Floats, Walk

_SHORT = 80  # characters of a dropped block that are shown

# What to say for evidence, strongest first: a tag among the ancestors, names in class and id, how the text
# begins.
_TAGS = {"aside": "aside element", "form": "form", "button": "button", "header": "page header"}
_NAMES = {
    "consent": "consent notice",
    "comment": "comments",
    "rating": "reviews",
    "related": "related links",
    "popular": "popular links",
    "social": "share bar",
    "ad": "advertisement",
    "promo": "promotion",
    "subscribe": "subscription",
    "login": "login",
    "breadcrumb": "breadcrumb",
    "footer": "footer",
    "nav": "navigation",
    "sidebar": "sidebar",
    "popup": "overlay",
    "next": "pager",
    "tags": "tags",
    "search": "search",
    "toc": "table of contents",
    "legal": "legal text",
    "cart": "shop controls",
    "widget": "widget",
    "header": "page header",
    "meta": "data about the page",
    "author": "author",
    "date": "date",
}
_STARTS = {
    "consent": "consent notice",
    "related": "related links",
    "share": "share bar",
    "subscribe": "subscription",
    "comment": "comments",
    "legal": "legal text",
    "more": "link to more",
    "ad": "advertisement",
    "script": "notice about scripts",
    "tags": "tags",
    "shop": "shop controls",
    "nav": "navigation",
}
_MARKUP_BITS = {markup_bit(name): reason for name, reason in _NAMES.items()}
_PHRASE_BITS = {phrase_bit(name): reason for name, reason in _STARTS.items()}


def explain(page: Walk, text: BlockText, probability: Floats, keep: Flags) -> list[Removed]:
    """One entry a dropped block, in document order."""
    strings, nodes = page.block_texts(), page.nodes()
    return [
        Removed(
            f"{_evidence(page, text, block)} (score {probability[block]:.2f})",
            " ".join(strings[block].split())[:_SHORT],
            _path(page, nodes, int(page.b_node[block])),
        )
        for block in np.flatnonzero(~keep).tolist()
    ]


def _evidence(page: Walk, text: BlockText, block: int) -> str:
    node = int(page.b_node[block])
    starts = int(text.phrases[block])
    for bit, reason in _PHRASE_BITS.items():
        if starts & bit:
            return reason
    tags = int(page.n_tags[node])
    if tags & HIDDEN:
        return "hidden"
    # The nearest element whose names say what it is for.
    here = node
    while True:
        names = int(page.n_markup[here])
        for bit, reason in _MARKUP_BITS.items():
            if names & bit:
                return reason
        if here == 0:
            break
        here = int(page.n_parent[here])
    for tag, reason in _TAGS.items():
        if tags & TAG_BIT[tag]:
            return reason
    if text.linked[block] > 0.8 * text.length[block]:
        return "links"
    return "apart from the main text"


def _path(page: Walk, nodes: list[LexborNode], node: int) -> str:
    steps: list[str] = []
    while len(steps) < 6:
        element = nodes[node]
        attributes = element.attributes
        name = attributes.get("id")
        label = (
            f"#{name}"
            if name
            else "".join(f".{part}" for part in (attributes.get("class") or "").split()[:2])
        )
        steps.append(f"{element.tag}{label}")
        if node == 0:
            break
        node = int(page.n_parent[node])
    return " > ".join(reversed(steps))
