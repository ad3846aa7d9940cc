"""The collected hard inputs of area markdown, where the shared folder is there, by the whole-page extractor."""

from __future__ import annotations

import json
import re
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccrawl.html.decode import decode
from ccrawl.html.markdown import render
from ccrawl.html.tree import parse

from .structure import of_markdown

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "cases"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not CASES.exists(), reason="no shared folder")]

# case -> what each of its pages holds, what none holds
FACTS: dict[str, tuple[list[str], list[str]]] = {
    "md-nested-and-numbered-lists": (["\n- b\n  - c", "99. x", "    ```", "     - z", "7", "neg", "bad", "big"], ["-3."]),
    "md-table-spans-nesting-layout": (["| wide | |", "mega", "\n## Left head\n", "\n## Right head\n"], ["\\\\"]),
    "md-link-destinations": (["(http://t.example/two%20words/x)", "[nl](http://t.example/ab)"], ["javascript:", "\\_"]),
    "md-images-data-uri-lazy": (["![A](http://t.example/real.webp)", "*it*"], ["base64,"]),
    "md-escape-plain-text": (["snake_case_name, 2 * 3 = 6."], []),
    "md-block-inside-link": (["### [Title](http://t.example/x)", "Teaser text."], ["[\n", "[]"]),
    "md-inline-whitespace-and-invisibles": (["softhyphen", "zerowidth", "s1 s2"], ["\u00ad", "\u200b", "\ufeff"]),
    "md-dl-details-ruby": (["T1\n", "\nlonely\n", "東漢(かん)字(じ)西", "x<sup>10</sup>"], ["漢かん"]),
    "md-math": (["$x^2$", "$E=mc^2$", "$a_{1}$"], ["x2x^2"]),
    "md-hidden-template-noscript-custom": (["CUSTOM DEEP", "after"], ["TPL", "HID", "PHPX", "SCRIPTX", "IFRX"]),
    "md-deep-nesting": (["Marker deep."], []),
}  # fmt: skip


def pages_of(case_id: str) -> list[str]:
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    recipe = next(case["input"] for case in map(json.loads, lines) if case["id"] == case_id)
    sys.path.insert(0, str(CASES))
    try:
        import helpers
    finally:
        sys.path.pop(0)
    if recipe.startswith("html:"):
        return [helpers.page(recipe.removeprefix("html:").strip())]
    names: dict[str, Any] = dict(vars(helpers))
    exec(recipe.removeprefix("py:"), names)
    bodies = [record.split(b"\r\n\r\n", 2)[2].rstrip(b"\r\n") for record in members(names["data"])]
    return [body.decode() for body in bodies if b"doc-099" not in body]


def members(data: bytes) -> Iterator[bytes]:
    while data:
        inflate = zlib.decompressobj(31)
        yield inflate.decompress(data)
        data = inflate.unused_data


def test_every_case_of_the_area_is_here() -> None:
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    assert {case["id"] for case in map(json.loads, lines) if case["area"] == "markdown"} <= set(FACTS)


@pytest.mark.parametrize("case_id", FACTS)
def test_case(case_id: str) -> None:
    wanted, unwanted = FACTS[case_id]
    for page in pages_of(case_id):
        root = parse(decode(page.encode()).utf8).root
        assert root is not None
        start = time.process_time()
        markdown = render(root, "http://t.example/p")
        assert time.process_time() - start < 2
        assert len(markdown) < 10 * len(re.sub(r"<[^>]*>", "", page)) + 200
        of_markdown(markdown)
        for text in wanted:
            assert text in markdown
        for text in unwanted:
            assert text not in markdown
