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
        ends = [*self.b_first[1:].tolist(), len(self.texts)]
        return [
            " ".join(self.texts[first:end]) for first, end in zip(self.b_first.tolist(), ends, strict=True)
        ]


def walk(root: LexborNode) -> Walk | None:
    """Flatten the subtree of `root`, an element; None when it has more than MOST_NODES nodes."""
    nodes = list(itertools.islice(root.traverse(include_text=True, skip_empty=True), MOST_NODES + 1))
    size = len(nodes)
    if size > MOST_NODES:
        return None
    numbers = np.fromiter([node.tag_id for node in nodes], np.uint64, size)
    tag = np.minimum(numbers, _OTHER).astype(np.int64)
    parent = _parents(nodes)
    depth, end = _depth_and_end(parent)

    bits = _TAG_BITS[tag]
    markup = np.zeros(size, np.uint64)
    hidden = np.zeros(size, np.bool_)
    named = np.flatnonzero(_IS_NAMED[tag]).tolist()
    _names(nodes, named, markup, hidden)
    bits[hidden] |= np.uint64(HIDDEN)
    tags_all, markup_all = _inherited(parent, depth, bits, markup)

    is_text = tag == TEXT_ID
    shown = np.flatnonzero(is_text & (tags_all & np.uint64(SKIP) == 0))
    texts = [nodes[index].text_content or "" for index in shown.tolist()]
    t_block, b_node, b_first = _blocks(tag, parent, depth, shown)
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
    number = {node.mem_id: index for index, node in enumerate(nodes)}
    parents = [number[node.parent.mem_id] for node in nodes[1:]]  # type: ignore[union-attr]
    return np.array([0, *parents], np.int64)


def _depth_and_end(parent: Ints) -> tuple[Ints, Ints]:
    size = len(parent)
    depth = np.ones(size, np.int64)
    depth[0] = 0
    # The end of a subtree is the next sibling of the nearest ancestor-or-self that has one.
    order = np.argsort(parent[1:], kind="stable") + 1
    after = np.full(size, -1, np.int64)
    same = parent[order[1:]] == parent[order[:-1]]
    after[order[:-1][same]] = order[1:][same]
    jump = parent.copy()
    climb = np.where(after < 0, parent, np.arange(size))
    climb[0] = 0
    while jump.any():
        depth += depth[jump]
        jump = jump[jump]
        climb = climb[climb]
    end = after[climb]
    end[end < 0] = size
    return depth, end


def _inherited(parent: Ints, depth: Ints, *masks: Bits) -> list[Bits]:
    """Each mask OR-ed with those of all ancestors."""
    result = [mask.copy() for mask in masks]
    jump = parent
    for _ in range(int(depth.max()).bit_length()):
        for mask in result:
            mask |= mask[jump]
        jump = jump[jump]
    return result


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


def _blocks(tag: Ints, parent: Ints, depth: Ints, shown: Ints) -> tuple[Ints, Ints, Ints]:
    inline = _IS_INLINE[tag]
    inline[0] = False
    nearest = np.where(inline, parent, np.arange(len(tag)))
    for _ in range(int(depth.max()).bit_length()):
        nearest = nearest[nearest]
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
