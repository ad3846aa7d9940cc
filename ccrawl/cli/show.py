"""`ccrawl show`: a row read as a person reads it."""

from __future__ import annotations

import json
import sys
import unicodedata
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ccrawl.dataset.files import write_atomically
from ccrawl.errors import UsageError

if TYPE_CHECKING:
    from ccrawl.dataset.rows import StoredRow

_WHICH, _HOW = "Which row", "How to show it"
_SURPLUS = ("markdown", "title", "url", "html")  # shown otherwise than as a line of the metadata


def command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE", help="A dataset's folder or one Parquet file.", show_default=False
        ),
    ],
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The rows of this URL.", rich_help_panel=_WHICH, show_default=False),
    ] = None,
    doc_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="The rows of this doc_id.", rich_help_panel=_WHICH, show_default=False
        ),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The row of this number, from 0.", rich_help_panel=_WHICH, show_default="0"
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="N rows picked at random.", rich_help_panel=_WHICH, show_default=False
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="With --sample: pick others.", rich_help_panel=_WHICH)
    ] = 0,
    raw: Annotated[
        bool, typer.Option("--raw", help="The Markdown as it is stored, not rendered.", rich_help_panel=_HOW)
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON line a row.", rich_help_panel=_HOW)] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write the original page, made harmless, beside its Markdown. Needs --source and one row.",
            rich_help_panel=_HOW,
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="With --html: where the archives are: files, folders or globs. May be repeated.",
            rich_help_panel=_HOW,
            show_default=False,
        ),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="With --html: open it in the browser.", rich_help_panel=_HOW)
    ] = False,
) -> None:
    """Show rows of a dataset: their metadata, and their Markdown as text to read.

    Example: ccrawl show dataset --sample 3
    """
    from ccrawl.dataset.rows import find_rows

    if url is None and doc_id is None and row is None and sample is None:
        row = 0
    found = find_rows(path, url=url, doc_id=doc_id, row=row, sample=sample, seed=seed)
    if html is not None:
        _write_html(found, html, source, open_=open_)
        return
    if as_json:
        for stored in found:
            values = {"file": str(stored.file), "row": stored.number, **stored.row._asdict()}
            if "html" in values:
                values["html"] = values["html"].decode("utf-8", "replace")
            print(json.dumps(values, ensure_ascii=False))
        return
    for number, stored in enumerate(found):
        if number:
            print()
        _print(stored, rendered=not raw and sys.stdout.isatty())


def _write_html(found: list[StoredRow], html: Path, source: list[str] | None, *, open_: bool) -> None:
    if not source:
        raise UsageError("--html shows the page from its archive: name that with --source")
    if len(found) != 1:
        raise UsageError(f"--html shows one page, and {len(found)} rows were found; name one with --row")
    from ccrawl.dataset.original import original, page_as_html

    (stored,) = found
    write_atomically(html, page_as_html(original(stored, source), stored).encode("utf-8", "replace"))
    print(f"wrote {html}")
    if open_:
        webbrowser.open(html.resolve().as_uri())


def _print(stored: StoredRow, *, rendered: bool) -> None:
    """Metadata, then the Markdown. Nothing that a page says reaches the terminal as a command."""
    row = stored.row
    lines: list[tuple[str, Any]] = [("url", row.url), ("title", row.title)]
    lines += [(name, value) for name, value in row._asdict().items() if name not in _SURPLUS]
    lines.append(("stands in", f"{stored.file} row {stored.number}"))
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name.ljust(width)}  {_harmless(_shown(name, value))}")
    print()
    markdown = _harmless(row.markdown or "", keep="\n\t")
    if not (rendered and _render(markdown)):
        print(markdown)


def _render(markdown: str) -> bool:
    """Print the Markdown as rich does; False when it is too deep for that."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    try:
        with console.capture() as capture:
            console.print(Markdown(markdown, hyperlinks=False))
    except RecursionError:
        return False
    print(capture.get(), end="")
    return True


def _shown(name: str, value: Any) -> str:
    if name == "simhash" and value is not None:
        return f"{value} ({value:016x})"
    return "–" if value is None or value == "" else str(value)


def _harmless(text: str, keep: str = "") -> str:
    """Without control and direction characters, which a terminal would obey; `keep` are let through."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else _stand_in(character)
        for character in text
    )


def _stand_in(character: str) -> str:
    return " " if unicodedata.category(character) == "Zs" else "\N{REPLACEMENT CHARACTER}"
