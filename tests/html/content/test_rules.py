"""Rules about blocks, on small pages with the decision given."""

from __future__ import annotations

import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.head import PageHead
from ccrawl.html.content.rules import apply, complete
from ccrawl.html.content.text import read_text
from ccrawl.html.content.walk import walk

STORY = "<p>The ferry left the island an hour late, since the fog would not lift from the bay.</p>"


def completed(html: str, *dropped: str, probability: float = 0.2) -> list[str]:
    """The blocks that are kept when the decision was to keep all but `dropped`, all of that probability."""
    body = LexborHTMLParser(html).body
    assert body is not None
    page = walk(body)
    assert page is not None
    blocks = page.block_texts()
    keep = np.array([block not in dropped for block in blocks])
    complete(page, read_text(page, PageHead(), ""), np.full(len(keep), probability), keep)
    return [block for block, kept in zip(blocks, keep, strict=True) if kept]


def ruled(html: str, probability: list[float], *, reviews: bool = True) -> list[float]:
    """What the rules make of the blocks' probabilities."""
    body = LexborHTMLParser(html).body
    assert body is not None
    page = walk(body)
    assert page is not None
    text = read_text(page, PageHead(), "")
    return apply(page, text, np.array(probability), reviews=reviews).tolist()


def test_a_long_text_that_was_there_before_has_a_fifth_of_its_odds() -> None:
    other = STORY.replace("bay", "day")  # as many characters, words and stops
    respaced = STORY.replace(" island", "\n  island")
    assert ruled(STORY + other + respaced + STORY, [0.8, 0.8, 0.8, 0.5]) == pytest.approx(
        [0.8, 0.8, 4 / 9, 1 / 6]
    )


def test_a_short_text_and_a_copy_of_what_is_no_content_may_be_said_again() -> None:
    assert ruled("<p>Ferries</p>" * 3, [0.8] * 3) == [0.8] * 3
    assert ruled(STORY * 2, [0.05, 0.8]) == [0.05, 0.8]


def test_reviews_go_where_they_are_asked_to_go() -> None:
    html = (
        f"{STORY}<div class=reviews><p>Five stars</p><ul class=rating><li>good</li></ul></div><p>Weight</p>"
    )
    given = [0.9, 0.6, 0.7, 0.4]
    assert ruled(html, given, reviews=False) == [0.9, 0.0, 0.0, 0.4]
    assert ruled(html, given) == given


def test_an_element_that_holds_the_heading_is_not_what_its_name_says() -> None:
    for name in ("reviews", "cookie-consent"):
        html = f"<div class={name}><h1>Ferries</h1>{STORY}<div class={name}><p>notice</p></div></div>"
        assert ruled(html, [0.9, 0.9, 0.9], reviews=False) == [0.9, 0.9, 0.0]


def test_what_a_page_is_all_of_stays() -> None:
    assert ruled(f"<div class=reviews>{STORY}</div>", [0.9], reviews=False) == [0.9]


def test_a_short_end_of_an_article_that_is_kept_stays() -> None:
    for tag in ("article", "main"):
        html = f"<{tag}>{STORY}<div><p>stray byte</p><a href=/r>rel</a></div></{tag}><p>outside</p>"
        assert completed(html, "stray byte", "rel", "outside")[1:] == ["stray byte", "rel"]


def test_what_something_speaks_against_stays_dropped() -> None:
    for end in (
        "<div class=share><p>dropped</p></div>",
        "<p class=related-links>dropped</p>",
        "<aside>dropped</aside>",
        "<form><p>dropped</p></form>",
        "<p hidden>dropped</p>",
    ):
        html = f"<div class=sidebar><article>{STORY}{end}</article></div>"
        assert "dropped" not in completed(html, "dropped"), end
    phrase = "Leave a comment"
    assert phrase not in completed(f"<article>{STORY}<p>{phrase}</p></article>", phrase)


def test_what_is_most_unlikely_stays_dropped() -> None:
    html = f"<article>{STORY}<p>Read the magazine</p></article>"
    for probability, blocks in ((0.1, 1), (0.2, 2)):
        assert len(completed(html, "Read the magazine", probability=probability)) == blocks


def test_an_article_of_which_little_is_kept_is_left_alone() -> None:
    story = STORY[3:-4]
    assert completed(f"<article>{STORY}<p>end</p></article><p>other</p>", story, "end") == ["other"]


def test_a_page_of_many_blocks_is_left_to_the_model() -> None:
    assert "end" not in completed(f"<article>{STORY * 39}<p>end</p></article>", "end")
    assert "end" in completed(f"<article>{STORY * 38}<p>end</p></article>", "end")
