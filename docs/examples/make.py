#!/usr/bin/env python3
"""Make the example card in docs/examples/sample from samples/sample.warc.gz, as a user would.

docs/examples/make.py            write it
docs/examples/make.py --check    change nothing; exit 1 and name the files that are out of date
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import ccrawl
from ccrawl.dataset.card import CardOptions, card
from ccrawl.duplicates import dedup, output
from ccrawl.run.options import ExportOptions

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parent.parent / "samples" / "sample.warc.gz"


def make(folder: Path) -> dict[str, bytes]:
    """The card of the sample: its files by path. `folder` is empty, and is worked in."""
    dataset = folder / "sample"
    ccrawl.export(SAMPLE, dataset, options=ExportOptions(crawl="sample", dedup_digest=True), workers=1)
    report = dedup([str(dataset)])
    (folder / "dedup.json").write_text(json.dumps(output.as_json(report, 10)))
    output.write_clusters(report, folder / "clusters.parquet")
    options = CardOptions(
        name="The sample archive",
        license="apache-2.0",
        contact="the maintainers of ccrawl",
        dedup_report=folder / "dedup.json",
        clusters=folder / "clusters.parquet",
    )
    made = card(dataset, options=options)
    return {path.relative_to(dataset).as_posix(): path.read_bytes() for path in (made.path, *made.pictures)}


def stale(files: dict[str, bytes]) -> list[str]:
    """The committed files that are not what `make` gives, and those it does not give."""
    committed = {
        path.relative_to(HERE / "sample").as_posix(): path.read_bytes()
        for path in (HERE / "sample").rglob("*")
        if path.is_file()
    }
    return sorted(name for name in {*files, *committed} if files.get(name) != committed.get(name))


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        files = make(Path(folder))
    changed = stale(files)
    for name in changed:
        path = HERE / "sample" / name
        if "--check" in arguments:
            print(f"docs/examples/sample/{name}: out of date; run docs/examples/make.py")
        elif name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
            print(f"docs/examples/sample/{name}: written")
        else:
            path.unlink()
            print(f"docs/examples/sample/{name}: removed")
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
