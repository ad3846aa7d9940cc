"""What a deduplication says when it is over."""

from __future__ import annotations

from ccrawl.duplicates.against import AgainstReport
from ccrawl.duplicates.clusters import Cluster
from ccrawl.duplicates.report import DedupReport
from ccrawl.units import count, folded, size

_MOST_URLS = 5  # of one cluster


def as_text(report: DedupReport, top: int) -> str:
    """The counts as aligned lines, then the `top` largest clusters."""
    near = f"{count(report.near_clusters, 'cluster')}, {report.near_duplicates:,} beyond the one kept"
    exact = f"{count(report.exact_clusters, 'cluster')}, {report.exact_duplicates:,} beyond the one kept"
    redundant = (
        f"{report.redundant_rows:,} rows ({report.redundant_share:.1%}), {size(report.redundant_bytes)}"
    )
    lines = _aligned(
        [
            ("rows", f"{report.rows:,} in {count(report.files, 'file')}, {size(report.bytes)} of Markdown"),
            ("exact", f"{exact}, {size(report.exact_bytes)}"),
            ("near", f"{near}, {size(report.near_bytes)} ({_what_near(report)})"),
            ("redundant", f"{redundant} ({report.redundant_bytes_share:.1%})"),
            ("no fingerprint", f"{report.no_fingerprint:,}" if report.no_fingerprint else ""),
            ("recomputed", f"{report.recomputed:,} fingerprints" if report.recomputed else ""),
        ]
    )
    shown = min(top, len(report.clusters))
    if shown:
        lines += ["", f"largest {shown:,} of {count(len(report.clusters), 'cluster')}"]
        for place in range(shown):
            lines += _cluster(report.clusters.cluster(place, _MOST_URLS))
    return "\n".join(lines)


def against_as_text(report: AgainstReport, top: int) -> str:
    """The counts as aligned lines, then the first `top` matches."""
    what = _what_near(report)
    corpus = f"{count(report.corpus_rows, 'row')} in {count(report.corpus_files, 'file')}"
    lines = _aligned(
        [
            ("rows", f"{report.rows:,} in {count(report.files, 'file')}, {size(report.bytes)} of Markdown"),
            ("against", corpus),
            ("already there", f"{report.exact_rows:,} exactly, {size(report.exact_bytes)}"),
            ("nearly there", f"{report.near_rows:,}, {size(report.near_bytes)} ({what})"),
            ("new", f"{report.new_rows:,}, {size(report.new_bytes)}"),
            ("no fingerprint", f"{report.no_fingerprint:,}" if report.no_fingerprint else ""),
            ("recomputed", f"{report.recomputed:,} fingerprints" if report.recomputed else ""),
        ]
    )
    matches = report.matches(0, max(top, 0))
    if matches:
        lines += ["", f"first {len(matches):,} of {count(len(report.matched), 'match', 'matches')}"]
        for match in matches:
            how = "exact" if match.kind == "exact" else f"near, {count(match.distance, 'bit')}"
            lines += [f"  {how}: {_printable(match.url)}", f"    {_printable(match.corpus_url)}"]
    return "\n".join(lines)


def _what_near(report: DedupReport | AgainstReport) -> str:
    return f"at most {count(report.near_distance, 'bit')} apart, {report.min_bytes:,} bytes or more"


def _cluster(cluster: Cluster) -> list[str]:
    apart = ""
    if cluster.kind == "near":
        bound = f" (at most {cluster.diameter_bound})" if cluster.diameter_bound > cluster.diameter else ""
        apart = f", furthest {count(cluster.diameter, 'bit')} apart{bound}"
    what = f"{cluster.kind}, {cluster.size:,} documents, {size(cluster.bytes)} redundant{apart}"
    lines = [f"{cluster.number:>4}  {what}"]
    for member in cluster.members:
        copy = f"+{member.distance}" if cluster.kind == "near" else "same"
        role = "keep" if member is cluster.members[0] else copy
        lines.append(f"      {role:>4}  {_printable(member.url)}")
    if cluster.size > len(cluster.members):
        lines.append(f"            and {cluster.size - len(cluster.members):,} more")
    return lines


def _aligned(lines: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in lines)
    return [folded(f"{name.ljust(width)}  ", value) for name, value in lines if value]


def _printable(url: str) -> str:
    """A URL as a terminal may show it: control characters of a hostile page escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in url)
