"""What each element renders to: one small function an element, found by tag number.

A function is given the writer and the node when the walk comes to an element. It returns SKIP when it has
written the element itself, None when the children just follow, or a function to call with the writer when
they are done.
"""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown import code, footnotes, links, lists, math, tables
from ccrawl.html.markdown.context import BR, NOTHING, PARAGRAPH
from ccrawl.html.markdown.inline import EMPHASIS, OPENED
from ccrawl.html.markdown.tags import BLOCKS, COMMENT, DOCTYPE, SKIPPED, tag_number
from ccrawl.html.markdown.writer import SKIP, Close, Writer, end_block

Open = Callable[[Writer, LexborNode], Close | None]


def block(writer: Writer, node: LexborNode) -> Close:
    """An element that only stands on lines of its own. The walk knows it, and does this itself."""
    writer.brk = PARAGRAPH
    return end_block


def nothing(writer: Writer, node: LexborNode) -> Close:
    """An element that shows nothing. The walk knows it as well."""
    return SKIP


def _skipping(write: Callable[[Writer, LexborNode], None]) -> Open:
    def open_(writer: Writer, node: LexborNode) -> Close:
        write(writer, node)
        return SKIP

    return open_


def _inline(kind: str, opening: str, closing: str) -> Open:
    def open_(writer: Writer, node: LexborNode) -> Close | None:
        return Writer.close if writer.open(kind, opening, closing) else None

    return open_


def _emphasis(kind: str) -> Open:
    return _inline(kind, OPENED[kind], EMPHASIS[kind])


def superscript(writer: Writer, node: LexborNode) -> Close | None:
    """`<sup>`: as HTML, or a footnote's reference."""
    if footnotes.reference(writer, node):
        return SKIP
    return Writer.close if writer.open("sup", "<sup>", "</sup>") else None


def line_break(writer: Writer, node: LexborNode) -> None:
    """`<br>`: a hard break; two in a row are a paragraph's end, as pages of old mean them."""
    if writer.brk == NOTHING:
        writer.brk = BR
    elif writer.brk == BR:
        writer.brk = PARAGRAPH


def rule(writer: Writer, node: LexborNode) -> None:
    """`<hr>`. Right behind a list marker `---` would be one line of dashes with it."""
    if writer.context.flow:
        writer.put_block(["---" if writer.context.lead is None else "___"])


def control(writer: Writer, node: LexborNode) -> Close:
    """`<button>`, `<label>`, ...: a browser shows them apart from the text around them."""
    writer.ws = True
    return _end_control


def _end_control(writer: Writer) -> None:
    writer.ws = True


ELEMENTS: dict[int, Open] = {
    **{tag_number(name): block for name in BLOCKS.split(" ")},
    **{tag_number(name): nothing for name in SKIPPED.split(" ")},
    COMMENT: nothing,
    DOCTYPE: nothing,
    **{
        tag_number(name): function
        for names, function in (
            ("h1", lists.heading(1)),
            ("h2", lists.heading(2)),
            ("h3", lists.heading(3)),
            ("h4", lists.heading(4)),
            ("h5", lists.heading(5)),
            ("h6", lists.heading(6)),
            ("ul ol menu dir", lists.open_list),
            ("li", lists.list_item),
            ("blockquote", lists.quote),
            ("table", tables.table),
            ("tr", tables.row),
            ("td th", tables.cell),
            ("a", links.link),
            ("b strong", _emphasis("strong")),
            ("i em", _emphasis("em")),
            ("del s strike", _emphasis("del")),
            ("sub", _inline("sub", "<sub>", "</sub>")),
            ("sup", superscript),
            ("q", _inline("q", '"', '"')),
            ("rt", _inline("rt", "(", ")")),
            ("button label", control),
            ("br", _skipping(line_break)),
            ("hr", _skipping(rule)),
            ("img", _skipping(links.image)),
            ("input", _skipping(lists.checkbox)),
            ("noscript", _skipping(links.images_without_script)),
            ("pre listing xmp", _skipping(code.code_block)),
            ("code kbd samp tt", _skipping(code.inline_code)),
            ("math", _skipping(math.math_element)),
            ("script", _skipping(math.math_script)),
        )
        for name in names.split(" ")
    },
}
