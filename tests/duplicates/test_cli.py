"""`ccrawl dedup` as its users type it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner, Result

from ccrawl.cli.dedup import command
from ccrawl.errors import UsageError
from tests.duplicates.datasets import Page, page, write

BASE = 0xC0FF_EE00_1234_5678


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    pages = [page("a", 700, BASE), page("b", 690, BASE ^ 15), Page("u:1", "same", 3), Page("u:2", "same", 3)]
    write(tmp_path / "dataset" / "a.parquet", pages)
    return tmp_path / "dataset"


def run(*arguments: object) -> Result:
    app = typer.Typer(rich_markup_mode="rich")
    app.command()(command)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)


def test_the_summary_goes_to_stdout(dataset: Path) -> None:
    result = run(dataset)
    assert result.exit_code == 0 and result.stderr == ""
    assert "exact" in result.stdout and "u:1" in result.stdout


def test_distance_and_least_length_decide_what_is_near(dataset: Path) -> None:
    found = {
        arguments: json.loads(run(dataset, "--json", *arguments).stdout)["near_duplicates"]
        for arguments in (("-d", "3"), ("-d", "4"), ("-d", "4", "--min-bytes", "691"))
    }
    assert list(found.values()) == [0, 1, 0]


def test_quiet_prints_nothing_and_still_writes(dataset: Path, tmp_path: Path) -> None:
    result = run(dataset, "--quiet", "--clusters", tmp_path / "c.parquet", "--html", tmp_path / "r.html")
    assert (result.exit_code, result.output) == (0, "")
    assert pq.read_table(tmp_path / "c.parquet").num_rows == 2
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_recomputed_fingerprints_are_said_on_stderr_only(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [page("a", 700, BASE)], definition=None)
    result = run(path, "--json")
    assert json.loads(result.stdout)["recomputed"] == 1
    assert "a.parquet" in result.stderr


def test_against_reports_what_the_corpus_has(dataset: Path, tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus.parquet", [Page("u:9", "same", 3)])
    result = run(dataset, "--against", corpus, "--json", "--clusters", tmp_path / "m.parquet")
    values = json.loads(result.stdout)
    assert (values["exact_rows"], values["near_rows"], values["new_rows"]) == (2, 0, 2)
    assert pq.read_table(tmp_path / "m.parquet")["corpus_url"].to_pylist() == ["u:9", "u:9"]
    assert "already there" in run(dataset, "--against", corpus).stdout


def test_a_memory_limit_changes_nothing_that_is_printed(dataset: Path, tmp_path: Path) -> None:
    assert run(dataset, "--memory", "64MiB", "--scratch", tmp_path).stdout == run(dataset).stdout


@pytest.mark.parametrize(
    "wrong", [["--distance", "17"], ["--keep", "best"], ["--memory", "lots"], ["--linkage", "x"]]
)
def test_wrong_options_are_usage_errors(wrong: list[str], dataset: Path) -> None:
    assert isinstance(run(dataset, *wrong).exception, UsageError)


def test_html_with_against_is_refused_before_work(dataset: Path, tmp_path: Path) -> None:
    result = run(dataset, "--against", dataset, "--html", tmp_path / "r.html")
    assert isinstance(result.exception, UsageError)
