"""`dedup` against the obvious quadratic answer, and the laws that hold whatever the input."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccrawl.duplicates import DedupOptions, DedupReport, dedup
from ccrawl.duplicates import options as options_module
from ccrawl.errors import UsageError
from ccrawl.text.simhash import simhash
from tests.duplicates.datasets import (
    Page,
    bits,
    expected_components,
    expected_exact,
    expected_representatives,
    page,
    sets,
    write,
)

BASE = 0x5A5A_1234_9876_F0F0


@st.composite
def datasets(draw: st.DrawFn) -> list[Page]:
    """Pages with fingerprints around a few centres, lengths around the bounds, and exact copies."""
    texts = draw(
        st.lists(
            st.tuples(
                st.sampled_from([0, BASE, BASE ^ 0xFF00, 0x0F0F_0F0F_0F0F_0F0F]),
                st.sets(st.integers(0, 20), max_size=4),
                st.sampled_from([0, 30, 511, 512, 513, 1000, 1024, 1025, 2048, 2049, 5000]),
            ),
            max_size=25,
        )
    )
    pages = []
    for number, (centre, flips, size) in enumerate(texts):
        fingerprint = centre ^ sum(1 << flip for flip in flips) if centre else 0
        pages.append(
            page(f"p{number}", size, fingerprint) if size else Page(f"http://t.example/e{number}", "", 0)
        )
    copied = draw(st.lists(st.integers(0, max(0, len(pages) - 1)), max_size=8)) if pages else []
    copies = [
        Page(f"http://t.example/copy{i}", pages[n].markdown, pages[n].simhash) for i, n in enumerate(copied)
    ]
    return pages + copies


def run(pages: list[Page], options: DedupOptions, files: int = 1) -> DedupReport:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            write(Path(folder) / f"{number}.parquet", pages[number::files], row_group=7)
        return dedup([folder], options=options)


@settings(max_examples=60, deadline=None)
@given(datasets(), st.integers(0, 16), st.sampled_from([0, 512, 1025]))
def test_clusters_are_those_of_comparing_every_pair(pages: list[Page], distance: int, min_bytes: int) -> None:
    report = run(pages, DedupOptions(distance=distance, min_bytes=min_bytes))
    assert sets(report, "exact") == expected_exact(pages)
    assert sets(report, "near") == expected_components(pages, distance, min_bytes)


@settings(max_examples=60, deadline=None)
@given(datasets(), st.integers(0, 6))
def test_with_representatives_every_member_is_near_the_one_kept(pages: list[Page], distance: int) -> None:
    report = run(pages, DedupOptions(distance=distance, linkage="representative"))
    assert sets(report, "near") == expected_representatives(pages, distance, 512)
    by_url = {one.url: one for one in pages}
    for cluster in report.clusters:
        kept = cluster.members[0]
        for member in cluster.members:
            assert member.distance <= distance
            assert by_url[member.url].size <= 2 * by_url[kept.url].size <= 4 * by_url[member.url].size


@settings(max_examples=40, deadline=None)
@given(datasets())
def test_counts_follow_from_the_clusters(pages: list[Page]) -> None:
    report = run(pages, DedupOptions())
    exact = [cluster for cluster in report.clusters if cluster.kind == "exact"]
    near = [cluster for cluster in report.clusters if cluster.kind == "near"]
    assert (report.rows, report.bytes) == (len(pages), sum(one.size for one in pages))
    assert (report.exact_clusters, report.near_clusters) == (len(exact), len(near))
    assert report.exact_duplicates == sum(cluster.size - 1 for cluster in exact)
    assert report.near_duplicates == sum(cluster.size - 1 for cluster in near)
    for clusters, total in ((exact, report.exact_bytes), (near, report.near_bytes)):
        assert total == sum(member.bytes for cluster in clusters for member in cluster.members[1:])
    assert report.redundant_rows == report.exact_duplicates + report.near_duplicates
    assert report.no_fingerprint == sum(not one.simhash or not one.markdown for one in pages)
    sizes = [cluster.size for cluster in report.clusters]
    assert sizes == sorted(sizes, reverse=True)


@settings(max_examples=40, deadline=None)
@given(datasets())
def test_each_cluster_tells_its_two_members_furthest_apart(pages: list[Page]) -> None:
    fingerprints = {one.url: one.simhash or 0 for one in pages}
    for cluster in run(pages, DedupOptions(distance=4)).clusters:
        if cluster.kind == "near":
            found = [fingerprints[member.url] for member in cluster.members]
            widest = max(bits(a, b) for a in found for b in found)
            first, second = cluster.furthest
            assert first < second
            assert cluster.diameter == cluster.diameter_bound == widest == bits(found[first], found[second])
            assert [member.distance for member in cluster.members] == [bits(found[0], one) for one in found]
            assert [member.distance for member in cluster.members] == sorted(
                bits(found[0], one) for one in found
            )


def names(report: DedupReport) -> list[tuple[object, ...]]:
    """All that a reader sees of the clusters, except in which file and row a member stands."""
    return [
        (c.number, c.kind, c.bytes, c.diameter, c.furthest, [(m.url, m.bytes, m.distance) for m in c.members])
        for c in report.clusters
    ]


@settings(max_examples=40, deadline=None)
@given(
    datasets(),
    st.randoms(use_true_random=False),
    st.integers(1, 4),
    st.sampled_from(["longest", "shortest-url"]),
)
def test_order_and_split_of_the_rows_change_nothing(
    pages: list[Page], draw: random.Random, files: int, keep: options_module.Keep
) -> None:
    shuffled = list(pages)
    draw.shuffle(shuffled)
    for linkage in ("component", "representative"):
        options = DedupOptions(keep=keep, linkage=linkage)  # type: ignore[arg-type]
        assert names(run(pages, options)) == names(run(shuffled, options, files))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pages=datasets(), distance=st.integers(0, 4))
def test_runs_on_disk_change_nothing(
    pages: list[Page], distance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options_module, "_LEAST_MEMORY", 0)
    whole = run(pages, DedupOptions(distance=distance))
    with tempfile.TemporaryDirectory() as scratch:
        parts = run(pages, DedupOptions(distance=distance, memory=500, scratch=Path(scratch)))
        assert names(whole) == names(parts)
        assert not list(Path(scratch).iterdir())


def test_the_order_in_which_files_are_named_changes_nothing(tmp_path: Path) -> None:
    a = write(tmp_path / "a.parquet", [page("x", 600, BASE), page("y", 700, BASE ^ 1)])
    b = write(tmp_path / "b.parquet", [page("z", 600, BASE ^ 3)])
    first, second = dedup([a, b]), dedup([b, tmp_path / "*.parquet", a])
    assert list(first.clusters) == list(second.clusters)
    assert (first.files, second.files) == (2, 2)


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("longest", "a-long-name"), ("first", "middle"), ("shortest-url", "b")],
)
def test_the_rule_decides_which_document_is_kept(
    keep: options_module.Keep, kept: str, tmp_path: Path
) -> None:
    pages = [page("middle", 650, BASE), page("a-long-name", 700, BASE ^ 1), page("b", 600, BASE ^ 2)]
    write(tmp_path / "a.parquet", pages)
    report = dedup([tmp_path], options=DedupOptions(keep=keep))
    assert report.clusters[0].members[0].url == f"http://t.example/{kept}"


def test_equal_documents_keep_the_shorter_url_then_the_first_in_the_alphabet(tmp_path: Path) -> None:
    urls = ["http://t.example/bb", "http://t.example/b", "http://t.example/a", "http://t.example/ccc"]
    write(tmp_path / "a.parquet", [Page(url, "the same text", 7) for url in urls])
    (cluster,) = dedup([tmp_path]).clusters
    assert [member.url[-3:].lstrip("e/") for member in cluster.members] == ["a", "b", "bb", "ccc"]


def test_a_chain_is_one_component_and_says_how_long_it_is(tmp_path: Path) -> None:
    """Each link is two bits from the next; the ends are twenty apart."""
    chain = [page(f"{n:02}", 1000 - n, BASE ^ ((1 << 2 * n) - 1)) for n in range(11)]
    write(tmp_path / "a.parquet", chain)
    (cluster,) = dedup([tmp_path], options=DedupOptions(distance=2)).clusters
    assert (cluster.size, cluster.diameter) == (11, 20)
    assert {cluster.members[place].url[-2:] for place in cluster.furthest} == {"00", "10"}
    kept_apart = dedup([tmp_path], options=DedupOptions(distance=2, linkage="representative")).clusters
    assert [one.size for one in kept_apart] == [2, 2, 2, 2, 2]  # 00+01, 02+03 ...; the last is alone


def test_one_fingerprint_on_lengths_too_far_apart_is_two_clusters(tmp_path: Path) -> None:
    pages = [page(str(size), size, BASE) for size in (600, 1200, 2401, 4802, 4803, 9607)]
    write(tmp_path / "a.parquet", pages)
    report = dedup([tmp_path])
    assert {tuple(sorted(member.bytes for member in one.members)) for one in report.clusters} == {
        (600, 1200),
        (2401, 4802, 4803),
    }


def test_short_pages_and_stubs_are_never_near(tmp_path: Path) -> None:
    """Texts below the least length, or with no fingerprint, have nothing to be near by; equal ones are exact."""
    texts = ["", "", " ", "cow", "hen", "cow", "yes", "one line", "好", "404", "!!!", "!!!"]
    write(
        tmp_path / "a.parquet",
        [Page(f"http://t.example/{n}", text, simhash(text)) for n, text in enumerate(texts)],
    )
    report = dedup([tmp_path], options=DedupOptions(distance=16))
    assert sets(report, "exact") == {
        frozenset({"http://t.example/3", "http://t.example/5"}),
        frozenset({"http://t.example/10", "http://t.example/11"}),
    }
    assert report.near_clusters == 0
    assert report.no_fingerprint == 5  # two empty, one blank, two without a word


def test_rows_without_text_are_counted_and_nothing_else(tmp_path: Path) -> None:
    rows = [Page("http://t.example/1", None, None), Page("http://t.example/2", "", 5), page("3", 600, BASE)]
    write(tmp_path / "a.parquet", rows)
    report = dedup([tmp_path])
    assert (report.rows, report.no_fingerprint, len(report.clusters)) == (3, 2, 0)


def test_an_empty_dataset_has_no_duplicates(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", [])
    report = dedup([tmp_path])
    assert (report.rows, report.redundant_share, report.redundant_bytes_share, list(report.clusters)) == (
        0,
        0,
        0,
        [],
    )


def test_large_clusters_bound_their_diameter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ccrawl.duplicates import diameter

    rng = np.random.default_rng(3)
    words = np.uint64(BASE) ^ (np.uint64(1) << rng.integers(0, 64, 300, dtype=np.uint64))
    words ^= np.uint64(1) << rng.integers(0, 64, 300, dtype=np.uint64)
    widest = int(np.bitwise_count(words[:, None] ^ words[None, :]).max())
    offsets = np.array([0, 300])
    exact = diameter.diameters(words, offsets)
    assert (int(exact.distance[0]), int(exact.bound[0])) == (widest, widest)
    monkeypatch.setattr(diameter, "_EXACT", 10)
    swept = diameter.diameters(words, offsets)
    assert int(swept.distance[0]) <= widest <= int(swept.bound[0])
    assert bits(int(words[swept.first[0]]), int(words[swept.second[0]])) == int(swept.distance[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"distance": 17},
        {"distance": -1},
        {"min_bytes": -1},
        {"keep": "best"},
        {"linkage": "x"},
        {"runner": "x"},
        {"memory": 5},
    ],
)
def test_options_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        DedupOptions(**wrong)  # type: ignore[arg-type]


def test_a_long_search_says_its_time_before_it_starts() -> None:
    from ccrawl.duplicates.near import say_estimate

    said: list[str] = []
    say_estimate(20_000, 3, said.append)
    assert said == []
    say_estimate(50_000_000, 8, said.append)
    assert len(said) == 1 and "about" in said[0] and "50,000,000" in said[0]


def test_members_follow_the_one_kept_by_their_distance_from_it(tmp_path: Path) -> None:
    pages = [
        page("kept", 700, BASE),
        page("far", 690, BASE ^ 7),
        page("next", 610, BASE ^ 1),
        page("mid", 650, BASE ^ 3),
    ]
    write(tmp_path / "a.parquet", pages)
    (cluster,) = dedup([tmp_path]).clusters
    assert [(m.url.rsplit("/", 1)[1], m.distance) for m in cluster.members] == [
        ("kept", 0),
        ("next", 1),
        ("mid", 2),
        ("far", 3),
    ]
