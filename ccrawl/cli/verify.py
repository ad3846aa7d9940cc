"""`ccrawl verify`: is the dataset what it says it is?"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ccrawl.dataset.verify.faults import FAULTS, Fault
from ccrawl.units import count, size

if TYPE_CHECKING:
    from ccrawl.dataset.verify import VerifyReport

_CHECK, _RUN = "What to check", "How to run"
_LISTED = 100


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The dataset's folder.", show_default=False)
    ],
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Read the archives again too: files, folders or globs. May be repeated.",
            rich_help_panel=_CHECK,
            show_default=False,
        ),
    ] = None,
    files_only: Annotated[
        bool,
        typer.Option(
            "--files-only",
            help="Check sizes, hashes and metadata of the files, but not every row.",
            rich_help_panel=_CHECK,
        ),
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Export the shards that fail again, from the archives that --source names.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", "-j", metavar="N", min=1, help="Processes.", rich_help_panel=_RUN)
    ] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON.", rich_help_panel=_RUN)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, only the result.", rich_help_panel=_RUN)
    ] = False,
) -> int:
    """Check a dataset: its files, its rows, and the archives behind them.

    Files are held against the manifest, rows against their own laws.
    Exits with 3 when something is wrong, after a list of what.

    Example: ccrawl verify dataset --source 'crawl/*.warc.gz' --repair
    """
    from ccrawl.dataset.verify import verify

    report = verify(
        directory,
        sources=source,
        rows=not files_only,
        repair=repair,
        workers=workers,
        on_shard=None if quiet or as_json or not sys.stderr.isatty() else _progress,
    )
    if as_json:
        print(json.dumps(_as_json(report), ensure_ascii=False, indent=1))
    else:
        print(_as_text(report))
    return 0 if report.ok else 3


def _progress(done: int, shards: int, file: str) -> None:
    end = "\n" if done == shards else ""
    print(f"\r{done:,} of {count(shards, 'shard')} checked", end=end, file=sys.stderr, flush=True)


def _as_json(report: VerifyReport) -> dict[str, Any]:
    return {
        **dataclasses.asdict(report),
        "directory": str(report.directory),
        "ok": report.ok,
        "by_code": report.by_code,
    }


def _as_text(report: VerifyReport) -> str:
    checked = f"{count(report.shards, 'shard')}, {count(report.rows, 'row')}, {size(report.file_bytes)}"
    if not report.rows_checked:
        checked += "; rows were not looked at"
    if report.sources:
        checked += f"; {count(report.sources, 'archive')} read again"
    lines = [f"checked  {checked}"]
    lines += [f"again    {file}" for file in report.repaired]
    lines += [f"fault    {_fault(fault)}" for fault in report.faults[:_LISTED]]
    if len(report.faults) > _LISTED:
        lines.append(f"         {len(report.faults) - _LISTED:,} more; --json lists all")
    lines += [f"{number:7,}  {code}: {FAULTS[code]}" for code, number in report.by_code.items()]
    if report.ok:
        lines.append(
            "result   all is well"
            if report.shards
            else "result   no shard is finished: there was nothing to check"
        )
    return "\n".join(lines)


def _fault(fault: Fault) -> str:
    where = _printable(fault.where)
    if fault.first_row is not None:
        where += f" row {fault.first_row:,}"
        if fault.rows > 1:
            where += f" and {count(fault.rows - 1, 'more row')}"
    return f"{where}: {fault.code}: {_printable(fault.detail)}"


def _printable(text: str) -> str:
    """Without what a terminal would obey."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
