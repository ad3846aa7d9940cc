"""What a run finished since it last wrote the manifest outlives it, and nothing else is taken for it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.dataset.journal import JOURNAL
from ccrawl.dataset.ledger import Counts, FailedShard, Ledger, ShardEntry
from ccrawl.dataset.manifest import manifest_bytes, read_manifest
from ccrawl.dataset.shard_table import ShardTable

OPTIONS = {"crawl": "x"}


def entry(number: int, *, source: str = "a.warc.gz", **counts: object) -> ShardEntry:
    return ShardEntry(
        number=number,
        source=source,
        source_bytes=10,
        source_fingerprint="size:10",
        file=f"data/crawl=x/{number:06d}.parquet",
        file_bytes=7,
        sha256=hashlib.sha256(b"parquet").hexdigest(),
        counts=Counts(**{"records": 1, "pages": 1, "rows": 1, "languages": {"eng": 1}, **counts}),  # type: ignore[arg-type]
        failures=0,
        seconds=1.0,
        cpu_seconds=1.0,
    )


def open_ledger(directory: Path) -> Ledger:
    return Ledger.open(directory, OPTIONS, "1.0")


def killed(directory: Path, count: int = 4) -> None:
    """A run of `count` shards that ends without saving; its manifest knows none, so all are in its journal."""
    with open_ledger(directory) as ledger:
        ledger.save()
        ledger._cost = 1e9  # so that no time has come to write the manifest again
        for number in range(count):
            ledger.add(entry(number))
    assert read_manifest(directory).shards == ()


def test_every_shard_that_was_added_outlives_a_kill(tmp_path: Path) -> None:
    killed(tmp_path)
    with open_ledger(tmp_path) as ledger:
        assert dict(ledger.shards) == {number: entry(number) for number in range(4)}
        ledger.save()
    assert not (tmp_path / JOURNAL).exists()
    assert read_manifest(tmp_path).shards == tuple(entry(number) for number in range(4))


def test_runs_that_are_killed_one_after_the_other_lose_nothing(tmp_path: Path) -> None:
    killed(tmp_path)
    with open_ledger(tmp_path) as ledger:
        ledger.add(entry(4))  # writes the manifest, with what the journal had
        ledger._cost = 1e9
        ledger.add(entry(5))
    with open_ledger(tmp_path) as ledger:
        assert sorted(ledger.shards) == [0, 1, 2, 3, 4, 5]


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def of_another_manifest(path: Path) -> None:
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(head), "manifest": "0" * 64}), *lines]) + "\n")


def nonsense_inside(path: Path) -> None:
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "file": "../../elsewhere.parquet"})
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        (cut_short, [0, 1, 2]),
        (of_another_manifest, []),
        (nonsense_inside, [0]),
        (lambda path: path.write_bytes(b""), []),
        (lambda path: path.write_bytes(b"\xff\xfe\n[]\n"), []),
        (lambda path: path.write_bytes(b"[]\n[]\n"), []),
    ],
)
def test_a_damaged_journal_is_believed_up_to_the_damage(
    tmp_path: Path, damage: Callable[[Path], object], left: list[int]
) -> None:
    killed(tmp_path)
    damage(tmp_path / JOURNAL)
    with open_ledger(tmp_path) as ledger:
        assert sorted(ledger.shards) == left


def test_starting_again_forgets_the_journal(tmp_path: Path) -> None:
    killed(tmp_path)
    with Ledger.open(tmp_path, OPTIONS, "1.0", overwrite=True) as ledger:
        assert not ledger.shards
        ledger.save()
    with open_ledger(tmp_path) as ledger:
        assert not ledger.shards


def test_a_shard_done_again_is_the_later_one(tmp_path: Path) -> None:
    killed(tmp_path)
    with open_ledger(tmp_path) as ledger:
        ledger.save()
        ledger._cost = 1e9
        ledger.add(dataclasses.replace(entry(2), file_bytes=8))
    with open_ledger(tmp_path) as ledger:
        assert [ledger.shards[number].file_bytes for number in range(4)] == [7, 7, 8, 7]


numbers = st.integers(0, 10**12)
entries = st.builds(
    entry,
    st.integers(0, 5),
    source=st.text(st.characters(), max_size=5),  # surrogates too: a file's name may be any bytes
    rows=numbers,
    failed=st.dictionaries(st.sampled_from(["crash", "timeout"]), numbers),
    languages=st.dictionaries(st.sampled_from(["", "eng", "deu"]), numbers),
)


@given(st.lists(st.tuples(entries, st.booleans())))
def test_a_table_is_a_dict_that_knows_its_sums(steps: list[tuple[ShardEntry, bool]]) -> None:
    table, plain = ShardTable(), dict[int, ShardEntry]()
    for one, removed in steps:
        if removed:
            assert table.pop(one.number, None) == plain.pop(one.number, None)
        else:
            table[one.number] = plain[one.number] = one
        assert table == plain and len(table) == len(plain) and list(table) == list(plain)
        assert table.counts == (Counts.total(e.counts for e in plain.values()) if plain else Counts())
        assert table.file_bytes == sum(e.file_bytes for e in plain.values())


@given(st.lists(entries, unique_by=lambda one: one.number), st.lists(st.just(FailedShard(7, "b", "gone"))))
def test_the_manifest_is_the_json_of_its_values(shards: list[ShardEntry], failed: list[FailedShard]) -> None:
    text = manifest_bytes("1.0", OPTIONS, shards, failed)
    assert json.loads(text) == {
        "format": "ccrawl-manifest/1",
        "ccrawl": "1.0",
        "options": OPTIONS,
        "totals": {
            "shards": len(shards),
            "file_bytes": 7 * len(shards),
            **dataclasses.asdict(Counts.total([Counts(), *(shard.counts for shard in shards)])),
        },
        "shards": [dataclasses.asdict(shard) for shard in shards],
        "failed_shards": [dataclasses.asdict(one) for one in failed],
    }
