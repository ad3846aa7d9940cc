"""`ccrawl merge`: the outputs of several machines as one dataset."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from ccrawl.dataset.merge import merge
from ccrawl.units import count, path_named, size


def command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Two datasets or more.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The new dataset's folder.",
            show_default=False,
            parser=path_named,
        ),
    ],
    link: Annotated[
        bool, typer.Option("--link", help="Make hard links instead of copies: no space, one file system.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> int:
    """Join datasets that several machines made into a new one.

    They must be of one version and of the same options; a shard that two of
    them hold must have the same bytes. They are only read, and nothing is
    written over. The same command again finishes a merge that was stopped.

    Example: ccrawl merge machine-1/out machine-2/out --out dataset
    """
    report = merge(directories, out, link=link)
    if as_json:
        values = {**dataclasses.asdict(report), "directory": str(report.directory)}
        print(json.dumps(values, ensure_ascii=False, indent=1))
    else:
        print(
            f"merged   {count(report.datasets, 'dataset')} into {report.directory}: "
            f"{count(report.shards, 'shard')}, {count(report.rows, 'row')}, {size(report.file_bytes)}"
        )
        if report.same:
            print(f"same     {count(report.same, 'shard')} in more than one, taken once")
        if report.renumbered:
            print("numbers  given anew, by the names of the sources")
        for failed in report.failed_shards:
            print(f"failed   {failed.error}")
    return 3 if report.failed_shards else 0
