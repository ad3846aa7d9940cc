"""Bit orders against moving one bit at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.duplicates.bits import BitOrder

words = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20)


@given(words, st.permutations(range(64)))
def test_bit_i_of_the_result_is_the_bit_that_the_order_names(values: list[int], sources: list[int]) -> None:
    moved = BitOrder(sources).apply(np.array(values, np.uint64)).tolist()
    assert moved == [sum((value >> source & 1) << i for i, source in enumerate(sources)) for value in values]


@given(words, st.permutations(range(64)))
def test_invert_undoes_apply(values: list[int], sources: list[int]) -> None:
    order = BitOrder(sources)
    array = np.array(values, np.uint64)
    assert order.invert(order.apply(array)).tolist() == values


@given(words, st.integers(1, 2**64 - 1))
def test_words_agree_on_the_mask_just_when_their_top_bits_agree(values: list[int], mask: int) -> None:
    moved = BitOrder(range(64)).with_key(mask).apply(np.array(values, np.uint64)).tolist()
    shift = 64 - mask.bit_count()
    for value, other in zip(values, moved, strict=True):
        assert (
            (value ^ values[0]) & mask == 0
            if other >> shift == moved[0] >> shift
            else (value ^ values[0]) & mask
        )


def test_long_arrays_are_moved_as_short_ones() -> None:
    rng = np.random.default_rng(0)
    array = rng.integers(0, 2**64, 70_001, dtype=np.uint64)
    for sources in (range(64), range(63, -1, -1), [*range(32, 64), *range(32)]):
        order = BitOrder(list(sources))
        whole = order.apply(array)
        assert np.array_equal(whole[-3:], order.apply(array[-3:]))
        assert np.array_equal(order.invert(whole), array)


def test_an_order_that_names_a_bit_twice_is_refused() -> None:
    with pytest.raises(ValueError):
        BitOrder([0, 0, *range(2, 64)])
