"""Figures of blocks, worked out by hand from what their names say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.context import CONTEXT, gather_context
from ccrawl.html.content.features import FIGURES, Evidence, gather, unscaled
from ccrawl.html.content.head import PageHead
from ccrawl.html.content.walk import Walk, walk

LINE = "The ferry left the island one hour late, since the fog would not lift."  # 57 characters but spaces
PAGE = (
    "<h1>Ferry news</h1>"  # 9
    "<div class=post><h2>Fog</h2>"  # 3
    f"<p>{LINE}</p><p>{LINE}</p></div>"
    "<ul><li><a href=x>Share</a></li><li><a href=y>Next page</a></li></ul>"  # 5, 8
)


def evidence(html: str = PAGE) -> tuple[Walk, Evidence]:
    body = LexborHTMLParser(html).body
    assert body is not None
    page = walk(body)
    assert page is not None
    head = PageHead(meta={"og:type": "article"})
    return page, gather(page, head, "http://ferry.test/2024/05/fog-on-the-sound", "Ferry news")


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("own.length", [9, 3, 57, 57, 5, 8]),
        ("own.words", [2, 1, 14, 14, 1, 2]),
        ("own.stops", [0, 0, 1, 1, 0, 0]),
        ("own.ends_stop", [0, 0, 1, 1, 0, 0]),
        ("own.link_density", [0, 0, 0, 0, 1, 1]),
        ("own.depth", [1, 2, 2, 2, 2, 2]),
        ("box1.chars", [139, 117, 117, 117, 13, 13]),
        ("box1.blocks", [6, 3, 3, 3, 2, 2]),
        ("box1.headings", [2, 1, 1, 1, 0, 0]),
        ("box1.links", [13 / 139, 0, 0, 0, 1, 1]),
        ("place.index", [0, 1, 2, 3, 4, 5]),
        ("place.chars_before", [0, 9, 12, 69, 126, 131]),
        ("place.title_distance", [0, 1, 2, 3, 4, 5]),
        ("place.top_inside", [0, 1, 1, 1, 0, 0]),
        ("place.first_good", [-2, -1, 0, 1, 2, 3]),
        ("place.last_good", [3, 2, 1, 0, -1, -2]),
        ("place.h1_before", [1] * 6),
        ("window.good5", [57, 114, 114, 114, 114, 57]),
        ("next.link_density", [0, 0, 0, 1, 1, -1]),
        ("under.distance", [0, 0, 1, 2, 3, 4]),
        ("under.length", [9, 3, 3, 3, 3, 3]),
        ("under.level", [1, 2, 2, 2, 2, 2]),
        ("since.share", [200, 200, 200, 200, 0, 1]),
        ("shape.count", [1, 1, 2, 2, 2, 2]),
        ("shape.chars", [9, 3, 114, 114, 13, 13]),
        ("shape.level0", [1, 1, 2, 2, 2, 2]),
        ("page.chars", [139] * 6),
        ("page.items", [2] * 6),
        ("page.good", [114 / 139] * 6),
        ("page.og_article", [1] * 6),
        ("page.url_words", [3] * 6),
        ("page.url_date", [1] * 6),
    ],
)
def test_a_figure_is_what_its_name_says(figure: str, expected: list[float]) -> None:
    _, found = evidence()
    assert found.matrix[FIGURES.index(figure)].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("p", [0.5, 0, 1, 1, 0, 0]),
        ("p-1", [-0.1, 0.5, 0, 1, 1, 0]),
        ("p+2", [1, 1, 0, 0, -0.1, -0.1]),
        ("p.window1", [4.5 / 12, 61.5 / 69, 114 / 117, 114 / 119, 57 / 70, 0]),
        ("p.box1", [118.5 / 139, 114 / 117, 114 / 117, 114 / 117, 0, 0]),
        ("p.shape", [0.5, 0, 1, 1, 0, 0]),
        ("p.under", [0.5, *[114 / 130] * 5]),
        ("p.heading", [0.5, 0, 0, 0, 0, 0]),
        ("p.before", [0, 4.5 / 118.5, 4.5 / 118.5, 61.5 / 118.5, 1, 1]),
        ("best.inside", [0, 1, 1, 1, 0, 0]),
        ("sure.before", [99, 99, 0, 0, 1, 2]),
        ("sure.after", [2, 1, 0, 0, 99, 99]),
        ("sure.chars_after", [3, 0, 0, 0, 1e5, 1e5]),
        ("sure.between", [0, 0, 1, 1, 0, 0]),
        # The two sure blocks: twice their 114 over 114 and the 118.5 of all.
        ("page.threshold", [0.5] * 6),
        ("page.score", [2 * 118.5 / (123 + 118.5)] * 6),
        ("page.mass", [118.5] * 6),
        ("p.rank", [2 / 6, 3 / 6, 0, 1 / 6, 4 / 6, 5 / 6]),
        ("p.over", [0, -0.5, 0.5, 0.5, -0.5, -0.5]),
    ],
)
def test_a_figure_of_the_surroundings_is_what_its_name_says(figure: str, expected: list[float]) -> None:
    page, found = evidence()
    rows = gather_context(page, found, np.array([0.5, 0, 1, 1, 0, 0]))
    assert rows[CONTEXT.index(figure)].tolist() == pytest.approx(expected)


@given(st.integers(0, 2**24), st.integers(-3, 3))
def test_a_count_is_above_a_border_when_its_logarithm_is(count: int, steps: int) -> None:
    border = np.log1p(np.float32(count))
    for _ in range(abs(steps)):
        border = np.nextafter(border, np.float32(steps))
    plain, mirrored = unscaled(float(border), "logarithm"), unscaled(-float(border), "signed-logarithm")
    for near in range(max(count - 1, 0), count + 2):
        logarithm = np.float32(np.log1p(np.float64(near)))
        assert (np.float32(near) > np.float32(plain)) == (logarithm > border)
        assert (np.float32(-near) > np.float32(mirrored)) == (logarithm < border)
