"""Exact groups where digests agree in part, which texts made on purpose could bring about."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ccrawl.duplicates.exact import exact_groups
from ccrawl.duplicates.rows import Rows
from ccrawl.duplicates.scratch import Scratch


@pytest.mark.parametrize("differing_word", [0, 1, 2, 3])
def test_rows_are_equal_only_when_the_whole_digest_is(differing_word: int) -> None:
    digest = np.full((6, 4), 7, np.uint64)
    digest[[1, 3, 5], differing_word] = 8  # alternating, so that neighbours in the input never agree
    rows = Rows(
        files=("a",),
        starts=np.array([0, 6]),
        digest=digest,
        length=np.ones(6, np.int64),
        fingerprint=np.ones(6, np.uint64),
        urls=pa.chunked_array([], pa.large_binary()),
        recomputed=0,
    )
    with Scratch() as scratch:
        groups = exact_groups(rows, scratch)
    assert sorted(
        groups.members[start:end].tolist()
        for start, end in zip(groups.offsets, groups.offsets[1:], strict=False)
    ) == [[0, 2, 4], [1, 3, 5]]
