"""The commands and programs that a card shows: how to make the dataset again, and how to read it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ccrawl.dataset.card.escape import one_line, python_string
from ccrawl.dataset.card.facts import Facts
from ccrawl.dataset.card.front_matter import config_name
from ccrawl.dataset.ledger import ShardEntry
from ccrawl.dataset.manifest import CRAWL_LIST, LOCATIONS, crawl_of, ranges
from ccrawl.run.options import ExportOptions

_SOURCES_SHOWN = 6
_RANGES_SHOWN = 12
# Placeholders for what the manifest does not hold.
_MANY, _NUMBERS, _FILE, _INDEX = "SOURCE...", "NUMBERS", "LOCATIONS", "INDEX"
_RULES, _CONTACT, _WARC = "RULES", "MAIL-OR-URL", "WARCS"
_PLACEHOLDERS = (_MANY, _NUMBERS, _FILE, _INDEX, _RULES, _CONTACT, _WARC)
# Options whose flag is not their own name with dashes.
_FLAGS = {"languages": "lang", "min_language_confidence": "min-lang-confidence"}


def made_by(facts: Facts, folder: str) -> list[str]:
    """The commands that make the dataset again, one a crawl, as typed where the sources are."""
    if facts.answers is None:
        return export_commands(facts, folder)
    options = facts.manifest.options
    kept = (
        *("extractor", "extract", "limit"),
        *("dedup_digest", "dedup_index", "dedup_min_bytes", "dedup_normalize"),
    )
    flags = _flags({name: options[name] for name in kept if name in options})
    if options.get("converted"):
        words = ["ccrawl", "convert-dataset", _MANY, "--out", folder, *flags]
        return [_typed([*words, *(["--keep-html"] if options.get("keep_html") else [])])]
    from ccrawl.fetching.types import FetchOptions

    defaults, asked = asdict(FetchOptions()), options.get("fetch")
    for name, value in (asked if isinstance(asked, Mapping) else {}).items():
        if value != defaults.get(name):
            flag = "--" + name.replace("_", "-")
            flags += [flag] if value is True else [flag, str(value)]
    flags += ["--fetch-only"] if options.get("fetch_only") else []
    flags += ["--no-compare"] if not options.get("compare") and not options.get("fetch_only") else []
    flags += ["--warc", _WARC] if options.get("warc") else []
    commands = []
    for crawl in facts.crawls:
        shards = [shard for shard in facts.manifest.shards if crawl_of(shard.file) == crawl.name]
        named = [] if crawl.name == ExportOptions().crawl else ["--crawl", crawl.name]
        words = ["ccrawl", "refetch", *_what_to_read(shards), "--out", folder, "--contact", _CONTACT]
        commands.append(_typed([*words, *named, *flags]))
    return commands


def _typed(words: Sequence[str]) -> str:
    return " ".join(word if word in _PLACEHOLDERS else shlex.quote(one_line(word)) for word in words)


def export_commands(facts: Facts, folder: str) -> list[str]:
    """One `ccrawl export` command a crawl, as typed in a shell where the archives are."""
    commands = []
    for crawl in facts.crawls:
        shards = [shard for shard in facts.manifest.shards if crawl_of(shard.file) == crawl.name]
        words = ["ccrawl", "export", *_what_to_read(shards), "--out", folder]
        words += _flags({**facts.manifest.options, "crawl": crawl.name})
        commands.append(_typed(words))
    return commands


def _what_to_read(shards: Sequence[ShardEntry]) -> list[str]:
    names = [shard.source for shard in shards]
    if all(name.startswith(CRAWL_LIST) for name in names):
        numbers = ranges(shard.number for shard in shards)
        return ["--shards", ",".join(numbers) if len(numbers) <= _RANGES_SHOWN else _NUMBERS]
    if all(name.startswith(LOCATIONS) for name in names):
        return ["--locations", _FILE]
    return names if len(names) <= _SOURCES_SHOWN else [_MANY]


def _flags(options: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> list[str]:
    """Command-line flags for the options that are not the defaults, those of an inner group too."""
    if defaults is None:
        defaults = asdict(ExportOptions())
    words: list[str] = []
    for name, value in options.items():
        default = defaults.get(name)
        flag = "--" + _FLAGS.get(name, name.replace("_", "-"))
        if name == "dedup_normalize":
            words += [flag, _RULES]
        elif isinstance(value, dict):
            words += _flags(value, default if isinstance(default, dict) else {})
        elif value == (list(default) if isinstance(default, tuple) else default) or value is None:
            continue
        elif name == "dedup_index":
            words += [flag, _INDEX]
        elif isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [flag, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return words


class Snippet(NamedTuple):
    """A program for a reader of Parquet, complete as it stands."""

    title: str
    code: str


def snippets(facts: Facts, folder: str, repo: str | None) -> list[Snippet]:
    """How to load the dataset: from the hub when it has a place there, else from its folder."""
    place = f"hf://datasets/{repo}" if repo else f"./{folder}"
    name = python_string(repo or place)
    crawl = python_string(config_name(facts.crawls[0].name) if facts.crawls else "default")
    files = f"{place}/data/*/*.parquet"
    data = python_string(f"{place}/data")
    spark = [
        "from pyspark.sql import SparkSession",
        "",
        "spark = SparkSession.builder.getOrCreate()",
        f"pages = spark.read.parquet({data})",
        'pages.groupBy("crawl", "language").count().show()',
    ]
    if repo:  # Spark reads no hub by itself
        spark[0] = f"from huggingface_hub import snapshot_download\n{spark[0]}"
        spark[3] = (
            f'folder = snapshot_download({name}, repo_type="dataset")\n'
            'pages = spark.read.parquet(folder + "/data")'
        )
    return [
        _snippet(
            "datasets",
            "from datasets import load_dataset",
            "",
            f'pages = load_dataset({name}, split="train")',
            f'one_crawl = load_dataset({name}, {crawl}, split="train", streaming=True)',
            "print(pages, next(iter(one_crawl), None))",
        ),
        _snippet(
            "DuckDB",
            "import duckdb",
            "",
            f"files = {python_string(files)}",
            'pages = "read_parquet(?, hive_partitioning = true)"',
            'query = f"select language, count(*) as pages from {pages} group by all order by pages desc"',
            "print(duckdb.sql(query, params=[files]))",
        ),
        _snippet(
            "Polars",
            "import polars",
            "",
            f"pages = polars.scan_parquet({python_string(files)}, hive_partitioning=True)",
            'print(pages.group_by("host").len().sort("len", "host", descending=True).head(10).collect())',
        ),
        _snippet(
            "pandas",
            "import pandas",
            "",
            'columns = ["url", "title", "language", "simhash"]',
            f'pages = pandas.read_parquet({data}, columns=columns, dtype_backend="pyarrow")',
            "print(pages.head())",
        ),
        _snippet("Spark", *spark),
    ]


def _snippet(title: str, *lines: str) -> Snippet:
    return Snippet(title, "\n".join(lines))
