"""The collected hard inputs that concern fingerprints, where the shared folder is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ccrawl.text.simhash import distance, simhash

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not CASES.exists(), reason="no shared folder")]


def fingerprints(case_id: str) -> list[int]:
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    recipe = next(case["input"] for case in map(json.loads, lines) if case["id"] == case_id)
    sys.path.insert(0, str(CASES))
    try:
        import helpers
    finally:
        sys.path.pop(0)
    names: dict[str, Any] = dict(vars(helpers))
    exec(recipe.removeprefix("py:"), names)
    return [simhash(row["markdown"]) for row in names["rows"]]


def test_scripts_without_spaces() -> None:
    base, near, other, thai, thai_near = prints = fingerprints("dd-cjk-no-spaces")
    assert 0 not in prints and len(set(prints)) > 2
    assert distance(base, near) <= 6
    assert distance(base, other) >= 16
    assert distance(thai, thai_near) <= 14
    assert distance(base, thai) >= 16


def test_repetition() -> None:
    first, second, third, _ = fingerprints("dd-repetition-weighting")
    assert distance(first, second) >= 12
    assert distance(first, third) <= 3


def test_zero_and_short() -> None:
    prints = fingerprints("dd-zero-and-short-fingerprints")
    assert prints[:3] == [0, 0, 0]
    assert 0 not in prints[3:]
    assert prints[3] == prints[5]
