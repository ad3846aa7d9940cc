"""The walk over the tree.

`render` goes through the nodes by `first_child` and `next` with a stack of its own, so depth costs nothing
but memory. This loop is most of the cost of rendering, so little is done at each node. Measured on whole
pages of 2,100 nodes, as multiples of their parse (0.45 ms; benchmarks/markdown.py): visiting the nodes and
reading their tags 0.4, reading and stripping the texts 0.3, links 0.9 (150 of them: attributes 0.2,
destinations 0.2), images 0.25, items 0.25. `traverse()` costs less a node but does not say where an element
ends; asking for the parent or comparing the next sibling costs what it saves. Compiled by mypyc, all of it
takes 0.7 of the time.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown.context import PARAGRAPH
from ccrawl.html.markdown.elements import ELEMENTS, block, nothing
from ccrawl.html.markdown.finish import finish
from ccrawl.html.markdown.options import RenderOptions
from ccrawl.html.markdown.tags import TEXT, tag_number
from ccrawl.html.markdown.writer import SKIP, Close, Writer, end_block

DEFAULT = RenderOptions()
_BODY = tag_number("body")
_OUT_OF_SIGHT = '[hidden],[style*="none"],[style*="hidden"]'
_HIDING = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def render(node: LexborNode, base_url: str | None = None, options: RenderOptions = DEFAULT) -> str:
    """The Markdown of the subtree at `node`, without a line break at its end; "" when it has no text.

    Relative links are resolved against `base_url`, or the page's `<base href>`, itself relative to it.
    Elements that are not shown (see `remove_hidden`) are unlinked from the tree on the way; rendering again
    gives the same. Any tree can be rendered: depth is bounded by memory only, time is linear in size.
    """
    remove_hidden(node)
    base = _base(node, base_url)
    writer = Writer(base, options)
    write(node, writer)
    if writer.found_copies:  # of formulas, after they had been written: they are out of the tree now
        writer = Writer(base, options)
        write(node, writer)
    return finish(writer)


def write(root: LexborNode, writer: Writer) -> None:
    """Give `writer` the subtree at `root`."""
    add_text = writer.texts.append
    add_mark = writer.marks.append
    put = writer.put
    element = ELEMENTS.get
    text_tag, paragraph, skip = TEXT, PARAGRAPH, SKIP  # locals are read faster
    stack: list[tuple[LexborNode, Close | None]] = []
    push = stack.append
    pop = stack.pop
    node: LexborNode | None = root
    while True:
        if node is None:
            node, close = pop()
            if close is not None:
                if close is end_block:
                    writer.brk = paragraph
                else:
                    close(writer)
        elif (tag := node.tag_id) == text_tag:
            if node.is_empty_text_node:
                writer.ws = True
            elif words := (text := node.text_content or "").strip():
                if len(words) == len(text):
                    if writer.brk or writer.opening or writer.closed or writer.tail:
                        put(words)
                    else:
                        add_mark(" " if writer.ws else "")
                        add_text(words)
                        writer.ws = False
                else:
                    if text[0] != words[0]:
                        writer.ws = True
                    put(words)
                    writer.ws = text[-1] != words[-1]
            else:
                writer.ws = True
        else:
            open_ = element(tag)
            if open_ is None:
                close = None
            elif open_ is block:
                writer.brk = paragraph
                close = end_block
            elif open_ is nothing:
                close = skip
            else:
                close = open_(writer, node)
            if close is not skip and (child := node.first_child) is not None:
                push((node, close))
                node = child
                continue
            if close is not None and close is not end_block and close is not skip:
                close(writer)
        if not stack:
            return
        node = node.next


def remove_hidden(root: LexborNode) -> None:
    """Unlink what is not shown: `hidden`; `display: none` and `visibility: hidden` in an element's style.

    The body stays: pages that hide it show it by script. `hidden=until-found` is shown by a search.
    """
    for node in root.css(_OUT_OF_SIGHT):
        attributes = node.attributes
        hidden = "hidden" in attributes and attributes["hidden"] != "until-found"
        style = attributes.get("style")
        hidden = hidden or bool(style and _HIDING.search(style))
        if hidden and node.mem_id != root.mem_id and node.tag_id != _BODY:
            node.decompose(recursive=False)


def _base(node: LexborNode, base_url: str | None) -> str | None:
    head = node.parser.head
    base = head.css_first("base[href]") if head is not None else None
    href = base.attributes.get("href") if base is not None else None
    if not href:
        return base_url
    try:
        return urljoin(base_url or "", href.strip())
    except ValueError:
        return base_url
