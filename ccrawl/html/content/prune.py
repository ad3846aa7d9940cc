"""Cutting what was not kept out of the tree."""

from __future__ import annotations

import numpy as np

from ccrawl.html.content.walk import TAG_BIT, TAG_ID, Flags, Ints, Walk

_HEADINGS = np.uint64(sum(TAG_BIT[f"h{level}"] for level in range(1, 7)))
HIDING = ("hidden", "aria-hidden", "style")


def prune(page: Walk, keep: Flags, prose: Flags) -> None:
    """Remove every block that is not to be kept, with the largest subtrees that hold nothing else.

    A subtree that never had text (a rule, an embedded frame) stays where it stands between kept text and
    goes with the text around it elsewhere; of pictures, see `_decorations`. `prose` tells the blocks that
    are running text.
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
        dead[_decorations(page, kept_nodes, prose[page.t_block[t_keep]], n_kept)] = True
        for index in np.flatnonzero(page.n_hidden & (n_kept > 0)).tolist():
            _reveal(page, index)
    dead[0] = False
    topmost = dead & ~dead[page.n_parent]
    for index in np.flatnonzero(topmost).tolist():
        page.nodes[index].decompose()
    # A page that shows its text to browsers without scripts only: the renderer would skip the element.
    for index in np.flatnonzero((page.n_tag == TAG_ID["noscript"]) & (n_kept > 0)).tolist():
        page.nodes[index].unwrap()


def _decorations(page: Walk, kept: Ints, prose: Flags, n_kept: Ints) -> Ints:
    """Pictures that are not part of the text: icons of cards, logos of clients, covers of other articles.

    A picture belongs to the text when its figure has a caption that stays, when running text follows it
    after running text or a heading, or when it stands in a paragraph or figure after running text.
    """
    pictures: Ints = np.flatnonzero(page.n_tag == TAG_ID["img"])
    pictures = pictures[(pictures > kept[0]) & (pictures < kept[-1])]
    if not len(pictures):
        return pictures
    after = np.searchsorted(kept, pictures)
    previous = kept[after - 1]
    heading = (page.n_tags[previous] & _HEADINGS) > 0
    parent = page.n_parent[pictures]
    around = np.stack([parent, page.n_parent[parent], page.n_parent[page.n_parent[parent]]])
    figure: Flags = page.n_tag[around] == TAG_ID["figure"]
    captioned = (figure & (n_kept[around] > 0)).any(0)
    placed = figure.any(0) | (page.n_tag[around[:2]] == TAG_ID["p"]).any(0)
    told = prose[after - 1]
    belongs: Flags = captioned | (prose[after] & (told | heading)) | (placed & told)
    decorations: Ints = pictures[~belongs]
    return decorations


def _reveal(page: Walk, index: int) -> None:
    """Take away what hides an element, since text inside it was kept."""
    attributes = page.nodes[index].attrs
    for name in HIDING:
        if name in attributes:
            del attributes[name]
