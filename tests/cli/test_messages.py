"""What a mistake costs: one line in words, the right exit code, and nothing left behind."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from support import warcs
from support.datasets import row, write

from ccrawl.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    warcs.write(tmp_path / "a.warc.gz", [warcs.response(1)])
    return tmp_path


def complaint(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    assert main([*arguments]) == code
    told = capsys.readouterr().err
    assert told.startswith("ccrawl: error: "), told
    assert told.count("\n") == 1, told
    return told


@pytest.mark.parametrize(
    "arguments",
    [
        ("card", "empty"),
        ("card", "nowhere"),
        ("convert", "nowhere"),
        ("convert", "."),
        ("verify", "empty"),
        ("show", "empty"),
        ("show", "nowhere"),
        ("merge", "empty", "nowhere", "--out", "x"),
        ("dedup", "empty"),
        ("export", "a.warc.gz", "--out", "empty"),
    ],
    ids=" ".join,
)
def test_causes_are_told_in_words_not_numbers(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "rrno" not in complaint(capsys, 1, *arguments)


def test_a_page_that_can_not_be_fetched_is_told_with_the_cause(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        told = complaint(capsys, 1, "convert", url)
    assert told == f"ccrawl: error: {url}: can't be fetched (Connection refused)\n"


def test_an_empty_name_is_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert "a path is empty" in complaint(capsys, 2, "convert", "")


def test_a_pipe_is_no_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "pipe.warc")
    assert "pipe.warc: a pipe or a device" in complaint(capsys, 2, "export", "pipe.warc", "--out", "out")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("flag", ["--gap", "--max-span", "--part-size", "--base-url"])
def test_a_flag_that_would_say_nothing_is_refused(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = complaint(capsys, 2, "export", "a.warc.gz", "--out", "out", flag, "1")
    assert f"{flag} goes with " in told


def test_as_a_default_such_a_flag_is_no_mistake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRAWL_EXPORT_GAP", "1MB")
    assert main(["export", "a.warc.gz", "--out", "out", "-q", "--no-card", "-j", "1"]) == 0


def test_a_run_that_can_not_begin_leaves_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complaint(capsys, 1, "export", "a.warc.gz", "--out", "out", "--dedup-index", "empty")
    assert sorted(path.name for path in folder.iterdir()) == ["a.warc.gz", "empty"]


def test_a_folder_that_was_there_stays_when_a_run_can_not_begin(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "out").mkdir()
    complaint(capsys, 1, "export", "a.warc.gz", "--out", "out", "--dedup-index", "empty")
    assert (folder / "out").is_dir()


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("convert", "empty", "--favor", "recal"), "did you mean recall?"),
        (("convert", "empty", "--extractor", "rwa"), "did you mean raw?"),
        (("dedup", "empty", "--keep", "frist"), "did you mean first?"),
        (("exprot", "empty"), "Did you mean 'export'?"),
        (("index", "improt"), "Did you mean 'import'?"),
        (("export", "empty", "--ot", "x"), "--out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_slip_is_answered_with_what_was_meant(
    arguments: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments]) == 2
    assert meant in capsys.readouterr().err


def test_a_card_names_what_a_person_wrote_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "dataset", {"a.warc.gz": [row(1)]})
    assert main(["card", "dataset"]) == 0
    assert main(["card", "dataset"]) == 0
    assert "kept" not in capsys.readouterr().out
    readme = folder / "dataset" / "README.md"
    readme.write_text(
        readme.read_text().replace("<!-- ccrawl:keep about -->\n", "<!-- ccrawl:keep about -->\nOurs.\n")
    )
    assert main(["card", "dataset"]) == 0
    assert "kept  about\n" in capsys.readouterr().out


def test_nothing_to_check_is_not_called_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "dataset", {})
    assert main(["verify", "dataset"]) == 0
    assert "there was nothing to check" in capsys.readouterr().out
