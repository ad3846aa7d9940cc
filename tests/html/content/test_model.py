"""Trees evaluated by arrays against trees evaluated by hand."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ccrawl.html.content.context import CONTEXT
from ccrawl.html.content.features import FEATURES
from ccrawl.html.content.model import MOST_DEPTH, Forest, Model, fitted, load_model, save_model


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


@pytest.mark.parametrize("blocks", [1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 143, 144, 145, 1000])
def test_each_of_many_blocks_is_judged_as_alone(blocks: int) -> None:
    model = forest(1)
    random = np.random.default_rng(blocks)
    numbered = model.numbered({"f0": 0, "f1": 1}, {"f2": (0, 4), "f3": (1, 128)})
    matrix = random.normal(size=(2, blocks)).astype(np.float32)
    flags = random.integers(0, 256, (2, blocks), np.uint8)
    alone = [numbered.probability(matrix[:, [at]], flags[:, [at]])[0] for at in range(blocks)]
    assert numbered.probability(matrix, flags).tolist() == alone


def test_the_deepest_trees_are_evaluated_and_deeper_ones_refused() -> None:
    matrix = np.random.default_rng(0).normal(size=(4, 40)).astype(np.float32)
    model = forest(3, depth=MOST_DEPTH)
    expected = [by_hand(model, matrix[:, block]) for block in range(40)]
    assert np.allclose(model.probability(matrix), expected, atol=1e-6)
    with pytest.raises(ValueError, match="9 levels"):
        forest(3, depth=MOST_DEPTH + 1).probability(matrix)


def test_rows_may_be_numbered_otherwise() -> None:
    model = forest(2)
    matrix = np.random.default_rng(0).normal(size=(4, 10)).astype(np.float32)
    turned = model.numbered({"f3": 0, "f2": 1, "f1": 2, "f0": 3})
    no_flags = np.zeros((0, 10), np.uint8)
    assert np.array_equal(turned.probability(matrix[::-1], no_flags), model.probability(matrix))


@given(st.integers(0, 50), arrays.arrays(np.uint8, (1, 9)))
def test_flags_packed_in_bytes_answer_like_a_row_of_zeros_and_ones(seed: int, packed: np.ndarray) -> None:
    model = replace(forest(seed), border=np.full((3, 5), 0.5, np.float32))
    row = np.random.default_rng(seed).normal(size=(1, 9)).astype(np.float32)
    bits = [(packed & mask != 0).astype(np.float32) for mask in (1, 8, 128)]
    numbered = model.numbered({"f0": 0}, {"f1": (0, 1), "f2": (0, 8), "f3": (0, 128)})
    assert np.array_equal(numbered.probability(row, packed), model.probability(np.concatenate([row, *bits])))


def test_a_question_that_is_padding_is_never_answered_yes() -> None:
    border = np.array([[0.5], [np.inf]], np.float32)
    model = Forest(("f",), np.zeros((2, 1), np.int64), border, np.array([[1, 2, 3, 4]], np.float32), 0.0)
    scores = [1 / (1 + math.exp(-leaf)) for leaf in (1, 2)]
    assert np.allclose(model.probability(np.array([[0, 1e30]], np.float32)), scores)
    packed = model.numbered({}, {"f": (0, 1)})
    assert np.allclose(packed.probability(np.zeros((1, 2), np.float32), np.array([[0, 1]], np.uint8)), scores)


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
