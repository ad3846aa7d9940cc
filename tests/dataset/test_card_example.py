"""The example card in the documentation is the one that this version makes of the sample archive."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_card_is_up_to_date(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_example_card", DOCS / "examples" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    files = make.make(tmp_path)
    assert "assets/funnel.svg" in files
    assert make.stale(files) == [], "run docs/examples/make.py and look at what changed"


def test_links_of_the_guide_lead_somewhere() -> None:
    page = DOCS / "how-to" / "publish.md"
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
