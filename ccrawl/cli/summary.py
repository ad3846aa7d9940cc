"""What an export, a refetch and a conversion say when they are over."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ccrawl.dataset.ledger import FAILURES, Counts
from ccrawl.units import TOGETHER, count, duration, folded, size

if TYPE_CHECKING:
    from ccrawl.fetching.convert import ConvertDatasetReport
    from ccrawl.fetching.run import RefetchReport
    from ccrawl.run.export import ExportReport
    from ccrawl.run.indexed import IndexReport

    Report = ExportReport | RefetchReport | ConvertDatasetReport


def as_json(report: ExportReport) -> dict[str, Any]:
    """The report's fields as JSON values."""
    return {**dataclasses.asdict(report), "directory": str(report.directory), "complete": report.complete}


def as_text(report: ExportReport) -> str:
    """The report as aligned lines, under 80 columns."""
    counts = report.counts
    return _lines(
        report,
        [
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
            ("bytes", _bytes(counts, report.file_bytes)),
        ],
    )


def _lines(report: Report, told: list[tuple[str, str]]) -> str:
    """What every report says of its shards and its time, and `told` in between; empty values left out."""
    shards = {"done before": report.skipped_shards, "failed": len(report.failed_shards)}
    lines = [("shards", _with(f"{report.shards:,}", shards)), *told, ("time", _time(report))]
    width = max(len(name) for name, _ in lines)
    text = [folded(name.ljust(width) + "  ", value) for name, value in lines if value]
    text += [f"failed: {failed.error}" for failed in report.failed_shards]
    if report.failures:
        text.append(f"see {report.directory / FAILURES}: {count(report.failures, 'line')}")
    return "\n".join(text)


def refetch_as_json(report: RefetchReport) -> dict[str, Any]:
    """The report's fields as JSON values."""
    return {
        **dataclasses.asdict(report),
        "directory": str(report.directory),
        "warc": str(report.warc) if report.warc else None,
        "wacz": {**dataclasses.asdict(report.wacz), "path": str(report.wacz.path)} if report.wacz else None,
        "pages_per_second": round(report.pages_per_second, 1),
        "set_aside": report.set_aside,
        "complete": report.complete,
    }


def refetch_as_text(report: RefetchReport) -> str:
    """The report as aligned lines, under 80 columns."""
    counts = report.counts
    statuses = {status or "no answer": number for status, number in counts.statuses.items()}
    return _lines(
        report,
        [
            ("no target", _causes(counts.skipped)),
            ("URLs", f"{counts.pages:,}"),
            ("fetched now", _fetched(report)),
            ("status", _named(statuses)),
            ("errors", _causes(counts.errors)),
            ("changed", _named(counts.changed)),
            ("duplicates", _duplicates(counts)),
            ("rows", f"{counts.rows:,}"),
            ("damage", _causes(counts.damage)),
            ("languages", _languages(counts.languages)),
            ("slowest", _slowest(report)),
            ("index", _index(report.index) if report.index else ""),
            ("WARC", str(report.warc) if report.warc else ""),
            ("WACZ", f"{report.wacz.path}, {size(report.wacz.bytes)}" if report.wacz else ""),
            ("bytes", _bytes(counts, report.file_bytes)),
            ("phases", _phases(report.phases)),
        ],
    )


def convert_dataset_as_json(report: ConvertDatasetReport) -> dict[str, Any]:
    """The report's fields as JSON values."""
    return {
        **dataclasses.asdict(report),
        "directory": str(report.directory),
        "set_aside": report.set_aside,
        "complete": report.complete,
    }


def convert_dataset_as_text(report: ConvertDatasetReport) -> str:
    """The report as aligned lines, under 80 columns."""
    counts = report.counts
    return _lines(
        report,
        [
            ("rows", f"{counts.rows:,}"),
            ("errors", _causes(counts.errors)),
            ("languages", _languages(counts.languages)),
            ("bytes", _bytes(counts, report.file_bytes)),
        ],
    )


def _with(number: str, parts: dict[str, int]) -> str:
    told = ", ".join(f"{value:,} {name}" for name, value in parts.items() if value)
    return f"{number} ({told})" if told else number


def _causes(causes: dict[str, int]) -> str:
    if not causes:
        return ""
    ordered = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{cause}{TOGETHER}{number:,}" for cause, number in ordered[:6]]
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


def _bytes(counts: Counts, file_bytes: int) -> str:
    html, markdown, parquet = map(size, (counts.html_bytes, counts.markdown_bytes, file_bytes))
    return f"HTML {html}, Markdown {markdown}, Parquet {parquet}"


def _fetched(report: RefetchReport) -> str:
    if not report.fetched and not report.resumed:
        return ""
    text = f"{report.fetched:,}, {report.pages_per_second:,.1f} a second"
    if report.failed:
        text += f", {report.failed:,} failed"
    if report.resumed:
        text += f"; {report.resumed:,} by an earlier run"
    return text


def _named(numbers: dict[str, int]) -> str:
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name}{TOGETHER}{number:,}" for name, number in ordered[:12])


def _slowest(report: RefetchReport) -> str:
    hosts = [host for host in report.slow_hosts if host.host][:3]
    return ", ".join(f"{host.host}{TOGETHER}({duration(host.seconds)})" for host in hosts)


def _phases(phases: dict[str, float]) -> str:
    return ", ".join(f"{phase}{TOGETHER}{duration(took)}" for phase, took in phases.items() if took)


def _languages(languages: dict[str, int]) -> str:
    ordered = sorted(languages.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{code or 'unknown'}{TOGETHER}{number:,}" for code, number in ordered[:8]]
    if len(ordered) > 8:
        told.append(f"{len(ordered) - 8} more")
    return ", ".join(told)


def _time(report: Report) -> str:
    done_now = report.shards - report.skipped_shards
    if not done_now and not report.failed_shards:
        return f"{duration(report.seconds)}, nothing was left to do"
    return f"{duration(report.seconds)} (processor {duration(report.cpu_seconds)})"
