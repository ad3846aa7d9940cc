"""What a caller may choose about the text that is made of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ccrawl.html.markdown.options import RenderOptions

if TYPE_CHECKING:
    from ccrawl.html.content import Favor


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """Where users differ; the defaults are what the benchmarks measure.

    favor: keep less (precision) or more (recall) where it is unclear what is main content
    render: how links, images and headings are written
    """

    favor: Favor = "balanced"
    render: RenderOptions = field(default_factory=RenderOptions)
