"""Footnotes: references to notes of the page become `[^1]`, the notes `[^1]: text`.

A reference is a link to a list item of the same page that is, or holds, nothing but a superscript. The notes
are known by being referred to: so they have to come later in the page than what refers to them, as they do.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown.context import PARAGRAPH, Context
from ccrawl.html.markdown.tags import tag_number
from ccrawl.html.markdown.writer import Writer

_A = tag_number("a")
_SUP = tag_number("sup")
_LABEL = re.compile(r"[\w.\-]{1,40}")
_SIGNS = frozenset(["#", "¶", "§", "🔗", "↩", "↩︎", "↩️", "↑", "⤴", "^"])


def is_sign(node: LexborNode) -> bool:
    """Whether a link within the page is only a sign to click on: a heading's anchor, a note's way back."""
    return node.text().strip() in _SIGNS


def reference(writer: Writer, node: LexborNode) -> bool:
    """Write `<sup><a href="#note">` or `<a href="#note"><sup>` as a reference; False where it is none."""
    child = node.first_child
    if (
        child is None
        or child.next is not None
        or child.tag_id not in (_A, _SUP)
        or child.tag_id == node.tag_id
    ):
        return False
    link = child if child.tag_id == _A else node
    href = link.attrs.get("href") or ""
    note = href[1:]
    if not href.startswith("#") or note not in _notes(writer, node):
        return False
    label = writer.noted.get(note)
    if label is None:
        match = _LABEL.search(link.text())
        label = match[0] if match else str(len(writer.noted) + 1)
        if label in writer.noted.values():
            label = f"{label}-{len(writer.noted) + 1}"
        writer.noted[note] = label
    writer.put("", f"[^{label}]")
    return True


def note(writer: Writer, node: LexborNode) -> bool:
    """Begin the context of a note, if the list item is one that has been referred to."""
    label = writer.noted.get(node.id or "") if writer.noted else None
    context = writer.context
    if label is None or not context.flow:
        return False
    writer.context = Context(context, f"[^{label}]: ", context.prefix + "    ", PARAGRAPH)
    writer.brk = PARAGRAPH
    return True


def _notes(writer: Writer, node: LexborNode) -> frozenset[str]:
    """The ids of all list items of the page."""
    if writer.notes is None:
        root = node.parser.root
        items = root.css("li[id]") if root is not None else []
        writer.notes = frozenset(item.id or "" for item in items)
    return writer.notes
