"""The words of blocks, counted: character classes, words, interface phrases, matches with what the head
says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ccrawl.html.content.head import PageHead
from ccrawl.html.content.vocabulary import phrase_bits
from ccrawl.html.content.walk import LINK, Bits, Floats, Ints, Walk

# Classes of characters, those of words first. WIDE are those of scripts without spaces, and Hangul; RIGHTS
# are © ® ™.
LETTER, UPPER, DIGIT, WIDE, SPACE, STOP, COMMA, OTHER, MARK, RIGHTS = range(10)
CLASSES = 10
WIDE_WORDS = 0.6  # words in a WIDE character


def _character_table() -> NDArray[np.uint8]:
    table = np.full(0x110000, OTHER, np.uint8)
    narrow = [chr(code) for code in range(0x3000)]
    for kind, test in (
        (LETTER, str.isalpha),
        (UPPER, str.isupper),
        (DIGIT, str.isdigit),
        (SPACE, str.isspace),
    ):
        table[[code for code, character in enumerate(narrow) if test(character)]] = kind
    table[0x3040:0xD7B0] = WIDE
    table[0xF900:0xFB00] = WIDE
    table[0x0300:0x0370] = LETTER
    for characters, kind in (
        (".!?…。！？।؟", STOP),
        (",;、，；،", COMMA),
        ("|»›«‹•·→>▶►/｜", MARK),
        ("©®™", RIGHTS),
        ("\u200b\ufeff\u3000", SPACE),
    ):
        table[[ord(character) for character in characters]] = kind
    return table


_CHARACTERS = _character_table()
_LATIN = _CHARACTERS[:256].tobytes()


@dataclass(frozen=True, slots=True)
class BlockText:
    """Figures of each block's words; one entry a block."""

    counts: Floats  # CLASSES x blocks
    length: Floats  # characters that are not white space
    words: Floats
    linked: Floats  # of `length`, inside links
    last: Ints  # class of the last character that is not white space
    phrases: Bits  # PHRASES groups that a short block begins with
    in_body: Floats  # its beginning stands in the head's article body: 1 or 0, -1 when there is no such body
    in_description: Floats  # ... in the description
    title: Floats  # it is the title (1), contains it or is contained in it (0.5)


def read_text(page: Walk, head: PageHead, title: str) -> BlockText:
    """Count the words of every block of `page`."""
    pieces = len(page.texts)
    kinds = _kinds("".join(page.texts))
    text_sizes = np.fromiter(map(len, page.texts), np.int64, pieces)
    text_starts = np.cumsum(text_sizes) - text_sizes
    starts = text_starts[page.b_first]
    keys = np.repeat(np.arange(0, pieces * CLASSES, CLASSES), text_sizes)
    keys += kinds
    by_text = np.bincount(keys, minlength=pieces * CLASSES).reshape(pieces, CLASSES)
    counts: Floats = np.add.reduceat(by_text, page.b_first).T.astype(np.float64)
    text_length = text_sizes - by_text[:, SPACE]
    word = kinds <= WIDE
    begins = word.copy()
    np.greater(word[1:], word[:-1], out=begins[1:])
    begins[starts] = word[starts]
    words = np.add.reduceat(begins, starts, dtype=np.int64) + WIDE_WORDS * counts[WIDE]
    in_link = (page.n_tags[page.t_node] & np.uint64(LINK)) > 0
    # The place of each block's last character that is not white space; 0 where there is none.
    places = np.arange(len(kinds), dtype=np.int32)
    places *= kinds != SPACE
    last = kinds[np.maximum.reduceat(places, starts)]
    strings = page.block_texts()
    phrases = np.array([phrase_bits(text) if len(text) < 240 else 0 for text in strings], np.uint64)
    return BlockText(
        counts,
        np.maximum(np.add.reduceat(text_length, page.b_first), 1.0),
        words,
        np.add.reduceat(text_length * in_link, page.b_first).astype(np.float64),
        last.astype(np.int64),
        phrases,
        *_matches(strings, head, title),
    )


def _kinds(text: str) -> NDArray[np.uint8]:
    """The class of each character."""
    try:
        return np.frombuffer(text.encode("latin-1").translate(_LATIN), np.uint8)
    except UnicodeEncodeError:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return _CHARACTERS.take(points)  # twice as fast as indexing


def _matches(strings: list[str], head: PageHead, title: str) -> tuple[Floats, Floats, Floats]:
    in_body = np.full(len(strings), 0.0 if head.bodies else -1.0)
    in_description = np.zeros(len(strings))
    in_title = np.zeros(len(strings))
    bodies = " ".join(" ".join(head.bodies).split())
    description = " ".join(
        (head.meta.get("description", "") + " " + head.meta.get("og:description", "")).split()
    )
    wanted = " ".join(title.split()).lower()
    sizes = list(map(len, strings))
    if bodies:
        for index, size in enumerate(sizes):
            if size > 12:
                start = " ".join(strings[index][:100].split())
                in_body[index] = len(start) > 12 and start[:50] in bodies
    if len(description) > 1:
        for index, size in enumerate(sizes):
            if size > 30:
                text = strings[index].strip()
                in_description[index] = len(text) > 30 and text[:40].rstrip() in description
    if wanted:
        shortest, longest = max(4, len(wanted) // 3), 2 * len(wanted) + 40
        for index, size in enumerate(sizes):
            if shortest <= size <= longest:
                low = strings[index].strip().lower()
                if low == wanted:
                    in_title[index] = 1.0
                elif len(low) > 8 and (low in wanted or wanted in low):
                    in_title[index] = 0.5
    return in_body, in_description, in_title
