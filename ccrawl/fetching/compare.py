"""Fingerprints of archived pages, so that a refetch can say how far today's page is from them.

The archive is read a second time, beside the fetch: the first reading, which says what to fetch, stays fast.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ccrawl.archives import Source, read_captures
from ccrawl.dataset.files import write_atomically
from ccrawl.run.convert import convert
from ccrawl.run.fanout import FanOut
from ccrawl.run.options import ExportOptions
from ccrawl.run.outcome import Page
from ccrawl.run.processes import become_worker, worker_context
from ccrawl.text.printable import printable


@dataclass(frozen=True, slots=True)
class CompareTask:
    """An archive whose pages are to be fingerprinted, and the file that takes what was found."""

    source: Source
    options: ExportOptions
    path: Path


def compare_process(task: CompareTask) -> float:
    """Write the fingerprint of each page that has one, under its URL; the first page of a URL counts.

    Returns the CPU seconds spent. Pages that can't be converted have none. SourceError, OutputError.
    """
    become_worker(task.options.worker_memory)
    urls: dict[int, str] = {}
    simhashes: dict[str, int] = {}
    fan_out = FanOut(worker_context(), 1, convert, task.options, size=lambda page: len(page.capture.body))

    def pages() -> Iterator[Page]:
        for number, capture in enumerate(read_captures(task.source, options=task.options.for_reading())):
            urls[number] = printable(capture.url)
            yield Page(number, capture)

    for outcome in fan_out.outcomes(pages()):
        url = urls.pop(outcome.number)
        if url not in simhashes:
            simhashes[url] = outcome.row.simhash if outcome.row is not None else 0
    table = pa.table({"url": list(simhashes), "simhash": pa.array(simhashes.values(), pa.uint64())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    write_atomically(task.path, sink.getvalue().to_pybytes())
    return time.process_time() + fan_out.cpu_seconds


def read_simhashes(path: Path) -> dict[str, int]:
    """URL -> fingerprint of its archived page, 0 for one without."""
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as batches:
        table = batches.read_all()
    return dict(zip(table.column("url").to_pylist(), table.column("simhash").to_pylist(), strict=True))
