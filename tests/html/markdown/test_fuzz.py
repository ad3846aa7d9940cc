"""Nothing that a page holds makes the renderer fail, hang, or write what is no text."""

from __future__ import annotations

import gc
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.markdown import RenderOptions, render

_TAGS = [
    "a",
    "b",
    "strong",
    "i",
    "em",
    "del",
    "s",
    "sub",
    "sup",
    "q",
    "code",
    "pre",
    "kbd",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "blockquote",
    "table",
    "tr",
    "td",
    "th",
    "thead",
    "caption",
    "h1",
    "h2",
    "p",
    "div",
    "span",
    "br",
    "hr",
    "img",
    "input",
    "noscript",
    "script",
    "style",
    "template",
    "svg",
    "math",
    "mi",
    "mfrac",
    "annotation",
    "ruby",
    "rt",
    "rp",
    "details",
    "summary",
    "button",
    "label",
    "select",
    "option",
    "textarea",
    "iframe",
    "object",
    "x-y",
    "figure",
    "figcaption",
    "body",
    "html",
    "form",
]
_ATTRIBUTES = (
    'href="/x"', 'href="#n"', "href='javascript:1'", 'href="http://[b"', 'src="/i"', 'src="data:x"', 'alt="]*`\n"', "hidden",
    'style="display:none"', 'colspan="9999999"', 'rowspan="99999"', 'colspan="-1"', 'colspan="²"', 'start="-5"', 'start="99999999999"',
    'value="x"', "reversed", 'type="checkbox" checked', 'class="language-c++"', 'class="katex"', 'id="n"', 'type="math/tex"',
    'role="presentation"', 'align="right"', 'title="\\"', 'srcset=", ,"', 'data-line-number="1"', "class", "href", "start", "colspan",
)  # fmt: skip
_TEXTS = (
    "word", " ", "\n\n", "&nbsp;", "*", "_", "`", "```", "[", "](", "!", "#", "1.", "-", "|", "\\", "~~", "<", "&amp;", "$",
    "\\(x\\)", "\\[", "&#1;", "&#3;", "&#14;", "&#xFFFF;", "&#xD800;", "&#x200b;", "\u00ad", "\u200d", "\u3000", "中", "\U0001f600", "&#0;",
)  # fmt: skip

_starts = st.tuples(st.sampled_from(_TAGS), st.lists(st.sampled_from(_ATTRIBUTES), max_size=3)).map(
    lambda start: f"<{start[0]} {' '.join(start[1])}>"
)
_ends = st.sampled_from(_TAGS).map(lambda tag: f"</{tag}>")
soups = st.lists(st.one_of(_starts, _starts, _ends, st.sampled_from(_TEXTS)), max_size=40).map("".join)
options = st.builds(
    RenderOptions,
    links=st.sampled_from(["keep", "drop", "reference"]),
    images=st.sampled_from(["keep", "alt", "drop"]),
    headings=st.sampled_from(["atx", "setext"]),
)
_UNWANTED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u200b\ufeff\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def check(markdown: str) -> None:
    assert not _UNWANTED.search(markdown)
    assert markdown == markdown.strip("\n ")
    markdown.encode()


@settings(max_examples=600, deadline=None)
@given(
    soups, options, st.sampled_from([None, "", "http://t.example/p", "http://[", "data:x", "/only/a/path"])
)
def test_tag_soup_is_written_as_text(soup: str, chosen: RenderOptions, base: str | None) -> None:
    root = LexborHTMLParser(soup).root
    if root is not None:
        check(render(root, base, chosen))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_written_as_text(page: bytes) -> None:
    root = LexborHTMLParser(page).root
    if root is not None:
        check(render(root))


@settings(max_examples=200, deadline=None)
@given(soups)
def test_rendering_twice_gives_the_same(soup: str) -> None:
    root = LexborHTMLParser(soup).root
    if root is not None:
        assert render(root) == render(root)


_N = 8_000
DEEP = {
    "blocks": "<div>" * _N,
    "strong": "<b>" * _N,
    "spans": "<span>" * _N,
    "superscripts": "<sup>" * _N,
    "quotes": "<blockquote>" * _N,
    "bullets": "<ul><li>" * _N,
    "numbers": "<ol><li>" * _N,
    "lists in lists": "<ul>" * _N,
    "terms": "<dl><dd>" * _N,
    "tables": "<table><tr><td>" * _N,
    "links": "<font><a href=x>" * 1_000,
    "formulas": "<math>" + "<mrow>" * _N,
    "code": "<pre>" + "<span>" * _N,
    "figures": "<figure>" * _N,
}


@pytest.mark.parametrize("name", DEEP)
def test_text_at_any_depth_is_kept(name: str) -> None:
    root = LexborHTMLParser(DEEP[name] + "Marker deep.").root
    assert root is not None
    markdown = render(root, "http://t.example/p")
    assert markdown.count("Marker") == 1
    assert len(markdown) < 500


WIDE = {
    "texts": "<p>a_b*c",
    "breaks": "a<br>",
    "links": '<a href="/x?a=1&b=(2">[x]</a> ',
    "images": '<img src="/x" alt="[">',
    "items": "<li>x",
    "emphasis": "<b>x</b><i>”</i>",
    "code": "<code>`</code>",
    "stars": "*",
    "backticks": "`",
    "underscores": "_a",
    "brackets": "[",
    "spaces": " ",
    "invisible": "&#8203; ",
    "rows": "<tr><td>x<td>y",
    "spanning rows": '<tr><td rowspan="99999" colspan="99999">x<td>y',
    "attributes": "<p " + "a=1 " * 20 + ">x",
    "tables": "<table><tr><td>x</table>",
    "hidden": "<i hidden>x</i>",
    "notes": '<sup><a href="#n">1</a></sup><ol><li id="n">x</ol>',
    "quotes": "<blockquote>x</blockquote>",
    "lists": "<ul><li>x</ul>",
    "formulas": "\\(x\\) ",
    "open formulas": "\\(x ",
    "escaped formulas": "\\\\(" * 10,
    "gutters": "<pre><span data-line-number>" + "x" * 100,
    "scripts": '<script type="math/tex">x</script>',
}


@pytest.mark.parametrize("name", WIDE)
def test_time_and_size_grow_with_the_page(name: str) -> None:
    def cost(times: int) -> tuple[float, int]:
        unit = WIDE[name] * times
        root = LexborHTMLParser(
            f"<body><table>{unit}</table>" if unit.startswith("<tr") else f"<body>{unit}"
        ).root
        assert root is not None
        gc.collect()  # what other tests have left is not the page's
        start = time.process_time()
        markdown = render(root, "http://t.example/p")
        return time.process_time() - start, len(markdown)

    small, large = min(cost(1_000) for _ in range(2)), min(cost(8_000) for _ in range(2))
    assert large[0] < 24 * small[0] + 0.05  # eight times the page; three times that for noise
    assert large[1] < 10 * small[1] + 100
    assert large[0] < 2.0


def test_a_timer_that_goes_off_while_a_link_is_resolved_ends_the_rendering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def struck(base: str, reference: str) -> bytes:
        raise TimeoutError("the page took too long")

    monkeypatch.setattr("ccrawl.html.markdown.renderer._joined", struck)
    with pytest.raises(TimeoutError, match="too long"):
        render(LexborHTMLParser("<a href='../x y'>link</a>").root, "http://t.example/p/q")
