"""The life of a run, the same for both kinds of store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from ccrawl.errors import UsageError
from ccrawl.index import Counts, DedupIndex, Entry, IndexFailure, Package, open_index
from ccrawl.index.types import Key

Reopen = Callable[[], DedupIndex]


def key(number: int) -> Key:
    """SHA-256 of the number: what both kinds of store can hold."""
    return b"\x04" + hashlib.sha256(b"%d" % number).digest()


def entry(number: int, *, at: str = "http://site.test", size: int = 2000) -> Entry:
    return Entry(key(number), "20250304050607", f"{at}/{number}", size)


def commit(index: DedupIndex, run: str, *entries: Entry, duplicates: int = 0, conserved: int = 0) -> None:
    index.begin(run)
    index.stage(run, entries, Counts(len(entries) + duplicates, duplicates, conserved, 100))
    index.commit(run)


def urls(index: DedupIndex, run: str, *numbers: int) -> list[str | None]:
    index.begin(run)
    view = index.view(run)
    try:
        return [found.url if found else None for found in view.find([key(number) for number in numbers])]
    finally:
        view.close()


def test_a_run_sees_what_was_committed_before_it_began_and_no_other_run(index: DedupIndex) -> None:
    commit(index, "first", entry(1))
    index.begin("second")
    index.begin("third")
    index.stage("third", [entry(2)], Counts(1))
    assert urls(index, "second", 1, 2) == ["http://site.test/1", None]
    index.commit("third")
    assert urls(index, "second", 1, 2) == ["http://site.test/1", None]  # it began before
    assert urls(index, "fourth", 1, 2) == ["http://site.test/1", "http://site.test/2"]


def test_an_original_says_where_it_is(index: DedupIndex) -> None:
    commit(index, "first", Entry(key(1), "20250304050607089", "http://site.test/a b", 77))
    index.begin("second")
    view = index.view("second")
    [found] = view.find([key(1)])
    view.close()
    assert found is not None
    assert (found.crawl, found.date, found.size) == ("first", "20250304050607089", 77)
    assert found.url in ("http://site.test/a b", "http://site.test/a%20b")


def test_the_first_of_equal_entries_is_kept(index: DedupIndex) -> None:
    commit(index, "first", entry(5, at="http://one.test"), entry(5, at="http://two.test"))
    assert urls(index, "later", 5) == ["http://one.test/5"]
    assert (index.stats().unique, index.stats().redundant) == (1, 1)


def test_the_run_that_is_committed_first_owns_a_payload(index: DedupIndex) -> None:
    for run in ("a", "b"):
        index.begin(run)
        index.stage(run, [entry(1, at=f"http://{run}.test")], Counts(1))
    index.commit("b")
    index.commit("a")
    assert urls(index, "later", 1) == ["http://b.test/1"]
    assert index.stats().redundant == 1


def test_committing_twice_is_committing_once(index: DedupIndex, reopen: Reopen) -> None:
    commit(index, "first", entry(1), duplicates=2, conserved=30)
    before = index.stats()
    with reopen() as again:
        again.commit("first")
        assert again.stats() == before
    assert before.counts == Counts(3, 2, 30, 100)
    assert index.verify() == []


def test_a_cancelled_run_leaves_no_trace(index: DedupIndex) -> None:
    commit(index, "first", entry(1))
    before = index.stats(), index.crawls()
    token = index.begin("second")
    index.stage("second", [entry(2)], Counts(1))
    assert index.cancel("second")
    assert not index.cancel("second")
    assert (index.stats(), index.crawls()) == before
    assert urls(index, "third", 2) == [None]
    assert index.begin("second") != token  # a new run under the old name
    with pytest.raises(UsageError, match="no finished run"):
        index.commit("second")


def test_an_open_run_is_found_again_with_what_it_sees(index: DedupIndex, reopen: Reopen) -> None:
    commit(index, "first", entry(1))
    token = index.begin("second")
    commit(index, "third", entry(2))
    with reopen() as again:
        assert again.begin("second") == token
        assert urls(again, "second", 1, 2) == ["http://site.test/1", None]


def test_staging_again_replaces_what_was_staged(index: DedupIndex) -> None:
    index.begin("first")
    index.stage("first", [entry(1), entry(2)], Counts(2))
    index.stage("first", [entry(2), entry(3)], Counts(2))
    index.commit("first")
    assert urls(index, "later", 1, 2, 3) == [None, "http://site.test/2", "http://site.test/3"]
    assert index.stats().counts == Counts(2)
    assert index.verify() == []


def test_states_are_listed(index: DedupIndex) -> None:
    commit(index, "done", entry(1))
    index.begin("open")
    index.begin("staged")
    index.stage("staged", [entry(2)], Counts(1))
    assert [(crawl.id, crawl.state) for crawl in index.crawls()] == [
        ("done", "committed"),
        ("open", "open"),
        ("staged", "staged"),
    ]
    assert (index.stats().crawls, index.stats().unfinished) == (1, 2)


def test_calls_out_of_order_are_refused(index: DedupIndex) -> None:
    commit(index, "done", entry(1))
    index.begin("open")
    for wrong in (
        lambda: index.begin("done"),
        lambda: index.cancel("done"),
        lambda: index.commit("open"),
        lambda: index.commit("unknown"),
        lambda: index.remove(["unknown"]),
        lambda: index.remove(["open"]),
        lambda: index.begin("../escape"),
    ):
        with pytest.raises(UsageError):
            wrong()
    for gone in (lambda: index.view("unknown"), lambda: index.stage("unknown", [], Counts())):
        with pytest.raises(IndexFailure, match="not open"):
            gone()


def test_removing_a_crawl_hands_its_payloads_to_the_next_that_holds_them(index: DedupIndex) -> None:
    commit(index, "a", entry(1, at="http://a.test"), entry(2, at="http://a.test"))
    commit(index, "b", entry(2, at="http://b.test"), entry(3, at="http://b.test"))
    commit(index, "c", entry(2, at="http://c.test"))
    index.remove(["a"])
    assert urls(index, "later", 1, 2, 3) == [None, "http://b.test/2", "http://b.test/3"]
    assert (index.stats().unique, index.stats().redundant) == (2, 1)
    assert index.verify() == []
    index.cancel("later")
    index.remove(["b"])
    assert urls(index, "last", 1, 2, 3) == [None, "http://c.test/2", None]
    assert (index.stats().unique, index.stats().redundant) == (1, 0)
    assert index.verify() == []


def test_what_is_left_after_a_removal_equals_an_index_without_the_crawl(index: DedupIndex) -> None:
    commit(index, "a", entry(1), entry(2), duplicates=3, conserved=10)
    commit(index, "b", entry(2), entry(3), duplicates=1, conserved=5)
    index.remove(["a", "b"])
    assert index.stats().counts == Counts()
    assert (index.stats().unique, index.stats().crawls) == (0, 0)
    commit(index, "a", entry(1))  # its id is free again
    assert index.stats().unique == 1


def test_a_redis_run_is_not_cheated_by_a_removal(redis_url: str) -> None:
    with open_index(redis_url) as index:
        commit(index, "first", entry(1))
        index.begin("open")
        with pytest.raises(UsageError, match="open run open sees first"):
            index.remove(["first"])
        index.remove(["first"], force=True)
        assert urls(index, "open", 1) == [None]


def test_an_embedded_run_keeps_its_view_whatever_is_removed(tmp_path: object) -> None:
    with open_index(f"{tmp_path}/index") as index:
        commit(index, "first", entry(1))
        index.begin("open")
        index.remove(["first"])
        index.compact()
        assert urls(index, "open", 1) == ["http://site.test/1"]


def test_a_package_is_taken_once(index: DedupIndex) -> None:
    for _ in range(2):
        index.add_package(
            "crawl", Package("one.wacz", "ab" * 32, 5000), sorted([entry(1), entry(2)]), [(key(1), 500)]
        )
    assert index.known_packages(["one.wacz", "two.wacz"]) == {"one.wacz"}
    assert index.stats().counts == Counts(total=3, duplicates=1, conserved=1500, size=5000)
    [crawl] = index.crawls()
    assert crawl.packages == (Package("one.wacz", "ab" * 32, 5000),)
    assert index.verify() == []


def test_an_original_names_its_package(index: DedupIndex) -> None:
    index.add_package("crawl", Package("one.wacz"), [entry(1)])
    index.add_package("crawl", Package("two.wacz"), sorted([entry(1), entry(2)]))
    index.begin("run")
    view = index.view("run")
    assert [found and found.package for found in view.find([key(1), key(2)])] == [0, 1]
    view.close()
    assert (index.stats().unique, index.stats().redundant) == (2, 1)
    assert index.verify() == []


@pytest.mark.parametrize("original_first", [True, False])
def test_revisits_count_the_same_whichever_comes_first(index: DedupIndex, original_first: bool) -> None:
    packages = [
        lambda: index.add_package("old", Package("old.wacz"), [entry(1, size=3000)]),
        lambda: index.add_package("new", Package("new.wacz"), [], [(key(1), 400), (key(1), 500)]),
    ]
    for add in packages if original_first else reversed(packages):
        add()
    counts = {crawl.id: crawl.counts for crawl in index.crawls()}
    assert counts == {
        "new": Counts(total=2, duplicates=2, conserved=(3000 - 400) + (3000 - 500)),
        "old": Counts(total=1),
    }
    assert index.stats().counts.conserved == 5100
    assert index.verify() == []


def test_digests_of_two_algorithms_are_never_compared(tmp_path: object) -> None:
    digest = hashlib.sha1(b"page").digest()
    with open_index(f"{tmp_path}/index") as index:
        # A SHA-256 that begins like the SHA-1 and a SHA-1 are two payloads.
        commit(
            index,
            "first",
            Entry(b"\x02" + digest, "20250101000000", "http://sha1.test", 1),
            Entry(b"\x04" + digest + bytes(12), "20250101000000", "http://sha256.test", 1),
        )
        assert index.stats().unique == 2
        index.begin("second")
        view = index.view("second")
        assert view.algorithms == ("sha1", "sha256")
        found = view.find([b"\x02" + digest, b"\x04" + digest + bytes(12), b"\x05" + digest])
        assert [one and one.url for one in found] == ["http://sha1.test", "http://sha256.test", None]
        view.close()


def test_redis_takes_sha256_only(redis_url: str) -> None:
    with open_index(redis_url) as index:
        sha1 = Entry(b"\x02" + hashlib.sha1(b"page").digest(), "20250101000000", "http://sha1.test", 9)
        index.add_package("crawl", Package("one.wacz"), [sha1, entry(1)])
        assert index.stats().unique == 1
        index.begin("run")
        view = index.view("run")
        assert view.find([sha1.key]) == [None]
        view.close()
