"""`ccrawl check`: what archives hold and whether they are sound."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated

import typer

from ccrawl.archives.check import MISSING, UNDECIDED, UNREADABLE, VERIFIED, WRONG, FileCheck, check_sources
from ccrawl.archives.sources import find_sources
from ccrawl.units import TOGETHER, count, folded

_LISTED = 20


def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="WARC, ARC, WET and WACZ files, folders, patterns or URLs.",
            show_default=False,
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a file, with every region and digest.")
    ] = False,
    cache: Annotated[
        str,
        typer.Option(metavar="DIR", help="Keep whole remote files in this folder.", show_default=False),
    ] = "",
) -> int:
    """Read archives without converting them: records, pages, digests, damage.

    Exits with 3 when a file is damaged, can't be read, or has a digest that is wrong.

    Example: ccrawl check 'crawl/*.warc.gz'
    """
    sound = True
    for check in check_sources(find_sources(sources, cache=cache)):
        sound = sound and check.sound
        print(json.dumps(check.as_json(), ensure_ascii=False) if as_json else as_text(check), flush=True)
    return 0 if sound else 3


def as_text(check: FileCheck) -> str:
    """The check of one file as people read it."""
    lines = [_printable(check.name)]
    if check.error:
        return "\n".join([*lines, f"  error    {_printable(check.error)}"])
    per_record = {True: ", each record on its own", False: ", records not on their own", None: ""}[
        check.per_record
    ]
    if all(form.endswith("plain") for form in check.forms):
        per_record = ""
    lines.append(folded("  form     ", f"{'; '.join(check.forms) or 'no WARC inside'}{per_record}"))
    lines.append(folded("  records  ", f"{check.records:,}{_by(check.types)}"))
    lines.append(folded("  pages    ", f"{check.pages:,}{_by(check.skipped, 'passed over: ')}"))
    for kind, results in (("block", check.block), ("payload", check.payload)):
        told = [
            f"{results[result]:,} {result}"
            for result in (VERIFIED, WRONG, UNREADABLE, UNDECIDED, MISSING)
            if results[result]
        ]
        lines.append(f"  {kind:8} {', '.join(told) or 'no'} digests")
    for wrong in check.wrong[:_LISTED]:
        where = "" if wrong.offset is None else f" at byte {wrong.offset:,}"
        lines.append(
            f"  wrong    {_printable(wrong.record_id)}{where}: {wrong.kind} digest "
            f"{_printable(wrong.written)}, the bytes have {wrong.computed}"
        )
    for damage in check.damage[:_LISTED]:
        inside = f"{_printable(damage.source)}: " if damage.source != check.name else ""
        lines.append(
            f"  damage   {inside}{damage.cause} at byte {damage.offset:,}, "
            f"{count(damage.length, 'byte')} passed over"
        )
    unlisted = check.damaged.total() - len(check.damage[:_LISTED]) + len(check.wrong[_LISTED:])
    if unlisted:
        lines.append(f"           {unlisted:,} more; --json lists up to 1,000")
    lines.append(f"  result   {'sound' if check.sound else 'not sound'}")
    return "\n".join(lines)


def _by(counts: Counter[str], prefix: str = "") -> str:
    if not counts:
        return ""
    parts = (
        f"{_printable(name) or 'no type'}{TOGETHER}{number:,}" for name, number in sorted(counts.items())
    )
    return f" ({prefix}{', '.join(parts)})"


def _printable(text: str) -> str:
    """Without what a terminal would obey."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
