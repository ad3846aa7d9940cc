"""The committed sample is what its script makes, and holds what its README says."""

from __future__ import annotations

import io
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
MEMBER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def members(archive: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Offset and content of each gzip member; None for one that does not inflate."""
    offset = 0
    while 0 <= offset < len(archive):
        inflate = zlib.decompressobj(31)
        try:
            content = inflate.decompress(archive[offset:])
            yield offset, content
            offset = len(archive) - len(inflate.unused_data)
        except zlib.error:
            yield offset, None
            offset = archive.find(MEMBER, offset + 1)


@pytest.fixture(scope="module")
def committed() -> bytes:
    return (SAMPLES / "sample.warc.gz").read_bytes()


@pytest.fixture(scope="module")
def records(committed: bytes) -> list[bytes]:
    return [content for _, content in members(committed) if content is not None]


@pytest.fixture(scope="module")
def responses(records: list[bytes]) -> list[bytes]:
    return [record for record in records if b"\r\nWARC-Type: response\r\n" in record]


def made(directory: Path) -> bytes:
    out = directory / "made.warc.gz"
    subprocess.run(
        [sys.executable, str(SAMPLES / "make_sample.py"), str(out)], check=True, capture_output=True
    )
    return out.read_bytes()


def payload(response: bytes) -> bytes:
    return response.split(b"\r\n\r\n", 2)[2].removesuffix(b"\r\n\r\n")


def test_script_makes_the_committed_archive(committed: bytes, tmp_path: Path) -> None:
    again = made(tmp_path)
    # Another zlib (zlib-ng, say) compresses to other bytes, and only then may they differ: the records may not.
    assert [content for _, content in members(again)] == [content for _, content in members(committed)]
    if same_zlib(committed):
        assert again == committed


def same_zlib(committed: bytes) -> bool:
    """Whether this machine's zlib gives the committed bytes for the committed first record."""
    (start, content), (end, _) = list(members(committed))[:2]
    assert content is not None
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(content) + compressor.flush() == committed[start + len(MEMBER) : end - 8]


def test_script_makes_the_same_bytes_each_time(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert made(tmp_path / "a") == made(tmp_path / "b")


def test_archive_is_small(committed: bytes) -> None:
    assert len(committed) < 300_000


def test_one_record_in_the_middle_is_damaged(committed: bytes) -> None:
    contents = [content for _, content in members(committed)]
    damaged = [index for index, content in enumerate(contents) if content is None]
    assert len(damaged) == 1
    assert 0.25 * len(contents) < damaged[0] < 0.75 * len(contents)
    before, after = contents[damaged[0] - 1], contents[damaged[0] + 1]
    assert before is not None and b"WARC-Type: request" in before
    assert after is not None and b"WARC-Type: metadata" in after


def test_record_kinds(records: list[bytes]) -> None:
    kinds = Counter(record.split(b"WARC-Type: ", 1)[1].split(b"\r\n", 1)[0] for record in records)
    assert kinds[b"warcinfo"] == kinds[b"revisit"] == 1
    assert kinds[b"request"] == kinds[b"metadata"] == kinds[b"response"] + 1
    assert kinds[b"response"] >= 55


def test_independent_reader_agrees_on_lengths_and_digests(records: list[bytes]) -> None:
    from warcio.archiveiterator import ArchiveIterator

    stream = io.BytesIO(b"".join(records))
    count = 0
    for record in ArchiveIterator(stream, check_digests="raise"):
        record.content_stream().read()
        count += 1
    assert count == len(records)


def test_statuses_and_media_types(responses: list[bytes]) -> None:
    statuses = Counter(response.split(b"HTTP/1.1 ", 1)[1][:3] for response in responses)
    assert statuses[b"301"] == statuses[b"404"] == 1
    joined = b"".join(responses)
    for media_type in (b"application/pdf", b"image/gif", b"text/plain", b"application/xhtml+xml"):
        assert b"\r\nContent-Type: " + media_type in joined
    assert sum(b"\r\nTransfer-Encoding: chunked\r\n" in response for response in responses) == 1
    assert sum(b"\r\nContent-Encoding: " in response for response in responses) == 3


def test_exact_and_near_duplicates(responses: list[bytes]) -> None:
    pages = [response for response in responses if len(payload(response)) > 200]
    copies = Counter(payload(response) for response in pages)
    assert sorted(count for count in copies.values() if count > 1) == [2, 2, 2, 2]
    assert sum(b"WARC-Target-URI: https://www.mirror-of-" in response for response in pages) == 5


def test_languages_and_encodings() -> None:
    pages = list((SAMPLES / "pages").glob("*.html"))
    heads = [page.read_text(encoding="utf-8").partition("\n\n")[0] for page in pages]
    assert len({page.name.split("-")[0] for page in pages}) >= 24
    assert sum("\ncharset: " in head for head in heads) >= 15
