"""Markdown of a lexbor tree: `render(node, base_url, options)`.

GitHub-flavoured CommonMark, written so that a parser reads back the same text in the same structure.
"""

from __future__ import annotations

from ccrawl.html.markdown.options import RenderOptions
from ccrawl.html.markdown.walk import render

__all__ = ["RenderOptions", "render"]
