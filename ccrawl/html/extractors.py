"""The registry of extractors: what turns a page's bytes into Markdown, each under a name and a version.

The `extractor` column says `name@version`. A version is raised whenever the same page may come out
differently, so that rows of one dataset can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser

from ccrawl.errors import PageError, UsageError
from ccrawl.html.content import Favor, main_content
from ccrawl.html.decode import decode
from ccrawl.html.markdown import RenderOptions, render
from ccrawl.html.tree import parse


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor makes of a page."""

    markdown: str
    title: str


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """Where users differ; the defaults are what the benchmarks measure."""

    favor: Favor = "balanced"
    render: RenderOptions = field(default_factory=RenderOptions)


@dataclass(frozen=True, slots=True)
class Extractor:
    """A named, versioned function from a parsed page to Markdown."""

    name: str
    version: str
    extract: Callable[[LexborHTMLParser, str | None, ExtractOptions], Extracted]

    @property
    def label(self) -> str:
        """The value of the `extractor` column."""
        return f"{self.name}@{self.version}"


def _main(tree: LexborHTMLParser, url: str | None, options: ExtractOptions) -> Extracted:
    content = main_content(tree, url, favor=options.favor)
    if content.markdown is not None:
        return Extracted(content.markdown, content.title)
    return Extracted(render(content.node, url, options.render), content.title)


def _raw(tree: LexborHTMLParser, url: str | None, options: ExtractOptions) -> Extracted:
    element = tree.css_first("head title")
    title = " ".join(element.text().split()) if element is not None else ""
    root = tree.root
    return Extracted(render(root, url, options.render) if root is not None else "", title)


def _markdownify(tree: LexborHTMLParser, url: str | None, options: ExtractOptions) -> Extracted:
    import markdownify

    content = main_content(tree, url, favor=options.favor)
    if content.markdown is not None:
        return Extracted(content.markdown, content.title)
    try:
        markdown = markdownify.markdownify(
            content.node.html or "", heading_style="atx", strip=["script", "style"]
        )
    except RecursionError:
        raise PageError("markdownify can't convert a tree this deep; use --extractor main") from None
    return Extracted(markdown.strip(), content.title)


EXTRACTORS = {
    extractor.name: extractor
    for extractor in (
        Extractor("main", "1", _main),
        Extractor("raw", "1", _raw),
        Extractor("markdownify", "1", _markdownify),
    )
}


def get_extractor(name: str) -> Extractor:
    """The extractor called `name`; UsageError names the known ones."""
    try:
        return EXTRACTORS[name]
    except KeyError:
        raise UsageError(f"no extractor is called {name!r}; there are {', '.join(EXTRACTORS)}") from None


def extract(
    html: bytes,
    url: str | None = None,
    *,
    content_type: str | None = None,
    extractor: str = "main",
    options: ExtractOptions | None = None,
) -> Extracted:
    """Decode, parse, and extract one page.

    `html` is the payload after content-decoding, `content_type` the HTTP header's value where known,
    `url` the page's address that links are resolved against. Raises UsageError for an unknown extractor and
    PageError where an extractor gives a page up.
    """
    chosen = get_extractor(extractor)
    decoded = decode(html, content_type)
    xhtml = content_type is not None and content_type.lstrip().lower().startswith("application/xhtml+xml")
    return chosen.extract(parse(decoded.utf8, xhtml=xhtml), url, options or ExtractOptions())
