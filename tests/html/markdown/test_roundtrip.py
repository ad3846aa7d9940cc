"""The law of the renderer: a CommonMark and GFM parser reads back the same text in the same structure."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.markdown import RenderOptions, render

from .structure import of_markdown, of_tree, to_html

EXAMPLES = int(os.environ.get("CCRAWL_EXAMPLES", "150"))
"""Examples of each test of the law; CI asks for thousands."""

pytestmark = pytest.mark.timeout(3600)
thorough = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

_WORDS = [
    "a",
    "b",
    "word",
    "x1",
    "12",
    "1",
    "中文",
    "日",
    "é",
    "”",
    "“",
    "。",
    "€",
    "http",
    "br",
    "amp",
    "3",
    "_x",
    "x_y",
]
_SPECIAL = [
    *"\\`*_{}[]()#+-.!<>&|~$:;=\"'/^@",
    "**",
    "***",
    "__",
    "~~",
    "``",
    "```",
    "](",
    "![",
    "&amp;",
    "<b>",
    "</",
    "<!--",
    "1.",
    "2)",
    "- ",
    "# ",
    "> ",
    "---",
    "===",
    "[ ] ",
    "[x]: ",
    "http://x.example/a_b",
    "\\(",
    "|-",
]
texts = st.lists(
    st.sampled_from([*_WORDS, *_SPECIAL, " ", " ", " ", "\n", "  "]), min_size=1, max_size=5
).map("".join)
texts = texts.filter(lambda text: "\\(" not in text and "\\[" not in text)  # formulas are not literal text
hrefs = st.sampled_from(
    ["http://t.example/a", "http://t.example/b(c)", "http://t.example/?q=1&x=2", "mailto:a@t.example"]
)
sources = st.sampled_from(["http://t.example/i.png", "http://t.example/_j_.png"])


def element(
    tag: str, children: st.SearchStrategy[Any], **attributes: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(tag), st.fixed_dictionaries(attributes), children)


images = element("img", st.just([]), src=sources, alt=st.text("ab[]*_`<\\!", max_size=6))
breaks = st.just(("br", {}, []))
codes = element("code", st.lists(texts, min_size=1, max_size=1))


def inlines(inside: frozenset[str] = frozenset(), depth: int = 3) -> st.SearchStrategy[Any]:
    options = [texts, texts, codes, images, breaks]
    if depth:
        for tag in ("strong", "em", "del", "sub", "sup", "span"):
            options.append(element(tag, st.lists(inlines(inside, depth - 1), max_size=3)))
        if "a" not in inside:
            options.append(element("a", st.lists(inlines(inside | {"a"}, depth - 1), max_size=3), href=hrefs))
    return st.one_of(options)


phrases = st.lists(inlines(), max_size=4)
paragraphs = element("p", phrases)
headings = st.integers(1, 6).flatmap(lambda level: element(f"h{level}", phrases))
codeblocks = element("pre", st.lists(st.text("ab`~ \n#>-|\\*", max_size=12), min_size=1, max_size=1)).map(
    lambda node: (node[0], node[1], ["x" + node[2][0]])
)
cells = st.one_of(element("td", phrases), element("th", phrases))
rows = element("tr", st.lists(cells, min_size=1, max_size=3))
tables = element("table", st.lists(rows, min_size=1, max_size=3))


def blocks(depth: int = 3) -> st.SearchStrategy[Any]:
    options = [paragraphs, paragraphs, headings, codeblocks, st.just(("hr", {}, [])), tables]
    if depth:
        inner = st.lists(blocks(depth - 1), max_size=3)
        item = element(
            "li", st.one_of(phrases, inner, st.tuples(phrases, inner).map(lambda parts: parts[0] + parts[1]))
        )
        options += [
            element("div", inner),
            element("blockquote", inner),
            element("ul", st.lists(item, max_size=3)),
            element("ol", st.lists(item, max_size=3)),
            element("ol", st.lists(item, max_size=3), start=st.integers(0, 120)),
        ]
    return st.one_of(options)


documents = st.lists(blocks(), max_size=4)


def markdown_of(document: list[Any], **options: Any) -> str:
    html = "<body>" + "".join(map(to_html, document))
    body = LexborHTMLParser(html).body
    assert body is not None
    return render(body, "http://t.example/p", RenderOptions(**options))


@thorough
@given(documents)
def test_a_document_reads_back_as_it_was(document: list[Any]) -> None:
    markdown = markdown_of(document)
    assert of_markdown(markdown) == of_tree(document), markdown


@thorough
@given(st.lists(paragraphs, min_size=1, max_size=3))
def test_paragraphs_of_literal_text_and_emphasis_read_back(document: list[Any]) -> None:
    markdown = markdown_of(document)
    assert of_markdown(markdown) == of_tree(document), markdown


@settings(thorough, max_examples=EXAMPLES // 2)
@given(documents)
def test_underlined_headings_read_back(document: list[Any]) -> None:
    markdown = markdown_of(document, headings="setext")
    assert of_markdown(markdown) == of_tree(document), markdown


@settings(thorough, max_examples=EXAMPLES // 2)
@given(documents)
def test_no_line_ends_with_a_space_and_no_two_lines_are_blank(document: list[Any]) -> None:
    markdown = markdown_of(document)
    outside_code = True
    blank = 0
    for line in markdown.split("\n"):
        if line.lstrip("> -*.)0123456789").startswith("```"):
            outside_code = not outside_code
        assert line == line.rstrip(" ")
        blank = blank + 1 if not line.strip("> ") else 0
        assert blank < 2 or not outside_code
