"""`ccrawl refetch`: what every URL says now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import ccrawl
from ccrawl.archives import BASE_URL, Source, crawl_sources
from ccrawl.cli import progress, summary
from ccrawl.cli.options import (
    KEEP,
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
    NoCard,
    NoCommit,
    Out,
    Overwrite,
    PageTimeout,
    Quiet,
    Shards,
    Strict,
    WorkerMemory,
    Workers,
    rules_of,
)
from ccrawl.errors import UsageError
from ccrawl.fetching.options import RefetchOptions
from ccrawl.fetching.types import FetchOptions
from ccrawl.html.options import ExtractOptions, RenderOptions
from ccrawl.run.options import ExportOptions
from ccrawl.units import binary_size, parse_size, path_named

_PAGES, _FETCH = ExportOptions(), FetchOptions()
_MAX_BODY, _WORKER_MEMORY = map(binary_size, (_FETCH.max_body, _PAGES.worker_memory))
_ASK = "How to ask"


def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Archives, datasets, lists of URLs; - for stdin.",
            show_default=False,
        ),
    ] = None,
    *,
    out: Out,
    crawl: Crawl = _PAGES.crawl,
    shards: Shards = None,
    base_url: BaseUrl = BASE_URL,
    cache: Cache = None,
    limit: Limit = None,
    contact: Annotated[
        str,
        typer.Option(
            metavar="MAIL|URL",
            help="Where owners of sites reach you; needed.",
            rich_help_panel=_ASK,
            show_default=False,
        ),
    ] = _FETCH.contact,
    connections: Annotated[
        int, typer.Option(metavar="N", min=1, help="Requests at a time, in all.", rich_help_panel=_ASK)
    ] = _FETCH.connections,
    per_host: Annotated[
        int, typer.Option(metavar="N", min=1, help="Requests at a time to a host.", rich_help_panel=_ASK)
    ] = _FETCH.per_host,
    rate: Annotated[
        float,
        typer.Option(
            metavar="R", min=0, help="Requests a second to a host, 0: no limit.", rich_help_panel=_ASK
        ),
    ] = _FETCH.rate,
    timeout: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="Seconds for a URL, in all.", rich_help_panel=_ASK)
    ] = _FETCH.total_timeout,
    connect_timeout: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="Seconds to connect.", rich_help_panel=_ASK)
    ] = _FETCH.connect_timeout,
    idle_timeout: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="Seconds of silence.", rich_help_panel=_ASK)
    ] = _FETCH.idle_timeout,
    max_body: Annotated[
        str, typer.Option(metavar="SIZE", help="The longest body, decoded.", rich_help_panel=_ASK)
    ] = _MAX_BODY,
    max_redirects: Annotated[
        int, typer.Option(metavar="N", min=0, help="Redirects to follow.", rich_help_panel=_ASK)
    ] = _FETCH.max_redirects,
    ignore_robots: Annotated[
        bool, typer.Option("--ignore-robots", help="Do not ask for robots.txt.", rich_help_panel=_ASK)
    ] = False,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private", help="Fetch from addresses that are not public.", rich_help_panel=_ASK
        ),
    ] = False,
    fetch_only: Annotated[
        bool,
        typer.Option(
            "--fetch-only",
            help="Keep HTML, convert later: ccrawl convert-dataset.",
            rich_help_panel=KEEP,
        ),
    ] = False,
    no_compare: Annotated[
        bool,
        typer.Option("--no-compare", help="Don't convert archived pages to compare.", rich_help_panel=KEEP),
    ] = False,
    warc: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write all exchanges to WARC files.",
            rich_help_panel=KEEP,
            show_default=False,
            parser=path_named,
        ),
    ] = None,
    wacz: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.wacz",
            help="Pack them into a WACZ.",
            rich_help_panel=KEEP,
            show_default=False,
            parser=path_named,
        ),
    ] = None,
    dedup_digest: DedupDigest = False,
    dedup_index: DedupIndex = None,
    dedup_min_bytes: DedupMinBytes = str(_PAGES.dedup_min_bytes),
    dedup_normalize: DedupNormalize = None,
    no_commit: NoCommit = False,
    extractor: Extractor = _PAGES.extractor,
    favor: Favor = _PAGES.extract.favor,
    links: Links = _PAGES.extract.render.links,
    images: Images = _PAGES.extract.render.images,
    headings: Headings = _PAGES.extract.render.headings,
    page_timeout: PageTimeout = _PAGES.page_timeout,
    workers: Workers = None,
    worker_memory: WorkerMemory = _WORKER_MEMORY,
    overwrite: Overwrite = False,
    strict: Strict = False,
    no_card: NoCard = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Fetch what every URL of archives, datasets or lists says now: a row each,
    failures too, in the order of the input. The same command again goes on.

    Example: ccrawl refetch dataset --out today --contact mail@example.org
    """
    if no_commit and dedup_index is None:
        raise UsageError("--no-commit says what becomes of a run in a --dedup-index; give one")
    if "" in (sources or []) or dedup_index == "":
        raise UsageError("a SOURCE or --dedup-index is empty (a variable that is not set?)")
    if bool(sources) == (shards is not None):
        raise UsageError("say what to fetch: SOURCE..., or --crawl ID --shards 0-9")
    body = parse_size(max_body)
    options = RefetchOptions(
        fetch=FetchOptions(
            connections=connections,
            per_host=per_host,
            rate=rate,
            connect_timeout=connect_timeout,
            idle_timeout=idle_timeout,
            total_timeout=timeout,
            max_body=body,
            max_redirects=max_redirects,
            contact=contact,
            allow_private=allow_private,
            ignore_robots=ignore_robots,
        ),
        pages=ExportOptions(
            extractor=extractor,
            extract=ExtractOptions(
                favor=favor, render=RenderOptions(links=links, images=images, headings=headings)
            ),
            dedup_digest=dedup_digest,
            dedup_min_bytes=parse_size(dedup_min_bytes),
            dedup_normalize=rules_of(dedup_normalize, used=dedup_digest or dedup_index is not None),
            limit=limit,
            crawl=crawl,
            strict=strict,
            max_page_bytes=body,
            page_timeout=page_timeout,
            worker_memory=parse_size(worker_memory),
        ),
        fetch_only=fetch_only,
        compare=not no_compare,
    )
    given: Sequence[str | Source] = sources or []
    if shards is not None:
        given = crawl_sources(crawl, shards, kind="warc", base_url=base_url, cache=str(cache or ""))
    with progress.listener(as_json=as_json, quiet=quiet) as listener:
        report = ccrawl.refetch(
            given,
            out,
            options=options,
            workers=workers,
            overwrite=overwrite,
            cache=cache,
            dedup_index=dedup_index,
            commit=not no_commit,
            warc=warc,
            wacz=wacz,
            card=not no_card,
            listener=listener,
        )
    if as_json:
        print(json.dumps(summary.refetch_as_json(report), ensure_ascii=False, indent=1))
    else:
        print(summary.refetch_as_text(report))
    return 0 if report.complete else 3
