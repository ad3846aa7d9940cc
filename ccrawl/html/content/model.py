"""Small gradient-boosted trees, evaluated by numpy.

Every tree is *oblivious*: all nodes of a level ask the same question, so a tree of depth D is D questions
(is feature f above t?) whose answers, read as a binary number, select one of 2^D leaves. A whole page is
then three array operations: take the rows of the questions, compare, and look the leaves up; about 6
nanoseconds a tree and block where a general tree walk in numpy or LightGBM's predictor takes ten times as
long.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

_PART = 4096  # blocks evaluated at once: bounds the memory of pages with many blocks


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """T oblivious trees of one depth D, at most 8."""

    features: tuple[str, ...]  # the names of the columns that questions refer to
    question: NDArray[np.int64]  # D x T: row in `features`
    border: NDArray[np.float32]  # D x T
    leaves: NDArray[np.float32]  # T x 2^D, log-odds
    bias: float

    def numbered(self, row: Mapping[str, int]) -> Forest:
        """The same forest for a matrix whose rows are numbered by `row`."""
        rows = np.array([row[name] for name in self.features], np.int64)
        return Forest(tuple(row), rows[self.question], self.border, self.leaves, self.bias)

    def probability(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability of each column of `matrix` (features x blocks)."""
        size = matrix.shape[1]
        if size > _PART:
            parts = [self.probability(matrix[:, at : at + _PART]) for at in range(0, size, _PART)]
            return np.concatenate(parts)
        depth, trees = self.question.shape
        leaf = np.zeros((trees, size), np.uint8)
        for level in range(depth):
            answer = (matrix.take(self.question[level], axis=0) > self.border[level][:, None]).view(np.uint8)
            answer <<= np.uint8(level)
            leaf |= answer
        where = leaf + (np.arange(trees, dtype=np.int32) << depth)[:, None]
        score = self.leaves.ravel().take(where).sum(0, dtype=np.float64) + self.bias
        result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-score))
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The two looks at a page: blocks by themselves, then blocks in the light of the first look."""

    first: Forest
    second: Forest  # its features are those of the first and CONTEXT


def load_model(file: object) -> Model:
    """Read a model that `save_model` wrote."""
    with np.load(file, allow_pickle=False) as stored:  # type: ignore[arg-type]
        forests = [
            Forest(
                tuple(str(stored[f"{name}.features"]).split()),
                stored[f"{name}.question"].astype(np.int64),
                stored[f"{name}.border"],
                stored[f"{name}.leaves"].astype(np.float32),
                float(stored[f"{name}.bias"]),
            )
            for name in ("first", "second")
        ]
    return Model(*forests)


def save_model(model: Model, file: object) -> None:
    """Write `model` as a compressed .npz; leaves as half floats, which changes no probability by more than
    0.002.
    """
    arrays = {}
    for name, forest in (("first", model.first), ("second", model.second)):
        arrays[f"{name}.features"] = np.array(" ".join(forest.features))
        arrays[f"{name}.question"] = forest.question.astype(np.uint16)
        arrays[f"{name}.border"] = forest.border
        arrays[f"{name}.leaves"] = forest.leaves.astype(np.float16)
        arrays[f"{name}.bias"] = np.array(forest.bias)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


@functools.cache
def fitted() -> Model:
    """The model in the package; read at first use."""
    with resources.files(__package__).joinpath("model.npz").open("rb") as file:
        return load_model(file)
