"""Main content: what a page says, without what stands around it.

    strip      elements that never hold content, cut
    walk       the tree as arrays, in one pass
    head       what the page says about itself
    text       the words of each block, counted
    features   evidence about each block
    model      small trees
    context    the first look's result, as evidence for the second
    decide     which blocks stay
    prune      cutting the rest out of the tree
    title, embedded, explain

What runs per node, character or block is native (ccrawl/native); tags, vocabulary and tables are what it is
told. docs/explanation/content.md says how and why.
"""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ccrawl.html.content import rules
from ccrawl.html.content import title as titles
from ccrawl.html.content.decide import decide, is_prose, judge
from ccrawl.html.content.embedded import from_head, from_noframes, from_state
from ccrawl.html.content.explain import explain as explain_blocks
from ccrawl.html.content.head import PageHead, read_head
from ccrawl.html.content.model import Model, fitted
from ccrawl.html.content.prune import prune
from ccrawl.html.content.strip import strip
from ccrawl.html.content.types import Content, Favor, Removed
from ccrawl.html.content.vocabulary import NOTICE
from ccrawl.html.content.walk import Flags, Walk, walk

__all__ = ["Content", "Favor", "Removed", "main_content", "page_title", "read_page"]

_LITTLE = 200  # characters: a page that shows less may carry its text elsewhere


def main_content(
    tree: LexborHTMLParser,
    url: str | None = None,
    *,
    favor: str = "balanced",
    explain: bool = False,
    model: Model | None = None,
) -> Content:
    """The main content of `tree`, which is pruned in place.

    `favor` is "precision", "balanced" or "recall". With `explain`, the result says what was removed and
    why. `model` replaces the fitted weights of the package (the benchmarks score each page with weights
    that never saw its site).
    """
    page, head, title, removed = read_page(tree, explain)
    node, shown = _body(tree), 0.0
    if page is None:
        return Content(node, title, removed=tuple(removed))
    if page.blocks:
        product = head.of_product
        probability, text = judge(page, head, url, title, model or fitted())
        probability = rules.apply(page, text, probability, reviews=favor == "recall" or not product)
        keep = decide(probability, text, favor, product=product)
        rules.complete(page, text, probability, keep)
        shown = float(text.length[keep].sum())
        if shown < _LITTLE and _only_notices(page, keep):
            keep[:] = False
            shown = 0.0
        if explain:
            removed += explain_blocks(page, text, probability, keep)
    if shown < _LITTLE or head.bodies:
        markdown, source = _elsewhere(tree, head, shown)
        if markdown:
            return Content(node, title, markdown, source, tuple(removed))
    if page.blocks:
        prune(page, keep, is_prose(text))
    else:
        frames = from_noframes(tree)
        if frames is not None:
            inner = main_content(frames, url, favor=favor, explain=explain, model=model)
            return Content(inner.node, title or inner.title, inner.markdown, "noframes", inner.removed)
    return Content(node, title, removed=tuple(removed))


def _only_notices(page: Walk, keep: Flags) -> bool:
    """Whether all that was kept asks for scripts, frames or another browser."""
    strings = page.block_texts()
    return all(NOTICE.search(strings[block]) for block in np.flatnonzero(keep).tolist())


def _elsewhere(tree: LexborHTMLParser, head: PageHead, shown: float) -> tuple[str, str]:
    """The page's text where its tree shows little of it: (Markdown, where it was), or ("", "")."""
    body = from_head(head, int(shown))
    if body:
        return body, "json-ld"
    state = from_state(tree) if shown < _LITTLE else ""
    return (state, "embedded-json") if len(state) > 2 * shown else ("", "")


def read_page(
    tree: LexborHTMLParser, explain: bool = False
) -> tuple[Walk | None, PageHead, str, list[Removed]]:
    """The body of `tree` as arrays (None when it is too large), its head, its title, and what was cut
    before.
    """
    root = _body(tree)
    removed = strip(root, explain)
    page = walk(root)
    head = read_head(tree, page)
    if page is None:
        head.headings = [heading.text() for heading in root.css("h1")[:8]]
    return page, head, titles.choose(head.title, head.meta, head.headings, head.headline), removed


def _body(tree: LexborHTMLParser) -> LexborNode:
    """What holds the page's text; of a tree without any node (a fragment of nothing), an empty page's."""
    node = tree.body or tree.root or LexborHTMLParser("").body
    assert node is not None
    return node


def page_title(tree: LexborHTMLParser) -> str:
    """The page's own title, "" when it has none."""
    return read_page(tree)[2]
