"""Feed the native part, compiled with sanitizers, pages and heads that are broken in many ways. For hours, or a minute:

    python tests/native/fuzz.py --seconds 600 [--seed N] [FILE OR DIRECTORY OF PAGES ...]

Needs gcc or clang with its sanitizers. Ends with the first fault, and leaves the page that led to it in the
working directory.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SANITIZERS = "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"
PIECES = [
    *(
        f"<{tag}>"
        for tag in [
            "div",
            "p",
            "b",
            "a",
            "li",
            "td",
            "table",
            "nav",
            "footer",
            "header",
            "form",
            "svg",
            "math",
            "select",
            "template",
            "br",
            "img",
        ]
    ),
    *(
        f"</{tag}>"
        for tag in [
            "div",
            "p",
            "b",
            "a",
            "li",
            "td",
            "table",
            "nav",
            "footer",
            "header",
            "form",
            "svg",
            "math",
            "select",
            "template",
        ]
    ),
    *(
        "<noscript>",
        "</noscript>",
        "<figure>",
        "<script type='application/ld+json'>",
        "</script>",
        "<h1>",
        "<!--",
        "-->",
    ),
    *(
        "<p class='sidebarleft articleBody' id=x role=main hidden>",
        "<div style='DISPLAY :\t none' aria-hidden=true>",
    ),
    *(
        "Read more",
        "ΌΡΟΣ",
        "İ",
        "©",
        "\u3000",
        "\u200b",
        "他们回来了。",
        "\ufffd",
        "&#0;",
        "<a b=",
        '"',
        "x" * 70_000,
    ),
]
HEADS = [
    *(
        b"WARC/1.0\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP",
        b"/1.",
        b" 99",
        b"\r\n\r\n",
        b"\n\n",
        b"\r\n",
        b"\n",
        b"\r",
    ),
    *(
        b"Content-Length: 12\r\n",
        b"Content-Type : text/html;\r\n\tcharset=x\r\n",
        b"WARC-Type:",
        b"Transfer-Encoding",
    ),
    *(b"content-type:\n" * 40, b": ", b":", b" ", b"\t", b"\0", b"\xff", b"x" * 5000),
]


def sanitized(folder: Path) -> str:
    """Compile with sanitizers into `folder`; returns what must be preloaded."""
    compiling = load_compiling()
    compiling.compile_library(folder / "_native.so", SANITIZERS)
    [compiler, *_] = compiling.own_compiler()
    found = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def load_compiling():  # type: ignore[no-untyped-def]
    """The module that compiles, without the package, which would load the library."""
    path = ROOT / "ccrawl/native/compiling.py"
    specification = importlib.util.spec_from_file_location("ccrawl.native.compiling", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def seeds(paths: list[Path]) -> list[bytes]:
    """The pages to begin with: HTML files, and .jsonl.gz files of pages."""
    found: list[bytes] = []
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.name.endswith(".jsonl.gz"):
                with gzip.open(file, "rt", encoding="utf-8") as lines:
                    found += [json.loads(line)["html"].encode("latin-1") for line in lines]
            elif file.suffix == ".html":
                found.append(file.read_bytes())
    return found


def broken(page: bytes, chance: random.Random) -> bytes:
    """`page` with some of it cut, doubled, moved or replaced."""
    data = bytearray(page)
    for _ in range(chance.choice((0, 1, 3, 10, 60))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[at : at + chance.choice((1, 5, 400))] = b""
            case 1:
                data[at:at] = chance.choice(PIECES).encode() * chance.choice((1, 1, 1, 2, 300))
            case 2:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 3:
                start = chance.randrange(len(data) + 1)
                data[at:at] = data[start : start + chance.choice((10, 3000))]
            case _:
                data[at:] = b"" if chance.random() < 0.05 else data[at:]
    return bytes(data)


def pages(found: list[bytes], chance: random.Random) -> Iterator[bytes]:
    """First each as it is, then broken ones without an end."""
    yield from found
    while True:
        if chance.random() < 0.1:
            yield "".join(chance.choices(PIECES, k=chance.choice((3, 30, 300)))).encode()
        else:
            yield broken(chance.choice(found), chance)


def read_heads(chance: random.Random) -> None:
    """Read a random head as both kinds."""
    from ccrawl.archives.formats import WARC, BadHead
    from ccrawl.archives.http import parse_head

    head = b"".join(chance.choices(HEADS, k=chance.choice((1, 3, 10, 40))))
    start = chance.randrange(len(head) + 1)
    with contextlib.suppress(BadHead):
        if read := WARC.read(head, start):
            read[0].value(b"content-type")
    parse_head(head, start, chance.randrange(start, len(head) + 1))


def run(library: Path, seconds: float, seed: int, paths: list[Path]) -> None:
    compiling = load_compiling()
    compiling.LIBRARY = library
    sys.modules["ccrawl.native.compiling"] = compiling
    sys.path.insert(0, str(ROOT))
    from selectolax.lexbor import LexborHTMLParser

    from ccrawl.html.content import main_content
    from ccrawl.html.markdown import render
    from ccrawl.text.simhash import simhash

    chance = random.Random(seed)
    last = Path("fuzz-page.html")
    until, count = time.monotonic() + seconds, 0
    for page in pages(seeds(paths), chance):
        if time.monotonic() > until:
            break
        last.write_bytes(page)
        # Bytes that are no UTF-8 reach the tree too: whoever has a parser may hand it over.
        whole = LexborHTMLParser(page).root
        if whole is not None:
            render(whole, "http://fuzz.test/a/b-c")
        tree = LexborHTMLParser(page)
        favor = chance.choice(("precision", "balanced", "recall"))
        content = main_content(tree, "http://fuzz.test/a/b-c", favor=favor, explain=chance.random() < 0.2)
        if content.markdown is None:
            render(content.node)
        simhash(page.decode("utf-8", "surrogateescape"))
        for _ in range(10):
            read_heads(chance)
        count += 1
    last.unlink()
    print(f"{count} pages, no fault")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "samples" / "pages"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.library:
        run(options.library, options.seconds, options.seed, options.paths)
        return
    with tempfile.TemporaryDirectory() as folder:
        preload = sanitized(Path(folder))
        environment = os.environ | {
            "LD_PRELOAD": preload,
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONMALLOC": "malloc",  # so that the sanitizer knows where each bytes object ends
        }
        command = [sys.executable, *sys.argv, "--library", f"{folder}/_native.so"]
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
