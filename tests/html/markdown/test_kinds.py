"""Kinds of input that break converters, each read back by a CommonMark and GFM parser."""

from __future__ import annotations

import pytest
from markdown_it.tree import SyntaxTreeNode
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.markdown import RenderOptions, render

from .structure import of_markdown, parser

PAGE = "http://t.example/dir/p"


def markdown(html: str, url: str | None = PAGE, **options: str) -> str:
    body = LexborHTMLParser("<body>" + html).body
    assert body is not None
    return render(body, url, RenderOptions(**options))  # type: ignore[arg-type]


def links(text: str) -> list[tuple[str, str]]:
    """The text and destination of each link that a parser finds."""
    root = SyntaxTreeNode(parser().parse(text))
    return [
        ("".join(leaf.content for leaf in node.walk() if not leaf.children), str(node.attrs["href"]))
        for node in root.walk()
        if node.type == "link"
    ]


def images(text: str) -> list[tuple[str, str]]:
    root = SyntaxTreeNode(parser().parse(text))
    return [
        ("".join(child.content for child in node.children), str(node.attrs["src"]))
        for node in root.walk()
        if node.type == "image"
    ]


@pytest.mark.parametrize(
    ("href", "destination"),
    [
        ("/a b", "http://t.example/a%20b"),
        ("x_(y)", "http://t.example/dir/x_(y)"),
        ("/x)", "http://t.example/x%29"),
        ("/x((", "http://t.example/x%28%28"),
        ("/<x>", "http://t.example/%3Cx%3E"),
        ("/a&#10;b", "http://t.example/ab"),
        ("/?a=1&amp;copy=2", "http://t.example/?a=1&copy=2"),
        ("/?a=1&amp;amp;b", "http://t.example/?a=1&amp;b"),
        ("//cdn.example/x", "http://cdn.example/x"),
        ("?q=1", "http://t.example/dir/p?q=1"),
        ("../up", "http://t.example/up"),
        ("HTTP://T.example/", "HTTP://T.example/"),
        ("tel:+123", "tel:+123"),
        ("/a\\b`c`|d", "http://t.example/a%5Cb%60c%60%7Cd"),
        ("/a*b*_c_", "http://t.example/a*b*_c_"),
    ],
)
def test_a_destination_reads_back(href: str, destination: str) -> None:
    found = links(markdown(f'<p><a href="{href}">text</a></p>'))
    assert [text for text, _ in found] == ["text"]
    assert found[0][1].replace("HTTP://T.example", "HTTP://T.example") == destination


@pytest.mark.parametrize(
    "href",
    [
        "",
        "#",
        "#part",
        "javascript:void(0)",
        " JavaScript:x",
        "java&#10;script:x",
        "data:text/html,x",
        "file:///x",
        "http://[x",
        "blob:x",
    ],
)
def test_a_link_that_leads_nowhere_is_its_text(href: str) -> None:
    assert markdown(f'<p>a <a href="{href}">b</a> c</p>') == "a b c"


def test_a_page_whose_own_url_can_not_be_written_is_rendered() -> None:
    root = LexborHTMLParser('<a href="http://b.example/">b</a> <a href="c">c</a>').root
    assert root is not None
    for url in "http://t.example/\udc80/", "http://\udc80.example/":
        assert render(root, url).startswith("[b](http://b.example/) ")


def test_the_base_element_moves_the_page() -> None:
    root = LexborHTMLParser('<head><base href="/other/"></head><a href="x">a</a>').root
    assert root is not None
    assert render(root, PAGE) == "[a](http://t.example/other/x)"


def test_a_reference_without_a_page_stays_relative() -> None:
    assert markdown('<a href="x/y z">a</a>', None) == "[a](x/y%20z)"


def test_the_text_of_a_link_reads_back() -> None:
    for text in ("a [b] \\ c", "[", "]", "](", "![x]", "a]b[c", "\\", "*", "`"):
        assert links(markdown(f'<a href="/x">{text}</a>')) == [(text, "http://t.example/x")]


def test_an_exclamation_mark_before_a_link_makes_no_image() -> None:
    found = markdown('<p>Look!<a href="/x">here</a></p>')
    assert links(found) == [("here", "http://t.example/x")]
    assert not images(found)


def test_links_can_be_dropped_or_listed_at_the_end() -> None:
    html = '<p><a href="/x">a</a> <a href="/y">b</a> <a href="/x">c</a></p>'
    assert markdown(html, links="drop") == "a b c"
    listed = markdown(html, links="reference")
    assert listed == "[a][1] [b][2] [c][1]\n\n[1]: http://t.example/x\n[2]: http://t.example/y"
    assert links(listed) == [
        ("a", "http://t.example/x"),
        ("b", "http://t.example/y"),
        ("c", "http://t.example/x"),
    ]


def test_images_can_be_text_or_dropped() -> None:
    html = '<p>a <img src="/x" alt="b"> c</p>'
    assert markdown(html, images="alt") == "a b c"
    assert markdown(html, images="drop") == "a c"


def test_an_alternative_text_reads_back() -> None:
    for alt in ("a]b c", "a[b", "*x*", "`y`", "\\", "&amp;amp;", "<b>"):
        found = images(markdown(f'<img src="/x y.png" alt="{alt}">'))
        assert found == [(alt.replace("&amp;", "&"), "http://t.example/x%20y.png")]


def test_image_bytes_are_never_part_of_the_text() -> None:
    data = "data:image/png;base64," + "iVBO" * 1000
    found = markdown(
        f'<p><img src="{data}"><img src="{data}" alt="x"><img srcset="{data} 2x" data-src="/r.png" alt="r"></p>'
    )
    assert "base64" not in found
    assert images(found) == [("r", "http://t.example/r.png")]


def test_an_image_and_its_copy_without_script_are_one() -> None:
    found = markdown('<p><img data-src="/r.png" alt="r"><noscript><img src="/r.png" alt="r"></noscript></p>')
    assert images(found) == [("r", "http://t.example/r.png")]


PLAIN = [
    "- a", "+ a", "* a", "1. a", "23) a", "# a", "###### a", "####### a", "> a", "---", "- - -", "***", "_ _ _", "===", "~~~", "```",
    "| a | b |", "[x]: /y", "[x](y)", "[x][y]", "![x](y)", "<b>", "</b>", "<!-- x", "<http://x.example>", "&lt;", "&#35;", "&copy;", "*a*",
    "**a**", "_a_", "__a__", "a_b_c", "a*b*c", "`a`", "~~a~~", "\\", "\\*", "C:\\dir\\*.txt", "a\\", "5 * 3 * 2", "a # b", "$5 and $6", "[ ] a",
    "http://x.example/a_b_c*d*", "x@y.example", "#tag", "1986. Then", "-1", "+1", "1.5", "~5", "a|b", "^x^", ":x:", "{x}", "a ![", "!", "!!",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_literal_text_is_read_back_as_text(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    for html, blocks in (
        (f"<p>{escaped}</p>", [("p", [(text, frozenset(), None)])]),
        (f"<p>{escaped}<br>{escaped}</p>", [("p", [(f"{text}\n{text}", frozenset(), None)])]),
        (f"<h2>{escaped}</h2>", [("h", 2, [(text, frozenset(), None)])]),
        (f"<ul><li>{escaped}</ul>", [("list", False, 1, [[("p", [(text, frozenset(), None)])]])]),
        (
            f"<p>a <b>{escaped}</b></p>",
            [("p", [("a ", frozenset(), None), (text, frozenset(["strong"]), None)])],
        ),
    ):
        spaces = [block for block in blocks if " " in text and "<b>" in html]
        if not spaces:
            assert of_markdown(markdown(html)) == blocks


def test_a_table_in_literal_text_is_no_table() -> None:
    assert [
        block[0]
        for block in of_markdown(markdown("<p>| a | b |<br>|---|---|<br>| 1 | 2 |</p><p>a | b<br>--|--</p>"))
    ] == ["p", "p"]


@pytest.mark.parametrize(
    "text",
    [
        "snake_case_name",
        "2 * 3",
        "a < b",
        "AT&T",
        "[1]",
        "50%",
        "C#",
        "#tag",
        "-1",
        "a - b",
        "x = y",
        "a|b",
        "$5",
        "(a)",
        "e.g.",
        "a~b c"[:1],
    ],
)
def test_what_is_read_as_text_anyway_has_no_backslash(text: str) -> None:
    assert markdown(f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')} is text</p>") == f"{text} is text"


def test_numbers_of_items_stay_within_what_a_list_can_have() -> None:
    for start, number in (("-3", 0), ("x", 1), ("99999999999", 999999999), ("0", 0), ("7", 7)):
        assert of_markdown(markdown(f'<ol start="{start}"><li>a</ol>'))[0][:3] == ("list", True, number)


def test_a_list_that_starts_late_is_no_part_of_the_line_before() -> None:
    assert of_markdown(markdown('<ul><li>a<ol start="3"><li>b</ol></ul>'))[0][3][0][1][:3] == (
        "list",
        True,
        3,
    )


def test_spans_are_bounded() -> None:
    huge = '<table><tr><td colspan="1000000">a</td><td rowspan="1000000">b</td></tr><tr><td colspan="0">c</td></tr></table>'
    assert len(markdown(huge)) < 200
    assert [[cell and cell[0][0] for cell in row] for row in of_markdown(markdown(huge))[0][1]][1:] == [
        ["a", [], "b"],
        ["c", [], []],
    ]


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<b>Tides</b><i>Winds</i>", "**Tides** *Winds*"),
        ("<b>Größe</b><i>Äpfel</i>", "**Größe** *Äpfel*"),
        ("<span>May <b>12</b></span><a><span>Low tide</span></a>", "May **12** Low tide"),
        ("<span>size</span><!-- --><span>12 m</span>", "size 12 m"),
        ("Tides<i>Winds</i>Waves", "Tides*Winds*Waves"),  # text beside an element: nothing meets
        ("Tides<!-- --><i>Winds</i>", "Tides*Winds*"),
        ("<span>Mac</span><span>OS</span>", "Mac OS"),
        ("<span>tide</span><span>table</span><span>S</span>", "tidetableS"),  # small letters, a letter alone
        ("<i>x</i><b>Now</b>", "*x*<strong>Now</strong>"),
        ("<span>CO</span><sub>2</sub><span>now</span>", "CO<sub>2</sub>now"),
        ("<span>harbour</span><sup>12</sup><span>Now</span>", "harbour<sup>12</sup>Now"),
        ("<span>12</span><span>50</span>", "1250"),
        ("<code><span>get</span><span>Tide</span></code>", "`getTide`"),
        ("<span>潮汐</span><span>Tide</span>", "潮汐Tide"),
    ],
)
def test_words_of_elements_side_by_side_are_parted_where_their_letters_tell(html: str, written: str) -> None:
    assert markdown(html) == written


def test_formulas_are_written_once() -> None:
    katex = (
        '<p>so <span class="katex"><span class="katex-mathml"><math><semantics><mi>y</mi><annotation encoding="application/x-tex">y_1'
        '</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span>y</span><span>1</span></span></span> it is</p>'
    )
    mathjax = '<p>so <span class="MathJax_Preview">y1</span><span class="MathJax" id="m"><span>y1</span></span><script type="math/tex">y_1</script> it is</p>'
    wikipedia = (
        '<p>so <span class="mwe-math-element"><span style="display: none;"><math alttext="{\\displaystyle y_1}"><mi>y</mi></math></span>'
        '<img src="/m.svg" class="mwe-math-fallback-image-inline" alt="{\\displaystyle y_1}"></span> it is</p>'
    )
    for html in (katex, mathjax, wikipedia):
        assert markdown(html) == "so $y_1$ it is"


def test_text_of_any_source_is_free_of_control_characters() -> None:
    assert (
        markdown("<p>a\x01\x03\x0e\x1b[0m&#xFFFF;&#1;</p><pre>b\x02\uffffc</pre>") == "a[0m\n\n```\nbc\n```"
    )


def test_hidden_attributes_and_styles_hide() -> None:
    for attribute in (
        "hidden",
        'style="display:none"',
        'style="color:red; DISPLAY : none"',
        'style="visibility: hidden"',
    ):
        assert markdown(f"<p>a<span {attribute}>b</span></p>") == "a"
    for attribute in (
        'hidden="until-found"',
        'style="display:block"',
        'style="--display:none"',
        'aria-hidden="true"',
    ):
        assert markdown(f"<p>a<span {attribute}>b</span></p>") == "ab"


def test_words_are_neither_glued_nor_split() -> None:
    assert (
        markdown("<p><b>two</b><span>\n</span><span>words</span> one<i>word</i></p>")
        == "**two** words one*word*"
    )
    assert markdown("<p>a <span> </span> b</p><p>&nbsp;</p><p>c<wbr>d</p>") == "a b\n\ncd"


def test_no_break_spaces_and_spaces_give_the_same() -> None:
    assert markdown("<p>a&nbsp;&nbsp;b <b>c&nbsp;</b>d</p>") == markdown("<p>a  b <b>c </b>d</p>")


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre class="language-c++">x</pre>', "c++"),
        ('<pre><code class="hljs python">x</code></pre>', "python"),
        ('<pre><code class="hljs language-python">x</code></pre>', "python"),
        ('<pre><code class="language-c++ hljs">x</code></pre>', "c++"),
        ('<pre class="prettyprint lang-js">x</pre>', "js"),
        ('<pre class="brush: php; toolbar: false">x</pre>', "php"),
        ('<pre data-lang="go">x</pre>', "go"),
        (
            '<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre></div></div>',
            "python3",
        ),
        (
            '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight"><code>x</code></pre></div></div>',
            "ruby",
        ),
        ('<pre class="wide language-none code-toolbar">x</pre>', ""),
        ('<pre class="highlight langenscheidt source wrapper">x</pre>', ""),
    ],
)
def test_the_language_of_code_comes_from_what_highlighters_write(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\nx\n```"


def test_an_underlined_heading_with_a_bar_would_be_a_table() -> None:
    assert markdown("<h2>a|b</h2><h1>c</h1>", headings="setext") == "## a|b\n\nc\n==="
