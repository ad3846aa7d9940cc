"""Main content: what a page says, without what stands around it."""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content import title as titles
from ccrawl.html.content.prune import prune
from ccrawl.html.content.types import Content, Favor, Removed
from ccrawl.html.content.vocabulary import markup_bit
from ccrawl.html.content.walk import LINK, TAG_BIT, Flags, Walk, walk

__all__ = ["Content", "Favor", "Removed", "main_content"]

_AROUND = np.uint64(
    sum(
        markup_bit(name)
        for name in "nav footer sidebar comment related social ad consent popup breadcrumb".split()
    )
)
_AROUND_TAGS = np.uint64(TAG_BIT["nav"] | TAG_BIT["footer"] | TAG_BIT["aside"] | TAG_BIT["button"])


def main_content(
    tree: LexborHTMLParser, url: str | None = None, *, favor: Favor = "balanced", explain: bool = False
) -> Content:
    """The main content of `tree`, which is pruned in place."""
    root = tree.body or tree.root
    assert root is not None
    head_title = tree.css_first("title")
    meta = {
        (node.attributes.get("property") or node.attributes.get("name") or "").lower(): node.attributes.get(
            "content"
        )
        or ""
        for node in tree.css("meta[content]")
    }
    headings = [node.text() for node in tree.css("h1")]
    title = titles.choose(head_title.text() if head_title else "", meta, headings)
    page = walk(root)
    if page.texts:
        prune(page, _decide(page))
    return Content(root, title)


def _decide(page: Walk) -> Flags:
    lengths = np.array([len(text.strip()) for text in page.texts])
    size = len(page.b_first)
    length = np.bincount(page.t_block, lengths, size)
    linked = np.bincount(page.t_block, lengths * (page.n_tags[page.t_node] & np.uint64(LINK) > 0), size)
    around = (page.n_markup_all[page.b_node] & _AROUND > 0) | (page.n_tags[page.b_node] & _AROUND_TAGS > 0)
    keep: Flags = ~around & ((length > 10) & (linked < 0.5 * length))
    total = float(length.sum())
    if length[keep].sum() < min(200.0, 0.3 * total):
        keep = ~around
        if length[keep].sum() < 0.1 * total:
            keep = np.ones(size, np.bool_)
    return keep
