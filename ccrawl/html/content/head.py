"""What a page says about itself: title, properties and structured data."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.tables import TABLES
from ccrawl.html.content.walk import Walk
from ccrawl.native import address, library

JSON_LIMIT = 2_000_000  # characters of one script that are looked at
_DEPTH_LIMIT = 40
_DECODER = json.JSONDecoder(strict=False)
# What the native part finds: a property of <meta>, or one of the others.
_PROPERTIES = tuple(library.ccrawl_properties().decode().split())
_TITLE, _HEADING, _STRUCTURED = range(len(_PROPERTIES), len(_PROPERTIES) + 3)
_ROOM, _ROOM_BYTES = 32, 32 * 1024  # for what it finds on most pages

# Kinds of structured data, each a feature of the page.
KINDS = {
    "article": "article newsarticle blogposting reportagenewsarticle liveblogposting opinionnewsarticle "
    "techarticle analysisnewsarticle scholarlyarticle",
    "product": "product productgroup offer aggregateoffer",
    "thread": "discussionforumposting qapage question answer comment",
    "list": "itemlist collectionpage searchresultspage offercatalog",
    "recipe": "recipe howto",
    "place": "localbusiness organization service event course jobposting",
}
_KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}


@dataclass(slots=True)
class PageHead:
    """The head of a page, with structured data from anywhere in it."""

    title: str = ""
    meta: dict[str, str] = field(default_factory=dict)  # properties that are used: to content
    headings: list[str] = field(default_factory=list)  # the first <h1> of the page
    kinds: set[str] = field(default_factory=set)  # of KINDS
    headline: str = ""
    bodies: list[str] = field(default_factory=list)  # articleBody, text, recipeInstructions ...

    @property
    def of_product(self) -> bool:
        """Whether the page says that it offers a product, and not that it is an article."""
        kind = self.meta.get("og:type", "").lower()
        return ("product" in self.kinds or "product" in kind) and not (
            "article" in self.kinds or "article" in kind
        )


def read_head(tree: LexborHTMLParser, page: Walk | None) -> PageHead:
    """Read the head of `tree`, and the headings and structured data of its body, which `page` is the walk of;
    None for a body that is too large.
    """
    head = PageHead()
    for kind, text in _found(tree, page):
        if kind < len(_PROPERTIES):
            head.meta[_PROPERTIES[kind]] = text
        elif kind == _TITLE:
            head.title = text
        elif kind == _HEADING:
            head.headings.append(text)
        elif kind == _STRUCTURED:
            for item in _items(load_json(text)):
                _read_item(head, item)
    return head


def _found(tree: LexborHTMLParser, page: Walk | None) -> Iterator[tuple[int, str]]:
    """What the native part finds and where it stands in the kinds above, in order."""
    node = 0 if tree.head is None else tree.head.mem_id
    arrays = None if page is None else ctypes.byref(page.arrays)
    room, size = _ROOM, _ROOM_BYTES
    while True:
        found, utf8 = np.empty(2 * room + 2, np.int64), np.empty(size, np.uint8)
        library.ccrawl_read_head(TABLES.address, node, arrays, address(found), room, address(utf8), size)
        count, used = found[:2].tolist()
        if count <= room and used <= size:
            break
        room, size = max(count, room), max(used, size)
    numbers = found[2 : 2 * count + 2].tolist()
    texts = utf8[:used].tobytes()
    start = 0
    for kind, length in zip(numbers[::2], numbers[1::2], strict=True):
        yield kind, texts[start : start + length].decode("utf-8", "replace")
        start += length


def load_json(text: str) -> Any:
    """The value of a JSON text that may be wrapped in CDATA or hold raw line breaks; None when it is
    broken.
    """
    text = text[:JSON_LIMIT].strip()
    if text.startswith("<!"):
        text = re.sub(r"^<!(?:\[CDATA\[|--)|(?:\]\]|--)>$", "", text).strip()
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _items(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in `value`, in order, to a limited depth."""
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        here, depth = stack.pop()
        if depth > _DEPTH_LIMIT:
            continue
        if isinstance(here, dict):
            yield here
            here = list(here.values())
        if isinstance(here, list):
            depth += 1
            stack += [(child, depth) for child in reversed(here) if isinstance(child, (dict, list))]


def _read_item(page: PageHead, item: dict[str, Any]) -> None:
    types = item.get("@type")
    for name in types if isinstance(types, list) else [types]:
        kind = _KIND_OF.get(name.lower()) if isinstance(name, str) else None
        if kind:
            page.kinds.add(kind)
    headline = item.get("headline")
    if isinstance(headline, str) and not page.headline:
        page.headline = headline
    for key in ("articleBody", "text", "reviewBody"):
        body = item.get(key)
        if isinstance(body, str) and len(body) > 100:
            page.bodies.append(body)
