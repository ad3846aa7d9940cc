"""Damage anywhere costs the records that it touches and no other."""

from __future__ import annotations

import dataclasses
import gzip
import io
import os
import random
import threading
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccrawl.archives import Capture, CaptureOptions, Tally, framing, members, read_captures
from ccrawl.archives.codecs import GZIP
from ccrawl.archives.window import Window
from ccrawl.errors import ArchiveError, SourceError

from .build import Placed, arc_file, arc_record, member, page, placed, record, response

COUNT = 8


def _pages() -> list[bytes]:
    # Bodies that don't compress well, so that damage falls into data and not only into heads.
    rnd = random.Random(5)
    return [
        response(page(f"page {n}") + "".join(chr(rnd.randrange(97, 123)) for _ in range(300 + 150 * n)))
        for n in range(COUNT)
    ]


def _warc() -> list[bytes]:
    return [record(block, n, trailer=b"\r\n\r\n") for n, block in enumerate(_pages())]


def _arc() -> list[bytes]:
    return arc_file([arc_record(f"http://w.example/{n}", block) for n, block in enumerate(_pages())])


FORMS: dict[str, list[bytes]] = {
    "plain.warc": _warc(),
    "members.warc.gz": [member(part) for part in _warc()],
    "plain.arc": _arc(),
    "members.arc.gz": [member(part) for part in _arc()],
}


def _read(path: Path) -> tuple[list[Capture], Tally]:
    tally = Tally()
    captures = list(read_captures(path, tally=tally))
    assert tally.records == tally.captures + tally.skipped.total()
    assert tally.captures == len(captures)
    return captures, tally


@st.composite
def damages(draw: st.DrawFn) -> tuple[str, float, int, bytes]:
    kind = draw(st.sampled_from(["flip", "cut", "insert", "delete"]))
    place = draw(st.floats(0, 1, allow_nan=False))
    count = draw(st.sampled_from([1, 1, 2, 5, 40, 700]))
    return kind, place, count, draw(st.binary(min_size=1, max_size=60))


def _damaged(file: Placed, damage: tuple[str, float, int, bytes]) -> tuple[bytes, dict[int, int]]:
    """The damaged bytes, and the new offset of each part that was not touched."""
    kind, place, count, inserted = damage
    data = file.data
    at = min(int(place * len(data)), len(data) - 1)
    end = min(at + count, len(data))
    if kind == "flip":
        broken = data[:at] + bytes(byte ^ 0x2A for byte in data[at:end]) + data[end:]
        shift = 0
    elif kind == "cut":
        broken, end, shift = data[:at], len(data), 0
    elif kind == "insert":
        broken, end, shift = data[:at] + inserted + data[at:], at, len(inserted)
    else:
        broken, shift = data[:at] + data[end:], at - end
    whole = {}
    for index, (start, stop) in enumerate(file.places):
        if stop <= at:
            whole[index] = start
        elif start >= end and (kind != "cut"):
            whole[index] = start + shift
    return broken, whole


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=damages())
def test_every_untouched_record_is_yielded_at_its_offset(
    name: str, damage: tuple[str, float, int, bytes], tmp_path: Path
) -> None:
    parts = FORMS[name]
    file = placed(parts)
    broken, whole = _damaged(file, damage)
    path = tmp_path / name
    path.write_bytes(broken)
    try:
        captures, tally = _read(path)
    except SourceError:
        # Nothing is left that looks like an archive, or at least no page could have been.
        assert not whole or (whole.keys() == {0} and ".arc" in name)
        return
    first = 1 if ".arc" in name else 0  # an ARC file starts with its own record
    found = {capture.url: capture for capture in captures}
    pages = _pages()
    for index, offset in whole.items():
        if index < first:
            continue
        capture = found[f"http://w.example/{index - first}"]
        assert capture.offset == offset
        assert capture.payload() == pages[index - first].partition(b"\r\n\r\n")[2]
    at = min(int(damage[1] * len(file.data)), len(file.data) - 1)
    if damage[0] == "cut" and any(start < at < stop - 4 for start, stop in file.places):
        assert tally.damage  # a record that lost more than the line ends behind it is said to be cut


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=damages())
def test_records_before_the_damage_in_a_file_of_one_member_survive(
    damage: tuple[str, float, int, bytes], tmp_path: Path
) -> None:
    whole = member(b"".join(_warc()))
    file = placed([whole])
    broken, _ = _damaged(file, damage)
    path = tmp_path / "whole.warc.gz"
    path.write_bytes(broken)
    at = min(int(damage[1] * len(whole)), len(whole) - 1)
    # What an independent inflater gives for the bytes before the damage. The last record is left out: a
    # checksum that fails, right behind it, speaks against it.
    before = zlib.decompressobj(31).decompress(broken[:at])
    expected = [
        n for n, (_, stop) in enumerate(placed(_warc()).places) if stop <= len(before) and n < COUNT - 1
    ]
    try:
        captures, _ = _read(path)
    except SourceError:
        assert not expected
        return
    urls = [capture.url for capture in captures]
    assert urls[: len(expected)] == [f"http://w.example/{n}" for n in expected]
    assert all(capture.offset is None for capture in captures)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=600),
        st.lists(
            st.sampled_from(
                [
                    b"WARC/1.0\r\n",
                    b"Content-Length: 5\r\n",
                    b"Content-Length: 99\r\n",
                    b"\r\n",
                    b"\n",
                    b"hello",
                    b"WARC-Type: response\r\n",
                    b"HTTP/1.1 200 OK\r\n",
                    b"http://a/ 1.2.3.4 20200101000000 t/h 5\n",
                    b"filedesc://x 0.0.0.0 20200101000000 text/plain 3\n",
                    b"\x1f\x8b\x08",
                    b"\x00",
                    b"<html>",
                    member(record(response("<p>x</p>"), 1)),
                    record(response("<p>y</p>"), 2),
                    b"BZh9",
                    b"PK\x03\x04",
                ]
            ),
            max_size=30,
        ).map(b"".join),
    ),
    name=st.sampled_from(["f.warc", "f.warc.gz", "f.arc.gz", "f.warc.zst", "f.wacz", "f.bin"]),
)
def test_no_bytes_raise_anything_but_a_source_error(data: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    try:
        _read(path)
    except SourceError:
        pass


def test_a_cut_last_record_is_damage_and_not_a_page(tmp_path: Path) -> None:
    for name, parts in FORMS.items():
        data = b"".join(parts)
        path = tmp_path / name
        path.write_bytes(data[: -len(parts[-1]) // 2])
        captures, tally = _read(path)
        assert len(captures) == COUNT - 1, name
        assert dict(tally.damaged) == {"cut": 1}, name
        assert tally.damage[0].offset == len(data) - len(parts[-1]), name


def test_damage_is_an_error_when_strict(tmp_path: Path) -> None:
    path = tmp_path / "cut.warc"
    path.write_bytes(b"".join(_warc())[:-100])
    with pytest.raises(ArchiveError, match=r"cut\.warc: damage at byte \d+: cut"):
        list(read_captures(path, options=CaptureOptions(strict=True)))


def test_a_length_that_swallows_the_next_record_costs_only_its_own(tmp_path: Path) -> None:
    parts = _warc()
    size = len(_pages()[2])
    long = record(_pages()[2], 2, length=size + len(parts[3]) // 2, trailer=b"\r\n\r\n")
    for name, wrap in (("a.warc", bytes), ("a.warc.gz", member)):
        path = tmp_path / name
        path.write_bytes(wrap(b"".join([*parts[:2], long, *parts[3:]])))
        captures, tally = _read(path)
        assert [c.url[-1] for c in captures] == [str(n) for n in range(COUNT) if n != 2]
        assert dict(tally.damaged) == {"wrong-length": 1}
        assert tally.damage[0].length == len(long)


def test_garbage_between_records_costs_no_record(tmp_path: Path) -> None:
    parts = _warc()
    path = tmp_path / "g.warc"
    path.write_bytes(parts[0] + b"some lines\nof a log\n" + parts[1] + b"\0\0\0\0" + parts[2])
    captures, tally = _read(path)
    assert len(captures) == 3
    assert [(d.offset, d.cause, d.length) for d in tally.damage] == [
        (len(parts[0]), "garbage", 20),
        (len(parts[0]) + 20 + len(parts[1]), "garbage", 4),
    ]


def test_members_that_a_cut_one_swallows_are_found(tmp_path: Path) -> None:
    # A stored block copies 64 KiB whatever they are: the decoder runs far into the members behind the cut.
    stored = gzip.compress(record(response(random.Random(1).randbytes(200_000)), 99), 0)
    small = [member(record(response(page(str(n))), n)) for n in range(COUNT)]
    path = tmp_path / "t.warc.gz"
    path.write_bytes(stored[:20_000] + b"".join(small) + member(os.urandom(90_000)) + small[0])
    captures, tally = _read(path)
    assert [c.url[-1] for c in captures] == [*"01234567", "0"]
    assert tally.damage[0].offset == 0 and tally.damage[0].length == 20_000


def test_bytes_made_to_look_like_members_cost_little_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each start has a name that swallows the starts after it, up to the one bomb that all of them share.
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = coder.compress(bytes(8 << 20)) + coder.flush() + b"bad checksum"
    data = b"\x1f\x8b\x08\x08\x01\x01\x01\x01\x01\x03" * 5000 + b"\0" + bomb
    decoded = 0

    class Counting:
        def __init__(self) -> None:
            self._decoder = GZIP.decoder()

        def decompress(self, piece: bytes, most: int) -> bytes:
            nonlocal decoded
            piece = self._decoder.decompress(piece, most)
            decoded += len(piece)
            return piece

        def __getattr__(self, name: str) -> object:
            return getattr(self._decoder, name)

    monkeypatch.setattr(members, "MAX_LONG_TRIALS", 10)
    codec = dataclasses.replace(GZIP, decoder=Counting)  # type: ignore[arg-type]
    stream = members.CompressedMembers(Window(io.BytesIO(data), len(data)), codec)
    assert not stream.resync(lambda piece: False)
    assert decoded < 10 * (members.PIECE + members.TRIAL) + 5000 * 3 * 4096


def test_a_file_of_heads_that_claim_megabytes_is_gone_back_in_so_many_times_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lengths above what is held: each would be sought over, found wrong, and gone back from.
    path = tmp_path / "hostile.warc"
    heads = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n" % (30 << 20)
    with path.open("wb") as file:
        file.write(heads * 40_000)
        file.truncate(40 << 20)
    monkeypatch.setattr(framing, "MAX_LONG_LOSSES", 10)
    _, tally = _read(path)
    assert 10 < tally.damaged.total() < 20  # then the rest is passed over at once


def test_a_pipe_keeps_enough_to_find_members_that_a_cut_one_swallowed(tmp_path: Path) -> None:
    stored = gzip.compress(record(response(random.Random(1).randbytes(200_000)), 99), 0)
    small = [member(record(response(page(str(n))), n)) for n in range(COUNT)]
    filler = member(
        random.Random(2).randbytes(245_000)
    )  # so that a block of the window ends in what is swallowed
    data = filler + stored[:8000] + b"".join(small) + member(random.Random(3).randbytes(90_000))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    captures, _ = _read(pipe)
    writer.join()
    assert [c.url[-1] for c in captures] == [str(n) for n in range(COUNT)]
