"""Each construct renders as its example says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.markdown import render

from .examples import BASE, EXAMPLES, Example


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.html[:40])
def test_example(example: Example) -> None:
    root = LexborHTMLParser(example.html).root
    assert root is not None
    assert render(root, BASE) == example.markdown


def test_the_reference_page_shows_these_examples() -> None:
    script = Path(__file__).resolve().parents[3] / "scripts" / "document_markdown.py"
    spec = importlib.util.spec_from_file_location("document_markdown", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), f"run {script.name}"
