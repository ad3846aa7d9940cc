"""What the reference lists is what the code has: nothing is missing, nothing is invented."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import typer.main
from xxhash import xxh3_64_intdigest

import ccrawl
from ccrawl import errors, extras
from ccrawl.archives.capture import TYPES
from ccrawl.cli import COMMANDS, EXIT_CODES
from ccrawl.dataset.card import CardOptions
from ccrawl.dataset.card.numbers import NOT_A_TARGET
from ccrawl.dataset.ledger import Counts, FailedShard, Failure, ShardEntry
from ccrawl.dataset.schema import REFETCH, arrow_schema
from ccrawl.dataset.verify import VerifyReport
from ccrawl.duplicates import DedupOptions
from ccrawl.duplicates.output import CLUSTER_SCHEMA
from ccrawl.fetching.types import ERRORS
from ccrawl.html.extractors import EXTRACTORS
from ccrawl.run import shard
from ccrawl.run.duplicate_list import Duplicate
from ccrawl.run.export import ExportReport
from ccrawl.run.options import ExportOptions, normal_languages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
# Flags of other programs that pages mention: the crawler's, benchmarks', spark-submit's.
FOREIGN_FLAGS = {
    *("--eval", "--every", "--redis", "--steps"),
    *("--redisDedupeUrl", "--dedupeConcurrent", "--removing", "--generateWACZ", "--commitCrawlId"),
    *("--peers", "--write"),
    *("--archives", "--conf", "--master", "--py-files"),
}


def text(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head; of a cell that is code, the code."""
    below = page[f"\n{page}".index(f"\n{heading}\n") :]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert lines, heading
    rows = [line.strip("|").split("|") for line in lines[0].replace("\\|", "¦").splitlines()[2:]]
    return [[re.sub(r"^`([^`]*)`$", r"\1", cell.strip()) for cell in row] for row in rows]


def first_column(page: str, heading: str) -> list[str]:
    return [row[0] for row in table(page, heading)]


def commands() -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """Every command with its full name."""
    for name in COMMANDS:
        module = importlib.import_module(f"ccrawl.cli.{name.replace('-', '_')}")
        if hasattr(module, "app"):
            group = typer.main.get_command(module.app)
            yield from ((f"{name} {inner}", command) for inner, command in group.commands.items())
        else:
            app = typer.Typer(add_completion=False)
            app.command()(module.command)
            yield name, typer.main.get_command(app)


def flags(command: typer.core.TyperCommand) -> set[str]:
    return {flag for parameter in command.params for flag in parameter.opts if flag.startswith("-")}


def test_every_command_and_flag_stands_in_the_reference_under_its_command() -> None:
    page = text("commands.md")
    headings = re.findall(r"^###? ccrawl (.+)$", page, re.MULTILINE)
    known = dict(commands())
    assert {*headings} == {*known, *COMMANDS}
    for name, command in known.items():
        section = re.search(rf"^###? ccrawl {name}$(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
        assert section, name
        shown = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", section[1]))
        assert flags(command) - shown == set(), name
        listed = set(re.findall(r"^  (?:-\w, )?(--[a-z][\w-]*)(?= |$)", section[1], re.MULTILINE)) - {
            "--help"
        }
        assert listed - flags(command) == set(), name


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_help_fits_a_screen_of_60_lines(name: str) -> None:
    page = text("commands.md")
    section = re.search(rf"^\$ ccrawl {name} --help\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert section
    assert max(len(line) for line in section[1].splitlines()) <= 80
    assert len(section[1].splitlines()) < 60
    assert not re.search(r"[│╭╰]|\[/?dim\]", section[1]), "help is plain text"


def test_every_flag_that_a_page_mentions_exists() -> None:
    known = {flag for _, command in commands() for flag in flags(command)}
    known |= {"--help", "--version", "--install-completion", "--show-completion"}  # of `ccrawl` itself
    for path in (ROOT / "README.md", *DOCS.rglob("*.md")):
        mentioned = set(re.findall(r"(?<![\w{}-])--[a-zA-Z][\w-]*", path.read_text(encoding="utf-8")))
        assert mentioned - known - FOREIGN_FLAGS == set(), path.name


def command_lines(path: Path) -> list[list[str]]:
    """The words of every `ccrawl ...` in the code blocks of a page, but for those whose help it shows."""
    found = []
    fence = ""
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if line.startswith("```"):
            fence = "" if fence else line
        shown = re.match(r"(?:\$ |    | +)?(?:scripts/)?ccrawl +([a-z].*)", line)
        if shown and (fence or line.startswith("    ")) and not shown[1].endswith("--help"):
            found.append(shlex.split(re.split(r" [|>&]", shown[1])[0], comments=True))
    return found


@pytest.mark.parametrize(
    "page", sorted([ROOT / "README.md", *DOCS.rglob("*.md")]), ids=lambda path: path.name
)
def test_every_command_that_a_page_shows_is_one_that_is_understood(page: Path) -> None:
    known = dict(commands())
    for words in command_lines(page):
        name = words[0] if words[0] in known else " ".join(words[:2])
        assert name in known, words
        # Parses and checks the arguments, as a run would, and runs nothing.
        known[name].make_context(name, words[len(name.split()) :])


def test_commands_are_found_in_pages() -> None:
    assert ["export", "crawl.warc.gz", "--out", "dataset", "--dedup-digest"] in command_lines(
        DOCS / "index.md"
    )
    assert len(command_lines(DOCS / "how-to" / "index.md")) > 10
    assert len(command_lines(DOCS / "tutorial.md")) >= 8


def test_languages_that_pages_name_are_detected() -> None:
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for codes in re.findall(r"--lang ([a-z,]+)", page.read_text(encoding="utf-8")):
            assert normal_languages(codes.split(",")) == tuple(sorted(codes.split(","))), page.name


def test_columns_are_those_of_the_schema() -> None:
    names = {"double": "float64"}
    stated = [(row[0], row[1]) for row in table(text("columns.md"), "# Columns")]
    assert stated == [(field.name, names.get(str(field.type), str(field.type))) for field in arrow_schema()]


def test_columns_of_a_refetch_and_its_errors_are_those_of_the_code() -> None:
    names = {"double": "float64"}
    stated = [(row[0], row[1]) for row in table(text("columns.md"), "## Of a refetch")]
    assert stated == [(field.name, names.get(str(field.type), str(field.type))) for field in REFETCH.schema()]
    assert first_column(text("causes.md"), "A refetch passes over these, too:") == list(NOT_A_TARGET)
    guide = (DOCS / "how-to" / "refetch.md").read_text(encoding="utf-8")
    assert dict(map(tuple, table(guide, "| error | meaning |"))) == ERRORS  # type: ignore[arg-type]


def test_exit_codes_are_those_of_the_command_line_and_of_every_error() -> None:
    stated = {int(row[0]) for row in table(text("exit-codes.md"), "# Exit codes")}
    assert stated == set(EXIT_CODES)
    classes = [
        kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, Exception)
    ]
    assert {kind.exit_code for kind in classes} <= stated
    commands = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ccrawl" / "cli").glob("*.py"))
    assert {int(code) for code in re.findall(r"return 0 if .* else (\d+)$", commands, re.MULTILINE)} <= stated


def calls_with_a_text(path: Path, names: set[str]) -> set[str]:
    """The texts that calls of these names are given, in either branch of a conditional."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            for inner in (constant for argument in node.args for constant in ast.walk(argument)):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value:
                    found.add(inner.value)
    return found


def test_causes_of_damage_are_those_that_reading_names() -> None:
    archives = ROOT / "ccrawl" / "archives"
    named = set().union(
        *(calls_with_a_text(path, {"_Lost", "Broken", "BadHead"}) for path in archives.glob("*.py"))
    )
    named |= {f"bad-{form}" for form in ("gzip", "zstd", "bzip2", "lz4")}
    assert (
        set(first_column(text("causes.md"), "## `damage`: places in an archive that were passed over"))
        == named
    )


def test_causes_of_skipped_records_are_those_that_reading_returns() -> None:
    tree = ast.parse((ROOT / "ccrawl/archives/capture.py").read_text(encoding="utf-8"))
    functions = {"capture_of", "_message", "_page_type", "_conversion"}
    named = {
        inner.value
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in functions
        for returned in ast.walk(node)
        if isinstance(returned, ast.Return) and returned.value is not None
        for inner in ast.walk(returned.value)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    }
    causes = {name for name in named if re.fullmatch(r"[a-z]+(-[a-z]+)*:?", name)} - {
        *("conversion", "other", "unparsable", "text"),
    }
    page = text("causes.md")
    stated = first_column(page, "## `skipped`: records that are no pages")
    assert {cause.partition(":")[0] for cause in stated} == {cause.rstrip(":") for cause in causes} | {
        "unsupported-coding"
    }
    types = table(page, "## `skipped`: records that are no pages")[0][1]
    assert set(re.findall(r"`([a-z]+)`", types)) == (set(TYPES) - {"revisit"}) | {"other"}


def test_causes_of_failed_pages_are_those_of_the_errors_and_of_deaths() -> None:
    from ccrawl.archives import NotHtml, UnsupportedCoding
    from ccrawl.run import guard

    kinds = (errors.PageError, errors.PageTooLarge, NotHtml, UnsupportedCoding)
    causes = {kind.cause for kind in kinds} | {guard.TIMEOUT, guard.MEMORY, guard.CRASH}
    assert set(first_column(text("causes.md"), "## `failed`: pages set aside")) == causes


def names(kind: type) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


def test_keys_of_the_manifest_and_of_failures_are_those_that_are_written() -> None:
    page = text("files.md")
    assert first_column(page, "### A shard") == names(ShardEntry)
    assert first_column(page, "### Counts") == names(Counts)
    assert first_column(page, "## `failures.jsonl`") == names(Failure)
    failed = re.search(r"A failed shard has (.*?), the", page)
    assert failed
    assert re.findall(r"`(\w+)`", failed[1]) == names(FailedShard)


def test_keys_of_a_manifest_and_a_footer_stand_in_the_reference(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    ccrawl.export(ROOT / "samples" / "sample.warc.gz", tmp_path, workers=1, card=False)
    page = text("files.md")
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert first_column(page, "## `manifest.json`") == list(manifest)
    footer = pq.read_metadata(next(tmp_path.glob("data/*/*.parquet"))).metadata
    ours = {key.decode() for key in footer if key.startswith(b"ccrawl.")}
    assert set(first_column(page, "The footer's key-value metadata:")) == ours
    counts = table(page, "The footer's key-value metadata:")[-1][1]
    assert tuple(re.findall(r"`(\w+)`", counts)) == shard._FOOTER_COUNTS


def test_columns_of_other_parquet_files_are_those_of_their_schemas() -> None:
    page = text("files.md")
    plain = {
        field.name: str(field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in CLUSTER_SCHEMA
    }
    assert dict(row[:2] for row in table(page, "## `dedup --clusters FILE.parquet`")) == plain
    assert first_column(page, "## `--duplicates FILE.parquet`") == list(Duplicate._fields)


VECTORS = {
    "Harbour": ["harbour"],
    "one two": ["one", "two"],
    "# [Line 12](/lines/12)\n\nLeaves at **ten**.": ["line 12 leaves", "12 leaves at", "leaves at ten"],
}


def test_vectors_of_the_fingerprint_follow_from_the_definition() -> None:
    page = text("simhash.md")
    sections = ["**One token.**", "**Two tokens.**", "**Windows.**"]
    stated = dict(re.findall(r"^\| `?([^`|]+?)`? \| `([0-9a-f]{16})` \|$", page, re.MULTILINE))
    decimals = []
    for start, (markdown, features) in zip(sections, VECTORS.items(), strict=True):
        hashes = [xxh3_64_intdigest(feature.encode()) for feature in features]
        bits = [sum(value >> bit & 1 for value in hashes) * 2 > len(hashes) for bit in range(64)]
        fingerprint = sum(1 << bit for bit, one in enumerate(bits) if one)
        assert {feature: stated[feature] for feature in features} == {
            feature: f"{value:016x}" for feature, value in zip(features, hashes, strict=True)
        }
        section = page[page.index(start) :]
        assert re.search(r"fingerprint \| `([0-9a-f]{16})`", section)[1] == f"{fingerprint:016x}"  # type: ignore[index]
        assert ccrawl.simhash(markdown) == fingerprint
        decimals.append(str(fingerprint))
    assert ", ".join(decimals) in page


def test_every_public_name_stands_in_the_python_reference() -> None:
    page = text("python.md")
    functions = {name for name in ccrawl.__all__ if callable(getattr(ccrawl, name))}
    assert set(re.findall(r"^### ccrawl\.(\w+)$", page, re.MULTILINE)) == functions


def test_options_and_reports_of_public_functions_stand_in_the_python_reference_with_their_fields() -> None:
    page = text("python.md")
    stated = set(re.findall(r"^### (\w+)$", page, re.MULTILINE))
    signatures = " ".join(
        str(inspect.signature(getattr(ccrawl, name))) for name in ccrawl.__all__ if name != "__version__"
    )
    assert set(re.findall(r"\b\w+(?:Options|Report)\b", signatures)) <= stated
    for kind in (ExportOptions, ExportReport, DedupOptions, CardOptions, VerifyReport):
        assert first_column(page, f"### {kind.__name__}") == names(kind)


def test_extractors_and_extras_are_those_that_there_are() -> None:
    guide = (DOCS / "how-to" / "extractor.md").read_text(encoding="utf-8")
    assert first_column(guide, "# Choose an extractor") == list(EXTRACTORS)
    with (ROOT / "pyproject.toml").open("rb") as file:
        stated = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(stated) - {"all"} == set(extras.EXTRAS)
    for path in (ROOT / "README.md", *DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        for named in re.findall(r"'\.\[([\w,]+)\]'", page):
            assert set(named.split(",")) <= set(stated), path.name
        assert "'ccrawl[" not in page, f"{path.name}: ccrawl is installed from a checkout, as in '.[index]'"
