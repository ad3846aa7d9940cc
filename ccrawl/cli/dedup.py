"""`ccrawl dedup`: how much of a dataset is the same page twice."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ccrawl.duplicates.options import DedupOptions, Keep, Linkage
from ccrawl.errors import UsageError
from ccrawl.spark import Runner
from ccrawl.units import parse_size

_DEFAULTS = DedupOptions()
_NEAR, _OUT, _RUN = "What is a duplicate", "What to write", "How to run"


def command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Parquet files, folders, globs or URLs.", show_default=False),
    ],
    distance: Annotated[
        int,
        typer.Option(
            "--distance",
            "-d",
            metavar="BITS",
            help="Documents are near when at most this many of 64 bits differ, 0 to 16.",
            rich_help_panel=_NEAR,
        ),
    ] = _DEFAULTS.distance,
    min_bytes: Annotated[
        int,
        typer.Option(
            metavar="N", help="Look for near copies of documents with N bytes or more.", rich_help_panel=_NEAR
        ),
    ] = _DEFAULTS.min_bytes,
    keep: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Which document of a cluster stays: longest, first (of the input) or shortest-url.",
            rich_help_panel=_NEAR,
        ),
    ] = _DEFAULTS.keep,
    linkage: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="component: near any member is in. representative: near the one kept is in, no chains.",
            rich_help_panel=_NEAR,
        ),
    ] = _DEFAULTS.linkage,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Report what of PATH... is already in this other dataset. May be repeated.",
            rich_help_panel=_NEAR,
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Show the N largest clusters.", rich_help_panel=_OUT)
    ] = 10,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON.", rich_help_panel=_OUT)
    ] = False,
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.parquet",
            help="Write every member of every cluster; with --against, every row that is already there.",
            rich_help_panel=_OUT,
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html", help="Write a report to look at.", rich_help_panel=_OUT, show_default=False
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print nothing but errors, or the JSON.", rich_help_panel=_OUT),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Working memory, as in 2GiB; what needs more goes to files in --scratch.",
            rich_help_panel=_RUN,
            show_default="all in memory",
        ),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where --memory puts its files.",
            rich_help_panel=_RUN,
            show_default="the system's temporary folder",
        ),
    ] = None,
    runner: Annotated[
        str, typer.Option(metavar="NAME", help="local, or spark for a cluster.", rich_help_panel=_RUN)
    ] = _DEFAULTS.runner,
    spark_master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where Spark runs, as in local[4].",
            rich_help_panel=_RUN,
            show_default="as spark-submit says",
        ),
    ] = None,
) -> None:
    """Report exact and near duplicates of a dataset. The dataset is only read.

    Exact duplicates have byte-identical Markdown. Near duplicates have fingerprints that differ in few bits,
    and lengths within a factor of two; every such pair is found.

    Example: ccrawl dedup dataset --clusters clusters.parquet --html duplicates.html
    """
    from ccrawl.cli import dedup_text
    from ccrawl.duplicates import dedup, dedup_against, output

    options = DedupOptions(
        distance=distance,
        min_bytes=min_bytes,
        keep=cast(Keep, keep),
        linkage=cast(Linkage, linkage),
        memory=None if memory is None else parse_size(memory),
        scratch=scratch,
        runner=cast(Runner, runner),
        spark_master=spark_master,
    )
    output.check_outputs([clusters, html], [*paths, *(against or [])])
    notice = _silent if quiet else _say
    if against:
        if html is not None:
            raise UsageError("--html shows the clusters of one dataset; leave it out with --against")
        matches = dedup_against(paths, against, options=options, notice=notice)
        if clusters is not None:
            output.write_matches(matches, clusters)
        _print(
            output.against_as_json(matches, top) if as_json else None,
            dedup_text.against_as_text(matches, top),
            quiet,
        )
        return
    report = dedup(paths, options=options, notice=notice)
    if clusters is not None:
        output.write_clusters(report, clusters)
    if html is not None:
        from ccrawl.duplicates.html import write_html

        write_html(report, html, paths)
    _print(output.as_json(report, top) if as_json else None, dedup_text.as_text(report, top), quiet)


def _print(values: dict[str, Any] | None, text: str, quiet: bool) -> None:
    if values is not None:
        print(json.dumps(values, ensure_ascii=False, indent=1))
    elif not quiet:
        print(text)


def _say(message: str) -> None:
    print(f"ccrawl: {message}", file=sys.stderr)


def _silent(_: str) -> None:
    pass
