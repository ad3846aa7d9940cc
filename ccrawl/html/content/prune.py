"""Cutting what was not kept out of the tree."""

from __future__ import annotations

import numpy as np

from ccrawl.html.content.walk import TAG_ID, Flags, Walk

HIDING = ("hidden", "aria-hidden", "style")


def prune(page: Walk, keep: Flags) -> None:
    """Remove every block whose flag is not set, with the largest subtrees that hold nothing else.

    A subtree that never had text (a picture, a rule) stays where it stands between kept text and goes with the
    text around it elsewhere.
    """
    if not len(keep):
        return
    size = len(page.nodes)
    t_keep = keep[page.t_block]
    sums = np.zeros((2, size + 1), np.int64)
    kept = np.zeros(size, np.int64)
    kept[page.t_node] = t_keep
    shown = np.zeros(size, np.int64)
    shown[page.t_node] = 1
    np.cumsum(kept, out=sums[0, 1:])
    np.cumsum(shown, out=sums[1, 1:])
    start = np.arange(size)
    n_kept = sums[0, page.n_end] - sums[0, start]
    n_shown = sums[1, page.n_end] - sums[1, start]

    dead = (n_kept == 0) & (n_shown > 0)
    kept_nodes = page.t_node[t_keep]
    if len(kept_nodes):
        outside = (page.n_end <= kept_nodes[0]) | (start > kept_nodes[-1])
        dead |= outside & (n_shown == 0)
        for index in np.flatnonzero(page.n_hidden & (n_kept > 0)).tolist():
            _reveal(page, index)
    dead[0] = False
    topmost = dead & ~dead[page.n_parent]
    for index in np.flatnonzero(topmost).tolist():
        page.nodes[index].decompose()
    # A page that shows its text to browsers without scripts only: the renderer would skip the element.
    for index in np.flatnonzero((page.n_tag == TAG_ID["noscript"]) & (n_kept > 0)).tolist():
        page.nodes[index].unwrap()


def _reveal(page: Walk, index: int) -> None:
    """Take away what hides an element, since text inside it was kept."""
    attributes = page.nodes[index].attrs
    for name in HIDING:
        if name in attributes:
            del attributes[name]
