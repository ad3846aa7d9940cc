from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ccrawl.dataset import writer
from ccrawl.dataset.files import remove_leftovers, write_atomically
from ccrawl.dataset.schema import COLUMNS, Row, arrow_schema
from ccrawl.dataset.writer import ShardWriter
from ccrawl.errors import OutputError

PUBLIC_COLUMNS = [
    ("doc_id", pa.string()),
    ("url", pa.string()),
    ("host", pa.string()),
    ("crawl_date", pa.string()),
    ("warc_record_id", pa.string()),
    ("html_length", pa.int64()),
    ("markdown_length", pa.int64()),
    ("markdown", pa.string()),
    ("language", pa.string()),
    ("language_confidence", pa.float64()),
    ("extractor", pa.string()),
    ("simhash", pa.uint64()),
]


def row(number: int, markdown: str = "Some text.", simhash: int = 1) -> Row:
    return Row(
        doc_id=f"{number:032x}",
        url=f"http://site.test/{number}",
        host="site.test",
        crawl_date="2025-03-04",
        warc_record_id=f"<urn:uuid:{number}>",
        html_length=1000,
        markdown_length=len(markdown.encode()),
        markdown=markdown,
        language="eng",
        language_confidence=0.9,
        extractor="main@1",
        simhash=simhash,
        title="T",
        payload_digest="sha1:X",
        warc_filename="a.warc.gz",
        warc_record_offset=None if number % 2 else number,
    )


def written(path: Path, rows: list[Row], metadata: dict[str, str] | None = None) -> writer.WrittenFile:
    with ShardWriter(path) as shard:
        for one in rows:
            shard.write(one)
        return shard.finish(metadata or {})


def test_the_public_columns_come_first_with_their_names_and_types() -> None:
    schema = arrow_schema()
    assert [(field.name, field.type) for field in schema][:12] == PUBLIC_COLUMNS
    assert schema.names == list(Row._fields) == [column.name for column in COLUMNS]


def test_every_column_says_what_it_means() -> None:
    assert all(field.metadata[b"description"] for field in arrow_schema())


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    fingerprints = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
    rows = [row(i, f"text {i} äø漢🜚", fingerprint) for i, fingerprint in enumerate(fingerprints)]
    written(tmp_path / "x.parquet", rows)
    table = pq.read_table(tmp_path / "x.parquet")
    assert [Row(**values) for values in table.to_pylist()] == rows


def test_a_file_without_rows_has_the_full_schema(tmp_path: Path) -> None:
    written(tmp_path / "x.parquet", [])
    assert pq.read_schema(tmp_path / "x.parquet").equals(arrow_schema())
    assert pq.read_metadata(tmp_path / "x.parquet").num_rows == 0


def test_the_ledger_values_are_those_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path / "x.parquet", [row(i) for i in range(10)])
    content = (tmp_path / "x.parquet").read_bytes()
    assert (file.rows, file.bytes, file.sha256) == (10, len(content), hashlib.sha256(content).hexdigest())


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    rows = [row(i, f"number {i} " * 50) for i in range(500)]
    first = written(tmp_path / "x.parquet", rows, {"ccrawl.version": "1"})
    second = written(tmp_path / "y.parquet", rows, {"ccrawl.version": "1"})
    assert first.sha256 == second.sha256


def test_footer_holds_the_metadata(tmp_path: Path) -> None:
    written(tmp_path / "x.parquet", [row(1)], {"ccrawl.simhash": "words3-xxh3-64/1"})
    assert pq.read_metadata(tmp_path / "x.parquet").metadata[b"ccrawl.simhash"] == b"words3-xxh3-64/1"


def test_row_groups_are_bounded_in_bytes_and_in_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "ROW_GROUP_BYTES", 100_000)
    monkeypatch.setattr(writer, "ROW_GROUP_ROWS", 100)
    rows = [row(i, "x" * 9_000) for i in range(50)] + [row(i, "y" * 300_000) for i in range(2)]
    rows += [row(i, "z") for i in range(1000)]
    written(tmp_path / "x.parquet", rows)
    metadata = pq.read_metadata(tmp_path / "x.parquet")
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    assert sum(group.num_rows for group in groups) == len(rows)
    assert all(group.total_byte_size < 120_000 or group.num_rows == 1 for group in groups)
    assert all(group.num_rows <= 100 for group in groups)
    assert sum(group.num_rows == 100 for group in groups) == 10


def test_pages_have_an_index_and_statistics(tmp_path: Path) -> None:
    written(tmp_path / "x.parquet", [row(i) for i in range(5)])
    column = pq.read_metadata(tmp_path / "x.parquet").row_group(0).column(1)
    assert column.has_column_index
    assert column.has_offset_index
    assert (column.statistics.min, column.statistics.max) == ("http://site.test/0", "http://site.test/4")
    assert column.compression == "ZSTD"


def test_an_insertion_leaves_most_of_the_file_as_it_was(tmp_path: Path) -> None:
    """What content-defined chunking is for: a hub that stores chunks stores only what changed."""
    import random

    words = random.Random(5)
    rows = [row(i, " ".join(str(words.random()) for _ in range(400))) for i in range(1500)]
    written(tmp_path / "x.parquet", rows)
    written(tmp_path / "y.parquet", [row(7, "a new first row"), *rows])
    old, new = ((tmp_path / name).read_bytes() for name in ("x.parquet", "y.parquet"))
    pieces = [old[i : i + 64] for i in range(0, len(old) - 64, 4096)]
    assert sum(piece in new for piece in pieces) > 0.6 * len(pieces)


def test_nothing_stands_under_the_final_name_before_finish(tmp_path: Path) -> None:
    path = tmp_path / "data" / "x.parquet"
    with ShardWriter(path) as shard:
        shard.write(row(1))
        assert not path.exists()
    assert list(path.parent.iterdir()) == []  # left without finish: removed


def test_an_error_leaves_an_older_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    before = written(path, [row(1)])
    with pytest.raises(ZeroDivisionError), ShardWriter(path) as shard:
        shard.write(row(2))
        raise ZeroDivisionError
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before.sha256
    assert [p.name for p in tmp_path.iterdir()] == ["x.parquet"]


def test_a_folder_that_refuses_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    with pytest.raises(OutputError, match=r"data/x\.parquet: can't be written"):
        ShardWriter(tmp_path / "data" / "x.parquet")


def test_leftovers_of_killed_runs_are_removed_and_nothing_else(tmp_path: Path) -> None:
    keep = [tmp_path / "a.parquet", tmp_path / ".hidden", tmp_path / "x.tmp"]
    for path in [*keep, tmp_path / ".a.parquet.1-0123abcd.tmp"]:
        path.touch()
    assert remove_leftovers(tmp_path) == 1
    assert sorted(tmp_path.iterdir()) == sorted(keep)


def test_atomic_write_replaces_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_atomically(path, b"1" * 100)
    write_atomically(path, b"2")
    assert path.read_bytes() == b"2"
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]
