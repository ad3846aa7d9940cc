"""Title, structured data, stripping, pruning, text from elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ccrawl.html.content.embedded import as_markdown, from_head, from_noframes, from_state
from ccrawl.html.content.head import PageHead, load_json, read_head
from ccrawl.html.content.prune import prune
from ccrawl.html.content.strip import strip
from ccrawl.html.content.title import choose
from ccrawl.html.content.walk import walk

LONG = "The ferry goes twice a day in winter and people wait for it on the quay. " * 5


def body(html: str) -> LexborNode:
    found = LexborHTMLParser(html).body
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("title", "meta", "headings", "headline", "expected"),
    [
        ("Ferry back | Harbour News", {"og:site_name": "Harbour News"}, [], "", "Ferry back"),
        ("Harbour News: Ferry back", {}, ["Ferry back"], "", "Ferry back"),
        ("Ferry back - Harbour", {"og:title": "Ferry back"}, [], "", "Ferry back"),
        ("Ferry back - Harbour", {}, ["Other"], "Ferry back", "Ferry back"),
        ("Black - White", {}, [], "", "Black - White"),
        ("", {"og:title": "Ferry  back"}, [], "", "Ferry back"),
        ("", {}, ["Ferry back"], "", "Ferry back"),
        ("", {}, [], "", ""),
    ],
)
def test_the_title_is_what_two_places_agree_on(
    title: str, meta: dict[str, str], headings: list[str], headline: str, expected: str
) -> None:
    assert choose(title, meta, headings, headline) == expected


def structured(value: object) -> PageHead:
    source = value if isinstance(value, str) else json.dumps(value)
    tree = LexborHTMLParser(f'<head><script type="application/ld+json">{source}</script></head>')
    return read_head(tree, None)


@pytest.mark.parametrize(
    ("kind", "type_", "offers"),
    [
        ("Product", "website", True),
        ("ProductGroup", "", True),
        ("WebPage", "og:product", True),
        ("WebPage", "website", False),
        ("Product", "article", False),
        ("NewsArticle", "product", False),
    ],
)
def test_a_page_offers_a_product_when_it_says_so_and_is_no_article(
    kind: str, type_: str, offers: bool
) -> None:
    head = structured({"@type": kind})
    head.meta["og:type"] = type_
    assert head.of_product == offers


def test_structured_data_gives_kind_headline_and_body_from_any_depth() -> None:
    head = structured(
        {"@graph": [{"@type": "WebPage"}, {"@type": ["NewsArticle"], "headline": "H", "articleBody": LONG}]}
    )
    assert head.kinds == {"article"}
    assert head.headline == "H"
    assert head.bodies == [LONG]


def test_broken_structured_data_is_ignored() -> None:
    for source in ('{"articleBody": "cut', "", "[]", "null", "[" * 5000, '{"@type": 3, "articleBody": {}}'):
        assert structured(source).bodies == []


def test_the_first_property_counts_in_any_case_and_before_a_name() -> None:
    html = (
        "<head><meta name=Description content=one><meta name=description content=two>"
        "<meta PROPERTY=OG:Title name=description content=Ferry><meta property='' name=og:type content=article>"
        "<meta name=og:site_name><meta name=og:site_name content=late><meta name=keywords content=k>"
        "<title></title><title>Title &amp; site</title><title>other</title></head>"
    )
    head = read_head(LexborHTMLParser(html), None)
    assert head.title == "Title & site"
    assert head.meta == {"description": "one", "og:title": "Ferry", "og:type": "article", "og:site_name": ""}


def test_much_structured_data_is_read_the_bodys_first_and_eight_headings() -> None:
    script = '<script type="application/ld+json">{"headline": "%s", "text": "%s"}</script>'
    html = f"<head>{script % ('head', LONG)}</head><body>" + "".join(
        f"<h1>{number} <b>boats</b></h1>{script % (number, LONG + str(number))}<script>no</script>"
        for number in range(60)
    )
    tree = LexborHTMLParser(html)
    assert tree.body is not None
    head = read_head(tree, walk(tree.body))
    assert head.headings == [f"{number} boats" for number in range(8)]
    assert head.headline == "0"
    assert head.bodies == [*(LONG + str(number) for number in range(60)), LONG]


def test_json_may_hold_line_breaks_and_stand_in_cdata() -> None:
    assert load_json('<![CDATA[{"a": "x\ny"}]]>') == {"a": "x\ny"}
    assert load_json('<!--{"a": 1}-->') == {"a": 1}


def test_structured_text_is_taken_only_where_the_page_shows_little() -> None:
    head = PageHead(bodies=[LONG])
    assert from_head(head, 0).startswith("The ferry goes")
    assert from_head(head, len(LONG)) == ""
    assert from_head(PageHead(bodies=["too short"]), 0) == ""


def test_running_text_of_a_script_state_is_taken_and_its_keys_are_not() -> None:
    state = {"props": {"text": LONG, "id": "x" * 300, "html": f"<p>{LONG}</p><p>Second part.</p>"}}
    tree = LexborHTMLParser(
        f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>'
    )
    text = from_state(tree)
    assert text.count("The ferry goes") == 10
    assert "Second part." in text
    assert "xxx" not in text and "<p>" not in text


def test_text_from_json_is_safe_markdown() -> None:
    assert as_markdown("a *b* [c]\n\n\nd\ud83d") == "a \\*b\\* \\[c\\]\n\nd\ufffd"


def test_a_frameset_gives_its_copy_for_browsers_without_frames() -> None:
    inner = from_noframes(
        LexborHTMLParser("<frameset><noframes><body><p>text</p></body></noframes></frameset>")
    )
    assert inner is not None and inner.body is not None
    assert inner.body.text() == "text"
    assert from_noframes(LexborHTMLParser("<p>x")) is None


def test_navigation_and_footers_are_cut_and_listed() -> None:
    root = body(
        f"<nav>Home<nav>inner</nav></nav><p>{LONG}</p><blockquote>So it is<footer>Who said it</footer></blockquote><footer>(c)</footer>"
    )
    removed = strip(root, explain=True)
    assert [entry.reason for entry in removed] == [
        "navigation element",
        "navigation element",
        "footer element",
    ]
    assert "Home" not in root.text() and "(c)" not in root.text()
    assert "Who said it" in root.text()


def test_a_page_inside_nav_stays() -> None:
    root = body(f"<nav><p>{LONG}{LONG}</p></nav><p>Short.</p>")
    strip(root, explain=False)
    assert LONG in root.text()


def test_short_headers_asides_and_forms_are_cut_unless_they_hold_the_content() -> None:
    root = body(
        f"<header>Shop<nav>Home</nav></header><header><h1>Harbour</h1></header><aside>See also</aside>"
        f"<form>Mail<input></form><form><p>{LONG * 20}</p></form><p>{LONG}</p>"
    )
    removed = strip(root, explain=True)
    assert [entry.reason for entry in removed] == [
        "page header",
        "navigation element",
        "aside element",
        "form",
    ]
    assert root.text() == f"Harbour{LONG * 20}{LONG}"


@pytest.mark.parametrize("tag", ["main", "article"])
def test_a_header_within_the_content_stays(tag: str) -> None:
    text = "Boats to all islands. " * 20
    root = body(f"<header>Shop</header><{tag}><section><header>Boats</header><p>{text}</p></section></{tag}>")
    strip(root, explain=False)
    assert [node.text() for node in root.css("header")] == ["Boats"]


def test_a_page_all_in_a_header_and_a_form_stays() -> None:
    half = LONG * (500 // len(LONG))
    root = body(f"<header><nav>{half}</nav></header><form><p>{half}</p></form><p>Short.</p>")
    strip(root, explain=False)
    assert root.text() == f"{half}{half}Short."


def test_words_of_a_nav_in_a_header_count_once() -> None:
    menu = LONG * (600 // len(LONG))
    root = body(f"<header><nav>{menu}</nav></header><p>{menu}</p>")
    strip(root, explain=False)
    assert root.text() == menu


def test_thousands_of_nested_navs_are_no_trouble() -> None:
    root = body("<nav>x" * 3000)
    strip(root, explain=False)
    assert root.text().count("x") == 3000


texts = st.lists(
    st.tuples(
        st.sampled_from(["<p>%s</p>", "<div><p>%s</p></div>", "<ul><li>%s</li></ul>", "<b>%s</b><br><br>"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


@given(texts)
def test_pruning_leaves_exactly_the_texts_of_kept_blocks(blocks: list[tuple[str, bool]]) -> None:
    root = body("<body>" + "".join(shape % f"w{number}w" for number, (shape, _) in enumerate(blocks)))
    page = walk(root)
    assert page is not None
    keep = np.array([wanted for _, wanted in blocks])
    assert len(page.b_first) == len(keep)
    prune(page, keep, keep)
    assert [f"w{n}w" in root.text() for n in range(len(blocks))] == keep.tolist()


def test_pictures_stay_between_kept_text_and_go_outside_it() -> None:
    root = body(
        "<img id=a src=a><p>drop</p><p>keep</p><img id=b src=b><p>keep</p><div><img id=c src=c></div>"
    )
    page = walk(root)
    assert page is not None
    prune(page, np.array([False, True, True]), np.array([True, True, True]))
    assert [node.attributes["id"] for node in root.css("img")] == ["b"]


def test_kept_text_is_shown_though_its_page_hides_it() -> None:
    root = body(
        '<div hidden style="display:none" aria-hidden=true class=x><p>keep</p></div><noscript><p>too</p></noscript>'
    )
    page = walk(root)
    assert page is not None
    prune(page, np.array([True, True]), np.array([True, True]))
    kept = root.css_first("div.x")
    assert kept is not None and set(kept.attributes) == {"class"}
    assert root.css("noscript") == []
    assert "too" in root.text()


def test_pictures_of_the_text_stay_and_decorations_go() -> None:
    root = body(
        "<p>Prose one.</p><div><img id=between></div><p>Prose two.</p>"
        "<div><img id=icon><h3>Card</h3>Short</div><div><img id=logo></div><p>Short</p>"
        "<figure><img id=captioned><figcaption>Caption</figcaption></figure><p>Prose three.</p>"
        "<p><img id=inside></p><h2>End</h2>"
    )
    page = walk(root)
    assert page is not None
    prose = np.array(["Prose" in text for text in page.block_texts()])
    prune(page, np.ones(len(prose), np.bool_), prose)
    assert [node.attributes["id"] for node in root.css("img")] == ["between", "captioned", "inside"]
