"""Small datasets for the tests, and the obvious quadratic answer that the tool is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.duplicates import DedupReport
from ccrawl.text.simhash import DEFINITION


@dataclass(frozen=True)
class Page:
    url: str
    markdown: str | None
    simhash: int | None

    @property
    def size(self) -> int:
        return len((self.markdown or "").encode())


def page(name: str, size: int, simhash: int) -> Page:
    """A page whose text is `name`, padded to `size` bytes."""
    return Page(f"http://t.example/{name}", f"{name} ".ljust(size, "."), simhash)


def write(
    path: Path, pages: Iterable[Page], *, definition: str | None = DEFINITION, row_group: int = 1000
) -> Path:
    pages = list(pages)
    table = pa.table(
        {
            "url": pa.array([page.url for page in pages], pa.string()),
            "markdown": pa.array([page.markdown for page in pages], pa.string()),
            "simhash": pa.array([page.simhash for page in pages], pa.uint64()),
        }
    )
    if definition is not None:
        table = table.replace_schema_metadata({"ccrawl.simhash": definition})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=row_group)
    return path


def sets(report: DedupReport, kind: str) -> set[frozenset[str]]:
    """The URLs of each cluster of one kind."""
    return {
        frozenset(member.url for member in cluster.members)
        for cluster in report.clusters
        if cluster.kind == kind
    }


def bits(a: int, b: int) -> int:
    return (a ^ b).bit_count()


def are_near(a: Page, b: Page, distance: int) -> bool:
    assert a.simhash and b.simhash
    return bits(a.simhash, b.simhash) <= distance and max(a.size, b.size) <= 2 * min(a.size, b.size)


def expected_exact(pages: Sequence[Page]) -> set[frozenset[str]]:
    texts: dict[str, list[str]] = defaultdict(list)
    for one in pages:
        if one.markdown:
            texts[one.markdown].append(one.url)
    return {frozenset(urls) for urls in texts.values() if len(urls) > 1}


def by_preference(one: Page) -> tuple[int, int, str]:
    """The order of --keep longest, for pages with different URLs."""
    return (-one.size, len(one.url.encode()), one.url)


def documents(pages: Sequence[Page], min_bytes: int) -> list[Page]:
    """One page for each text that near search looks at."""
    kept: dict[str, Page] = {}
    for one in sorted(pages, key=by_preference):
        if one.markdown and one.simhash and one.size >= min_bytes:
            kept.setdefault(one.markdown, one)
    return list(kept.values())


def expected_components(pages: Sequence[Page], distance: int, min_bytes: int) -> set[frozenset[str]]:
    left = documents(pages, min_bytes)
    found = set()
    while left:
        component, reached = [], [left.pop()]
        while reached:
            one = reached.pop()
            component.append(one)
            near = [other for other in left if are_near(one, other, distance)]
            left = [other for other in left if other not in near]
            reached += near
        if len(component) > 1:
            found.add(frozenset(one.url for one in component))
    return found


def expected_representatives(pages: Sequence[Page], distance: int, min_bytes: int) -> set[frozenset[str]]:
    left = sorted(documents(pages, min_bytes), key=by_preference)
    found = set()
    while left:
        kept = left.pop(0)
        near = [other for other in left if are_near(kept, other, distance)]
        left = [other for other in left if other not in near]
        if near:
            found.add(frozenset(one.url for one in [kept, *near]))
    return found
