"""Evidence about each block, as one matrix: a row a feature, a column a block.

Everything here is arithmetic over the arrays of `walk` and `text`. Two kinds of rows: *figures* (lengths,
densities, positions, sums over the containers, neighbours and look-alikes of a block), always computed, and
*flags* (tags, names in class and id, phrases), of which only those are unpacked that a model asks for.
`FEATURES` names all.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ccrawl.html.content import text as chars
from ccrawl.html.content.head import KINDS, PageHead
from ccrawl.html.content.text import BlockText, read_text
from ccrawl.html.content.vocabulary import MARKUP, PHRASES, phrase_bit, words
from ccrawl.html.content.walk import HIDDEN, TAG_ID, TAG_NAMES, TAG_SLOTS, Bits, Flags, Floats, Ints, Walk

Matrix = NDArray[np.float32]

LEVELS = 4  # containers looked at: the block's element and the three above it
SIGNS = words("share related comment subscribe author legal")  # phrases whose distance counts
OWN_TAGS = words(
    "p li td th h1 h2 h3 h4 h5 h6 div dt dd pre blockquote figcaption section article body summary"
)

FIGURES: tuple[str, ...] = (
    *words(
        "own.length own.words own.link_density own.upper own.stops own.stop_rate own.marks own.ends_stop "
        "own.hidden own.depth own.in_body own.in_description"
    ),
    *(
        f"box{level}.{name}"
        for level in range(LEVELS)
        for name in words("chars share links stops blocks goodshare headings")
    ),
    *words(
        "place.index place.chars_before place.share_before place.after_title place.title_distance "
        "place.top_inside place.top_before place.top_after place.top_common place.top_share "
        "place.first_good place.last_good place.title_common place.h1_before"
    ),
    *words("next.link_density window.good5 window.links5 window.good15 window.links15"),
    *words("under.distance under.level under.length"),
    *(f"since.{name}" for name in SIGNS),
    *words(
        "shape.count shape.chars shape.links shape.stops shape.siblings shape.sibling_chars shape.level0 "
        "shape.level2"
    ),
    *words(
        "page.chars page.blocks page.links page.good page.paragraphs page.headings page.cells "
        "page.articles page.main page.wide page.title_found page.bodies page.og_article page.og_product "
        "page.url_depth page.url_words page.url_date page.url_root page.hidden page.items page.lists"
    ),
    *(f"kind.{name}" for name in KINDS),
)
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

_HEADINGS = np.array(sorted(TAG_ID[f"h{n}"] for n in range(1, 7)))
_IS_HEADING = np.isin(np.arange(TAG_SLOTS), _HEADINGS)
_OWN_TAG = np.zeros(TAG_SLOTS, np.uint64)
for _index, _name in enumerate(OWN_TAGS):
    _OWN_TAG[TAG_ID[_name]] = 1 << _index
_SIGN_BITS = np.array([phrase_bit(name) for name in SIGNS], np.uint64)
_DATE = re.compile(r"(?:19|20)\d\d[/-]?[01]?\d(?:[/-]|\b)|\d{5,}")
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The features of a page's blocks, and the figures that later steps need again."""

    matrix: Matrix  # FIGURES, the flags asked for, and room, x blocks
    text: BlockText
    ancestors: Ints  # LEVELS x blocks: the block's element, its parent ...
    shape: Ints  # a number shared by blocks of the same shape
    heading: Ints  # the last heading at or before the block, -1 before the first


@functools.cache
def _flags(names: tuple[str, ...]) -> tuple[Ints, Bits]:
    """The source and the mask of each flag."""
    sources = list(FLAG_SOURCES)
    split = [name.split(".", 1) for name in names]
    return (
        np.array([sources.index(source) for source, _ in split], np.int64),
        np.array([1 << FLAG_SOURCES[source].index(name) for source, name in split], np.uint64),
    )


def gather(
    page: Walk, head: PageHead, url: str | None, title: str, flags: tuple[str, ...] = FLAGS, room: int = 0
) -> Evidence:
    """Compute FIGURES and those of FLAGS that are asked for, for every block of `page`, which has at least
    one.

    `room` is the number of rows that the matrix has at its end for the caller to fill.
    """
    flag_source, flag_mask = _flags(flags)
    text = read_text(page, head, title)
    size = len(text.length)
    node = page.b_node
    tag = page.n_tag[node]
    heading = _IS_HEADING[tag]
    stops = text.counts[chars.STOP]
    density = np.minimum(text.linked / text.length, 1.0)
    # Running text: what is not linked in a block that is long enough and has sentences.
    good = np.where((stops > 0) & (text.length > 40), np.maximum(text.length - text.linked, 0), 0.0)
    ancestors = np.empty((LEVELS, size), np.int64)
    ancestors[0] = node
    for level in range(1, LEVELS):
        ancestors[level] = page.n_parent[ancestors[level - 1]]
    sums = subtree_sums(page, np.stack([text.length, text.linked, stops, np.ones(size), good, heading]))
    title_block = _title_block(heading, text.title)

    out = np.empty((len(FIGURES) + len(flags) + room, size), np.float32)
    at = 0
    shape = _shapes(page, ancestors, text, stops, sums)
    last_heading = np.maximum.accumulate(np.where(heading, np.arange(size), -1))
    for part in (
        _own(page, text, stops, density),
        _containers(sums, ancestors),
        _positions(page, text.length, good, title_block, sums),
        [np.append(density[1:], -1.0), *_windows(good, text.linked, text.length)],
        _headings(last_heading, tag, text.length),
        _signs(text.phrases),
        shape[1],
    ):
        out[at : at + len(part)] = part
        at += len(part)
    whole = _page(page, head, url, text, good, tag, heading, sums)
    out[at : at + len(whole)] = whole[:, None]
    at += len(whole)
    near = page.n_markup[ancestors[0]] | page.n_markup[ancestors[1]] | page.n_markup[ancestors[2]]
    sources = np.stack(
        [
            text.phrases,
            np.where(last_heading >= 0, text.phrases[last_heading], np.uint64(0)),
            _OWN_TAG[tag],
            page.n_tags[node],
            page.n_tags[page.t_node[page.b_first]],
            page.n_markup[node],
            near,
            page.n_markup_all[node],
        ]
    )
    np.not_equal(
        sources.take(flag_source, axis=0) & flag_mask[:, None],
        0,
        out=out[at : at + len(flags)],
        casting="unsafe",
    )
    return Evidence(out, text, ancestors, shape[0], last_heading)


def subtree_sums(page: Walk, rows: Floats) -> Floats:
    """For each row of figures a block: its sum over the blocks that begin inside each node (rows x nodes)."""
    total = np.zeros((len(rows), len(page.nodes) + 1))
    total[:, page.t_node[page.b_first] + 1] = rows
    np.cumsum(total, axis=1, out=total)
    result: Floats = total.take(page.n_end, axis=1) - total[:, :-1]
    return result


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
        np.log1p(length),
        np.log1p(text.words),
        density,
        counts[chars.UPPER] / length,
        np.log1p(stops),
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


def _containers(sums: Floats, ancestors: Ints) -> Floats:
    boxes = ancestors.ravel()
    length, linked, stops, blocks, rich, headings = sums.take(boxes, axis=1)
    length = np.maximum(length, 1.0)
    rows = np.stack(
        [
            np.log1p(length),
            length / max(sums[0, 0], 1.0),
            linked / length,
            stops / np.maximum(blocks, 1),
            np.log1p(blocks),
            rich / max(sums[4, 0], 1.0),
            np.log1p(headings),
        ]
    )
    figures = len(rows)
    return rows.reshape(figures, LEVELS, -1).transpose(1, 0, 2).reshape(figures * LEVELS, -1)


def _positions(
    page: Walk, length: Floats, good: Floats, title: int, sums: Floats
) -> list[Floats | Flags | Ints]:
    size = len(length)
    index = np.arange(size)
    before = np.cumsum(length) - length
    node = page.b_node
    # The container whose own paragraphs hold most running text; half of it counts for its parent.
    above = page.n_parent[node]
    nodes = len(page.nodes)
    score = np.bincount(above, good, nodes) + np.bincount(page.n_parent[above], good / 2, nodes)
    top = int(score.argmax())
    rich = np.flatnonzero(good > 0)
    first_good, last_good = (int(rich[0]), int(rich[-1])) if len(rich) else (0, size - 1)
    away = index - title
    return [
        np.log1p(index),
        np.log1p(before),
        before / max(sums[0, 0], 1.0),
        away >= 0 if title >= 0 else np.full(size, -1.0),
        np.sign(away) * np.log1p(np.abs(away)) if title >= 0 else np.full(size, -9.0),
        (node >= top) & (node < page.n_end[top]),
        node < top,
        node >= page.n_end[top],
        common_depth(page, node, top),
        np.full(size, sums[4, top] / max(sums[4, 0], 1.0)),
        index - first_good,
        last_good - index,
        common_depth(page, node, int(node[title])) if title >= 0 else np.full(size, -1.0),
        np.cumsum(page.n_tag == TAG_ID["h1"])[node],
    ]


def _windows(good: Floats, linked: Floats, length: Floats) -> list[Floats]:
    size = len(good)
    sums = np.zeros((3, size + 1))
    np.cumsum(np.stack([good, linked, length]), axis=1, out=sums[:, 1:])
    index = np.arange(size)
    result = []
    for reach in (2, 7):
        part = sums[:, np.minimum(index + reach + 1, size)] - sums[:, np.maximum(index - reach, 0)]
        result += [np.log1p(part[0]), part[1] / np.maximum(part[2], 1.0)]
    return result


def _headings(last: Ints, tag: Ints, length: Floats) -> list[Floats | Ints]:
    """The heading that each block stands under: how far back, of which level, how long."""
    known = last >= 0
    return [
        np.where(known, np.log1p(np.arange(len(last)) - last), -1.0),
        np.where(known, np.searchsorted(_HEADINGS, tag[last]) + 1, 0),
        np.where(known, np.log1p(length[last]), -1.0),
    ]


def _signs(phrases: Bits) -> Floats:
    """How many blocks ago a block began with each of SIGNS."""
    index = np.arange(len(phrases))
    found = (phrases & _SIGN_BITS[:, None]) != 0
    last = np.maximum.accumulate(np.where(found, index, -1000), axis=1)
    result: Floats = np.log1p(np.minimum(index - last, 200))
    return result


def _shapes(
    page: Walk, ancestors: Ints, text: BlockText, stops: Floats, sums: Floats
) -> tuple[Ints, list[Floats]]:
    """How often blocks of this shape, and siblings of its containers' shapes, occur."""
    own = page.n_tag.astype(np.uint64) * _MIX ^ page.n_markup * np.uint64(0xC2B2AE3D27D4EB4F)
    path = own[ancestors[0]] ^ page.n_depth[ancestors[0]].astype(np.uint64)
    for box in ancestors[1:]:
        path = path * _MIX ^ own[box]
    shape, count = _ranks(path)
    length = np.bincount(shape, text.length)
    # Siblings of one tag and one set of names under one parent; only containers of blocks matter.
    family = (own * _MIX ^ page.n_parent.astype(np.uint64)) * _MIX
    ordered = np.sort(family)
    wanted = family[ancestors[:3]].ravel()
    members = np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted)
    levels = members.reshape(3, -1).astype(np.float64)
    widest = ancestors[levels.argmax(0), np.arange(len(path))]
    return shape, [
        np.log1p(count)[shape],
        np.log1p(length)[shape],
        (np.bincount(shape, text.linked) / length)[shape],
        (np.bincount(shape, stops) / count)[shape],
        np.log1p(levels.max(0)),
        np.log1p(sums[0, widest]),
        np.log1p(levels[0]),
        np.log1p(levels[2]),
    ]


def _ranks(values: Bits) -> tuple[Ints, Ints]:
    """The rank of each value among the distinct ones, and how often each occurs; np.unique in half the
    time.
    """
    order = np.argsort(values)
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    rank = np.empty(len(values), np.int64)
    rank[order] = np.cumsum(new) - 1
    return rank, np.diff(np.flatnonzero(new), append=len(values))


def _page(
    page: Walk,
    head: PageHead,
    url: str | None,
    text: BlockText,
    good: Floats,
    tag: Ints,
    heading: Flags,
    sums: Floats,
) -> Floats:
    total = max(float(sums[0, 0]), 1.0)
    try:
        path = urlsplit(url or "").path.strip("/")
    except ValueError:
        path = ""
    slug = max(path.rsplit("/", 2)[-2:], key=len)
    tags = np.bincount(page.n_tag, minlength=TAG_SLOTS)
    kind = head.meta.get("og:type", "").lower()
    hidden = (page.n_tags[page.b_node] & np.uint64(HIDDEN)) > 0
    return np.array(
        [
            np.log1p(total),
            np.log1p(len(tag)),
            text.linked.sum() / total,
            good.sum() / total,
            np.log1p(text.length[tag == TAG_ID["p"]].sum()),
            np.log1p(heading.sum()),
            np.log1p(tags[TAG_ID["td"]]),
            np.log1p(tags[TAG_ID["article"]]),
            tags[TAG_ID["main"]],
            text.counts[chars.WIDE].sum() / total,
            text.title.max(),
            np.log1p(sum(map(len, head.bodies))),
            "article" in kind,
            "product" in kind,
            path.count("/"),
            min(slug.count("-") + slug.count("_"), 8),
            _DATE.search(path) is not None,
            not path,
            text.length[hidden].sum() / total,
            np.log1p(tags[TAG_ID["li"]]),
            np.log1p(tags[TAG_ID["ul"]]),
            *(name in head.kinds for name in KINDS),
        ],
        np.float64,
    )
