"""From probabilities to a decision for each block."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from ccrawl import native
from ccrawl.errors import UsageError
from ccrawl.html.content.context import CONTEXT_SCALES
from ccrawl.html.content.features import FIGURE_SCALES, FLAG_PLACES, given_by
from ccrawl.html.content.head import PageHead
from ccrawl.html.content.model import Model, NumberedForest
from ccrawl.html.content.tables import TABLES
from ccrawl.html.content.text import TEXT_ROWS, BlockText, head_texts
from ccrawl.html.content.walk import Flags, Floats, Walk
from ccrawl.native import address, checked, library

# What one point of precision is worth in points of recall, and bounds of the threshold. Blocks of one page
# err together, so what is unsure is wrong more often than it counts: 1.4 in place of 1 gains 0.016 on
# news-5langs, 0.004 on bignews, 0.002 on chunks and 0.007 on products, and costs cleaneval 0.0015.
WORTH = {"precision": 3.0, "balanced": 1.4, "recall": 0.3}
# The same on a page that offers a product, most of which is about other things: products gain 0.007 and
# collections 0.004, services lose 0.002; much the same from 1.7 to 2.5.
PRODUCT_WORTH = WORTH | {"balanced": 2.0}
BOUNDS = {"precision": (0.3, 0.8), "balanced": (0.12, 0.65), "recall": (0.04, 0.4)}


def judge(page: Walk, head: PageHead, url: str | None, title: str, model: Model) -> tuple[Floats, BlockText]:
    """The probability that each block is main content, after both looks, and the figures of its words."""
    first, second = _plan(model)
    texts, given = head_texts(page, head, title), native.Given(*given_by(head, url))
    rows, probability = np.empty((TEXT_ROWS, page.blocks)), np.empty(page.blocks)
    checked(
        library.ccrawl_judge(
            *(TABLES.address, ctypes.byref(page.arrays), ctypes.byref(texts), ctypes.byref(given)),
            *(ctypes.byref(first.native), ctypes.byref(second.native), address(rows), address(probability)),
        )
    )
    return probability, BlockText(rows)


@functools.lru_cache(maxsize=8)
def _plan(model: Model) -> tuple[NumberedForest, NumberedForest]:
    """The forests of `model`, for the matrix of FIGURES and CONTEXT and the flags."""
    scales = FIGURE_SCALES | CONTEXT_SCALES
    row = {name: index for index, name in enumerate(scales)}
    first, second = (forest.numbered(row, FLAG_PLACES, scales) for forest in (model.first, model.second))
    return first, second


def decide(probability: Floats, text: BlockText, favor: str, *, product: bool = False) -> Flags:
    """Which blocks to keep: the set of most probable ones that is expected to score best on this page.

    With independent blocks, keeping a set S has an expected precision of mass(S) / words(S) and a recall of
    mass(S) / mass(page), where mass is words times probability. The best S begins the list of blocks in
    order of probability; on a page where all is uncertain it reaches further down than on a page with a
    clear article. `product` says that the page offers one.
    """
    if favor not in WORTH:
        raise UsageError(f"favor {favor!r}: one of {', '.join(WORTH)}")
    worth = (PRODUCT_WORTH if product else WORTH)[favor]
    keep = np.empty(len(probability), np.bool_)
    checked(
        library.ccrawl_decide(
            address(probability), address(text.words), len(keep), worth, *BOUNDS[favor], address(keep)
        )
    )
    return keep


def is_prose(text: BlockText) -> Flags:
    """Which blocks are running text: long enough, with a sentence, and mostly not linked."""
    rows = text.rows
    prose = np.empty(rows.shape[1], np.bool_)
    library.ccrawl_find_prose(address(rows), len(prose), address(prose))
    return prose
