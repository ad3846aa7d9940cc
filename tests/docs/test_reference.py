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


# A page with a session takes seconds; the others are written by one process, whose imports cost the most.
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in PAGES}
SESSIONS = [
    name for name, text in TEXTS.items() if re.search(r"^(```console$|<!-- session)", text, re.MULTILINE)
]
PLAIN = [name for name, text in TEXTS.items() if WRITTEN.search(text) and name not in SESSIONS]


@pytest.mark.parametrize(
    "pages", [*([name] for name in SESSIONS), [*PLAIN, "way-of-a-page.svg"]], ids=" ".join
)
def test_generated_pages_and_the_sessions_they_show_are_up_to_date(pages: list[str]) -> None:
    done = generate("--check", *pages)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_not_generated_is_refused_so_that_none_goes_unchecked() -> None:
    assert generate("--check", "nowhere.md").returncode == 2


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda path: path.name)
def test_links_of_pages_beside_the_site_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
