"""Lists, quotes and headings: what has a mark before its first line, and an indentation after it."""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown import footnotes
from ccrawl.html.markdown.context import MAX_DEPTH, NEXT_LINE, PARAGRAPH, Context, List
from ccrawl.html.markdown.escape import HASH
from ccrawl.html.markdown.tags import TEXT, tag_number
from ccrawl.html.markdown.writer import Close, Writer, end_block

_LI = tag_number("li")
_P = tag_number("p")
_OL = tag_number("ol")
_LARGEST = 999_999_999  # more digits are no list number in CommonMark
_INTEGER = re.compile(r"\s*([+-]?\d{1,12})")
_UNDERLINED = "\udc05"  # stands for the lead of a heading until it is known whether it can be underlined
_CLOSING_HASHES = re.compile(r"(?:^|(?<=\s))#+\s*$")


def open_list(writer: Writer, node: LexborNode) -> Close:
    """`<ul>`, `<ol>`, `<menu>`, `<dir>`. A list directly inside a list belongs to the item before it."""
    context = writer.context
    if not context.flow:
        writer.brk = PARAGRAPH
        return end_block
    outer = writer.list
    writer.saved.append((context, outer))
    if outer is not None and outer.context is context and outer.item is not None:
        context = writer.context = outer.item
    ordered = node.tag_id == _OL
    number, step = _numbering(node) if ordered else (1, 1)
    marker = "." if ordered else "-"
    if context.closed_list == (marker, len(writer.texts)):
        marker = (
            ")" if ordered else "*"
        )  # a list right behind another of its kind: the marker tells them apart
    if outer is not None and outer.tight and context is outer.item:
        writer.brk = NEXT_LINE
    else:
        writer.brk = PARAGRAPH
    writer.list = List(context, marker, number, step, not _starts_with_paragraph(node), writer.brk)
    return close_list


def close_list(writer: Writer) -> None:
    closed = writer.list
    assert closed is not None
    if closed.has_text():
        closed.context.closed_list = (closed.marker, len(writer.texts))
    writer.context, writer.list = writer.saved.pop()
    writer.brk = PARAGRAPH


def _numbering(node: LexborNode) -> tuple[int, int]:
    attributes = node.attributes
    start = _integer(attributes.get("start"))
    if "reversed" not in attributes:
        return (1 if start is None else start), 1
    if start is None:
        start = sum(1 for child in node.iter() if child.tag_id == _LI)
    return start, -1


def _integer(value: str | None) -> int | None:
    match = _INTEGER.match(value) if value else None
    return int(match[1]) if match else None


def _starts_with_paragraph(node: LexborNode) -> bool:
    """Whether the first item does, which makes the list a loose one: items with blank lines between."""
    item = node.first_child
    while item is not None and item.tag_id != _LI:
        item = item.next
    child = item.first_child if item is not None else None
    while child is not None and (child.tag_id == TEXT and not (child.text_content or "").strip()):
        child = child.next
    return child is not None and child.tag_id == _P


def list_item(writer: Writer, node: LexborNode) -> Close:
    """`<li>`: a context of its own, behind its marker."""
    if writer.noted and footnotes.note(writer, node):
        return end_context
    context = writer.context
    current = writer.list
    if not context.flow or context.depth >= MAX_DEPTH:
        writer.brk = max(writer.brk, NEXT_LINE if context.flow else PARAGRAPH)
        return end_block
    if current is None or current.context is not context:
        current = List(context, "-", 1, 1, False, PARAGRAPH)
    if current.marker in ".)":
        value = _integer(node.attrs.get("value"))
        if value is not None:
            current.number = value
        lead = f"{min(max(current.number, 0), _LARGEST)}{current.marker} "
        current.number += current.step
    else:
        lead = current.marker + " "
    if current.has_text():
        separator = NEXT_LINE if current.tight else PARAGRAPH
    elif current.marker in ".)" and lead[:-2] != "1":
        separator = PARAGRAPH  # only a list that starts at 1 can follow a line of text
    else:
        separator = current.separator
    item = Context(context, lead, context.prefix + " " * len(lead), separator)
    current.item = writer.context = item
    writer.brk = PARAGRAPH
    return end_context


def end_context(writer: Writer) -> None:
    """Leave the innermost context."""
    parent = writer.context.parent
    assert parent is not None
    writer.context = parent
    writer.brk = PARAGRAPH


def checkbox(writer: Writer, node: LexborNode) -> None:
    """`<input>`: nothing, except a check box where a list item begins, which makes it a task."""
    context = writer.context
    writer.ws = True
    if context.lead is None or context.lead[-2:] not in ("- ", "* "):
        return
    attributes = node.attributes
    if (attributes.get("type") or "").lower() == "checkbox":
        context.lead += "[x] " if "checked" in attributes else "[ ] "


def quote(writer: Writer, node: LexborNode) -> Close:
    """`<blockquote>`."""
    context = writer.context
    if not context.flow or context.depth >= MAX_DEPTH:
        writer.brk = PARAGRAPH
        return end_block
    writer.context = Context(context, "> ", context.prefix + "> ", PARAGRAPH)
    writer.brk = PARAGRAPH
    return end_context


def heading(level: int) -> Callable[[Writer, LexborNode], Close]:
    """`<h1>` to `<h6>`: one line."""

    def open_heading(writer: Writer, node: LexborNode) -> Close:
        context = writer.context
        writer.brk = PARAGRAPH
        if not context.flow:
            return end_block
        underlined = level < 3 and writer.options.headings == "setext"
        lead = _UNDERLINED if underlined else "#" * level + " "
        writer.context = Context(context, lead, context.prefix, PARAGRAPH).one_line(" ")
        if not underlined:
            return end_heading
        writer.context.line_starts = True
        writer.saved.append(len(writer.texts))
        return end_underlined_1 if level == 1 else end_underlined_2

    return open_heading


def end_heading(writer: Writer) -> None:
    """A last word of number signs would be read as the end of the heading."""
    texts = writer.texts
    if writer.context.lead is None and texts[-1][-1:] == "#":
        match = _CLOSING_HASHES.search(texts[-1])
        if match:
            texts[-1] = texts[-1][: match.start()] + HASH + texts[-1][match.start() + 1 :]
    end_context(writer)


def end_underlined_1(writer: Writer) -> None:
    _underline(writer, "# ", "===")


def end_underlined_2(writer: Writer) -> None:
    _underline(writer, "## ", "---")


def _underline(writer: Writer, lead: str, line: str) -> None:
    """A line with a bar and a line of dashes would be a table: such a heading gets number signs after all."""
    start = writer.saved.pop()
    if writer.context.lead is None:
        writer.settle()
        has_bar = any("|" in part for part in writer.marks[start:] + writer.texts[start:])
        writer.marks[start] = writer.marks[start].replace(_UNDERLINED, lead if has_bar else "")
        if not has_bar:
            writer.marks.append(f"\n{writer.context.prefix}{line}")
            writer.texts.append("")
    end_context(writer)
