"""What main-content extraction returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from selectolax.lexbor import LexborNode

Favor = Literal["balanced", "precision", "recall"]


@dataclass(frozen=True, slots=True)
class Removed:
    """One block that was dropped."""

    reason: str  # "navigation", "consent notice", "low score 0.12", ...
    text: str  # its beginning
    path: str  # "body > div.wrap > nav > ul > li"


@dataclass(frozen=True, slots=True)
class Content:
    """The main content of a page."""

    node: LexborNode  # what to render; its tree has been pruned
    title: str  # the page's own title, "" when it has none
    markdown: str | None = None  # the text itself, when it is not in the tree; `node` is then meaningless
    source: str = "html"  # "html", "json-ld", "embedded-json", "noframes"
    removed: tuple[Removed, ...] = ()  # only when an explanation was asked for
