"""Any sequence of calls leaves both kinds of store where a model of a few dictionaries is."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ccrawl.errors import UsageError
from ccrawl.index import Counts, Entry, IndexFailure, Package, open_index

KEYS = [b"\x04" + hashlib.sha256(b"%d" % number).digest() for number in range(5)]
runs = st.sampled_from(["r1", "r2", "r3"])
crawls = st.sampled_from(["c1", "c2", "r1"])
contents = st.lists(st.integers(0, len(KEYS) - 1), max_size=6)


@dataclass
class Model:
    """What an index holds, told as simply as can be."""

    owners: dict[int, str] = field(default_factory=dict)
    held: dict[str, dict[int, str]] = field(default_factory=dict)  # by crawl, in the order of first commits
    counts: dict[str, Counts] = field(default_factory=dict)
    open: dict[str, dict[int, str]] = field(default_factory=dict)  # run -> what it sees
    staged: dict[str, tuple[dict[int, str], int, int]] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)

    def seen(self) -> dict[int, str]:
        return {number: self.held[crawl][number] for number, crawl in self.owners.items()}

    def add(self, crawl: str, found: dict[int, str], counts: Counts) -> None:
        held = self.held.setdefault(crawl, {})
        self.counts[crawl] = self.counts.get(crawl, Counts()) + counts
        for number, url in found.items():
            held.setdefault(number, url)
            self.owners.setdefault(number, crawl)

    def remove(self, crawl: str) -> None:
        del self.held[crawl], self.counts[crawl]
        for number in [number for number, owner in self.owners.items() if owner == crawl]:
            heirs = [other for other, held in self.held.items() if number in held]
            if heirs:
                self.owners[number] = heirs[0]
            else:
                del self.owners[number]
        self.packages = {name for name in self.packages if not name.startswith(f"{crawl}/")}


class Machine(RuleBasedStateMachine):
    location = ""

    def __init__(self) -> None:
        super().__init__()
        if self.location.startswith("redis"):
            with redis.Redis.from_url(self.location, socket_timeout=60) as client:
                client.flushdb()
            self.folder = None
            self.index = open_index(self.location)
        else:
            self.folder = tempfile.mkdtemp()
            self.index = open_index(f"{self.folder}/index")
        self.model = Model()
        self.looks = 0

    def teardown(self) -> None:
        assert self.index.verify() == []
        self.index.close()
        if self.folder:
            shutil.rmtree(self.folder)

    def found(self, run: str) -> dict[int, str]:
        view = self.index.view(run)
        originals = view.find(KEYS)
        view.close()
        return {number: one.url for number, one in enumerate(originals) if one is not None}

    @rule(run=runs)
    def begin(self, run: str) -> None:
        if run in self.model.held:
            with pytest.raises(UsageError):
                self.index.begin(run)
            return
        self.index.begin(run)
        self.model.open.setdefault(run, self.model.seen())

    @rule(run=runs, numbers=contents, duplicates=st.integers(0, 3))
    def stage(self, run: str, numbers: list[int], duplicates: int) -> None:
        counts = Counts(len(numbers) + duplicates, duplicates, 10 * duplicates, 1)
        urls = [f"http://{run}.test/{place}" for place in range(len(numbers))]
        entries = [
            Entry(KEYS[number], "20250101000000", url, 500) for number, url in zip(numbers, urls, strict=True)
        ]
        if run not in self.model.open:
            with pytest.raises(IndexFailure):
                self.index.stage(run, entries, counts)
            return
        self.index.stage(run, entries, counts)
        firsts: dict[int, str] = {}
        for number, url in zip(numbers, urls, strict=True):
            firsts.setdefault(number, url)
        self.model.staged[run] = (firsts, len(numbers), duplicates)

    @rule(run=runs)
    def commit(self, run: str) -> None:
        if run in self.model.held:
            assert self.index.commit(run).counts == self.model.counts[run]
            return
        if run not in self.model.staged:
            with pytest.raises(UsageError):
                self.index.commit(run)
            return
        self.index.commit(run)
        firsts, total, duplicates = self.model.staged.pop(run)
        self.model.add(run, firsts, Counts(total + duplicates, duplicates, 10 * duplicates, 1))
        del self.model.open[run]

    @rule(run=runs)
    def cancel(self, run: str) -> None:
        if run in self.model.held:
            with pytest.raises(UsageError):
                self.index.cancel(run)
            return
        assert self.index.cancel(run) == (run in self.model.open)
        self.model.open.pop(run, None)
        self.model.staged.pop(run, None)

    @rule(crawl=crawls, package=st.integers(0, 2), numbers=contents)
    def add_package(self, crawl: str, package: int, numbers: list[int]) -> None:
        name = f"{crawl}/{package}.wacz"
        urls = {number: f"http://{crawl}.test/{package}/{number}" for number in numbers}
        entries = sorted(Entry(KEYS[number], "20250101000000", urls[number], 500) for number in numbers)
        if crawl in self.model.open and name not in self.model.packages:
            with pytest.raises(UsageError):
                self.index.add_package(crawl, Package(name, None, 3), entries)
            return
        self.index.add_package(crawl, Package(name, None, 3), entries)
        if name not in self.model.packages:
            self.model.packages.add(name)
            self.model.add(crawl, urls, Counts(len(numbers), 0, 0, 3))

    @precondition(lambda self: self.model.held)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        crawl = data.draw(st.sampled_from(sorted(self.model.held)))
        if self.folder is None:  # a run on a server keeps no view of its own: let none be open
            for run in list(self.model.open):
                self.cancel(run)
        self.index.remove([crawl])
        self.model.remove(crawl)

    @precondition(lambda self: self.model.open)
    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(sorted(self.model.open)))
        assert self.found(run) == self.model.open[run]

    @rule()
    def look_afresh(self) -> None:
        self.looks += 1
        run = f"look-{self.looks}"
        self.index.begin(run)
        assert self.found(run) == self.model.seen()
        self.index.cancel(run)

    @invariant()
    def numbers_add_up(self) -> None:
        stats = self.index.stats()
        assert stats.counts == sum(self.model.counts.values(), Counts())
        assert stats.unique == len(self.model.owners)
        assert stats.counts.total == stats.unique + stats.counts.duplicates + stats.redundant
        assert (stats.crawls, stats.unfinished) == (len(self.model.held), len(self.model.open))


@pytest.mark.parametrize(("kind", "examples"), [("folder", 8), ("redis", 60)])
def test_both_stores_follow_the_model(kind: str, examples: int, request: pytest.FixtureRequest) -> None:
    location: str = request.getfixturevalue("redis_url") if kind == "redis" else ""
    machine: Any = type("LocatedMachine", (Machine,), {"location": location})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
