"""`ccrawl publish`: a dataset onto a hub."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrawl.units import count, size

if TYPE_CHECKING:
    from ccrawl.dataset.publish import PublishReport

_LISTED = 20


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The dataset's folder.", show_default=False)
    ],
    repo: Annotated[
        str, typer.Option(metavar="ORG/NAME", help="The hub's dataset repository.", show_default=False)
    ],
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository a private one, when it is new.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove data files from it that this dataset does not have.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be sent; nothing is changed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Publish a dataset on a hub: shards in batches, each file once, the card last.

    The access token is the one of huggingface_hub: HF_TOKEN, or that of
    `hf auth login`. The same command again goes on where it was stopped.

    Example: ccrawl publish dataset --repo org/name --dry-run
    """
    from ccrawl.dataset.publish import publish

    report = publish(
        directory,
        repo,
        private=private,
        prune=prune,
        dry_run=dry_run,
        on_commit=None if as_json else _told,
    )
    if as_json:
        values = {**dataclasses.asdict(report), "sent_bytes": report.sent_bytes}
        print(json.dumps(values, ensure_ascii=False, indent=1))
    else:
        print(_as_text(report))


def _told(files: int, of: int, sent: int) -> None:
    print(f"{files:,} of {count(of, 'file')} committed, {size(sent)}", file=sys.stderr, flush=True)


def _as_text(report: PublishReport) -> str:
    verb = "would send" if report.dry_run else "sent"
    lines = [f"{verb} {count(len(report.sent), 'file')}, {size(report.sent_bytes)}, to {report.repo}"]
    if report.dry_run:
        lines += [f"  {upload.path}  {size(upload.bytes)}" for upload in report.sent[:_LISTED]]
        if len(report.sent) > _LISTED:
            lines.append(f"  and {len(report.sent) - _LISTED:,} more")
    if report.there:
        lines.append(f"{count(len(report.there), 'file')} there already")
    if report.strangers:
        state = "removed" if report.removed else "of other data there; --prune removes them"
        lines.append(f"{count(len(report.strangers), 'file')} {state}")
    return "\n".join(lines)
