"""What the first look at a page says about each block's surroundings: evidence for the second look.

The first model judges blocks almost alone. Here its probabilities are put back on the page: over the
block's neighbours, its containers, the blocks of its shape and those under its heading; over the container
that alone would make the best extract; and over the run from the first to the last block that is surely
content. `CONTEXT` names the columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ccrawl.html.content.features import Evidence, common_depth
from ccrawl.html.content.vocabulary import words
from ccrawl.html.content.walk import Floats, Walk

LEVELS = 4
REACHES = (1, 3, 8, 20)
SURE, SURE_LENGTH = 0.6, 40  # a block that alone says "here is content"

CONTEXT: tuple[str, ...] = (
    "p",
    *(f"p{step:+d}" for step in (-3, -2, -1, 1, 2, 3)),
    *(f"p.window{reach}" for reach in REACHES),
    *(f"p.box{level}" for level in range(LEVELS)),
    *(f"p.boxmass{level}" for level in range(LEVELS)),
    *(f"p.top{level}" for level in range(LEVELS)),
    *words("p.shape p.under p.heading p.before p.after"),
    *words("best.inside best.before best.after best.score best.common best.mean"),
    *words("tight.inside tight.common tight.mean"),
    *words("sure.before sure.after sure.index sure.from_end sure.between sure.chars_before sure.chars_after"),
    *words("page.score page.threshold page.mass page.p p.rank p.over"),
)


def gather_context(page: Walk, evidence: Evidence, first: Floats) -> NDArray[np.float32]:
    """`CONTEXT` for every block, from the first model's probabilities."""
    size = len(first)
    length = evidence.text.length
    mass = first * length
    total = max(mass.sum(), 1e-9)
    index = np.arange(size)
    columns: list[Floats | NDArray[np.bool_] | NDArray[np.int64]] = [first]

    padded = np.full(size + 6, -0.1)
    padded[3:-3] = first
    columns += [padded[3 + step : 3 + step + size] for step in (-3, -2, -1, 1, 2, 3)]

    sums = np.zeros((2, size + 1))
    np.cumsum(mass, out=sums[0, 1:])
    np.cumsum(length, out=sums[1, 1:])
    reach = np.array(REACHES)[:, None]
    around = sums.take(index + (reach + 1), axis=1, mode="clip") - sums.take(
        np.maximum(index - reach, 0), axis=1
    )
    columns += [*(around[0] / around[1])]
    low, high = evidence.n_blocks
    n_mass = sums[0, high] - sums[0, low]
    n_length = sums[1, high] - sums[1, low]
    boxes = evidence.ancestors
    mean = n_mass / np.maximum(n_length, 1.0)
    columns += [*mean[boxes], *(n_mass / total)[boxes]]
    # The same for the ancestors counted from the page's root.
    node = page.b_node
    score = 2 * n_mass / (n_length + total)
    columns += [*score[boxes]]

    shape = evidence.shape
    columns.append((np.bincount(shape, mass) / np.bincount(shape, length))[shape])
    run = evidence.heading + 1
    columns.append((np.bincount(run, mass) / np.maximum(np.bincount(run, length), 1.0))[run])
    columns.append(np.where(run > 0, first[run - 1], -0.1))
    columns += [(sums[0, :-1]) / total, (total - sums[0, 1:]) / total]

    best = int(score.argmax())
    columns += [
        (node >= best) & (node < page.n_end[best]),
        node < best,
        node >= page.n_end[best],
        np.full(size, score[best]),
        common_depth(page, node, best),
        np.full(size, mean[best]),
    ]
    # The deepest node that holds nearly all of what the first model wants.
    tight = int(np.flatnonzero(n_mass >= 0.85 * total)[-1]) if total > 1e-6 else 0
    columns += [
        (node >= tight) & (node < page.n_end[tight]),
        common_depth(page, node, tight),
        np.full(size, mean[tight]),
    ]

    sure = np.flatnonzero((first > SURE) & (length > SURE_LENGTH))
    if len(sure):
        # The last sure block at or before each block, and the first at or after it.
        upto = np.searchsorted(sure, index, "right")
        previous = sure[np.maximum(upto - 1, 0)]
        following = sure[np.minimum(np.searchsorted(sure, index), len(sure) - 1)]
        back = np.where(upto > 0, index - previous, 99)
        ahead = np.where(following >= index, following - index, 99)
        columns += [
            np.minimum(back, 99),
            np.minimum(ahead, 99),
            (index - sure[0]).clip(-50, 50),
            (sure[-1] - index).clip(-50, 50),
            (index >= sure[0]) & (index <= sure[-1]),
            np.log1p(np.where(back < 99, sums[1, index] - sums[1, np.minimum(previous + 1, index)], 1e5)),
            np.log1p(
                np.where(ahead < 99, sums[1, following] - sums[1, np.minimum(index + 1, following)], 1e5)
            ),
        ]
    else:
        columns += [np.full(size, -1.0)] * 7

    expected, threshold = best_threshold(first, length)
    rank = np.empty(size)
    rank[np.argsort(-first, kind="stable")] = index / size
    columns += [
        np.full(size, expected),
        np.full(size, threshold),
        np.full(size, np.log1p(total)),
        np.full(size, total / length.sum()),
        rank,
        first - threshold,
    ]
    return np.array(columns, np.float32)


def best_threshold(probability: Floats, length: Floats, beta: float = 1.0) -> tuple[float, float]:
    """(expected F, threshold) of the set of most probable blocks whose expected F_beta is best.

    With independent blocks, keeping set S has expected F close to (1 + b) mass(S) / (length(S) + b
    mass(page)), b = beta squared; the best S is always a prefix of the blocks in order of probability.
    """
    order = np.argsort(-probability, kind="stable")
    mass = (probability * length)[order]
    weight = beta * beta
    scores = (
        (1 + weight) * np.cumsum(mass) / (np.cumsum(length[order]) + weight * max(float(mass.sum()), 1e-9))
    )
    at = int(scores.argmax())
    return float(scores[at]), float(probability[order[at]])
