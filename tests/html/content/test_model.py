"""Trees evaluated by arrays against trees evaluated by hand."""

from __future__ import annotations

import io
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ccrawl.html.content.context import CONTEXT
from ccrawl.html.content.features import FEATURES
from ccrawl.html.content.model import Forest, Model, fitted, load_model, save_model


def forest(seed: int, trees: int = 5, depth: int = 3, features: int = 4) -> Forest:
    random = np.random.default_rng(seed)
    return Forest(
        tuple(f"f{n}" for n in range(features)),
        random.integers(0, features, (depth, trees)),
        random.normal(size=(depth, trees)).astype(np.float32),
        random.normal(size=(trees, 1 << depth)).astype(np.float32),
        0.25,
    )


def by_hand(model: Forest, column: np.ndarray) -> float:
    score = model.bias
    depth, trees = model.question.shape
    for tree in range(trees):
        leaf = sum(1 << n for n in range(depth) if column[model.question[n, tree]] > model.border[n, tree])
        score += float(model.leaves[tree, leaf])
    return 1 / (1 + math.exp(-score))


@given(st.integers(0, 50), arrays.arrays(np.float32, (4, 7), elements=st.floats(-3, 3, width=32)))
def test_a_forest_gives_what_walking_its_trees_gives(seed: int, matrix: np.ndarray) -> None:
    model = forest(seed)
    expected = [by_hand(model, matrix[:, block]) for block in range(7)]
    assert np.allclose(model.probability(matrix), expected, atol=1e-6)


def test_many_blocks_are_judged_like_few() -> None:
    model = forest(1)
    matrix = np.random.default_rng(0).normal(size=(4, 9001)).astype(np.float32)
    parts = [model.probability(matrix[:, at : at + 1]) for at in (0, 4095, 4096, 9000)]
    assert np.allclose(model.probability(matrix)[[0, 4095, 4096, 9000]], np.concatenate(parts))


def test_rows_may_be_numbered_otherwise() -> None:
    model = forest(2)
    matrix = np.random.default_rng(0).normal(size=(4, 10)).astype(np.float32)
    turned = model.numbered({"f3": 0, "f2": 1, "f1": 2, "f0": 3})
    assert np.array_equal(turned.probability(matrix[::-1]), model.probability(matrix))


def test_a_saved_model_comes_back() -> None:
    stored = io.BytesIO()
    save_model(Model(forest(3), forest(4)), stored)
    stored.seek(0)
    again = load_model(stored)
    matrix = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    assert again.first.features == ("f0", "f1", "f2", "f3")
    assert np.allclose(again.second.probability(matrix), forest(4).probability(matrix), atol=0.002)


def test_the_fitted_model_asks_only_for_features_that_exist() -> None:
    model = fitted()
    assert set(model.first.features) <= set(FEATURES)
    assert set(model.second.features) <= {*FEATURES, *CONTEXT}
    assert np.isfinite(model.first.leaves).all() and np.isfinite(model.second.leaves).all()
