"""Reading captures: ours beside FastWARC and warcio, in one run.

    python benchmarks/read.py WARC.gz... [--rounds N]

All read the same: every record of the file, and of each response the HTTP head and the whole payload. CPU
seconds, the least of N interleaved rounds, so that a busy machine bears on all alike. The floor is isal's
inflate over the same members and nothing else. Exits 1 when a target of the project is missed: at most 1.4
times FastWARC and 0.7 times warcio.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from isal import igzip_lib
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from ccrawl.archives import CaptureOptions, read_captures

MAX_OF_FASTWARC = 1.4
MAX_OF_WARCIO = 0.7


def ours(path: str) -> tuple[int, int]:
    count = size = 0
    for capture in read_captures(path, options=CaptureOptions(statuses=None)):
        count += 1
        size += len(capture.payload())
    return count, size


def fastwarc(path: str) -> tuple[int, int]:
    count = size = 0
    with Path(path).open("rb") as file:
        for record in FastIterator(file, record_types=WarcRecordType.response, parse_http=True):
            if record.http_headers.status_code:
                count += 1
                size += len(record.reader.read())
    return count, size


def warcio(path: str) -> tuple[int, int]:
    count = size = 0
    with Path(path).open("rb") as file:
        for record in WarcioIterator(file):
            if record.rec_type == "response" and record.http_headers.get_statuscode():
                count += 1
                size += len(record.content_stream().read())
    return count, size


def floor(path: str) -> tuple[int, int]:
    count = size = 0
    with Path(path).open("rb") as file:
        left = b""
        while True:
            decoder = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
            while not decoder.eof:
                if not left and not (left := file.read(1 << 14)):
                    return count, size
                size += len(decoder.decompress(left))
                left = b""
            left = decoder.unused_data
            count += 1


READERS: dict[str, Callable[[str], tuple[int, int]]] = {
    "ccrawl": ours,
    "FastWARC": fastwarc,
    "warcio": warcio,
    "floor (isal inflate)": floor,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    best = dict.fromkeys(READERS, float("inf"))
    totals: dict[str, tuple[int, int]] = {}
    for _ in range(arguments.rounds):
        for name, read in READERS.items():
            begun = time.process_time()
            results = [read(path) for path in arguments.files]
            best[name] = min(best[name], time.process_time() - begun)
            totals[name] = (sum(count for count, _ in results), sum(size for _, size in results))
    print(f"{platform.node()}, Python {platform.python_version()}, {len(arguments.files)} file(s)")
    print(f"{'reader':22}{'CPU s':>8}{'MB/s':>8}{'of ours':>9}{'captures':>10}{'payload MB':>12}")
    for name, seconds in best.items():
        count, size = totals[name]
        speed, ratio = size / 1e6 / seconds, seconds / best["ccrawl"]
        print(f"{name:22}{seconds:8.3f}{speed:8.0f}{ratio:9.2f}{count:10}{size / 1e6:12.1f}")
    of_fastwarc = best["ccrawl"] / best["FastWARC"]
    of_warcio = best["ccrawl"] / best["warcio"]
    print(f"ours / FastWARC {of_fastwarc:.2f} (at most {MAX_OF_FASTWARC})")
    print(f"ours / warcio   {of_warcio:.2f} (at most {MAX_OF_WARCIO})")
    return int(of_fastwarc > MAX_OF_FASTWARC or of_warcio > MAX_OF_WARCIO)


if __name__ == "__main__":
    sys.exit(main())
