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

# Classes of characters. WIDE are those of scripts without spaces, and Hangul; RIGHTS are © ® ™.
SPACE, LETTER, UPPER, DIGIT, STOP, COMMA, WIDE, OTHER, MARK, RIGHTS = range(10)
CLASSES = 10
WIDE_WORDS = 0.6  # words in a WIDE character


def _character_table() -> NDArray[np.uint8]:
    table = np.full(0x10000, OTHER, np.uint8)
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
_IS_WORD = np.isin(np.arange(CLASSES), [LETTER, UPPER, DIGIT, WIDE])


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
    size = len(page.b_first)
    points = np.frombuffer("".join(page.texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _CHARACTERS.take(np.minimum(points, 0xFFFF))  # twice as fast as indexing, here and below
    text_sizes = np.fromiter(map(len, page.texts), np.int64, len(page.texts))
    text_starts = np.cumsum(text_sizes) - text_sizes
    starts = text_starts[page.b_first]
    keys = np.repeat(page.t_block * CLASSES, text_sizes) + kinds
    counts: Floats = np.bincount(keys, minlength=size * CLASSES).reshape(size, CLASSES).T.astype(np.float64)
    shown = kinds != SPACE
    text_length = np.add.reduceat(shown, text_starts, dtype=np.float64)
    length = np.add.reduceat(text_length, page.b_first)
    word = _IS_WORD.take(kinds)
    begins = word.copy()
    begins[1:] &= ~word[:-1]
    begins[starts] = word[starts]
    words = np.add.reduceat(begins, starts, dtype=np.float64) + WIDE_WORDS * counts[WIDE]
    in_link = (page.n_tags[page.t_node] & np.uint64(LINK)) > 0
    seen = np.cumsum(length).astype(np.int64)
    places = np.flatnonzero(shown)
    last = kinds[places[np.maximum(seen - 1, 0)]] if len(places) else np.zeros(size, np.uint8)
    strings = page.block_texts()
    phrases = np.fromiter([phrase_bits(text) if len(text) < 240 else 0 for text in strings], np.uint64, size)
    return BlockText(
        counts,
        np.maximum(length, 1.0),
        words,
        np.add.reduceat(text_length * in_link, page.b_first),
        last.astype(np.int64),
        phrases,
        *_matches(strings, head, title),
    )


def _matches(strings: list[str], head: PageHead, title: str) -> tuple[Floats, Floats, Floats]:
    size = len(strings)
    in_body = np.full(size, -1.0 if not head.bodies else 0.0)
    in_description = np.zeros(size)
    in_title = np.zeros(size)
    bodies = " ".join(" ".join(head.bodies).split())
    description = " ".join(
        (head.meta.get("description", "") + " " + head.meta.get("og:description", "")).split()
    )
    wanted = " ".join(title.split()).lower()
    if bodies:
        for index, text in enumerate(strings):
            if len(text) > 12:
                start = " ".join(text[:100].split())
                in_body[index] = len(start) > 12 and start[:50] in bodies
    if description:
        for index, text in enumerate(strings):
            if len(text) > 30 and text.lstrip()[:40].rstrip() in description:
                in_description[index] = len(text.strip()) > 30
    if wanted:
        shortest, longest = max(4, len(wanted) // 3), 2 * len(wanted) + 40
        for index, text in enumerate(strings):
            if shortest <= len(text) <= longest:
                low = text.strip().lower()
                if len(low) > 8 and (low in wanted or wanted in low):
                    in_title[index] = 1.0 if len(low) == len(wanted) else 0.5
                elif low == wanted:
                    in_title[index] = 1.0
    return in_body, in_description, in_title
