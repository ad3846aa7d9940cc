"""The steps of a page beside the least each could cost, in one run and one process.

    benchmarks/export.py --steps WARC

Pages go one by one through all steps, as in a run, so that each step finds the caches as the one before left
them. The floor of a step is what the libraries under it take for the same page alone:

  read        gunzip (isal) of the whole file
  decode      bytes.decode from the encoding that was found
  parse       lexbor on the page's UTF-8
  content     lexbor's own text of the body: one walk of the tree, in C
  Markdown    the same of what content kept
  language    the model's answer for the sample that is enough for nearly all
  simhash     xxh3-64 of the text, at once
  write       ParquetWriter.write_table of the rows, at once
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

# Milliseconds a page that each step may take on pages of 145 KB.
BUDGETS = {
    "read": 0.25,
    "decode": 0.1,
    "parse": 0.6,
    "content + Markdown": 1.0,
    "language": 0.2,
    "simhash": 0.25,
    "write": 0.1,
}
PASSES = 3


@dataclass
class Clock:
    """CPU seconds by step."""

    spent: dict[str, float] = field(default_factory=dict)

    def time(self, step: str, work: Callable[..., T], *arguments: Any) -> T:
        """What `work` returns for `arguments`, its time added to the step's."""
        started = time.process_time()
        result = work(*arguments)
        self.spent[step] = self.spent.get(step, 0.0) + time.process_time() - started
        return result


@dataclass(frozen=True)
class Kept:
    """What the floors need of a page."""

    payload: bytes
    encoding: str
    utf8: bytes
    markdown: str


def steps(path: Path, clock: Clock) -> list[Kept]:
    """One pass of the file through all steps of an export."""
    import ccrawl
    from ccrawl.archives import Capture
    from ccrawl.dataset.schema import Row
    from ccrawl.dataset.writer import ShardWriter
    from ccrawl.html.content import main_content
    from ccrawl.html.decode import decode
    from ccrawl.html.markdown import render
    from ccrawl.html.tree import parse
    from ccrawl.run.convert import doc_id
    from ccrawl.text.language import detect
    from ccrawl.text.simhash import simhash

    def pages() -> Iterator[tuple[Capture, bytes]]:
        for capture in ccrawl.read_captures(path):
            yield capture, capture.payload()

    kept: list[Kept] = []
    with tempfile.TemporaryDirectory() as folder, ShardWriter(Path(folder) / "0.parquet") as writer:
        reading = pages()
        while (page := clock.time("read", next, reading, None)) is not None:
            capture, payload = page
            decoded = clock.time("decode", decode, payload, capture.content_type)
            tree = clock.time("parse", parse, decoded.utf8)
            content = clock.time("content", main_content, tree, capture.url)
            markdown = content.markdown
            if markdown is None:
                markdown = clock.time("Markdown", render, content.node, capture.url)
            language = clock.time("language", detect, markdown)
            fingerprint = clock.time("simhash", simhash, markdown)
            kept.append(Kept(payload, decoded.encoding, decoded.utf8, markdown))
            row = Row(
                doc_id(capture.url),
                capture.url,
                capture.host,
                "2026-01-01",
                capture.record_id,
                len(payload),
                len(markdown.encode()),
                markdown,
                language.code,
                language.confidence,
                "main@1",
                fingerprint,
                content.title,
                str(capture.payload_digest),
                capture.filename,
                capture.offset,
            )
            clock.time("write", writer.write, row)
        clock.time("write", writer.finish, {})
    return kept


def floors(path: Path, kept: list[Kept], clock: Clock) -> None:
    """One pass of the floors over the same pages."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq
    from isal import igzip
    from selectolax.lexbor import LexborHTMLParser
    from xxhash import xxh3_64_intdigest

    from ccrawl.html.content import main_content
    from ccrawl.text import language

    def gunzip() -> None:
        with igzip.open(path) as file:
            while file.read(1 << 20):
                pass

    model = language._model()
    clock.time("read", gunzip)
    for page in kept:
        clock.time("decode", page.payload.decode, page.encoding, "replace")
        tree = clock.time("parse", LexborHTMLParser, page.utf8)
        if tree.body is not None:
            clock.time("content", tree.body.text)
        node = main_content(tree).node
        clock.time("Markdown", node.text)
        sample = language._sample(language._prose(page.markdown), language._FEW_CHARACTERS).lower()
        clock.time("language", model.predict, sample)
        clock.time("simhash", xxh3_64_intdigest, page.markdown.encode())
    table = pa.table({"markdown": [page.markdown for page in kept]})
    with pq.ParquetWriter(io.BytesIO(), table.schema, compression="zstd", compression_level=3) as writer:
        clock.time("write", writer.write_table, table)


def best(passes: list[Clock]) -> dict[str, float]:
    """The least time of each step over the passes."""
    return {step: min(clock.spent[step] for clock in passes) for step in passes[0].spent}


def print_steps(path: Path) -> None:
    """The table: milliseconds a page, each step, its floor and its budget."""
    from ccrawl.run import preload  # noqa: F401  # what a worker has loaded before its first page

    ours: list[Clock] = []
    least: list[Clock] = []
    for _ in range(PASSES):
        ours.append(Clock())
        kept = steps(path, ours[-1])
        least.append(Clock())
        floors(path, kept, least[-1])
    spent, floor = best(ours), best(least)
    pages = len(kept)
    for table in (spent, floor):
        table["content + Markdown"] = table["content"] + table["Markdown"]
    print(
        f"\n{pages} pages, CPU ms a page\n{'step':20} {'ccrawl':>8} {'floor':>8} {'times':>6} {'budget':>7}"
    )
    rows = ["read", "decode", "parse", "content", "Markdown", *BUDGETS]
    for step in [*dict.fromkeys(rows[:5]), *[name for name in BUDGETS if name not in rows[:3]]]:
        budget = f"{BUDGETS[step]:7.2f}" if step in BUDGETS else ""
        print(
            f"{step:20} {1000 * spent[step] / pages:8.3f} {1000 * floor[step] / pages:8.3f} "
            f"{spent[step] / floor[step]:6.1f} {budget}"
        )
    whole = sum(value for step, value in spent.items() if step != "content + Markdown")
    least_whole = floor["read"] + floor["parse"]
    print(
        f"{'whole path':20} {1000 * whole / pages:8.3f} {1000 * least_whole / pages:8.3f} "
        f"{whole / least_whole:6.1f} {1000 * 3.3 * least_whole / pages:7.2f}"
        "  (floor: gunzip and parse)"
    )
