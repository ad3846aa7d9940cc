"""Each construct renders as its example says."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.markdown import render

from .examples import BASE, EXAMPLES, Example


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.html[:40])
def test_example(example: Example) -> None:
    root = LexborHTMLParser(example.html).root
    assert root is not None
    assert render(root, BASE) == example.markdown
