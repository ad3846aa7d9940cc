"""`ccrawl card`: a dataset's README, every number read from its files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ccrawl.dataset.card.options import CardOptions
from ccrawl.errors import UsageError
from ccrawl.units import count

if TYPE_CHECKING:
    from ccrawl.dataset.card import CardReport

_DEFAULTS = CardOptions()
_SAYS, _ADDS, _OUT = "What the card says", "What it adds", "What to write"


def command(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The dataset's folder.", show_default=False)
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The dataset's name for people.",
            rich_help_panel=_SAYS,
            show_default="the folder's",
        ),
    ] = None,
    description: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What it is, as plain text.",
            rich_help_panel=_SAYS,
            show_default="made from the numbers",
        ),
    ] = None,
    repo: Annotated[
        str | None,
        typer.Option(
            metavar="ORG/NAME",
            help="Its place on the hub: the card then loads it from there.",
            rich_help_panel=_SAYS,
            show_default=False,
        ),
    ] = None,
    license: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="A licence as hubs name it.",
            rich_help_panel=_SAYS,
            show_default=_DEFAULTS.license,
        ),
    ] = None,
    license_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --license other: its name.",
            rich_help_panel=_SAYS,
            show_default=_DEFAULTS.license_name,
        ),
    ] = None,
    license_link: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where it stands.", rich_help_panel=_SAYS, show_default=False),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Where removal requests go.", rich_help_panel=_SAYS, show_default=False
        ),
    ] = None,
    dedup: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Add what `ccrawl dedup DIR --json` printed.",
            rich_help_panel=_ADDS,
            show_default=False,
        ),
    ] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.parquet",
            help="With --dedup: draw the distances from its --clusters file.",
            rich_help_panel=_ADDS,
            show_default=False,
        ),
    ] = None,
    estimate_total: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Estimate the whole crawl of N shards from those that are done.",
            rich_help_panel=_ADDS,
            show_default=False,
        ),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Use your own template; --show-template prints ours.",
            rich_help_panel=_OUT,
            show_default=False,
        ),
    ] = None,
    show_template: Annotated[
        bool, typer.Option("--show-template", help="Print the template and exit.", rich_help_panel=_OUT)
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Write README.md and assets/ there.",
            rich_help_panel=_OUT,
            show_default="the dataset's folder",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a README.md whatever it is, keeping none of it.",
            rich_help_panel=_OUT,
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the card's numbers as JSON.", rich_help_panel=_OUT)
    ] = False,
) -> None:
    """Write a dataset's README.md: every number in it is read from the files.

    What you write between its keep lines stays when the card is made again, and
    what it says (name, licence, contact ...) stays unless you say otherwise.

    Example: ccrawl card dataset --license odc-by --contact removal@example.org
    """
    from ccrawl.dataset.card import DEFAULT_TEMPLATE, card, remembered_options

    if show_template:
        print(DEFAULT_TEMPLATE, end="")
        return
    if directory is None:
        raise UsageError("name the dataset's folder, as in ccrawl card dataset")
    said = {
        "name": name,
        "repo": repo,
        "description": description,
        "license": license,
        "license_name": license_name,
        "license_link": license_link,
        "contact": contact,
    }
    former = _DEFAULTS if overwrite else remembered_options(out or directory)
    options = dataclasses.replace(
        former,
        **{option: text for option, text in said.items() if text is not None},
        dedup_report=dedup,
        clusters=clusters,
        estimate_total=estimate_total,
        template=template,
    )
    report = card(directory, options=options, out=out, overwrite=overwrite)
    if as_json:
        print(json.dumps(_as_json(report), ensure_ascii=False, indent=1))
        return
    print(f"wrote {report.path} and {count(len(report.pictures), 'picture')}")
    if report.kept:
        print(f"kept  {', '.join(report.kept)}")


def _as_json(report: CardReport) -> dict[str, Any]:
    facts = dataclasses.asdict(report.facts)
    del facts["manifest"]
    facts["layout"] = report.facts.layout.name
    facts["example"] = report.facts.example._asdict() if report.facts.example else None
    if facts["example"]:
        facts["example"].pop("html", None)  # bytes
    return {
        "path": str(report.path),
        "pictures": [str(path) for path in report.pictures],
        "kept": report.kept,
        "facts": facts,
        "dedup": None if report.dedup is None else dataclasses.asdict(report.dedup),
        "estimates": [dataclasses.asdict(one) for one in report.estimates],
    }
