"""What engines read of a dataset: one schema for every shard, and fingerprints that stay whole numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset
import pytest
from support import datasets

from ccrawl.dataset.schema import arrow_schema

# The ends of int64 and uint64; a float64 holds none of the large ones.
FINGERPRINTS = [0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A shard of large fingerprints, one of a single row without date, language and offset, one without rows."""
    bare = {"crawl_date": "", "language": "", "language_confidence": 0.0, "title": ""}
    return datasets.write(
        tmp_path / "out",
        {
            "a.warc.gz": [datasets.row(n, simhash=value) for n, value in enumerate(FINGERPRINTS)],
            "b.warc.gz": [datasets.row(9, simhash=7, warc_record_offset=None, **bare)],
            "c.warc.gz": [],
        },
    )


EXPECTED = sorted([*FINGERPRINTS, 7])


def test_arrow_reads_all_shards_without_a_cast(dataset: Path) -> None:
    whole = pyarrow.dataset.dataset(dataset / "data", partitioning="hive")
    assert len(whole.files) == 3
    for fragment in whole.get_fragments():
        assert fragment.physical_schema.equals(arrow_schema())
    table = whole.to_table()
    assert table.schema.field("simhash").type == pa.uint64()
    assert sorted(table.column("simhash").to_pylist()) == EXPECTED


def test_duckdb_reads_unsigned_numbers(dataset: Path) -> None:
    relation = duckdb.sql(
        "select simhash, warc_record_offset, crawl from read_parquet(?, hive_partitioning = true) order by simhash",
        params=[str(dataset / "data/*/*.parquet")],
    )
    assert [str(kind) for kind in relation.types] == ["UBIGINT", "BIGINT", "VARCHAR"]
    rows = relation.fetchall()
    assert [simhash for simhash, _, _ in rows] == EXPECTED
    assert [simhash for simhash, offset, _ in rows if offset is None] == [7]


def test_polars_reads_unsigned_numbers(dataset: Path) -> None:
    frame = polars.scan_parquet(dataset / "data/*/*.parquet", hive_partitioning=True).collect()
    assert frame.schema["simhash"] == polars.UInt64
    assert sorted(frame["simhash"].to_list()) == EXPECTED
    assert set(frame["crawl"].to_list()) == {"local"}


@pytest.mark.parametrize("backend", ["pyarrow", "numpy_nullable"])
def test_pandas_reads_whole_numbers_beside_missing_ones(dataset: Path, backend: Any) -> None:
    import pandas

    frame = pandas.read_parquet(dataset / "data", dtype_backend=backend)
    assert "float" not in str(frame["simhash"].dtype)
    assert "float" not in str(frame["warc_record_offset"].dtype)  # though one is missing
    assert sorted(int(value) for value in frame["simhash"]) == EXPECTED
