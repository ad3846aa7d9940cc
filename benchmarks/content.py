"""Score main content on pages with gold, beside its peers, each page by weights that never saw its site.

    python benchmarks/fit_content/fit.py EVAL --cache CACHE     # once: the folds' weights
    python benchmarks/content.py EVAL --cache CACHE --peers     # the table of docs/explanation/content.md

EVAL is the evaluation directory (score.py and pages/). With CACHE every page is scored by the fold whose
weights saw no page of its site; without it by the weights of the package, which have seen the corpora
fitted on. Times are CPU, as multiples of the floor: decoding and a bare lexbor parse of the same bytes in
the same run.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "fit_content"))

from pages import FITTED_ON, FOLDS, SCORED_ONLY, fold_of

from ccrawl.html.content import main_content
from ccrawl.html.content.model import Model, fitted, load_model
from ccrawl.html.decode import decode
from ccrawl.html.markdown import render
from ccrawl.html.tree import parse

Extract = Callable[[bytes, str], str]


def scorer(directory: Path) -> ModuleType:
    """The evaluation's score.py as a module."""
    spec = importlib.util.spec_from_file_location("score", directory / "score.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ours(models: dict[int, Model] | None, favor: str) -> Extract:
    """Our extractor; with `models`, each page is judged by the model of its site's fold."""

    def extract(html: bytes, url: str) -> str:
        model = models[fold_of(url)] if models else fitted()
        content = main_content(parse(decode(html, None).utf8), url, favor=favor, model=model)
        return content.markdown if content.markdown is not None else render(content.node, url)

    return extract


def figures(
    score: ModuleType, name: str, extract: Extract, pages: list[dict[str, Any]], markdown: bool
) -> dict:
    """The scorer's figures for one extractor on one corpus, and F1 by page type."""
    counts, texts, _, errors, cpu, blocks = score.evaluate(name, extract, pages, markdown)
    row: dict[str, Any] = {"ms": 1000 * cpu / len(pages), "errors": errors}
    if sum(counts):
        tp, fp, fn, tn = counts
        row["accuracy"] = (tp + tn) / sum(counts)
        row["F1"] = score.f1(tp / max(1, tp + fp), tp / max(1, tp + fn))
    if texts:
        row["P"], row["R"] = (sum(text[i] for text in texts) / len(texts) for i in (1, 2))
        row["F1"] = score.f1(row["P"], row["R"])
        kinds = sorted({text[0] for text in texts})
        for kind in kinds if len(kinds) > 2 else []:
            some = [text[1:] for text in texts if text[0] == kind]
            row[kind] = score.f1(*(sum(values) / len(some) for values in zip(*some, strict=True)))
    if blocks is not None:
        row["blocks"] = blocks
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cache", type=Path, help="where fit.py left the folds' weights")
    parser.add_argument("--corpus", action="append", help="only these (repeatable)")
    parser.add_argument("--peers", action="store_true", help="trafilatura and resiliparse in the same run")
    parser.add_argument("--favor", default="balanced")
    parser.add_argument("--every", type=int, default=1, help="only every Nth page")
    options = parser.parse_args()
    score = scorer(options.directory)
    folds = {n: load_model(options.cache / f"fold{n}.npz") for n in range(FOLDS)} if options.cache else None
    fitted()
    for corpus in options.corpus or (*FITTED_ON, *SCORED_ONLY):
        pages = list(score.load(options.directory / "pages" / f"{corpus}.jsonl.gz"))[:: options.every]
        name = "ccrawl" if folds or corpus not in FITTED_ON else "ccrawl (seen)"
        runs: list[tuple[str, Extract, bool]] = [
            ("floor", score.floor, False),
            (name, ours(folds, options.favor), True),
        ]
        if options.peers:
            runs += [
                ("trafilatura", score.peer_trafilatura, False),
                ("resiliparse", score.peer_resiliparse, False),
            ]
        print(f"\n{corpus}: {len(pages)} pages")
        floor = 0.0
        for name, extract, markdown in runs:
            row = figures(score, name, extract, pages, markdown)
            floor = floor or row["ms"]
            row["times floor"] = row["ms"] / floor
            if name != "floor":
                print(
                    f"  {name:<14}" + "  ".join(f"{key} {value:.3f}" for key, value in row.items()),
                    flush=True,
                )


if __name__ == "__main__":
    main()
