"""Each fault that verify knows is made on purpose and must be found, alone."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import datasets, warcs

import ccrawl
import ccrawl.dataset.card
from ccrawl.dataset.schema import Row
from ccrawl.dataset.verify import FAULTS, VerifyReport, verify
from ccrawl.errors import OutputError, UsageError
from ccrawl.run.options import ExportOptions

ROWS = [datasets.row(number) for number in range(4)]
FILE = "data/crawl=local/000000.parquet"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return datasets.write(tmp_path / "out", {"a.warc.gz": ROWS, "b.warc.gz": []})


def codes(report: VerifyReport) -> set[str]:
    return {fault.code for fault in report.faults}


def test_a_dataset_as_written_has_no_fault(dataset: Path) -> None:
    report = verify(dataset)
    assert report.ok, report.faults
    assert (report.shards, report.rows) == (2, 4)


def change_row(dataset: Path, number: int, **changed: Any) -> None:
    rows = [row._replace(**changed) if place == number else row for place, row in enumerate(ROWS)]
    datasets.reseal(dataset, FILE, rows)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"doc_id": "0" * 32}, "doc-id"),
        ({"host": "other.test"}, "host"),
        ({"crawl_date": "2025-02-30"}, "date"),
        ({"crawl_date": "20250304"}, "date"),
        ({"language_confidence": 1.5}, "language"),
        ({"language_confidence": float("nan")}, "language"),
        ({"simhash": 12345}, "simhash"),
        ({"payload_digest": "sha1:___"}, "digest"),
        ({"extractor": "raw@1"}, "provenance"),
        ({"warc_filename": "b.warc.gz"}, "provenance"),
        ({"warc_record_offset": 0}, "order"),
        ({"warc_record_offset": 1000}, "order"),  # the offset of the row before: one record, twice
        ({"payload_digest": None}, "null"),
    ],
)
def test_a_row_that_breaks_a_law_is_named(dataset: Path, changed: dict[str, Any], code: str) -> None:
    change_row(dataset, 2, **changed)
    report = verify(dataset)
    named = [fault for fault in report.faults if fault.code != "counts"]  # a null row is in no sum
    assert [(fault.code, fault.where, fault.first_row, fault.rows) for fault in named] == [(code, FILE, 2, 1)]
    assert verify(dataset, rows=False).ok  # only looking at rows can tell


def test_lengths_are_held_against_the_text_and_the_sums(dataset: Path) -> None:
    change_row(dataset, 1, markdown_length=5)
    assert codes(verify(dataset)) == {"markdown-length", "counts"}
    change_row(dataset, 1, html_length=-1)
    assert codes(verify(dataset)) == {"html-length", "counts"}


def test_an_empty_offset_is_no_fault(dataset: Path) -> None:
    datasets.reseal(dataset, FILE, [row._replace(warc_record_offset=None) for row in ROWS])
    assert verify(dataset).ok


def test_single_records_of_many_files_stand_by_file_and_offset(tmp_path: Path) -> None:
    places = [("a.warc.gz", 5), ("a.warc.gz", 9), ("b.warc.gz", 0)]
    rows = [
        datasets.row(n, source=name, warc_record_offset=offset) for n, (name, offset) in enumerate(places)
    ]
    assert verify(datasets.write(tmp_path / "in order", {"locations-000000": rows})).ok
    out = datasets.write(tmp_path / "not", {"locations-000000": [rows[1], rows[0], rows[2]]})
    assert [(fault.code, fault.first_row) for fault in verify(out).faults] == [("order", 1)]


def test_faults_of_many_rows_are_told_once_with_their_number(dataset: Path) -> None:
    datasets.reseal(dataset, FILE, [row._replace(doc_id="x") for row in ROWS])
    (fault,) = verify(dataset).faults
    assert (fault.code, fault.rows, fault.first_row) == ("doc-id", 4, 0)


def delete(path: Path) -> None:
    path.unlink()


def cut_one_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def cut_to_eight(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:8])


def make_empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (delete, "file-missing"),
        (cut_one_byte, "size"),
        (cut_to_eight, "size"),
        (make_empty, "size"),
        (flip_a_byte, "sha256"),
    ],
)
def test_a_damaged_file_is_found_without_reading_rows(
    dataset: Path, damage: Callable[[Path], None], code: str
) -> None:
    damage(dataset / FILE)
    report = verify(dataset, rows=False)
    assert code in codes(report)
    assert {fault.shard for fault in report.faults} == {FILE}
    assert code in codes(verify(dataset))


def seal_file(dataset: Path, table: Any, metadata: dict[str, str] | None = None) -> None:
    """Put any Parquet table in the place of the shard, and have size and hash agree."""
    kept = pq.read_metadata(dataset / FILE).metadata
    ours = {key: value for key, value in kept.items() if key.startswith(b"ccrawl")}
    with pq.ParquetWriter(dataset / FILE, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(ours if metadata is None else metadata)
    from ccrawl.dataset.ledger import file_sha256

    def change(values: Any) -> None:
        entry = values["shards"][0]
        size = (dataset / FILE).stat().st_size
        values["totals"]["file_bytes"] += size - entry["file_bytes"]
        entry.update(file_bytes=size, sha256=file_sha256(dataset / FILE))

    datasets.edit_manifest(dataset, change)


def test_columns_of_another_type_order_or_number_are_found(dataset: Path) -> None:
    table = pq.read_table(dataset / FILE)
    signed = table.set_column(
        table.schema.get_field_index("simhash"), "simhash", pa.array([1, 2, 3, 4], pa.int64())
    )
    for changed, told in [
        (signed, "simhash is int64, not uint64"),
        (table.select(list(reversed(table.column_names))), "column 1 is 'warc_record_offset', not 'doc_id'"),
        (table.drop_columns(["title"]), "column 13 is 'payload_digest', not 'title'"),
        (table.append_column("more", pa.array([1] * 4)), "a column more: 'more'"),
    ]:
        seal_file(dataset, changed)
        (fault,) = verify(dataset).faults
        assert (fault.code, fault.detail) == ("schema", told)


def test_a_string_that_is_not_utf8_is_found(dataset: Path) -> None:
    table = pq.read_table(dataset / FILE)
    place = table.schema.get_field_index("title")
    bad = pa.Array.from_buffers(pa.string(), 4, pa.array([b"ok", b"\xff\xfe", b"", b"x"]).buffers())
    seal_file(dataset, table.set_column(place, table.schema.field("title"), bad))
    assert codes(verify(dataset)) == {"utf-8"}


def test_metadata_that_contradicts_the_manifest_is_found(dataset: Path) -> None:
    kept = {
        key.decode(): value.decode()
        for key, value in pq.read_metadata(dataset / FILE).metadata.items()
        if key.startswith(b"ccrawl")
    }
    for key, value in [
        ("ccrawl.version", "0.0.0"),
        ("ccrawl.source", "z.warc.gz"),
        ("ccrawl.crawl", "other"),
        ("ccrawl.options", "{}"),
        ("ccrawl.counts", '{"rows": 3}'),
        ("ccrawl.counts", "[" * 50_000),
    ]:
        datasets.reseal(dataset, FILE, ROWS, {**kept, key: value})
        (fault,) = verify(dataset).faults
        assert fault.code == "footer"
        assert key in fault.detail


def test_fingerprints_of_another_definition_are_told_and_not_compared(dataset: Path) -> None:
    kept = pq.read_metadata(dataset / FILE).metadata
    metadata = {key.decode(): value.decode() for key, value in kept.items() if key.startswith(b"ccrawl")}
    rows = [row._replace(simhash=1) for row in ROWS]
    datasets.reseal(dataset, FILE, rows, {**metadata, "ccrawl.simhash": "another/2"})
    assert codes(verify(dataset)) == {"simhash-definition"}


def test_rows_too_many_or_too_few_are_found(dataset: Path) -> None:
    datasets.reseal(dataset, FILE, ROWS[:3])
    assert "rows" in codes(verify(dataset, rows=False))


def test_what_lies_in_the_folder_beside_the_manifest_is_found(dataset: Path) -> None:
    shutil.copy(dataset / FILE, dataset / "data/crawl=local/000007.parquet")
    (dataset / "data/crawl=local/.000003.parquet.99-0123abcd.tmp").write_bytes(b"PAR1")
    report = verify(dataset)
    assert [(fault.code, fault.where) for fault in report.faults] == [
        ("file-extra", "data/crawl=local/000007.parquet"),
        ("leftover", "data/crawl=local/.000003.parquet.99-0123abcd.tmp"),
    ]


def test_a_card_of_other_files_is_found(dataset: Path) -> None:
    ccrawl.dataset.card.card(dataset)
    assert verify(dataset).ok
    (dataset / "README.md").write_text("# By hand\n")  # says nothing of files
    assert verify(dataset).ok
    ccrawl.dataset.card.card(dataset, overwrite=True)
    datasets.reseal(dataset, FILE, [*ROWS[:-1], datasets.row(9)])
    assert codes(verify(dataset, rows=False)) == {"card"}


def test_a_number_left_out_and_a_failed_shard_are_told(tmp_path: Path) -> None:
    out = datasets.write(tmp_path, {"a": [], "d": [], "f": []}, numbers=[0, 3, 5])

    def fail(values: Any) -> None:
        values["failed_shards"] = [{"number": 1, "source": "b", "error": "b: not an archive"}]

    datasets.edit_manifest(out, fail)
    told = {fault.code: fault.detail for fault in verify(out).faults}
    assert told == {"shard-failed": "b: not an archive", "shard-missing": "crawl local: shard 2, 4"}


def test_numbers_of_the_manifest_that_do_not_add_up_are_found(dataset: Path) -> None:
    datasets.edit_manifest(dataset, lambda values: values["totals"].update(rows=5))
    assert codes(verify(dataset)) == {"manifest"}
    datasets.edit_manifest(dataset, lambda values: values["totals"].update(rows=4))
    assert verify(dataset).ok
    datasets.edit_manifest(dataset, lambda values: values["shards"][0]["counts"].update(records=99))
    assert "manifest" in codes(verify(dataset))


def test_totals_that_an_older_version_did_not_write_are_no_fault(dataset: Path) -> None:
    datasets.edit_manifest(dataset, lambda values: values["totals"].pop("indexed"))
    assert verify(dataset).ok


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, 2**16),
)
def test_any_damage_to_a_file_is_a_fault_and_never_an_error(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], cut: int
) -> None:
    if not ORIGINAL:
        folder = datasets.write(tmp_path_factory.mktemp("fuzz"), {"a.warc.gz": ROWS})
        ORIGINAL.append((folder, (folder / FILE).read_bytes()))
    folder, original = ORIGINAL[0]
    content = bytearray(original)
    for place, value in changes:
        content[place % len(content)] = value
    content = content[: len(content) - (cut % len(content) if cut % 4 == 0 else 0)]
    (folder / FILE).write_bytes(content)
    assert verify(folder).ok == (bytes(content) == original)


ORIGINAL: list[tuple[Path, bytes]] = []


def test_every_code_that_a_check_gives_has_a_meaning(dataset: Path) -> None:
    assert all(meaning and not meaning.endswith(".") for meaning in FAULTS.values())


def test_shards_chosen_from_a_crawls_list_leave_no_gap(tmp_path: Path) -> None:
    names = {f"crawl-data/CC-MAIN-2025-08/x/{n}.warc.gz": [] for n in (3, 90)}
    assert verify(datasets.write(tmp_path, names, numbers=[3, 90])).ok


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two archives and the dataset that an export makes of them."""
    folder = tmp_path_factory.mktemp("exported")
    for shard in range(2):
        records = [
            warcs.record(b"software: x", kind="warcinfo", url=""),
            *(warcs.response(10 * shard + n) for n in range(3)),
        ]
        warcs.write(folder / f"crawl/{shard}.warc.gz", records)
    report = ccrawl.export(folder / "crawl", folder / "out", workers=1, card=False)
    assert report.complete
    return folder


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "copy"))


def test_an_export_agrees_with_its_archives(exported: Path) -> None:
    for workers in (1, 2):
        report = verify(exported / "out", sources=[exported / "crawl"], workers=workers)
        assert report.ok, report.faults
        assert report.sources == 2


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"warc_record_id": "<urn:uuid:0>"}, "source-record"),
        ({"warc_record_offset": 999_999_999}, "source-record"),
        ({"crawl_date": "2025-03-05"}, "source-value"),
        ({"payload_digest": "sha1:" + "B" * 32}, "source-digest"),
    ],
)
def test_a_row_that_its_record_contradicts_is_found(copy: Path, changed: dict[str, Any], code: str) -> None:
    rows = [Row(**values) for values in pq.read_table(copy / "out" / FILE).to_pylist()]
    rows[-1] = rows[-1]._replace(**changed)
    datasets.reseal(copy / "out", FILE, rows)
    assert verify(copy / "out").ok  # the row alone does not show it
    (fault,) = verify(copy / "out", sources=[copy / "crawl"]).faults
    assert (fault.code, fault.first_row, fault.rows) == (code, 2, 1)


def test_an_archive_that_is_another_or_is_not_given_is_told(copy: Path) -> None:
    report = verify(copy / "out", sources=[copy / "crawl/0.warc.gz"])
    assert [(fault.code, fault.where) for fault in report.faults] == [("source-missing", "1.warc.gz")]
    warcs.write(copy / "crawl/1.warc.gz", [warcs.response(10)])
    report = verify(copy / "out", sources=[copy / "crawl"])
    assert codes(report) == {"source-counts", "source-record"}
    (copy / "crawl/1.warc.gz").write_bytes(b"")  # no archive at all
    assert codes(verify(copy / "out", sources=[copy / "crawl"])) == {"source-unreadable"}


def test_a_local_copy_stands_for_a_file_of_a_crawl() -> None:
    from ccrawl.archives import Source
    from ccrawl.dataset.verify.run import source_named

    copy, other = Source("a.warc.gz", "/x/a.warc.gz"), Source("b.warc.gz", "/x/b.warc.gz")
    by_name = {source.name: source for source in (copy, other)}
    assert source_named("crawl-data/C/a.warc.gz", by_name) == copy
    assert source_named("crawl-data/C/c.warc.gz", by_name) is None


def test_repair_gives_the_bytes_of_an_undamaged_export(copy: Path, exported: Path) -> None:
    out = copy / "out"
    cut_one_byte(out / FILE)
    (out / "data/crawl=local/.000001.parquet.1-0123abcd.tmp").write_bytes(b"")
    untouched = out / "data/crawl=local/000001.parquet"
    before = untouched.stat()
    report = verify(out, sources=[copy / "crawl"], repair=True)
    assert report.ok, report.faults
    assert report.repaired == (FILE,)
    assert (out / FILE).read_bytes() == (exported / "out" / FILE).read_bytes()
    assert untouched.stat().st_ino == before.st_ino  # whole shards are not done again


def test_repair_takes_a_local_copy_for_a_crawls_file(copy: Path) -> None:
    from ccrawl.archives import Source

    names = [f"crawl-data/T-1/{n}.warc.gz" for n in range(2)]
    sources = [Source(names[n], str(copy / f"crawl/{n}.warc.gz"), None, number=7 * n) for n in range(2)]
    ccrawl.export(sources, copy / "more", options=ExportOptions(crawl="T-1"), workers=1)
    file = copy / "more/data/crawl=T-1/000007.parquet"
    content = file.read_bytes()
    cut_one_byte(file)
    report = verify(copy / "more", sources=[copy / "crawl"], repair=True)
    assert report.ok, report.faults
    assert report.repaired == ("data/crawl=T-1/000007.parquet",)
    assert file.read_bytes() == content


def test_a_broken_shard_without_its_archive_stays_as_it_is(copy: Path) -> None:
    cut_one_byte(copy / "out" / FILE)
    report = verify(copy / "out", sources=[copy / "crawl/1.warc.gz"], repair=True)
    assert report.repaired == ()
    assert {"size", "unreadable"} <= codes(report)
    assert report.shards == 2


def test_repair_takes_the_datasets_own_archives_out_of_more(copy: Path, exported: Path) -> None:
    warcs.write(copy / "crawl/00.warc.gz", [warcs.response(50)])  # sorted between the two
    cut_one_byte(copy / "out" / FILE)
    assert verify(copy / "out", sources=[copy / "crawl"], repair=True).ok
    assert (copy / "out" / FILE).read_bytes() == (exported / "out" / FILE).read_bytes()


def test_repair_redoes_a_shard_whose_rows_break_a_law_though_its_hash_agrees(
    copy: Path, exported: Path
) -> None:
    out = copy / "out"
    rows = [Row(**values) for values in pq.read_table(out / FILE).to_pylist()]
    datasets.reseal(out, FILE, [row._replace(simhash=7) for row in rows])
    report = verify(out, sources=[copy / "crawl"], repair=True)
    assert report.ok, report.faults
    assert (out / FILE).read_bytes() == (exported / "out" / FILE).read_bytes()


def test_repair_is_refused_where_it_could_only_do_harm(copy: Path) -> None:
    out = copy / "out"
    with pytest.raises(UsageError, match="--source"):
        verify(out, repair=True)
    cut_one_byte(out / FILE)
    datasets.edit_manifest(out, lambda values: values["options"].update(dedup_index=True))
    with pytest.raises(OutputError, match="same export command"):
        verify(out, sources=[copy / "crawl"], repair=True)
    datasets.edit_manifest(out, lambda values: values.update(ccrawl="0.0.1"))
    with pytest.raises(OutputError, match="made by ccrawl"):
        verify(out, sources=[copy / "crawl"], repair=True)


def test_the_command_lists_faults_and_exits_with_3(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ccrawl.cli.verify import command

    assert command(dataset) == 0
    assert "all is well" in capsys.readouterr().out
    cut_one_byte(dataset / FILE)
    assert command(dataset, as_json=True) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["faults"][0]["code"] == "size"
    assert command(dataset) == 3
    text = capsys.readouterr().out
    assert f"fault    {FILE}: size: " in text
    assert max(map(len, text.splitlines())) < 200


def test_terminal_codes_of_a_hostile_manifest_are_not_printed(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ccrawl.cli.verify import command

    change_row(dataset, 0, host="\x1b[2Jgone")
    assert command(dataset) == 3
    assert "\x1b" not in capsys.readouterr().out


def test_report_is_frozen(dataset: Path) -> None:
    report = verify(dataset)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.shards = 3  # type: ignore[misc]
