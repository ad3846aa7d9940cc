"""`ccrawl convert`: one page to Markdown, to look at it."""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

import ccrawl
from ccrawl.errors import SourceError, UsageError, reason
from ccrawl.units import path_named

MAX_BYTES = 64 * 1024 * 1024
TIMEOUT = 30.0  # seconds without an answer

_READ, _WRITE = "How to read it", "How to write it"


def command(
    page: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL|-", help="An HTML file, an http(s) URL, or - for stdin.", show_default=False
        ),
    ],
    extractor: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="main, raw (the whole page) or markdownify.", rich_help_panel=_READ
        ),
    ] = "main",
    favor: Annotated[
        Literal["precision", "balanced", "recall"],
        typer.Option(help="Keep less or more where the content is unclear.", rich_help_panel=_READ),
    ] = "balanced",
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="Resolve links against this address. Default: the page's own, where it was fetched.",
            rich_help_panel=_READ,
            show_default=False,
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Believe this encoding. Default: what the page says, or is.",
            rich_help_panel=_READ,
            show_default=False,
        ),
    ] = None,
    links: Annotated[
        Literal["keep", "drop", "reference"],
        typer.Option(
            help="Links in place, their text only, or destinations listed at the end.", rich_help_panel=_WRITE
        ),
    ] = "keep",
    images: Annotated[
        Literal["keep", "alt", "drop"],
        typer.Option(help="Images, their alternative text, or nothing.", rich_help_panel=_WRITE),
    ] = "keep",
    headings: Annotated[
        Literal["atx", "setext"],
        typer.Option(help="# Title, or the first two levels underlined.", rich_help_panel=_WRITE),
    ] = "atx",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say on stderr what was removed, and why.", rich_help_panel=_WRITE),
    ] = False,
) -> None:
    """Convert one page to Markdown on stdout.

    Example: ccrawl convert page.html --base-url https://example.org/
    """
    from ccrawl.html.markdown import RenderOptions
    from ccrawl.html.options import ExtractOptions

    fetched = read_page(page)
    url = base_url or fetched.url
    content_type = _with_encoding(encoding) if encoding else fetched.content_type
    options = ExtractOptions(favor=favor, render=RenderOptions(links=links, images=images, headings=headings))
    markdown = ccrawl.markdown(
        fetched.html, url, content_type=content_type, extractor=extractor, options=options
    )
    if explain:
        _explain(fetched.html, url, content_type, favor, extractor)
    if markdown:
        sys.stdout.buffer.write(markdown.rstrip("\n").encode() + b"\n")
        sys.stdout.buffer.flush()
    else:
        print("ccrawl: the page has no text", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page's bytes, and what is known of where they came from."""

    html: bytes
    url: str | None = None
    content_type: str | None = None


def read_page(page: str) -> FetchedPage:
    """The page in a file, at an http(s) URL, or on stdin ("-"). Raises SourceError, with what to do."""
    if page == "-":
        html = sys.stdin.buffer.read(MAX_BYTES + 1)
        return FetchedPage(_bounded(html, "stdin"))
    if page.lower().startswith(("http://", "https://")):
        return _fetch(page)
    if "://" in page:
        raise UsageError(f"{page}: only http and https URLs can be fetched")
    try:
        with path_named(page).open("rb") as file:
            return FetchedPage(_bounded(file.read(MAX_BYTES + 1), page))
    except OSError as error:
        raise SourceError(f"{page}: can't be read ({reason(error)})") from None


def _bounded(html: bytes, name: str) -> bytes:
    if len(html) > MAX_BYTES:
        raise SourceError(f"{name}: larger than {MAX_BYTES >> 20} MiB, which no page is")
    return html


def _fetch(url: str) -> FetchedPage:
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    headers = {"User-Agent": f"ccrawl/{ccrawl.__version__}", "Accept-Encoding": "identity"}
    try:
        # The scheme was checked, and urllib follows redirects to http, https and ftp only.
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:  # noqa: S310
            html = _bounded(response.read(MAX_BYTES + 1), url)
            coding = (response.headers.get("Content-Encoding") or "identity").lower()
            if coding in ("gzip", "x-gzip", "deflate"):  # though identity was asked for
                html = _bounded(zlib.decompressobj(47).decompress(html, MAX_BYTES + 1), url)
            return FetchedPage(html, response.geturl(), response.headers.get("Content-Type"))
    except HTTPError as error:
        raise SourceError(f"{url}: the server says {error.code} {error.reason}") from None
    except URLError as error:
        cause = error.reason if isinstance(error.reason, Exception) else error
        raise SourceError(f"{url}: can't be fetched ({reason(cause)})") from None
    except (OSError, HTTPException, ValueError, zlib.error) as error:
        raise SourceError(f"{url}: can't be fetched ({reason(error)})") from None


def _with_encoding(label: str) -> str:
    from ccrawl.html._encodings import lookup

    if lookup(label) is None:
        raise UsageError(f"no encoding is called {label!r}; labels are those of the WHATWG Encoding Standard")
    return f"text/html; charset={label}"


def _explain(html: bytes, url: str | None, content_type: str | None, favor: str, extractor: str) -> None:
    """One line for each block that was removed."""
    from ccrawl.html.content import main_content
    from ccrawl.html.decode import decode
    from ccrawl.html.tree import parse

    if extractor == "raw":
        print("ccrawl: raw removes nothing but what is never shown", file=sys.stderr)
        return
    content = main_content(parse(decode(html, content_type).utf8), url, favor=favor, explain=True)
    print(f"text from {content.source}, {len(content.removed):,} blocks removed", file=sys.stderr)
    for removed in content.removed:
        print(f"  {removed.reason}: {removed.path}: {_line(removed.text)}", file=sys.stderr)


def _line(text: str) -> str:
    """The beginning of a text, on one line and without what a terminal would obey."""
    words = " ".join(text.split())
    shown = "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in words
    )
    return shown if len(shown) <= 80 else shown[:79] + "…"
