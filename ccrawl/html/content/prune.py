"""Cutting what was not kept out of the tree."""

from __future__ import annotations

import ctypes

from ccrawl.html.content.tables import TABLES
from ccrawl.html.content.walk import Flags, Walk
from ccrawl.native import address, checked, library


def prune(page: Walk, keep: Flags, prose: Flags) -> None:
    """Remove every block that is not to be kept, with the largest subtrees that hold nothing else.

    A subtree that never had text (a rule, an embedded frame) stays where it stands between kept text and
    goes with the text around it elsewhere. A picture between kept text may be an icon of a card, a client's
    logo, another article's cover: it stays when its figure has a caption that stays, when running text
    follows it after running text or a heading, or when it stands in a paragraph or figure after running text.
    `prose` tells the blocks that are running text.

    What hides an element is taken away where text inside it was kept, and so is `<noscript>` around it.
    """
    if len(keep):
        checked(
            library.ccrawl_prune(TABLES.address, ctypes.byref(page.arrays), address(keep), address(prose))
        )
