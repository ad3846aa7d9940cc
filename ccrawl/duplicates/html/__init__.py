"""The report to look at: one HTML file that needs no network and trusts nothing that a page says.

Everything from pages travels as JSON in a data block and reaches the document as text nodes only. A content
security policy allows the file's own script and style, by their hashes, and nothing else: no network, no
other script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ccrawl.duplicates.clusters import Cluster
from ccrawl.duplicates.html.figures import distance_figure, size_figure
from ccrawl.duplicates.output import replacing
from ccrawl.duplicates.report import DedupReport
from ccrawl.duplicates.sources import find_sources
from ccrawl.duplicates.texts import read_texts

MOST_CLUSTERS = 100_000  # in the table; the rest is counted, and in the Parquet file
MOST_MEMBERS = 50  # of one cluster in the table
TEXT_BYTES = 16_000  # of one text that can be compared
_ALL_TEXTS = 12_000_000  # bytes of all texts in the file
_MEMBERS_WITH_TEXT = 4


def write_html(report: DedupReport, path: Path, paths: Sequence[str | Path]) -> None:
    """Writes the report on the dataset at `paths`, from which the texts to compare are read again."""
    page = render(report, paths)
    with replacing(path) as aside:
        aside.write_text(page, encoding="utf-8")


def render(report: DedupReport, paths: Sequence[str | Path]) -> str:
    """The report as one HTML document."""
    style, script = _asset("report.css"), _asset("report.js")
    groups, near = report.clusters.groups, report.clusters.near
    copies = np.repeat(near, groups.sizes)
    copies[groups.offsets[:-1]] = False  # the one kept is no copy
    return Template(_asset("report.html")).substitute(
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=_json(_values(report, paths)),
        size_figure=size_figure(groups.sizes[~near], groups.sizes[near]),
        distance_figure=distance_figure(report.clusters.distance[copies]),
    )


def _values(report: DedupReport, paths: Sequence[str | Path]) -> dict[str, Any]:
    """What the script shows. Clusters and members are lists, in the order that report.js names."""
    number = {name: place for place, name in enumerate(report.clusters.rows.files)}
    shown = [
        report.clusters.cluster(place, MOST_MEMBERS)
        for place in range(min(MOST_CLUSTERS, len(report.clusters)))
    ]
    return {
        "summary": _summary(report),
        "files": list(number),
        "clusters": [
            [
                cluster.kind,
                cluster.size,
                cluster.bytes,
                cluster.diameter,
                cluster.diameter_bound,
                [[m.url, number[m.file], m.row, m.bytes, m.distance] for m in cluster.members],
            ]
            for cluster in shown
        ],
        "notShown": len(report.clusters) - len(shown),
        "texts": _texts(shown, paths),
        "textBytes": TEXT_BYTES,
    }


def _summary(report: DedupReport) -> list[list[str | int | float]]:
    """Name, count, bytes and share of the rows, for each figure at the top."""
    return [
        ["rows", report.rows, report.bytes, 1.0],
        [
            "exact duplicates",
            report.exact_duplicates,
            report.exact_bytes,
            _share(report.exact_duplicates, report),
        ],
        [
            "near duplicates",
            report.near_duplicates,
            report.near_bytes,
            _share(report.near_duplicates, report),
        ],
        ["redundant", report.redundant_rows, report.redundant_bytes, report.redundant_share],
        ["no fingerprint", report.no_fingerprint, 0, _share(report.no_fingerprint, report)],
    ]


def _share(rows: int, report: DedupReport) -> float:
    return rows / report.rows if report.rows else 0.0


def _texts(shown: list[Cluster], paths: Sequence[str | Path]) -> dict[int, list[str]]:
    """The texts of the first members of near clusters, the largest first, as far as there is room."""
    chosen: list[Cluster] = []
    room = _ALL_TEXTS
    for cluster in shown:
        if cluster.kind == "near":
            room -= sum(min(member.bytes, TEXT_BYTES) for member in cluster.members[:_MEMBERS_WITH_TEXT])
            if room < 0:
                break
            chosen.append(cluster)
    places = [(m.file, m.row) for cluster in chosen for m in cluster.members[:_MEMBERS_WITH_TEXT]]
    texts = read_texts(find_sources(paths), places, TEXT_BYTES) if places else {}
    first = {cluster.number: cluster.members[:_MEMBERS_WITH_TEXT] for cluster in chosen}
    return {number: [texts[m.file, m.row] for m in members] for number, members in first.items()}


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _json(values: dict[str, Any]) -> str:
    """JSON that can't end the element it stands in, whatever the pages say."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
