"""The YAML block at a card's head, as dataset hubs read it.

Written by hand rather than by a YAML library: the few shapes there are (strings, lists of strings, configs)
are quoted one way, so no value can change its type or leave its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ccrawl.dataset.card.escape import yaml_string
from ccrawl.dataset.card.facts import Facts
from ccrawl.dataset.card.options import CardOptions
from ccrawl.text._iso639 import ISO_639_3

# ISO 639-1 where there is one, as hubs ask; `sh` was withdrawn and `bh` names a group.
_NOT_IN_ISO_639_1 = ("sh", "bh")
_TWO_LETTERS = {
    long: short for short, long in ISO_639_3.items() if len(short) == 2 and short not in _NOT_IN_ISO_639_1
}
_SIZES = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
_TASKS = ("text-generation",)
_TAGS = ("web", "markdown", "common-crawl", "ccrawl", "simhash")
_KEY = re.compile(r"^([A-Za-z_][\w-]*)\s*:", re.MULTILINE)


def front_matter(facts: Facts, options: CardOptions, name: str, kept: str = "") -> str:
    """The block with its `---` lines. Keys that stand in `kept` (a person's own YAML) are left to it."""
    theirs = set(_KEY.findall(kept))
    lines = ["---"]
    for key, text in _entries(facts, options, name):
        if key not in theirs:
            lines.append(text)
    lines += ["# ccrawl:keep yaml", *kept.splitlines(), "# /ccrawl:keep", "---", ""]
    return "\n".join(lines)


def _entries(facts: Facts, options: CardOptions, name: str) -> Iterator[tuple[str, str]]:
    yield "pretty_name", f"pretty_name: {yaml_string(name)}"
    if codes := language_codes(facts):
        yield "language", _list("language", codes)
    yield "license", f"license: {yaml_string(options.license)}"
    if options.license_name:
        yield "license_name", f"license_name: {yaml_string(options.license_name)}"
    if options.license_link:
        yield "license_link", f"license_link: {yaml_string(options.license_link)}"
    yield "task_categories", _list("task_categories", _TASKS)
    yield "size_categories", _list("size_categories", [size_category(facts.rows)])
    tags = _TAGS if any(crawl.name.startswith("CC-MAIN-") for crawl in facts.crawls) else _TAGS_ELSEWHERE
    yield "tags", _list("tags", tags)
    yield "configs", "\n".join(["configs:", *_configs(facts)])


_TAGS_ELSEWHERE = tuple(tag for tag in _TAGS if tag != "common-crawl")


def language_codes(facts: Facts) -> list[str]:
    """The languages present, the most frequent first: ISO 639-1 where that has a code, else as they are."""
    codes = (_TWO_LETTERS.get(language, language) for language, _ in facts.languages if language)
    return list(dict.fromkeys(codes))


def size_category(rows: int) -> str:
    """The hub's class of a number of rows: `n<1K`, `1K<n<10K` ... `n>1T`."""
    bounds = [10**exponent for exponent in range(3, 13)]
    place = sum(rows >= bound for bound in bounds)
    if place == 0:
        return f"n<{_SIZES[0]}"
    if place == len(_SIZES):
        return f"n>{_SIZES[-1]}"
    return f"{_SIZES[place - 1]}<n<{_SIZES[place]}"


def config_name(crawl: str) -> str:
    """The configuration that holds one crawl; `default` is taken by the one that holds all."""
    return crawl if crawl != "default" else "crawl=default"


def _configs(facts: Facts) -> Iterator[str]:
    yield from _config("default", "data/*/*.parquet", default=True)
    for crawl in facts.crawls:
        yield from _config(config_name(crawl.name), f"data/crawl={crawl.name}/*.parquet")


def _config(name: str, files: str, *, default: bool = False) -> Iterator[str]:
    yield f"- config_name: {yaml_string(name)}"
    if default:
        yield "  default: true"
    yield "  data_files:"
    yield '  - split: "train"'
    yield f"    path: {yaml_string(files)}"


def _list(key: str, values: tuple[str, ...] | list[str]) -> str:
    return "\n".join([f"{key}:", *(f"- {yaml_string(value)}" for value in values)])
