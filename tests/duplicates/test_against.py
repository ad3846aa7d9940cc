"""Comparing two datasets, against looking at every pair."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrawl.duplicates import AgainstReport, DedupOptions, dedup_against
from ccrawl.duplicates.output import MATCH_SCHEMA, write_matches
from ccrawl.errors import UsageError
from tests.duplicates.datasets import Page, are_near, bits, page, write
from tests.duplicates.test_dedup import BASE, datasets


def run(ours: list[Page], theirs: list[Page], distance: int = 3) -> AgainstReport:
    with TemporaryDirectory() as folder:
        a, b = write(Path(folder) / "a.parquet", ours), write(Path(folder) / "b.parquet", theirs)
        return dedup_against([a], [b], options=DedupOptions(distance=distance))


def rename(pages: list[Page]) -> list[Page]:
    """The pages under other addresses, every second one with another text."""
    return [
        Page(one.url + "/b", one.markdown + "!" if number % 2 and one.markdown else one.markdown, one.simhash)
        for number, one in enumerate(pages)
    ]


@settings(max_examples=80, deadline=None)
@given(datasets(), datasets(), st.integers(0, 6), st.booleans())
def test_every_row_that_the_corpus_has_is_matched_with_the_nearest_there(
    ours: list[Page], theirs: list[Page], distance: int, related: bool
) -> None:
    theirs = rename(ours + theirs) if related else rename(theirs)
    report = run(ours, theirs, distance)
    found = {match.row: match for match in report.matches(0, len(report.matched))}
    for row, one in enumerate(ours):
        same = [other for other in theirs if one.markdown and other.markdown == one.markdown]
        near = [
            other
            for other in theirs
            if one.simhash
            and other.simhash
            and min(one.size, other.size) >= 512
            and are_near(one, other, distance)
        ]
        match = found.get(row)
        if same:
            assert match is not None and (match.kind, match.distance) == ("exact", 0)
            assert match.corpus_url in {other.url for other in same}
        elif near:
            fewest = min(bits(one.simhash or 0, other.simhash or 0) for other in near)
            assert match is not None and (match.kind, match.distance) == ("near", fewest)
            assert match.corpus_url in {other.url for other in near}
        else:
            assert match is None
    assert report.exact_rows == sum(match.kind == "exact" for match in found.values())
    assert report.near_rows == sum(match.kind == "near" for match in found.values())
    assert report.new_rows == len(ours) - len(found)
    assert report.new_bytes == sum(one.size for row, one in enumerate(ours) if row not in found)


def test_duplicates_inside_one_side_are_not_matches() -> None:
    ours = [page("a", 600, BASE), page("b", 600, BASE)]
    assert run(ours, [page("z", 600, BASE ^ 0xFFFF)]).new_rows == 2
    assert run([page("q", 600, 99)], ours).new_rows == 1


def test_matches_are_written_with_both_places(tmp_path: Path) -> None:
    report = run(
        [page("n", 600, 99), page("a", 600, BASE)], [page("x", 700, 98 << 20), page("y", 600, BASE ^ 1)]
    )
    write_matches(report, tmp_path / "m.parquet")
    table = pq.read_table(tmp_path / "m.parquet")
    assert table.schema.names == MATCH_SCHEMA.names
    (row,) = table.to_pylist()
    assert (row["kind"], row["distance"], row["row"], row["corpus_row"]) == ("near", 1, 1, 1)
    assert (row["url"], row["corpus_url"]) == ("http://t.example/a", "http://t.example/y")


def test_spark_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError):
        dedup_against(["a"], ["b"], options=DedupOptions(runner="spark"))
