"""Rules that hold whatever the model says. Few, each with its guard."""

from __future__ import annotations

import ctypes

import numpy as np

from ccrawl.html.content.tables import TABLES, markup_bits
from ccrawl.html.content.tags import HIDDEN, TAG_BIT
from ccrawl.html.content.text import BlockText
from ccrawl.html.content.vocabulary import markup_bit, words
from ccrawl.html.content.walk import Flags, Floats, Walk
from ccrawl.native import address, checked, library

# Names of elements that go: consent notices, then customers' reviews.
_GROUPS = np.array([markup_bits("cookie consent gdpr"), markup_bits("rating")], np.uint64)
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


def apply(page: Walk, text: BlockText, probability: Floats, *, reviews: bool = True) -> Floats:
    """`probability` with what the rules settle: consent notices at 0, and customers' reviews unless
    `reviews`; repeated text less probable.

    A long block whose words an earlier one had, of those that may be content, has a fifth of its odds. A
    quotation of the whole post before, or the copy of a product's text for each of its variants, is as good
    as what it repeats, but says nothing new. What is certain stays: a programme may list a lecture twice.

    What stands in an element that names itself after consent or reviews goes, unless the element holds an
    article or the heading, or nothing else is left: a consent dialog may be longer than the page, and a
    wrapper of the whole page that says "has-cookie-bar" is none. `ccrawl/native/rules.c` has the limits.
    """
    result = probability.copy()
    groups = _GROUPS[: 1 if reviews else 2]
    checked(
        library.ccrawl_settle(
            *(TABLES.address, ctypes.byref(page.arrays), address(text.rows)),
            *(address(groups), len(groups), address(result)),
        )
    )
    return result


def complete(page: Walk, text: BlockText, probability: Floats, keep: Flags) -> None:
    """On a small page, keep what stands in an article of which most is kept, when nothing speaks against it,
    the model neither.

    A short last paragraph, or a link by itself, has nothing that speaks for it, either.
    """
    if len(keep) < _SMALL and keep.any():
        library.ccrawl_complete(
            *(TABLES.address, ctypes.byref(page.arrays), address(text.rows)),
            *(_AGAINST_TAGS, _AGAINST_NAMES, address(probability), address(keep)),
        )
