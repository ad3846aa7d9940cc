"""What a page says about itself: title, properties and structured data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser

JSON_LIMIT = 2_000_000  # characters of one script that are looked at
_DEPTH_LIMIT = 40

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
    meta: dict[str, str] = field(default_factory=dict)  # property or name, lower case, to content
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


def read_head(tree: LexborHTMLParser, structured: list[str]) -> PageHead:
    """Read the head of `tree`, and structured data from elsewhere in it: texts of JSON-LD."""
    page = PageHead()
    if tree.head is not None:
        for node in tree.head.css("meta, title, script"):
            tag = node.tag
            if tag == "meta":
                attributes = node.attributes
                name = attributes.get("property") or attributes.get("name")
                if name:
                    page.meta.setdefault(name.lower(), attributes.get("content") or "")
            elif tag == "title" and not page.title:
                page.title = node.text()
            elif tag == "script" and "ld+json" in (node.attributes.get("type") or ""):
                structured = [*structured, node.text()]
    for text in structured:
        for item in _items(load_json(text)):
            _read_item(page, item)
    return page


def load_json(text: str) -> Any:
    """The value of a JSON text that may be wrapped in CDATA or hold raw line breaks; None when it is
    broken.
    """
    text = text[:JSON_LIMIT].strip()
    if text.startswith("<!"):
        text = re.sub(r"^<!(?:\[CDATA\[|--)|(?:\]\]|--)>$", "", text).strip()
    try:
        return json.loads(text, strict=False)
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
            stack.extend((child, depth + 1) for child in reversed(list(here.values())))
        elif isinstance(here, list):
            stack.extend((child, depth + 1) for child in reversed(here))


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
