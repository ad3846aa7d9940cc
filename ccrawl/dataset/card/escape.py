"""Text of pages, options and archives made harmless for where it stands in a card.

Nothing here trusts its input: whatever the text, it stays one run of text in Markdown (also in a table
cell), in HTML, and in YAML.
"""

from __future__ import annotations

import json
import re

_MARKDOWN = re.compile(
    r"[\\`*_\[\]#|~$]"  # markup anywhere
    r"|\A[-+=]|(?<=\A\d)[.)]|(?<=\A\d\d)[.)]"  # begins a block
    r"|:(?=//|[\w+-]+:)|(?<!\w)@"  # links itself, is a :smile: or calls someone
)
_BACKTICKS = re.compile(r"`+")


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line: blanks run together, no control characters, at most `limit` characters."""
    clean = "".join(character for character in text if character.isprintable() or character.isspace())
    clean = " ".join(clean.split())
    if limit is not None and len(clean) > limit:
        clean = clean[: limit - 1].rstrip() + "…"
    return clean


def inline(text: str, limit: int | None = None) -> str:
    """Text in Markdown, a table cell or a heading: it shows as it is, and nothing in it is markup."""
    clean = _MARKDOWN.sub(r"\\\g<0>", one_line(text, limit))
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str, limit: int | None = None, *, in_table: bool = False) -> str:
    """A code span that shows `text`; a dash for none. `in_table` escapes pipes, as GitHub's tables ask."""
    clean = one_line(text, limit)
    if not clean:
        return "–"
    if in_table:
        # A backslash before a pipe would join the escape; no code span can hold that in a table.
        clean = clean.replace("\\|", "/|").replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(clean)), default=0))
    pad = " " if clean[0] == "`" or clean[-1] == "`" else ""
    return f"{fence}{pad}{clean}{pad}{fence}"


def json_in_fence(value: object) -> str:
    """JSON for a fenced block: each key on a line of its own, so that no text begins a line, and no `<`."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    shown = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    return shown.replace("<", "\\u003c")


def yaml_string(text: str) -> str:
    """A YAML double-quoted scalar; whatever it says (`no`, `1.0`, `a: b #c`), it is read as this string."""
    return json.dumps("".join(character for character in text if character.isprintable()), ensure_ascii=False)


def python_string(text: str) -> str:
    """A Python literal in double quotes, on one line."""
    shown = (c if c.isprintable() and c not in '\\"' else _python_escape(c) for c in text)
    return f'"{"".join(shown)}"'


def _python_escape(character: str) -> str:
    return f"\\{character}" if character in '\\"' else character.encode("unicode_escape").decode()
