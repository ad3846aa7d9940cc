"""The search for pairs against comparing every pair."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccrawl.duplicates import hamming, plan
from ccrawl.duplicates.bits import Words
from ccrawl.duplicates.external import pairs_within_scratch
from ccrawl.duplicates.hamming import pairs_within
from ccrawl.duplicates.scratch import Scratch

Pairs = list[tuple[int, int]]


def found(batches: Iterator[tuple[Words, Words]]) -> Pairs:
    return [(min(p), max(p)) for a, b in batches for p in zip(a.tolist(), b.tolist(), strict=True)]


def brute_force(words: Words, distance: int) -> set[tuple[int, int]]:
    apart = np.bitwise_count(words[:, None] ^ words[None, :])
    i, j = np.nonzero((apart <= distance) & (words[:, None] < words[None, :]))
    return set(zip(words[i].tolist(), words[j].tolist(), strict=True))


def planted(seed: int, count: int, distance: int, mask: int = 2**64 - 1) -> Words:
    """Random words with some bits fixed, and for each of a third of them one with up to distance + 1 bits
    changed.
    """
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, count, dtype=np.uint64) & np.uint64(mask)
    changed = words[: count // 3].copy()
    for place in range(len(changed)):
        for bit in rng.choice(64, rng.integers(0, distance + 2), replace=False):
            changed[place] ^= np.uint64(1 << int(bit))
    return np.array(sorted(set(words.tolist()) | set(changed.tolist())), np.uint64)


@pytest.fixture
def tables_always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes comparing every pair look expensive, so that small inputs go through tables."""
    monkeypatch.setattr(plan, "BRUTE_COST", 1e-3)
    plan._choose.cache_clear()
    yield
    plan._choose.cache_clear()


@pytest.mark.parametrize("distance", range(17))
def test_every_pair_is_found_once_at_every_distance(distance: int) -> None:
    for seed, count in ((1, 30), (2, 300), (3, 1500)):
        words = planted(seed, count, distance)
        pairs = found(pairs_within(words, distance))
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == brute_force(words, distance)


@pytest.mark.usefixtures("tables_always")
@pytest.mark.parametrize("distance", range(1, 17))
def test_tables_find_every_pair_once_at_every_distance(distance: int) -> None:
    words = planted(distance, 400, distance)
    pairs = found(pairs_within(words, distance))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute_force(words, distance)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    words=st.sets(
        st.integers(0, 2**64 - 1) | st.integers(0, 4095) | st.integers(0, 255).map(lambda n: n << 56),
        max_size=80,
    ),
    distance=st.integers(0, 8),
)
@pytest.mark.usefixtures("tables_always")
def test_any_set_of_words_gives_the_pairs_of_brute_force(words: set[int], distance: int) -> None:
    array = np.array(sorted(words), np.uint64)
    pairs = found(pairs_within(array, distance))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute_force(array, distance)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(fixed=st.sets(st.integers(0, 63), max_size=44), distance=st.integers(1, 4), hot=st.integers(16, 60))
def test_hot_buckets_lose_nothing(
    fixed: set[int], distance: int, hot: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = sum(1 << bit for bit in range(64) if bit not in fixed)
    monkeypatch.setattr(hamming, "_HOT", hot)  # so that few words make a bucket hot
    monkeypatch.setattr(plan, "BRUTE_COST", 1e-7)
    plan._choose.cache_clear()
    words = np.concatenate([planted(len(fixed), 300, distance, mask), planted(5, 300, distance)])
    words = np.array(sorted(set(words.tolist())), np.uint64)
    pairs = found(pairs_within(words, distance))
    plan._choose.cache_clear()
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute_force(words, distance)


@pytest.mark.usefixtures("tables_always")
def test_fewer_varying_bits_than_the_distance_are_no_problem() -> None:
    assert set(found(pairs_within(np.array([0, 1, 126], np.uint64), 8))) == {(0, 1), (0, 126), (1, 126)}


@pytest.mark.parametrize("shared_bits", [16, 24, 32])
def test_the_only_pair_in_a_bucket_of_many_is_found(shared_bits: int) -> None:
    """Boilerplate fixes some bits of fifty thousand fingerprints; one pair differs in other places."""
    rng = np.random.default_rng(shared_bits)
    words = rng.integers(0, 2**64, 50_000, dtype=np.uint64) << np.uint64(shared_bits)
    a = int(words[17])
    b = a ^ (1 << 63) ^ (1 << (shared_bits + 3)) ^ (1 << 50)
    pairs = found(pairs_within(np.array(sorted({*words.tolist(), b}), np.uint64), 3))
    assert (min(a, b), max(a, b)) in pairs
    assert all((x ^ y).bit_count() <= 3 for x, y in pairs)


def test_all_fingerprints_in_a_ball_around_one_are_found() -> None:
    """A template with slots: words within two bits of a centre, every pair of which is within four."""
    centre = 0x0123456789ABCDEF
    ball = {centre ^ (1 << i) ^ (1 << j) for i in range(24) for j in range(24)}
    words = np.array(sorted(ball), np.uint64)
    pairs = found(pairs_within(words, 4))
    assert len(pairs) == len(set(pairs)) == len(ball) * (len(ball) - 1) // 2


@pytest.mark.usefixtures("tables_always")
@pytest.mark.parametrize("distance", [1, 3, 6])
def test_partitions_on_disk_give_the_same_pairs(distance: int, tmp_path: Path) -> None:
    words = planted(distance, 2000, distance)
    with Scratch(4096, tmp_path) as scratch:
        assert scratch.partitions(len(words) * 24) > 8
        pairs = found(pairs_within_scratch(words, distance, scratch))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute_force(words, distance)
    assert not list(tmp_path.iterdir())


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_distance_is_a_metric(a: int, b: int, c: int) -> None:
    def distance(x: int, y: int) -> int:
        return int(np.bitwise_count(np.uint64(x) ^ np.uint64(y)))

    assert distance(a, b) == bin(a ^ b).count("1") == distance(b, a)
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


@pytest.mark.parametrize("distance", [2, 3, 4])
def test_pages_of_one_template_among_many_others_keep_all_their_pairs(distance: int) -> None:
    """Two thousand fingerprints agree on the forty top bits: a bucket far above the others in some tables."""
    rng = np.random.default_rng(distance)
    template = np.unique(rng.integers(0, 2**24, 2000, dtype=np.uint64) | np.uint64(0xABCDE_54321 << 24))
    others = rng.integers(0, 2**64, 60_000, dtype=np.uint64)
    words = np.array(sorted({*template.tolist(), *others.tolist()}), np.uint64)
    pairs = found(pairs_within(words, distance))
    members = set(template.tolist())
    assert len(pairs) == len(set(pairs))
    assert {pair for pair in pairs if members.issuperset(pair)} == brute_force(template, distance)
