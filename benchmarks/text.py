"""Decoding, fingerprints and languages: CPU a page, beside a floor and peers, in one run.

    python benchmarks/text.py WARC.gz... [--rounds N]

The floor is lexbor's parse of the same decoded pages. Peers: for decoding, resiliparse's detection and
conversion; for fingerprints, the definition in plain Python as the tests have it, on every tenth page. CPU
microseconds a page, the least of N interleaved rounds. Exits 1 when a step costs more than its target:
decode 0.25, simhash 0.3 and language 0.45 times the floor.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import xxhash
from resiliparse.parse.encoding import bytes_to_str, detect_encoding

from ccrawl.archives import read_captures
from ccrawl.html.decode import decode
from ccrawl.html.extractors import extract
from ccrawl.html.tree import parse
from ccrawl.text.language import detect
from ccrawl.text.simhash import simhash

TARGETS = {"decode": 0.25, "simhash": 0.3, "language": 0.45}


def plain_simhash(markdown: str) -> int:
    """The windows of words by `re` and a loop over 64 bits: what a reader would write first."""
    tokens = re.findall(r"\w+", markdown.casefold())
    features = {" ".join(tokens[i : i + 3]) for i in range(len(tokens) - 2)}
    hashes = [xxhash.xxh3_64_intdigest(feature.encode()) for feature in features]
    return sum(1 << bit for bit in range(64) if 2 * sum(h >> bit & 1 for h in hashes) > len(hashes))


def cpu_a_page(step: Callable[..., object], pages: Iterable[tuple[object, ...]]) -> float:
    """CPU microseconds a page of one round."""
    count = 0
    start = time.process_time()
    for page in pages:
        step(*page)
        count += 1
    return 1e6 * (time.process_time() - start) / max(count, 1)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    raw = [
        (capture.payload(), capture.content_type)
        for warc in arguments.warcs
        for capture in read_captures(warc)
    ]
    decoded = [(decode(*page).utf8,) for page in raw]
    texts = [(extract(payload, content_type=content_type).markdown,) for payload, content_type in raw]
    detect(texts[0][0])

    steps: dict[str, tuple[Callable[..., object], list[tuple[object, ...]]]] = {
        "floor (lexbor parse)": (parse, list(decoded)),
        "decode": (decode, list(raw)),
        "decode, resiliparse": (lambda page, _: bytes_to_str(page, detect_encoding(page)), list(raw)),
        "simhash": (simhash, list(texts)),
        "simhash, plain Python": (plain_simhash, list(texts[::10])),
        "language": (detect, list(texts)),
    }
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(arguments.rounds):
        for name, (step, pages) in steps.items():
            best[name] = min(best[name], cpu_a_page(step, pages))

    floor = best["floor (lexbor parse)"]
    html = sum(len(page) for page, _ in raw) / len(raw) / 1e3
    markdown = sum(len(text) for (text,) in texts) / len(texts) / 1e3
    machine = platform.processor() or platform.machine()
    names = ", ".join(Path(warc).name for warc in arguments.warcs)
    print(f"{machine}, Python {platform.python_version()}: {len(raw)} pages of {names},")
    print(f"{html:.0f} KB of HTML and {markdown:.1f} KB of Markdown a page")
    failed = False
    for name, time_a_page in best.items():
        ratio = time_a_page / floor
        missed = ratio > TARGETS.get(name, float("inf"))
        failed |= missed
        print(f"{name:24}{time_a_page:9.0f} us {ratio:7.2f} x floor{'   MISSED' if missed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
