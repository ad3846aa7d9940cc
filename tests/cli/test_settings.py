"""Options take values from the environment and from files, in one order, and wrong ones are told in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import warcs

from ccrawl.cli import COMMANDS, main
from ccrawl.cli.config import contexts
from ccrawl.cli.settings import COMMAND_LINE_ONLY, SHARED, key_of, options_of, variables


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with no settings but those that a test makes."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CCRAWL_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return folder


def write_user_file(folder: Path, text: str) -> None:
    file = folder.parent / "home" / "ccrawl" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)


def shown(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, tuple[Any, str]]:
    """Of a command's options, those that are set somewhere: value and source."""
    assert main(["config", "show", *command, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    return {value["option"]: (value["value"], value["source"]) for value in values if value["where"]}


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("ccrawl: error: ")
    assert told.count("\n") == 1
    return told


def test_each_source_counts_before_the_next(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = ["CCRAWL_EXPORT_WORKERS", "CCRAWL_WORKERS", "project", "user"]
    write_user_file(project, "[export]\nworkers = 2\n")
    (project / "ccrawl.toml").write_text("workers = 3\n")  # nearer, though not for this command alone
    monkeypatch.setenv("CCRAWL_WORKERS", "4")
    monkeypatch.setenv("CCRAWL_EXPORT_WORKERS", "5")
    found = []
    for source in sources:
        found.append(shown(capsys, "export")["workers"])
        if source.startswith("CCRAWL"):
            monkeypatch.delenv(source)
        elif source == "project":
            (project / "ccrawl.toml").unlink()
    assert found == [(5, "environment"), (4, "environment"), (3, "project"), (2, "user")]


def test_a_command_takes_what_a_file_says_and_the_command_line_decides(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = project / "page.html"
    page.write_text('<main><h1>Line 12</h1><p>It leaves <a href="/at">at ten</a> from the quay.</p></main>')
    (project / "ccrawl.toml").write_text('links = "drop"\n[convert]\nheadings = "setext"\n')
    assert main(["convert", str(page)]) == 0
    printed = capsys.readouterr()
    assert printed.out == "Line 12\n===\n\nIt leaves at ten from the quay.\n"
    assert printed.err == "ccrawl: ccrawl.toml sets --links, --headings\n"
    assert main(["convert", str(page), "--headings", "atx", "--links", "keep"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("# Line 12\n\nIt leaves [at ten](/at)")
    assert printed.err == ""


def test_an_option_that_must_be_given_may_be_given_by_a_file(project: Path) -> None:
    archive = warcs.write(project / "a.warc.gz", [warcs.response(1)])
    (project / "ccrawl.toml").write_text('[export]\nout = "made"\nno-card = true\nquiet = true\n')
    below = project / "deep" / "below"
    below.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(below)
        assert main(["export", str(archive), "-j", "1"]) == 0
    assert (project / "made" / "manifest.json").exists()  # a path counts from its file's folder
    assert not [*below.iterdir()]


def test_a_flag_that_a_file_sets_is_unset_by_its_variable(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ccrawl.toml").write_text("[export]\nstrict = true\n")
    assert shown(capsys, "export")["strict"] == (True, "project")
    monkeypatch.setenv("CCRAWL_EXPORT_STRICT", "no")
    assert shown(capsys, "export")["strict"] == (False, "environment")


def test_pyproject_counts_where_it_speaks_of_ccrawl(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text('[tool.ccrawl.export]\nlang = ["eng", "deu"]\n')
    below = project / "below"
    below.mkdir()
    (below / "pyproject.toml").write_text("[tool.other]\nthis is no TOML\n")
    monkeypatch.chdir(below)
    assert shown(capsys, "export") == {"lang": (["eng", "deu"], "project")}
    (project / "ccrawl.toml").write_text('[export]\nlang = "nor"\n')
    assert shown(capsys, "export") == {"lang": (["nor"], "project")}


def test_one_file_can_be_named_instead_and_none_too(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ccrawl.toml").write_text("workers = 3\n")
    other = project / "other.toml"
    other.write_text("workers = 7\n")
    monkeypatch.setenv("CCRAWL_CONFIG", str(other))
    assert shown(capsys, "verify") == {"workers": (7, "CCRAWL_CONFIG")}
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out.split() == ["CCRAWL_CONFIG", str(other)]
    monkeypatch.setenv("CCRAWL_CONFIG", "")
    assert shown(capsys, "verify") == {}
    monkeypatch.setenv("CCRAWL_CONFIG", str(project / "gone.toml"))
    assert "gone.toml: No such file" in complaint(capsys, "verify", "x")


def test_tables_of_inner_commands_count_before_that_of_their_group(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ccrawl.toml").write_text(
        '[index]\nworkers = 2\nforce-me = 1\n[index.import]\nstatus = "any"\n'
    )
    assert "index.force-me: there is no such option" in complaint(capsys, "index", "import", "x", "-i", "y")
    (project / "ccrawl.toml").write_text(
        '[index]\nworkers = 2\n[index.import]\nworkers = 3\nstatus = "any"\n'
    )
    assert shown(capsys, "index", "import") == {"workers": (3, "project"), "status": ("any", "project")}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[export]\nwrokers = 2\n", "export.wrokers: there is no such option; did you mean workers?"),
        ("wrokers = 2\n", "wrokers: there is no such option; did you mean workers?"),
        ("limit = 2\n", "limit: there is no such option"),  # of one command only: it needs a table
        ("[exprot]\nworkers = 2\n", "[exprot]: there is no such command; did you mean export?"),
        ("[export.workers]\nnumber = 2\n", "[export.workers]: there is no such command"),
        ('[export]\nworkers = "many"\n', "export.workers: 'many': it should be a valid integer"),
        ("[export]\nworkers = 0\n", "export.workers: '0': it should be greater than or equal to 1"),
        ("[export]\nworkers = true\n", "export.workers: True is not a text or a number"),
        ('[export]\nstrict = "yes"\n', "export.strict: 'yes' is no true or false"),
        ("[export]\nlang = [1979-05-27]\n", "is not a list of texts"),
        ('[export]\nlinks = "kep"\n', "did you mean keep?"),
        ('[export]\nout = ""\n', "export.out: a path is empty"),
        ("[export]\noverwrite = true\n", "export.overwrite: --overwrite works on the command line only"),
        ("[export\n", "not TOML"),
        ("lang = " + "[" * 5_000, "lists or tables in it are nested too deep"),
    ],
)
def test_what_a_file_can_not_mean_is_one_line_with_file_and_key(
    text: str, told: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ccrawl.toml").write_text(text)
    line = complaint(capsys, "export", "a.warc", "--out", "out")
    assert line.startswith("ccrawl: error: ccrawl.toml: ")
    assert told in line
    assert main(["export", "--help"]) == 0  # help is there when it is needed most


def test_a_wrong_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CCRAWL_EXPORT_STRICT", "perhaps")
    assert "CCRAWL_EXPORT_STRICT: 'perhaps'" in complaint(capsys, "export", "a.warc", "--out", "out")


def test_passwords_are_not_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CCRAWL_DEDUP_INDEX", "rediss://me:secret@host:6379/1")
    for arguments in (["export"], ["index", "list"], [], ["--json"]):
        assert main(["config", "show", *arguments]) == 0
        printed = capsys.readouterr().out
        assert "rediss://***@host:6379/1" in printed
        assert "secret" not in printed


def test_without_a_command_only_what_is_set_is_shown_within_80_columns(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "show"]) == 0
    assert "every option is at its default" in capsys.readouterr().out
    (project / "ccrawl.toml").write_text("[export]\nworkers = 2\n")
    assert main(["config", "show"]) == 0
    assert capsys.readouterr().out == "export\n  workers  2  ccrawl.toml: export.workers\n"


def test_a_command_that_is_none_has_no_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean export?" in complaint(capsys, "config", "show", "exprot")
    assert "index improt" in complaint(capsys, "config", "show", "index", "improt")


def test_shared_options_are_shared_and_no_two_options_have_a_variable_in_common() -> None:
    every = [
        (ctx, option) for name in COMMANDS for ctx in contexts(name) for option in options_of(ctx.command)
    ]
    holders: dict[str, set[str]] = {}
    for ctx, option in every:
        words = ctx.command_path.split()[1:]
        holders.setdefault(key_of(option), set()).add(" ".join(words))
        own = variables(words, key_of(option))[0]
        others = {
            name
            for other, another in every
            if (other, another) != (ctx, option)
            for name in variables(other.command_path.split()[1:], key_of(another))
        }
        assert own not in others
    assert all(len(holders[key]) > 1 for key in SHARED)
    assert not SHARED & (COMMAND_LINE_ONLY | COMMANDS.keys())
