"""Links and images."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown import footnotes
from ccrawl.html.markdown.characters import plain
from ccrawl.html.markdown.escape import CLOSE_BRACKET, OPEN_BRACKET, escape
from ccrawl.html.markdown.math import math_image
from ccrawl.html.markdown.tags import TEXT, tag_number
from ccrawl.html.markdown.writer import SKIP, Close, Writer

_SOURCES = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-original-src", "src")
_SOURCE_SETS = ("data-srcset", "srcset", "data-lazy-srcset")
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
_CANDIDATE = re.compile(r"[\s,]*(\S*[^\s,])")


def link(writer: Writer, node: LexborNode) -> Close | None:
    """`<a>`: its text in brackets, unless it leads nowhere or links are not wanted."""
    attributes = node.attributes
    href = attributes.get("href")
    if not href:
        return None
    if href[0] == "#":
        return SKIP if footnotes.reference(writer, node) or footnotes.is_sign(node) else None
    closing = _closing(writer, href, attributes.get("title"))
    if not closing:
        return None
    child = node.first_child
    if child is not None and child.tag_id == TEXT and not writer.inlines and child.next is None:
        _plain_link(writer, child.text_content or "", closing)
        return SKIP
    return Writer.close if writer.open("a", "[", closing) else None


def open_link(writer: Writer, node: LexborNode) -> bool:
    """Open `<a>` for content that the caller writes; False where it is no link."""
    attributes = node.attributes
    closing = _closing(writer, attributes.get("href") or "", attributes.get("title"))
    return bool(closing) and writer.open("a", "[", closing)


def _closing(writer: Writer, href: str, title: str | None) -> str:
    """What stands after the text of a link, "" where it leads nowhere."""
    destination = writer.destinations.get(href)
    links = writer.options.links
    if not destination or links == "drop":
        return ""
    if links == "reference":
        return f"][{writer.references.setdefault(destination, len(writer.references) + 1)}]"
    return f"]({destination}{_title(title)})" if title else f"]({destination})"


def _plain_link(writer: Writer, text: str, closing: str) -> None:
    """A link that holds one text, as most do: written at once."""
    words = text.strip()
    if not words:
        writer.ws = writer.ws or bool(text)
        return
    if text[0] != words[0]:
        writer.ws = True
    trailing = text[-1] != words[-1]
    if "[" in words or "]" in words:
        words = words.replace("[", OPEN_BRACKET).replace("]", CLOSE_BRACKET)
    before = len(writer.texts)
    writer.put(words, "[")
    if len(writer.texts) > before:
        writer.tail = closing
        writer.ws = trailing


def _title(text: str) -> str:
    text = _ENTITY.sub("&amp;", plain(text).replace("\\", "\\\\").replace('"', '\\"'))
    return f' "{text}"' if text else ""


def image(writer: Writer, node: LexborNode) -> None:
    """`<img>`: alternative text and source; only the text where the source is the image itself (`data:`)."""
    show = writer.options.images
    if show == "drop":
        return
    attributes = node.attributes
    if attributes.get("class") and math_image(writer, attributes):
        return
    alt = plain(attributes.get("alt") or "")
    if attributes.get("width") in _DOT and attributes.get("height") in _DOT:
        return  # a counter, not a picture
    if show == "keep":
        destination = source(writer, attributes)
        if destination:
            writer.images.add(destination)
            writer.pictures.add(len(writer.texts))
            writer.put("", f"![{_alternative(alt)}]({destination})")
            return
    if alt:
        writer.put(alt)


_PLAIN = re.compile(r"[^\\*_`<&\[\]~]*")  # most alternatives have nothing to escape
_IMG = tag_number("img")
_DOT = frozenset(["0", "1", "0px", "1px"])


def _alternative(alt: str) -> str:
    if _PLAIN.fullmatch(alt):
        return alt
    return escape(alt.replace("[", OPEN_BRACKET).replace("]", CLOSE_BRACKET))


def source(writer: Writer, attributes: Mapping[str, str | None]) -> str:
    """Where the picture is: what a script would load (`data-src`, ...) before the placeholder in `src`."""
    for name in _SOURCES:
        value = attributes.get(name)
        if value and not value.lstrip().startswith("data:"):
            destination = writer.destinations.get(value)
            if destination:
                return destination
    for name in _SOURCE_SETS:
        value = attributes.get(name)
        match = _CANDIDATE.match(value) if value else None
        if match and not match[1].startswith("data:"):
            return writer.destinations.get(match[1])
    return ""


def images_without_script(writer: Writer, node: LexborNode) -> None:
    """`<noscript>`: nothing of it but the images that a script would load, unless they have been written."""
    for picture in node.traverse():
        if picture.tag_id == _IMG and source(writer, picture.attributes) not in writer.images:
            image(writer, picture)
