"""Rules that hold whatever the model says. Few, each with its guard."""

from __future__ import annotations

import numpy as np

from ccrawl.html.content.text import BlockText
from ccrawl.html.content.vocabulary import markup_bits, words
from ccrawl.html.content.walk import TAG_ID, Flags, Floats, Walk

_CONSENT = np.uint64(markup_bits("cookie consent gdpr"))
_HOLDS_CONTENT = [TAG_ID[name] for name in words("main article h1")]


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
    content = np.isin(page.n_tag, _HOLDS_CONTENT)
    before = np.concatenate([[0], np.cumsum(content)])
    for node in np.flatnonzero(page.n_markup & _CONSENT).tolist():
        end = page.n_end[node]
        if node and before[end] == before[node]:
            found |= (page.b_node >= node) & (page.b_node < end)
    return found
