"""The shared cases of the extraction area, asserted on main content."""

from __future__ import annotations

import io
import json
import pathlib
import sys
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from ccrawl.html.content import main_content
from ccrawl.html.decode import decode
from ccrawl.html.markdown import render
from ccrawl.html.tree import parse

CASES = pathlib.Path(__file__).resolve().parents[4] / "shared" / "cases"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (CASES / "cases.jsonl").exists(), reason="no shared cases beside the checkout"),
]


@pytest.fixture
def pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Markdown of each record of the case that the test names."""
    monkeypatch.syspath_prepend(str(CASES))
    sys.modules.pop("helpers", None)
    import helpers

    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(case for case in map(json.loads, lines) if case["id"] == request.param)
    kind, recipe = case["input"].split(":", 1)
    if kind == "html":
        return [extract(recipe.strip().encode())]
    names: dict[str, Any] = dict(vars(helpers))
    exec(recipe, names)
    if "data" not in names:
        names["data"] = b"".join(
            helpers.gz(helpers.rec(helpers.http(html), n=n, uri=f"http://t.example/{n}"))
            for n, html in enumerate(names["hs"])
        )
    records = ArchiveIterator(io.BytesIO(names["data"]))
    return [
        extract(record.content_stream().read(), record.rec_headers["WARC-Target-URI"]) for record in records
    ]


def extract(html: bytes, url: str = "http://t.example/p", favor: str = "balanced") -> str:
    content = main_content(parse(decode(html, None).utf8), url, favor=favor)
    return content.markdown if content.markdown is not None else render(content.node, url)


def case(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("pages", [name], indirect=True, ids=[name])


@case("ex-forum-thread")
def test_all_posts_of_a_thread(pages: list[str]) -> None:
    places = [pages[0].find(f"Post {n} says") for n in range(1, 13)]
    assert -1 not in places and places == sorted(places)
    assert "Powered by ForumSoft" not in pages[0]


@case("ex-cookie-banner-longer-than-article")
def test_consent_goes_and_cookies_stay(pages: list[str]) -> None:
    assert "Bridge closed on Friday" in pages[0] and "Marker article" in pages[0]
    assert "store cookies on your device" not in pages[0]
    assert "How we use cookies" in pages[1] and "Marker cookie-article" in pages[1]


@case("ex-json-ld-or-script-only")
def test_text_only_in_scripts(pages: list[str]) -> None:
    assert "Marker ld-body" in pages[0] and "Marker ld-body" in pages[1]
    assert not any("JavaScript" in page for page in pages)
    pages[4].encode("utf-8")


@case("ex-frameset")
def test_framesets(pages: list[str]) -> None:
    assert pages[0].strip() == ""
    assert "Marker noframes" in pages[1]
    assert "Marker iframe-tail" in pages[2]
    assert "<b>" not in pages[2] and "fallback" not in pages[2]


@case("ex-aria-hidden-main")
def test_a_hidden_article(pages: list[str]) -> None:
    assert "Marker hidden-main" in pages[0] and "We build a small library" in pages[0]
    assert pages[0].strip() != "FPS: --"


@case("ex-short-and-header-only-pages")
def test_short_pages(pages: list[str]) -> None:
    assert [number for number, page in enumerate(pages) if not page.strip()] == [0, 1, 4, 6, 7, 8, 11]
    assert "Marker main-first" in pages[9]
