"""Pages of every kind, small: what must be there and what must not."""

from __future__ import annotations

import gc
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content import Content, main_content, page_title
from ccrawl.html.decode import decode
from ccrawl.html.markdown import render
from ccrawl.html.tree import parse

PARAGRAPHS = [
    "The old lighthouse on the northern cape will be lit again next month, forty years after the last keeper left it.",
    "Volunteers carried the new lens up the stairs in eleven parts, each packed in wool, and fitted them in a week.",
    "The council had wanted to sell the tower, but the fishermen of the village objected and collected the money.",
    "A small museum on the ground floor shows the keepers' logbooks, in which every storm since 1871 is written down.",
    "Visitors can climb to the gallery on Sundays, when the weather allows it, and look over the whole of the bay.",
]
ARTICLE = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
MENU = (
    "<div class=menu><ul>"
    + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(12))
    + "</ul></div>"
)
CONSENT = (
    "<p>"
    + "We and our partners use cookies to show you offers. You can change this at any time. " * 15
    + "</p>"
)
END = "<footer><p>Copyright 2020 Cape Courier. All rights reserved. <a href=/imprint>Imprint</a></p></footer>"


def extract(html: str, **options: object) -> tuple[str, Content]:
    content = main_content(parse(decode(html.encode(), None).utf8), "https://courier.example/a/b", **options)  # type: ignore[arg-type]
    return content.markdown if content.markdown is not None else render(content.node), content


def page(inner: str, title: str = "Lighthouse lit again") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{inner}</body></html>"


def assert_article(markdown: str) -> None:
    for text in PARAGRAPHS:
        assert text in markdown


def test_an_article_stays_whole_and_what_stands_around_it_goes() -> None:
    related = (
        "<div class=related><h3>Related articles</h3><ul>"
        + "".join(f"<li><a href=/{n}>Another story number {n}</a></li>" for n in range(5))
        + "</ul></div>"
    )
    share = "<div class=share-buttons><a href=#>Facebook</a> <a href=#>Twitter</a></div>"
    markdown, content = extract(
        page(f"{MENU}<article><h1>Lighthouse lit again</h1>{share}{ARTICLE}</article>{related}{END}")
    )
    assert_article(markdown)
    for text in ("Section 3", "Another story", "Facebook", "All rights reserved"):
        assert text not in markdown
    assert content.title == "Lighthouse lit again"
    assert markdown.count("Lighthouse lit again") <= 1


def test_an_article_without_semantic_tags_is_found() -> None:
    markdown, _ = extract(
        page(f"{MENU}<div><div>{ARTICLE.replace('<p>', '<div>').replace('</p>', '</div>')}</div></div>")
    )
    assert_article(markdown)
    assert "Section 3" not in markdown


def test_a_consent_dialog_longer_than_the_page_goes() -> None:
    markdown, _ = extract(
        page(
            f"<div id=cookie-consent role=dialog>{CONSENT}</div><main><h1>Ferry</h1><p>The ferry does not go today.</p></main>"
        )
    )
    assert "The ferry does not go today." in markdown
    assert "partners" not in markdown


def test_an_article_about_cookies_stays() -> None:
    markdown, _ = extract(
        page(f"<main class=cookie-page><h1>Cookies</h1>{ARTICLE}<p>We bake cookies with butter.</p></main>")
    )
    assert "We bake cookies with butter." in markdown


def test_a_page_of_components_is_no_consent_dialog() -> None:
    story = "".join(f"<div class=cmp-text><p>{line}</p></div>" for line in ARTICLE.split("<p>")[1:])
    markdown, _ = extract(
        page(
            f"<div class=cmp-title><h1>The lighthouse of the island is lit again</h1></div><div class=cmp-container>{story}</div>"
        )
    )
    assert_article(markdown)


def test_a_page_that_is_all_consent_is_kept() -> None:
    markdown, _ = extract(page(f"<div class=cookie-policy>{CONSENT}</div>", "Cookie policy"))
    assert "partners" in markdown


@pytest.mark.parametrize("names", ["post", "comment reply", "message"])
def test_all_posts_of_a_thread_stay_in_order(names: str) -> None:
    posts = "".join(
        f"<div class='{names}' id=p{n}><div class=author>keeper{n}</div><div class=body><p>In my {n}th year the lamp went out "
        f"during a storm and I had to relight it by hand {n} times.</p></div></div>"
        for n in range(2, 12)
    )
    markdown, _ = extract(
        page(f"<h1>When the lamp goes out</h1><div id=thread>{posts}</div>{END}", "When the lamp goes out")
    )
    places = [markdown.find(f"In my {n}th year") for n in range(2, 12)]
    assert -1 not in places
    assert places == sorted(places)


def test_text_under_hidden_elements_stays_when_it_is_the_page() -> None:
    for hiding in ("aria-hidden=true", "style='display:none'", "hidden"):
        markdown, _ = extract(page(f"<div {hiding}><h1>Lighthouse</h1>{ARTICLE}</div><p id=fps>FPS 3</p>"))
        assert_article(markdown)


def test_text_only_in_structured_data_or_state_is_given_with_its_source() -> None:
    text = " ".join(PARAGRAPHS)
    shell = "<noscript>Please enable JavaScript.</noscript><div id=app></div>"
    linked = json.dumps({"@type": "NewsArticle", "articleBody": text})
    markdown, content = extract(page(f'{shell}<script type="application/ld+json">{linked}</script>'))
    assert_article(markdown)
    assert content.source == "json-ld"
    state = json.dumps({"page": {"content": text}})
    markdown, content = extract(
        page(f'{shell}<script id="__NEXT_DATA__" type="application/json">{state}</script>')
    )
    assert_article(markdown)
    assert content.source == "embedded-json"


def test_notices_about_scripts_and_frames_are_no_text() -> None:
    for inner in (
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        "<p>Bitte aktivieren Sie JavaScript in Ihrem Browser.</p>",
        '<script type="application/ld+json">{"articleBody": "cut</script><noscript>JavaScript is required.</noscript>',
    ):
        assert extract(page(inner))[0].strip() == ""
    frames = "<frameset><frame src=a><noframes>Your browser does not support frames.</noframes></frameset>"
    assert extract(f"<html><head><title>x</title></head>{frames}</html>")[0].strip() == ""


def test_a_frameset_gives_its_copy_without_frames() -> None:
    markdown, content = extract(
        f"<html><head><title>Cape</title></head><frameset><frame src=a><noframes><body>{ARTICLE}</body></noframes></frameset></html>"
    )
    assert_article(markdown)
    assert (content.source, content.title) == ("noframes", "Cape")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        (" ", ""),
        ("<title>only a title</title>", ""),
        ("<html><body></body></html>", ""),
        ("<!-- comment -->", ""),
        ("plain words, no tags", "plain words, no tags"),
        ("<p>x</p>", "x"),
        ("<body><h1>One heading</h1></body>", "# One heading"),
    ],
)
def test_very_small_pages(html: str, expected: str) -> None:
    assert extract(html)[0].strip() == expected


def test_favor_shifts_what_is_kept() -> None:
    html = page(
        f"{MENU}<div>{ARTICLE}</div><div class=sidebar><p>Also in the news: the harbour wall. It is old.</p></div>{END}"
    )
    sizes = [len(extract(html, favor=favor)[0]) for favor in ("precision", "balanced", "recall")]
    assert sizes == sorted(sizes)


def test_an_explanation_lists_each_removed_block_with_a_reason() -> None:
    _, content = extract(
        page(f"<nav>Home</nav>{MENU}<article>{ARTICLE}</article><div class=comments><p>First!</p></div>"),
        explain=True,
    )
    reasons = {entry.text: entry.reason for entry in content.removed}
    assert reasons["Home"] == "navigation element"
    assert reasons["Section 3"].startswith("navigation")
    assert extract(page(ARTICLE))[1].removed == ()


def test_the_title_alone_can_be_asked_for() -> None:
    assert page_title(parse(b"<title>Lamp | Cape</title><meta property=og:site_name content=Cape>")) == "Lamp"


def test_the_same_page_gives_the_same_text() -> None:
    html = page(f"{MENU}<div>{ARTICLE}</div>{END}")
    assert extract(html)[0] == extract(html)[0]


@given(st.binary(max_size=400))
def test_any_bytes_are_a_page(payload: bytes) -> None:
    content = main_content(parse(decode(payload, None).utf8), None, explain=True)
    assert isinstance(content.title, str)


@given(
    st.lists(
        st.sampled_from(
            [
                "<div class=a>",
                "</div>",
                "<p>",
                "words and more. ",
                "<a href=x>",
                "</a>",
                "<table><tr><td>",
                "<nav>",
                "<frameset>",
                "<noframes>",
                "<template>",
                "<svg><p>",
                "<h1>",
                "<select>",
                "<noscript>",
                "<script type=application/ld+json>",
                "</script>",
            ]
        ),
        max_size=30,
    )
)
def test_any_nesting_is_a_page(parts: list[str]) -> None:
    main_content(parse("".join(parts).encode()), "http://[bad", explain=True)


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + "<tr><td>cell</td><td>value</td></tr>" * 60_000 + "</table>",
        "<p>" + PARAGRAPHS[0] * 20_000 + "</p>",
        "<div>x</div>" * 100_000,
        "<div>" * 8_000 + ARTICLE,
        "<nav>" * 5_000 + ARTICLE,
        "<b>a </b>" * 50_000,
        "<br><br>line" * 20_000,
        f'<script type="application/ld+json">{{"articleBody": "{"The old lighthouse on " * 50_000}"}}</script>'
        + "<p>The old lighthouse on the northern cape will be lit again</p>" * 8_000,
    ],
    ids=["table", "text", "siblings", "depth", "navs", "inline", "lines", "body"],
)
def test_large_pages_cost_little_beyond_their_parse(html: str) -> None:
    def cost() -> float:
        tree = parse(html.encode())
        gc.collect()  # what other tests have left is not the page's
        started = time.process_time()
        main_content(tree, "https://courier.example/")
        return time.process_time() - started

    # 50 ms a megabyte on a quiet machine; a busy one is allowed five times that, and a fifth of a second for all.
    assert min(cost() for _ in range(2)) < 0.2 + 0.25 * len(html) / 1e6


def test_reviews_of_a_product_stay_for_recall_only() -> None:
    review = "We climbed the hill behind the harbour with it in the rain and everything inside stayed dry."
    kind = '<script type="application/ld+json">{"@type": "KIND"}</script>'
    html = page(kind + f"<h1>Lantern</h1>{ARTICLE}<section class=reviews><p>{review}</p></section>")
    product = html.replace("KIND", "Product")
    assert review not in extract(product)[0]
    assert_article(extract(product)[0])
    assert review in extract(product, favor="recall")[0]
    assert review in extract(html.replace("KIND", "WebPage"), favor="recall")[0]
    reasons = {item.text: item.reason for item in extract(product, explain=True)[1].removed}
    assert reasons[review[:80]] == "reviews (score 0.00)"


@pytest.mark.parametrize("explain", [False, True])
def test_a_tree_without_any_node_has_no_content(explain: bool) -> None:
    tree = LexborHTMLParser("", is_fragment=True)
    content = main_content(tree, explain=explain)
    assert (content.title, content.markdown, content.source, content.removed) == ("", None, "html", ())
    assert render(content.node) == page_title(tree) == ""
