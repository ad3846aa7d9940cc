"""Markdown of a lexbor tree: `render(node, base_url, options)`.

GitHub-flavoured CommonMark, written so that a parser reads back the same text in the same structure. The
renderer itself is native (ccrawl/native/render_*.c, one file a group of elements); here it is told its tables
and called.
"""

from __future__ import annotations

from ccrawl.html.markdown.renderer import render
from ccrawl.html.options import RenderOptions

__all__ = ["RenderOptions", "render"]
