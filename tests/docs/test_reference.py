"""The documentation says what the code does, or this fails."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The pages that docs/generate.py writes: those that say so, and those with a session in them.
WRITTEN = re.compile(r"Written by docs/generate\.py|written by docs/generate\.py|^```console$", re.MULTILINE)
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "page",
    [*(path.name for path in PAGES if WRITTEN.search(path.read_text(encoding="utf-8"))), "way-of-a-page.svg"],
)
def test_generated_pages_and_the_sessions_they_show_are_up_to_date(page: str) -> None:
    done = generate("--check", page)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_not_generated_is_refused_so_that_none_goes_unchecked() -> None:
    assert generate("--check", "nowhere.md").returncode == 2


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda path: path.name)
def test_links_of_pages_beside_the_site_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
