"""Exporting again what verify found broken, under the manifest's own options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ccrawl import __version__
from ccrawl.archives import Source
from ccrawl.dataset.ledger import Ledger
from ccrawl.dataset.manifest import Manifest, read_manifest
from ccrawl.dataset.verify.faults import MENDED_BY_EXPORT, Fault
from ccrawl.dataset.verify.run import faults_of_shards, source_named
from ccrawl.errors import OutputError
from ccrawl.run.export import run_export
from ccrawl.run.options import ExportOptions


def export_again(
    directory: Path, manifest: Manifest, sources: Sequence[Source], faults: Iterable[Fault], *, workers: int
) -> tuple[str, ...]:
    """Take the broken shards out of the ledger and export what is then missing; returns the files redone.

    A broken shard whose source was not given stays as it is. Files that no manifest knows are left alone:
    someone put them there. Raises OutputError when the dataset is of another version of ccrawl or of several
    crawls.
    """
    options = options_of(directory, manifest)
    broken = {
        file for file, codes in faults_of_shards(faults).items() if not codes.isdisjoint(MENDED_BY_EXPORT)
    }
    wanted = {entry.number: entry.source for entry in manifest.shards if entry.file in broken}
    wanted |= {failed.number: failed.source for failed in manifest.failed}
    by_name = {source.name: source for source in sources}
    found = {number: source_named(name, by_name) for number, name in wanted.items()}
    # Under the manifest's number and name: what was given may be a local copy, or one of many files.
    again = [
        replace(source, number=number, name=wanted[number])
        for number, source in sorted(found.items())
        if source is not None
    ]
    with Ledger.open(directory, options.for_manifest(), __version__) as ledger:
        for source in again:
            ledger.shards.pop(source.number or 0, None)
        ledger.save()
    if again:
        run_export(again, directory, options, workers=workers)
    numbers = {source.number for source in again}
    return tuple(entry.file for entry in read_manifest(directory).shards if entry.number in numbers)


def options_of(directory: Path, manifest: Manifest) -> ExportOptions:
    """The options that the dataset was made with, limits of time and memory at their defaults."""
    if len(manifest.crawls) > 1:
        raise OutputError(f"{directory}: holds several crawls; repair each before they are merged")
    if manifest.version != __version__:
        raise OutputError(
            f"{directory}: was made by ccrawl {manifest.version}, this is {__version__}; "
            "repair it with that version, or export it again with --overwrite"
        )
    if manifest.options.get("dedup_index"):
        raise OutputError(
            f"{directory}: was made with a dedupe index; give the same export command again, "
            "which makes the files that are damaged or missing anew"
        )
    try:
        return ExportOptions.from_manifest(manifest.options)
    except TypeError as error:
        raise OutputError(f"{directory}: was made with options that this version does not know") from error
