"""A profile of the workers, made by a real export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import warcs
from support.commands import ccrawl

import ccrawl as api
from ccrawl.errors import UsageError


@pytest.mark.parametrize(("shards", "workers"), [(1, 2), (2, 2)])
def test_the_samples_of_all_workers_make_one_profile(tmp_path: Path, shards: int, workers: int) -> None:
    sources = [
        warcs.write(tmp_path / f"{shard}.warc.gz", [warcs.response(100 * shard + page) for page in range(60)])
        for shard in range(shards)
    ]
    file = tmp_path / "profile.json"
    api.export(sources, tmp_path / "out", workers=workers, profile=file, card=False)
    profile = json.loads(file.read_text())
    names = {frame["name"] for frame in profile["shared"]["frames"]}
    assert names & {"convert", "_convert", "extract", "convert_guarded"}
    plain = tmp_path / "plain"
    api.export(sources, plain, workers=workers, card=False)
    for one in sorted((plain / "data").rglob("*.parquet")):
        assert one.read_bytes() == (tmp_path / "out" / one.relative_to(plain)).read_bytes()


def test_a_file_of_another_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(1)])
    for name in ("profile.png", "none/profile.html"):
        done = ccrawl("export", source, "--out", tmp_path / "out", "--profile", tmp_path / name)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "--profile" in done.stderr
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="leave it out"):
        api.export(source, tmp_path / "out", runner="spark", profile=tmp_path / "p.html")


def test_a_page_and_a_text_are_written_too(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.response(page) for page in range(30)])
    for name, start in (("p.html", "<!DOCTYPE"), ("p.txt", "\n  _")):
        done = ccrawl("export", source, "--out", tmp_path / name[2:], "--profile", tmp_path / name, "-q")
        assert done.returncode == 0, done.stderr
        assert start.lower() in (tmp_path / name).read_text()[:400].lower()
