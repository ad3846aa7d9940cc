"""Reports for programs, terminals and people."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ccrawl.cli.dedup_text import as_text
from ccrawl.duplicates import dedup
from ccrawl.duplicates.output import CLUSTER_SCHEMA, as_json, check_outputs, write_clusters
from ccrawl.errors import OutputError, UsageError
from tests.duplicates.datasets import Page, page, write

BASE = 0x1234_5678_9ABC_DEF0


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Three copies of one text, a near pair, a page of its own and one without text: in two files."""
    folder = tmp_path / "dataset"
    copies = [Page(f"http://t.example/copy{n}", "the same words " * 50, 77) for n in range(3)]
    write(folder / "a.parquet", [copies[0], page("near1", 800, BASE), Page("http://t.example/none", "", 0)])
    write(
        folder / "b.parquet",
        [*copies[1:], page("near2", 900, BASE ^ 7), page("alone", 600, ~BASE & (2**64 - 1))],
    )
    return folder


def test_json_has_the_keys_of_the_peer_and_the_counts(dataset: Path) -> None:
    values = json.loads(json.dumps(as_json(dedup([dataset]), top=10)))
    counts = {
        "files": 2,
        "rows": 7,
        "exact_clusters": 1,
        "exact_duplicates": 2,
        "exact_bytes": 2 * 750,
        "near_clusters": 1,
        "near_duplicates": 1,
        "near_bytes": 800,
        "near_distance": 3,
        "no_fingerprint": 1,
        "redundant_rows": 3,
        "redundant_bytes": 2 * 750 + 800,
    }
    assert {key: values[key] for key in counts} == counts
    exact, near = values["clusters"]
    assert (exact["kind"], exact["size"], exact["bytes"]) == ("exact", 3, 1500)
    assert exact["urls"] == [f"http://t.example/copy{n}" for n in range(3)]
    assert (near["kind"], near["urls"], near["diameter"]) == (
        "near",
        ["http://t.example/near2", "http://t.example/near1"],
        3,
    )


def test_top_bounds_the_clusters_that_are_listed(dataset: Path) -> None:
    report = dedup([dataset])
    assert as_json(report, top=0)["clusters"] == []
    assert len(as_json(report, top=1)["clusters"]) == 1
    assert "copy0" not in as_text(report, top=0)


def test_the_parquet_file_has_every_member_with_its_place(dataset: Path, tmp_path: Path) -> None:
    write_clusters(dedup([dataset]), tmp_path / "clusters.parquet")
    table = pq.read_table(tmp_path / "clusters.parquet")
    assert table.schema.names == CLUSTER_SCHEMA.names
    rows = [
        (r["cluster"], r["kind"], r["role"], Path(r["file"]).name, r["row"], r["distance"])
        for r in table.to_pylist()
    ]
    assert rows == [
        (1, "exact", "keep", "a.parquet", 0, 0),
        (1, "exact", "duplicate", "b.parquet", 0, 0),
        (1, "exact", "duplicate", "b.parquet", 1, 0),
        (2, "near", "keep", "b.parquet", 2, 0),
        (2, "near", "duplicate", "a.parquet", 1, 3),
    ]
    for row in table.to_pylist():  # each place leads to its URL
        assert pq.read_table(row["file"])["url"][row["row"]].as_py() == row["url"]


def test_dropping_what_the_parquet_file_calls_duplicate_leaves_no_duplicates(
    dataset: Path, tmp_path: Path
) -> None:
    write_clusters(dedup([dataset]), tmp_path / "clusters.parquet")
    gone = {
        (r["file"], r["row"])
        for r in pq.read_table(tmp_path / "clusters.parquet").to_pylist()
        if r["role"] != "keep"
    }
    for file in dataset.iterdir():
        table = pq.read_table(file)
        left = [row for row in range(table.num_rows) if (str(file), row) not in gone]
        pq.write_table(table.take(left), tmp_path / file.name)
    report = dedup([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert (report.rows, report.redundant_rows) == (4, 0)


def test_an_output_in_the_input_is_refused(dataset: Path) -> None:
    with pytest.raises(UsageError, match="never changed"):
        check_outputs([dataset / "clusters.parquet"], [str(dataset)])
    with pytest.raises(UsageError, match="never changed"):
        check_outputs([dataset / "a.parquet"], [str(dataset / "a.parquet")])
    with pytest.raises(UsageError, match="no such directory"):
        check_outputs([dataset / "nowhere" / "c.parquet"], [str(dataset)])
    check_outputs([dataset.parent / "c.parquet", None], [str(dataset), "s3://bucket/data"])


def test_a_report_that_can_not_be_written_leaves_nothing(dataset: Path, tmp_path: Path) -> None:
    target = tmp_path / "taken.parquet"
    target.mkdir()
    with pytest.raises(OutputError, match=r"taken\.parquet"):
        write_clusters(dedup([dataset]), target)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["dataset", "taken.parquet"]


def test_the_terminal_gets_no_control_characters_from_pages(tmp_path: Path) -> None:
    urls = ["http://t.example/\x1b[31mred", "http://t.example/\u202eback"]
    write(tmp_path / "a.parquet", [Page(url, "text", 5) for url in urls])
    text = as_text(dedup([tmp_path]), top=5)
    assert "\x1b" not in text and "\u202e" not in text
    assert "\\x1b[31mred" in text


def test_the_summary_gives_counts_and_shares(dataset: Path) -> None:
    lines = as_text(dedup([dataset]), top=5).splitlines()
    assert any(line.startswith("redundant") and "3 rows (42.9%)" in line for line in lines)
    assert any(line.startswith("no fingerprint") and line.endswith("1") for line in lines)
