"""The main job as a user runs it: the command line, real processes, real readers."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import warcs
from support.commands import ccrawl, export


def rows(out: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return [
        row for file in sorted((out / "data").rglob("*.parquet")) for row in pq.read_table(file).to_pylist()
    ]


def hashes(out: Path) -> dict[str, str]:
    return {
        str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((out / "data").rglob("*.parquet"))
    }


def shards(folder: Path, number: int, pages: int) -> list[Path]:
    return [
        warcs.write(
            folder / f"shard-{shard:02d}.warc.gz",
            [warcs.response(1000 * shard + page) for page in range(pages)],
        )
        for shard in range(number)
    ]


def test_every_record_becomes_a_row_or_a_counted_drop(tmp_path: Path) -> None:
    page = warcs.page(1)
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [
            warcs.record(b"software: by hand\r\n", kind="warcinfo"),
            warcs.record(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
            warcs.response(1, body=page),
            warcs.response(2),
            warcs.record(warcs.http(b"gone", status="404 Not Found"), url="http://site.test/gone"),
            warcs.record(
                warcs.http(b"%PDF-1.4 ...", content_type="application/pdf"), url="http://site.test/p"
            ),
            warcs.record(warcs.http(b"<html><body></body></html>"), url="http://site.test/empty"),
            warcs.response(3, url="http://other.test/copy", body=page),
        ],
    )
    summary = export(source, "--out", tmp_path / "out", "--dedup-digest")
    counts = summary["counts"]
    assert counts["records"] == 8
    assert counts["pages"] == 4
    assert counts["rows"] == 2
    assert (counts["duplicates"], counts["duplicates_with_row"], counts["empty"]) == (1, 1, 1)
    assert sum(counts["skipped"].values()) == 4
    assert [row["url"] for row in rows(tmp_path / "out")] == ["http://site.test/1", "http://site.test/2"]


def test_a_row_says_where_it_came_from(tmp_path: Path) -> None:
    records = [warcs.response(number) for number in range(3)]
    source = warcs.write(tmp_path / "a.warc.gz", records)
    export(source, "--out", tmp_path / "out")

    data = source.read_bytes()
    for number, row in enumerate(rows(tmp_path / "out")):
        assert row["doc_id"] == hashlib.sha256(row["url"].encode()).hexdigest()[:32]
        assert row["host"] == "site.test"
        assert row["crawl_date"] == "2025-03-04"
        assert row["warc_filename"] == "a.warc.gz"
        member = gzip.GzipFile(fileobj=__import__("io").BytesIO(data[row["warc_record_offset"] :])).read(
            len(records[number])
        )
        assert member == records[number]
        assert row["html_length"] == len(warcs.page(number))
        assert row["payload_digest"] == warcs.sha1(warcs.page(number))
        assert row["markdown_length"] == len(row["markdown"].encode())
        assert f"This is text number {number}." in row["markdown"]
        assert "All pages" not in row["markdown"]  # navigation
        assert row["language"] == "eng"
        assert row["title"] == f"Page {number}"
        assert row["extractor"].startswith("main@")
        assert row["simhash"] > 0


def test_bytes_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one = shards(tmp_path / "one", 1, 90)
    many = shards(tmp_path / "many", 3, 40)
    for sources in (one, many):
        outputs = []
        for workers in (1, 2, 3):
            out = tmp_path / f"out-{len(sources)}-{workers}"
            export(*sources, "--out", out, "--workers", workers)
            outputs.append(hashes(out))
        assert outputs[0] == outputs[1] == outputs[2]
        assert len(outputs[0]) == len(sources)


def test_readers_of_the_field_open_the_dataset(tmp_path: Path) -> None:
    export(*shards(tmp_path, 2, 5), "--out", tmp_path / "out", "--crawl", "TEST-2025-10")
    import datasets
    import duckdb
    import pyarrow.dataset

    files = str(tmp_path / "out" / "data" / "**" / "*.parquet")
    counted = duckdb.sql(
        f"select crawl, count(*), max(simhash) from read_parquet('{files}') group by crawl"
    ).fetchall()
    ours = rows(tmp_path / "out")
    assert counted == [("TEST-2025-10", 10, max(row["simhash"] for row in ours))]
    table = pyarrow.dataset.dataset(tmp_path / "out" / "data", partitioning="hive").to_table()
    assert table.num_rows == 10
    loaded = datasets.load_dataset(
        "parquet", data_files=files, split="train", cache_dir=str(tmp_path / "cache"), streaming=True
    )
    assert [row["url"] for row in loaded] == [row["url"] for row in ours]


def test_a_second_run_leaves_finished_shards_alone(tmp_path: Path) -> None:
    sources = shards(tmp_path / "in", 3, 4)
    out = tmp_path / "out"
    export(*sources, "--out", out)
    before = {file: file.stat().st_mtime_ns for file in (out / "data").rglob("*.parquet")}
    damaged, *intact = sorted(before)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    done = ccrawl("export", *sources, "--out", out)
    assert done.returncode == 0
    assert "2 shards finished by an earlier run" in done.stderr
    assert all(file.stat().st_mtime_ns == before[file] for file in intact)
    assert damaged.stat().st_mtime_ns != before[damaged]
    assert len(rows(out)) == 12


def test_changed_options_and_sources_are_refused(tmp_path: Path) -> None:
    sources = shards(tmp_path / "in", 2, 2)
    out = tmp_path / "out"
    export(*sources, "--out", out)
    for changed in ([*sources, "--limit", 1], [sources[0]], [sources[1], sources[0], "--extractor", "raw"]):
        done = ccrawl("export", *changed, "--out", out)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "--overwrite" in done.stderr
    assert export(*sources, "--out", out, "--limit", 1, "--overwrite")["counts"]["rows"] == 2


def test_overwriting_leaves_no_file_of_the_former_dataset(tmp_path: Path) -> None:
    sources = shards(tmp_path / "in", 3, 2)
    out = tmp_path / "out"
    export(*sources, "--out", out, "--crawl", "OLD")
    (out / "data" / "notes.txt").write_text("mine")
    export(sources[0], "--out", out, "--crawl", "NEW", "--overwrite")
    left = sorted(str(path.relative_to(out)) for path in (out / "data").rglob("*") if path.is_file())
    assert left == ["data/crawl=NEW/000000.parquet", "data/notes.txt"]


@pytest.mark.parametrize("scope", ["run", "group"])
def test_killed_at_any_moment_the_same_command_finishes_to_the_same_bytes(tmp_path: Path, scope: str) -> None:
    sources = shards(tmp_path / "in", 4, 150)
    command = [sys.executable, "-m", "ccrawl", "export", *map(str, sources), "-q", "-j", "2", "--out"]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, capture_output=True)
    out = tmp_path / "out"
    moments = random.Random(scope)
    for _ in range(4):
        running = subprocess.Popen(
            [*command, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(moments.uniform(0.1, 1.6))
        (os.killpg if scope == "group" else os.kill)(running.pid, signal.SIGKILL)
        running.wait()
        assert all(is_parquet(file) for file in out.rglob("*.parquet"))
    if scope == "run":  # workers notice that they are orphans, and end
        deadline = time.monotonic() + 10
        while workers_of(out) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not workers_of(out)
    done = subprocess.run([*command, str(out)], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert hashes(out) == hashes(tmp_path / "whole")
    leftovers = [path.name for path in out.rglob("*") if path.name.startswith(".") and path.name != ".lock"]
    assert leftovers == []


def is_parquet(path: Path) -> bool:
    import pyarrow.parquet as pq

    return pq.read_metadata(path).num_rows >= 0 if not path.name.startswith(".") else True


def workers_of(out: Path) -> list[int]:
    """Processes that have a file of `out` open."""
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            if any(str(out) in file.path for file in process.open_files()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_ctrl_c_ends_everything_and_says_how_to_go_on(tmp_path: Path) -> None:
    sources = shards(tmp_path / "in", 4, 300)
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "ccrawl", "export", *map(str, sources), "-j", "2", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr is not None
    assert "4 shards to do" in running.stderr.readline()
    time.sleep(0.7)
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=10)
    assert running.returncode == 130
    assert "the same command again goes on" in errors
    assert "Traceback" not in errors
    assert not list(out.rglob("*.tmp"))
    deadline = time.monotonic() + 5
    while alive_in_group(running.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive_in_group(running.pid) == []


def alive_in_group(group: int) -> list[int]:
    """Processes of a group that have not ended; those that only wait to be reaped have."""
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.Error, ProcessLookupError):
            continue
    return found


HOSTILE = """
import os, sys, time
import ccrawl
from ccrawl.html import extractors
from ccrawl.run.options import ExportOptions

def hostile(page, options):
    url = page.url
    if url.endswith("/abort"):
        os.abort()
    if url.endswith("/sleep"):
        time.sleep(3600)
    if url.endswith("/swallow"):
        while True:
            try:
                time.sleep(3600)
            except Exception:
                pass
    if url.endswith("/loop-in-c"):
        sum(range(10**12))
    if url.endswith("/memory"):
        hoard = [bytearray(64 << 20) for _ in range(1000)]
    if url.endswith("/kill"):
        os.kill(os.getpid(), 9)
    if url.endswith("/raise"):
        raise ValueError("no luck")
    return extractors.EXTRACTORS["raw"].extract(page, options)

extractors.EXTRACTORS["hostile"] = extractors.Extractor("hostile", "1", hostile)

if __name__ == "__main__":
    report = ccrawl.export(
        sys.argv[3:], sys.argv[1], workers=int(sys.argv[2]),
        options=ExportOptions(extractor="hostile", page_timeout=2.0, worker_memory=512 << 20),
    )
    print(report.counts.rows, dict(report.counts.failed), len(report.failed_shards))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_pages_that_crash_hang_or_eat_their_worker_cost_only_themselves(tmp_path: Path, workers: int) -> None:
    names = ["abort", "sleep", "swallow", "loop-in-c", "memory", "kill", "raise"]
    records = [warcs.response(number) for number in range(40)]
    for place, name in enumerate(names):
        records.insert(5 * place + 3, warcs.response(100 + place, url=f"http://site.test/{name}"))
    bad = warcs.write(tmp_path / "in" / "bad.warc.gz", records)
    good = shards(tmp_path / "in", 2, 20)
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE)
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, str(script), str(out), str(workers), str(bad), *map(str, good)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    failed = {"crash": 1, "error": 1, "memory": 2, "timeout": 3}
    assert done.stdout.strip() == f"{40 + 2 * 20} {failed} 0"
    lines = [json.loads(line) for line in (out / "failures.jsonl").read_text().splitlines()]
    assert sorted(line["url"].rpartition("/")[2] for line in lines) == sorted(names)
    assert all(line["offset"] > 0 and line["record_id"].startswith("<urn:uuid:") for line in lines)


def test_a_shard_that_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    sources = shards(tmp_path / "in", 2, 3)
    broken = tmp_path / "in" / "broken.warc.gz"
    broken.write_bytes(random.Random(3).randbytes(5000))
    summary = export(*sources, broken, "--out", tmp_path / "out", code=3)
    assert summary["counts"]["rows"] == 6
    assert not summary["complete"]


def test_damage_is_reported_with_its_offset_and_costs_no_other_record(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(number) for number in range(6)])
    data = bytearray(source.read_bytes())
    starts = [row["warc_record_offset"] for row in exported_rows(tmp_path / "whole", source)]
    data[starts[2] + 40 : starts[2] + 60] = b"\x55" * 20
    source.write_bytes(data[:-200])  # and the last record is cut
    summary = export(source, "--out", tmp_path / "out", code=3)
    assert [row["warc_record_offset"] for row in rows(tmp_path / "out")] == [starts[i] for i in (0, 1, 3, 4)]
    assert sum(summary["counts"]["damage"].values()) == 2
    lines = [json.loads(line) for line in (tmp_path / "out" / "failures.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["offset"]) for line in lines] == [
        ("record", starts[2]),
        ("record", starts[5]),
    ]


def exported_rows(out: Path, *arguments: object) -> list[dict[str, Any]]:
    export(*arguments, "--out", out)
    return rows(out)


def test_limit_counts_pages_of_each_shard(tmp_path: Path) -> None:
    summary = export(*shards(tmp_path / "in", 2, 10), "--out", tmp_path / "out", "--limit", 4)
    assert (summary["counts"]["pages"], summary["counts"]["rows"]) == (8, 8)


def test_languages_are_filtered_and_counted(tmp_path: Path) -> None:
    german = (
        "<html><body><main><h1>Der Hafen</h1><p>" + "Die Fähre fährt im Sommer jede Stunde zur Insel. " * 5
    )
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [warcs.response(1), warcs.response(2, body=german.encode()), warcs.response(3)],
    )
    summary = export(source, "--out", tmp_path / "out", "--lang", "de")
    assert summary["counts"]["languages"] == {"deu": 1}
    assert summary["counts"]["other_language"] == 2
    assert [row["language"] for row in rows(tmp_path / "out")] == ["deu"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nowhere.warc.gz"], 2, "nowhere.warc.gz: no such file"),
        (["--extractor", "magic"], 2, "main, raw, markdownify"),
        (["--lang", "xx"], 2, "xx"),
        (["--max-page-bytes", "many"], 2, "many"),
        (["--crawl", "../x"], 2, "../x"),
        (["--workers", "0"], 2, "workers"),
        (["--no-such-flag"], 2, "no-such-flag"),
    ],
)
def test_wrong_usage_is_one_clear_line(tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(1)])
    if not arguments[0].startswith("nowhere"):
        arguments = [str(source), *arguments]
    done = ccrawl("export", *arguments, "--out", tmp_path / "out")
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_results_go_to_stdout_and_all_else_to_stderr(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(1)])
    done = ccrawl("export", source, "--out", tmp_path / "out")
    assert done.stdout.startswith("shards")
    assert "1 shard to do" in done.stderr
    events = ccrawl("export", source, "--out", tmp_path / "out2", "--json").stderr.splitlines()
    assert [json.loads(line)["event"] for line in events][:: len(events) - 1] == ["RunStarted", "ShardDone"]


def test_a_full_disk_is_a_clear_error_and_leaves_no_half_file(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(small)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("no tmpfs can be mounted here")
    try:
        noise = random.Random(9)
        text = lambda: " ".join(f"w{noise.randrange(10**6)}" for _ in range(3000))  # noqa: E731
        records = [
            warcs.response(i, body=f"<html><body><main><p>{text()}</p></main></body></html>".encode())
            for i in range(60)
        ]
        source = warcs.write(tmp_path / "a.warc.gz", records)
        done = ccrawl("export", source, "--out", small / "out")
        assert done.returncode == 1
        assert "can't be written (No space left on device)" in done.stderr
        assert "Traceback" not in done.stderr
        assert not [path for path in small.rglob("*") if path.suffix in (".parquet", ".tmp")]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_shards_of_a_crawl_are_read_from_a_mirror_and_keep_their_numbers(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    names = [f"crawl-data/CC-MAIN-2025-08/segments/1/warc/{i}.warc.gz" for i in range(4)]
    for i, name in enumerate(names):
        warcs.write(mirror / name, [warcs.response(10 * i)])
    (mirror / "crawl-data/CC-MAIN-2025-08/warc.paths.gz").write_bytes(
        gzip.compress("\n".join(names).encode())
    )
    asked = ["--crawl", "CC-MAIN-2025-08", "--base-url", mirror, "--out", tmp_path / "out"]
    export("--shards", "1,3", *asked)
    assert [row["warc_filename"] for row in rows(tmp_path / "out")] == [names[1], names[3]]
    files = sorted(str(file.relative_to(tmp_path / "out")) for file in (tmp_path / "out").rglob("*.parquet"))
    assert files == [f"data/crawl=CC-MAIN-2025-08/{number:06d}.parquet" for number in (1, 3)]
    assert export("--shards", "0-1", *asked)["counts"]["rows"] == 3  # the dataset grows
    beyond = ccrawl("export", "--shards", "4", *asked)
    assert beyond.returncode == 2
    assert "there is no shard 4" in beyond.stderr


def test_single_records_are_read_by_their_location(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(number) for number in range(5)])
    offsets = [row["warc_record_offset"] for row in exported_rows(tmp_path / "whole", source)]
    ends = [*offsets[1:], source.stat().st_size]
    lines = [
        json.dumps(
            {"filename": "a.warc.gz", "offset": offsets[i], "length": ends[i] - offsets[i], "url": "x"}
        )
        for i in (3, 1)
    ]
    (tmp_path / "locations.jsonl").write_text("\n".join(lines))
    out = tmp_path / "out"
    export("--locations", tmp_path / "locations.jsonl", "--base-url", tmp_path, "--out", out)
    assert [row["warc_record_offset"] for row in rows(out)] == [offsets[1], offsets[3]]


def test_wet_text_is_passed_through_with_its_language(tmp_path: Path) -> None:
    text = "First paragraph of the text.\n\nSecond paragraph, after an empty line: * not a list.\n"
    record = warcs.record(text.encode(), kind="conversion").replace(
        b"Content-Type: application/http; msgtype=response",
        b"WARC-Identified-Content-Language: nld\r\nContent-Type: text/plain",
    )
    source = warcs.write(tmp_path / "a.warc.wet.gz", [record])
    (row,) = exported_rows(tmp_path / "out", source, "--extractor", "wet")
    assert row["markdown"] == text.rstrip("\n")
    assert row["language"] == "nld"
    assert row["extractor"].startswith("wet@")


def test_strict_ends_the_run_at_the_first_damage(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(number) for number in range(3)])
    source.write_bytes(source.read_bytes()[:-100])
    done = ccrawl("export", source, "--out", tmp_path / "out", "--strict")
    assert done.returncode == 1
    assert "a.warc.gz" in done.stderr
    assert "damage at byte" in done.stderr


def test_the_card_is_written_unless_it_is_someone_elses(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(1)])
    export(source, "--out", tmp_path / "out")
    assert "1 row" in (tmp_path / "out" / "README.md").read_text()
    export(source, "--out", tmp_path / "none", "--no-card")
    assert not (tmp_path / "none" / "README.md").exists()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "README.md").write_text("My notes.")
    done = ccrawl("export", source, "--out", tmp_path / "own")
    assert done.returncode == 0
    assert "no card was written" in done.stderr
    assert (tmp_path / "own" / "README.md").read_text() == "My notes."
