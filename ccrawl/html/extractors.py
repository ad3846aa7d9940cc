"""The registry of extractors: what turns a page's bytes into Markdown, each under a name and a version.

The `extractor` column says `name@version`. A version is raised whenever the same page may come out
differently, so that rows of one dataset can be told apart.

A name is looked up by processes that never see a page; so the parser and what is built on it are imported by
the first page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccrawl.errors import PageError, UsageError, did_you_mean
from ccrawl.html.options import ExtractOptions

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor makes of a page."""

    markdown: str
    title: str


@dataclass(frozen=True, slots=True)
class DecodedPage:
    """A page as an extractor gets it: valid UTF-8, the URL to resolve links against, its kind of HTML."""

    utf8: bytes
    url: str | None
    xhtml: bool = False

    def tree(self) -> LexborHTMLParser:
        """The page parsed, afresh at each call: extractors prune it."""
        from ccrawl.html.tree import parse

        return parse(self.utf8, xhtml=self.xhtml)


@dataclass(frozen=True, slots=True)
class Extractor:
    """A named, versioned function from a decoded page to Markdown."""

    name: str
    version: str
    extract: Callable[[DecodedPage, ExtractOptions], Extracted]
    reads_text: bool = False  # it takes the text of WET files, not HTML

    @property
    def label(self) -> str:
        """The value of the `extractor` column."""
        return f"{self.name}@{self.version}"


def _main(page: DecodedPage, options: ExtractOptions) -> Extracted:
    from ccrawl.html.content import main_content
    from ccrawl.html.markdown import render

    content = main_content(page.tree(), page.url, favor=options.favor)
    if content.markdown is not None:
        return Extracted(content.markdown, content.title)
    return Extracted(render(content.node, page.url, options.render), content.title)


def _raw(page: DecodedPage, options: ExtractOptions) -> Extracted:
    from ccrawl.html.markdown import render

    tree = page.tree()
    element = tree.css_first("head title")
    title = " ".join(element.text().split()) if element is not None else ""
    root = tree.root
    return Extracted(render(root, page.url, options.render) if root is not None else "", title)


def _markdownify(page: DecodedPage, options: ExtractOptions) -> Extracted:
    import markdownify

    from ccrawl.html.content import main_content

    content = main_content(page.tree(), page.url, favor=options.favor)
    if content.markdown is not None:
        return Extracted(content.markdown, content.title)
    try:
        markdown = markdownify.markdownify(
            content.node.html or "", heading_style="atx", strip=["script", "style"]
        )
    except RecursionError:
        raise PageError("markdownify can't convert a tree this deep; use --extractor main") from None
    return Extracted(markdown.strip(), content.title)


def _wet(page: DecodedPage, _options: ExtractOptions) -> Extracted:
    """The text as Common Crawl extracted it: passed through, lines and all, without control characters."""
    lines = _CONTROL.sub("", page.utf8.decode().replace("\r\n", "\n")).split("\n")
    return Extracted("\n".join(line.rstrip() for line in lines).strip("\n"), "")


EXTRACTORS = {
    extractor.name: extractor
    for extractor in (
        Extractor("main", "1", _main),
        Extractor("raw", "1", _raw),
        Extractor("markdownify", "1", _markdownify),
        Extractor("wet", "1", _wet, reads_text=True),
    )
}


def get_extractor(name: str) -> Extractor:
    """The extractor called `name`; UsageError names the known ones."""
    try:
        return EXTRACTORS[name]
    except KeyError:
        known = ", ".join(EXTRACTORS)
        hint = did_you_mean(name, EXTRACTORS)
        raise UsageError(f"no extractor is called {name!r}; there are {known}{hint}") from None


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
    from ccrawl.html.decode import decode

    chosen = get_extractor(extractor)
    decoded = decode(html, content_type)
    xhtml = content_type is not None and content_type.lstrip().lower().startswith("application/xhtml+xml")
    return chosen.extract(DecodedPage(decoded.utf8, url, xhtml), options or ExtractOptions())
