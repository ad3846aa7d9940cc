"""Formulas, once each, as TeX between dollar signs."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown.characters import plain
from ccrawl.html.markdown.writer import Writer

_DISPLAY_STYLE = re.compile(r"^\{\\(?:display|text|script)style\s*(.*)\}$", re.S)
_COPIES = frozenset(
    [
        "katex-html",
        "MathJax",
        "MathJax_Display",
        "MathJax_Preview",
        "MathJax_SVG",
        "MathJax_SVG_Display",
        "MathJax_CHTML",
        "MJXc-display",
        "mjx-chtml",
        "mwe-math-fallback-image-inline",
        "mwe-math-fallback-image-display",
    ]
)

_MAX_DEPTH = 50


def tex_span(tex: str, display: bool) -> str:
    """A formula between dollar signs, "" when there is none. Dollar signs inside would end it and are left
    out.
    """
    tex = plain(tex).replace("$", "").strip()
    match = _DISPLAY_STYLE.match(tex)
    if match:
        tex = match[1].strip()
    return (f"$${tex}$$" if display else f"${tex}$") if tex else ""


def put_tex(writer: Writer, tex: str, display: bool) -> None:
    """Write a formula: a block of its own if it is a display and there is room for one."""
    display = display and writer.context.flow
    span = tex_span(tex, display)
    if span and display:
        writer.put_block([span])
    elif span:
        writer.put("", span)


def math_element(writer: Writer, node: LexborNode) -> None:
    """`<math>`: its TeX annotation or `alttext` where there is one, otherwise its own notation as TeX.

    What shows the same formula again for the eye (KaTeX, Wikipedia) is taken out of the tree.
    """
    attributes = node.attributes
    annotation = node.css_first('annotation[encoding="application/x-tex"]')
    tex = annotation.text() if annotation is not None else attributes.get("alttext") or ""
    display = attributes.get("display") == "block" or _drop_copies(node)
    put_tex(writer, tex if tex.strip() else presentation_tex(node), display)


def _drop_copies(node: LexborNode) -> bool:
    """Unlink the pictures of a formula that stand behind it; whether one says that it is a display."""
    display = False
    holder = node.parent
    for _ in range(2):
        if holder is None:
            break
        sibling = holder.next
        if "katex-display" in (holder.attributes.get("class") or ""):
            display = True
        if sibling is not None and sibling.is_element_node and is_copy(sibling):
            sibling.decompose(recursive=False)
        holder = holder.parent
    return display or (holder is not None and "katex-display" in (holder.attributes.get("class") or ""))


def is_copy(node: LexborNode) -> bool:
    """Whether the element only shows a formula that another element holds as text."""
    classes = (node.attributes.get("class") or "").split()
    return any(name in _COPIES for name in classes)


def math_script(writer: Writer, node: LexborNode) -> None:
    """`<script type="math/tex">`, where MathJax 2 keeps the formula; other scripts are nothing.

    Where MathJax has run, what it shows stands before the script and has been written: it is unlinked, and
    the page is to be rendered again.
    """
    kind = node.attrs.get("type")
    if not kind or not kind.startswith("math/tex"):
        return
    before = node.prev
    while before is not None and before.is_element_node and is_copy(before):
        before.decompose(recursive=False)
        writer.found_copies = True
        before = node.prev
    if writer.table is None or not writer.context.flow:
        put_tex(writer, node.text(), "mode=display" in kind)


def math_image(writer: Writer, attributes: dict[str, str | None]) -> bool:
    """An `<img>` that shows a formula with its TeX as the alternative text (Wikipedia, WordPress, older
    forums).
    """
    classes = attributes.get("class") or ""
    alt = attributes.get("alt") or ""
    if not alt or not any(name in classes for name in ("mwe-math-fallback", "latex", "tex")):
        return False
    put_tex(writer, alt, "display" in classes)
    return True


def presentation_tex(node: LexborNode, depth: int = 0) -> str:
    """Presentation MathML as TeX: fractions, roots, indices and rows; of anything else its text."""
    tag = node.tag or ""
    if tag == "-text":
        return (node.text_content or "").strip()
    if depth > _MAX_DEPTH:
        return " ".join(node.text(separator=" ").split())
    parts = [
        presentation_tex(child, depth + 1) for child in node.iter(include_text=True) if child.tag in _SHOWN
    ]
    parts = [part for part in parts if part] if tag not in _TEMPLATES else parts
    arity, template = _TEMPLATES.get(tag, (0, ""))
    if arity and len(parts) == arity:
        return template.format(*parts)
    if tag == "msqrt":
        return f"\\sqrt{{{' '.join(parts)}}}"
    if tag == "mtext":
        return f"\\text{{{' '.join(parts)}}}"
    if tag == "mtr":
        return " & ".join(parts)
    if tag == "mtable":
        return "\\begin{matrix} " + " \\\\ ".join(parts) + " \\end{matrix}"
    return " ".join(parts)


_TEMPLATES = {
    "mfrac": (2, "\\frac{{{}}}{{{}}}"),
    "mroot": (2, "\\sqrt[{1}]{{{0}}}"),
    "msup": (2, "{}^{{{}}}"),
    "msub": (2, "{}_{{{}}}"),
    "msubsup": (3, "{}_{{{}}}^{{{}}}"),
    "munder": (2, "{}_{{{}}}"),
    "mover": (2, "{}^{{{}}}"),
    "munderover": (3, "{}_{{{}}}^{{{}}}"),
}
_SHOWN = frozenset(
    [
        "-text",
        "math",
        "semantics",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "ms",
        "mspace",
        "mstyle",
        "mpadded",
        "mfenced",
        "menclose",
        "merror",
        "maction",
        "mtable",
        "mtr",
        "mlabeledtr",
        "mtd",
        "mfrac",
        "mroot",
        "msqrt",
        "msup",
        "msub",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
    ]
)
