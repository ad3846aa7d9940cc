"""The sections of a card that hold its figures: each from the facts to Markdown, "" with nothing to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ccrawl.dataset.card.escape import code, inline
from ccrawl.dataset.card.parts import Card, ordered, picture, section, share, table
from ccrawl.units import count, size

_LANGUAGES_NAMED = 15


NOT_A_TARGET = {
    "repeated-url": "URL that has a row already",
    "no-url": "line without a URL",
    "bad-json": "line that is no JSON object",
    "too-long": "line of more than 1 MiB",
    "has-nul": "URL with a NUL in it",
}


def answers(card: Card) -> str:
    """What the URLs of a refetch answered."""
    facts = card.facts
    if facts.answers is None:
        return ""

    def told(head: str, found: Iterable[tuple[str, int]], words: Mapping[str, str]) -> str:
        rows = [
            (words.get(value) or code(value, in_table=True), f"{number:,}", share(number, facts.rows))
            for value, number in found
        ]
        return table([head, "rows", "of all rows"], rows)

    failed = sum(number for _, number in facts.answers.errors)
    return section(
        "Answers",
        f"{count(failed, 'row')} of {facts.rows:,} {'has' if failed == 1 else 'have'} an error; "
        "an HTTP status of 4xx or 5xx is an answer, not an error.",
        told("status", facts.answers.statuses, {"": "no answer"}),
        told("error", facts.answers.errors, {}),
        told("the page is", facts.answers.changed, {}),
    )


def funnel(card: Card) -> str:
    counts = card.facts.counts
    drops: list[tuple[str, int]] = [
        *((_not_a_page(cause), number) for cause, number in ordered(counts.skipped)),
        ("copy of an earlier page of its shard", counts.duplicates),
        *((f"set aside: {cause}", number) for cause, number in ordered(counts.failed)),
        ("no text", counts.empty),
        ("other language", counts.other_language),
    ]
    rows = [
        (inline(cause), f"{number:,}", share(number, counts.records)) for cause, number in drops if number
    ]
    damage = [f"{inline(cause)} {number:,}" for cause, number in ordered(counts.damage)]
    return section(
        "From records to rows",
        f"{count(counts.records, 'record')} read, {counts.pages:,} of them "
        f"{'URLs to fetch' if card.facts.answers else 'pages'}, {counts.rows:,} made rows. "
        "Nothing else was left out: the drops below and the rows add up to the records.",
        picture(card, "funnel", "From records to rows"),
        table(["dropped", "records", "of all records"], rows),
        f"Damaged places in the archives, read over: {', '.join(damage)}." if damage else "",
        f"{count(len(card.facts.manifest.failed), 'shard')} could not be read and are missing here."
        if card.facts.manifest.failed
        else "",
    )


_NOT_A_PAGE = {
    "not-html": "not HTML",
    "not-http": "not HTTP",
    "empty": "empty body",
    "too-large": "larger than the limit",
    "revisit": "revisit record",
    "truncated": "cut by the crawler",
}


def _not_a_page(cause: str) -> str:
    """A counter's name (`not-response:request`, `status:404`) in words."""
    if cause in NOT_A_TARGET:
        return NOT_A_TARGET[cause]
    kind, _, which = cause.partition(":")
    if kind == "not-response" and which:
        return f"{which} record"
    if kind == "status" and which:
        return f"HTTP status {which}"
    return _NOT_A_PAGE.get(cause, f"not a page: {cause}")


def _rounded(number: int) -> str:
    """Three digits that count: an estimate has no more."""
    digits = max(0, len(str(number)) - 3)
    return f"{round(number, -digits):,}"


def duplicates(card: Card) -> str:
    counts, facts, dedup = card.facts.counts, card.facts, card.dedup
    digest = ""
    options = facts.manifest.options
    if options.get("dedup_digest") or options.get("dedup_index"):
        digest = (
            f"{count(counts.duplicates, 'page')} byte-identical to an earlier one of the same shard "
            f"were dropped before parsing; {counts.duplicates_with_row:,} of them would have made a row."
        )
        if options.get("dedup_index"):
            digest = (
                f"{count(counts.duplicates, 'page')} byte-identical to an earlier one were dropped before "
                f"parsing; {counts.duplicates_indexed:,} of them were known to an index of earlier captures."
            )
    rows = []
    if dedup is not None:
        found = [
            ("exact: the same Markdown", dedup.exact_duplicates, dedup.exact_clusters, dedup.exact_bytes),
            (
                f"near: at most {dedup.near_distance} of 64 bits differ",
                dedup.near_duplicates,
                dedup.near_clusters,
                dedup.near_bytes,
            ),
            (
                "together",
                dedup.redundant_rows,
                dedup.exact_clusters + dedup.near_clusters,
                dedup.redundant_bytes,
            ),
        ]
        rows = [
            (kind, f"{number:,}", share(number, facts.rows), f"{clusters:,}", f"{size:,}")
            for kind, number, clusters, size in found
        ]
    if not (digest or rows):
        return ""
    return section(
        "Duplicates",
        digest,
        "Rows that another row makes redundant. They are in the files; `ccrawl dedup` names them."
        if rows
        else "",
        table(["duplicates", "rows", "of all rows", "clusters", "bytes of Markdown"], rows),
        f"{count(dedup.no_fingerprint, 'row')} without a fingerprint."
        if dedup and dedup.no_fingerprint
        else "",
        picture(card, "distances", "Near duplicates by bits from the document kept"),
    )


def bytes(card: Card) -> str:
    facts = card.facts
    if not facts.html_bytes:
        return ""
    kinds = [
        ("sources, as stored" if facts.answers else "archives, as stored", facts.counts.archive_bytes),
        ("HTML of the rows", facts.html_bytes),
        ("Markdown", facts.markdown_bytes),
        ("Parquet", facts.file_bytes),
    ]
    rows = [(name, f"{number:,}", size(number), f"{number / facts.html_bytes:.1%}") for name, number in kinds]
    return section("Bytes", table(["", "bytes", "", "of the HTML"], rows))


def languages(card: Card) -> str:
    facts = card.facts
    named = facts.languages[:_LANGUAGES_NAMED]
    rows = [
        (
            code(language, in_table=True) if language else "too little text to tell",
            f"{number:,}",
            share(number, facts.rows),
        )
        for language, number in named
    ]
    rest = facts.languages[_LANGUAGES_NAMED:]
    if rest:
        number = sum(rows for _, rows in rest)
        rows.append((f"{len(rest):,} more", f"{number:,}", share(number, facts.rows)))
    if not rows:
        return ""
    return section(
        "Languages",
        picture(card, "languages", "Rows by language"),
        table(["ISO 639-3", "rows", "of all rows"], rows),
    )


def lengths(card: Card) -> str:
    spread = card.facts.lengths
    if spread is None:
        return ""
    numbers = [spread.least, spread.tenth, spread.median, spread.ninetieth, spread.greatest]
    return section(
        "Lengths",
        picture(card, "lengths", "Rows by length of their Markdown"),
        table(
            ["bytes of Markdown", "least", "10 %", "median", "90 %", "greatest", "mean"],
            [("", *(f"{number:,}" for number in numbers), f"{spread.mean:,.0f}")],
        ),
    )


def hosts(card: Card) -> str:
    facts = card.facts
    rows = [
        (code(host, 60, in_table=True), f"{number:,}", share(number, facts.rows))
        for host, number in facts.top_hosts
    ]
    if not rows:
        return ""
    told = f"The {len(rows):,} hosts with most rows, of {facts.hosts:,}:" if facts.hosts > len(rows) else ""
    return section("Hosts", told, table(["host", "rows", "of all rows"], rows))


def dates(card: Card) -> str:
    rows = [(inline(year) or "not known", f"{number:,}") for year, number in card.facts.years]
    return section("Years", table(["captured in", "rows"], rows)) if len(rows) > 1 else ""


def estimate(card: Card) -> str:
    total = card.options.estimate_total
    if total is None:
        return ""
    names = {
        "pages": "pages",
        "rows": "rows",
        "html_bytes": "HTML of the rows",
        "markdown_bytes": "Markdown",
        "file_bytes": "Parquet",
    }
    rows = []
    for one in card.estimates:
        told = size if one.name.endswith("bytes") else _rounded
        margin = "one shard does not tell" if one.margin is None else f"± {told(one.margin)}"
        rows.append((f"{names[one.name]} (estimate)", f"≈ {told(one.total)}", margin))
    return section(
        "Estimate for the whole crawl",
        f"**These are estimates, not counts.** {count(card.facts.shards, 'shard')} of {total:,} are done "
        f"({share(card.facts.shards, total)}); their mean times {total:,} gives:",
        table(["", "estimate", "two standard errors"], rows),
    )
