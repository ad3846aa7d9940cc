"""What a shell, a disk or a mistyped flag does to a command: one clear line, the right code, nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import warcs

from ccrawl.dataset.files import aside, remove_leftovers
from ccrawl.errors import UsageError
from ccrawl.run.options import ExportOptions
from ccrawl.run.sources import fingerprint


def ccrawl(
    *arguments: str | os.PathLike[str], redirect: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a shell that applies `redirect` to it."""
    return subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {redirect}',
            "sh",
            sys.executable,
            "-m",
            "ccrawl",
            *map(os.fspath, arguments),
        ],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        env={**os.environ, **variables},
        timeout=90,
        check=False,
    )


def one_line(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The error that a command has ended with: one line on stderr, and the exit code."""
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("ccrawl: error: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return warcs.write(tmp_path / "a.warc.gz", [warcs.response(number) for number in range(4)])


@pytest.fixture
def dataset(tmp_path: Path, archive: Path) -> Path:
    out = tmp_path / "dataset"
    assert ccrawl("export", archive, "--out", out, "--no-card", "-q").returncode == 0
    return out


@pytest.mark.parametrize(
    "flags",
    [
        ("--out", ""),
        ("--out", "x", ""),
        ("--out", "x", "--dedup-index", ""),
        ("--out", "x", "--lang", ","),
        ("--out", "x", "--worker-memory", "1"),
        ("--out", "x", "--worker-memory", "99999999999999GB"),
        ("--out", "x", "--page-timeout", "inf"),
        ("--out", b"x\xff"),
        ("--out", "x", "--dedup-digest", "--duplicates", "."),
    ],
)
def test_flags_that_can_not_be_meant_are_refused_before_anything_is_written(
    tmp_path: Path, archive: Path, flags: tuple[str | bytes, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.chdir(tmp_path)
    one_line(ccrawl("export", archive, *map(os.fsdecode, flags)), 2)
    assert list(tmp_path.iterdir()) == [archive]


def test_a_shard_with_a_name_that_is_no_utf8_is_exported(tmp_path: Path, archive: Path) -> None:
    import pyarrow.parquet as pq

    odd = archive.rename(tmp_path / os.fsdecode(b"\xff odd\n.warc.gz"))
    done = ccrawl("export", odd, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["rows"] == 4
    (file,) = (tmp_path / "out" / "data").rglob("*.parquet")
    assert set(pq.read_table(file)["warc_filename"].to_pylist()) == {" odd.warc.gz"}


def test_a_path_with_line_ends_works_and_its_errors_stay_one_line(tmp_path: Path, archive: Path) -> None:
    out = tmp_path / "two\nlines \x1b[1m"
    assert ccrawl("export", archive, "--out", out, "-q").returncode == 0
    assert ccrawl("verify", out).returncode == 0
    assert "other\\n\\x1b" in one_line(ccrawl("verify", tmp_path / "other\n\x1b"), 1)


def test_more_workers_than_there_are_batches_cost_nothing(tmp_path: Path, archive: Path) -> None:
    done = ccrawl("export", archive, "--out", tmp_path / "out", "--workers", "900", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["rows"] == 4


def test_a_source_that_can_not_be_opened_has_a_fingerprint_all_the_same(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccrawl.archives import Source

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert fingerprint(Source("a.warc.gz", str(archive), 123)) == "size:123"


def test_a_full_disk_behind_stdout_is_told(dataset: Path) -> None:
    assert "No space left" in one_line(ccrawl("verify", dataset, redirect=">/dev/full"), 1)


@pytest.mark.parametrize("command", ["show", "verify", "dedup"])
def test_a_closed_stdout_is_no_error(dataset: Path, command: str) -> None:
    done = ccrawl(command, dataset, redirect=">&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_locale_without_unicode_shows_what_it_can(tmp_path: Path) -> None:
    page = "<!DOCTYPE html><meta charset=utf-8><title>é</title><main><p>Ein Café an der Straße, abends.</p></main>"
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(1, body=page.encode())])
    assert ccrawl("export", source, "--out", tmp_path / "out", "-q").returncode == 0
    plain = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = ccrawl("show", tmp_path / "out", **plain)
    assert done.returncode == 0, done.stderr
    assert "Ein Caf\\xe9" in done.stdout


def test_a_folder_that_is_gone_is_said(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    gone = tmp_path / "gone"
    gone.mkdir()
    leave = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    command = [sys.executable, "-m", "ccrawl", "export", str(archive), "--out", str(tmp_path / "out"), "-q"]
    done = subprocess.run(
        ["sh", "-c", leave, "sh", str(gone), *command],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 1
    assert "current folder is gone" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_dataset_whose_manifest_was_deleted_is_not_removed(dataset: Path, archive: Path) -> None:
    (dataset / "manifest.json").unlink()
    before = {file: file.read_bytes() for file in dataset.rglob("*.parquet")}
    one_line(ccrawl("export", archive, "--out", dataset), 1)
    assert before == {file: file.read_bytes() for file in dataset.rglob("*.parquet")}


def test_only_temporary_files_of_ours_are_removed(tmp_path: Path) -> None:
    ours = aside(tmp_path / "000000.parquet")
    theirs = [tmp_path / ".notes.tmp", tmp_path / ".a.12-34.tmp", tmp_path / "b.1-00000000.tmp"]
    for file in (ours, *theirs):
        file.write_bytes(b"x")
    assert remove_leftovers(tmp_path) == 1
    assert sorted(tmp_path.iterdir()) == sorted(theirs)


def test_a_bug_on_one_shard_fails_that_shard_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ccrawl.run import export
    from ccrawl.run.processes import Worker

    sources = [
        warcs.write(tmp_path / f"{name}.warc.gz", [warcs.response(number)])
        for number, name in enumerate("ab")
    ]
    result = Worker.result
    calls = []

    def first_fails(worker: Worker[Any]) -> Any:
        calls.append(worker)
        if len(calls) == 1:
            result(worker)
            bug = KeyError("no such thing")
            bug.add_note("in the depths")
            raise bug
        return result(worker)

    monkeypatch.setattr(Worker, "result", first_fails)
    from ccrawl.archives import find_sources

    report = export.run_export(
        find_sources([str(source) for source in sources]), tmp_path / "out", ExportOptions(), workers=1
    )
    assert (report.counts.rows, len(report.failed_shards)) == (1, 1)
    assert "KeyError" in report.failed_shards[0].error
    (line,) = (tmp_path / "out" / "failures.jsonl").read_text().splitlines()
    assert json.loads(line)["detail"] == "in the depths"


@pytest.mark.parametrize(
    "limit", [{"worker_memory": 0}, {"page_timeout": float("nan")}, {"page_timeout": 0.0}]
)
def test_limits_are_checked_where_they_are_made(limit: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ExportOptions(**limit)
