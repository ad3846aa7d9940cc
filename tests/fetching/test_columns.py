"""Parquet files that others wrote, as inputs: the same values in whatever type are the same input."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import warcs

import ccrawl
from ccrawl.cli.summary import convert_dataset_as_text
from ccrawl.errors import SourceError
from ccrawl.fetching.columns import holds_text, rows_as
from ccrawl.fetching.targets import Read, find_inputs, read_wanted
from ccrawl.run.options import ExportOptions

LAYOUT = {
    "url": pa.large_string(),
    "html": pa.large_binary(),
    "status": pa.int32(),
    "simhash": pa.uint64(),
    "language_confidence": pa.float64(),
}
VALUES: dict[str, list[Any]] = {
    "url": ["http://a.test/é", None, ""],
    "html": [b"<p>\xe9", None, b""],
    "status": [200, None, 404],
    "simhash": [2**63 + 1, None, 0],
    "language_confidence": [0.5, None, 1.0],
}
TEXTS = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))
BYTES = (pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary()))


def read(**columns: pa.Array) -> list[dict[str, Any]]:
    return rows_as(pa.record_batch(columns), {name: LAYOUT[name] for name in columns}, "x.parquet")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("url", kind) for kind in TEXTS),
        *(("html", kind) for kind in BYTES),
        *(("status", kind) for kind in (pa.int16(), pa.int64(), pa.uint16(), pa.decimal128(9, 0))),
        *(("simhash", kind) for kind in (pa.uint64(), pa.decimal128(20, 0))),
        *(("language_confidence", kind) for kind in (pa.float32(), pa.float64())),
    ],
)
def test_a_value_is_the_same_in_every_type_that_holds_it(name: str, kind: pa.DataType) -> None:
    values = VALUES[name]
    if pa.types.is_decimal(kind):
        values = [None if value is None else Decimal(value) for value in values]
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array(values, plain)
    stored = column.dictionary_encode() if plain != kind else column
    assert read(**{name: stored}) == [{name: value} for value in VALUES[name]]
    assert holds_text(kind) == (name == "url")


@pytest.mark.parametrize("kind", BYTES)
def test_bytes_are_text_where_text_is_wanted(kind: pa.DataType) -> None:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array(["http://a.test/é".encode(), b"\xff", None], plain)
    stored = column.dictionary_encode() if plain != kind else column
    assert [row["url"] for row in read(url=stored)] == ["http://a.test/é", "\ufffd", None]


def test_dates_are_text_as_the_layout_writes_them() -> None:
    day = datetime.date(2024, 2, 29)
    for column in (pa.array([day]), pa.array([datetime.datetime(2024, 2, 29, 23, 59)])):
        assert read(url=column) == [{"url": "2024-02-29"}]


def test_a_column_of_nulls_has_no_values() -> None:
    assert read(url=pa.nulls(2), simhash=pa.nulls(2)) == [{"url": None, "simhash": None}] * 2


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("url", pa.array([["http://a.test/"]])),
        ("url", pa.array([{"url": "http://a.test/"}])),
        ("url", pa.array([1.5])),
        ("html", pa.array([7])),
        ("status", pa.array(["200"])),
        ("status", pa.array([2**31])),
        ("status", pa.array([200.0])),
        ("simhash", pa.array([-1])),
        ("simhash", pa.array([datetime.datetime(2024, 1, 1)])),
    ],
)
def test_what_does_not_mean_the_same_is_refused_by_name(name: str, column: pa.Array) -> None:
    with pytest.raises(SourceError, match=rf"x\.parquet: column {name} can't be read as [a-z]+\d* \("):
        read(**{name: column})


def test_urls_of_a_dataset_are_read_from_bytes_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": [b"http://a.test/1", None, b"http://a.test/2"]}), tmp_path / "a.parquet")
    told = Read()
    (one,) = find_inputs([str(tmp_path / "a.parquet")], tmp_path)
    found = [wanted.url for wanted in read_wanted(one, ExportOptions(), told)]
    assert found == ["http://a.test/1", "http://a.test/2"]
    assert told.records == 3 and told.skipped == {"no-url": 1}


def test_a_file_with_a_column_of_another_kind_fails_alone_and_names_it(tmp_path: Path) -> None:
    page = warcs.page(0)
    good = {"url": ["http://a.test/"], "html": pa.array([page], pa.large_binary())}
    files = [tmp_path / "bad.parquet", tmp_path / "good.parquet"]
    pq.write_table(pa.table({**good, "status": ["200"]}), files[0])
    pq.write_table(pa.table(good), files[1])
    report = ccrawl.convert_dataset(files, tmp_path / "out", workers=1, card=False)
    (failed,) = report.failed_shards
    assert failed.source == "bad.parquet" and "column status can't be read as int32" in failed.error
    assert report.counts.rows == 1


def test_a_run_of_which_every_file_failed_does_not_say_that_nothing_was_left(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no Parquet")
    report = ccrawl.convert_dataset(tmp_path / "a.parquet", tmp_path / "out", workers=1, card=False)
    assert "nothing was left to do" not in convert_dataset_as_text(report)


def test_bytes_of_a_large_binary_column_are_read_as_the_page_says(tmp_path: Path) -> None:
    latin = '<meta charset="iso-8859-1"><article><p>Die Fähre fährt mittags über den Fluß.</p></article>'
    page = pa.array([latin.encode("latin-1")], pa.large_binary())
    pq.write_table(pa.table({"url": ["http://a.test/"], "html": page}), tmp_path / "a.parquet")
    out = tmp_path / "out"
    ccrawl.convert_dataset(tmp_path / "a.parquet", out, workers=1, card=False)
    (file,) = out.glob("data/*/*.parquet")
    assert "Die Fähre fährt mittags über den Fluß." in pq.read_table(file)["markdown"][0].as_py()
