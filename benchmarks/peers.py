"""Whole pipelines beside each other on the same WARC, and their text on pages with gold: docs/benchmarks.md.

    benchmarks/peers.py WARC --eval EVAL [--cache CACHE] [--every N] [--write]

Each pipeline reads the WARC, makes text of its pages and writes Parquet, in a process of its own with one
worker:

  ccrawl                     `ccrawl export -j 1`, its card included
  datatrove + trafilatura    WarcReader, Trafilatura and ParquetWriter with their defaults
  FastWARC + trafilatura     a plain loop: extract() of each page
  FastWARC + resiliparse     a plain loop: extract_plain_text(main_content=True)
  FastWARC + markdownify     a plain loop: the whole page, since it has no main content

Time and CPU include start-up; memory is the peak of the largest process. Accuracy is the scorer's of EVAL
(score.py and pages/). With CACHE (of fit_content/fit.py) ccrawl's pages are judged by weights that never saw
their site; the corpora that no weights were fitted on need none. `--write` replaces docs/benchmarks.md and its
pictures, else the page goes to stdout.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import content
from export import CCRAWL, DATATROVE, as_installed, child_cpu

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURES = ROOT / "docs" / "pictures"
PACKAGES = (
    "ccrawl",
    "datatrove",
    "trafilatura",
    "resiliparse",
    "fastwarc",
    "markdownify",
    "selectolax",
    "pyarrow",
)


class Measured(NamedTuple):
    """A pipeline on the WARC: wall and CPU seconds, peak bytes of a process, rows written."""

    seconds: float
    cpu: float
    peak: int
    rows: int


def pages_of(path: str) -> Iterator[tuple[str, bytes]]:
    """URL and body of each HTML page with status 200, by FastWARC."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    for record in ArchiveIterator(path, record_types=WarcRecordType.response, parse_http=True):
        http = record.http_headers
        if http is not None and http.status_code == 200 and "html" in (record.http_content_type or ""):
            yield record.headers["WARC-Target-URI"], record.reader.read()


def plain_loop(path: str, out: str, text_of: Callable[[bytes, str], str]) -> int:
    """FastWARC, one function, one Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = []
    for url, body in pages_of(path):
        try:
            text = text_of(body, url)
        except Exception:  # a page that fails makes no row
            continue
        if text:
            rows.append({"url": url, "text": text})
    pq.write_table(pa.Table.from_pylist(rows), Path(out) / "rows.parquet", compression="zstd")
    return len(rows)


def _as_text(body: bytes) -> str:
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    return bytes_to_str(body, detect_encoding(body))


def trafilatura_text(body: bytes, url: str) -> str:
    """trafilatura's main content with its defaults, as Markdown."""
    import trafilatura

    return trafilatura.extract(body, url=url, output_format="markdown") or ""


def resiliparse_text(body: bytes, _url: str) -> str:
    """resiliparse's main content."""
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(_as_text(body), main_content=True)


def markdownify_text(body: bytes, _url: str) -> str:
    """The whole page through markdownify."""
    import markdownify

    return markdownify.markdownify(_as_text(body), heading_style="atx", strip=["script", "style"])


def rows_in(out: str) -> int:
    """Rows of all Parquet files under a folder."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(file).num_rows for file in Path(out).rglob("*.parquet"))


def ccrawl_pipeline(path: str, out: str) -> int:
    """`ccrawl export` with one worker."""
    command = [*CCRAWL, "export", path, "--out", out, "-j", "1", "--quiet"]
    child_cpu(command, stderr=subprocess.DEVNULL, env=as_installed())
    return rows_in(out)


def datatrove_pipeline(path: str, out: str) -> int:
    """datatrove with its defaults and one worker."""
    given = Path(path)
    command = [sys.executable, "-W", "ignore", "-c", DATATROVE, str(given.parent), given.name, out]
    child_cpu(command, stderr=subprocess.DEVNULL)
    return rows_in(out)


PIPELINES: dict[str, Callable[[str, str], int]] = {
    "ccrawl": ccrawl_pipeline,
    "datatrove + trafilatura": datatrove_pipeline,
    "FastWARC + trafilatura": lambda path, out: plain_loop(path, out, trafilatura_text),
    "FastWARC + resiliparse": lambda path, out: plain_loop(path, out, resiliparse_text),
    "FastWARC + markdownify": lambda path, out: plain_loop(path, out, markdownify_text),
}


def measure_here(name: str, path: str) -> None:
    """Run one pipeline in this process and print what it took as JSON."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as out:
        rows = PIPELINES[name](path, out)
    seconds = time.monotonic() - started
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in (mine, theirs))
    print(json.dumps(Measured(seconds, cpu, 1024 * max(mine.ru_maxrss, theirs.ru_maxrss), rows)))


def measured(name: str, path: Path) -> Measured:
    """One pipeline in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, str(path), "--pipeline", name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def accuracy(directory: Path, cache: Path | None, every: int) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures of the scorer: corpus -> extractor -> figures."""
    from ccrawl.html.content.model import load_model

    score = content.scorer(directory)
    folds = {n: load_model(cache / f"fold{n}.npz") for n in range(content.FOLDS)} if cache else None
    corpora = (*content.FITTED_ON, *content.SCORED_ONLY) if folds else content.SCORED_ONLY
    runs = (
        ("ccrawl", content.ours(folds, "balanced"), True),
        ("trafilatura", score.peer_trafilatura, False),
        ("resiliparse", score.peer_resiliparse, False),
        ("markdownify, whole page", markdownify_text, True),
    )
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for corpus in corpora:
        pages = list(score.load(directory / "pages" / f"{corpus}.jsonl.gz"))[::every]
        floor = content.figures(score, "floor", score.floor, pages, False)["ms"]
        found[corpus] = {"": {"pages": len(pages)}}
        for name, extract, markdown in runs:
            row = content.figures(score, name, extract, pages, markdown)
            found[corpus][name] = row | {"times": row["ms"] / floor}
            print(f"{corpus}: {name}: F1 {row['F1']:.3f}, {row['ms'] / floor:.1f} floors", file=sys.stderr)
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, its numbers to the right."""
    marks = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, marks, *rows])


def page(
    warc: Path, pipelines: dict[str, Measured], scores: dict[str, dict[str, dict[str, Any]]], every: int
) -> str:
    """docs/benchmarks.md."""
    ours = pipelines["ccrawl"]
    speed = table(
        ["pipeline", "seconds", "CPU s", "CPU ms a row", "CPU, ccrawl = 1", "peak MB", "rows"],
        [
            [
                name,
                f"{one.seconds:.1f}",
                f"{one.cpu:.1f}",
                f"{1000 * one.cpu / max(1, one.rows):.1f}",
                f"{one.cpu / ours.cpu:.1f}",
                f"{one.peak / 1e6:.0f}",
                f"{one.rows:,}",
            ]
            for name, one in pipelines.items()
        ],
    )
    names = [name for name in next(iter(scores.values())) if name]
    exact = table(
        ["corpus", "pages", *(f"{name}: F1" for name in names), *(f"{name}: times" for name in names)],
        [
            [
                corpus,
                str(rows[""]["pages"]),
                *(f"{rows[name]['F1']:.3f}" for name in names),
                *(f"{rows[name]['times']:.1f}" for name in names),
            ]
            for corpus, rows in scores.items()
        ],
    )
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date()
    return f"""# Beside its peers

Made by `benchmarks/peers.py WARC --eval EVAL --cache CACHE --every {every} --write` on {today}: {platform.machine()},
{os.cpu_count()} cores, Python {platform.python_version()}; {versions}. Ratios hold elsewhere, seconds do not.

## A WARC to Parquet

{warc.name}, {warc.stat().st_size / 1e6:.0f} MB of gzip, one worker each. Seconds and CPU include start-up; for ccrawl
also language, fingerprint, digests and the card, which the others do not make. The peak is that of the largest
process.

{speed}

![CPU milliseconds a row by pipeline](pictures/peers-cpu.svg)

## Main content

F1 on pages with gold{f" (one page in {every} of each corpus)" if every > 1 else ""}, of text; *times* is CPU as multiples of decoding and a bare lexbor parse of the same pages.
ccrawl's weights never saw the site of a page that they judge here. [How it works](explanation/content.md) has the
figures by page type.

{exact}

![F1 in thousandths by corpus: ccrawl, trafilatura, resiliparse](pictures/peers-f1.svg)

## Other figures

| what | command |
| --- | --- |
| each step of a page beside its floor and its budget | `benchmarks/export.py --steps WARC` |
| a whole export beside gunzip and parse, one and two workers | `benchmarks/export.py WARC` |
| reading archives beside warcio and FastWARC | `benchmarks/read.py WARC` |
| the renderer beside markdownify, html-to-markdown, htmd, turbohtml | `benchmarks/markdown.py PAGES --peers` |
| duplicates of millions of rows beside a sort | `benchmarks/dedup.py` |
| the index beside the bare store and `redis-benchmark` | `benchmarks/index.py` |
| fetching beside a bare loop of the client library | `benchmarks/refetch.py` |

`scripts/setup dev bench` installs the peers.
"""


def pictures(pipelines: dict[str, Measured], scores: dict[str, dict[str, dict[str, Any]]]) -> dict[str, str]:
    """The pictures by file name."""
    from ccrawl.dataset.card.pictures import Bar, across

    cost = [
        Bar(name, round(1000 * one.cpu / max(1, one.rows)), "ms", rest=name != "ccrawl")
        for name, one in pipelines.items()
    ]
    exact = [
        Bar(f"{corpus}: {name}", round(1000 * rows[name]["F1"]), rest=name != "ccrawl")
        for corpus, rows in scores.items()
        for name in ("ccrawl", "trafilatura", "resiliparse")
    ]
    return {
        "peers-cpu.svg": across("CPU milliseconds a row, start-up included", cost),
        "peers-f1.svg": across("F1 of main content, thousandths", exact),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("warc", type=Path)
    arguments.add_argument("--eval", type=Path, help="the evaluation directory")
    arguments.add_argument("--cache", type=Path, help="where fit.py left the folds' weights")
    arguments.add_argument("--every", type=int, default=1, help="score only every Nth page")
    arguments.add_argument("--write", action="store_true", help="replace docs/benchmarks.md and its pictures")
    arguments.add_argument("--pipeline", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.pipeline:
        measure_here(options.pipeline, str(options.warc))
        return
    if options.eval is None:
        arguments.error("--eval names the evaluation directory (score.py and pages/)")
    pipelines = {}
    for name in PIPELINES:
        pipelines[name] = measured(name, options.warc)
        print(f"{name}: {pipelines[name]}", file=sys.stderr)
    scores = accuracy(options.eval, options.cache, options.every)
    text = page(options.warc, pipelines, scores, options.every)
    if not options.write:
        print(text)
        return
    PICTURES.mkdir(exist_ok=True)
    PAGE.write_text(text)
    for name, picture in pictures(pipelines, scores).items():
        (PICTURES / name).write_text(picture)


if __name__ == "__main__":
    main()
