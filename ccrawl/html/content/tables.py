"""What the native part is told once: classes of characters, tags, and the vocabulary."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.tags import (
    COMMENT_ID,
    INLINE,
    LINK,
    NAMED,
    OTHER_ID,
    SKIP,
    SKIPPED,
    TAG_BIT,
    TAG_ID,
    TAG_NAMES,
    TAG_SLOTS,
    TEXT_ID,
)
from ccrawl.html.content.vocabulary import (
    AFTER,
    BEGINNINGS,
    FIRST_WORDS,
    MARKUP_BIT,
    PHRASE_BIT,
    phrase_bit,
    words,
)
from ccrawl.native import Keys, Specification, address, library
from ccrawl.native.layout import check_layout

# Classes of characters, those of words first. WIDE are those of scripts without spaces, and Hangul; RIGHTS
# are © ® ™.
LETTER, UPPER, DIGIT, WIDE, SPACE, STOP, COMMA, OTHER, MARK, RIGHTS = range(10)
CLASSES = 10
OWN_TAGS = words(
    "p li td th h1 h2 h3 h4 h5 h6 div dt dd pre blockquote figcaption section article body summary"
)
SIGNS = words("share related comment subscribe author legal")  # phrases whose distance counts

_IS_INLINE, _IS_NAMED = 1, 2  # of a tag
_WHITE, _CASED, _CASE_IGNORABLE = 0x10, 0x20, 0x40  # of a character
_NARROW = 0x3000  # characters above are wide, or rare; of those below the class is asked of Python
_LOWERED = 0x20000  # no character above has another case
_DOTTED_I, _SIGMA = 0x130, 0x3A3


def _characters() -> NDArray[np.uint8]:
    """The class of every character, with what str.split() and str.lower() know of it."""
    table = np.full(0x110000, OTHER, np.uint8)
    narrow = [chr(code) for code in range(_NARROW)]
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
    table[[code for code, character in enumerate([*narrow, "\u3000"]) if character.isspace()]] |= _WHITE
    cased, ignorable = _casing()
    table[:_NARROW][cased] |= _CASED
    table[:_NARROW][ignorable] |= _CASE_IGNORABLE
    return table


def _casing() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which characters are cased, and which are passed over in looking for one: str.lower() makes a final
    sigma after the first kind, and after the second where one of the first stands before.
    """
    codes = np.arange(_NARROW)
    codes[_DOTTED_I] = 0  # whose lower case is two characters
    after_it = np.stack([codes, np.full(_NARROW, _SIGMA), np.full(_NARROW, ord("\n"))], axis=1)
    after_a = np.concatenate([np.full((_NARROW, 1), ord("A")), after_it], axis=1)
    cased, either = (
        (_lower(codes.ravel()).reshape(codes.shape)[:, -2] == ord("ς")) for codes in (after_it, after_a)
    )
    return cased, either & ~cased


def _lower(codes: NDArray[Any]) -> NDArray[np.uint32]:
    """str.lower() of characters, none of which becomes two."""
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return np.frombuffer(text.lower().encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def _lowered() -> NDArray[np.uint32]:
    """The lower case of each character by itself; the native part knows the two that need more."""
    codes = np.arange(_LOWERED)
    codes[[_DOTTED_I, _SIGMA]] = 0
    return _lower(codes)


KNOWN_TAGS: tuple[str, ...] = words(
    library.ccrawl_tag_names().decode()
)  # those that the native part asks for


class Tables:
    """The tables, and the memory that they are in."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = []
        tag_bits = np.zeros(TAG_SLOTS, np.uint64)
        for name in {*TAG_NAMES, *SKIPPED}:
            tag_bits[TAG_ID[name]] = TAG_BIT.get(name, 0) | (SKIP if name in SKIPPED else 0)
        own_bits = np.zeros(TAG_SLOTS, np.uint64)
        own_bits[[TAG_ID[name] for name in OWN_TAGS]] = [1 << index for index in range(len(OWN_TAGS))]
        kinds = np.zeros(TAG_SLOTS, np.uint8)
        kinds[[TAG_ID[name] for name in INLINE] + [TEXT_ID, COMMENT_ID]] = _IS_INLINE
        kinds[[TAG_ID[name] for name in NAMED] + [OTHER_ID]] |= _IS_NAMED
        after = np.zeros(0x10000, np.uint8)
        after[[ord(character) for character in AFTER]] = 1
        tags = [TAG_ID[name] for name in KNOWN_TAGS]
        specification = Specification(
            self._kept(_characters()),
            self._kept(_lowered()),
            _LOWERED,
            TAG_SLOTS,
            self._kept(tag_bits),
            self._kept(own_bits),
            self._kept(kinds),
            LINK,
            sum(TAG_BIT[f"h{level}"] for level in range(1, 7)),
            self._kept(np.array(tags, np.int64)),
            self._kept(_attribute_numbers()),
            self._keys(MARKUP_BIT),
            self._keys(PHRASE_BIT),
            self._keys(dict.fromkeys(FIRST_WORDS, 1)),
            self._keys(dict.fromkeys(BEGINNINGS, 1)),
            self._kept(after),
            self._kept(np.array([phrase_bit(name) for name in SIGNS], np.uint64)),
        )
        self.address: int | None = library.ccrawl_tables(ctypes.byref(specification))
        if self.address is None:
            raise MemoryError("no memory for the tables of the native part")

    def _kept(self, array: NDArray[Any]) -> int:
        self._arrays.append(array)
        return address(array)

    def _keys(self, values: Mapping[str, int]) -> Keys:
        keys = [key.encode() for key in values]
        starts = np.cumsum([0, *map(len, keys)], dtype=np.int64)
        joined = np.frombuffer(bytearray().join(keys), np.uint8)
        bits = np.array(list(values.values()), np.uint64)
        return Keys(len(keys), self._kept(joined), self._kept(starts), self._kept(bits))


def _attribute_numbers() -> NDArray[np.uint64]:
    names = library.ccrawl_attribute_names().decode().split()
    parser = LexborHTMLParser(f"<p {' '.join(names)}>")
    element = parser.css_first("p")
    assert element is not None
    numbers = np.zeros(len(names), np.uint64)
    library.ccrawl_attribute_numbers(element.mem_id, address(numbers), len(numbers))
    return numbers


check_layout()
TABLES = Tables()


def markup_bits(names: str) -> int:
    """The groups that the words of `names` (class, id, role and so on, separated by spaces) belong to.

    A word that is longer than six letters and in no group is searched for the words it contains.
    """
    utf8 = names.encode()
    return int(library.ccrawl_markup_bits(TABLES.address, utf8, len(utf8)))


def phrase_bits(text: str) -> int:
    """The groups of `PHRASES` that a piece of text starts with: its first one to three words."""
    start = text.lstrip()[:64]
    return int(library.ccrawl_phrase_bits(TABLES.address, start.encode("utf-32-le"), len(start)))
