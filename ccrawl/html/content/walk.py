"""One walk over the tree, laid out as arrays: nodes, pieces of text, and blocks.

Nodes are numbered in document order, so that a subtree is the range [i, end[i]). A *text* is one text node
that holds more than white space and that a browser would show. A *block* is a run of texts with no
block-level element, and no two line breaks, between them: a paragraph, a list item's own words, a cell, a
heading.

The walk is native (`ccrawl/native/walk.c`): it reads lexbor's nodes where they are, at 30 ns a node with its
attributes. In Python the same took 600 ns.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborNode

from ccrawl.html.content.tables import KNOWN_TAGS, TABLES
from ccrawl.native import PageArrays, address, checked, library, text_within

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

# The mean page has 1,400 nodes. Beyond the first limit a page is not judged; beyond the second, blocks are
# joined.
MOST_NODES = 200_000
MOST_BLOCKS = 8_000

_N_ADDRESS, _N_TAG, _N_PARENT, _N_END, _N_DEPTH, _N_HIDES, _N_MARKUP, _N_TAGS, _N_MARKUP_ALL = range(9)
_T_NODE, _T_BLOCK, _T_ADDRESS, _T_SIZE = range(4)
_B_NODE, _B_FIRST = range(2)


@dataclass(frozen=True, slots=True)
class Walk:
    """The flat form of a tree; n_ has one entry a node, t_ one a text, b_ one a block."""

    root: LexborNode  # keeps the tree in memory, which the arrays point into
    node_rows: Ints  # one row an array, in native order
    text_rows: Ints
    block_rows: Ints
    arrays: PageArrays  # their addresses, as the native part gets them

    @property
    def n_address(self) -> Bits:
        """Where lexbor has the node: its `mem_id`."""
        return self.node_rows[_N_ADDRESS, :].view(np.uint64)

    @property
    def n_tag(self) -> Ints:
        """lexbor's number of the tag, below TAG_SLOTS."""
        return self.node_rows[_N_TAG, :]

    @property
    def n_parent(self) -> Ints:
        """0 for the root too."""
        return self.node_rows[_N_PARENT, :]

    @property
    def n_end(self) -> Ints:
        """The first node after the subtree."""
        return self.node_rows[_N_END, :]

    @property
    def n_depth(self) -> Ints:
        """0 for the root."""
        return self.node_rows[_N_DEPTH, :]

    @property
    def n_hidden(self) -> Flags:
        """Whether the element hides its subtree by an attribute of its own."""
        return self.node_rows[_N_HIDES, :] > 0

    @property
    def n_markup(self) -> Bits:
        """MARKUP groups of the element's own names."""
        return self.node_rows[_N_MARKUP, :].view(np.uint64)

    @property
    def n_tags(self) -> Bits:
        """TAG_BIT of the element and its ancestors, HIDDEN and SKIP among them."""
        return self.node_rows[_N_TAGS, :].view(np.uint64)

    @property
    def n_markup_all(self) -> Bits:
        """MARKUP groups of the element and its ancestors."""
        return self.node_rows[_N_MARKUP_ALL, :].view(np.uint64)

    @property
    def t_node(self) -> Ints:
        """The text's node."""
        return self.text_rows[_T_NODE, :]

    @property
    def t_block(self) -> Ints:
        """The block that it belongs to."""
        return self.text_rows[_T_BLOCK, :]

    @property
    def b_node(self) -> Ints:
        """The nearest block-level element around the block."""
        return self.block_rows[_B_NODE, :]

    @property
    def b_first(self) -> Ints:
        """The block's first text."""
        return self.block_rows[_B_FIRST, :]

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.b_node)

    def nodes(self) -> list[LexborNode]:
        """The nodes, while the tree is as it was: for explanations, which may take their time."""
        return list(self.root.traverse(include_text=True, skip_empty=True))

    def texts(self) -> list[str]:
        """The texts, decoded."""
        places = zip(self.text_rows[_T_ADDRESS].tolist(), self.text_rows[_T_SIZE].tolist(), strict=True)
        return [ctypes.string_at(place, size).decode("utf-8", "replace") for place, size in places]

    def block_texts(self) -> list[str]:
        """The words of each block, as one string each."""
        texts, firsts = self.texts(), self.b_first.tolist()
        return [
            " ".join(texts[first:end]) for first, end in zip(firsts, [*firsts[1:], len(texts)], strict=True)
        ]

    def block_words(self, block: int) -> bytes:
        """The words of one block as `block_texts` has them, with single spaces, in UTF-8."""
        first, end = self.b_first[block], self.b_first[block + 1] if block + 1 < self.blocks else None
        places, sizes = self.text_rows[_T_ADDRESS, first:end], self.text_rows[_T_SIZE, first:end]
        texts = map(ctypes.string_at, places.tolist(), sizes.tolist())
        return b" ".join(b" ".join(texts).split())


def walk(root: LexborNode) -> Walk | None:
    """Flatten the subtree of `root`, an element; None when it has more than MOST_NODES nodes."""
    size = library.ccrawl_count_nodes(root.mem_id, MOST_NODES)
    if size > MOST_NODES:
        return None
    nodes = np.empty((9, size), np.int64)
    none = np.empty((4, 0), np.int64)
    arrays = arrays_of(nodes, none, none)
    shown = checked(library.ccrawl_walk(TABLES.address, root.mem_id, ctypes.byref(arrays)))
    texts, most = np.empty((4, shown), np.int64), np.empty((2, shown), np.int64)
    arrays = arrays_of(nodes, texts, most)
    found = library.ccrawl_blocks(
        TABLES.address, ctypes.byref(arrays), address(most[_B_NODE]), address(most[_B_FIRST]), MOST_BLOCKS
    )
    blocks = most[:, : checked(found)].copy()
    return Walk(root, nodes, texts, blocks, arrays_of(nodes, texts, blocks))


def arrays_of(nodes: Ints, texts: Ints, blocks: Ints) -> PageArrays:
    """The addresses of Walk's rows."""
    return PageArrays(
        nodes.shape[1], texts.shape[1], blocks.shape[1], address(nodes), address(texts), address(blocks)
    )


def texts_of(page: Walk, name: str, most: int) -> list[str]:
    """The text within the first `most` elements of a name of KNOWN_TAGS; of scripts, those of JSON-LD."""
    places = np.empty(most, np.uint64)
    known = KNOWN_TAGS.index(name)
    count = library.ccrawl_find_elements(
        TABLES.address, ctypes.byref(page.arrays), known, address(places), most
    )
    return [text_within(place) for place in places[:count].tolist()]
