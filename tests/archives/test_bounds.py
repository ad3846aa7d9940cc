"""Limits: heads, records and bombs cost no more memory and time than their bounds say."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard

from ccrawl.archives import CaptureOptions, Tally, read_captures
from ccrawl.archives.codecs import BZIP2, GZIP, Codec, zstd_codec
from ccrawl.archives.formats import MAX_HEAD
from ccrawl.archives.members import PIECE, CompressedMembers
from ccrawl.archives.window import Window

from .build import member, page, record, response, zip_of


def urls(path: Path, tally: Tally | None = None) -> list[str]:
    return [capture.url[-1] for capture in read_captures(path, tally=tally)]


def test_a_head_longer_than_the_limit_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "t.warc.gz"
    for size, expected in (
        (MAX_HEAD // 2, ["1", "2", "3"]),
        (2 * MAX_HEAD, ["1", "3"]),
        (40 * MAX_HEAD, ["1", "3"]),
    ):
        long = record(response(page("x")), 2, fields=("X-Long: " + "y" * size,))
        path.write_bytes(
            member(record(response(page("x")), 1)) + member(long) + member(record(response(page("x")), 3))
        )
        tally = Tally()
        assert urls(path, tally) == expected
        assert dict(tally.damaged) == ({} if "2" in expected else {"long-head": 1})


def test_an_http_head_longer_than_the_limit_has_no_body(tmp_path: Path) -> None:
    path = tmp_path / "t.warc.gz"
    block = response(page("x"), headers=(b"X: " + b"y" * (3 << 20),))
    path.write_bytes(member(record(block, 1)) + member(record(response(page("x")), 2)))
    assert urls(path) == ["2"]


@pytest.mark.parametrize("codec", ["gzip", "bzip2", "zstd"])
def test_decoded_pieces_are_bounded_whatever_the_ratio(codec: str) -> None:
    bomb = b"\0" * (32 << 20)
    coded = {"gzip": gzip.compress, "bzip2": bz2.compress, "zstd": zstandard.compress}[codec](bomb)
    window = Window(io.BytesIO(coded), len(coded))
    made: Codec = {"gzip": lambda _: GZIP, "bzip2": lambda _: BZIP2, "zstd": zstd_codec}[codec](window)
    members = CompressedMembers(window, made)
    assert members.begin()
    total = 0
    while piece := members.more():
        assert len(piece) <= PIECE
        total += len(piece)
    assert total == len(bomb)


_MEASURE = """
import json, resource, sys, time
from ccrawl.archives import Tally, read_captures
tally = Tally()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begun = time.process_time()
urls = [capture.url[-1] for capture in read_captures(sys.argv[1], tally=tally)]
print(json.dumps({
    "urls": urls, "skipped": tally.skipped, "damaged": tally.damaged, "seconds": time.process_time() - begun,
    "grown": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
}))
"""


def _measured(path: Path) -> dict:  # type: ignore[type-arg]
    """Read a file in a process of its own: what came, the seconds, and by how many MiB the process grew."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _zeros(count: int, head: bytes, tail: bytes) -> bytes:
    """head, `count` zero bytes and tail as one gzip member, without holding them."""
    coder = zlib.compressobj(1, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    parts = [coder.compress(head)]
    parts += [coder.compress(block) for _ in range(count >> 20)]
    return b"".join([*parts, coder.compress(tail), coder.flush()])


@pytest.mark.parametrize("form", ["warc.gz", "wacz"])
def test_a_huge_record_is_passed_over_in_little_memory(tmp_path: Path, form: str) -> None:
    size = 160 << 20
    video = response(b"", content_type=b"video/mp4")
    whole = record(video, 1, length=len(video) + size, trailer=b"")
    html = response(b"<html>")
    huge = record(html, 2, length=len(html) + size // 4, trailer=b"")
    data = (
        _zeros(size, whole, b"\r\n\r\n")
        + _zeros(size // 4, huge, b"\r\n\r\n")
        + member(record(response(page("x")), 3))
    )
    path = tmp_path / f"t.{form}"
    path.write_bytes(data if form == "warc.gz" else zip_of({"archive/a.warc.gz": data}, 8))
    result = _measured(path)
    assert result["urls"] == ["3"]
    assert result["skipped"] == {"not-html": 1, "too-large": 1}
    assert result["damaged"] == {}
    assert result["grown"] < 80
    assert result["seconds"] < 30


def test_a_plain_record_of_gigabytes_is_sought_over(tmp_path: Path) -> None:
    path = tmp_path / "t.warc"
    size = 8 << 30
    video = response(b"", content_type=b"video/mp4")
    with path.open("wb") as file:
        file.write(record(video, 1, length=len(video) + size, trailer=b""))
        file.seek(size, 1)  # a hole: it takes no room on the disk
        file.write(b"\r\n\r\n" + record(response(page("x")), 2))
    result = _measured(path)
    assert (result["urls"], result["skipped"], result["damaged"]) == (["2"], {"not-html": 1}, {})
    assert result["seconds"] < 1 and result["grown"] < 20


def test_pages_just_under_the_limit_stay_in_bounds(tmp_path: Path) -> None:
    path = tmp_path / "t.warc.gz"
    body = b"<html>" + b"x" * ((15 << 20) - 100)
    path.write_bytes(b"".join(member(record(response(body), n)) for n in range(3)))
    result = _measured(path)
    assert result["urls"] == ["0", "1", "2"]
    assert result["grown"] < 110


def test_a_length_of_many_digits_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "t.warc"
    for length in (10**17, 10**30):
        path.write_bytes(record(response(page("x")), 1, length=length) + record(response(page("x")), 2))
        tally = Tally()
        assert urls(path, tally) == ["2"]
        assert tally.damaged.total() == 1


def test_members_in_their_thousands_and_zero_padding_are_passed_quickly(tmp_path: Path) -> None:
    path = tmp_path / "t.warc.gz"
    path.write_bytes(
        member(b"") * 20_000 + bytes(1 << 20) + member(record(response(page("x")), 1)) + bytes(1 << 20)
    )
    tally = Tally()
    assert urls(path, tally) == ["1"]
    assert not tally.damage


def test_options_are_one_frozen_object() -> None:
    with pytest.raises(AttributeError):
        CaptureOptions().limit = 3  # type: ignore[misc]
