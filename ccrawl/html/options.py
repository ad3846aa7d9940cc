"""What a caller may choose about the text that is made of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ccrawl.html.content import Favor


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """How links, images and headings are written.

    links: keep `[text](url)`, drop the destination and keep the text, or `[text][n]` with the destinations
        listed at the end (reference).
    images: keep `![alt](url)`, only the alternative text (alt), or nothing (drop).
    headings: `# Title` (atx), or underlined for the first two levels (setext).
    """

    links: Literal["keep", "drop", "reference"] = "keep"
    images: Literal["keep", "alt", "drop"] = "keep"
    headings: Literal["atx", "setext"] = "atx"


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """Where users differ; the defaults are what the benchmarks measure.

    favor: keep less (precision) or more (recall) where it is unclear what is main content
    render: how links, images and headings are written
    """

    favor: Favor = "balanced"
    render: RenderOptions = field(default_factory=RenderOptions)
