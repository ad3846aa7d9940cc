"""What an export says when it is over."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any

from ccrawl.cli.units import count, duration, size
from ccrawl.dataset.ledger import FAILURES, Counts
from ccrawl.run.export import ExportReport
from ccrawl.run.indexed import IndexReport


def as_json(report: ExportReport) -> dict[str, Any]:
    """The report's fields as JSON values."""
    return {**dataclasses.asdict(report), "directory": str(report.directory), "complete": report.complete}


def as_text(report: ExportReport) -> str:
    """The report as aligned lines, under 80 columns."""
    counts = report.counts
    shards = {"done before": report.skipped_shards, "failed": len(report.failed_shards)}
    html, markdown, parquet = map(size, (counts.html_bytes, counts.markdown_bytes, report.file_bytes))
    lines = [
        ("shards", _with(f"{report.shards:,}", shards)),
        ("records", f"{counts.records:,}"),
        ("not pages", _causes(counts.skipped)),
        ("pages", f"{counts.pages:,}"),
        ("duplicates", _duplicates(counts)),
        ("no text", f"{counts.empty:,}" if counts.empty else ""),
        ("other language", f"{counts.other_language:,}" if counts.other_language else ""),
        ("set aside", _causes(counts.failed)),
        ("rows", f"{counts.rows:,}"),
        ("damage", _causes(counts.damage)),
        ("languages", _languages(counts.languages)),
        ("index", _index(report.index) if report.index else ""),
        ("bytes", f"HTML {html}, Markdown {markdown}, Parquet {parquet}"),
        ("time", _time(report)),
    ]
    width = max(len(name) for name, _ in lines)
    text = [_told(name.ljust(width) + "  ", value) for name, value in lines if value]
    text += [f"failed: {failed.error}" for failed in report.failed_shards]
    if report.failures:
        text.append(f"see {report.directory / FAILURES}: {count(report.failures, 'line')}")
    return "\n".join(text)


_TOGETHER = "\N{NO-BREAK SPACE}"


def _told(name: str, value: str) -> str:
    """A line, folded at 80 columns under its value, but not between a word and its number."""
    told = "\n".join(
        textwrap.wrap(
            value,
            80,
            initial_indent=name,
            subsequent_indent=" " * len(name),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
    return told.replace(_TOGETHER, " ")


def _with(number: str, parts: dict[str, int]) -> str:
    told = ", ".join(f"{value:,} {name}" for name, value in parts.items() if value)
    return f"{number} ({told})" if told else number


def _causes(causes: dict[str, int]) -> str:
    if not causes:
        return ""
    ordered = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{cause}{_TOGETHER}{number:,}" for cause, number in ordered[:6]]
    if len(ordered) > 6:
        others = sum(number for _, number in ordered[6:])
        told.append(f"{others:,} in {count(len(ordered) - 6, 'more cause', 'more causes')}")
    return f"{sum(causes.values()):,} ({', '.join(told)})"


def _duplicates(counts: Counts) -> str:
    if not counts.duplicates:
        return ""
    parts = []
    if counts.duplicates_indexed:
        parts.append(f"{counts.duplicates_indexed:,} known to the index")
    if counts.duplicates > counts.duplicates_indexed:
        parts.append(f"{counts.duplicates_with_row:,} would have made a row")
    return f"{counts.duplicates:,} dropped ({', '.join(parts)})"


def _index(report: IndexReport) -> str:
    if not report.committed:
        return f"run {report.run} is not committed"
    if report.new is None:
        return f"run {report.run} is committed"
    redundant = f", {report.redundant:,} further copies" if report.redundant else ""
    return f"run {report.run} is committed: {report.new:,} new{redundant}"


def _languages(languages: dict[str, int]) -> str:
    ordered = sorted(languages.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{code or 'unknown'}{_TOGETHER}{number:,}" for code, number in ordered[:8]]
    if len(ordered) > 8:
        told.append(f"{len(ordered) - 8} more")
    return ", ".join(told)


def _time(report: ExportReport) -> str:
    done_now = report.shards - report.skipped_shards
    if not done_now:
        return f"{duration(report.seconds)}, nothing was left to do"
    return f"{duration(report.seconds)} (processor {duration(report.cpu_seconds)})"
