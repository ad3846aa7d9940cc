"""From probabilities to a decision for each block."""

from __future__ import annotations

import numpy as np

from ccrawl.html.content.context import CONTEXT, best_threshold, gather_context
from ccrawl.html.content.features import gather
from ccrawl.html.content.head import PageHead
from ccrawl.html.content.model import Model
from ccrawl.html.content.text import BlockText
from ccrawl.html.content.walk import Flags, Floats, Walk

# The threshold is the one with the best expected F_beta of the page, within bounds.
BETA = {"precision": 0.5, "balanced": 1.0, "recall": 2.0}
BOUNDS = {"precision": (0.3, 0.75), "balanced": (0.15, 0.6), "recall": (0.05, 0.35)}


def judge(page: Walk, head: PageHead, url: str | None, title: str, model: Model) -> tuple[Floats, BlockText]:
    """The probability that each block is main content, after both looks, and the figures of its words."""
    wanted = tuple(dict.fromkeys(model.first.features + model.second.features))
    plain = tuple(name for name in wanted if name not in CONTEXT)
    evidence = gather(page, head, url, title, plain)
    row = {name: index for index, name in enumerate(plain)}
    first = model.first.probability(evidence.matrix[[row[name] for name in model.first.features]])
    context = gather_context(page, evidence, first)
    matrix = np.concatenate([evidence.matrix, context])
    row |= {name: len(plain) + index for index, name in enumerate(CONTEXT)}
    return model.second.probability(matrix[[row[name] for name in model.second.features]]), evidence.text


def decide(probability: Floats, text: BlockText, favor: str) -> Flags:
    """Which blocks to keep."""
    _, threshold = best_threshold(probability, np.maximum(text.words, 0.5), BETA[favor])
    low, high = BOUNDS[favor]
    keep: Flags = probability >= min(max(threshold, low), high)
    return keep
