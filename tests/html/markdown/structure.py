"""The structure of a document, two ways: from the tree that its HTML is made of, and from Markdown by
markdown-it.

Both give the same normal form, which is what "the same text in the same structure" means here:

block   ("p", inline) ("h", level, inline) ("code", language, text) ("hr",) ("quote", blocks) ("list",
ordered, start, [blocks of an item, ...]) ("table", [[inline of a cell, ...], ...]) inline  a list of (text,
styles, destination) runs; ("\n", ...) is a hard break, ("img", source, alternative) a picture

Normalised: white space is collapsed and trimmed at the ends of a line; a space has no style and no
destination of its own (browsers show none, and Markdown puts markers on words); styles are a set, so nesting
order and doubled elements don't count; what is empty is not there; a table without a head has an empty first
row; whether a list is loose is not compared. A link over several blocks links the first that has text.
"""

from __future__ import annotations

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

STYLES = {
    "strong": "strong",
    "em": "em",
    "del": "del",
    "s": "del",
    "sub": "sub",
    "sup": "sup",
    "code": "code",
}
Run = tuple[Any, ...]


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 500}).enable(["table", "strikethrough"])


class Target:
    """Where a link of the tree points. `written`: it has had text in a block, so that further blocks are not
    linked.
    """

    def __init__(self, href: str) -> None:
        self.href = href
        self.written = False


class Line:
    """Collects styled characters, then gives runs."""

    def __init__(self) -> None:
        self.items: list[Run] = []

    def text(self, text: str, styles: frozenset[str], destination: str | None) -> None:
        for character in text:
            self.items.append((character, styles, destination))

    def runs(self) -> list[Run]:
        plain = (frozenset(), None)
        items: list[Run] = []
        for item in self.items:
            if item[0] in (" ", "\t", "\n"):
                if item[0] == "\n" and item[1] == "br":
                    while items and items[-1][0] == " ":
                        items.pop()
                    if items and items[-1][0] != "\n":
                        items.append(("\n", *plain))
                elif items and items[-1][0] not in (" ", "\n"):
                    items.append((" ", *plain))
            else:
                items.append(item)
        while items and items[-1][0] in (" ", "\n"):
            items.pop()
        runs: list[Run] = []
        for item in items:
            if isinstance(item[-1], Target):
                item = (*item[:-1], item[-1].href)
            if runs and item[0] != "img" and runs[-1][0] != "img" and runs[-1][1:] == item[1:]:
                runs[-1] = (runs[-1][0] + item[0], *item[1:])
            else:
                runs.append(item)
        return runs


# ---- from the tree: nodes are ("tag", {attributes}, [children]) or text
# ----------------------------------------


def to_html(node: Any) -> str:
    if isinstance(node, str):
        return node.replace("&", "&amp;").replace("<", "&lt;").replace("\u00a0", "&nbsp;")
    tag, attributes, children = node
    start = tag + "".join(f' {name}="{value}"' for name, value in attributes.items())
    if tag in ("br", "hr", "img"):
        return f"<{start}>"
    return f"<{start}>{''.join(map(to_html, children))}</{tag}>"


def of_tree(nodes: list[Any], one_line: bool = False) -> list[Any]:
    """The blocks of a tree. Inline content between blocks is a paragraph; two `<br>` in a row end one."""
    blocks: list[Any] = []
    line = Line()

    def flush(kind: tuple[Any, ...] = ("p",)) -> None:
        nonlocal line
        runs = line.runs()
        for item in line.items:
            if item[0] != "img" and item[2]:
                item[2].written = True
        line = Line()
        if runs:
            blocks.append((*kind, runs))

    def inline(node: Any, styles: frozenset[str], destination: Target | None, breaks: bool) -> None:
        if destination is not None and destination.written:
            destination = None
        if isinstance(node, str):
            line.text(node, styles, destination)
            return
        tag, attributes, children = node
        if tag == "br":
            if not breaks:
                line.text(" ", frozenset(), None)
            elif any(item[0] not in (" ", "\t", "\n") for item in line.items):
                tail = [item for item in line.items if item[1] == "br" or item[0] not in (" ", "\t", "\n")]
                if tail[-1][0] == "\n" and tail[-1][1] == "br":
                    if not one_line:
                        flush()
                else:
                    line.items.append(("\n", "br", None))
        elif tag == "img":
            line.items.append(("img", attributes["src"], attributes["alt"], destination))
        elif tag == "code":
            text = " ".join("".join(children).split())
            if "".join(children)[:1].isspace():
                line.text(" ", frozenset(), None)
            line.text(text, styles | {"code"}, destination)
            if "".join(children)[-1:].isspace():
                line.text(" ", frozenset(), None)
        else:
            style = {STYLES[tag]} if tag in STYLES else set()
            target = Target(attributes["href"]) if tag == "a" else destination
            for child in children:
                inline(child, styles | style, target, breaks)

    for node in nodes:
        tag = "" if isinstance(node, str) else node[0]
        if tag not in (
            "p",
            "div",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "pre",
            "hr",
            "blockquote",
            "ul",
            "ol",
            "table",
        ):
            inline(node, frozenset(), None, True)
            continue
        flush()
        _, attributes, children = node
        if tag in ("p", "div"):
            blocks.extend(of_tree(children))
        elif tag[0] == "h" and tag != "hr":
            for child in children:
                inline(child, frozenset(), None, False)
            flush(("h", int(tag[1])))
        elif tag == "pre":
            text = re.sub(r"[ \t]+(?=\n|$)", "", "".join(children)).strip("\n")
            if text:
                blocks.append(("code", attributes.get("class", "")[9:], text))
        elif tag == "hr":
            blocks.append(("hr",))
        elif tag == "blockquote":
            inner = of_tree(children)
            if inner:
                blocks.append(("quote", inner))
        elif tag in ("ul", "ol"):
            items = [of_tree(item[2]) for item in children]
            start = int(attributes.get("start", 1)) + next((i for i, item in enumerate(items) if item), 0)
            items = [item for item in items if item]
            if items:
                blocks.append(("list", tag == "ol", start if tag == "ol" else 1, items))
        else:
            blocks.extend(_table(children))
    flush()
    return blocks


def _table(rows: list[Any]) -> list[Any]:
    width = max(len(row[2]) for row in rows)
    if len(rows) < 2 or width < 2:
        return [block for row in rows for cell in row[2] for block in of_tree(cell[2])]
    cells = [[_one_line(cell[2]) for cell in row[2]] for row in rows]
    if not any(any(row) for row in cells):
        return []
    if any(cell[0] != "th" for cell in rows[0][2]):
        cells.insert(0, [])
    return [("table", [row + [[]] * (width - len(row)) for row in cells])]


def _one_line(nodes: list[Any]) -> list[Run]:
    blocks = of_tree(nodes, one_line=True)
    return blocks[0][1] if blocks else []


# ---- from Markdown
# ---------------------------------------------------------------------------------------------


def of_markdown(markdown: str) -> list[Any]:
    """The blocks that markdown-it reads."""
    return _blocks(SyntaxTreeNode(parser().parse(markdown)).children)


def _blocks(nodes: list[SyntaxTreeNode]) -> list[Any]:
    blocks: list[Any] = []
    for node in nodes:
        if node.type == "paragraph":
            blocks.append(("p", _inline(node)))
        elif node.type == "heading":
            blocks.append(("h", int(node.tag[1]), _inline(node)))
        elif node.type == "fence":
            blocks.append(("code", node.info, node.content.removesuffix("\n")))
        elif node.type == "hr":
            blocks.append(("hr",))
        elif node.type == "blockquote":
            blocks.append(("quote", _blocks(node.children)))
        elif node.type in ("bullet_list", "ordered_list"):
            ordered = node.type == "ordered_list"
            start = int(node.attrs.get("start", 1)) if ordered else 1
            blocks.append(("list", ordered, start, [_blocks(item.children) for item in node.children]))
        elif node.type == "table":
            rows = [row for section in node.children for row in section.children]
            blocks.append(("table", [[_inline(cell) for cell in row.children] for row in rows]))
        else:
            blocks.append((node.type, node.content))
    return blocks


def _inline(block: SyntaxTreeNode) -> list[Run]:
    line = Line()
    html: list[str] = []

    def visit(node: SyntaxTreeNode, styles: frozenset[str], destination: str | None) -> None:
        if node.type == "text":
            line.text(node.content, styles | frozenset(html), destination)
        elif node.type == "softbreak":
            line.text(" ", styles, destination)
        elif node.type == "hardbreak":
            line.items.append(("\n", "br", None))
        elif node.type == "code_inline":
            line.text(node.content, styles | {"code"} | frozenset(html), destination)
        elif node.type == "image":
            line.items.append(("img", node.attrs["src"], _alt(node), destination))
        elif node.type == "html_inline":
            name = node.content.strip("</>")
            if name == "br":
                line.items.append(("\n", "br", None))
            elif node.content.startswith("</"):
                html.remove(STYLES[name])
            else:
                html.append(STYLES[name])
        else:
            style = {STYLES[node.type]} if node.type in STYLES else set()
            target = str(node.attrs["href"]) if node.type == "link" else destination
            for child in node.children:
                visit(child, styles | style, target)

    for inline in block.children:
        for child in inline.children:
            visit(child, frozenset(), None)
    assert not html
    return line.runs()


def _alt(node: SyntaxTreeNode) -> str:
    return "".join(child.content for child in node.children)
