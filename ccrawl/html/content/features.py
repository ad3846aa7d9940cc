"""Evidence about each block: figures and flags, a row a feature, a column a block.

*Figures* (lengths, densities, positions, sums over the containers, neighbours and look-alikes of a block) are
rows of a matrix; *flags* (tags, names in class and id, phrases) stay packed, eight to a byte, and a forest
reads the bits that it asks for. `FEATURES` names all. Figures are listed in `ccrawl/native/features.h` and
computed in `features.c` and `shapes.c`.
"""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ccrawl import native
from ccrawl.html.content.head import KINDS, PageHead
from ccrawl.html.content.tables import OWN_TAGS, TABLES
from ccrawl.html.content.tags import TAG_NAMES
from ccrawl.html.content.text import BlockText, read_text
from ccrawl.html.content.vocabulary import MARKUP, PHRASES
from ccrawl.html.content.walk import Ints, Walk
from ccrawl.native import address, addresses, checked, library

Matrix = NDArray[np.float32]

# Each figure, and its scale when weights are fitted: "linear", "logarithm" of 1 + x, "signed-logarithm".
FIGURE_SCALES: dict[str, str] = dict(item.split("=") for item in library.ccrawl_figures().decode().split())
FIGURES: tuple[str, ...] = tuple(FIGURE_SCALES)
# Flags: a source of bits, and the names of its bits.
FLAG_SOURCES: dict[str, tuple[str, ...]] = {
    "phrase": tuple(PHRASES),
    "under": tuple(PHRASES),
    "tag": OWN_TAGS,
    "in": TAG_NAMES,
    "first": TAG_NAMES,
    "name": tuple(MARKUP),
    "near": tuple(MARKUP),
    "above": tuple(MARKUP),
}
FLAGS: tuple[str, ...] = tuple(f"{source}.{name}" for source, names in FLAG_SOURCES.items() for name in names)
FEATURES: tuple[str, ...] = FIGURES + FLAGS
# Where a flag stands in `Evidence.flags`: (row, mask).
FLAG_PLACES: dict[str, tuple[int, int]] = {
    f"{source}.{name}": (8 * row + bit // 8, 1 << bit % 8)
    for row, (source, names) in enumerate(FLAG_SOURCES.items())
    for bit, name in enumerate(names)
}

_PLACES = 6  # rows of `Evidence.places`
# The path of a plain URL; the rest is left to urlsplit, which takes ten times as long.
_PATH = re.compile(r"https?://[a-zA-Z0-9.:_-]+((?:/[!-\"$->@-~]*)?)(?![^?#])")
_DATE = re.compile(r"(?:19|20)\d\d[/-]?[01]?\d(?:[/-]|\b)|\d{5,}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The features of a page's blocks, and what the second look needs again."""

    matrix: Matrix  # FIGURES x blocks, without logarithms
    flags: NDArray[np.uint8]  # 8 bytes a source x blocks; FLAG_PLACES says where each flag is
    text: BlockText
    places: Ints  # each block's element and the three above it, the number of its shape, its heading or -1
    ranges: Ints  # 2 x nodes: the first block that begins in the node's subtree, and the one after the last


def gather(page: Walk, head: PageHead, url: str | None, title: str) -> Evidence:
    """Compute the evidence for every block of `page`, which has at least one."""
    text = read_text(page, head, title)
    size = page.blocks
    matrix = np.empty((len(FIGURES), size), np.float32)
    flags = np.empty((8 * len(FLAG_SOURCES), size), np.uint8)
    places = np.empty((_PLACES, size), np.int64)
    ranges = np.empty((2, page.node_rows.shape[1]), np.int64)
    given = native.Given(*given_by(head, url))
    checked(
        library.ccrawl_gather(
            TABLES.address,
            ctypes.byref(page.arrays),
            *(address(text.rows), ctypes.byref(given)),
            *addresses(matrix, flags, places, ranges),
        )
    )
    return Evidence(matrix, flags, text, places, ranges)


def given_by(head: PageHead, url: str | None) -> tuple[float, ...]:
    """What the head and the URL say, in native order."""
    path = _path(url or "").strip("/")
    slug = max(path.rsplit("/", 2)[-2:], key=len)
    kind = head.meta.get("og:type", "").lower()
    return (
        sum(map(len, head.bodies)),
        "article" in kind,
        "product" in kind,
        path.count("/"),
        min(slug.count("-") + slug.count("_"), 8),
        _DATE.search(path) is not None,
        not path,
        *[name in head.kinds for name in KINDS],
    )


def _path(url: str) -> str:
    plain = _PATH.match(url)
    if plain is not None:
        return plain[1]
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def unpack_flags(flags: NDArray[np.uint8]) -> Matrix:
    """FLAGS x blocks, 0 or 1, from `Evidence.flags`."""
    places = np.array([FLAG_PLACES[name] for name in FLAGS])
    result: Matrix = ((flags[places[:, 0]] & places[:, 1:].astype(np.uint8)) != 0).astype(np.float32)
    return result


def scaled(matrix: Matrix, scales: dict[str, str]) -> Matrix:
    """A copy of the rows that `scales` names, in order, as weights are fitted to them."""
    result = matrix.copy()
    for row, scale in zip(result, scales.values(), strict=True):
        if scale == "logarithm":
            np.log1p(row, out=row)
        elif scale == "signed-logarithm":
            np.copysign(np.log1p(np.abs(row)), row, out=row)
    return result


def unscaled(border: float, scale: str) -> float:
    """What a border of a scaled figure is without its scale: a tree only compares, so it needs no logarithms.

    It is the greatest single-precision number that is not above the border when scaled, since many borders
    are the scaled value of some count.
    """
    if scale == "linear" or not math.isfinite(border):
        return border
    signed = scale == "signed-logarithm"

    def logarithm(plain: np.float32) -> np.float32:
        return np.float32(math.copysign(math.log1p(abs(plain)), plain) if signed else math.log1p(plain))

    plain = np.float32(math.copysign(math.expm1(abs(border)), border) if signed else math.expm1(border))
    while logarithm(plain) > border:
        plain = np.nextafter(plain, np.float32(-np.inf))
    while logarithm(above := np.nextafter(plain, np.float32(np.inf))) <= border:
        plain = above
    return float(plain)
