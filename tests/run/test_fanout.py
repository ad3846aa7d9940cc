"""Pages handed to converter processes, and what becomes of those whose processes die."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from ccrawl.fetching.pages import FetchedPage
from ccrawl.run.fanout import FanOut
from ccrawl.run.guard import CRASH
from ccrawl.run.options import ExportOptions
from ccrawl.run.processes import worker_context


def test_processes_that_end_before_a_page_each_time_end_the_batch_and_not_the_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when a worker can't be started in the memory that it may have."""
    here = ModuleType("only_here")
    exec("def convert(page, options): ...", here.__dict__)  # which no worker can import
    monkeypatch.setitem(sys.modules, "only_here", here)
    pages = [FetchedPage(number, Path("none"), 0, "http://a.test/") for number in range(3)]
    fan_out = FanOut(worker_context(), 1, here.convert, ExportOptions(), size=lambda page: 1)
    outcomes = list(fan_out.outcomes(iter(pages)))
    assert [(each.number, each.failed, each.cause) for each in outcomes] == [
        (n, True, CRASH) for n in range(3)
    ]
