"""The library is the one of its sources, fits the installed selectolax, and says in a line when it does not."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from ccrawl.errors import CcrawlError
from ccrawl.native import compiling, layout

ROOT = Path(__file__).resolve().parents[2]


def test_the_library_is_made_from_the_sources_beside_it() -> None:
    assert compiling.is_current()


def test_nodes_are_laid_out_as_the_native_part_reads_them() -> None:
    layout.check_layout()


def test_nodes_that_differ_are_refused_before_they_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_expected", lambda node: [0] * 8)
    with pytest.raises(CcrawlError, match=r"selectolax \d.* lays out a page's nodes"):
        layout.check_layout()


def test_a_library_of_other_sources_is_named_with_what_to_do(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "ccrawl", tmp_path / "ccrawl", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "ccrawl/native/order.c").open("a") as source:
        source.write("/* changed */\n")
    for change in (lambda: None, (tmp_path / "ccrawl/native/_native.so").unlink):
        change()
        command = [sys.executable, "-c", "import ccrawl.html.content"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "run scripts/setup" in done.stderr.splitlines()[-1]


def test_the_sources_compile_without_a_warning_and_give_a_library_that_loads(tmp_path: Path) -> None:
    if compiling.own_compiler() is None:
        pytest.skip("no C compiler here")
    compiling.compile_library(tmp_path / "made.so", ["-O0", "-Wall", "-Wextra", "-Wconversion", "-Werror"])
    assert ctypes.CDLL(str(tmp_path / "made.so")).ccrawl_sources() & 0xFFFFFFFF == compiling.sources_sum()


def test_without_any_compiler_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiling, "find_spec", lambda name: None)
    with pytest.raises(
        SystemExit, match=r"^ccrawl: no C compiler works here; install gcc, or pip install zig.*CC$"
    ):
        compiling.compile_library(Path("/nowhere"))


def test_a_page_may_be_read_by_many_threads_each_its_own() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from ccrawl.html.content import main_content

    html = "<nav>x</nav>" + "".join(f"<p class=post>Boat {n} came in. It was late.</p>" for n in range(300))

    def kept(_: int) -> str:
        return main_content(LexborHTMLParser(html)).node.text()

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(kept, range(40)))) == 1
