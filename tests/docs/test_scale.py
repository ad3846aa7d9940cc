"""The page on scale has the tables that its program prints, and the program obeys what must hold of any cluster."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "simulate.py"


@pytest.fixture(scope="module")
def simulate() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("simulate", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulate"]


def test_the_page_has_the_tables_as_they_are_now(simulate: ModuleType) -> None:
    page = simulate.PAGE.read_text(encoding="utf-8")
    assert simulate.BEGIN in page and simulate.END in page
    assert simulate.refreshed(page) == page, "run benchmarks/simulate.py --write"


def test_equal_shards_take_the_time_of_their_rounds(simulate: ModuleType) -> None:
    """7 shards on 2 nodes of 2 cores: two rounds of a shard's time, worked out by hand."""
    measured = replace(simulate.MEASURED, start_seconds=0.0, driver_ms_a_shard=0.0)
    cluster = simulate.Cluster(nodes=2, cores=2, spread=0.0)
    outcome = simulate.simulate(7, cluster, measured)
    assert outcome.seconds == pytest.approx(2 * measured.shard_seconds)
    assert outcome.busy == pytest.approx(7 * measured.shard_seconds)


def test_a_link_of_half_the_bytes_doubles_the_time(simulate: ModuleType) -> None:
    measured = replace(simulate.MEASURED, start_seconds=0.0, driver_ms_a_shard=0.0)
    half = simulate.Cluster(cores=4, spread=0.0, link=2 * measured.bytes_a_core_second)
    assert simulate.simulate(8, half, measured).seconds == pytest.approx(4 * measured.shard_seconds)


def test_a_slow_driver_takes_its_time_for_each_shard(simulate: ModuleType) -> None:
    measured = replace(simulate.MEASURED, driver_ms_a_shard=1e6)
    outcome = simulate.simulate(20, simulate.Cluster(cores=20), measured)
    assert outcome.seconds == pytest.approx(20 * 1000, rel=0.02)
    assert simulate.bottleneck(simulate.Cluster(cores=20), outcome) == "driver"


def test_lost_machines_cost_work_but_no_shard(simulate: ModuleType) -> None:
    stable = simulate.Cluster(nodes=4, cores=4)
    shaky = replace(stable, lost_an_hour=2.0)
    kept, lost = simulate.simulate(400, stable), simulate.simulate(400, shaky)
    assert lost.busy == pytest.approx(kept.busy)
    assert lost.redone > 0 and lost.seconds > kept.seconds
