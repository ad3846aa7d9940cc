"""Time of the Markdown renderer on whole pages, as multiples of the lexbor parse of the same page, beside its
peers.

    python benchmarks/markdown.py PAGES...  [--every N] [--peers]

PAGES are .jsonl.gz files of objects with "html" (the page's bytes as Latin-1 text) and "url". Everything runs
in one process, one page after another; of three tries of each the fastest counts, in CPU time. The peers
parse for themselves, so theirs includes what a parse costs them; ours is the rendering alone, and both
together.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.decode import decode
from ccrawl.html.markdown import render
from ccrawl.html.tree import parse

TRIES = 3


def fastest(function: Callable[[], object]) -> float:
    """CPU seconds of the fastest of TRIES calls."""
    best = float("inf")
    for _ in range(TRIES):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def of_tree(html: bytes, url: str) -> float:
    """CPU seconds of rendering; each try has a tree of its own."""
    best = float("inf")
    for _ in range(TRIES):
        root = parse(html).root
        start = time.process_time()
        render(root, url)
        best = min(best, time.process_time() - start)
    return best


def peers() -> dict[str, Callable[[str], object]]:
    """The peers that are installed."""
    found: dict[str, Callable[[str], object]] = {}
    try:
        import markdownify

        found["markdownify"] = lambda html: markdownify.markdownify(html, heading_style="atx")
    except ImportError:
        pass
    try:
        import html_to_markdown

        found["html-to-markdown"] = html_to_markdown.convert
    except ImportError:
        pass
    try:
        import htmd

        found["htmd"] = htmd.convert_html
    except ImportError:
        pass
    try:
        import turbohtml

        found["turbohtml"] = lambda html: turbohtml.parse(html).to_markdown()
    except (ImportError, AttributeError):
        pass
    return found


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("pages", nargs="+", type=Path)
    arguments.add_argument("--every", type=int, default=10, metavar="N", help="only every Nth page")
    arguments.add_argument("--peers", action="store_true")
    given = arguments.parse_args()

    others = peers() if given.peers else {}
    names = ["parse", "render", *others]
    print(f"{'corpus':<14}{'pages':>6}{'KB':>6}{'µs':>7}" + "".join(f"{name:>18}" for name in names[1:]))
    total = dict.fromkeys(names, 0.0)
    per_byte: list[float] = []
    count = 0
    failed: dict[str, int] = {}
    for path in given.pages:
        with gzip.open(path) as lines:
            pages = [json.loads(line) for index, line in enumerate(lines) if index % given.every == 0]
        sums = dict.fromkeys(names, 0.0)
        size = 0
        for page in pages:
            html = decode(page["html"].encode("latin-1")).utf8
            text = html.decode("utf-8", "replace")
            url = page["url"]
            size += len(html)
            sums["parse"] += fastest(lambda html=html: LexborHTMLParser(html))  # type: ignore[misc]
            rendering = of_tree(html, url)
            sums["render"] += rendering
            per_byte.append(rendering / max(1, len(html)))
            for name, convert in others.items():
                try:
                    sums[name] += fastest(lambda convert=convert, text=text: convert(text))  # type: ignore[misc]
                except Exception:
                    failed[name] = failed.get(name, 0) + 1
        report(path.name.split(".")[0], len(pages), size, sums, names)
        count += len(pages)
        for name in names:
            total[name] += sums[name]
    report("all", count, 0, total, names)
    median = statistics.median(per_byte)
    print(f"slowest page: {max(per_byte) / median:.1f} times the median per byte ({median * 1e9:.1f} ns)")
    for name, pages_failed in failed.items():
        print(f"{name} failed on {pages_failed} pages")


def report(name: str, pages: int, size: int, sums: dict[str, float], names: list[str]) -> None:
    """One line: the parse in µs a page, the rest as multiples of it."""
    floor = sums["parse"] or 1.0
    columns = "".join(f"{sums[column] / floor:>17.2f}x" for column in names[1:])
    print(
        f"{name:<14}{pages:>6}{size / max(1, pages) / 1e3:>6.0f}{floor / max(1, pages) * 1e6:>7.0f}{columns}",
        flush=True,
    )


if __name__ == "__main__":
    main()
