"""Counts of a block's words, worked out by hand."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.head import PageHead
from ccrawl.html.content.tables import COMMA, DIGIT, STOP, UPPER, WIDE, markup_bits, phrase_bits
from ccrawl.html.content.text import BlockText, read_text
from ccrawl.html.content.vocabulary import MARKUP, PHRASES, markup_bit, phrase_bit
from ccrawl.html.content.walk import walk


def counted(html: str, head: PageHead | None = None, title: str = "") -> BlockText:
    body = LexborHTMLParser(html).body
    assert body is not None
    page = walk(body)
    assert page is not None
    return read_text(page, head or PageHead(), title)


def test_characters_are_counted_by_class() -> None:
    text = counted("<p>Two boats, 1 Harbour. Yes!</p>")
    assert text.length[0] == len("Twoboats,1Harbour.Yes!")
    assert [text.counts[kind][0] for kind in (UPPER, DIGIT, STOP, COMMA)] == [3, 1, 2, 1]
    assert text.words[0] == 5


def test_wide_characters_count_as_parts_of_words_and_full_stops_of_all_scripts_count() -> None:
    text = counted("<p>他们回来了。</p>")
    assert text.counts[WIDE][0] == 5
    assert text.counts[STOP][0] == 1
    assert text.words[0] == 1 + 0.6 * 5


def test_linked_characters_are_those_inside_links() -> None:
    text = counted("<p>ab <a href=x>cde</a></p><p>fg</p>")
    assert text.linked.tolist() == [3, 0]


def test_words_do_not_run_over_block_borders() -> None:
    assert counted("<p>one</p><p>two</p>").words.tolist() == [1, 1]


def test_the_last_class_ignores_white_space() -> None:
    assert counted("<p>It is so. \n</p><p>so</p>").last.tolist()[0] == STOP


def test_the_title_is_found_whole_and_in_part() -> None:
    text = counted(
        "<h1>Old harbour opens</h1><p>Old harbour opens today</p><p>Elsewhere it rains</p>",
        title="Old Harbour opens",
    )
    assert text.title.tolist() == [1.0, 0.5, 0.0]


def test_structured_text_and_description_mark_the_blocks_that_they_begin_with() -> None:
    start = "The harbour wall was rebuilt in the spring and people came to look."
    head = PageHead(meta={"description": start}, bodies=[f"{start} The boats came back."])
    text = counted(f"<p>{start} The boats came back.</p><p>Read our newsletter every week.</p>", head)
    assert text.in_body.tolist() == [1.0, 0.0]
    assert text.in_description.tolist() == [1.0, 0.0]
    assert counted("<p>x</p>").in_body.tolist() == [-1.0]


def test_only_white_space_and_lone_signs_do_not_fail() -> None:
    assert counted("<p>\u00a0</p><p>\u200b</p>").words.tolist() == [0, 0]


def test_names_are_read_in_any_writing() -> None:
    wanted = markup_bit("article") | markup_bit("body")
    for name in ("article-body", "articleBody", "ARTICLE_BODY", "article  body"):
        assert markup_bits(name) & wanted == wanted, name
    assert markup_bits("zzz qqq") == 0


def test_phrases_are_recognised_in_many_languages_by_their_first_words() -> None:
    for text, group in (
        ("Read more about boats", "more"),
        ("Kommentare (12)", "comment"),
        ("Читайте также: погода", "related"),
        ("相关阅读", "related"),
        ("Alle akzeptieren", "consent"),
        ("© 2020 Harbour", "legal"),
    ):
        assert phrase_bits(text) & phrase_bit(group), text
    assert phrase_bits("The boats came back") == 0
    assert phrase_bits("  ") == 0


def test_every_group_fits_its_mask() -> None:
    assert len(MARKUP) <= 64
    assert len(PHRASES) <= 64
