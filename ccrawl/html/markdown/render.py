"""The walk over the tree: first form, one block buffer at a time."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown.options import RenderOptions

_SKIP = frozenset(
    [
        "script",
        "style",
        "template",
        "head",
        "noscript",
        "iframe",
        "svg",
        "object",
        "video",
        "audio",
        "select",
        "textarea",
        "input",
        "-comment",
        "-doctype",
        "title",
        "meta",
        "link",
    ]
)
_BLOCK = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "footer",
        "nav",
        "aside",
        "figure",
        "figcaption",
        "form",
        "fieldset",
        "dl",
        "dt",
        "dd",
        "ul",
        "ol",
        "li",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "pre",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "td",
        "th",
        "hr",
        "address",
        "details",
        "summary",
        "body",
        "html",
        "center",
    ]
)
_MARK = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~"}
_ESCAPE = re.compile(r"([\\`*_\[\]<])")
_LINE_START = re.compile(r"^(?:([-+#>=~|])|(\d{1,9})([.)]))")


def _escape_line_start(line: str) -> str:
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


def render(node: LexborNode, base_url: str | None = None, options: RenderOptions | None = None) -> str:
    """The Markdown of the subtree at `node`; relative links are resolved against `base_url`."""
    options = options or RenderOptions()
    lines: list[str] = []
    inline: list[str] = []
    prefixes: list[str] = []
    lists: list[int | None] = []
    bullet = ""

    def flush(lead: str = "") -> None:
        nonlocal bullet
        text = " ".join("".join(inline).split(" "))
        text = re.sub(r"[ \t\n\r\f\xa0]+", " ", text).strip()
        inline.clear()
        if not text:
            return
        if not lead:
            text = _escape_line_start(text)
        if bullet:
            start, bullet = "".join(prefixes[:-1]) + bullet, ""
            if lines and not lists_open_tight():
                lines.append("")
        else:
            start = "".join(prefixes)
            if lines:
                lines.append(start.rstrip())
        lines.append(start + lead + text)

    def lists_open_tight() -> bool:
        return bool(re.match(r"\s*(?:[-+*]|\d+\.) ", lines[-1]))

    stack: list[tuple[LexborNode, str]] = []
    cursor: LexborNode | None = node
    while True:
        if cursor is None:
            if not stack:
                break
            element, tag = stack.pop()
            if tag in _BLOCK:
                flush("#" * int(tag[1]) + " " if re.fullmatch("h[1-6]", tag) else "")
                if tag in ("li", "blockquote"):
                    prefixes.pop()
                    bullet = ""
                elif tag in ("ul", "ol"):
                    lists.pop()
            elif tag in _MARK:
                inline.append(_MARK[tag])
            elif tag == "a" and options.links != "drop":
                href = (element.attributes.get("href") or "").strip()
                inline.append(f"]({urljoin(base_url or '', href)})".replace(" ", "%20"))
            elif tag == "code":
                inline.append("`")
            cursor = element.next if element.mem_id != node.mem_id else None
            continue
        tag = cursor.tag or ""
        if tag == "-text":
            inline.append(_ESCAPE.sub(r"\\\1", cursor.text_content or ""))
        elif tag == "br":
            inline.append(" ")
        elif tag == "hr":
            flush()
            lines += ["", "".join(prefixes) + "---"]
        elif tag == "img":
            attributes = cursor.attributes
            alt, source = attributes.get("alt") or "", attributes.get("src") or ""
            if source and not source.startswith("data:") and options.images == "keep":
                source = urljoin(base_url or "", source).replace(" ", "%20")
                inline.append(f"![{_ESCAPE.sub('', alt)}]({source})")
            elif options.images != "drop":
                inline.append(alt)
        elif tag == "pre":
            flush()
            prefix = "".join(prefixes)
            body = cursor.text().strip("\n").split("\n")
            lines += [prefix.rstrip(), prefix + "```", *(prefix + line for line in body), prefix + "```"]
        elif tag not in _SKIP:
            if tag in _BLOCK:
                flush()
                if tag == "li":
                    number = lists[-1] if lists else None
                    bullet = "- " if number is None else f"{number}. "
                    if number is not None:
                        lists[-1] = number + 1
                    prefixes.append(" " * len(bullet))
                elif tag == "blockquote":
                    prefixes.append("> ")
                elif tag in ("ul", "ol"):
                    lists.append(None if tag == "ul" else 1)
            elif tag in _MARK:
                inline.append(_MARK[tag])
            elif tag == "a" and options.links != "drop":
                inline.append("[")
            elif tag == "code":
                inline.append("`")
            stack.append((cursor, tag))
            cursor = cursor.first_child
            continue
        if cursor.mem_id == node.mem_id:
            break
        cursor = cursor.next
    flush()
    return "\n".join(lines).strip("\n") + "\n" if lines else ""
