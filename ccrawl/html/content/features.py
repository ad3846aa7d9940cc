"""Evidence about each block: figures and flags, a row a feature, a column a block.

Everything here is arithmetic over the arrays of `walk` and `text`. *Figures* (lengths, densities, positions,
sums over the containers, neighbours and look-alikes of a block) are rows of a matrix; *flags* (tags, names in
class and id, phrases) stay packed, eight to a byte, and a forest reads the bits that it asks for.
`FEATURES` names all.

A page of 200 blocks is the usual size, where a call into numpy costs as much as its arithmetic: what can be
done to several rows is done to all at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ccrawl.html.content import text as chars
from ccrawl.html.content.head import KINDS, PageHead
from ccrawl.html.content.text import BlockText, read_text
from ccrawl.html.content.vocabulary import MARKUP, PHRASES, phrase_bit, words
from ccrawl.html.content.walk import (
    HIDDEN,
    TAG_ID,
    TAG_NAMES,
    TAG_SLOTS,
    TEXT_ID,
    Bits,
    Flags,
    Floats,
    Ints,
    Walk,
)

Matrix = NDArray[np.float32]

LEVELS = 4  # containers looked at: the block's element and the three above it
SIGNS = words("share related comment subscribe author legal")  # phrases whose distance counts
OWN_TAGS = words(
    "p li td th h1 h2 h3 h4 h5 h6 div dt dd pre blockquote figcaption section article body summary"
)

# Each part's figures; those before "|" enter the matrix as logarithms.
_PARTS: tuple[tuple[str, ...], ...] = (
    words(
        "own.length own.words own.stops | own.link_density own.upper own.stop_rate own.marks own.ends_stop "
        "own.hidden own.depth own.in_body own.in_description"
    ),
    tuple(
        name if name == "|" else f"box{level}.{name}"
        for name in words("chars blocks headings | share links stops goodshare")
        for level in range(1 if name == "|" else LEVELS)
    ),
    words(
        "place.index place.chars_before | place.share_before place.after_title place.title_distance "
        "place.top_inside place.top_before place.top_after place.top_common place.top_share "
        "place.first_good place.last_good place.title_common place.h1_before"
    ),
    words("window.good5 window.good15 | window.links5 window.links15 next.link_density"),
    words("under.distance under.length | under.level"),
    (*tuple(f"since.{name}" for name in SIGNS), "|"),
    words(
        "shape.count shape.chars shape.siblings shape.sibling_chars shape.level0 shape.level2 | shape.links "
        "shape.stops"
    ),
    words(
        "page.chars page.blocks page.paragraphs page.headings page.cells page.articles page.bodies "
        "page.items page.lists | page.links page.good page.main page.wide page.title_found page.og_article "
        "page.og_product page.url_depth page.url_words page.url_date page.url_root page.hidden"
    )
    + tuple(f"kind.{name}" for name in KINDS),
)
FIGURES: tuple[str, ...] = tuple(name for part in _PARTS for name in part if name != "|")


def _logarithms() -> Iterator[tuple[int, int]]:
    at = 0
    for part in _PARTS:
        yield at, at + part.index("|")
        at += len(part) - 1


_LOGARITHMS = tuple(_logarithms())
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

_HEADING_LEVEL = np.zeros(TAG_SLOTS, np.int64)
_HEADING_LEVEL[[TAG_ID[f"h{level}"] for level in range(1, 7)]] = range(1, 7)
_IS_HEADING = _HEADING_LEVEL > 0
_OWN_TAG = np.zeros(TAG_SLOTS, np.uint64)
for _index, _name in enumerate(OWN_TAGS):
    _OWN_TAG[TAG_ID[_name]] = 1 << _index
_SIGN_BITS = np.array([phrase_bit(name) for name in SIGNS], np.uint64)
_DATE = re.compile(r"(?:19|20)\d\d[/-]?[01]?\d(?:[/-]|\b)|\d{5,}")
_NONE = -0.5  # of a logarithm: below that of 0
_MIX = np.uint64(0x9E3779B97F4A7C15)


# Where a flag stands in `Evidence.flags`: (row, mask).
FLAG_PLACES: dict[str, tuple[int, int]] = {
    f"{source}.{name}": (8 * row + bit // 8, 1 << bit % 8)
    for row, (source, names) in enumerate(FLAG_SOURCES.items())
    for bit, name in enumerate(names)
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The features of a page's blocks, and the figures that later steps need again."""

    matrix: Matrix  # FIGURES, and room, x blocks
    flags: NDArray[np.uint8]  # 8 bytes a source x blocks; FLAG_PLACES says where each flag is
    text: BlockText
    ancestors: Ints  # LEVELS x blocks: the block's element, its parent ...
    n_blocks: Ints  # 2 x nodes: the first block that begins in the node's subtree, and the one after the last
    shape: Ints  # a number shared by blocks of the same shape
    heading: Ints  # the last heading at or before the block, -1 before the first


def gather(page: Walk, head: PageHead, url: str | None, title: str, room: int = 0) -> Evidence:
    """Compute the evidence for every block of `page`, which has at least one.

    `room` is the number of rows that the matrix has at its end for the caller to fill.
    """
    text = read_text(page, head, title)
    size = len(text.length)
    node = page.b_node
    tag = page.n_tag[node]
    heading = _IS_HEADING[tag]
    stops = text.counts[chars.STOP]
    density = np.minimum(text.linked / text.length, 1.0)
    # Running text: what is not linked in a block that is long enough and has sentences.
    good = np.maximum(text.length - text.linked, 0) * ((stops > 0) & (text.length > 40))
    ancestors = np.empty((LEVELS, size), np.int64)
    ancestors[0] = node
    for level in range(1, LEVELS):
        ancestors[level] = page.n_parent[ancestors[level - 1]]
    n_blocks = _block_ranges(page)
    # Sums over all blocks before each one; those over a subtree are differences.
    sums = np.zeros((size + 1, 6))
    own = sums[1:].T
    own[0], own[1], own[2], own[3], own[4], own[5] = text.length, text.linked, stops, 1, good, heading
    np.cumsum(sums, axis=0, out=sums)
    title_block = _title_block(heading, text.title)
    last_heading = np.maximum.accumulate(np.where(heading, np.arange(size), -1))
    shape, shape_rows = _shapes(page, ancestors, text, stops, sums, n_blocks)

    whole = _page(page, head, url, text, tag, sums[-1])
    rows = [
        *_own(page, text, stops, density),
        *_containers(sums, n_blocks[:, ancestors.ravel()]),
        *_positions(page, good, title_block, sums, n_blocks),
        *_windows(density, sums),
        *_headings(last_heading, tag, text.length),
        *_signs(text.phrases),
        *shape_rows,
    ]
    out = np.empty((len(FIGURES) + room, size), np.float32)
    out[: len(rows)] = np.array(rows, np.float32)
    out[len(rows) : len(FIGURES)] = whole[:, None]
    for start, end in _LOGARITHMS:
        np.log1p(out[start:end], out=out[start:end])
    sources = np.empty((len(FLAG_SOURCES), size), np.uint64)
    sources[0] = text.phrases
    sources[1] = np.where(last_heading >= 0, text.phrases[last_heading], np.uint64(0))
    sources[2] = _OWN_TAG[tag]
    sources[3] = page.n_tags[node]
    sources[4] = page.n_tags[page.t_node[page.b_first]]
    sources[5] = page.n_markup[node]
    sources[6] = sources[5] | page.n_markup[ancestors[1]] | page.n_markup[ancestors[2]]
    sources[7] = page.n_markup_all[node]
    packed = sources.astype("<u8", copy=False).view(np.uint8).reshape(len(sources), size, 8)
    flags = packed.transpose(0, 2, 1).reshape(8 * len(sources), size)
    return Evidence(out, flags, text, ancestors, n_blocks, shape, last_heading)


def unpack_flags(flags: NDArray[np.uint8]) -> Matrix:
    """FLAGS x blocks, 0 or 1, from `Evidence.flags`."""
    places = np.array([FLAG_PLACES[name] for name in FLAGS])
    result: Matrix = ((flags[places[:, 0]] & places[:, 1:].astype(np.uint8)) != 0).astype(np.float32)
    return result


def _block_ranges(page: Walk) -> Ints:
    begun = np.zeros(len(page.nodes) + 1, np.int64)
    begun[page.t_node[page.b_first] + 1] = 1
    np.cumsum(begun, out=begun)
    return np.stack([begun[:-1], begun[page.n_end]])


def common_depth(page: Walk, node: Ints, target: int) -> Floats:
    """How much of the way from the root to `target` each node shares, 0 to 1."""
    chain = [target]
    while chain[-1] and len(chain) < 64:
        chain.append(int(page.n_parent[chain[-1]]))
    starts = np.array(chain[::-1])
    ends = page.n_end[starts]
    shared = np.minimum(
        np.searchsorted(starts, node, "right"), len(chain) - np.searchsorted(ends[::-1], node, "right")
    )
    result: Floats = shared / len(chain)
    return result


def _own(page: Walk, text: BlockText, stops: Floats, density: Floats) -> list[Floats | Flags | Ints]:
    length, counts, node = text.length, text.counts, page.b_node
    return [
        length,
        text.words,
        stops,
        density,
        counts[chars.UPPER] / length,
        stops / (text.words + 1),
        counts[chars.MARK] / length,
        text.last == chars.STOP,
        (page.n_tags[node] & np.uint64(HIDDEN)) > 0,
        page.n_depth[node],
        text.in_body,
        text.in_description,
    ]


def _title_block(heading: Flags, match: Floats) -> int:
    """The first heading that matches the title, else the first block that equals it; -1 for none."""
    candidates = np.flatnonzero(heading & (match > 0))
    if not len(candidates):
        candidates = np.flatnonzero(match >= 1.0)
    return int(candidates[0]) if len(candidates) else -1


def _containers(sums: Floats, ranges: Ints) -> Matrix:
    """The figures of each container, in the order of FIGURES: by figure, then level."""
    length, linked, stops, blocks, rich, headings = (
        sums.take(ranges[1], axis=0) - sums.take(ranges[0], axis=0)
    ).T
    length = np.maximum(length, 1.0)
    rows = np.empty((7, len(length)), np.float32)
    rows[0], rows[1], rows[2] = length, blocks, headings
    np.divide(length, max(sums[-1, 0], 1.0), out=rows[3], casting="unsafe")
    np.divide(linked, length, out=rows[4], casting="unsafe")
    np.divide(stops, np.maximum(blocks, 1), out=rows[5], casting="unsafe")
    np.divide(rich, max(sums[-1, 4], 1.0), out=rows[6], casting="unsafe")
    return rows.reshape(7 * LEVELS, -1)


def _positions(
    page: Walk, good: Floats, title: int, sums: Floats, n_blocks: Ints
) -> list[Floats | Flags | Ints]:
    size = len(good)
    index = np.arange(size)
    before = sums[:-1, 0]
    node = page.b_node
    # The container whose own paragraphs hold most running text; half of it counts for its parent.
    above = page.n_parent[node]
    nodes = len(page.nodes)
    score = np.bincount(above, good, nodes) + np.bincount(page.n_parent[above], good / 2, nodes)
    top = int(score.argmax())
    rich = np.flatnonzero(good)
    first_good, last_good = (int(rich[0]), int(rich[-1])) if len(rich) else (0, size - 1)
    away = index - title
    nowhere = np.full(size, -1.0)
    start, end = n_blocks[:, top].tolist()
    return [
        index,
        before,
        before / max(sums[-1, 0], 1.0),
        away >= 0 if title >= 0 else nowhere,
        np.copysign(np.log1p(np.abs(away)), away) if title >= 0 else 9 * nowhere,
        (node >= top) & (node < page.n_end[top]),
        node < top,
        node >= page.n_end[top],
        common_depth(page, node, top),
        np.full(size, (sums[end, 4] - sums[start, 4]) / max(sums[-1, 4], 1.0)),
        index - first_good,
        last_good - index,
        common_depth(page, node, int(node[title])) if title >= 0 else nowhere,
        np.searchsorted(np.flatnonzero(page.n_tag == TAG_ID["h1"]), node, "right"),
    ]


def _windows(density: Floats, sums: Floats) -> list[Floats]:
    size = len(density)
    index = np.arange(size)
    rich: list[Floats] = []
    linked: list[Floats] = []
    for reach in (2, 7):
        part = sums.take(index + (reach + 1), axis=0, mode="clip") - sums.take(
            np.maximum(index - reach, 0), axis=0
        )
        rich.append(part[:, 4])
        linked.append(part[:, 1] / np.maximum(part[:, 0], 1.0))
    return [*rich, *linked, np.append(density[1:], -1.0)]


def _headings(last: Ints, tag: Ints, length: Floats) -> list[Floats | Ints]:
    """The heading that each block stands under: how far back, how long, of which level."""
    known = last >= 0
    return [
        np.where(known, np.arange(len(last)) - last, _NONE),
        np.where(known, length[last], _NONE),
        _HEADING_LEVEL[tag[last]] * known,
    ]


def _signs(phrases: Bits) -> Ints:
    """How many blocks ago a block began with each of SIGNS, at most 200."""
    index = np.arange(len(phrases))
    found = (phrases & _SIGN_BITS[:, None]) != 0
    result: Ints = index - np.maximum.accumulate(np.where(found, index, -1000), axis=1)
    return np.minimum(result, 200, out=result)


def _shapes(
    page: Walk, ancestors: Ints, text: BlockText, stops: Floats, sums: Floats, n_blocks: Ints
) -> tuple[Ints, list[Floats]]:
    """How often blocks of this shape, and siblings of its containers' shapes, occur."""
    own = page.n_tag.astype(np.uint64) * _MIX ^ page.n_markup * np.uint64(0xC2B2AE3D27D4EB4F)
    path = own[ancestors[0]] ^ page.n_depth[ancestors[0]].astype(np.uint64)
    for box in ancestors[1:]:
        path = path * _MIX ^ own[box]
    seen: dict[int, int] = {}
    shape = np.array([seen.setdefault(value, len(seen)) for value in path.tolist()])
    count = np.bincount(shape)
    length = np.bincount(shape, text.length)
    # Siblings of one tag and one set of names under one parent, that hold text.
    holders = np.flatnonzero((n_blocks[1] > n_blocks[0]) & (page.n_tag != TEXT_ID))
    family = (own * _MIX ^ page.n_parent.astype(np.uint64)) * _MIX
    ordered = np.sort(family[holders])
    wanted = family[ancestors[:3].ravel()]
    members = np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted)
    levels = members.reshape(3, -1)
    widest = n_blocks[:, ancestors[levels.argmax(0), np.arange(len(path))]]
    by_shape = np.stack(
        [count, length, np.bincount(shape, text.linked) / length, np.bincount(shape, stops) / count]
    )
    return shape, [
        *by_shape[:2, shape],
        levels.max(0),
        sums[widest[1], 0] - sums[widest[0], 0],
        levels[0],
        levels[2],
        *by_shape[2:, shape],
    ]


def _page(page: Walk, head: PageHead, url: str | None, text: BlockText, tag: Ints, sums: Floats) -> Floats:
    total = max(float(sums[0]), 1.0)
    try:
        path = urlsplit(url or "").path.strip("/")
    except ValueError:
        path = ""
    slug = max(path.rsplit("/", 2)[-2:], key=len)
    tags = np.bincount(page.n_tag, minlength=TAG_SLOTS).tolist()
    kind = head.meta.get("og:type", "").lower()
    hidden = (page.n_tags[page.b_node] & np.uint64(HIDDEN)) > 0
    return np.array(
        [
            total,
            len(tag),
            text.length[tag == TAG_ID["p"]].sum(),
            sums[5],
            tags[TAG_ID["td"]],
            tags[TAG_ID["article"]],
            sum(map(len, head.bodies)),
            tags[TAG_ID["li"]],
            tags[TAG_ID["ul"]],
            sums[1] / total,
            sums[4] / total,
            tags[TAG_ID["main"]],
            text.counts[chars.WIDE].sum() / total,
            text.title.max(),
            "article" in kind,
            "product" in kind,
            path.count("/"),
            min(slug.count("-") + slug.count("_"), 8),
            _DATE.search(path) is not None,
            not path,
            text.length[hidden].sum() / total,
            *(name in head.kinds for name in KINDS),
        ],
        np.float64,
    )
