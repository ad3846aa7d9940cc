#!/usr/bin/env python3
"""Write docs/reference/markdown.md from the examples that the tests of the renderer hold.

python scripts/document_markdown.py
"""

from __future__ import annotations

import sys
from html import escape
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "markdown.md"
sys.path.insert(0, str(ROOT))

from tests.html.markdown.examples import BASE, EXAMPLES, Example  # noqa: E402

HEAD = f"""# How HTML becomes Markdown

<!-- Written by scripts/document_markdown.py from tests/html/markdown/examples.py. -->

ccrawl writes GitHub-flavoured Markdown (CommonMark 0.31 with tables, strikethrough, task lists and
footnotes) such that a parser reads back the same text in the same structure. That is a property of the
test suite: random documents are rendered, read by markdown-it, and compared. The comparison normalises
white space at the ends of lines and next to markers, the nesting order of inline elements, whether a list
is loose, and a link over several blocks.

Two constructs are beyond CommonMark and GFM as they stand: formulas between dollar signs, which GitHub
and most readers of Markdown know, and footnotes. Where Markdown has no notation, inline HTML without
attributes is used: `<sub>`, `<sup>`, `<br>` in tables, and `<strong>`, `<em>`, `<del>` where delimiters
would not be read as such.

Depth has no limit, but quotes and lists nested more than 16 deep add no further indentation. Time is
linear in the size of the page.

In the command line and the Python API (`RenderOptions`), `links` is `keep`, `drop` (their text only) or
`reference` (destinations listed at the end), `images` is `keep`, `alt` (their alternative text only) or
`drop`, and `headings` is `atx` or `setext` (the first two levels underlined).

All examples are pages at `{BASE}`.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for section, examples in groupby(EXAMPLES, key=lambda example: example.section):
        parts.append(f"## {section}\n")
        parts.extend(shown(example) for example in examples)
    return "\n".join(parts)


def shown(example: Example) -> str:
    """The HTML beside the Markdown."""
    rule = f"{example.rule}\n\n" if example.rule else ""
    return (
        f"{rule}<table><tr><th>HTML</th><th>Markdown</th></tr><tr>\n"
        f"<td><pre>{literal(example.html)}</pre></td>\n<td><pre>{literal(example.markdown)}</pre></td>\n</tr></table>\n"
    )


def literal(text: str) -> str:
    """`text` as it can stand in `<pre>`: a blank line would end the table; what can't be seen is named."""
    seen = "".join(
        character if character.isprintable() or character == "\n" else f"\\u{ord(character):04x}"
        for character in text
    )
    return escape(seen, quote=False).replace("\n", "<br>")


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
