"""Options that more than one command has: each said in one place. Their defaults stand with the API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ccrawl.errors import UsageError
from ccrawl.run.options import Normalize
from ccrawl.units import path_named

READ, KEEP, CONVERT, RUN = "What to read", "What to keep", "How to convert", "How to run"

Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="DIR", help="The dataset's folder.", show_default=False, parser=path_named
    ),
]
Crawl = Annotated[
    str,
    typer.Option(metavar="ID", help="The crawl: files go to DIR/data/crawl=ID.", rich_help_panel=READ),
]
Shards = Annotated[
    str | None,
    typer.Option(
        metavar="0-9,20|all",
        help="Read these shards of --crawl.",
        rich_help_panel=READ,
        show_default=False,
    ),
]
BaseUrl = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Where the crawl's files are.",
        rich_help_panel=READ,
        show_default="Common Crawl's",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Keep copies of remote archives here.", rich_help_panel=READ, show_default=False
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Pages of each shard.", rich_help_panel=READ, show_default="all"),
]
MaxPageBytes = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Larger pages are passed over.", rich_help_panel=READ),
]
ResolveRevisits = Annotated[
    bool,
    typer.Option(
        "--resolve-revisits",
        help="Revisits become rows, with their originals' body.",
        rich_help_panel=READ,
    ),
]
DedupDigest = Annotated[
    bool,
    typer.Option(
        "--dedup-digest",
        help="Drop byte-identical pages of a shard.",
        rich_help_panel=KEEP,
    ),
]
DedupIndex = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Drop what runs before have: a folder or redis://.",
        rich_help_panel=KEEP,
        show_default=False,
    ),
]
DedupMinBytes = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Smaller pages are never duplicates.", rich_help_panel=KEEP),
]
DedupNormalize = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Pages alike under these rules are duplicates, too.",
        rich_help_panel=KEEP,
        show_default=False,
        parser=path_named,
    ),
]
NoCommit = Annotated[
    bool,
    typer.Option(
        "--no-commit",
        help="Leave the run to `ccrawl index commit`.",
        rich_help_panel=KEEP,
    ),
]
Extractor = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="main, raw, markdownify or wet.",
        rich_help_panel=CONVERT,
    ),
]
Favor = Annotated[
    Literal["precision", "balanced", "recall"],
    typer.Option(metavar="HOW", help="precision, balanced or recall.", rich_help_panel=CONVERT),
]
Links = Annotated[
    Literal["keep", "drop", "reference"],
    typer.Option(help="Links, their text, or a list at the end.", rich_help_panel=CONVERT),
]
Images = Annotated[
    Literal["keep", "alt", "drop"],
    typer.Option(help="Images, their text, or nothing.", rich_help_panel=CONVERT),
]
Headings = Annotated[
    Literal["atx", "setext"],
    typer.Option(help="# Title, or underlined.", rich_help_panel=CONVERT),
]
PageTimeout = Annotated[
    float,
    typer.Option(metavar="S", min=0.1, help="Set a page aside after S seconds.", rich_help_panel=CONVERT),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "-j",
        metavar="N",
        min=1,
        max=1024,
        help="Worker processes.",
        rich_help_panel=RUN,
        show_default="cores",
    ),
]
WorkerMemory = Annotated[
    str, typer.Option(metavar="SIZE", help="Memory that one worker may use.", rich_help_panel=RUN)
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Start again instead of going on.", rich_help_panel=RUN)
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first damage or failure.", rich_help_panel=RUN)
]
NoCard = Annotated[
    bool, typer.Option("--no-card", help="Leave the dataset's card as it is.", rich_help_panel=RUN)
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Events as JSON lines on stderr, the summary on stdout.", rich_help_panel=RUN
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, only the summary.", rich_help_panel=RUN)
]


def rules_of(path: Path | None, *, used: bool) -> Normalize:
    """The rules of --dedup-normalize. UsageError for a bad file, and when nothing is compared by them."""
    if path is None:
        return Normalize()
    if not used:
        raise UsageError(
            "--dedup-normalize says what --dedup-digest or --dedup-index compare; give one of them"
        )
    return Normalize.read(path)
