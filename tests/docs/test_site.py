"""The site is built whole: no broken link, no page left out, nothing fetched from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", folder)
    return folder


@pytest.fixture(scope="module")
def site(sources: Path) -> Path:
    done = build(sources)
    assert done.returncode == 0, done.stdout + done.stderr
    return sources / "site"


def places(nav: object) -> list[str]:
    """The pages that a navigation names, however deep."""
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [place for entry in inner for place in places(entry)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation_and_is_built(site: Path) -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    assert sorted(places(nav)) == pages
    for page in pages:
        name = re.sub(r"(?:(^|/)(?:index|README))?\.md$", r"\1", page)
        assert (site / name / "index.html").exists(), page


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|img|iframe)[^>]+src=\"?(?:https?:)?//[^\s>]+", html), page
        assert not re.findall(
            r"<link[^>]+rel=\"?(?:stylesheet|preconnect)[^>]+href=\"?(?:https?:)?//", html
        ), page


def test_programs_are_no_part_of_the_site(site: Path) -> None:
    assert not [*site.rglob("*.py"), *site.rglob("__pycache__")]


def test_a_broken_link_fails_the_build(sources: Path, tmp_path: Path) -> None:
    shutil.copytree(sources / "docs", tmp_path / "docs")
    shutil.copy(sources / "mkdocs.yml", tmp_path)
    for target in ("reference/nowhere.md", "reference/columns.md#nowhere"):
        (tmp_path / "docs" / "tutorial.md").write_text(
            f"# Tutorial\n\n[to](   {target})\n".replace("   ", "")
        )
        assert build(tmp_path).returncode != 0, target
