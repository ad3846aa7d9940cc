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

Measured in benchmarks of 800 words (5 KB): the hashing of the windows is half of the time, so everything
before and after it is one pass of numpy over the code points or the hashes, not a loop over tokens.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from ccrawl.text._ranges import UNSPACED, WORD
from ccrawl.text.destinations import without_destinations

DEFINITION = "words3-xxh3-64/1"
NO_FINGERPRINT = 0

_SEPARATOR, _WORD, _ALONE = 0, 1, 2
_SPACE = 0x20
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
        bits = np.unpackbits(hashes[start : start + _BLOCK].view(np.uint8), bitorder="little")
        votes += bits.reshape(-1, 64).sum(axis=0, dtype=np.uint32)
    bits = np.packbits(votes * 2 > len(hashes), bitorder="little")
    return int.from_bytes(bits.tobytes(), "little") or 1


def distance(one: int, other: int) -> int:
    """How many of the 64 bits differ."""
    return (one ^ other).bit_count()


def _joined_tokens(text: str) -> bytes:
    """The text's tokens as UTF-8, case-folded, with one space between neighbours."""
    pieces = []
    last = _SEPARATOR
    for start in range(0, len(text), _BLOCK):
        code_points = np.frombuffer(
            text[start : start + _BLOCK].encode("utf-32-le", "surrogatepass"), dtype="<u4"
        )
        classes = _classes()[code_points]
        pieces.append(_spaced(code_points, classes, last))
        last = int(classes[-1])
    return "".join(pieces).removeprefix(" ").encode()


def _spaced(code_points: npt.NDArray[np.uint32], classes: npt.NDArray[np.uint8], last: int) -> str:
    """The case-folded tokens, each that opens here behind a space; `last` is the class before the first."""
    kept = np.flatnonzero(classes)
    if not len(kept):
        return ""
    # A kept character opens a token when it is one of its own, or when what stood before it (in the
    # text, not among the kept) is no part of a word.
    before = np.empty_like(classes)
    before[0] = last
    before[1:] = classes[:-1]
    opens = ((classes == _ALONE) | (before != _WORD))[kept]
    places = np.arange(len(kept)) + np.cumsum(opens)
    spaced = np.full(int(places[-1]) + 1, _SPACE, dtype="<u4")
    spaced[places] = code_points[kept]
    # Case comes last: a later Unicode may fold what was no letter in 14.0 to one, by then it is a space.
    return spaced.tobytes().decode("utf-32-le").casefold()


def _feature_hashes(tokens: bytes) -> npt.NDArray[np.uint64]:
    """The distinct hashes of the windows of three tokens (of the tokens, when they are fewer)."""
    gaps = np.flatnonzero(np.frombuffer(tokens, dtype=np.uint8) == _SPACE)
    width = 3 if len(gaps) >= 2 else 1
    starts = np.concatenate(([0], gaps + 1))
    ends = np.concatenate((gaps, [len(tokens)]))[width - 1 :]
    blocks = []
    for block in range(0, len(ends), _BLOCK):
        first = starts[block : block + _BLOCK].tolist()
        last = ends[block : block + _BLOCK].tolist()
        # A set is four times as fast as a sort (numpy.unique) for the thousand windows of a usual page.
        hashes = {xxh3_64_intdigest(tokens[start:end]) for start, end in zip(first, last, strict=False)}
        blocks.append(np.fromiter(hashes, dtype="<u8", count=len(hashes)))
    return blocks[0] if len(blocks) == 1 else np.unique(np.concatenate(blocks))


@cache
def _classes() -> npt.NDArray[np.uint8]:
    """The class of every code point; a megabyte, made in a millisecond when first asked for."""
    classes = np.full(0x110000, _SEPARATOR, dtype=np.uint8)
    for ranges, kind in ((WORD, _WORD), (UNSPACED, _ALONE)):
        for first, last in ranges:
            classes[first : last + 1] = kind
    return classes
