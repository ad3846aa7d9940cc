"""The table of formats, sources and damage in docs/reference/archives.md, made by trying each of them.

cd tests && python -m archives.matrix     write the table into the page
"""

from __future__ import annotations

import bz2
import json
import os
import random
import tempfile
import threading
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import lz4.frame
import zstandard

from ccrawl.archives import CaptureOptions, Source, Tally, find_sources, location_sources, read_captures
from ccrawl.errors import SourceError

from .build import arc_file, arc_record, member, page, record, response, zip_of
from .server import Server, running_s3

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "archives.md"
BEGIN, END = "<!-- formats: begin, made by tests/archives/matrix.py -->", "<!-- formats: end -->"
COUNT = 5
HEAD = [
    "format",
    "file, folder, pattern",
    "http(s)",
    "s3",
    "by location",
    "a damaged record costs",
    "a cut file",
]


def _blocks() -> list[bytes]:
    rnd = random.Random(2)
    return [response(page(f"page {n}") + rnd.randbytes(20_000).hex()) for n in range(COUNT)]


def _warc() -> list[bytes]:
    return [record(block, n) for n, block in enumerate(_blocks())]


def _arc() -> list[bytes]:
    return arc_file([arc_record(f"http://w.example/{n}", block) for n, block in enumerate(_blocks())])


def _wet() -> list[bytes]:
    text = [block.partition(b"\r\n\r\n")[2] for block in _blocks()]
    return [record(one, n, kind="conversion", content_type="text/plain") for n, one in enumerate(text)]


def _zstd(part: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(part)


def _with_dictionary(parts: list[bytes]) -> list[bytes]:
    raw = b"".join(parts)[:4000]
    dictionary = zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    frame = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw
    return [frame, *(compressor.compress(part) for part in parts)]


def _each(compress: Callable[[bytes], bytes], parts: list[bytes]) -> list[bytes]:
    return [compress(part) for part in parts]


def _wacz(compression: int) -> list[bytes]:
    return [zip_of({"archive/a.warc.gz": b"".join(_each(member, _warc()))}, compression)]


def _multi() -> list[bytes]:
    return [zip_of({"one.wacz": _wacz(zipfile.ZIP_STORED)[0]})]


def _blocks_of_gzip() -> list[bytes]:
    data = b"".join(_warc())
    return [member(data[at : at + 9000]) for at in range(0, len(data), 9000)]


# name, file name, the file's parts (one a record where they are separate)
FORMATS: list[tuple[str, str, list[bytes]]] = [
    ("WARC", "a.warc", _warc()),
    ("WARC, gzip per record", "a.warc.gz", _each(member, _warc())),
    ("WARC, gzip of the whole file", "a.warc.gz", [member(b"".join(_warc()))]),
    ("WARC, gzip in blocks (bgzip)", "a.warc.gz", _blocks_of_gzip()),
    ("WARC, zstd per record", "a.warc.zst", _each(_zstd, _warc())),
    ("WARC, zstd with a dictionary frame", "a.warc.zst", _with_dictionary(_warc())),
    ("WARC, zstd of the whole file", "a.warc.zst", [_zstd(b"".join(_warc()))]),
    ("WARC, bzip2 per record", "a.warc.bz2", _each(bz2.compress, _warc())),
    (
        "WARC, LZ4 per record",
        "a.warc.lz4",
        _each(lambda p: lz4.frame.compress(p, content_checksum=True), _warc()),
    ),
    ("WET (conversion records)", "a.warc.wet.gz", _each(member, _wet())),
    ("ARC", "a.arc", _arc()),
    ("ARC, gzip per record", "a.arc.gz", _each(member, _arc())),
    ("WACZ, stored members", "a.wacz", _wacz(zipfile.ZIP_STORED)),
    ("WACZ, deflated members", "a.wacz", _wacz(zipfile.ZIP_DEFLATED)),
    ("Multi-WACZ", "a.wacz", _multi()),
]


def _read(sources: list[Source], wet: bool) -> tuple[list[int], Tally]:
    tally = Tally()
    options = CaptureOptions(conversions=wet)
    captures = [c for source in sources for c in read_captures(source, options=options, tally=tally)]
    for capture in captures:
        capture.payload()
    return [int(capture.url.rpartition("/")[2]) for capture in captures], tally


def _reads(find: Callable[[], list[Source]], wet: bool) -> str:
    found, tally = _read(find(), wet)
    return "yes" if found == list(range(COUNT)) and not tally.damage else "no"


def _damaged(folder: Path, name: str, parts: list[bytes], wet: bool) -> str:
    """What is lost when one byte in the middle of the third record is another one."""
    data = bytearray(b"".join(parts))
    own = parts[len(parts) - COUNT :]
    at = len(data) // 2
    if len(own) == COUNT and len(parts) <= COUNT + 1:
        at = len(data) - sum(map(len, own[2:])) + len(own[2]) // 2
    data[at] ^= 0xFF
    (folder / name).write_bytes(data)
    found, tally = _read(find_sources([str(folder / name)]), wet)
    lost = sorted(set(range(COUNT)) - set(found))
    if not lost and not tally.damage:
        return "its bytes: no checksum tells"
    if not tally.damage:
        return "a record, unseen"
    if lost == [2]:
        return "that record"
    return "the records in its block" if lost[-1] < COUNT - 1 else "that record and what follows"


def _cut(folder: Path, name: str, parts: list[bytes], wet: bool) -> str:
    data = b"".join(parts)
    (folder / name).write_bytes(data[: len(data) - min(len(parts[-1]) // 3, 500)])
    try:
        found, tally = _read(find_sources([str(folder / name)]), wet)
    except SourceError:
        return "one clear error"
    whole = found == list(range(len(found))) and len(found) < COUNT
    return "said, its last record dropped" if whole and dict(tally.damaged) == {"cut": 1} else "unseen"


def _by_location(folder: Path, name: str, parts: list[bytes], wet: bool) -> str:
    own = parts[len(parts) - COUNT :]
    if len(own) != COUNT or len(parts) not in (COUNT, COUNT + (".arc" in name)):
        return "no: records share a member" if ".wacz" not in name else "no"
    at = sum(map(len, parts)) - sum(map(len, own))
    lines = []
    for part in own:
        lines.append(json.dumps({"filename": name, "offset": at, "length": len(part)}))
        at += len(part)
    return _reads(lambda: location_sources(lines, base_url=str(folder)), wet)


def rows() -> list[list[str]]:
    """The table's rows, each cell the outcome of a trial."""
    made = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(Server())
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        endpoint, client = stack.enter_context(running_s3())
        stack.enter_context(
            mock.patch.dict(
                os.environ, AWS_ENDPOINT_URL=endpoint, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b"
            )
        )
        for number, (title, name, parts) in enumerate(FORMATS):
            own = folder / str(number)
            own.mkdir()
            data = b"".join(parts)
            (own / name).write_bytes(data)
            server.files[f"/{number}/{name}"] = data
            client.put_object(Bucket="mirror", Key=f"{number}/{name}", Body=data)
            wet = ".wet" in name
            arguments = [str(own / name), str(own), str(own / "a.*")]
            local = {_reads(lambda one=one: find_sources([one]), wet) for one in arguments}  # type: ignore[misc]
            http, s3 = f"{server.url}/{number}/{name}", f"s3://mirror/{number}/{name}"
            located = _by_location(own, name, parts, wet)
            made.append(
                [
                    title,
                    *local,
                    _reads(lambda url=http: find_sources([url]), wet),  # type: ignore[misc]
                    _reads(lambda url=s3: find_sources([url]), wet),  # type: ignore[misc]
                    "no: the dictionary is elsewhere" if "dictionary" in title else located,
                    _damaged(own, name, parts, wet),
                    _cut(own, name, parts, wet),
                ]
            )
    return made


def table() -> str:
    """The table as Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *rows()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Write the table into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
