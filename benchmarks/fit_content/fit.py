"""Fit the two forests of ccrawl.html.content and write them to model.npz.

    python benchmarks/fit_content/fit.py PAGES --cache /tmp/content     # all weights, and one model a fold

PAGES is the evaluation directory. The folds' models (CACHE/fold0.npz ...) are what benchmarks/content.py
scores with: a page is always judged by the model that has seen no page of its site. Needs catboost. The
same input gives the same file.

How: the first forest sees FEATURES; the second sees them again with CONTEXT, computed from the first
forest's probabilities for pages it was not fitted on. Blocks weigh by their share of the page's gold text,
so that every page counts alike; of long pages a sample of blocks is taken, in proportion to weight.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from catboost import CatBoost, Pool
from pages import FITTED_ON, FOLDS, Sample, fold_of, samples

from ccrawl.html.content.context import CONTEXT, CONTEXT_SCALES, gather_context
from ccrawl.html.content.features import FEATURES, scaled
from ccrawl.html.content.model import Forest, Model, save_model

LIMIT = 350  # blocks of one page that are fitted on
WORTH = {"bignews": 1.4}  # news is rarer in the corpora than on the web
COMMON = {
    "loss_function": "CrossEntropy",
    "depth": 6,
    "l2_leaf_reg": 4,
    "random_seed": 1,
    "thread_count": 2,
    "border_count": 63,
    "rsm": 0.3,
    "bootstrap_type": "Bernoulli",
    "subsample": 0.7,
    "logging_level": "Silent",
    "allow_writing_files": False,
}
FIRST = {**COMMON, "iterations": 160, "learning_rate": 0.12, "leaf_estimation_iterations": 3}
SECOND = {**COMMON, "iterations": 220, "learning_rate": 0.07, "leaf_estimation_iterations": 2}


def weights(pages: list[Sample], seed: int = 3) -> np.ndarray:
    """The fitting weight of every block, 0 where it is not in the sample."""
    random = np.random.default_rng(seed)
    result = []
    for page in pages:
        weight = page.weight * WORTH.get(page.corpus, 1.0)
        if page.corpus != "chunks":
            chance = weight + 0.3 * weight.mean()
            chance = np.minimum(1.0, LIMIT * chance / chance.sum())
            weight = np.where(random.random(len(weight)) < chance, weight / chance, 0.0)
        result.append(weight)
    return np.concatenate(result)


def fit(matrix: np.ndarray, label: np.ndarray, weight: np.ndarray, parameters: dict[str, object]) -> CatBoost:
    """One forest on the rows of positive weight."""
    rows = weight > 0
    model = CatBoost(parameters)
    model.fit(Pool(matrix[rows], label[rows], weight=weight[rows] / weight[rows].mean()))
    return model


def predict(model: CatBoost, matrix: np.ndarray) -> np.ndarray:
    """Probabilities."""
    return model.predict(matrix, prediction_type="Probability", thread_count=2)[:, 1]


def forest(model: CatBoost, names: list[str]) -> Forest:
    """A fitted model as arrays; trees shallower than the deepest are padded with questions never answered
    yes.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        model.save_model(str(path), format="json")
        stored = json.loads(path.read_text())
    trees = stored["oblivious_trees"]
    depth = max(len(tree["splits"] or []) for tree in trees)
    question = np.zeros((depth, len(trees)), np.int64)
    border = np.full((depth, len(trees)), np.inf, np.float32)
    leaves = np.zeros((len(trees), 1 << depth), np.float32)
    for number, tree in enumerate(trees):
        for level, split in enumerate(tree["splits"] or []):
            question[level, number] = split["float_feature_index"]
            border[level, number] = split["border"]
        leaves[number, : len(tree["leaf_values"])] = tree["leaf_values"]
    scale, bias = stored["scale_and_bias"]
    used = sorted(set(question[np.isfinite(border)].tolist()))
    place = np.zeros(len(names), np.int64)
    place[used] = np.arange(len(used))
    return Forest(
        tuple(names[i] for i in used), place[question], border, leaves * scale, float(np.ravel(bias)[0])
    )


def context(pages: list[Sample], probability: np.ndarray) -> np.ndarray:
    """CONTEXT of all blocks from the first forest's probabilities."""
    parts, at = [], 0
    for page in pages:
        size = len(page.blocks)
        rows = gather_context(page.walk, page.evidence, probability[at : at + size])
        parts.append(scaled(rows, CONTEXT_SCALES).T)
        at += size
    return np.concatenate(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="where model.npz goes (default: into the package)")
    options = parser.parse_args()
    out = options.out or Path(__file__).resolve().parents[2] / "ccrawl/html/content/model.npz"
    started = time.process_time()

    def note(what: str) -> None:
        print(f"{time.process_time() - started:7.1f} s  {what}", file=sys.stderr, flush=True)

    pages = samples(options.pages, FITTED_ON, options.cache)
    matrix = np.concatenate([page.features() for page in pages])
    label = np.concatenate([page.share for page in pages])
    weight = weights(pages)
    fold = np.concatenate([np.full(len(page.blocks), fold_of(page.url)) for page in pages])
    note(f"{len(pages)} pages, {len(label)} blocks, {(weight > 0).sum()} fitted on")

    out_of_fold = np.zeros(len(label))
    firsts = []
    for number in range(FOLDS):
        unseen = fold == number
        firsts.append(fit(matrix, label, np.where(unseen, 0, weight), FIRST))
        out_of_fold[unseen] = predict(firsts[-1], matrix[unseen])
        note(f"first forest, fold {number}")
    firsts.append(fit(matrix, label, weight, FIRST))

    matrix = np.concatenate([matrix, context(pages, out_of_fold)], axis=1)
    for number in [*range(FOLDS), -1]:
        seconds = fit(matrix, label, np.where(fold == number, 0, weight), SECOND)
        model = Model(forest(firsts[number], list(FEATURES)), forest(seconds, [*FEATURES, *CONTEXT]))
        save_model(model, options.cache / f"fold{number}.npz" if number >= 0 else out)
        note(f"second forest, fold {number}" if number >= 0 else f"wrote {out}")


if __name__ == "__main__":
    main()
