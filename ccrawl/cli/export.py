"""`ccrawl export`: web archives to a Markdown dataset."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

import ccrawl
from ccrawl import archives
from ccrawl.archives.crawls import BASE_URL, crawl_sources
from ccrawl.archives.sources import (
    DEFAULT_GAP,
    DEFAULT_MAX_SPAN,
    DEFAULT_PART_SIZE,
    Source,
    find_sources,
)
from ccrawl.cli import progress, summary
from ccrawl.cli.options import (
    KEEP,
    READ,
    RUN,
    AsJson,
    BaseUrl,
    Cache,
    Crawl,
    DedupDigest,
    DedupIndex,
    DedupMinBytes,
    DedupNormalize,
    Extractor,
    Favor,
    Headings,
    Images,
    Limit,
    Links,
    MaxPageBytes,
    NoCard,
    NoCommit,
    Out,
    Overwrite,
    PageTimeout,
    Quiet,
    ResolveRevisits,
    Shards,
    Strict,
    WorkerMemory,
    Workers,
    rules_of,
)
from ccrawl.cli.settings import FROM_COMMAND_LINE, options_of, source_of
from ccrawl.errors import UsageError
from ccrawl.html.options import ExtractOptions, RenderOptions
from ccrawl.run.options import ExportOptions
from ccrawl.units import binary_size, parse_size, path_named

_DEFAULTS = ExportOptions()
_MAX_PAGE_BYTES, _WORKER_MEMORY = map(binary_size, (_DEFAULTS.max_page_bytes, _DEFAULTS.worker_memory))


def command(
    ctx: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Archives: files, folders, globs or URLs.", show_default=False),
    ] = None,
    *,
    out: Out,
    crawl: Crawl = _DEFAULTS.crawl,
    shards: Shards = None,
    locations: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Read single records, by JSON lines of their places.",
            rich_help_panel=READ,
            show_default=False,
        ),
    ] = None,
    base_url: BaseUrl = BASE_URL,
    gap: Annotated[
        str, typer.Option(metavar="SIZE", help="Fetch over gaps between locations.", rich_help_panel=READ)
    ] = binary_size(DEFAULT_GAP),
    max_span: Annotated[
        str, typer.Option(metavar="SIZE", help="The longest request.", rich_help_panel=READ)
    ] = binary_size(DEFAULT_MAX_SPAN),
    part_size: Annotated[
        int, typer.Option(metavar="N", min=1, help="Locations a Parquet file.", rich_help_panel=READ)
    ] = DEFAULT_PART_SIZE,
    cache: Cache = None,
    limit: Limit = None,
    max_page_bytes: MaxPageBytes = _MAX_PAGE_BYTES,
    resolve_revisits: ResolveRevisits = False,
    dedup_digest: DedupDigest = False,
    dedup_index: DedupIndex = None,
    dedup_min_bytes: DedupMinBytes = str(_DEFAULTS.dedup_min_bytes),
    dedup_normalize: DedupNormalize = None,
    no_commit: NoCommit = False,
    duplicates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.parquet",
            help="List the dropped pages, each with its original.",
            rich_help_panel=KEEP,
            show_default=False,
            parser=path_named,
        ),
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Keep these languages only: eng, or eng,deu.",
            rich_help_panel=KEEP,
            show_default=False,
        ),
    ] = None,
    min_lang_confidence: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="With --lang: how sure, at least.",
            rich_help_panel=KEEP,
        ),
    ] = _DEFAULTS.min_language_confidence,
    extractor: Extractor = _DEFAULTS.extractor,
    favor: Favor = _DEFAULTS.extract.favor,
    links: Links = _DEFAULTS.extract.render.links,
    images: Images = _DEFAULTS.extract.render.images,
    headings: Headings = _DEFAULTS.extract.render.headings,
    page_timeout: PageTimeout = _DEFAULTS.page_timeout,
    workers: Workers = None,
    worker_memory: WorkerMemory = _WORKER_MEMORY,
    runner: Annotated[
        Literal["local", "spark"],
        typer.Option(help="This machine, or a Spark cluster.", rich_help_panel=RUN),
    ] = "local",
    spark_master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where Spark runs, as in local[4].",
            rich_help_panel=RUN,
            show_default="as spark-submit says",
        ),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write where workers spend time: .html, .json, .txt.",
            rich_help_panel=RUN,
            show_default=False,
            parser=path_named,
        ),
    ] = None,
    overwrite: Overwrite = False,
    strict: Strict = False,
    no_card: NoCard = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Turn web archives into a Markdown dataset.

    A page (HTML with status 200) becomes a row of Markdown, a shard a Parquet
    file. The same command again goes on where a run was stopped.

    Example: ccrawl export crawl.warc.gz --out dataset --dedup-digest --lang eng
    """
    if no_commit and dedup_index is None:
        raise UsageError("--no-commit says what becomes of a run in a --dedup-index; give one")
    if duplicates is not None and not dedup_digest and dedup_index is None:
        raise UsageError("--duplicates lists what --dedup-digest or --dedup-index drop; give one of them")
    options = ExportOptions(
        extractor=extractor,
        extract=ExtractOptions(
            favor=favor, render=RenderOptions(links=links, images=images, headings=headings)
        ),
        dedup_digest=dedup_digest,
        dedup_min_bytes=parse_size(dedup_min_bytes),
        dedup_normalize=rules_of(dedup_normalize, used=dedup_digest or dedup_index is not None),
        languages=tuple(code.strip() for value in lang or [] for code in value.split(",") if code.strip()),
        min_language_confidence=min_lang_confidence,
        limit=limit,
        crawl=crawl,
        resolve_revisits=resolve_revisits,
        strict=strict,
        max_page_bytes=parse_size(max_page_bytes),
        page_timeout=page_timeout,
        worker_memory=parse_size(worker_memory),
    )
    if "" in (sources or []) or dedup_index == "":
        raise UsageError("a SOURCE or --dedup-index is empty (a variable that is not set?)")
    if lang and not options.languages:
        raise UsageError("--lang names no language; use ISO 639-3 codes, as in eng or eng,deu")
    given: Sequence[str | Source] = sources or []
    if [bool(sources), shards is not None, locations is not None].count(True) != 1:
        raise UsageError("say what to read: SOURCE..., or --crawl ID --shards 0-9, or --locations FILE")
    _refuse_unused(ctx, shards, locations)
    if shards is not None:
        kind = "wet" if extractor == "wet" else "warc"
        given = crawl_sources(crawl, shards, kind=kind, base_url=base_url, cache=str(cache or ""))
    elif locations is not None:
        given = _located(locations, base_url, parse_size(gap), parse_size(max_span), part_size, cache)
    elif sources and cache is not None:
        given = find_sources(sources, cache=str(cache))
    with progress.listener(as_json=as_json, quiet=quiet) as listener:
        report = ccrawl.export(
            given,
            out,
            options=options,
            workers=workers,
            overwrite=overwrite,
            dedup_index=dedup_index,
            commit=not no_commit,
            duplicates=duplicates,
            profile=profile,
            card=not no_card,
            runner=runner,
            spark_master=spark_master,
            listener=listener,
        )
    if as_json:
        print(json.dumps(summary.as_json(report), ensure_ascii=False, indent=1))
    else:
        print(summary.as_text(report))
    return 0 if report.complete else 3


def _located(
    path: str, base_url: str, gap: int, max_span: int, part_size: int, cache: Path | None
) -> list[Source]:
    """The records that a file of locations, or stdin, names."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"--locations {path}: {error.strerror}") from error
    return archives.location_sources(
        text.splitlines(),
        base_url=base_url,
        gap=gap,
        max_span=max_span,
        part_size=part_size,
        cache=str(cache or ""),
    )


def _refuse_unused(ctx: typer.Context, shards: str | None, locations: str | None) -> None:
    """Raise UsageError for flags that would say nothing. As a default in a file they are no mistake."""
    unused = [] if locations is not None else ["--gap", "--max-span", "--part-size"]
    unused += [] if shards is not None or locations is not None else ["--base-url"]
    for option in options_of(ctx.command):
        if option.opts[0] in unused and source_of(ctx, option) == FROM_COMMAND_LINE:
            needed = "--shards or --locations" if option.opts[0] == "--base-url" else "--locations"
            raise UsageError(f"{option.opts[0]} goes with {needed}; leave it out, or give that")
