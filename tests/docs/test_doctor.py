"""`ccrawl doctor` says what is so, and fails when what is needed is not there."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
import tomllib
from functools import partial
from pathlib import Path

import pytest

from ccrawl import doctor, extras
from ccrawl.cli import main
from ccrawl.doctor import Package


@pytest.fixture(scope="module")
def diagnosis() -> doctor.Diagnosis:
    return doctor.examine()


def test_a_machine_with_all_that_is_needed_is_well(diagnosis: doctor.Diagnosis) -> None:
    assert diagnosis.self_test.passed, diagnosis.self_test.detail
    assert diagnosis.well
    assert {package.name for package in diagnosis.needed} >= {"pyarrow", "selectolax", "numpy"}
    assert [part.name for part in diagnosis.parts] == list(doctor.EXTRAS)
    assert diagnosis.memory is None or 0 < (diagnosis.memory_free or 0) <= diagnosis.memory


@pytest.mark.parametrize(
    ("version", "least", "usable"),
    [
        ("1.10", "1.9", True),
        ("1.9", "1.10", False),
        ("2.0.0", "2", True),
        ("2", "2.0.1", False),
        ("3.0rc1", "3.0", True),
        ("0.1", None, True),
        (None, None, False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str | None, least: str | None, usable: bool) -> None:
    assert Package("some", version, least).usable is usable


def test_requirements_are_sorted_into_needed_and_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_installed", {"here": "2.1", "old": "1.0", "way": "1.0"}.get)
    stated = extras.requirements(
        [
            "here>=2.0",
            "old>=1.1",
            'only-before>=1; python_version < "3.3"',
            'way[fast]>=0.9; extra == "remote"',
            'gone>=3; extra == "hub"',
            'ccrawl[remote]; extra == "all"',
        ]
    )
    needed, parts = doctor._packages(stated)
    assert [(package.name, package.usable) for package in needed] == [("here", True), ("old", False)]
    remedies = {part.name: part.remedy for part in parts if part.packages}
    assert remedies["remote"] is None
    assert "pip install 'huggingface_hub>=" in (remedies["hub"] or "")


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_the_command_for_an_optional_part_installs_its_packages_into_this_python(extra: str) -> None:
    python, *rest = shlex.split(extras.install_command(extra))
    assert Path(python).absolute() == Path(sys.executable)
    with (Path(__file__).resolve().parents[2] / "pyproject.toml").open("rb") as file:
        stated = tomllib.load(file)["project"]["optional-dependencies"][extra]
    assert rest == ["-m", "pip", "install", *stated]


def test_what_is_missing_makes_the_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_installed", lambda name: None if name == "numpy" else "99")
    monkeypatch.setattr(doctor, "_trial", lambda folder: None)
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "numpy is missing\n" in printed
    assert re.search(r"-m pip install .*'numpy>=", printed)
    assert printed.endswith("not ready\n")


@pytest.mark.parametrize("wrong", ["by word", "by error"])
def test_a_self_test_that_fails_is_told_and_makes_the_exit_code_1(
    wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trial(folder: Path) -> str | None:
        if wrong == "by error":
            raise RuntimeError("the reason")
        return "the reason"

    monkeypatch.setattr(doctor, "_trial", trial)
    assert main(["doctor", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["well"] is False
    assert "the reason" in found["self_test"]["detail"]


def test_a_page_that_comes_out_otherwise_fails_the_self_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "_MARKDOWN", "other")
    assert "the page came out as" in (doctor._trial(tmp_path) or "")


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.TemporaryDirectory", partial(tempfile.TemporaryDirectory, dir=tmp_path))
    assert doctor._self_test().passed
    assert list(tmp_path.iterdir()) == []


def test_without_arguments_it_runs_and_fits_80_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ccrawl ")
    assert lines[-1].split() == ["result", "ready"]
    assert max(len(line) for line in lines if "temporary" not in line) <= 80  # a folder may be long
