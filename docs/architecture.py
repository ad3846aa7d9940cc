"""The page on where things are, and its picture: drawn from imports and docstrings of the code."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PICTURE = "way-of-a-page.svg"


class Step(NamedTuple):
    """A step of the way: what it makes, and the modules that others call for it."""

    name: str
    makes: str
    modules: tuple[str, ...]


STEPS = (
    Step("source", "a shard's bytes, from wherever", ("archives.sources", "archives.opening")),
    Step("records", "one at a time, bad ones stepped over", ("archives.reader",)),
    Step("captures", "HTML with status 200, still bytes", ("archives.captures", "archives.revisits")),
    Step("digest", "payloads seen before are dropped here", ("run.indexed", "run.duplicates")),
    Step("decoded", "bytes to text, text to a tree", ("html.decode", "html.tree")),
    Step("content", "the main content; the rest unlinked", ("html.content", "native")),
    Step("Markdown", "text, links resolved", ("html.markdown",)),
    Step("row", "language, fingerprint, lengths", ("text.language", "text.simhash", "dataset.schema")),
    Step("Parquet", "a file a shard, whole or not at all", ("dataset.writer", "dataset.footer")),
    Step("ledger", "manifest.json: what is done", ("run.record", "dataset.ledger")),
)
# Who calls the steps: each runs down a line of its own, from the run to the page.
CALLERS = ("run.export", "run.shard", "run.convert", "html.extractors", "archives.captures")

# The folders of ccrawl/, in the order in which a newcomer meets them.
PACKAGES = {
    "": "the Python API, and what all parts share",
    "cli": "the command line: a module a command; parses, calls the API, prints, decides nothing",
    "run": "a run: shards, worker processes, limits, what is dropped, what failed",
    "archives": "where bytes come from; records, captures, digests",
    "html": "from bytes to a tree, and the registry of extractors",
    "html.content": "main content",
    "html.markdown": "from the tree to Markdown",
    "text": "fingerprint and language",
    "dataset": "columns, files, the ledger; merge and publish",
    "dataset.card": "the dataset's README",
    "dataset.verify": "is it what it says it is?",
    "duplicates": "exact and near duplicates over a dataset",
    "duplicates.html": "their report to look at",
    "index": "the dedupe index across runs",
    "fetching": "today's page for every URL",
    "native": "main content in C: walking, judging and cutting the tree, called through ctypes",
}

INTRODUCTION = f"""\
# Architecture

ccrawl is one straight way and what stands around it. Data moves in one direction, as small frozen
dataclasses; each step is a function or a generator from one of them to the next.

![The way of a page: ten steps from source to ledger, the modules of each, and the modules that call
them]({PICTURE})

The picture is drawn by `docs/architecture.py` from the imports in the code; a test fails when it is out of
date. The lines are the modules that put the steps together; a dot says that the module imports that step. In
grey stand the modules of a step's own folder that it is built on.

- **One screen each**: `ccrawl/run/shard.py` exports a shard, `ccrawl/run/convert.py` a page. Begin there.
- **Options** travel as one frozen object from the command to the worker; their defaults stand in its class.
- **Errors** are one tree in `ccrawl/errors.py`: raised where file and offset are known, caught where the work
  can go on.
- **Other packages** are imported where they are wrapped, in one place; the rest sees our types.
- **Everything after the export** (card, verify, merge, show, dedup, publish) reads Parquet files and
  `manifest.json`, and nothing else of the run.

[How a run works](explanation/runs.md) says what it survives, and [the file formats](reference/files.md) what
it leaves.

## Where things are

Each module and the first line that it says of itself.
"""


def page() -> str:
    """The page, Markdown."""
    unknown = {name.rpartition(".")[0] for name in modules()} - PACKAGES.keys()
    assert not unknown, f"docs/architecture.py does not say what is in {', '.join(sorted(unknown))}"
    parts = [INTRODUCTION]
    for package, subject in PACKAGES.items():
        inside = [name for name in sorted(modules()) if name.rpartition(".")[0] == package]
        if not inside:
            continue
        folder = "/".join(["ccrawl", *filter(None, package.split("."))])
        parts += [
            f"### {folder}/",
            "",
            f"{subject[0].upper()}{subject[1:]}.",
            "",
            "| module | |",
            "|---|---|",
        ]
        parts += [f"| `{name.rpartition('.')[2]}` | {_says(name)} |" for name in inside if _says(name)]
        parts.append("")
    return "\n".join(parts)


def _says(name: str) -> str:
    """The first line of a module's docstring, in a cell of a table."""
    text = ast.get_docstring(_tree(name)) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


@cache
def modules() -> dict[str, Path]:
    """Every module by its name below ccrawl; a package by the name of its folder."""
    found = {}
    for path in sorted((ROOT / "ccrawl").rglob("*.py")):
        parts = path.relative_to(ROOT / "ccrawl").with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name:
            found[name] = path
    return found


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


@cache
def imports(name: str) -> frozenset[str]:
    """The modules of ours that a module imports; the names of a package count where they are made."""
    found = set()
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ccrawl."):
            module = str(node.module).removeprefix("ccrawl.")
            found |= {_origin(module, alias.name) for alias in node.names}
    return frozenset(found & modules().keys() - {name})


def _origin(module: str, imported: str) -> str:
    """The module that `from module import imported` reads."""
    if f"{module}.{imported}" in modules():
        return f"{module}.{imported}"
    if module in modules() and modules()[module].name == "__init__.py":
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.ImportFrom) and any(alias.name == imported for alias in node.names):
                return str(node.module).removeprefix("ccrawl.")
    return module


def built_on(step: Step) -> list[str]:
    """The modules that a step reaches by imports inside its own folders, without those of other steps."""
    others = {module for other in STEPS for module in other.modules} | {*CALLERS}
    folders = {_folder(module) for module in step.modules}
    found: set[str] = set()
    left = list(step.modules)
    while left:
        for module in imports(left.pop()):
            if module not in found and module not in others and _folder(module) in folders:
                found.add(module)
                left.append(module)
    return sorted(found)


def _folder(module: str) -> str:
    is_package = modules()[module].name == "__init__.py"
    return module if is_package else module.rpartition(".")[0]


STYLE = (
    "<style>text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:#1f2328}"
    ".name{font-weight:600;font-size:15px}.soft{fill:#59636e}.code{font-family:ui-monospace,monospace}"
    ".small{font-size:11px}.ground{fill:#fff;stroke:#d1d9e0}.box{fill:#f6f8fa;stroke:#d1d9e0}"
    ".line{stroke:#2f6fb3;stroke-width:2;fill:none}.dot{fill:#2f6fb3}.way{stroke:#59636e;fill:#59636e}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9ea7b3}.ground{fill:#0d1117;stroke:#3d444d}"
    ".box{fill:#161b22;stroke:#3d444d}.line{stroke:#5ba3ec}.dot{fill:#5ba3ec}.way{stroke:#9ea7b3;fill:#9ea7b3}}"
    "</style>"
)
WIDTH, LEFT, TOP = 860, 190, 150
LANE, LINE, GAP = 32, 15, 22  # between two callers; of small text; between two steps
CHARACTERS = 100  # of small text in a box


def picture() -> str:
    """The way of a page as SVG, for light and dark, legible in black and white."""
    drawn: list[str] = []
    middles: dict[str, float] = {}
    top = float(TOP)
    for number, step in enumerate(STEPS):
        small = textwrap.wrap(", ".join(name.rpartition(".")[2] for name in built_on(step)), CHARACTERS)
        height = 46 + LINE * len(small)
        if number:
            drawn.append(_arrow(LEFT + 60, top - GAP, top))
        drawn.append(
            f'<rect class="box" x="{LEFT}" y="{top}" width="{WIDTH - LEFT - 16}" height="{height}" rx="6"/>'
        )
        drawn.append(_text(LEFT + 14, top + 20, step.name, "name"))
        drawn.append(_text(LEFT + 118, top + 20, step.makes, "soft"))
        drawn.append(_text(LEFT + 14, top + 38, "  ".join(map(_file, step.modules)), "code"))
        for line, text in enumerate(small):
            drawn.append(_text(LEFT + 14, top + 38 + LINE * (line + 1), text, "soft small"))
        middles[step.name] = top + 20
        top += height + GAP
    lines = list(_lanes(middles))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top:.0f}" role="img" '
        f'aria-label="The way of a page through the modules of ccrawl">{STYLE}'
        f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{top - 1:.0f}" rx="6"/>'
    )
    return "\n".join([head, *lines, *drawn, "</svg>", ""])


def _lanes(middles: dict[str, float]) -> Iterator[str]:
    """A line a caller, with a dot at each step that it imports."""
    for number, caller in enumerate(CALLERS):
        x, start = 24 + LANE * number, 28 + 22 * number
        used = [step for step in STEPS if any(map(partial(_is_of, step), imports(caller)))]
        yield f'<path class="line" d="M{x} {start + 6}V{middles[used[-1].name]}"/>'
        yield _text(x - 4, start, _file(caller), "code")
        for step in used:
            y = middles[step.name]
            yield f'<path class="line" d="M{x} {y}H{LEFT}"/><circle class="dot" cx="{x}" cy="{y}" r="5"/>'


def _is_of(step: Step, module: str) -> bool:
    return any(module == own or module.startswith(f"{own}.") for own in step.modules)


def _file(module: str) -> str:
    path = modules()[module].relative_to(ROOT / "ccrawl")
    return f"{path.parent.as_posix()}/" if path.name == "__init__.py" else path.as_posix()


def _arrow(x: float, start: float, end: float) -> str:
    return f'<path class="way" d="M{x} {start}V{end - 5}M{x - 4} {end - 7}H{x + 4}L{x} {end}Z"/>'


def _text(x: float, y: float, text: str, kinds: str) -> str:
    return f'<text class="{kinds}" x="{x}" y="{y}">{escape(text)}</text>'
