"""The fingerprint of a page's text: 64 bits that differ little when the words differ little.

Definition `words3-xxh3-64/1`:

1. the Markdown without link and image destinations (ccrawl.text.destinations);
2. tokens: maximal runs of letters, marks and digits (Unicode L, M, N), case-folded; a character of a
   script written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, Tibetan) is a token
   of its own. Categories and scripts are those of Unicode 14.0, frozen in ccrawl.text._ranges, so that
   the Python that runs this makes no difference; later characters separate words;
3. features: the distinct windows of three consecutive tokens joined by one space, or the distinct tokens
   when there are fewer than three. Each votes once, however often it occurs;
4. hash: xxh3-64 with seed 0 of the feature's UTF-8;
5. a bit is set when more than half of the features have it. No feature gives 0, "no fingerprint"; bits
   that come out all zero are stored as 1.

The votes are Charikar's ("Similarity estimation techniques from rounding algorithms", STOC 2002) without
weights. Features are told apart by their hash: two different ones that share all 64 bits vote once, which
a text of a million words meets with a probability of 3e-8.

Measured on news pages of 11,000 characters (benchmarks/text.py): hashing the windows, one call each, is
half of the time. Everything before and after it is numpy over characters or hashes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_digest

from ccrawl.text._ranges import UNSPACED, WORD
from ccrawl.text.destinations import without_destinations

DEFINITION = "words3-xxh3-64/1"
NO_FINGERPRINT = 0

_SEPARATOR, _WORD, _ALONE = 0, 1, 2
_SPACE, _LINE = 0x20, 0x0A
# In the table of folded characters: one that folds to several. A lone surrogate, which is no word's.
_SEVERAL = 0xD800
_FIRST_UNSPACED = UNSPACED[0][0]
# ASCII as the table of folded characters has it.
_FOLDED_ASCII = bytes(ord(chr(c).lower()) if chr(c).isalnum() else _SPACE for c in range(128)) + bytes(128)
# Characters or windows worked on at a time: what stands in memory beside the text is bounded by this.
_BLOCK = 1 << 15


def simhash(markdown: str) -> int:
    """The fingerprint of a Markdown text: 64 bits as an int, 0 when the text has no word.

    Never raises on a string, lone surrogates included (they separate words). Linear in the length.
    """
    tokens = _joined_tokens(without_destinations(markdown))
    if not tokens:
        return NO_FINGERPRINT
    hashes = _feature_hashes(tokens)
    votes = np.zeros(64, dtype=np.int64)
    for start in range(0, len(hashes), _BLOCK):
        votes += _votes(hashes[start : start + _BLOCK])
    majority = np.packbits(votes * 2 > len(hashes), bitorder="little")
    return int.from_bytes(majority.tobytes(), "little") or 1


def distance(one: int, other: int) -> int:
    """How many of the 64 bits differ."""
    return (one ^ other).bit_count()


def _joined_tokens(text: str) -> bytes:
    """The text's tokens as UTF-8, case-folded, with one space between neighbours."""
    pieces = []
    last = _SEPARATOR
    for start in range(0, len(text), _BLOCK):
        piece, last = _spaced(text[start : start + _BLOCK], last)
        pieces.append(piece)
    return b"".join(pieces).removeprefix(b" ")


def _spaced(text: str, last: int) -> tuple[bytes, int]:
    """The case-folded tokens of a piece of text, each that opens here behind a space.

    `last` is the class of the character before the piece; the class of its own last character is returned.
    """
    folded: npt.NDArray[np.uint8 | np.uint16]
    if text.isascii():
        folded = np.frombuffer(text.encode().translate(_FOLDED_ASCII), dtype=np.uint8)
        return _squeezed(folded, last).tobytes(), _last_class(folded)
    if "ß" in text:  # of the letters that fold to several, the one that is common
        text = text.replace("ß", "ss")
    # 16 bits a character are enough for nearly every page, and half the work.
    encoding = "utf-16-le"
    encoded = text.encode(encoding, "surrogatepass")
    if len(encoded) == 2 * len(text):
        characters = np.frombuffer(encoded, dtype="<u2")
        folded = _folded().take(characters)  # a quarter of the time of indexing
        # Latin, Greek, Cyrillic, Arabic, Indic ...: neither a token of its own nor _SEVERAL is this low.
        if folded.max() < _FIRST_UNSPACED:
            return _squeezed(folded, last).tobytes().decode(encoding).encode(), _last_class(folded)
    else:
        encoding = "utf-32-le"
        characters = np.frombuffer(text.encode(encoding, "surrogatepass"), dtype="<u4")
    classes = _classes().take(characters)
    spaced = _with_spaces_between(characters, classes, last)
    # Case comes last: a later Unicode may fold what was no letter in 14.0 to one, by then it is a space.
    return spaced.tobytes().decode(encoding).casefold().encode(), int(classes[-1])


def _squeezed(folded: npt.NDArray[np.uint8 | np.uint16], last: int) -> npt.NDArray[np.uint8 | np.uint16]:
    """Folded characters of words alone with one space before each word: of each run, the last one."""
    word = folded != _SPACE
    kept = word.copy()
    kept[:-1] |= word[1:]
    spaced: npt.NDArray[np.uint8 | np.uint16] = folded[kept]
    if word[0] and last != _WORD:
        return np.concatenate((np.full(1, _SPACE, dtype=folded.dtype), spaced))
    return spaced


def _last_class(folded: npt.NDArray[np.uint8 | np.uint16]) -> int:
    return _SEPARATOR if folded[-1] == _SPACE else _WORD


def _with_spaces_between(
    characters: npt.NDArray[np.uint16 | np.uint32], classes: npt.NDArray[np.uint8], last: int
) -> npt.NDArray[np.uint16 | np.uint32]:
    """The characters of tokens, with a space before each that opens one."""
    kept = np.flatnonzero(classes)
    # A character opens a token when it is one of its own, or when what stood before it (in the text, not
    # among the kept) is no part of a word.
    before = np.empty_like(classes)
    before[0] = last
    before[1:] = classes[:-1]
    opens = ((classes == _ALONE) | (before != _WORD))[kept]
    places = np.arange(len(kept)) + np.cumsum(opens)
    spaced = np.full(int(places[-1]) + 1 if len(kept) else 0, _SPACE, dtype=characters.dtype)
    spaced[places] = characters.take(kept)
    return spaced


def _feature_hashes(tokens: bytes) -> npt.NDArray[np.uint64]:
    """The distinct hashes of the windows of three tokens (of the tokens, when they are fewer), sorted."""
    characters = np.frombuffer(tokens, dtype=np.uint8)
    gaps = np.flatnonzero(characters == _SPACE)
    if len(gaps) < 2:
        digests = [b"".join(map(xxh3_64_digest, tokens.split(b" ")))]
    else:
        bounds = np.concatenate(([-1], gaps, [len(tokens)]))
        digests = [
            b"".join(map(xxh3_64_digest, _every_third_window(characters, bounds[first : block + _BLOCK + 3])))
            for block in range(0, len(bounds) - 3, _BLOCK)
            for first in range(block, block + 3)
        ]
    # xxHash's canonical form is big-endian. Sorting tells features apart faster than a set does.
    hashes = np.frombuffer(b"".join(digests), dtype=">u8").astype("<u8")
    hashes.sort()
    distinct = np.ones(len(hashes), dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=distinct[1:])
    return hashes[distinct]


def _every_third_window(characters: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> list[bytes]:
    """The windows that follow each other without sharing a token, from the first token on.

    `bounds` are the places around the tokens. Cutting the text at every third one in a single call costs a
    quarter of cutting out window by window.
    """
    cuts = bounds[0::3]
    if len(cuts) < 2:
        return []
    start = int(cuts[0]) + 1
    text = characters[start : cuts[-1]].copy()
    text[cuts[1:-1] - start] = _LINE
    return text.tobytes().split(b"\n")


def _votes(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """How many of the hashes have each bit, least significant first."""
    # Eight counters of a byte each go in one 64-bit addition, and up to 255 votes they don't run over. So the
    # hashes stand in at most 255 rows of as many columns as it takes, filled up with hashes without votes.
    columns = -(-len(hashes) // 255)
    rows = -(-len(hashes) // columns)
    filled = np.zeros(rows * columns, dtype=np.uint64)
    filled[: len(hashes)] = hashes
    bits = np.unpackbits(filled.view(np.uint8), bitorder="little").view(np.uint64).reshape(rows, columns * 8)
    votes: npt.NDArray[np.int64] = (
        np.add.reduce(bits, axis=0).view(np.uint8).reshape(columns, 64).sum(axis=0, dtype=np.int64)
    )
    return votes


@cache
def _classes() -> npt.NDArray[np.uint8]:
    """The class of every code point; a megabyte, made in a millisecond when first asked for."""
    classes = np.full(0x110000, _SEPARATOR, dtype=np.uint8)
    for ranges, kind in ((WORD, _WORD), (UNSPACED, _ALONE)):
        for first, last in ranges:
            classes[first : last + 1] = kind
    return classes


@cache
def _folded() -> npt.NDArray[np.uint16]:
    """For each 16-bit character of a word its folded one (or _SEVERAL), for the others a space."""
    folded = np.full(1 << 16, _SPACE, dtype=np.uint16)
    for character in np.flatnonzero(_classes()[: 1 << 16]).tolist():
        to = chr(character).casefold()
        folded[character] = ord(to) if len(to) == 1 and ord(to) < 1 << 16 else _SEVERAL
    return folded
