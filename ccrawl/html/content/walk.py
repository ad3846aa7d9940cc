"""One walk over the tree, laid out as arrays: nodes, pieces of text, and blocks.

Nodes are numbered in document order, so that a subtree is the range [i, end[i]). A *text* is one text node
that holds more than white space and that a browser would show. A *block* is a run of texts with no
block-level element, and no two line breaks, between them: a paragraph, a list item's own words, a cell, a
heading.

This is the hot path. The parser's nodes are read by list comprehensions (50 to 100 ns a property),
attributes only where an element can carry evidence, and whatever follows from the parent links (ancestors,
depth, subtree ends) is done by pointer doubling in numpy, in rounds that grow with the logarithm of the
depth: nothing recurses, and a page of 60,000 levels costs 16 rounds. A first version that kept a stack in
Python took twice the time.
"""

from __future__ import annotations

import itertools
import operator
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ccrawl.html.content.vocabulary import SEEN_NAMES, markup_bits, words

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

INLINE = words(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt "
    "rtc ruby s samp small span strike strong sub sup time tt u var wbr br input button meter output "
    "progress picture source audio video canvas map area param embed"
)
SKIPPED = words(
    "script style template svg iframe object noframes head title meta link base select option optgroup "
    "datalist textarea applet audio video canvas"
)
# Tags whose class and id are worth 0.3 microseconds.
NAMED = words(
    "article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure footer "
    "form header li main nav ol p section summary table td tr ul address hgroup"
)

# One bit for each tag whose presence among the ancestors is evidence.
TAG_NAMES = words(
    "a p li ul ol dl dd dt table tr td th h1 h2 h3 h4 h5 h6 div span section article main aside nav "
    "header footer form blockquote pre code figure figcaption details summary label button address center "
    "dialog b strong em i time caption small font noscript"
)
TAG_BIT = {name: 1 << index for index, name in enumerate(TAG_NAMES)}
LINK = TAG_BIT["a"]
HIDDEN = 1 << 60
SKIP = 1 << 61


def _tag_numbers() -> dict[str, int]:
    names = {*INLINE, *SKIPPED, *NAMED, *TAG_NAMES, "hr"} - {"head", "body", "html"}
    parser = LexborHTMLParser("<body><p>x<!--x-->")
    numbers = {name: parser.create_node(name).tag_id for name in sorted(names)}
    assert parser.root is not None
    return numbers | {str(node.tag): node.tag_id for node in parser.root.traverse(include_text=True)}


TAG_ID = _tag_numbers()
TEXT_ID, COMMENT_ID = TAG_ID["-text"], TAG_ID["-comment"]
# The mean page has 1,400 nodes. Beyond the first limit a page is not judged; beyond the second, blocks are
# joined.
MOST_NODES = 200_000
MOST_BLOCKS = 8_000

_NAMING = frozenset({"id", "role", "itemprop"})  # class is read first, by itself
_HIDING = frozenset({"hidden", "aria-hidden", "style"})
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_OTHER = max(TAG_ID.values()) + 1  # stands for all custom elements, which are plain block-level elements
TAG_SLOTS = _OTHER + 1
_IS_INLINE = np.zeros(TAG_SLOTS, np.bool_)
_IS_INLINE[[TAG_ID[name] for name in INLINE] + [TEXT_ID, COMMENT_ID]] = True
_TAG_BITS = np.zeros(TAG_SLOTS, np.uint64)
for _name in {*TAG_NAMES, *SKIPPED}:
    _TAG_BITS[TAG_ID[_name]] = TAG_BIT.get(_name, 0) | (SKIP if _name in SKIPPED else 0)
_IS_NAMED = np.zeros(TAG_SLOTS, np.bool_)
_IS_NAMED[[TAG_ID[name] for name in NAMED] + [_OTHER]] = True


_MEM_ID = operator.attrgetter("mem_id")
_PARENT_MEM_ID = operator.attrgetter("parent.mem_id")
_TAG_NUMBER = operator.attrgetter("tag_id")


@dataclass(frozen=True, slots=True)
class Walk:
    """The flat form of a tree; n_ has one entry a node, t_ one a text, b_ one a block."""

    nodes: list[LexborNode]
    n_tag: Ints  # lexbor's number, below TAG_SLOTS
    n_parent: Ints  # 0 for the root too
    n_end: Ints  # the first node after the subtree
    n_depth: Ints
    n_markup: Bits  # MARKUP groups of the element's own names
    n_tags: Bits  # TAG_BIT of the element and its ancestors, HIDDEN and SKIP among them
    n_markup_all: Bits  # MARKUP groups of the element and its ancestors
    n_hidden: Flags  # hides its subtree by an attribute of its own
    texts: list[str]
    t_node: Ints
    t_block: Ints
    b_node: Ints  # the nearest block-level element around the block
    b_first: Ints  # the block's first text

    def block_texts(self) -> list[str]:
        """The words of each block, as one string each."""
        firsts = self.b_first.tolist()
        if len(firsts) == len(self.texts):
            return self.texts
        texts = self.texts
        return [
            texts[first] if end == first + 1 else " ".join(texts[first:end])
            for first, end in zip(firsts, [*firsts[1:], len(texts)], strict=True)
        ]


def walk(root: LexborNode) -> Walk | None:
    """Flatten the subtree of `root`, an element; None when it has more than MOST_NODES nodes."""
    nodes = list(itertools.islice(root.traverse(include_text=True, skip_empty=True), MOST_NODES + 1))
    size = len(nodes)
    if size > MOST_NODES:
        return None
    numbers = np.fromiter(map(_TAG_NUMBER, nodes), np.uint64, size)
    tag = np.minimum(numbers, _OTHER).astype(np.int64)
    parent = _parents(nodes)
    end = _ends(parent)

    bits = _TAG_BITS[tag]
    markup = np.zeros(size, np.uint64)
    hidden = np.zeros(size, np.bool_)
    is_text = tag == TEXT_ID
    # Only elements that hold text.
    before = np.zeros(size + 1, np.int64)
    np.cumsum(is_text, out=before[1:])
    named = np.flatnonzero(_IS_NAMED[tag] & (before[end] > before[:-1])).tolist()
    _names(nodes, named, markup, hidden)
    bits[hidden] |= np.uint64(HIDDEN)
    depth, tags_all, markup_all = _inherited(parent, bits, markup)

    shown = np.flatnonzero(is_text & (tags_all & np.uint64(SKIP) == 0))
    texts = [nodes[index].text_content or "" for index in shown.tolist()]
    t_block, b_node, b_first = _blocks(tag, parent, shown)
    return Walk(
        nodes,
        tag,
        parent,
        end,
        depth,
        markup,
        tags_all,
        markup_all,
        hidden,
        texts,
        shown,
        t_block,
        b_node,
        b_first,
    )


def _parents(nodes: list[LexborNode]) -> Ints:
    number = dict(zip(map(_MEM_ID, nodes), range(len(nodes)), strict=True))
    parents = map(number.__getitem__, map(_PARENT_MEM_ID, itertools.islice(nodes, 1, None)))
    return np.fromiter(itertools.chain((0,), parents), np.int64, len(nodes))


def _ends(parent: Ints) -> Ints:
    """The end of each subtree: the next sibling of the nearest ancestor-or-self that has one."""
    size = len(parent)
    after = np.full(size, size, np.int64)
    # numpy sorts 16-bit integers by radix, in a third of the time.
    key = parent[1:].astype(np.uint16) if size <= 1 << 16 else parent[1:]
    order = np.argsort(key, kind="stable")
    order += 1
    family = parent[order]
    follows = np.flatnonzero(family[1:] == family[:-1])
    after[order[follows]] = order[follows + 1]
    climb = np.arange(size)
    last = np.flatnonzero(after == size)
    climb[last] = parent[last]
    # Only last siblings climb; those of which no ancestor has a next sibling end at the root.
    while len(last):
        higher = climb[climb[last]]
        moved = higher != climb[last]
        climb[last] = higher
        last = last[moved]
    return after[climb]


def _inherited(parent: Ints, bits: Bits, markup: Bits) -> tuple[Ints, Bits, Bits]:
    """(depth of each node; `bits` and `markup` OR-ed with those of all its ancestors), in rounds that grow
    with the logarithm of the depth.
    """
    depth = np.ones(len(parent), np.int64)
    depth[0] = 0
    bits, markup = bits.copy(), markup.copy()
    jump = parent
    while jump.any():
        depth += depth[jump]
        bits |= bits[jump]
        markup |= markup[jump]
        jump = jump[jump]
    bits |= bits[0]
    markup |= markup[0]
    return depth, bits, markup


def _names(nodes: list[LexborNode], named: list[int], markup: Bits, hidden: Flags) -> None:
    """Fill in the markup groups of each element's class, id, role and itemprop, and whether it hides its
    subtree.
    """
    known = SEEN_NAMES.get
    where: list[int] = []
    found: list[int] = []
    for index in named:
        attributes = nodes[index].attributes
        if not attributes:
            continue
        names = attributes.get("class")
        bits = 0
        if names:
            seen = known(names)
            bits = markup_bits(names) if seen is None else seen
        if not names or len(attributes) > 1:
            for key, value in attributes.items():
                if key in _NAMING:
                    if value:
                        seen = known(value)
                        bits |= markup_bits(value) if seen is None else seen
                elif key in _HIDING and (
                    key == "hidden"
                    or (value is not None and (value == "true" or _HIDING_STYLE.search(value) is not None))
                ):
                    hidden[index] = True
        if bits:
            where.append(index)
            found.append(bits)
    if found:
        markup[where] = np.array(found, np.uint64)


def _blocks(tag: Ints, parent: Ints, shown: Ints) -> tuple[Ints, Ints, Ints]:
    inline = _IS_INLINE[tag]
    inline[0] = False
    nearest = np.where(inline, parent, np.arange(len(tag)))
    below = np.flatnonzero(inline)
    while len(below):
        higher = nearest[nearest[below]]
        moved = higher != nearest[below]
        nearest[below] = higher
        below = below[moved]
    breaks = tag == TAG_ID["br"]
    opened = ~inline
    opened[1:] |= breaks[1:] & breaks[:-1]
    opened_before = np.cumsum(opened)[shown]
    around = nearest[shown]
    starts = np.ones(len(shown), np.bool_)
    starts[1:] = (opened_before[1:] != opened_before[:-1]) | (around[1:] != around[:-1])
    first = np.flatnonzero(starts)
    node = around[first]
    # Too many blocks: join those of one parent, then of one grandparent; at last any that follow each other.
    for level in range(4):
        if len(first) <= MOST_BLOCKS:
            break
        owner = parent[node] if level < 3 else np.arange(len(first)) * MOST_BLOCKS // len(first)
        joined = np.ones(len(first), np.bool_)
        joined[1:] = owner[1:] != owner[:-1]
        first = first[joined]
        node = owner[joined] if level < 3 else node[joined]
    block = np.zeros(len(shown), np.int64)
    block[first] = 1
    return np.cumsum(block) - 1, node, first
