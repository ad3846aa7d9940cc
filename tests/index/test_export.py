"""Exports with an index, as a user runs them."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support import warcs
from support.commands import ccrawl, export

from ccrawl.index import Counts, DedupIndex, open_index

# Several commands a test, each a process of its own: slow on a machine that has other work.
pytestmark = pytest.mark.timeout(300)


def shard(path: Path, *numbers: int, host: str = "site.test", date: str = "2025-03-04T05:06:07Z") -> Path:
    """A WARC of pages, each at a URL of its own."""
    records = []
    for number in numbers:
        body = warcs.page(number)
        records.append(
            warcs.record(
                warcs.http(body),
                url=f"http://{host}/{number}",
                date=date,
                headers=[f"WARC-Payload-Digest: {warcs.sha1(body)}"],
            )
        )
    return warcs.write(path, records)


def urls(out: Path) -> list[str]:
    return [
        url
        for file in sorted((out / "data").rglob("*.parquet"))
        for url in pq.read_table(file, columns=["url"])["url"].to_pylist()
    ]


def hashes(out: Path) -> dict[str, str]:
    return {
        str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((out / "data").rglob("*.parquet"))
    }


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """An index in a folder, for what does not depend on the store."""
    return str(tmp_path / "index")


def test_pages_of_an_earlier_run_are_dropped_and_listed(tmp_path: Path, location: str) -> None:
    first = shard(tmp_path / "first.warc.gz", *range(6))
    second = shard(tmp_path / "second.warc.gz", 4, 5, 6, 7, 6, host="new.test", date="2025-05-06T07:08:09Z")
    export(first, "--out", tmp_path / "one", "--dedup-index", location, "--crawl", "ONE")
    listed = tmp_path / "duplicates.parquet"
    summary = export(
        second, "--out", tmp_path / "two", "--dedup-index", location, "--duplicates", listed, "--crawl", "TWO"
    )
    counts = summary["counts"]
    assert (counts["pages"], counts["rows"], counts["duplicates"], counts["duplicates_indexed"]) == (
        5,
        2,
        3,
        2,
    )
    assert urls(tmp_path / "two") == ["http://new.test/6", "http://new.test/7"]
    rows = pq.read_table(listed).to_pylist()
    assert [(row["url"], row["scope"], row["original_url"]) for row in rows] == [
        ("http://new.test/4", "index", "http://site.test/4"),
        ("http://new.test/5", "index", "http://site.test/5"),
        ("http://new.test/6", "shard", "http://new.test/6"),
    ]
    assert rows[0]["date"] == "2025-05-06T07:08:09+00:00"
    assert rows[0]["original_date"] == "2025-03-04T05:06:07+00:00"
    assert rows[0]["original_run"].startswith("ONE-")
    assert rows[2]["original_run"] == summary["index"]["run"]
    assert rows[0]["record_id"].startswith("<urn:uuid:")
    assert (rows[0]["source"], rows[0]["offset"]) == ("second.warc.gz", 0)
    with open_index(location) as index:
        assert index.verify() == []
        stats = index.stats()
        assert (stats.unique, stats.counts.total, stats.counts.duplicates) == (8, 11, 3)
        assert stats.counts.conserved == counts["duplicate_bytes"] > 0


def test_the_result_depends_neither_on_workers_nor_on_runs_in_progress(tmp_path: Path, location: str) -> None:
    shards = [shard(tmp_path / "in" / f"{n}.warc.gz", *range(3 * n, 3 * n + 8)) for n in range(4)]
    export(shard(tmp_path / "old.warc.gz", 2, 9), "--out", tmp_path / "old", "--dedup-index", location)
    results, entries = [], []
    for workers in (1, 3):
        out = tmp_path / f"out-{workers}"
        summary = export(
            *shards, "--out", out, "--dedup-index", location, "--no-commit", "--workers", workers
        )
        assert not summary["index"]["committed"]
        results.append(hashes(out))
        entries.append([file.read_bytes() for file in sorted((out / "index").glob("*.arrow"))])
    assert results[0] == results[1]
    assert entries[0] == entries[1]
    assert sorted(Counter(urls(tmp_path / "out-1")).items())[0] == ("http://site.test/0", 1)
    assert "http://site.test/9" not in urls(tmp_path / "out-1")


def test_a_run_left_uncommitted_counts_from_its_commit_on(tmp_path: Path, location: str) -> None:
    source = shard(tmp_path / "a.warc.gz", 1, 2)
    summary = export(source, "--out", tmp_path / "one", "--dedup-index", location, "--no-commit")
    run = summary["index"]["run"]
    again = ["--out", tmp_path / "two", "--dedup-index", location, "--no-commit"]
    assert export(source, *again)["counts"]["duplicates"] == 0
    done = ccrawl("index", "list", "-i", location)
    assert f"{run}  staged  2 captures" in done.stdout
    assert ccrawl("index", "commit", run, "-i", location).returncode == 0
    assert export(source, "--out", tmp_path / "three", "--dedup-index", location)["counts"]["duplicates"] == 2
    # Its own command again knows that it is committed, and has nothing to do.
    assert export(source, "--out", tmp_path / "one", "--dedup-index", location)["index"]["committed"]
    with open_index(location) as index:
        assert index.stats().counts.total == 4
        assert index.verify() == []


def test_a_cancelled_run_can_not_be_gone_on_with(tmp_path: Path, folder: str) -> None:
    source = shard(tmp_path / "a.warc.gz", 1, 2)
    command = [source, "--out", tmp_path / "out", "--dedup-index", folder]
    run = export(*command, "--no-commit")["index"]["run"]
    assert ccrawl("index", "cancel", run, "-i", folder).returncode == 0
    done = ccrawl("export", *command)
    assert done.returncode == 1
    assert "was cancelled" in done.stderr
    assert export(*command, "--overwrite")["index"]["committed"]


def test_a_committed_dataset_is_not_made_over_against_itself(tmp_path: Path, folder: str) -> None:
    source = shard(tmp_path / "a.warc.gz", 1, 2)
    command = [source, "--out", tmp_path / "out", "--dedup-index", folder]
    run = export(*command)["index"]["run"]
    refused = ccrawl("export", *command, "--overwrite")
    assert refused.returncode == 1
    assert f"ccrawl index remove {run}" in refused.stderr
    [file] = (tmp_path / "out" / "data").rglob("*.parquet")
    file.unlink()
    refused = ccrawl("export", *command)
    assert refused.returncode == 1
    assert f"ccrawl index remove {run}" in refused.stderr
    assert ccrawl("index", "remove", run, "-i", folder).returncode == 0
    assert export(*command, "--overwrite")["counts"]["rows"] == 2


def test_more_sources_are_another_run(tmp_path: Path, folder: str) -> None:
    one = shard(tmp_path / "in" / "1.warc.gz", 1, 2)
    command = ["--out", tmp_path / "out", "--dedup-index", folder]
    first = export(one, *command)["index"]["run"]
    two = shard(tmp_path / "in" / "2.warc.gz", 2, 3, host="later.test")
    summary = export(one, two, *command)
    assert summary["index"]["run"] != first
    assert urls(tmp_path / "out") == ["http://site.test/1", "http://site.test/2", "http://later.test/3"]
    with open_index(folder) as index:
        assert (index.stats().crawls, index.stats().counts.total) == (2, 4)
        assert index.verify() == []


def test_a_failed_shard_keeps_the_run_open_until_it_is_done(tmp_path: Path, folder: str) -> None:
    good = shard(tmp_path / "in" / "a.warc.gz", 1)
    bad = tmp_path / "in" / "b.warc.gz"
    bad.write_bytes(random.Random(1).randbytes(3000))
    command = [good, bad, "--out", tmp_path / "out", "--dedup-index", folder]
    assert not export(*command, code=3)["index"]["committed"]
    shard(bad, 2)
    assert export(*command)["index"]["committed"]
    with open_index(folder) as index:
        assert (index.stats().crawls, index.stats().unique) == (1, 2)


def test_only_rows_are_given_to_the_index(tmp_path: Path, folder: str) -> None:
    """A page without text, or in another language, is tried again by a later run."""
    german = ("<html><body><main><p>" + "Die Fähre fährt im Sommer jede Stunde zur Insel. " * 9).encode()
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [
            warcs.response(1),
            warcs.response(2, body=german),
            warcs.response(3, body=b"<html><body></body></html>"),
        ],
    )
    export(source, "--out", tmp_path / "one", "--dedup-index", folder, "--lang", "en")
    later = export(source, "--out", tmp_path / "two", "--dedup-index", folder)
    assert later["counts"]["languages"] == {"deu": 1}
    assert (later["counts"]["duplicates"], later["counts"]["empty"]) == (1, 1)


def test_small_pages_are_never_duplicates(tmp_path: Path, folder: str) -> None:
    size = len(warcs.page(1))
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [warcs.response(1, url=f"http://site.test/{n}", body=warcs.page(1)) for n in range(2)],
    )
    for least, dropped in ((size + 1, 0), (size, 1)):
        for flag in (["--dedup-digest"], ["--dedup-index", folder, "--no-commit"]):
            out = tmp_path / f"out-{least}-{len(flag)}"
            summary = export(source, "--out", out, *flag, "--dedup-min-bytes", least)
            assert summary["counts"]["duplicates"] == dropped


def test_records_without_or_with_other_digests_are_found_too(tmp_path: Path, location: str) -> None:
    body = warcs.page(1)
    md5 = f"WARC-Payload-Digest: md5:{hashlib.md5(body).hexdigest()}"
    for name, headers in (
        ("none", []),
        ("md5", [md5]),
        ("sha1", [f"WARC-Payload-Digest: {warcs.sha1(body)}"]),
    ):
        warcs.write(
            tmp_path / f"{name}.warc.gz",
            [warcs.record(warcs.http(body), url=f"http://{name}.test/", headers=headers)],
        )
    dropped = [
        export(tmp_path / f"{name}.warc.gz", "--out", tmp_path / name, "--dedup-index", location)["counts"][
            "duplicates"
        ]
        for name in ("none", "md5", "sha1")
    ]
    assert dropped == [0, 1, 1]


def test_sha256_of_an_imported_crawl_is_found_by_a_run_on_sha1_records(tmp_path: Path, location: str) -> None:
    from ccrawl.index.importer import import_sources

    from .test_import import cdxj, line

    digest = hashlib.sha256(warcs.page(1)).hexdigest()
    with open_index(location) as index:
        import_sources(index, [str(cdxj(tmp_path / "a.cdxj", [line(1, digest=digest)]))])
    source = shard(tmp_path / "b.warc.gz", 1, 2)
    assert export(source, "--out", tmp_path / "out", "--dedup-index", location)["counts"]["duplicates"] == 1


def test_a_finished_dataset_imported_is_as_good_as_its_run(tmp_path: Path) -> None:
    source = shard(tmp_path / "a.warc.gz", 1, 2, 3)
    export(source, "--out", tmp_path / "plain")
    location = tmp_path / "index"
    for known in (0, 1):
        done = ccrawl("index", "import", tmp_path / "plain", "-i", location, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["known"] == known
    summary = export(source, "--out", tmp_path / "out", "--dedup-index", location)
    assert (summary["counts"]["duplicates"], summary["counts"]["rows"]) == (3, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "redis"])
def test_killed_at_any_moment_the_run_is_committed_once_with_the_same_bytes(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    shards = [shard(tmp_path / "in" / f"{n}.warc.gz", *range(100 * n, 100 * n + 150)) for n in range(3)]
    location = request.getfixturevalue("redis_url") if kind == "redis" else str(tmp_path / "index")

    def prepared() -> None:
        with open_index(location) as index:
            index.begin("old")
            index.stage("old", [], Counts())
            index.commit("old")

    def finished(index: DedupIndex) -> tuple[int, Counts]:
        assert index.verify() == []
        return index.stats().unique, index.stats().counts

    prepared()
    command = [sys.executable, "-m", "ccrawl", "export", *map(str, shards), "-q", "-j", "2", "--out"]
    whole = [*command, str(tmp_path / "whole"), "--dedup-index", str(tmp_path / "other")]
    subprocess.run(whole, check=True, capture_output=True)
    out = tmp_path / "out"
    moments = random.Random(kind)
    for _ in range(4):
        running = subprocess.Popen(
            [*command, str(out), "--dedup-index", location],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(moments.uniform(0.5, 3.0))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    done = subprocess.run([*command, str(out), "--dedup-index", location], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert hashes(out) == hashes(tmp_path / "whole")
    with open_index(location) as index, open_index(str(tmp_path / "other")) as other:
        unique, counts = finished(index)
        assert (unique, counts.total, counts.duplicates) == (350, 450, 0)
        assert (unique, counts) == finished(other)
        assert [crawl.state for crawl in index.crawls()] == ["committed", "committed"]


def test_wrong_usage_is_one_clear_line(tmp_path: Path) -> None:
    source = shard(tmp_path / "a.warc.gz", 1)
    export(source, "--out", tmp_path / "made", "--dedup-index", tmp_path / "index", "--no-commit")
    other = ["export", source, "--out", tmp_path / "made", "--dedup-index", tmp_path / "other"]
    for arguments, code, says in (
        (["export", source, "--out", tmp_path / "out", "--no-commit"], 2, "--dedup-index"),
        (["export", source, "--out", tmp_path / "out", "--duplicates", "d.parquet"], 2, "--dedup-digest"),
        (["export", source, "--out", tmp_path / "out", "--dedup-index", "mongodb://x/"], 2, "redis://"),
        (
            ["export", source, "--out", tmp_path / "out", "--dedup-index", "redis://127.0.0.1:1"],
            1,
            "redis://127.0.0.1:1: the server can't be reached (Connection refused); check host",
        ),
        (other, 1, "begun with the index"),
        (["index", "commit", "nothing", "-i", tmp_path / "index"], 2, "no finished run nothing"),
        (["index", "cancel", "nothing", "-i", tmp_path / "index"], 2, "no open run nothing"),
        (["index", "remove", "nothing", "-i", tmp_path / "index"], 2, "no committed crawl nothing"),
        (["index", "list", "-i", tmp_path / "nowhere"], 2, "no dedupe index"),
        (["index", "list"], 2, "say which index"),
        (["index", "import", source, "-i", tmp_path / "index", "--status", "2xx"], 2, "--status"),
    ):
        done = ccrawl(*arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert says in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


def test_index_commands_print_results_to_stdout(tmp_path: Path) -> None:
    index = tmp_path / "index"
    source = shard(tmp_path / "a.warc.gz", 1, 2, 1)
    run = export(source, "--out", tmp_path / "out", "--dedup-index", index)["index"]["run"]
    assert ccrawl("index", "list", "-i", index).stdout.startswith(
        f"{run}  committed  3 captures, 1 duplicate"
    )
    assert json.loads(ccrawl("index", "list", index, "--json").stdout)[0]["id"] == run
    stats = json.loads(ccrawl("index", "stats", "-i", index, "--json").stdout)
    assert (stats["unique"], stats["counts"]["total"], stats["counts"]["duplicates"]) == (2, 3, 1)
    assert "unique      2" in ccrawl("index", "stats", index).stdout
    assert ccrawl("index", "verify", "-i", index).stdout == "1 crawl: everything adds up\n"
    assert ccrawl("index", "compact", "-i", index).returncode == 0
    imported = ccrawl("index", "import", source, "-i", index, "-j", "2")
    assert "1 package taken in: 3 records" in imported.stdout
    assert "a.warc.gz" in imported.stderr
