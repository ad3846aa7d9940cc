"""Whether the nodes of the installed selectolax are laid out as lexbor.h says."""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ccrawl.errors import CcrawlError
from ccrawl.native import address, library

_PAGE = "<!DOCTYPE html><body><p class=a id=b>one<!--two--><b>three</b> four</p><ul><li>five<li><br></ul>"
_FIELDS = 8


def check_layout() -> None:
    """Compare what is read in lexbor's nodes with what selectolax says of them.

    No address is followed that was not found right. CcrawlError where something differs.
    """
    parser = LexborHTMLParser(_PAGE)
    assert parser.root is not None
    fields = np.empty(_FIELDS, np.uint64)
    for node in parser.root.traverse(include_text=True):
        library.ccrawl_node_fields(node.mem_id, address(fields))
        if fields.tolist() != _expected(node):
            from importlib import metadata

            version = metadata.version("selectolax")
            raise CcrawlError(
                f"selectolax {version} lays out a page's nodes in a way that this ccrawl can't read; "
                "install a version that ccrawl's requirements allow"
            )


def _expected(node: LexborNode) -> list[int]:
    around = (node.next, node.prev, node.parent, node.first_child, node.last_child)
    kind = 3 if node.is_text_node else 8 if node.is_comment_node else 1  # the DOM's node types
    text = (node.text_content or "").encode() if node.is_text_node else b""
    return [node.tag_id, *(other.mem_id if other is not None else 0 for other in around), kind, len(text)]
