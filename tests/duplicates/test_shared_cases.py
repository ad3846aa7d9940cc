"""The cases of area dedup that broke other tools, as they stand beside the checkout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccrawl.duplicates import DedupOptions, dedup
from ccrawl.text.simhash import simhash
from tests.duplicates.datasets import Page, bits, sets, write

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not SHARED.is_dir(), reason="no shared cases here")]


@pytest.fixture
def pages(request: pytest.FixtureRequest) -> Iterator[list[Page]]:
    """The rows of the case whose name is the parameter; fingerprints are computed where it gives none."""
    lines = (SHARED / "cases.jsonl").read_text().splitlines()
    case = next(case for case in map(json.loads, lines) if case["id"] == request.param)
    sys.path.insert(0, str(SHARED))
    names: dict[str, Any] = {}
    exec("from helpers import *\n" + case["input"].removeprefix("py:"), names)
    sys.path.remove(str(SHARED))
    yield [
        Page(r["url"], r["markdown"], r["simhash"] if "simhash" in r else simhash(r["markdown"]))
        for r in names["rows"]
    ]


@pytest.mark.parametrize("pages", ["dd-hot-bucket-recall"], indirect=True)
def test_the_pair_that_only_the_hot_bucket_can_find(pages: list[Page], tmp_path: Path) -> None:
    report = dedup([write(tmp_path / "a.parquet", pages)], options=DedupOptions(min_bytes=0))
    assert sets(report, "near") == {frozenset({"http://t.example/a", "http://t.example/b"})}


@pytest.mark.parametrize("pages", ["dd-zero-and-short-fingerprints"], indirect=True)
def test_stubs_are_in_no_near_cluster(pages: list[Page], tmp_path: Path) -> None:
    report = dedup([write(tmp_path / "a.parquet", pages)])
    assert sets(report, "exact") == {frozenset({"http://t.example/3", "http://t.example/5"})}
    assert (report.near_clusters, report.no_fingerprint) == (0, 3)


@pytest.mark.parametrize("pages", ["dd-cjk-no-spaces"], indirect=True)
def test_scripts_without_spaces_are_compared(pages: list[Page], tmp_path: Path) -> None:
    report = dedup([write(tmp_path / "a.parquet", pages)], options=DedupOptions(distance=14))
    url = "http://t.example/"
    assert sets(report, "near") == {frozenset({url + "0", url + "1"}), frozenset({url + "3", url + "4"})}


@pytest.mark.parametrize("pages", ["dd-repetition-weighting"], indirect=True)
def test_what_repeats_most_does_not_decide(pages: list[Page], tmp_path: Path) -> None:
    report = dedup([write(tmp_path / "a.parquet", pages)])
    near = sets(report, "near")
    assert any({"http://t.example/0", "http://t.example/2"} <= cluster for cluster in near)
    assert not any("http://t.example/1" in cluster for cluster in near)
    assert bits(pages[0].simhash or 0, pages[1].simhash or 0) >= 12


@pytest.mark.parametrize("pages", ["dd-hot-bucket-recall"], indirect=True)
def test_a_shuffled_file_gives_the_same_clusters(pages: list[Page], tmp_path: Path) -> None:
    shuffled = [pages[place] for place in np.random.default_rng(1).permutation(len(pages))]
    options = DedupOptions(distance=6, min_bytes=0)
    reports = [
        dedup([write(tmp_path / f"{name}.parquet", rows)], options=options)
        for name, rows in (("a", pages), ("b", shuffled))
    ]
    assert [[m.url for m in c.members] for c in reports[0].clusters] == [
        [m.url for m in c.members] for c in reports[1].clusters
    ]
