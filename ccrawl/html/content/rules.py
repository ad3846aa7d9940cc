"""Rules that hold whatever the model says. Few, each with its guard."""

from __future__ import annotations

import collections

import numpy as np

from ccrawl.html.content.tables import STOP, UPPER, markup_bits
from ccrawl.html.content.tags import HIDDEN, TAG_BIT, TAG_ID, TAG_SLOTS
from ccrawl.html.content.text import BlockText
from ccrawl.html.content.vocabulary import markup_bit, words
from ccrawl.html.content.walk import Flags, Floats, Walk

_CONSENT = np.uint64(markup_bits("cookie consent gdpr"))
_REVIEWS = np.uint64(markup_bits("rating"))
_HOLDS_CONTENT, _IS_ARTICLE = np.zeros((2, TAG_SLOTS), np.bool_)
_HOLDS_CONTENT[[TAG_ID[name] for name in words("main article h1")]] = True
_IS_ARTICLE[[TAG_ID[name] for name in words("article main")]] = True
_SMALL = 40  # blocks; of a larger page the model knows more
_LONG = 40  # characters; shorter blocks are repeated for good reasons: labels, cells, entries
_MAY_BE = 0.1  # a probability; below it a block is not kept, whether it is repeated or not
_REPEATED = 5.0  # what the odds of a repeated block are divided by; much the same from 4 to 7
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


def apply(page: Walk, text: BlockText, probability: Floats, *, reviews: bool = True) -> Floats:
    """`probability` with what the rules settle: consent notices at 0, and customers' reviews unless
    `reviews`; repeated text less probable.

    A quotation of the whole post before, or the copy of a product's text for each of its variants, is as
    good as what it repeats, but says nothing new. What is certain stays: a programme may list a lecture
    twice.
    """
    repeated = repeated_blocks(page, text, probability)
    if repeated.any():
        lower = probability / (probability + _REPEATED * (1.0 - probability))
        probability = np.where(repeated, lower, probability)
    for group in (_CONSENT,) if reviews else (_CONSENT, _REVIEWS):
        named = named_blocks(page, group)
        if named.any() and text.length[~named].max(initial=0.0) >= 20:
            probability = np.where(named, 0.0, probability)
    return probability


def repeated_blocks(page: Walk, text: BlockText, probability: Floats) -> Flags:
    """Long blocks whose words are those of an earlier one, among those that may be content."""
    found = np.zeros(page.blocks, np.bool_)
    long = np.flatnonzero((text.length >= _LONG) & (probability >= _MAY_BE))
    # Copies have as many characters, words, capitals and stops; few others do, and of most pages no block is
    # read.
    capitals, stops = text.counts[UPPER][long], text.counts[STOP][long]
    figures = text.length[long] + 8191 * text.words[long] + 131071 * capitals + 8388593 * stops
    count = collections.Counter(figures.tolist())
    if len(count) == len(long):
        return found
    seen: set[bytes] = set()
    for block, figure in zip(long.tolist(), figures.tolist(), strict=True):
        if count[figure] > 1:
            words = page.block_words(block)
            found[block] = words in seen
            seen.add(words)
    return found


def named_blocks(page: Walk, groups: np.uint64) -> Flags:
    """Blocks in an element that names itself after one of the MARKUP `groups`, unless it holds an article
    or the heading.

    A consent dialog may be longer than the page; a wrapper of the whole page that says "has-cookie-bar" is
    none.
    """
    named = np.flatnonzero(page.n_markup[1:] & groups) + 1
    if not len(named):  # most pages
        return np.zeros(page.blocks, np.bool_)
    before = np.concatenate([[0], np.cumsum(_HOLDS_CONTENT[page.n_tag])])
    named = named[before[page.n_end[named]] == before[named]]
    depth = np.zeros(len(before), np.int64)  # how many such elements a node is in
    depth[named] = 1
    np.subtract.at(depth, page.n_end[named], 1)
    found: Flags = np.cumsum(depth)[page.b_node] > 0
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
