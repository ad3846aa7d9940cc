"""Reading: three columns and no more, other tools' files, and damaged ones."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccrawl.duplicates import DedupOptions, dedup
from ccrawl.duplicates.sources import Source, find_sources
from ccrawl.errors import CcrawlError, SourceError
from ccrawl.text.simhash import DEFINITION, simhash
from tests.duplicates.datasets import Page, page, sets, write

TEXT = " ".join(f"word{n} says thing{n * 7}" for n in range(120))
NEAR = TEXT.replace("word60 says", "word60 tells")


class CountingFile:
    """A file that remembers how many bytes were read from it, and refuses to be written."""

    def __init__(self, path: str, counts: list[int]) -> None:
        self._file = Path(path).open("rb")  # noqa: SIM115
        self._counts = counts

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self._counts.append(len(content))
        return content

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> CountingFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def test_only_the_three_columns_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(str(n), 4000, n + 1) for n in range(2000)]
    noise = pa.array([hashlib.sha512(b"%d" % n).hexdigest() * 40 for n in range(2000)])
    table = pq.read_table(write(tmp_path / "plain.parquet", pages)).append_column("html", noise)
    path = tmp_path / "dataset" / "wide.parquet"
    path.parent.mkdir()
    pq.write_table(table, path, row_group_size=500, compression="zstd", use_dictionary=False)
    before = path.read_bytes(), path.stat().st_mtime_ns
    counts: list[int] = []
    monkeypatch.setattr(Source, "open", lambda source: CountingFile(source.path, counts))
    assert dedup([path.parent]).rows == 2000
    metadata = pq.read_metadata(path)
    wanted = sum(
        metadata.row_group(group).column(column).total_compressed_size
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
        if metadata.row_group(group).column(column).path_in_schema in ("url", "markdown", "simhash")
    )
    footer = 64 * 1024  # what pyarrow reads at the end of a file at first
    assert wanted <= sum(counts) <= wanted + 2 * footer
    assert sum(counts) < len(before[0]) / 2
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [item.name for item in path.parent.iterdir()] == ["wide.parquet"]


@pytest.mark.parametrize("definition", [None, "words5-md5-64/3"])
def test_fingerprints_of_another_definition_are_made_anew_and_said(
    definition: str | None, tmp_path: Path
) -> None:
    write(
        tmp_path / "a.parquet",
        [Page("u:1", TEXT, 1), Page("u:2", NEAR, 2**63 + 12345)],
        definition=definition,
    )
    said: list[str] = []
    report = dedup([tmp_path], options=DedupOptions(distance=8), notice=said.append)
    assert report.recomputed == 2
    assert sets(report, "near") == {frozenset({"u:1", "u:2"})}
    assert len(said) == 1 and "a.parquet" in said[0]


def test_files_with_and_without_fingerprints_are_compared(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", [Page("u:1", TEXT, simhash(TEXT))])
    pq.write_table(pa.table({"url": ["u:2"], "markdown": [NEAR]}), tmp_path / "b.parquet")
    report = dedup([tmp_path], options=DedupOptions(distance=8))
    assert (report.recomputed, report.near_duplicates) == (1, 1)


@pytest.mark.parametrize(
    "kind",
    [pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_any_arrow_encoding_of_text_is_read(kind: pa.DataType, tmp_path: Path) -> None:
    texts = [TEXT, None, "", TEXT, "short", None]
    urls = [f"u:{n}" for n in range(5)] + [None]
    table = pa.table({"url": pa.array(urls).cast(kind), "markdown": pa.array(texts).cast(kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    report = dedup([tmp_path])
    assert sets(report, "exact") == {frozenset({"u:0", "u:3"})}
    assert (report.rows, report.no_fingerprint, report.bytes) == (6, 3, 2 * len(TEXT) + 5)


def test_bytes_that_are_not_utf8_are_no_error(tmp_path: Path) -> None:
    broken = pa.array([b"\xff\xfe" * 300, b"\xff\xfe" * 300, b"\xff" * 600])
    pq.write_table(
        pa.table({"url": pa.array([b"u:\xff", b"u:2", b"u:3"]), "markdown": broken}), tmp_path / "a.parquet"
    )
    (cluster,) = dedup([tmp_path]).clusters
    assert [member.url for member in cluster.members] == ["u:2", "u:\ufffd"] or cluster.size == 2


def test_a_hive_layout_is_one_dataset_without_hidden_files(tmp_path: Path) -> None:
    write(tmp_path / "data/crawl=A/000000.parquet", [page("a", 600, 5)])
    write(tmp_path / "data/crawl=B/000000.parquet", [page("b", 600, 5)])
    write(tmp_path / "data/_temporary/000001.parquet", [page("c", 600, 5)])
    write(tmp_path / "data/crawl=A/.000002.parquet", [page("d", 600, 5)])
    (tmp_path / "manifest.json").write_text("{}")
    report = dedup([tmp_path])
    assert (report.files, report.rows, report.near_clusters) == (2, 2, 1)


def test_globs_and_repeated_names_count_each_file_once(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path / f"{name}.parquet", [page(name, 600, 5)])
    found = find_sources([tmp_path / "[ab].parquet", tmp_path / "b.parquet", f"file://{tmp_path}/a.parquet"])
    assert [Path(source.name).name for source in found] == ["a.parquet", "b.parquet"]


def test_a_dataset_behind_a_url_is_read_through_fsspec(tmp_path: Path) -> None:
    local = write(tmp_path / "a.parquet", [page("a", 600, 5), page("b", 600, 5)])
    memory = fsspec.filesystem("memory")
    memory.pipe("/dedup-test/crawl=A/000000.parquet", local.read_bytes())
    try:
        for path in (
            "memory://dedup-test",
            "memory://dedup-test/*/*.parquet",
            "memory://dedup-test/crawl=A/000000.parquet",
        ):
            report = dedup([path])
            assert (report.files, report.near_duplicates) == (1, 1)
            assert report.clusters[0].members[0].file.startswith("memory://")
        with pytest.raises(SourceError, match=r"no \.parquet file"):
            dedup(["memory://dedup-test-empty"])
    finally:
        memory.rm("/dedup-test", recursive=True)


def test_missing_places_and_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        dedup([tmp_path / "nowhere"])
    with pytest.raises(SourceError, match=r"no \.parquet file"):
        dedup([tmp_path])
    pq.write_table(pa.table({"url": ["u"], "text": ["t"]}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"a\.parquet: no column markdown; it has url, text"):
        dedup([tmp_path])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 4000), change=st.binary(min_size=1, max_size=8))
def test_a_damaged_file_is_one_error_that_names_it(cut: int, change: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "damaged.parquet", [page(str(n), 600, n + 1) for n in range(50)])
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % len(whole)] + change + whole[cut % len(whole) + len(change) :])
    try:
        report = dedup([path])
    except CcrawlError as error:
        assert "damaged.parquet" in str(error) and "\n" not in str(error)
    else:
        assert report.rows <= 50 or report.recomputed


def test_the_definition_in_the_footer_is_the_one_that_the_tool_computes() -> None:
    assert DEFINITION == "words3-xxh3-64/1"
