"""From probabilities to a decision for each block."""

from __future__ import annotations

import functools

import numpy as np

from ccrawl.errors import UsageError
from ccrawl.html.content import rules
from ccrawl.html.content.context import CONTEXT, gather_context
from ccrawl.html.content.features import FIGURES, FLAG_PLACES, gather
from ccrawl.html.content.head import PageHead
from ccrawl.html.content.model import Model, NumberedForest
from ccrawl.html.content.text import STOP, BlockText
from ccrawl.html.content.walk import Flags, Floats, Walk

# What one point of precision is worth in points of recall, and bounds of the threshold.
WORTH = {"precision": 3.0, "balanced": 1.0, "recall": 0.3}
BOUNDS = {"precision": (0.3, 0.8), "balanced": (0.12, 0.65), "recall": (0.04, 0.4)}


def judge(page: Walk, head: PageHead, url: str | None, title: str, model: Model) -> tuple[Floats, BlockText]:
    """The probability that each block is main content, after both looks, and the figures of its words."""
    first, second = _plan(model)
    evidence = gather(page, head, url, title, len(CONTEXT))
    matrix, flags = evidence.matrix, evidence.flags
    matrix[-len(CONTEXT) :] = gather_context(page, evidence, first.probability(matrix, flags))
    return rules.apply(page, evidence.text, second.probability(matrix, flags)), evidence.text


@functools.lru_cache(maxsize=8)
def _plan(model: Model) -> tuple[NumberedForest, NumberedForest]:
    """The forests of `model`, for the matrix of FIGURES and CONTEXT and the flags."""
    row = {name: index for index, name in enumerate((*FIGURES, *CONTEXT))}
    return model.first.numbered(row, FLAG_PLACES), model.second.numbered(row, FLAG_PLACES)


def decide(probability: Floats, text: BlockText, favor: str) -> Flags:
    """Which blocks to keep: the set of most probable ones that is expected to score best on this page.

    With independent blocks, keeping a set S has an expected precision of mass(S) / words(S) and a recall of
    mass(S) / mass(page), where mass is words times probability. The best S begins the list of blocks in
    order of probability; on a page where all is uncertain it reaches further down than on a page with a
    clear article.
    """
    if favor not in WORTH:
        raise UsageError(f"favor {favor!r}: one of {', '.join(WORTH)}")
    words = np.maximum(text.words, 0.5)
    order = np.argsort(-probability, kind="stable")
    mass = np.cumsum((words * probability)[order])
    score = WORTH[favor] * mass / np.cumsum(words[order]) + mass / max(float(mass[-1]), 1e-9)
    threshold = float(probability[order[int(score.argmax())]])
    low, high = BOUNDS[favor]
    keep: Flags = probability >= min(max(threshold, low), high, float(probability.max()))
    return keep


def is_prose(text: BlockText) -> Flags:
    """Which blocks are running text: long enough, with a sentence, and mostly not linked."""
    prose: Flags = (text.length > 60) & (text.counts[STOP] > 0) & (text.linked < 0.5 * text.length)
    return prose
