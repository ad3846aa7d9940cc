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

It is computed natively, in one pass over the text (ccrawl/native/fingerprint.c): on news pages of 11,000
characters in a quarter of the time that numpy and a call of xxhash for each window took. The tests hold it
to a slow reading of the definition, and its xxh3 to the package xxhash.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ccrawl.native import Folding, address, checked, library
from ccrawl.text._ranges import UNSPACED, WORD
from ccrawl.text.destinations import without_destinations

DEFINITION = "words3-xxh3-64/1"
NO_FINGERPRINT = 0

_SEPARATOR, _WORD, _ALONE = 0, 1, 2
_CODE_POINTS = 0x110000
_LINE = 0x0A


def simhash(markdown: str) -> int:
    """The fingerprint of a Markdown text: 64 bits as an int, 0 when the text has no word.

    Never fails on a string, lone surrogates included (they separate words); MemoryError where there is no
    room for a second copy of it. Linear in the length. Threads may call it at once.
    """
    # As UTF-8 has no lone surrogates, their bytes are read as characters that are no word's.
    utf8 = without_destinations(markdown).encode("utf-8", "surrogatepass")
    fingerprint = ctypes.c_uint64()
    checked(library.ccrawl_simhash(_tables().folding, utf8, len(utf8), fingerprint))
    return fingerprint.value


def distance(one: int, other: int) -> int:
    """How many of the 64 bits differ."""
    return (one ^ other).bit_count()


class _Tables:
    """The native part's tables of characters, and the memory that they are in: 1.6 MB, made in 20 ms."""

    def __init__(self) -> None:
        kinds = np.full(_CODE_POINTS, _SEPARATOR, dtype=np.uint8)
        for ranges, kind in ((WORD, _WORD), (UNSPACED, _ALONE)):
            for first, last in ranges:
                kinds[first : last + 1] = kind
        folded, several = _folded(np.flatnonzero(kinds))
        plain = np.zeros(256, dtype=np.uint8)
        plain[:128] = np.where(kinds[:128] == _WORD, folded[:128], 0)
        starts = np.cumsum([0, *map(len, several)], dtype=np.int64)
        joined = np.frombuffer(bytearray().join(several), dtype=np.uint8)
        self._arrays: tuple[npt.NDArray[Any], ...] = (plain, kinds, folded, joined, starts)
        places = [address(array) for array in self._arrays]
        self.folding = Folding(*places[:3], len(folded), *places[3:])


def _folded(characters: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint32], list[bytes]]:
    """What each code point folds to, up to the last of `characters` that doesn't fold to itself: a code
    point, or _CODE_POINTS and its place among those that fold to several characters, which come as UTF-8.
    """
    # All at once, a line each: a hundred thousand calls would take ten times as long.
    lines = np.full((len(characters), 2), _LINE, dtype="<u4")
    lines[:, 0] = characters
    text = lines.tobytes().decode("utf-32-le").casefold()
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    ends = np.flatnonzero(codes == _LINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    to = codes[starts]
    more = np.flatnonzero(ends - starts > 1)
    several = [text[starts[i] : ends[i]].encode() for i in more]
    to[more] = _CODE_POINTS + np.arange(len(more))
    size = int(characters[np.flatnonzero(to != characters)[-1]]) + 1
    folded = np.arange(size, dtype=np.uint32)
    folded[characters[characters < size]] = to[characters < size]
    return folded, several


@cache
def _tables() -> _Tables:
    return _Tables()
