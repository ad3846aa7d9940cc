"""Exporting again what verify found broken, under the manifest's own options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

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

    Files that no manifest knows are left alone: someone put them there. Raises OutputError when the dataset
    is of another version of ccrawl or of several crawls, or when `sources` are not those of the export.
    """
    options = options_of(directory, manifest)
    broken = {
        file for file, codes in faults_of_shards(faults).items() if not codes.isdisjoint(MENDED_BY_EXPORT)
    }
    before = {entry.file for entry in manifest.shards} - broken
    with Ledger.open(directory, options.for_manifest(), __version__) as ledger:
        for number, entry in list(ledger.shards.items()):
            if entry.file in broken:
                del ledger.shards[number]
        ledger.save()
    run_export(_those_of(manifest, sources), directory, options, workers=workers)
    after = {entry.file for entry in read_manifest(directory).shards}
    return tuple(sorted(after - before))


def _those_of(manifest: Manifest, sources: Sequence[Source]) -> Sequence[Source]:
    """The dataset's own sources out of all that were given, as they were numbered.

    Where a number is missing from the manifest nobody knows its source: then all that were given are taken,
    and the export refuses them unless they are those of the first time.
    """
    by_name = {source.name: source for source in sources}
    names = {shard.number: shard.source for shard in manifest.shards}
    names |= {failed.number: failed.source for failed in manifest.failed}
    if sorted(names) != list(range(len(names))):
        return sources
    found = [source_named(names[number], by_name) for number in range(len(names))]
    return [source for source in found if source is not None] if None not in found else sources


def options_of(directory: Path, manifest: Manifest) -> ExportOptions:
    """The options that the dataset was made with, limits of time and memory at their defaults."""
    if len(manifest.crawls) > 1:
        raise OutputError(f"{directory}: holds several crawls; repair each before they are merged")
    if manifest.version != __version__:
        raise OutputError(
            f"{directory}: was made by ccrawl {manifest.version}, this is {__version__}; "
            "repair it with that version, or export it again with --overwrite"
        )
    values = manifest.options
    if values.get("dedup_index"):
        raise OutputError(
            f"{directory}: was made with a dedupe index; give the same export command again, "
            "which makes the files that are damaged or missing anew"
        )
    known = {field.name for field in fields(ExportOptions)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise OutputError(f"{directory}: was made with options that this version does not know: {unknown[0]}")
    arguments: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return ExportOptions(**arguments)
