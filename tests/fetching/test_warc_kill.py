"""Killed at any moment, the WARC files of a refetch are finished by the next run to the same bytes."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from support.exchanges import many, warc_contents

from ccrawl.archives import find_sources
from ccrawl.archives.check import check_source
from ccrawl.fetching.types import Fetched
from ccrawl.fetching.warc import WarcOptions, WarcOutput

OPTIONS = WarcOptions(max_bytes=20_000)
COUNT = 120

# Writes as a run does, and tells after each target that it did.
WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from support.exchanges import many
from ccrawl.fetching.warc import WarcOptions, WarcOutput

with WarcOutput(Path(sys.argv[1]), WarcOptions(max_bytes=int(sys.argv[3]))) as output:
    for number, each in enumerate(many(int(sys.argv[4]))):
        output.write(each)
        if number % 10 == 9:
            output.sync()
        print(number, flush=True)
"""


def finish(folder: Path, all_fetched: list[Fetched]) -> None:
    with WarcOutput(folder, OPTIONS) as output:
        for each in all_fetched:
            output.write(each)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    finish(folder, many(COUNT))
    assert len(warc_contents(folder)) > 3
    return warc_contents(folder)


def test_kill_9_in_the_middle_of_writing(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    """Again and again in one folder, each time after a few more targets; what was told is there."""
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    told = -1
    for _ in range(3):
        tests = str(Path(__file__).parents[1])
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), tests, str(OPTIONS.max_bytes), str(COUNT)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout
        goal = told + chance.randrange(1, 30)
        for line in writer.stdout:
            told = max(told, int(line))
            if told >= goal:
                break
        time.sleep(chance.random() / 200)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        sizes = {path.name: path.stat().st_size for path in tmp_path.glob("*.warc*")}
        with WarcOutput(tmp_path, OPTIONS) as output:
            assert output.recovered.files == sum(name.endswith(".open") for name in sizes), seed
            done = [output.write(each) for each in many(told + 1)]
            assert sum(path.stat().st_size for path in tmp_path.glob("*.warc*")) <= sum(sizes.values()), seed
            assert all(done), seed
        # `close` has finished a file early; a run that is only killed leaves it open.
        last = sorted(tmp_path.glob("*.warc.gz"))[-1]
        if sizes.get(last.name + ".open"):
            last.rename(last.with_name(last.name + ".open"))
    finish(tmp_path, many(COUNT))
    assert warc_contents(tmp_path) == undisturbed, seed
    assert all(check_source(source).sound for source in find_sources([str(tmp_path)]))


def member_ends(content: bytes) -> list[int]:
    """Where each gzip member of a file ends."""
    ends = []
    while content:
        inflater = zlib.decompressobj(31)
        inflater.decompress(content)
        assert inflater.eof
        ends.append((ends[-1] if ends else 0) + len(content) - len(inflater.unused_data))
        content = inflater.unused_data
    return ends


@pytest.mark.parametrize("places", ["known", "lost"])
def test_a_file_cut_anywhere_is_finished_to_the_same_bytes(
    tmp_path: Path, undisturbed: dict[str, bytes], places: str
) -> None:
    """As a power cut leaves it: with less than the kernel was given, at any byte."""
    name, content = sorted(undisturbed.items())[1]
    whole = tmp_path / "whole"
    finish(whole, many(COUNT))
    for later in sorted(undisturbed)[2:]:
        (whole / later).unlink()
    (whole / name).rename(whole / f"{name}.open")
    ends = member_ends(content)
    edges = [0, 1, 17, ends[0], ends[0] + 1, ends[1] - 1, ends[1], ends[2] - 4, ends[-1] - 8, ends[-1]]
    for cut in [*edges, *random.sample(range(len(content)), 6)]:
        folder = tmp_path / str(cut)
        shutil.copytree(whole, folder)
        with (folder / f"{name}.open").open("r+b") as file:
            file.truncate(cut)
        if places == "lost":
            (folder / ".refetch.places.sqlite").unlink()
        with WarcOutput(folder, OPTIONS) as output:
            kept = max((end for end in ends if end <= cut), default=0)
            assert output.recovered.files == 1
            assert output.recovered.cut_bytes == cut - kept
            noted = places == "known" and cut == len(content)
            assert output.recovered.records == (0 if noted else sum(end <= cut for end in ends))
            for each in many(COUNT):
                output.write(each)
        assert warc_contents(folder) == undisturbed, cut
        shutil.rmtree(folder)
