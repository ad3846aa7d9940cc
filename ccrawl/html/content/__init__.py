"""Main content: what a page says, without what stands around it.

    walk       the tree as arrays, in one pass
    head       what the page says about itself
    text       the words of each block, counted
    features   evidence about each block
    model      small trees, evaluated by numpy
    context    the first look's result, as evidence for the second
    decide     which blocks stay
    prune      cutting the rest out of the tree
    title, embedded, explain

docs/explanation/content.md says how and why.
"""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content import title as titles
from ccrawl.html.content.decide import decide, judge
from ccrawl.html.content.head import PageHead, read_head
from ccrawl.html.content.model import Model, fitted
from ccrawl.html.content.prune import prune
from ccrawl.html.content.types import Content, Favor, Removed
from ccrawl.html.content.walk import TAG_ID, Walk, walk

__all__ = ["Content", "Favor", "Removed", "main_content", "page_title", "read_page"]


def main_content(
    tree: LexborHTMLParser,
    url: str | None = None,
    *,
    favor: str = "balanced",
    explain: bool = False,
    model: Model | None = None,
) -> Content:
    """The main content of `tree`, which is pruned in place.

    `favor` is "precision", "balanced" or "recall". With `explain`, the result says what was removed and why. `model`
    replaces the fitted weights of the package (the benchmarks score each page with weights that never saw its site).
    """
    page, head, title = read_page(tree)
    if page.texts:
        probability, text = judge(page, head, url, title, model or fitted())
        prune(page, decide(probability, text, favor))
    return Content(page.nodes[0], title)


def read_page(tree: LexborHTMLParser) -> tuple[Walk, PageHead, str]:
    """The body of `tree` as arrays, its head, and its title."""
    root = tree.body or tree.root
    assert root is not None
    page = walk(root)
    scripts = [page.nodes[index] for index in np.flatnonzero(page.n_tag == TAG_ID["script"]).tolist()]
    head = read_head(tree, scripts)
    headings = [page.nodes[index].text() for index in np.flatnonzero(page.n_tag == TAG_ID["h1"])[:8].tolist()]
    return page, head, titles.choose(head.title, head.meta, headings, head.headline)


def page_title(tree: LexborHTMLParser) -> str:
    """The page's own title, "" when it has none."""
    return read_page(tree)[2]
