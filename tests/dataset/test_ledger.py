from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.dataset.ledger import Counts, Failure, FailureLog, Ledger, ShardEntry
from ccrawl.errors import OutputError

OPTIONS = {"extractor": "main", "limit": None}


def entry(directory: Path, number: int = 0, content: bytes = b"parquet") -> ShardEntry:
    import hashlib

    file = f"data/crawl=local/{number:06d}.parquet"
    path = directory / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return ShardEntry(
        number=number,
        source=f"{number}.warc.gz",
        source_bytes=10,
        source_fingerprint="size:10",
        file=file,
        file_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        counts=Counts(records=3, pages=2, rows=1, empty=1, skipped={"status:404": 1}, languages={"eng": 1}),
        failures=0,
        seconds=1.0,
        cpu_seconds=1.0,
    )


def open_ledger(directory: Path, **changes: object) -> Ledger:
    return Ledger.open(directory, {**OPTIONS, **changes}, "1.0")


def test_a_finished_shard_is_believed_by_the_next_run(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.add(entry(tmp_path))
        ledger.save()
    with open_ledger(tmp_path) as ledger:
        assert ledger.is_done(0, "0.warc.gz", "size:10")
        assert not ledger.is_done(1, "1.warc.gz", "size:10")
        assert ledger.shards[0] == entry(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"parqueT", b"parquet1", None])
def test_a_damaged_or_missing_file_is_not_believed(tmp_path: Path, damage: bytes | None) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.add(entry(tmp_path))
        ledger.save()
    path = tmp_path / entry(tmp_path).file
    path.write_bytes(damage) if damage is not None else path.unlink()
    with open_ledger(tmp_path) as ledger:
        assert not ledger.is_done(0, "0.warc.gz", "size:10")


def test_a_file_without_a_ledger_entry_is_not_believed(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.save()
    entry(tmp_path)
    with open_ledger(tmp_path) as ledger:
        assert not ledger.is_done(0, "0.warc.gz", "size:10")


def test_shard_files_without_a_manifest_are_not_ours_to_remove(tmp_path: Path) -> None:
    file = tmp_path / entry(tmp_path).file
    with pytest.raises(OutputError, match=r"no manifest\.json"):
        open_ledger(tmp_path)
    assert file.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda manifest: manifest.pop("options"),
        lambda manifest: manifest.pop("shards"),
        lambda manifest: manifest.update(shards=3),
        lambda manifest: manifest["shards"][0].update(number="x"),
        lambda manifest: manifest["shards"][0].update(counts=None),
        lambda manifest: manifest["shards"][0].update(file="../../elsewhere.parquet"),
        lambda manifest: manifest["shards"][0]["counts"].update(rows="many"),
    ],
)
def test_a_manifest_edited_into_nonsense_is_refused_with_a_way_out(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object]
) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.add(entry(tmp_path))
        ledger.save()
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    damage(manifest)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(OutputError, match=r"manifest\.json.*--overwrite"):
        open_ledger(tmp_path)


@pytest.mark.parametrize(("source", "fingerprint"), [("other.warc.gz", "size:10"), ("0.warc.gz", "size:11")])
def test_a_changed_source_is_refused(tmp_path: Path, source: str, fingerprint: str) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.add(entry(tmp_path))
        with pytest.raises(OutputError, match="--overwrite"):
            ledger.is_done(0, source, fingerprint)


def test_changed_options_are_refused_and_named(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.save()
    with pytest.raises(OutputError, match=r"extractor: \"main\" then, \"raw\" now"):
        open_ledger(tmp_path, extractor="raw")
    with Ledger.open(tmp_path, {**OPTIONS, "extractor": "raw"}, "1.0", overwrite=True) as ledger:
        assert ledger.shards == {}


def test_only_one_run_writes_at_a_time(tmp_path: Path) -> None:
    with open_ledger(tmp_path), pytest.raises(OutputError, match="another ccrawl run"):
        open_ledger(tmp_path)
    open_ledger(tmp_path).close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "other/1"}', b"\xff\xfe"])
def test_a_manifest_that_is_not_ours_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(OutputError, match=r"manifest\.json"):
        open_ledger(tmp_path)
    with Ledger.open(tmp_path, OPTIONS, "1.0", overwrite=True) as ledger:
        ledger.save()
    open_ledger(tmp_path).close()


def test_totals_of_the_manifest_are_the_sums_of_its_shards(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for number in range(3):
            ledger.add(entry(tmp_path, number))
        ledger.save()
    totals = json.loads((tmp_path / "manifest.json").read_text())["totals"]
    assert (totals["shards"], totals["records"], totals["rows"]) == (3, 9, 3)
    assert totals["skipped"] == {"status:404": 3}
    assert totals["file_bytes"] == 3 * len(b"parquet")


def test_counts_that_lose_a_record_are_a_bug() -> None:
    Counts(records=5, pages=4, rows=1, duplicates=1, empty=1, failed={"crash": 1}, skipped={"x": 1}).check()
    with pytest.raises(AssertionError):
        Counts(records=5, pages=4, rows=4).check()
    with pytest.raises(AssertionError):
        Counts(records=4, pages=4, rows=3).check()


numbers = st.integers(0, 10**9)
causes = st.dictionaries(st.sampled_from(["a", "b", "c"]), numbers)
some_counts = st.builds(
    Counts, **{f.name: causes if "dict" in str(f.type) else numbers for f in dataclasses.fields(Counts)}
)


@given(st.lists(some_counts, max_size=4), st.lists(some_counts, max_size=4))
def test_totals_add_up_however_the_shards_are_split(left: list[Counts], right: list[Counts]) -> None:
    assert Counts.total([*left, *right]) == Counts.total([Counts.total(left), Counts.total(right)])


def failure(shard: int) -> Failure:
    return Failure(
        kind="page", shard=shard, source=f"{shard}.warc", cause="crash", offset=7, record_id="<urn:x>"
    )


def test_failures_of_shards_that_are_done_again_go_first(tmp_path: Path) -> None:
    log = FailureLog(tmp_path, keep=())
    log.append([failure(0), failure(1)])
    log.append([failure(2)])
    with (tmp_path / "failures.jsonl").open("a") as file:
        file.write('{"kind": "page", "sh')  # cut by a power failure
    log = FailureLog(tmp_path, keep={0, 2})
    assert log.count == 2
    log.append([failure(1)])
    lines = [json.loads(line) for line in (tmp_path / "failures.jsonl").read_text().splitlines()]
    assert [line["shard"] for line in lines] == [0, 2, 1]
    assert lines[0] == dataclasses.asdict(failure(0))


def test_without_failures_there_is_no_file(tmp_path: Path) -> None:
    FailureLog(tmp_path, keep=()).append([])
    assert list(tmp_path.iterdir()) == []
