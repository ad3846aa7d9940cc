"""The page that a row was made from, out of its archive, as a file that is safe to open.

The file shows the page beside its Markdown. The page is hostile: it stands in a frame with an empty `sandbox`
(no scripts, forms, navigation or popups, an origin of its own) and under a content security policy that lets
nothing be loaded (a srcdoc frame inherits its parent's: HTML standard, section 7.9), and what could run or
load is taken out of it besides.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path

from ccrawl.archives import Capture, CaptureOptions, Source, read_captures
from ccrawl.dataset.rows import StoredRow
from ccrawl.dataset.schema import RefetchRow, Row
from ccrawl.dataset.verify.run import find_archives, source_named
from ccrawl.errors import CcrawlError, SourceError
from ccrawl.html.decode import decode
from ccrawl.html.extractors import get_extractor
from ccrawl.html.tree import parse

_POLICY = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'"
_GONE = "script, iframe, frame, object, embed, applet, portal, base, link, meta"
_LOADING = frozenset(
    (
        *("src", "srcset", "srcdoc", "href", "xlink:href", "action", "formaction", "data", "poster"),
        *("background", "ping", "cite", "manifest"),
    )
)
# What hides or dresses an element.
_LOOK = frozenset(("style", "class", "id", "hidden"))
# A record's slice is copied out to be read alone; no page that makes a row is larger than this.
_SLICE = 64 << 20


def original(stored: StoredRow, sources: Sequence[str | os.PathLike[str] | Source]) -> Capture:
    """The capture that a row was made from, found in `sources` (paths, folders, globs or URLs).

    Raises SourceError when the row's archive is not among them, or doesn't hold the record.
    """
    row = stored.row
    if isinstance(row, RefetchRow):
        raise SourceError(
            f"{stored.file}: rows of a refetch come from no archive; what servers sent is in its --warc files"
        )
    if None in row[:-1]:  # only the offset may be missing
        raise SourceError(f"{stored.file}: row {stored.number} lacks values; ccrawl verify tells which")
    source = source_named(row.warc_filename, {one.name: one for one in find_archives(sources)})
    if source is None:
        raise SourceError(
            f"{row.warc_filename or 'the archive'}: not among the sources; name it with --source"
        )
    options = CaptureOptions(
        max_page_bytes=_SLICE,
        statuses=None,
        conversions=get_extractor(row.extractor.partition("@")[0]).reads_text,
        resolve_revisits=True,
    )
    if row.warc_record_offset is not None and not source.members and Path(source.path).is_file():
        with _slice(Path(source.path), row.warc_record_offset) as path:
            try:
                found = _first(Source(source.name, str(path), path.stat().st_size), row, options, limit=1)
            except CcrawlError:
                found = None
        if found is not None:
            return found
    found = _first(source, row, options)
    if found is None:
        raise SourceError(f"{source.path}: holds no record {row.warc_record_id}")
    return found


def _first(source: Source, row: Row, options: CaptureOptions, limit: int | None = None) -> Capture | None:
    for number, capture in enumerate(read_captures(source, options=options)):
        if capture.record_id == row.warc_record_id:
            return capture
        if limit is not None and number + 1 >= limit:
            return None
    return None


@contextmanager
def _slice(path: Path, offset: int) -> Iterator[Path]:
    """A copy of the archive from a record on: with it a record at the end of a gigabyte is read at once."""
    with path.open("rb") as archive, tempfile.TemporaryDirectory() as folder:
        archive.seek(offset)
        copy = Path(folder) / path.name
        copy.write_bytes(archive.read(_SLICE))
        yield copy


def page_as_html(capture: Capture, stored: StoredRow) -> str:
    """An HTML page that shows the capture beside the row's Markdown. Raises PageError as `payload` does."""
    row = stored.row
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(getattr(row, name)))}</dd>"
        for name in Row._fields
        if name != "markdown"
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(row.title or row.url)}</title>'
        f"<style>{_STYLE}</style></head><body><header><h1>{escape(row.url)}</h1>"
        f"<details><summary>the row</summary><dl>{facts}</dl></details></header><main>"
        f"<section><h2>The page, without scripts and what it loads</h2>"
        f'<input type="radio" name="look" id="styled" checked><label for="styled">its own styles</label>'
        f'<input type="radio" name="look" id="plain"><label for="plain">no styles</label>'
        f'<iframe class="styled" sandbox="" srcdoc="{escape(harmless(capture))}"></iframe>'
        f'<iframe class="plain" sandbox="" srcdoc="{escape(harmless(capture, styles=False))}"></iframe>'
        f"</section>"
        f"<section><h2>Its Markdown</h2><pre>{escape(row.markdown)}</pre></section></main></body></html>\n"
    )


def harmless(capture: Capture, *, styles: bool = True) -> str:
    """The page's HTML without scripts, frames, links and anything that would load or run.

    Without `styles` nothing is hidden either: pages often wait for a script to show them.
    """
    if capture.record_type == "conversion":  # text, as WET files have it
        return f"<pre>{escape(capture.payload(_SLICE).decode('utf-8', 'replace'))}</pre>"
    utf8 = decode(capture.payload(_SLICE), capture.content_type).utf8
    tree = parse(utf8, xhtml="xhtml" in (capture.content_type or ""))
    for node in tree.css(_GONE if styles else f"{_GONE}, style"):
        node.decompose()
    root = tree.root
    if root is None:
        return ""
    for node in root.traverse(include_text=False):
        for name, value in list(node.attributes.items()):
            name_lower = name.lower()
            loads = name_lower in _LOADING and not _is_picture(value)
            if name_lower.startswith("on") or loads or (not styles and name_lower in _LOOK):
                del node.attrs[name]
    return tree.html or ""


def _is_picture(value: str | None) -> bool:
    """A picture that stands in the page itself."""
    return (value or "").strip().lower().startswith(("data:image/png", "data:image/jpeg", "data:image/gif"))


_STYLE = """
:root{color-scheme:light dark}
body{margin:0;font:14px/1.45 system-ui,sans-serif;height:100vh;display:flex;flex-direction:column}
header{padding:.5em 1em;border-bottom:1px solid #8886}
h1{font-size:1em;margin:0;overflow-wrap:anywhere}
h2{font-size:.85em;margin:.4em 1em;font-weight:600}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1em;max-height:30vh;overflow:auto}
dd{margin:0;overflow-wrap:anywhere}
main{flex:1;display:flex;min-height:0}
section{flex:1;display:flex;flex-direction:column;min-width:0}
section+section{border-left:1px solid #8886}
h2+input{margin-left:1em}
section:first-child{display:grid;grid-template:auto auto 1fr/auto auto auto auto 1fr;font-size:.85em}
h2,iframe{grid-column:1/-1}
iframe{width:100%;height:100%;border:0;background:#fff}
#styled:checked~.plain,#plain:checked~.styled{display:none}
pre{flex:1;overflow:auto;margin:0;padding:0 1em 1em;white-space:pre-wrap;overflow-wrap:anywhere}
"""
