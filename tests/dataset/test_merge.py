"""Merging: one dataset as one export would have made it, or a refusal that changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import datasets, warcs

import ccrawl
from ccrawl.dataset.manifest import read_manifest
from ccrawl.dataset.merge import merge
from ccrawl.dataset.verify import verify
from ccrawl.errors import OutputError, UsageError
from ccrawl.run.options import ExportOptions


def rows(shard: int) -> list[Any]:
    return [datasets.row(10 * shard + n, source=f"{shard}.warc.gz") for n in range(3)]


def part(folder: Path, *shards: int, options: ExportOptions | None = None, numbered: bool = False) -> Path:
    return datasets.write(
        folder,
        {f"{shard}.warc.gz": rows(shard) for shard in shards},
        options=options,
        numbers=shards if numbered else None,
    )


def without_times(out: Path) -> Any:
    values = json.loads((out / "manifest.json").read_text())
    for shard in values["shards"]:
        del shard["seconds"], shard["cpu_seconds"]
    return values


def parquet(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.parquet"))}


@pytest.mark.parametrize("link", [False, True])
def test_two_exports_merged_are_one_export_of_all_sources(tmp_path: Path, link: bool) -> None:
    for shard in range(4):
        records = [*(warcs.response(10 * shard + n) for n in range(3)), b"not a record" * shard]
        warcs.write(tmp_path / f"crawl/{shard}.warc", records)
    sources = sorted((tmp_path / "crawl").iterdir())
    ccrawl.export(sources, tmp_path / "all", workers=1)
    ccrawl.export([sources[2], sources[0]], tmp_path / "even", workers=1)
    ccrawl.export([sources[1], sources[3]], tmp_path / "odd", workers=1)
    before = parquet(tmp_path / "even")
    report = merge([tmp_path / "odd", tmp_path / "even"], tmp_path / "merged", link=link)
    assert (report.shards, report.renumbered, report.same) == (4, True, 0)
    assert parquet(tmp_path / "merged") == parquet(tmp_path / "all")
    assert without_times(tmp_path / "merged") == without_times(tmp_path / "all")
    failures = [(tmp_path / name / "failures.jsonl").read_text() for name in ("merged", "all")]
    assert failures[0] == failures[1]
    assert parquet(tmp_path / "even") == before
    assert verify(tmp_path / "merged", sources=[tmp_path / "crawl"]).ok
    # The merged folder goes on as any other: nothing is left to do.
    again = ccrawl.export(sources, tmp_path / "merged", workers=1)
    assert again.skipped_shards == 4


def test_numbers_that_do_not_meet_are_kept(tmp_path: Path) -> None:
    parts = [part(tmp_path / "a", 0, 7, numbered=True), part(tmp_path / "b", 3, 9, numbered=True)]
    report = merge(parts, tmp_path / "out")
    assert not report.renumbered
    assert [shard.number for shard in read_manifest(tmp_path / "out").shards] == [0, 3, 7, 9]


def test_a_shard_that_both_hold_is_taken_once_when_it_is_the_same(tmp_path: Path) -> None:
    parts = [part(tmp_path / "a", 0, 1, numbered=True), part(tmp_path / "b", 1, 2, numbered=True)]
    report = merge(parts, tmp_path / "out")
    assert (report.shards, report.rows, report.same) == (3, 9, 1)
    assert verify(tmp_path / "out").ok


def refused(parts: list[Path], out: Path, told: str) -> None:
    with pytest.raises(OutputError, match=told):
        merge(parts, out)
    assert not (out / "manifest.json").exists()
    assert not list(out.rglob("*.parquet"))


def test_the_same_source_with_other_bytes_is_refused(tmp_path: Path) -> None:
    other = datasets.write(tmp_path / "b", {"0.warc.gz": rows(0)[:2]})
    refused([part(tmp_path / "a", 0), other], tmp_path / "out", "both made from it, and differ")


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    other = part(tmp_path / "b", 1, options=ExportOptions(extractor="raw"))
    refused([part(tmp_path / "a", 0), other], tmp_path / "out", 'extractor "raw", .* with "main"')


def test_another_version_is_refused(tmp_path: Path) -> None:
    other = part(tmp_path / "b", 1)
    datasets.edit_manifest(other, lambda values: values.update(ccrawl="9.9"))
    refused([part(tmp_path / "a", 0), other], tmp_path / "out", r"made by ccrawl 9\.9")


def test_a_file_that_is_not_what_its_manifest_says_is_refused(tmp_path: Path) -> None:
    other = part(tmp_path / "b", 1)
    (file,) = other.rglob("*.parquet")
    content = file.read_bytes()
    file.write_bytes(content[:-9] + b"x" + content[-8:])
    for link in (False, True):
        with pytest.raises(OutputError, match="not what its manifest says"):
            merge([part(tmp_path / "a", 0), other], tmp_path / "out", link=link)
        assert not (tmp_path / "out/manifest.json").exists()
        assert not list((tmp_path / "out").rglob("*.tmp"))
    # Once it is mended, the same command finishes.
    file.write_bytes(content)
    merge([tmp_path / "a", other], tmp_path / "out")
    assert verify(tmp_path / "out").ok


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    parts = [part(tmp_path / "a", 0), part(tmp_path / "b", 1)]
    other = part(tmp_path / "other", 5)
    before = parquet(other)
    with pytest.raises(OutputError, match="already holds another dataset"):
        merge(parts, other)
    (other / "manifest.json").unlink()
    with pytest.raises(OutputError, match="there already with other bytes"):
        merge(parts, other)
    elsewhere = [part(tmp_path / crawl, 8, options=ExportOptions(crawl=crawl)) for crawl in ("X", "Y")]
    with pytest.raises(OutputError, match="belongs to no dataset"):
        merge(elsewhere, other)
    assert parquet(other) == before
    with pytest.raises(UsageError, match="one of the datasets"):
        merge(parts, parts[0])
    with pytest.raises(UsageError, match="two datasets"):
        merge([parts[0], parts[0]], tmp_path / "out")


def test_a_merge_done_twice_changes_nothing(tmp_path: Path) -> None:
    parts = [part(tmp_path / "a", 0), part(tmp_path / "b", 1)]
    merge(parts, tmp_path / "out")
    before = {path: path.stat().st_ino for path in (tmp_path / "out").rglob("*.parquet")}
    manifest = (tmp_path / "out/manifest.json").read_bytes()
    merge(list(reversed(parts)), tmp_path / "out")  # order does not matter
    assert {path: path.stat().st_ino for path in (tmp_path / "out").rglob("*.parquet")} == before
    assert (tmp_path / "out/manifest.json").read_bytes() == manifest


def test_crawls_stay_apart_in_their_partitions(tmp_path: Path) -> None:
    parts = [
        part(tmp_path / crawl, 0, 1, options=replace(ExportOptions(), crawl=crawl))
        for crawl in ("B-2", "A-1")
    ]
    report = merge(parts, tmp_path / "out")
    assert not report.renumbered
    assert sorted(parquet(tmp_path / "out")) == [
        f"data/crawl={crawl}/00000{n}.parquet" for crawl in ("A-1", "B-2") for n in (0, 1)
    ]
    manifest = read_manifest(tmp_path / "out")
    assert manifest.options["crawl"] == ["A-1", "B-2"]
    assert manifest.counts.rows == 12
    report_of_all = verify(tmp_path / "out")
    assert report_of_all.ok, report_of_all.faults
    # And a third joins later.
    third = part(tmp_path / "C", 0, options=ExportOptions(crawl="C-3"))
    merge([tmp_path / "out", third], tmp_path / "more")
    assert read_manifest(tmp_path / "more").crawls == ("A-1", "B-2", "C-3")


def test_a_shard_that_failed_on_one_machine_is_done_when_another_made_it(tmp_path: Path) -> None:
    a, b = part(tmp_path / "a", 0), part(tmp_path / "b", 1)
    failures = [
        {"number": 1, "source": "1.warc.gz", "error": "1.warc.gz: lost"},
        {"number": 2, "source": "2.warc.gz", "error": "2.warc.gz: lost"},
    ]
    datasets.edit_manifest(a, lambda values: values.update(failed_shards=failures))
    report = merge([a, b], tmp_path / "out")
    assert [failed.source for failed in report.failed_shards] == ["2.warc.gz"]
    assert [failed.source for failed in read_manifest(tmp_path / "out").failed] == ["2.warc.gz"]


def test_the_command_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ccrawl.cli.merge import command

    parts = [part(tmp_path / "a", 0), part(tmp_path / "b", 1)]
    assert command(parts, tmp_path / "out") == 0
    assert "2 datasets" in capsys.readouterr().out
    assert command(parts, tmp_path / "out", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 6
