"""The Spark runner against the local one, on a cluster of two worker processes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.spark import NEEDS_SPARK, cluster, session

from ccrawl.duplicates import DedupOptions, dedup
from tests.duplicates.datasets import Page, page, write
from tests.duplicates.test_dedup import BASE, names

pytest.importorskip("pyspark")
pytestmark = NEEDS_SPARK


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster(tmp_path_factory.mktemp("spark")) as running, session(running) as found:
        yield found


def pages(seed: int, count: int) -> list[Page]:
    """Random pages, exact copies, near copies in chains, and rows without fingerprint or text."""
    draw = random.Random(seed)
    made: list[Page] = []
    for number in range(count):
        fingerprint = draw.getrandbits(64) | 1
        made.append(page(f"p{number}", draw.randrange(100, 3000), fingerprint))
        for link in range(draw.choice((0, 0, 0, 1, 3))):
            fingerprint ^= 1 << draw.randrange(64)
            made.append(page(f"p{number}-{link}", made[-1].size + draw.randrange(-40, 40), fingerprint))
    made += [
        Page(f"http://t.example/copy{n}", one.markdown, one.simhash)
        for n, one in enumerate(draw.sample(made, 60))
    ]
    made += [Page("http://t.example/none", "", 0), page("same1", 700, BASE), page("same2", 700, BASE)]
    draw.shuffle(made)
    return made


@pytest.mark.parametrize(
    "options",
    [
        DedupOptions(),
        DedupOptions(distance=0),
        DedupOptions(distance=6, linkage="representative", min_bytes=0),
        DedupOptions(distance=16, keep="shortest-url"),
        DedupOptions(keep="first"),
    ],
    ids=str,
)
def test_two_workers_find_what_one_process_finds(options: DedupOptions, spark: Any, tmp_path: Path) -> None:
    everything = pages(1, 1500)
    for number in range(4):
        write(tmp_path / f"{number}.parquet", everything[number::4])
    local = dedup([tmp_path], options=options)
    remote = dedup([tmp_path], options=replace(options, runner="spark"))
    assert names(local) == names(remote)
    assert list(local.clusters) == list(remote.clusters)
    for count in ("rows", "bytes", "exact_bytes", "near_bytes", "no_fingerprint", "recomputed", "compared"):
        assert getattr(local, count) == getattr(remote, count)
    assert local.near_duplicates > 0 and local.exact_duplicates >= 60
