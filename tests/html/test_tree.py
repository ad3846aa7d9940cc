"""Trees of XHTML, of deep pages, and of any bytes."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrawl.html._rewrite import MAX_ATTRIBUTES, MAX_DEPTH, flattened, with_fewer_attributes, xhtml_as_html
from ccrawl.html.tree import parse

XHTML = (
    b'<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
    b'<script src="a.js"/><style/></head><body><h1/><textarea rows="2" /><p>Before <a id="x"/>after.<br/></p>'
    b"<p title='a > b'>Last.</p></body></html>"
)


def test_self_closed_elements_of_xhtml_are_empty() -> None:
    tree = parse(XHTML, xhtml=True)
    assert [node.text() for node in tree.css("body > p")] == ["Before after.", "Last."]
    assert [tree.css_first(name).text() for name in ("title", "script", "style", "h1", "textarea", "a")] == [
        ""
    ] * 6


def test_the_same_bytes_as_html_are_read_as_browsers_do() -> None:
    assert parse(XHTML).css_first("body > p") is None


def test_cdata_of_xhtml_is_text() -> None:
    tree = parse(b"<p>a <![CDATA[1 < 2 && <b>]]> c</p>", xhtml=True)
    assert tree.css_first("p").text(deep=True) == "a 1 < 2 && <b> c"


@pytest.mark.parametrize(
    "markup",
    [
        b"<br/><img src='x'/><hr />",
        b"<!-- <p/> --><p>x</p>",
        b"<script>if (a</b>/.test(c)) { '<p/>' }</script>",
        b"<style>/* <i/> */</style>",
        b"<!-- never closed <p/>",
        b"<![CDATA[ never closed <p/>",
        b"<p / >a < b </p/>",
    ],
)
def test_other_markup_is_left_alone(markup: bytes) -> None:
    assert xhtml_as_html(markup) == markup


@pytest.mark.parametrize(
    "opening",
    [b"<div>", b"<b>", b"<ul><li>", b"<blockquote>", b"<span>", b"<font><a href=x>", b"<table><tr><td>"],
)
def test_deep_pages_keep_their_text_and_take_linear_time(opening: bytes) -> None:
    start = time.process_time()
    tree = parse(opening * 100_000 + b"<p>Marker deep.</p>")
    assert "Marker deep." in tree.root.text(deep=True)
    # 100,000 nested <div> take lexbor alone 12 s, nested lists 50 s.
    assert time.process_time() - start < 4


def test_flattening_keeps_text_and_what_is_not_deep() -> None:
    deep = b"<div>" * (MAX_DEPTH + 5) + b"x<i>y</i>" + b"</div>" * (MAX_DEPTH + 5)
    assert flattened(b"<div><p>a<b>c</b></div>" * 3000) == b"<div><p>a<b>c</b></div>" * 3000
    assert flattened(deep).count(b"<div>") == MAX_DEPTH
    assert b"<i>" not in flattened(deep)
    assert flattened(deep + b"<i>z</i>").endswith(b"</div><i>z</i>")


@pytest.mark.parametrize("form", [b"a%d ", b"a%d=1 ", b"a%d='x'", b"/a%d"])
def test_a_tag_of_countless_attributes_keeps_the_first(form: bytes) -> None:
    html = b"<p " + b"".join(form % number for number in range(200_000)) + b">text</p>"
    start = time.process_time()
    node = parse(html).css_first("p")
    assert node.text() == "text"
    assert list(node.attributes) == [f"a{number}" for number in range(MAX_ATTRIBUTES)]
    # lexbor alone takes 60 s.
    assert time.process_time() - start < 4


def test_long_values_and_scripts_are_left_alone() -> None:
    image = b"<img src='data:image/png;base64," + b"AAAA" * 20_000 + b"' alt=lamp>"
    script = b"<script>if (a<b" + b" + c" * 200 + b") { x = '" + b"y" * 40_000 + b"' }</script>"
    assert with_fewer_attributes(image + script + image) == image + script + image


@pytest.mark.parametrize("before", [0, 1, 5000, 8191, 8192, 8193, 16_383, 40_000])
def test_a_long_tag_is_found_wherever_it_begins(before: int) -> None:
    attributes = b"".join(b" a%d" % number for number in range(2 * MAX_ATTRIBUTES)).ljust(16_384)
    html = b"<i>" + b"x" * before + b"<p" + attributes + b">text</p>"
    shorter = with_fewer_attributes(html)
    assert b" a%d>text" % (MAX_ATTRIBUTES - 1) in re.sub(rb"\s+>", b">", shorter)
    assert b" a%d" % MAX_ATTRIBUTES not in shorter


def test_unclosed_elements_do_not_add_up() -> None:
    # The end of each <div> closes its <span>, so nothing here is deeper than two.
    html = b"<div><span>x</div>" * 5000
    assert flattened(html) == html


markup = st.lists(
    st.one_of(
        st.binary(max_size=8),
        st.sampled_from(
            [
                b"<",
                b">",
                b"/>",
                b"<p/>",
                b"<script>",
                b"</script>",
                b"<![CDATA[",
                b"]]>",
                b"<!--",
                b"-->",
                b"<a b='",
                b'"',
                b"<div>",
            ]
        ),
    )
).map(b"".join)


@given(markup, st.booleans())
@settings(max_examples=400)
def test_any_bytes_give_a_tree(html: bytes, xhtml: bool) -> None:
    utf8 = html.decode("utf-8", "replace").encode()
    tree = parse(utf8, xhtml=xhtml)
    assert tree.root is None or isinstance(tree.root.text(deep=True), str)
    flattened(utf8)
    with_fewer_attributes(utf8)


@pytest.mark.parametrize(
    "piece",
    [b"<a ", b"<a b='", b"<![CDATA[", b"<!--", b"<p/", b"</", b'<a"', b"<script>", b"<x/ ", b"<a b='>"],
)
def test_rewriting_is_linear(piece: bytes) -> None:
    html = piece * (2_000_000 // len(piece))
    start = time.process_time()
    xhtml_as_html(html)
    flattened(html)
    with_fewer_attributes(html)
    assert time.process_time() - start < 8
