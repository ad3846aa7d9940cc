"""A million rows: complete, in less than a minute, and the same with a memory limit."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ccrawl.duplicates import DedupOptions, dedup
from ccrawl.text.simhash import DEFINITION
from tests.duplicates.test_dedup import names

ROWS = 1_000_000
COPIES = 1000


@pytest.mark.slow
def test_every_planted_copy_among_a_million_rows_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    words = rng.integers(1, 2**64, ROWS, dtype=np.uint64)
    texts = [f"row {n} ".ljust(40, "x") for n in range(ROWS)]
    expected = set()
    for copy in range(COPIES):
        texts[copy] = texts[-1 - copy]  # exact
        words[copy] = words[-1 - copy]
        original, near = 10_000 + copy, 500_000 + copy
        flips = rng.choice(64, copy % 4, replace=False)
        words[near] = words[original] ^ np.uint64(sum(1 << int(bit) for bit in flips))
        expected.add((original, near, copy % 4))
    table = pa.table(
        {
            "url": pa.array([f"u:{n}" for n in range(ROWS)]),
            "markdown": pa.array(texts),
            "simhash": pa.array(words.tolist(), pa.uint64()),
        }
    )
    path = tmp_path / "million.parquet"
    pq.write_table(
        table.replace_schema_metadata({"ccrawl.simhash": DEFINITION}), path, row_group_size=100_000
    )
    start = time.process_time()
    report = dedup([path], options=DedupOptions(min_bytes=0))
    assert time.process_time() - start < 60
    found = {
        (*sorted(int(member.url[2:]) for member in cluster.members), cluster.diameter)
        for cluster in report.clusters
        if cluster.kind == "near"
    }
    assert found == expected
    assert (report.exact_clusters, report.exact_duplicates) == (COPIES, COPIES)
    limited = dedup([path], options=DedupOptions(min_bytes=0, memory=64 << 20, scratch=tmp_path))
    assert names(limited) == names(report)
    assert [item.name for item in tmp_path.iterdir()] == ["million.parquet"]
