"""`ccrawl convert-dataset`: a dataset's HTML to Markdown."""

from __future__ import annotations

import json
from typing import Annotated

import typer

import ccrawl
from ccrawl.cli import progress, summary
from ccrawl.cli.options import (
    KEEP,
    AsJson,
    Extractor,
    Favor,
    Headings,
    Images,
    Links,
    NoCard,
    Out,
    Overwrite,
    PageTimeout,
    Quiet,
    Strict,
    WorkerMemory,
    Workers,
)
from ccrawl.html.options import ExtractOptions, RenderOptions
from ccrawl.run.options import ExportOptions
from ccrawl.units import binary_size, parse_size

_DEFAULTS = ExportOptions()
_WORKER_MEMORY = binary_size(_DEFAULTS.worker_memory)


def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR|FILE",
            help="Datasets: folders or Parquet files with url and html.",
            show_default=False,
        ),
    ],
    *,
    out: Out,
    keep_html: Annotated[
        bool, typer.Option("--keep-html", help="Keep the HTML beside it.", rich_help_panel=KEEP)
    ] = False,
    extractor: Extractor = _DEFAULTS.extractor,
    favor: Favor = _DEFAULTS.extract.favor,
    links: Links = _DEFAULTS.extract.render.links,
    images: Images = _DEFAULTS.extract.render.images,
    headings: Headings = _DEFAULTS.extract.render.headings,
    page_timeout: PageTimeout = _DEFAULTS.page_timeout,
    workers: Workers = None,
    worker_memory: WorkerMemory = _WORKER_MEMORY,
    overwrite: Overwrite = False,
    strict: Strict = False,
    no_card: NoCard = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Turn a dataset's HTML into Markdown.

    Reads the columns url and html, as `refetch --fetch-only` writes them, and writes
    a dataset with a row for each. The same command again goes on.

    Example: ccrawl convert-dataset fetched --out dataset
    """
    options = ExportOptions(
        extractor=extractor,
        extract=ExtractOptions(
            favor=favor, render=RenderOptions(links=links, images=images, headings=headings)
        ),
        strict=strict,
        page_timeout=page_timeout,
        worker_memory=parse_size(worker_memory),
    )
    with progress.listener(as_json=as_json, quiet=quiet) as listener:
        report = ccrawl.convert_dataset(
            sources,
            out,
            options=options,
            keep_html=keep_html,
            workers=workers,
            overwrite=overwrite,
            card=not no_card,
            listener=listener,
        )
    if as_json:
        print(json.dumps(summary.convert_dataset_as_json(report), ensure_ascii=False, indent=1))
    else:
        print(summary.convert_dataset_as_text(report))
    return 0 if report.complete else 3
