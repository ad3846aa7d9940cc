"""Plans: what they find, not how they are made."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.duplicates.plan import choose, key_masks

weights = st.one_of(
    st.just([1.0] * 64),
    st.lists(st.one_of(st.just(0.0), st.floats(0.01, 1.0)), min_size=64, max_size=64),
)


@given(
    count=st.integers(2, 10**9),
    distance=st.integers(1, 12),
    weight=weights,
    seed=st.integers(0, 2**32),
)
def test_whatever_bits_differ_some_table_has_none_of_them(
    count: int, distance: int, weight: list[float], seed: int
) -> None:
    plan = choose(count, distance, sum(weight))
    if not plan.segments:
        return
    masks, _ = key_masks(plan, weight)
    draw = random.Random(seed)
    for _ in range(30):
        difference = sum(1 << bit for bit in draw.sample(range(64), distance))
        assert any(mask & difference == 0 for mask in masks)


@pytest.mark.parametrize("distance", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("count", [10**5, 10**6, 10**7, 10**8])
def test_every_bit_is_in_one_block_and_every_table_has_a_key(count: int, distance: int) -> None:
    masks, blocks = key_masks(choose(count, distance), [1.0] * 64)
    assert sorted(bit for block in blocks for bit in block) == list(range(64))
    assert len(set(masks)) == len(masks)
    assert all(mask.bit_count() >= 8 for mask in masks)


def test_constant_bits_are_spread_over_the_blocks() -> None:
    # Forty bits are the same in all fingerprints: a key of constant bits alone would put everything in one
    # bucket.
    weights = [0.0] * 40 + [1.0] * 24
    masks, _ = key_masks(choose(10**6, 1, 24), weights)
    assert all((mask >> 40).bit_count() >= 11 for mask in masks)


def test_the_expected_time_grows_nearly_in_step_with_the_number() -> None:
    for distance in (1, 2, 3):
        assert choose(10**7, distance).seconds < 20 * choose(10**6, distance).seconds
        assert choose(10**8, distance).seconds < 20 * choose(10**7, distance).seconds


def test_few_fingerprints_are_compared_with_each_other() -> None:
    assert choose(100, 3).tables == 0
    assert choose(20_000, 16).tables == 0
