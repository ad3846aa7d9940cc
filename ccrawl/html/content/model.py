"""Small gradient-boosted trees, evaluated natively.

Every tree is *oblivious*: all nodes of a level ask the same question, so a tree of depth D is D questions
(is feature f above t?) whose answers, read as a binary number, select one of 2^D leaves. A third of the
questions of a forest are asked more than once; each is answered once for all blocks, and the rest is adding
bytes (`ccrawl/native/forest.c`): some 1.5 nanoseconds a tree and block, where a general tree walk in numpy or
LightGBM's predictor takes 60.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccrawl import native
from ccrawl.html.content.features import unscaled
from ccrawl.native import address, addresses, checked, library

MOST_DEPTH = 8  # a leaf's number fits into a byte


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """T oblivious trees of one depth D, at most MOST_DEPTH."""

    features: tuple[str, ...]  # the names of the columns that questions refer to
    question: NDArray[np.int64]  # D x T: row in `features`
    border: NDArray[np.float32]  # D x T
    leaves: NDArray[np.float32]  # T x 2^D, log-odds
    bias: float

    def numbered(
        self,
        row: Mapping[str, int],
        flag: Mapping[str, tuple[int, int]] | None = None,
        scales: Mapping[str, str] | None = None,
    ) -> NumberedForest:
        """The forest for a matrix whose rows are numbered by `row`; features that are bits, above a half or
        not, are found by `flag`: (row of a matrix of bytes, mask). `scales` names the scale that the borders
        of a feature are in, where the matrix is without it.
        """
        flag, scales = flag or {}, scales or {}
        figures: dict[tuple[int, float], int] = {}
        flags: dict[tuple[int, int], int] = {}
        asked = []
        for question, border in zip(self.question.T.ravel(), self.border.T.ravel(), strict=True):
            name = self.features[question]
            if not np.isfinite(border):
                asked.append((0, figures.setdefault((0, float(border)), len(figures))))
            elif name in flag:
                asked.append((1, flags.setdefault(flag[name], len(flags))))
            else:
                plain = unscaled(float(border), scales.get(name, "linear"))
                asked.append((0, figures.setdefault((row[name], plain), len(figures))))
        depth, trees = self.question.shape
        order = np.array([number + len(figures) * is_flag for is_flag, number in asked], np.int64)
        return NumberedForest.of(
            np.array([row for row, _ in figures], np.int64),
            np.array([border for _, border in figures], np.float32),
            np.array([byte for byte, _ in flags], np.int64),
            np.array([mask for _, mask in flags], np.uint8),
            # The first question is the lowest bit of a leaf's number, and answers are read highest first.
            np.ascontiguousarray(order.reshape(trees, depth)[:, ::-1]),
            np.ascontiguousarray(self.leaves),
            self.bias,
        )

    def probability(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability of each column of `matrix` (features x blocks)."""
        forest = self.numbered({name: index for index, name in enumerate(self.features)})
        return forest.probability(matrix, np.zeros((0, matrix.shape[1]), np.uint8))


@dataclass(frozen=True, slots=True, eq=False)
class NumberedForest:
    """A forest that is ready to be evaluated: its different questions, and which of them each tree asks."""

    arrays: tuple[NDArray[Any], ...]  # the memory of `native`
    native: native.Forest

    @classmethod
    def of(
        cls,
        figure: NDArray[np.int64],
        border: NDArray[np.float32],
        byte: NDArray[np.int64],
        mask: NDArray[np.uint8],
        asked: NDArray[np.int64],
        leaves: NDArray[np.float32],
        bias: float,
    ) -> NumberedForest:
        """The forest of F questions about figures (row of the matrix, border), B about flags (row of the
        bytes, mask), T trees that ask D of them each (T x D, those about figures first; the highest bit
        first), and T x 2^D leaves. ValueError for trees deeper than MOST_DEPTH.
        """
        if asked.shape[1] > MOST_DEPTH:
            raise ValueError(f"trees of {asked.shape[1]} levels; at most {MOST_DEPTH} can be evaluated")
        arrays = (figure, border, byte, mask, asked, leaves)
        sizes = (len(figure), len(byte), *asked.shape)
        return cls(arrays, native.Forest(*sizes, *addresses(*arrays), bias))

    def probability(self, matrix: NDArray[np.float32], flags: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The probability of each column of `matrix` (figures x blocks) and `flags` (bytes x blocks)."""
        matrix, flags = np.ascontiguousarray(matrix), np.ascontiguousarray(flags)
        result = np.empty(matrix.shape[1])
        forest, size = ctypes.byref(self.native), len(result)
        checked(library.ccrawl_probability(forest, *addresses(matrix, flags), size, address(result)))
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
