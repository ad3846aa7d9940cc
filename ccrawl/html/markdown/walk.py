"""The walk over the tree.

`render` goes through the nodes by `first_child` and `next` with a stack of its own, so depth costs nothing but memory.
What is done at each node is little, as this loop is the cost of rendering; benchmarks/markdown.py measures it.
"""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown.elements import BLOCK, ELEMENTS, SKIP
from ccrawl.html.markdown.finish import finish
from ccrawl.html.markdown.math import is_copy
from ccrawl.html.markdown.options import RenderOptions
from ccrawl.html.markdown.tags import TEXT
from ccrawl.html.markdown.writer import PARAGRAPH, Writer

DEFAULT = RenderOptions()
_OUT_OF_SIGHT = '[hidden],[style*="none"],[style*="hidden"],script[type^="math/tex"]'


def render(node: LexborNode, base_url: str | None = None, options: RenderOptions = DEFAULT) -> str:
    """The Markdown of the subtree at `node`, without a line break at its end; "" when it has no text.

    Relative links are resolved against `base_url`, or the page's `<base href>`, itself relative to it.
    Elements that are not shown (see `_remove_hidden`) are unlinked from the tree on the way; rendering again gives the
    same. Any tree can be rendered: depth is bounded by memory only, time is linear in size.
    """
    _remove_hidden(node)
    writer = Writer(_base(node, base_url), options)
    _walk(node, writer)
    return finish(writer)


def _walk(root: LexborNode, writer: Writer) -> None:
    texts = writer.texts
    add_text = texts.append
    add_mark = writer.marks.append
    element = ELEMENTS.get
    stack: list[tuple[LexborNode, Callable[[Writer], None] | None]] = []
    push = stack.append
    pop = stack.pop
    node: LexborNode | None = root
    while True:
        if node is None:
            node, close = pop()
            if close is BLOCK:
                writer.brk = PARAGRAPH
            elif close is not None:
                close(writer)
        elif (tag := node.tag_id) == TEXT:
            text = node.text_content
            if not text or text.isspace():
                writer.ws = True
            elif writer.brk or writer.opening or writer.closed:
                writer.put(text)
            else:
                add_mark("")
                add_text(" " + text if writer.ws else text)
                writer.ws = False
        else:
            open_ = element(tag)
            if open_ is None:
                close = None
            elif open_ is BLOCK:
                writer.brk = PARAGRAPH
                close = BLOCK
            elif open_ is SKIP:
                close = SKIP
            else:
                close = open_(writer, node)
            if close is not SKIP:
                child = node.first_child
                push((node, close))
                node = child
                continue
        if not stack:
            return
        node = node.next


def _remove_hidden(root: LexborNode) -> None:
    """Unlink what a browser does not show: `hidden`, `display: none`, `visibility: hidden` in an element's own style.

    Also the visible copies of formulas whose source MathJax 2 keeps in a script behind them.
    """
    for node in root.css(_OUT_OF_SIGHT):
        attributes = node.attributes
        if "hidden" in attributes:
            hidden = attributes["hidden"] != "until-found"
        else:
            style = (attributes.get("style") or "").replace(" ", "").lower()
            hidden = "display:none" in style or "visibility:hidden" in style
        if hidden and node.mem_id != root.mem_id and node.parent is not None:
            node.decompose(recursive=False)
        elif (attributes.get("type") or "").startswith("math/tex"):
            before = node.prev
            while before is not None and before.is_element_node and is_copy(before):
                before.decompose(recursive=False)
                before = node.prev


def _base(node: LexborNode, base_url: str | None) -> str | None:
    from urllib.parse import urljoin

    head = node.parser.head
    base = head.css_first("base[href]") if head is not None else None
    href = base.attributes.get("href") if base is not None else None
    if not href:
        return base_url
    try:
        return urljoin(base_url or "", href.strip())
    except ValueError:
        return base_url
