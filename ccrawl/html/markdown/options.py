"""What a caller may choose about the Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
