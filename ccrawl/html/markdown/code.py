"""Code: inline and in blocks."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown import links
from ccrawl.html.markdown.characters import plain, verbatim
from ccrawl.html.markdown.tags import TEXT, tag_number
from ccrawl.html.markdown.writer import Writer

_BACKTICKS = re.compile(r"`+")
# How highlighters name the language in a class: Prism and highlight.js (language-x, lang-x, hljs x), GitHub
# (highlight-source-x), Sphinx (highlight-x), pandoc (sourceCode x), SyntaxHighlighter (brush: x).
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-(?:source-|text-)?|brush:\s*|(?:hljs|sourceCode)\s+)"
    r"([A-Za-z][A-Za-z0-9+#_.\-]{0,30})"
)
_LANGUAGE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+#_.\-]{0,30}")
_NO_LANGUAGE = frozenset(
    [
        "auto",
        "code",
        "code-block",
        "copy",
        "default",
        "hljs",
        "language",
        "nohighlight",
        "none",
        "notranslate",
        "plain",
        "plaintext",
        "pre",
        "text",
        "toolbar",
        "txt",
        "wrapper",
    ]
)
_GUTTER = re.compile(
    r"(?:^|[\s_-])(?:line-?numbers?(?:-rows)?|linenos?(?:div)?|gutter|lnum|ln-num|blob-num|hljs-ln-numbers|rouge-gutter)(?:$|[\s_-])",
    re.I,
)
_LINE = re.compile(r"(?:^|[\s_-])line(?:$|\s)", re.IGNORECASE)
_NUMBERS = re.compile(r"[\d\s]+")
_BR = tag_number("br")
_LINES = frozenset(map(tag_number, ("div", "p", "li", "tr")))
_SKIPPED = frozenset(map(tag_number, ("script", "style", "template", "button")))
_CODE = tag_number("code")
_A = tag_number("a")


def inline_code(writer: Writer, node: LexborNode) -> None:
    """`<code>`, `<samp>`, `<kbd>`, `<tt>`: a code span; inside a link, where it holds nothing but that."""
    child = node.first_child
    if child is not None and child.tag_id == _A and child.next is None and links.open_link(writer, child):
        _inline_text(writer, child)
        writer.close()
    else:
        _inline_text(writer, node)


def _inline_text(writer: Writer, node: LexborNode) -> None:
    text = code_text(node)
    inner = plain(text)
    if not inner:
        writer.ws = writer.ws or bool(text)
        return
    writer.ws = writer.ws or text[0].isspace()
    _put_span(writer, inner)
    writer.ws = text[-1].isspace()


def _put_span(writer: Writer, text: str) -> None:
    """Write a code span. Two side by side would be read as one with backticks inside, so they become one."""
    written, earlier, before = writer.code
    if written == len(writer.texts) and not writer.ws and writer.goes_on("`"):
        text = earlier + text
        writer.marks[-1] = before + code_span(text)
    else:
        writer.put("", code_span(text))
        before = writer.marks[-1].removesuffix(code_span(text))
    writer.code = (len(writer.texts), text, before)


def code_span(text: str) -> str:
    """`text`, without white space at its ends, as a code span. Its fence is no run of backticks in it."""
    runs = {len(run) for run in _BACKTICKS.findall(text)}
    fence = "`"
    while len(fence) in runs:
        fence += "`"
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_block(writer: Writer, node: LexborNode) -> None:
    """`<pre>`: a fenced block; where there is room for one line only, a code span."""
    text = verbatim(code_text(node))
    if not writer.context.flow:
        words = " ".join(text.split())
        if words:
            writer.ws = True
            _put_span(writer, words)
            writer.ws = True
        return
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        del lines[0]
    if not lines:
        return
    if _numbers_lines(node, text):
        return
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    writer.put_block([fence + _language(node), *lines, fence])


def code_text(node: LexborNode) -> str:
    """The text of code in the lines that are shown, without gutters of line numbers.

    `<br>` ends a line. Elements that are lines (by their tag, or a class such as `line` or `code-line`) have
    one to themselves, whether the page has line breaks between them or not.
    """
    child = node.first_child
    if child is None:
        return ""
    if child.next is None and child.tag_id == TEXT:
        return child.text_content or ""
    parts: list[str] = []
    stack: list[tuple[LexborNode, bool]] = []
    # Highlighters write an element a word with one of a few classes: each is looked at once a block.
    roles: dict[str, tuple[bool, bool]] = {}
    fresh = True  # a line has just begun
    due = False  # what comes next is on a new line, unless it begins with a line break itself
    current: LexborNode | None = child
    while True:
        if current is None:
            if not stack:
                break
            current, is_line = stack.pop()
            due = due or (is_line and not fresh)
        elif (tag := current.tag_id) == TEXT:
            if text := current.text_content or "":
                parts.append("\n" + text if due and text[0] != "\n" else text)
                fresh, due = text[-1] == "\n", False
        elif tag == _BR:
            parts.append("\n\n" if due else "\n")
            fresh, due = True, False
        elif tag not in _SKIPPED:
            attributes = current.attributes
            classes = attributes.get("class") or ""
            role = roles.get(classes)
            if role is None:
                role = roles[classes] = bool(_GUTTER.search(classes)), bool(_LINE.search(classes))
            numbers_lines, is_line = role
            if "data-line-number" in attributes and not numbers_lines:
                numbers_lines = not current.text().strip()
            if tag == _CODE or not numbers_lines:
                is_line = is_line or tag in _LINES
                due = due or (is_line and not fresh)
                stack.append((current, is_line))
                current = current.first_child
                continue
        current = current.next
    return "".join(parts)


def _numbers_lines(node: LexborNode, text: str) -> bool:
    """Whether a whole block is the gutter of the one beside it, as in tables with one cell for each."""
    if not _NUMBERS.fullmatch(text):
        return False
    holder = node.parent
    for _ in range(3):
        if holder is None:
            return False
        if _GUTTER.search(holder.attributes.get("class") or ""):
            return True
        holder = holder.parent
    return False


def _language(node: LexborNode) -> str:
    """The language that the block, its `<code>`, or one of two elements around it names."""
    parent = node.parent
    for element in (node.css_first("code"), node, parent, parent.parent if parent is not None else None):
        if element is None:
            continue
        attributes = element.attributes
        named = [(attributes.get(name) or "").strip() for name in ("data-lang", "data-language")]
        names = [name for name in named if _LANGUAGE_NAME.fullmatch(name)]
        names += _LANGUAGE.findall(attributes.get("class") or "")
        for name in names:
            if name.lower() not in _NO_LANGUAGE:
                return name
    return ""
