"""From the arguments of a command to sources: paths, patterns, crawls, lists of places."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.archives import (
    CaptureOptions,
    Location,
    Tally,
    crawl_sources,
    find_sources,
    location_sources,
    read_captures,
)
from ccrawl.archives.crawls import parse_shards, read_paths
from ccrawl.archives.locations import spans
from ccrawl.errors import SourceError, UsageError

from .build import arc_file, arc_record, member, page, record, response


def warc(*numbers: int) -> bytes:
    return b"".join(member(record(response(page(str(n))), n)) for n in numbers)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "b.warc.gz",
        "a.warc",
        "sub/c.arc.gz",
        "sub/d.warc.wet.gz",
        "e.WARC.GZ",
        "notes.txt",
        "f.cdx.gz",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


def test_a_directory_gives_its_archives_sorted(folder: Path) -> None:
    names = [source.name for source in find_sources([str(folder)])]
    assert names == ["a.warc", "b.warc.gz", "e.WARC.GZ", "c.arc.gz", "d.warc.wet.gz"]


def test_patterns_and_files_count_once_in_any_order(folder: Path) -> None:
    arguments = [str(folder / "*.gz"), str(folder / "b.warc.gz"), str(folder)]
    sources = find_sources(arguments)
    assert sources == find_sources(arguments[::-1])
    assert [source.name for source in sources].count("b.warc.gz") == 1
    assert "f.cdx.gz" in [source.name for source in sources]  # a pattern is taken by its word
    assert [source.size for source in sources] == [1] * len(sources)


def test_a_file_is_taken_whatever_its_name(folder: Path) -> None:
    assert [source.name for source in find_sources([str(folder / "notes.txt")])] == ["notes.txt"]
    assert [source.name for source in find_sources([f"file://{folder}/a.warc"])] == ["a.warc"]


def test_a_pipe_is_read_forward(tmp_path: Path) -> None:
    parts = [warc(n) for n in range(3)]
    broken = bytearray(parts[1])
    broken[40] ^= 0xFF
    urls, tally = _through_a_pipe(tmp_path, parts[0] + bytes(broken) + parts[2])
    assert urls == ["0", "2"]
    assert tally.damage[0].offset == len(parts[0])


def _through_a_pipe(tmp_path: Path, data: bytes) -> tuple[list[str], Tally]:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    tally = Tally()
    urls = [c.url[-1] for c in read_captures(pipe, tally=tally)]
    writer.join()
    return urls, tally


def test_what_a_pipe_no_longer_holds_is_not_gone_back_to(tmp_path: Path) -> None:
    long = record(response(page("x") + "y" * (20 << 20)), 1, length=(21 << 20))
    data = long + b"".join(record(response(page(str(n)) + "y" * (2 << 20)), n) for n in range(2, 5))
    urls, tally = _through_a_pipe(tmp_path, data)
    assert urls[-2:] == ["3", "4"] and dict(tally.damaged) == {"wrong-length": 1}


def test_arguments_that_name_nothing_are_usage_errors(folder: Path) -> None:
    (folder / "empty").mkdir()
    for argument, message in (
        (str(folder / "gone.warc"), "no such file"),
        (str(folder / "*.zip"), "no file matches"),
        (str(folder / "empty"), "holds no WARC"),
    ):
        with pytest.raises(UsageError, match=message):
            find_sources([argument])
    with pytest.raises(UsageError, match="no source"):
        find_sources([])


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    paths = [f"crawl-data/CC-MAIN-2020-05/segments/1/warc/{n:05d}.warc.gz" for n in range(4)]
    for number, path in enumerate(paths):
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(warc(number))
    listing = tmp_path / "crawl-data/CC-MAIN-2020-05/warc.paths.gz"
    listing.write_bytes(gzip.compress("\n".join(paths).encode() + b"\n"))
    return tmp_path


def test_shards_of_a_crawl_are_resolved_by_its_list(mirror: Path) -> None:
    sources = crawl_sources("CC-MAIN-2020-05", "3,0-1", base_url=str(mirror))
    assert [source.number for source in sources] == [0, 1, 3]
    assert sources[2].name == "crawl-data/CC-MAIN-2020-05/segments/1/warc/00003.warc.gz"
    assert [c.url[-1] for source in sources for c in read_captures(source)] == ["0", "1", "3"]
    assert len(crawl_sources("CC-MAIN-2020-05", "all", base_url=f"{mirror}/")) == 4


def test_shards_that_do_not_exist_are_usage_errors(mirror: Path) -> None:
    for shards, message in (
        ("4", "no shard 4; the crawl has 0 to 3"),
        ("0-9", "no shard 9"),
        ("2-1", "backwards"),
        ("x", "neither"),
        ("1,,2", "neither"),
        ("-1", "neither"),
    ):
        with pytest.raises(UsageError, match=message):
            crawl_sources("CC-MAIN-2020-05", shards, base_url=str(mirror))
    with pytest.raises(UsageError, match="no name of a crawl"):
        crawl_sources("../x", "0", base_url=str(mirror))
    with pytest.raises(SourceError, match="No such file"):
        crawl_sources("CC-MAIN-1999-01", "0", base_url=str(mirror))
    with pytest.raises(UsageError, match="kinds"):
        crawl_sources("CC-MAIN-2020-05", "0", kind="pdf", base_url=str(mirror))


@given(st.sets(st.integers(0, 99), min_size=1))
def test_a_list_of_shards_is_read_back(numbers: set[int]) -> None:
    assert parse_shards(",".join(map(str, numbers)), 100) == sorted(numbers)
    assert parse_shards(f"{min(numbers)}-{max(numbers)}", 100) == list(range(min(numbers), max(numbers) + 1))


def test_a_damaged_list_of_paths_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "warc.paths.gz"
    good = gzip.compress(b"a\nb\n" * 100)
    for data, message in (
        (good[:-6], "cut"),
        (good[:20] + b"xxxx" + good[24:], "damaged|cut"),
        (b"", "empty"),
    ):
        path.write_bytes(data)
        with pytest.raises(SourceError, match=message):
            read_paths(str(path))
    path.write_bytes(b"a\n\nb\n")
    assert read_paths(str(path)) == ["a", "b"]


def test_a_list_that_climbs_out_of_the_base_is_refused(mirror: Path) -> None:
    listing = mirror / "crawl-data/CC-MAIN-2020-05/warc.paths.gz"
    listing.write_bytes(gzip.compress(b"../../etc/passwd\n"))
    with pytest.raises(SourceError, match="outside"):
        crawl_sources("CC-MAIN-2020-05", "0", base_url=str(mirror))


def _lines(folder: Path, name: str, parts: list[bytes], wanted: list[int]) -> list[str]:
    (folder / name).write_bytes(b"".join(parts))
    starts = [sum(len(part) for part in parts[:n]) for n in range(len(parts))]
    return [
        json.dumps(
            {
                "filename": name,
                "offset": str(starts[n]),
                "length": len(parts[n]),
                "url": f"http://w.example/{n}",
            }
        )
        for n in wanted
    ]


def test_records_are_fetched_by_place(tmp_path: Path) -> None:
    parts = [member(record(response(page(str(n))), n)) for n in range(9)]
    plain = [record(response(page(str(n))), n) for n in range(9)]
    arc = arc_file([arc_record(f"http://w.example/{n}", response(page(str(n)))) for n in range(3)])
    lines = (
        _lines(tmp_path, "b.warc.gz", parts, [7, 2, 3])
        + _lines(tmp_path, "a.warc", plain, [8, 0])
        + _lines(tmp_path, "c.arc.gz", [member(part) for part in arc], [2])
    )
    for gap in (0, 100, 1 << 20):
        (source,) = location_sources(lines, base_url=str(tmp_path), gap=gap)
        tally = Tally()
        captures = list(read_captures(source, tally=tally))
        assert [(c.filename, c.url[-1]) for c in captures] == [
            ("a.warc", "0"),
            ("a.warc", "8"),
            ("b.warc.gz", "2"),
            ("b.warc.gz", "3"),
            ("b.warc.gz", "7"),
            ("c.arc.gz", "1"),
        ]
        assert captures[4].offset == sum(len(part) for part in parts[:7])
        assert captures[1].offset == sum(len(part) for part in plain[:8])
        assert not tally.damage and tally.records == 6


def test_the_order_of_the_list_and_repeats_do_not_matter(tmp_path: Path) -> None:
    lines = _lines(tmp_path, "b.warc.gz", [warc(n) for n in range(6)], [5, 0, 3])
    made = location_sources(lines, base_url=str(tmp_path), part_size=2)
    assert made == location_sources([*lines[::-1], "", lines[0]], base_url=str(tmp_path), part_size=2)
    assert [len(source.locations) for source in made] == [2, 1]
    assert [source.name for source in made] == ["locations-000000", "locations-000001"]


def test_a_wrong_place_is_damage_and_not_the_end(tmp_path: Path) -> None:
    lines = _lines(tmp_path, "b.warc.gz", [warc(n) for n in range(4)], [0, 3])
    middle = {"filename": "b.warc.gz", "offset": len(warc(0)) + 9, "length": 50}
    beyond = {"filename": "b.warc.gz", "offset": 1 << 30, "length": 50}
    (source,) = location_sources([*lines, json.dumps(middle), json.dumps(beyond)], base_url=str(tmp_path))
    tally = Tally()
    assert [c.url[-1] for c in read_captures(source, tally=tally)] == ["0", "3"]
    assert [(d.offset, d.source) for d in tally.damage] == [
        (len(warc(0)) + 9, "b.warc.gz"),
        (1 << 30, "b.warc.gz"),
    ]


def test_lines_that_name_no_place_are_usage_errors(tmp_path: Path) -> None:
    good = '{"filename": "a", "offset": 0, "length": 1}'
    for line in (
        "x",
        "[]",
        "{}",
        '{"filename": "a", "offset": -1, "length": 1}',
        '{"filename": "", "offset": 0, "length": 1}',
    )[:]:
        with pytest.raises(UsageError, match="line 2"):
            location_sources([good, line], base_url=str(tmp_path))
    with pytest.raises(UsageError, match="empty"):
        location_sources(["", "\n"], base_url=str(tmp_path))
    with pytest.raises(UsageError, match="part-size"):
        location_sources([good], base_url=str(tmp_path), part_size=0)
    (source,) = location_sources(['{"filename": "../a", "offset": 0, "length": 1}'], base_url=str(tmp_path))
    with pytest.raises(SourceError, match="outside"):
        list(read_captures(source, options=CaptureOptions()))


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 500)), min_size=1, max_size=40),
    st.integers(0, 600),
    st.integers(1, 3000),
)
def test_spans_cover_every_place_once_and_keep_their_bounds(
    places: list[tuple[int, int]], gap: int, max_span: int
) -> None:
    locations = sorted((Location("f", *place) for place in set(places)), key=lambda one: one.offset)
    groups = list(spans(locations, gap, max_span))
    assert [location for group in groups for location in group] == locations
    for group in groups:
        end = max(location.offset + location.length for location in group)
        assert len(group) == 1 or end - group[0].offset <= max_span
        reached = group[0].offset
        for location in group:
            assert location.offset - reached <= gap or location is group[0]
            reached = max(reached, location.offset + location.length)
