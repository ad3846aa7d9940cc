"""The sections of a card, each from the facts to Markdown. Those that hold its figures are in numbers.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ccrawl.dataset.card import numbers
from ccrawl.dataset.card.commands import made_by, snippets
from ccrawl.dataset.card.escape import code, inline, json_in_fence, one_line
from ccrawl.dataset.card.front_matter import config_name
from ccrawl.dataset.card.parts import Card, bytes_of, fence, section, table
from ccrawl.dataset.schema import REFETCH, Layout
from ccrawl.units import count, size

_EXAMPLE_CHARACTERS = 700
_TYPES = {"double": "float64"}


def sections(card: Card) -> dict[str, str]:
    """Every section by name, in the order of the default template."""
    return {
        "name": inline(card.name),
        "description": _description(card),
        "glance": _glance(card),
        "columns": _columns(card.facts.layout),
        "example": _example(card),
        "load": _load(card),
        "layout": _layout(card),
        "made": _made(card),
        "funnel": numbers.funnel(card),
        "answers": numbers.answers(card),
        "duplicates": numbers.duplicates(card),
        "bytes": numbers.bytes(card),
        "languages": numbers.languages(card),
        "lengths": numbers.lengths(card),
        "hosts": numbers.hosts(card),
        "dates": numbers.dates(card),
        "estimate": numbers.estimate(card),
        "limits": _LIMITS,
        "terms": _terms(card),
        "citation": _citation(card),
    }


def _description(card: Card) -> str:
    if card.options.description:
        return inline(card.options.description)
    facts = card.facts
    crawls = ", ".join(code(crawl.name) for crawl in facts.crawls) or "no crawl"
    if facts.answers is not None:
        return (
            f"What {count(facts.rows, 'URL')} of {crawls} answered{_days(card)}: a row for each, whether the "
            "fetch went well or not, with status, headers and the main content as Markdown, and whether the "
            "page is still the one that was archived."
        )
    return (
        f"{count(facts.rows, 'web page')} as Markdown, from {count(facts.shards, 'shard')} of {crawls}: "
        "the main content of each page, with its URL, language and title, a 64-bit fingerprint of the text, "
        "and the place of its record in the archive."
    )


def _days(card: Card) -> str:
    """` between DAY and DAY`, ` on DAY`, or nothing where it is not known."""
    answers = card.facts.answers
    if answers is None or not answers.first_day:
        return ""
    if answers.first_day == answers.last_day:
        return f" on {answers.first_day}"
    return f" between {answers.first_day} and {answers.last_day}"


def _glance(card: Card) -> str:
    facts = card.facts
    dates = facts.first_date
    if facts.last_date != facts.first_date:
        dates += f" to {facts.last_date}"
    languages = sum(1 for language, _ in facts.languages if language)
    rows = [
        ("Rows", f"{facts.rows:,}"),
        ("Crawls", f"{len(facts.crawls):,}"),
        ("Shards", f"{facts.shards:,}"),
        ("Archived" if facts.answers else "Captured", inline(dates)),
        ("Fetched", inline(_days(card).strip().removeprefix("on "))),
        ("Languages", f"{languages:,}"),
        ("Hosts", f"{facts.hosts:,}"),
        ("Markdown", bytes_of(facts.markdown_bytes)),
        ("Parquet", bytes_of(facts.file_bytes)),
    ]
    return section("At a glance", table(rows[0], [row for row in rows[1:] if row[1]]))


def _made(card: Card) -> str:
    facts = card.facts
    wanted = facts.manifest.options.get("languages")
    steps = (
        _steps_of_refetch(card)
        if facts.answers is not None
        else [
            "Web archives were read record by record; HTML responses with status 200 are pages.",
            _dropped_copies(facts.manifest.options),
            "Each page was decoded as browsers decode it, and its main content written as Markdown by "
            f"{_names(facts.extractors)}. Pages without text make no row.",
            "The language was detected from the text"
            + (
                f"; pages in other languages than {_names(map(str, wanted))}, or less sure, were dropped."
                if isinstance(wanted, list) and wanted
                else "."
            ),
            f"The text was fingerprinted with simhash, definition {_names(facts.simhashes)}.",
        ]
    )
    options = [
        (code(name, in_table=True), code(_shown(value), 80, in_table=True))
        for name, value in _leaves(facts.manifest.options)
    ]
    commands = made_by(facts, card.folder)
    return section(
        "How it was made",
        f"With ccrawl {code(facts.manifest.version)}. {_again(facts.manifest.options)}:",
        fence("sh", commands) if commands else "",
        "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
        table(["option", "value"], options),
    )


def _steps_of_refetch(card: Card) -> list[str]:
    facts, options = card.facts, card.facts.manifest.options
    asked = options.get("fetch")
    robots = "robots.txt was not asked for"
    if not (isinstance(asked, dict) and asked.get("ignore_robots")):
        robots = "robots.txt was obeyed (RFC 9309)"
    copies = "No row was dropped for being a copy of another."
    if options.get("dedup_digest") or options.get("dedup_index"):
        alike = ", or is alike under the rules of dedup_normalize," if options.get("dedup_normalize") else ""
        copies = (
            f"Pages whose body was there before{alike} were dropped, failures never; the first of the input "
            "stays."
        )
    converted = (
        "The HTML of each page (an answer with a status of 2xx) was kept as it came."
        if options.get("fetch_only")
        else "Each page (HTML with a status of 2xx) was decoded as browsers decode it, and its main content "
        f"written as Markdown by {_names(facts.extractors)}."
    )
    if options.get("converted"):
        return [
            "Pages that a dataset held as HTML were decoded as browsers decode them, and their main content "
            f"written as Markdown by {_names(facts.extractors)}.",
            "The language was detected from the text.",
            f"The text was fingerprinted with simhash, definition {_names(facts.simhashes)}.",
        ]
    return [
        f"Each URL of the sources was fetched once{_days(card)}, redirects followed; {robots}.",
        copies,
        converted,
        *(
            []
            if options.get("fetch_only")
            else [
                "The language was detected from the text.",
                f"The text was fingerprinted with simhash, definition {_names(facts.simhashes)}.",
            ]
        ),
        "`changed` compares the body's digest with the archived payload's, or where there is none the "
        "fingerprints.",
    ]


def _leaves(options: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The options one by one, those of a group under its name: `extract.favor`."""
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield above + name, value


def _dropped_copies(options: Mapping[str, Any]) -> str:
    if options.get("dedup_normalize"):
        return "Pages that the rules of dedup_normalize make alike to earlier ones were dropped."
    if options.get("dedup_index"):
        return "Pages whose payload was in an index of earlier captures were dropped before they were parsed."
    if options.get("dedup_digest"):
        return "Pages byte-identical to an earlier one of their shard were dropped before they were parsed."
    return "No page was dropped for being a copy of another."


def _again(options: Mapping[str, Any]) -> str:
    if options.get("layout") == REFETCH.name and not options.get("converted"):
        return "The same command asks again, and gets what the servers say then"
    if options.get("dedup_index"):
        return "The same command and the same index give the same bytes on any machine"
    return "The same command gives the same bytes on any machine"


def _columns(layout: Layout) -> str:
    rows = [
        (code(column.name, in_table=True), _TYPES.get(column.type, column.type), inline(column.meaning))
        for column in layout.columns
    ]
    return section(
        "Columns",
        "The first 27 are the public refetch layout, name for name."
        if layout is REFETCH
        else "The first twelve are the public open-markdown-v3 layout, name for name and type for type.",
        table(["column", "type", "meaning"], rows),
    )


def _example(card: Card) -> str:
    row = card.facts.example
    if row is None:
        return ""
    values: dict[str, object] = row._asdict()
    values.pop("html", None)  # bytes of a page are nothing to read here
    shortened = len(row.markdown) > _EXAMPLE_CHARACTERS
    if shortened:
        values["markdown"] = row.markdown[:_EXAMPLE_CHARACTERS] + "…"
    for name in ("url", "title", "final_url", "resp_headers"):
        if name not in values:
            continue
        values[name] = one_line(str(values[name]), 300)
    return section(
        "An example row",
        "Its Markdown is cut here, not in the file." if shortened else "",
        fence("json", [json_in_fence(values)]),
    )


def _layout(card: Card) -> str:
    facts = card.facts
    tree = ["README.md", "manifest.json       every shard with its source, counts, size and SHA-256", "data/"]
    for crawl in facts.crawls:
        tree.append(f"  crawl={one_line(crawl.name)}/")
        tree.append(
            f"    NNNNNN.parquet  {count(crawl.shards, 'file')}, {count(crawl.rows, 'row')}, a file a shard"
        )
    rows = [
        (
            code(config_name(crawl.name), in_table=True),
            "train",
            f"{crawl.rows:,}",
            f"{crawl.shards:,}",
            size(crawl.file_bytes),
        )
        for crawl in facts.crawls
    ]
    rows.insert(
        0,
        (
            code("default", in_table=True),
            "train",
            f"{facts.rows:,}",
            f"{facts.shards:,}",
            size(facts.file_bytes),
        ),
    )
    return section(
        "Files and splits",
        "One split, `train`; a configuration for each crawl, and `default` for all of them. Rows stand in "
        "the order of their records. "
        "There is no test split: pages of one site would be on both sides of it.",
        fence("text", tree),
        table(["configuration", "split", "rows", "files", "Parquet"], rows),
    )


def _load(card: Card) -> str:
    parts = []
    for snippet in snippets(card.facts, card.folder, card.options.repo):
        parts += [f"{snippet.title}:", fence("python", [snippet.code])]
    return section("How to load it", *parts)


_LIMITS = """\
## Known limits

- The text is what a program took for the main content. Some pages keep a menu or a cookie notice, some lose a
  paragraph; text that scripts fetch after loading is not in the archive.
- Languages are detected, not declared. Short texts, names, code and closely related languages are told apart
  badly; `language_confidence` says how sure the detector was.
- Pages were not filtered for quality, truth, adult content or personal data. A web crawl is no fair sample of
  people, languages or opinions.
- Near duplicates across shards are in the dataset unless the section on duplicates says otherwise.
"""


def _terms(card: Card) -> str:
    options = card.options
    asked = (
        f"Write to {inline(options.contact)} to have a page removed; name its URL or `doc_id`."
        if options.contact
        else "To have a page removed, write to whoever publishes this dataset; name its URL or `doc_id`."
    )
    common_crawl = any(crawl.name.startswith("CC-MAIN-") for crawl in card.facts.crawls)
    return section(
        "Terms of use and removal",
        "The pages belong to those who wrote them, under the terms of the sites that they come from. "
        "This dataset gives no right to them; its licence covers the compilation only.",
        "The archives are Common Crawl's, whose [terms of use](https://commoncrawl.org/terms-of-use) apply."
        if common_crawl
        else "",
        asked,
    )


def _citation(card: Card) -> str:
    answers = card.facts.answers
    year = (answers.last_day if answers and answers.last_day else card.facts.last_date)[:4]
    title = "".join(character for character in one_line(card.name) if character not in "{}\\%#$&~^_`")
    lines = ["@misc{dataset,", f"  title = {{{title}}},"]
    lines += [f"  year = {{{year}}},"] if year.isdigit() else []
    lines += [f"  howpublished = {{\\url{{{card.options.repo}}}}},"] if card.options.repo else []
    lines += [f"  note = {{Made with ccrawl {one_line(card.facts.manifest.version)}}}", "}"]
    return section("Citation", fence("bibtex", lines))


def _names(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in names) or "–"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "all"
    return "none" if value is None else str(value)
