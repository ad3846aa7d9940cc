"""`ccrawl export`: web archives to a Markdown dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import ccrawl
from ccrawl.cli import progress, summary
from ccrawl.cli.units import binary_size, parse_size
from ccrawl.errors import UsageError
from ccrawl.run.options import ExportOptions

_DEFAULTS = ExportOptions()
_READ, _KEEP, _CONVERT, _RUN = "What to read", "What to keep", "How to convert", "How to run"


def command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="WARC files, folders or globs.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The dataset's folder.", show_default=False)
    ],
    crawl: Annotated[
        str,
        typer.Option(
            metavar="ID", help="The crawl's name: files go to DIR/data/crawl=ID.", rich_help_panel=_READ
        ),
    ] = _DEFAULTS.crawl,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after N pages of each shard.", rich_help_panel=_READ),
    ] = None,
    max_page_bytes: Annotated[
        str,
        typer.Option(metavar="SIZE", help="Count larger pages as too large.", rich_help_panel=_READ),
    ] = binary_size(_DEFAULTS.max_page_bytes),
    dedup_digest: Annotated[
        bool,
        typer.Option(
            "--dedup-digest",
            help="Drop byte-identical pages of a shard, before they are parsed. The first one stays.",
            rich_help_panel=_KEEP,
        ),
    ] = False,
    dedup_index: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Drop pages that runs committed to this index have, and add this run's: "
            "a folder, or redis://host:port/db.",
            rich_help_panel=_KEEP,
            show_default=False,
        ),
    ] = None,
    dedup_min_bytes: Annotated[
        str,
        typer.Option(metavar="SIZE", help="Smaller pages are never duplicates.", rich_help_panel=_KEEP),
    ] = str(_DEFAULTS.dedup_min_bytes),
    no_commit: Annotated[
        bool,
        typer.Option(
            "--no-commit",
            help="Leave the run in the index for `ccrawl index commit` or `cancel`.",
            rich_help_panel=_KEEP,
        ),
    ] = False,
    duplicates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.parquet",
            help="List the dropped pages, each with its original.",
            rich_help_panel=_KEEP,
            show_default=False,
        ),
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Keep pages in these languages only: eng or eng,deu (ISO 639-3 or 639-1). May be repeated.",
            rich_help_panel=_KEEP,
            show_default=False,
        ),
    ] = None,
    min_lang_confidence: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="With --lang: keep only what is this sure.",
            rich_help_panel=_KEEP,
        ),
    ] = _DEFAULTS.min_language_confidence,
    extractor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="main: the main content. raw: the whole page. "
            "markdownify: the main content, written by the package of that name.",
            rich_help_panel=_CONVERT,
        ),
    ] = _DEFAULTS.extractor,
    page_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0.1, help="Set a page aside after this long.", rich_help_panel=_CONVERT
        ),
    ] = _DEFAULTS.page_timeout,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-j",
            metavar="N",
            min=1,
            help="Worker processes.",
            rich_help_panel=_RUN,
            show_default="cores",
        ),
    ] = None,
    worker_memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory that one worker may use.", rich_help_panel=_RUN)
    ] = binary_size(_DEFAULTS.worker_memory),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start again instead of going on.", rich_help_panel=_RUN)
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first shard that fails.", rich_help_panel=_RUN)
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Events as JSON lines on stderr, the summary on stdout.", rich_help_panel=_RUN
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, only the summary.", rich_help_panel=_RUN)
    ] = False,
) -> int:
    """Turn web archives into a Markdown dataset.

    Reads every page (an HTML response with status 200), takes its main content as Markdown, and writes one
    Parquet file a shard. The same command again goes on where a run was stopped.

    [dim]Example: ccrawl export crawl.warc.gz --out dataset --dedup-digest --lang eng[/dim]
    """
    if no_commit and dedup_index is None:
        raise UsageError("--no-commit says what becomes of a run in a --dedup-index; give one")
    if duplicates is not None and not dedup_digest and dedup_index is None:
        raise UsageError("--duplicates lists what --dedup-digest or --dedup-index drop; give one of them")
    options = ExportOptions(
        extractor=extractor,
        dedup_digest=dedup_digest,
        dedup_min_bytes=parse_size(dedup_min_bytes),
        languages=_language_codes(lang or []),
        min_language_confidence=min_lang_confidence,
        limit=limit,
        crawl=crawl,
        max_page_bytes=parse_size(max_page_bytes),
        page_timeout=page_timeout,
        worker_memory=parse_size(worker_memory),
    )
    with progress.listener(as_json=as_json, quiet=quiet) as listener:
        report = ccrawl.export(
            sources,
            out,
            options=options,
            workers=workers,
            overwrite=overwrite,
            strict=strict,
            dedup_index=dedup_index,
            commit=not no_commit,
            duplicates=duplicates,
            listener=listener,
        )
    if as_json:
        print(json.dumps(summary.as_json(report), ensure_ascii=False, indent=1))
    else:
        print(summary.as_text(report))
    return 0 if report.complete else 3


def _language_codes(values: list[str]) -> tuple[str, ...]:
    from ccrawl.text.language import iso639_3

    codes = [code.strip() for value in values for code in value.split(",") if code.strip()]
    known = {code: iso639_3(code) for code in codes}
    unknown = [code for code, found in known.items() if not found]
    if unknown:
        raise UsageError(
            f"--lang: no language is detected under the code {unknown[0]!r}; use ISO 639-3, as in eng"
        )
    return tuple(sorted({found for found in known.values() if found}))
