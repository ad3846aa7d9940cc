"""What is read in names and texts, against the same said slowly in Python."""

from __future__ import annotations

import re
from html import escape

from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.head import PageHead
from ccrawl.html.content.tables import markup_bits, phrase_bits
from ccrawl.html.content.text import BlockText, read_text
from ccrawl.html.content.vocabulary import AFTER, BEGINNINGS, FIRST_WORDS, MARKUP_BIT, PHRASE_BIT
from ccrawl.html.content.walk import Walk, walk

TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\x00-\x7f]+")


def slow_markup_bits(names: str) -> int:
    bits = 0
    for token in (token.lower() for word in names[:400].split() for token in TOKEN.findall(word)):
        own = MARKUP_BIT.get(token, 0)
        if not own and len(token) > 6:
            for word, value in MARKUP_BIT.items():
                if len(word) >= 5 and word in token:
                    own |= value
        bits |= own
    return bits


def slow_phrase_bits(text: str) -> int:
    text = text.lstrip()[:64].lower()
    if text[:3] not in BEGINNINGS and text[:1] not in PHRASE_BIT:
        return 0
    first, *rest = text.split()
    if first not in FIRST_WORDS:
        return PHRASE_BIT.get(first.rstrip(AFTER), 0) if first[-1] in AFTER else 0
    bits = PHRASE_BIT.get(first, 0)
    if rest:
        second = rest[0].rstrip(AFTER)
        bits |= PHRASE_BIT.get(f"{first} {second}", 0)
        if len(rest) > 1 and second == rest[0]:
            bits |= PHRASE_BIT.get(f"{first} {second} {rest[1].rstrip(AFTER)}", 0)
    return bits


words = st.sampled_from(sorted(MARKUP_BIT))
names = st.lists(
    st.one_of(
        words,
        words.map(str.upper),
        words.map(str.title),
        st.text(max_size=6),
        st.sampled_from(["-", "_", "4", "\xa0"]),
    ),
    max_size=8,
)


@given(names, st.sampled_from(["", " ", "-"]))
@example(["HTMLBody", "sidebarleft", "XArticles", "a" * 395, "nav nav"], " ")
def test_names_say_what_their_words_say(parts: list[str], between: str) -> None:
    text = between.join(parts)
    assert markup_bits(text) == slow_markup_bits(text)


phrases = st.sampled_from(sorted(PHRASE_BIT))


@given(
    st.sampled_from(["", " ", "\u3000\n"]),
    st.one_of(phrases, phrases.map(str.upper), phrases.map(str.title), st.text(max_size=10)),
    st.sampled_from(["", ":", "：", " »", " and more", "\u00a0more words", "!?"]),
    st.text(max_size=60),
)
@example("", "ΕΤΙΚΈΤΕΣ", "", "")
@example("", "ΔΙΑΒΆΣΤΕ ΕΠΊΣΗΣ", ":", "")
@example("", "İLGİLİ", "", "")
def test_texts_begin_with_the_phrases_that_they_begin_with(
    white: str, phrase: str, sign: str, rest: str
) -> None:
    text = white + phrase + sign + rest
    assert phrase_bits(text) == slow_phrase_bits(text)


def flat(html: bytes) -> Walk:
    body = LexborHTMLParser(html).body
    assert body is not None
    page = walk(body)
    assert page is not None
    return page


def read(page: Walk, title: str = "") -> BlockText:
    return read_text(page, PageHead(), title)


@given(st.binary(min_size=1, max_size=40))
@example(b"\xe2\x82x\xf0\x90\x80y\xed\xa0\x80\xff\xc0\x80")
def test_bytes_that_are_no_text_count_like_what_python_makes_of_them(garbage: bytes) -> None:
    page = flat(b"<p>" + bytes(byte for byte in garbage if byte not in b"<&\x00\r") + b"</p>")
    for text, counts in zip(page.texts(), read(page).counts.T, strict=True):
        assert counts.sum() == len(text)


@given(st.text(st.characters(codec="utf-8", categories=["L", "M", "N", "P"]), min_size=4, max_size=12))
@example("ΟΔΟΣ")
@example("ΑΣ'Σ.Σ")
@example("İstanbul")
def test_a_title_is_found_in_either_case(title: str) -> None:
    page = flat(f"<p>{escape(title.upper())}</p>".encode())
    [text] = page.texts()
    assert (read(page, title).title[0] == 1.0) == (text.lower() == title.lower())
