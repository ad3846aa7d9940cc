"""Rules that hold whatever the model says. Few, each with its guard."""

from __future__ import annotations

import numpy as np

from ccrawl.html.content.tables import markup_bits
from ccrawl.html.content.tags import HIDDEN, TAG_BIT, TAG_ID, TAG_SLOTS
from ccrawl.html.content.text import BlockText
from ccrawl.html.content.vocabulary import markup_bit, words
from ccrawl.html.content.walk import Flags, Floats, Walk

_CONSENT = np.uint64(markup_bits("cookie consent gdpr"))
_HOLDS_CONTENT, _IS_ARTICLE = np.zeros((2, TAG_SLOTS), np.bool_)
_HOLDS_CONTENT[[TAG_ID[name] for name in words("main article h1")]] = True
_IS_ARTICLE[[TAG_ID[name] for name in words("article main")]] = True
_SMALL = 40  # blocks; of a larger page the model knows more
# What speaks against a block inside an article: names of elements below the article, and tags.
_AGAINST_NAMES = sum(
    markup_bit(name)
    for name in words(
        "nav header footer sidebar widget comment related popular next social ad promo subscribe login "
        "consent popup search form breadcrumb tags meta author date rating cart tool toc language legal hide "
        "mobile"
    )
)
_AGAINST_TAGS = HIDDEN | sum(
    TAG_BIT[name] for name in words("aside nav header footer form button figcaption label")
)


def apply(page: Walk, text: BlockText, probability: Floats) -> Floats:
    """`probability` with what the rules settle set to 0."""
    consent = consent_blocks(page)
    if consent.any() and text.length[~consent].max(initial=0.0) >= 20:
        probability = np.where(consent, 0.0, probability)
    return probability


def consent_blocks(page: Walk) -> Flags:
    """Blocks in an element that names itself after consent or cookies, unless it holds an article or the
    heading.

    A consent dialog may be longer than the page; a wrapper of the whole page that says "has-cookie-bar" is
    none.
    """
    found = np.zeros(len(page.b_node), np.bool_)
    named = np.flatnonzero(page.n_markup & _CONSENT).tolist()
    if not named:  # most pages
        return found
    content = _HOLDS_CONTENT[page.n_tag]
    before = np.concatenate([[0], np.cumsum(content)])
    for node in named:
        end = page.n_end[node]
        if node and before[end] == before[node]:
            found |= (page.b_node >= node) & (page.b_node < end)
    return found


def complete(page: Walk, text: BlockText, keep: Flags) -> None:
    """On a small page, keep what stands in an article of which most is kept, when nothing speaks against it.

    A short last paragraph, or a link by itself, has nothing that speaks for it, either.
    """
    if len(keep) >= _SMALL or keep.all() or not keep.any():
        return
    for article in np.flatnonzero(_IS_ARTICLE[page.n_tag]).tolist():
        inside = (page.b_node >= article) & (page.b_node < page.n_end[article])
        if 2 * text.length[inside & keep].sum() <= text.length[inside].sum():
            continue
        around = int(page.n_tags[article])
        for block in np.flatnonzero(inside & ~keep & (text.phrases == 0)).tolist():
            node = int(page.b_node[block])
            if int(page.n_tags[node]) & ~around & _AGAINST_TAGS:
                continue
            names = 0
            while node > article:
                names |= int(page.n_markup[node])
                node = int(page.n_parent[node])
            if not names & _AGAINST_NAMES:
                keep[block] = True
