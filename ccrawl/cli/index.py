"""`ccrawl index`: look at a dedupe index, commit and remove runs, take other tools' crawls in."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ccrawl.errors import UsageError
from ccrawl.index import Counts, Crawl, DedupIndex, Stats, open_index
from ccrawl.units import count, size

app = typer.Typer(
    help="Keep the dedupe index: which payloads earlier runs and crawls have captured.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_Index = Annotated[
    str,
    typer.Option(
        "--dedup-index",
        "-i",
        metavar="URL",
        envvar="CCRAWL_DEDUP_INDEX",
        help="The index: a folder, or redis://host:port/db.",
        show_default=False,
    ),
]
# The commands that need nothing else take the index as their argument, too.
_Here = Annotated[
    str | None,
    typer.Argument(metavar="URL", help="The index, as with --dedup-index.", show_default=False),
]
_Optional = Annotated[
    str | None,
    typer.Option(
        "--dedup-index",
        "-i",
        metavar="URL",
        envvar="CCRAWL_DEDUP_INDEX",
        help="The index: a folder, or redis://host:port/db.",
        show_default=False,
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Force = Annotated[
    bool, typer.Option("--force", help="Also crawls that an open run sees; it may keep what they had.")
]
_TAKE, _RUN = "What to take", "How to run"


@app.command("list", no_args_is_help=False)
def list_crawls(url: _Here = None, dedup_index: _Optional = None, as_json: _Json = False) -> None:
    """List the crawls: committed ones, and runs that are open or wait to be committed."""
    with _open(_one_of(url, dedup_index)) as index:
        crawls = index.crawls()
    if as_json:
        _print_json([dataclasses.asdict(crawl) for crawl in crawls])
    else:
        for crawl in crawls:
            print(_crawl_line(crawl))


@app.command(no_args_is_help=False)
def stats(url: _Here = None, dedup_index: _Optional = None, as_json: _Json = False) -> None:
    """Show how much the committed crawls hold, and how much of it once only."""
    with _open(_one_of(url, dedup_index)) as index:
        found = index.stats()
    if as_json:
        _print_json(dataclasses.asdict(found))
    else:
        print(_stats_text(found))


@app.command(no_args_is_help=False)
def verify(url: _Here = None, dedup_index: _Optional = None) -> int:
    """Recount everything. Exit code 1 when something does not add up."""
    with _open(_one_of(url, dedup_index)) as index:
        wrong = index.verify()
        crawls = index.stats().crawls
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{count(crawls, 'crawl')}: everything adds up")
    return 1 if wrong else 0


@app.command(no_args_is_help=False)
def compact(url: _Here = None, dedup_index: _Optional = None) -> None:
    """Give back space, and remove what interrupted commands left."""
    with _open(_one_of(url, dedup_index)) as index:
        index.compact()


@app.command()
def commit(run: Annotated[str, typer.Argument(metavar="RUN")], dedup_index: _Index) -> None:
    """Make a finished run count for runs that begin from now on (after export --no-commit)."""
    with _open(dedup_index) as index:
        print(_crawl_line(index.commit(run)))


@app.command()
def cancel(run: Annotated[str, typer.Argument(metavar="RUN")], dedup_index: _Index) -> None:
    """Drop a run that is not committed."""
    with _open(dedup_index) as index:
        if not index.cancel(run):
            raise UsageError(f"{index.location}: there is no open run {run}")


@app.command()
def remove(
    crawls: Annotated[list[str], typer.Argument(metavar="CRAWL...")],
    dedup_index: _Index,
    force: _Force = False,
) -> None:
    """Take committed crawls out. What another crawl has too stays, as that one's."""
    with _open(dedup_index) as index:
        index.remove(crawls, force=force)


@app.command("import")
def import_(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="WACZ files and manifests, CDX and CDXJ files, WARC files, datasets, folders, globs.",
            show_default=False,
        ),
    ],
    dedup_index: _Index,
    crawl: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The crawl that the sources belong to, where a manifest names none.",
            rich_help_panel=_TAKE,
            show_default="each file one",
        ),
    ] = None,
    status: Annotated[
        str,
        typer.Option(
            metavar="CODES", help="Take these HTTP statuses: 200 or 200,206 or any.", rich_help_panel=_TAKE
        ),
    ] = "200",
    media_type: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE",
            help="Take this media type only. May be repeated.",
            rich_help_panel=_TAKE,
            show_default="every type",
        ),
    ] = None,
    remove_others: Annotated[
        bool,
        typer.Option(
            "--remove-others",
            help="Afterwards, take out all crawls that the sources don't name.",
            rich_help_panel=_TAKE,
        ),
    ] = False,
    force: _Force = False,
    workers: Annotated[
        int,
        typer.Option("--workers", "-j", metavar="N", min=1, help="Reading processes.", rich_help_panel=_RUN),
    ] = 1,
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where sorted files go for a while.",
            rich_help_panel=_RUN,
            show_default="the system's temporary folder",
        ),
    ] = None,
    as_json: _Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_RUN)] = False,
) -> int:
    """Take in what other tools and former runs have captured. What the index has already is left out.

    Example: ccrawl index import collection.json --dedup-index index --workers 2
    """
    from ccrawl.index.collect import ImportPolicy
    from ccrawl.index.importer import import_sources

    with _open(dedup_index, create=True) as index:
        report = import_sources(
            index,
            sources,
            crawl=crawl,
            policy=ImportPolicy(_statuses(status), frozenset(media_type) if media_type else None),
            workers=workers,
            remove_others=remove_others,
            force=force,
            scratch=scratch,
            notice=_silent if quiet else _say,
        )
    if as_json:
        _print_json(dataclasses.asdict(report))
    else:
        known = f", {report.known:,} known before" if report.known else ""
        print(f"{count(report.packages, 'package')} taken in{known}: {count(report.records, 'record')}")
        for cause, number in report.skipped.items():
            print(f"left out, {cause}: {number:,}")
        for failure in report.failed:
            print(f"failed: {failure}")
        for removed in report.removed:
            print(f"removed: {removed}")
    return 3 if report.failed else 0


def _one_of(argument: str | None, option: str | None) -> str:
    """The index that a command is given: as its argument, which comes first, or as an option."""
    location = option if argument is None else argument
    if not location:
        raise UsageError("say which index: a folder or redis://host:port/db, or set CCRAWL_DEDUP_INDEX")
    return location


def _open(location: str, *, create: bool = False) -> DedupIndex:
    return open_index(location, create=create)


def _statuses(text: str) -> frozenset[int] | None:
    if text == "any":
        return None
    codes = text.split(",")
    if not all(code.strip().isdecimal() and len(code.strip()) == 3 for code in codes):
        raise UsageError(f"--status: {text!r} is no list of HTTP statuses, as in 200,206, and not any")
    return frozenset(int(code) for code in codes)


def _crawl_line(crawl: Crawl) -> str:
    if crawl.state == "open":
        return f"{crawl.id}  open"
    owned = "" if crawl.owned is None else f", {count(crawl.owned, 'first copy', 'first copies')}"
    files = f", {count(len(crawl.packages), 'package')}" if crawl.packages else ""
    return f"{crawl.id}  {crawl.state}  {_counts_text(crawl.counts)}{owned}{files}"


def _counts_text(counts: Counts) -> str:
    return (
        f"{count(counts.total, 'capture')}, {count(counts.duplicates, 'duplicate')}, "
        f"{size(counts.conserved)} conserved"
    )


def _stats_text(found: Stats) -> str:
    lines = [
        ("crawls", f"{found.crawls:,} ({found.unfinished:,} more not committed)"),
        ("captures", f"{found.counts.total:,}"),
        ("unique", f"{found.unique:,}"),
        ("duplicates", f"{found.counts.duplicates:,}"),
        ("redundant", f"{found.redundant:,}"),
        ("conserved", size(found.counts.conserved)),
        ("files", size(found.counts.size)),
    ]
    return "\n".join(f"{name:<11} {value}" for name, value in lines)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def _say(message: str) -> None:
    print(f"ccrawl: {message}", file=sys.stderr)


def _silent(_: str) -> None:
    pass
