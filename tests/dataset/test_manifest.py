"""Reading a manifest that came from anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import datasets

from ccrawl.dataset.ledger import MANIFEST, Counts, FailedShard, ShardEntry
from ccrawl.dataset.manifest import manifest_bytes, read_manifest
from ccrawl.errors import OutputError

ROWS = [datasets.row(number) for number in range(3)]


def test_reading_gives_what_the_ledger_wrote(tmp_path: Path) -> None:
    datasets.write(
        tmp_path, {"a.warc.gz": ROWS, "b.warc.gz": []}, drops={"empty": 2, "skipped": {"revisit": 1}}
    )
    manifest = read_manifest(tmp_path)
    assert [shard.source for shard in manifest.shards] == ["a.warc.gz", "b.warc.gz"]
    assert manifest.counts.rows == 3
    assert manifest.counts.empty == 4
    assert manifest.counts.records == 3 + 4 + 2
    assert manifest.crawls == ("local",)
    written = (tmp_path / MANIFEST).read_bytes()
    assert manifest_bytes(manifest.version, manifest.options, manifest.shards, manifest.failed) == written


def test_a_dataset_without_shards_has_zero_counts(tmp_path: Path) -> None:
    manifest = read_manifest(datasets.write(tmp_path, {}))
    assert manifest.counts == Counts()
    assert manifest.crawls == ()


def test_a_folder_without_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="holds no manifest"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "file",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "data/crawl=x/../000000.parquet",
        "data/crawl=x/0.txt",
        "data/crawl=/000000.parquet",
    ],
)
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, file: str) -> None:
    datasets.write(tmp_path, {"a.warc.gz": ROWS})
    datasets.edit_manifest(tmp_path, lambda values: values["shards"][0].update(file=file))
    with pytest.raises(OutputError, match="damaged manifest"):
        read_manifest(tmp_path)


def test_one_file_for_two_shards_is_refused(tmp_path: Path) -> None:
    datasets.write(tmp_path, {"a.warc.gz": ROWS})
    datasets.edit_manifest(
        tmp_path, lambda values: values["shards"].append(dict(values["shards"][0], number=1))
    )
    with pytest.raises(OutputError, match="twice"):
        read_manifest(tmp_path)


FUZZ = settings(deadline=None)  # the machine may be busy
ENTRY = ShardEntry(
    number=0,
    source="a.warc.gz",
    source_bytes=10,
    source_fingerprint="size:10",
    file="data/crawl=x/000000.parquet",
    file_bytes=5,
    sha256="0" * 64,
    counts=datasets.counts_of(ROWS, skipped={"revisit": 1}),
    failures=0,
    seconds=1.0,
    cpu_seconds=1.0,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@FUZZ
@given(where=st.integers(0, 200), value=JSON)
def test_any_value_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, where: int, value: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    values = json.loads(manifest_bytes("1", {"crawl": "x"}, [ENTRY], [FailedShard(1, "b", "gone")]))
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key, inner in list(node.items() if isinstance(node, dict) else enumerate(node)):
            places.append((node, key))
            if isinstance(inner, dict | list):
                walk(inner)

    walk(values)
    node, key = places[where % len(places)]
    node[key] = value
    (folder / MANIFEST).write_text(json.dumps(values))
    try:
        assert isinstance(read_manifest(folder).counts, Counts)
    except OutputError:
        pass


@FUZZ
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(OutputError) as raised:
        read_manifest(folder)
    assert "\n" not in str(raised.value)
