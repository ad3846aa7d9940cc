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
from ctypes import c_int64
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborNode

from ccrawl.html.content.tables import TABLES
from ccrawl.native import PageArrays, address, checked, library

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
_NODE_ROWS, _TEXT_ROWS, _BLOCK_ROWS = 9, 4, 2


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
        blocks: int = self.block_rows.shape[1]
        return blocks

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


def walk(root: LexborNode) -> Walk | None:
    """Flatten the subtree of `root`, an element; None when it has more than MOST_NODES nodes."""
    sizes = (c_int64 * 2)()
    library.ccrawl_measure(TABLES.address, root.mem_id, MOST_NODES, sizes)
    nodes, texts = sizes
    if nodes > MOST_NODES:
        return None
    # One piece of memory; behind the rows of nodes and texts there is room for a block a text.
    rows = np.empty(_NODE_ROWS * nodes + (_TEXT_ROWS + _BLOCK_ROWS) * texts, np.int64)
    to_texts = _NODE_ROWS * nodes
    to_blocks = to_texts + _TEXT_ROWS * texts
    start = address(rows)
    places = (start, start + rows.itemsize * to_texts, start + rows.itemsize * to_blocks)
    arrays = PageArrays(nodes, texts, texts, *places)
    blocks = checked(library.ccrawl_walk(TABLES.address, root.mem_id, ctypes.byref(arrays), MOST_BLOCKS))
    arrays.blocks = blocks
    return Walk(
        root,
        rows[:to_texts].reshape(_NODE_ROWS, nodes),
        rows[to_texts:to_blocks].reshape(_TEXT_ROWS, texts),
        rows[to_blocks : to_blocks + _BLOCK_ROWS * blocks].reshape(_BLOCK_ROWS, blocks),
        arrays,
    )


def arrays_of(nodes: Ints, texts: Ints, blocks: Ints) -> PageArrays:
    """The addresses of Walk's rows."""
    return PageArrays(
        nodes.shape[1], texts.shape[1], blocks.shape[1], address(nodes), address(texts), address(blocks)
    )
