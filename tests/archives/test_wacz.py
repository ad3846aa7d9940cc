"""WACZ files of every layout, whole, nested, by manifest, damaged and hostile."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccrawl.archives import Tally, find_sources, read_captures
from ccrawl.archives.wacz import Inflated, Rewinding, Section, manifest_paths
from ccrawl.errors import SourceError

from .build import member, page, record, response, zip_of


def warc(number: int) -> bytes:
    return member(record(response(page(f"page {number}")), number))


DAMAGED = zip_of(
    {"archive/a.warc.gz": warc(1), "b.wacz": zip_of({"c.warc.gz": warc(2)}), "archive/plain": b"WARC/1.0\r\n"}
)


def urls(path: Path) -> list[str]:
    return [capture.url for capture in read_captures(path)]


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_every_warc_inside_is_a_source_of_its_own(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.wacz",
        zip_of(
            {
                "archive/b.warc.gz": warc(2),
                "archive/a.warc.gz": warc(1),
                "archive/deep/er/plain.warc": record(response(page("3")), 3),
                "archive/no-suffix": warc(4),
                "archive/notes.txt": b"no archive",
                "archive/index.cdx.gz": member(b"com,example)/ 2020"),
                "extra.warc": record(response(page("5")), 5),
                "indexes/index.cdxj": b"com,example)/ 20200101 {}",
                "pages/pages.jsonl": b"{}",
                "datapackage.json": b"{}",
            }
        ),
    )
    sources = find_sources([str(path)])
    assert [source.name for source in sources] == [
        "c.wacz/archive/a.warc.gz",
        "c.wacz/archive/b.warc.gz",
        "c.wacz/archive/deep/er/plain.warc",
        "c.wacz/archive/no-suffix",
        "c.wacz/extra.warc",
    ]
    captures = [capture for source in sources for capture in read_captures(source)]
    assert [capture.url[-1] for capture in captures] == ["1", "2", "3", "4", "5"]
    assert [capture.offset for capture in captures] == [0] * 5  # in the member, where a CDX looks for it
    assert captures[0].filename == "c.wacz/archive/a.warc.gz"


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_stored_and_compressed_members(tmp_path: Path, compression: int) -> None:
    path = write(tmp_path / "c.wacz", zip_of({"archive/a.warc.gz": warc(1) + warc(2)}, compression))
    assert urls(path) == ["http://w.example/1", "http://w.example/2"]


def test_damage_inside_a_deflated_member_costs_no_other_record(tmp_path: Path) -> None:
    broken = bytearray(warc(2))
    broken[60] ^= 0xFF
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = write(
            tmp_path / "c.wacz", zip_of({"archive/a.warc.gz": warc(1) + bytes(broken) + warc(3)}, compression)
        )
        tally = Tally()
        captures = list(read_captures(path, tally=tally))
        assert [capture.url[-1] for capture in captures] == ["1", "3"]
        assert [(d.offset, d.source) for d in tally.damage] == [(len(warc(1)), "c.wacz/archive/a.warc.gz")]


@given(
    st.binary(max_size=2000),
    st.integers(1, 100),
    st.lists(st.tuples(st.integers(0, 2100), st.integers(0, 300))),
)
def test_a_packed_member_reads_the_same_at_any_place(
    data: bytes, repeat: int, reads: list[tuple[int, int]]
) -> None:
    plain = data * repeat
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(plain) + packer.flush()
    raw = Rewinding(Inflated(Section(io.BytesIO(packed), 0, len(packed))), "x")
    file = io.BufferedReader(raw, 64)
    assert file.seek(0, io.SEEK_END) == len(plain)
    for place, size in reads:
        start = place * repeat
        file.seek(start)
        assert file.read(size) == plain[start : start + size]


def test_zip64_members(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w") as archive,
        archive.open("archive/a.warc.gz", "w", force_zip64=True) as file,
    ):
        file.write(warc(1))
    assert urls(write(tmp_path / "c.wacz", buffer.getvalue())) == ["http://w.example/1"]


def test_bytes_before_the_zip_do_not_matter(tmp_path: Path) -> None:
    inner = zip_of({"archive/a.warc.gz": warc(1)})
    buffer = io.BytesIO(b"PK\x03\x04" + b"\0" * 60)
    buffer.seek(64)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("archive/a.warc.gz", warc(1))
    assert urls(write(tmp_path / "c.wacz", buffer.getvalue())) == ["http://w.example/1"]
    assert urls(write(tmp_path / "plain.wacz", inner)) == ["http://w.example/1"]


def test_nested_files_are_read_through(tmp_path: Path) -> None:
    inner = zip_of({"archive/a.warc.gz": warc(1)})
    outer = zip_of(
        {"one.wacz": inner, "two.wacz": zip_of({"archive/b.warc.gz": warc(2)}, zipfile.ZIP_DEFLATED)}
    )
    path = write(tmp_path / "multi.wacz", outer)
    assert [source.name for source in find_sources([str(path)])] == [
        "multi.wacz/one.wacz/archive/a.warc.gz",
        "multi.wacz/two.wacz/archive/b.warc.gz",
    ]
    assert urls(path) == ["http://w.example/1", "http://w.example/2"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_wacz_packed_inside_another_is_read_within_a_bound(
    tmp_path: Path, compression: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = zip_of({"archive/a.warc.gz": warc(1), "b.wacz": zip_of({"c.warc": warc(2)})}, compression)
    path = write(tmp_path / "multi.wacz", zip_of({"in.wacz": inner}, compression))
    assert sorted(urls(path)) == ["http://w.example/1", "http://w.example/2"]
    monkeypatch.setattr("ccrawl.archives.wacz.MAX_UNPACKED", 100)
    monkeypatch.setattr("ccrawl.archives.wacz.MAX_PACKED_TIMES", 0)
    with pytest.raises(SourceError, match="unpacks to more than 100 bytes"):
        urls(path)


def test_nesting_has_an_end(tmp_path: Path) -> None:
    data = zip_of({"archive/a.warc.gz": warc(1)})
    for _ in range(6):
        data = zip_of({"in.wacz": data})
    with pytest.raises(SourceError, match="nested more than"):
        urls(write(tmp_path / "deep.wacz", data))


def test_a_manifest_names_files_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "a.wacz", zip_of({"archive/a.warc.gz": warc(1)}))
    write(tmp_path / "sub" / "b.wacz", zip_of({"archive/b.warc.gz": warc(2)}))
    manifest = {
        "profile": "multi-wacz-package",
        "resources": [{"name": "a", "path": "a.wacz"}, {"path": "sub/b.wacz"}, {"path": "pages.jsonl"}],
    }
    path = write(tmp_path / "all.json", json.dumps(manifest).encode())
    assert urls(path) == ["http://w.example/1", "http://w.example/2"]


def test_a_manifest_cannot_point_outside_its_folder() -> None:
    for name in ("../x.wacz", "/etc/x.wacz", "file:///etc/x.wacz", "a/../../x.wacz"):
        with pytest.raises(SourceError, match="names"):
            manifest_paths(json.dumps({"resources": [{"path": name}]}).encode(), "folder/all.json")
    assert manifest_paths(b'{"resources": [{"path": "b.wacz"}, {"url": "https://o.example/c.wacz?x=1"}]}', "http://w.example/d/all.json") == [
        "http://w.example/d/b.wacz",
        "https://o.example/c.wacz?x=1",
    ]  # fmt: skip
    for text in (b"", b"[]", b'{"resources": 3}', b'{"resources": [{}]}', b"[" * 100_000):
        with pytest.raises(SourceError, match="manifest"):
            manifest_paths(text, "all.json")


def test_names_that_climb_out_are_left_out(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.wacz",
        zip_of({"../x.warc.gz": warc(1), "/y.warc.gz": warc(2), "archive/z.warc.gz": warc(3)}),
    )
    assert urls(path) == ["http://w.example/3"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_wacz_without_a_warc_gives_nothing_and_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "c.wacz", zip_of({"datapackage.json": b"{}"}))
    assert [source.path for source in find_sources([str(path)])] == [str(path)]
    assert urls(path) == []
    assert "c.wacz holds no WARC" in caplog.text


def test_a_cut_or_damaged_directory_is_one_clear_error(tmp_path: Path) -> None:
    good = zip_of({"archive/a.warc.gz": warc(1)})
    for data in (good[:-30], good[: len(good) // 2], good.replace(b"PK\x01\x02", b"PK\x01\x09")):
        path = write(tmp_path / "cut.wacz", data)
        assert len(find_sources([str(path)])) == 1  # a broken file doesn't end a run before it begins
        with pytest.raises(SourceError, match=r"cut\.wacz: the ZIP directory .* missing or damaged"):
            urls(path)


def test_a_member_that_isnt_where_the_directory_says_is_an_error(tmp_path: Path) -> None:
    data = zip_of({"archive/a.warc.gz": warc(1)})
    path = write(tmp_path / "c.wacz", data.replace(b"PK\x03\x04", b"PK\x03\x05", 1))
    with pytest.raises(SourceError):
        urls(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1), values=st.binary(min_size=1, max_size=8), cut=st.booleans())
def test_no_damage_to_a_zip_raises_anything_but_a_source_error(
    place: float, values: bytes, cut: bool, tmp_path: Path
) -> None:
    data = bytearray(DAMAGED)
    at = int(place * (len(data) - 1))
    data[at : at + len(values)] = values
    path = write(tmp_path / "c.wacz", bytes(data[: at + 20] if cut else data))
    try:
        assert set(urls(path)) <= {f"http://w.example/{n}" for n in range(9)}
    except SourceError:
        pass


def test_an_absurd_directory_is_refused(tmp_path: Path) -> None:
    data = bytearray(zip_of({"archive/a.warc.gz": warc(1)}))
    at = data.rfind(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<L", 0xF0000000)
    with pytest.raises(SourceError, match=r"directory of \d+ bytes"):
        urls(write(tmp_path / "c.wacz", bytes(data)))
