"""Small archives for the tests, made by hand so that every byte is under the test's control."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import dataclass

TEXT = "The ferry left at seven and came back at nine with the post, the bread and two passengers. "


def page(marker: str, repeat: int = 3, charset: str = "utf-8") -> str:
    return (
        f'<!doctype html><html><head><meta charset="{charset}"><title>{marker}</title></head>'
        f"<body><main><h1>{marker}</h1><p>{TEXT * repeat}</p></main></body></html>"
    )


def response(
    body: bytes | str,
    status: bytes = b"HTTP/1.1 200 OK",
    headers: tuple[bytes, ...] = (),
    content_type: bytes | None = b"text/html; charset=utf-8",
    end: bytes = b"\r\n",
) -> bytes:
    if isinstance(body, str):
        body = body.encode()
    lines = [status, *headers]
    if content_type is not None:
        lines.append(b"Content-Type: " + content_type)
    return end.join(lines) + end + end + body


def record(
    block: bytes | str,
    number: int = 1,
    *,
    kind: str = "response",
    uri: str | None = None,
    date: str = "2024-05-06T07:08:09Z",
    version: str = "WARC/1.0",
    content_type: str = "application/http; msgtype=response",
    length: int | None = None,
    fields: tuple[str, ...] = (),
    end: str = "\r\n",
    trailer: bytes | None = None,
) -> bytes:
    """A WARC record; its target is http://w.example/NUMBER unless `uri` says otherwise ("" for none)."""
    if isinstance(block, str):
        block = block.encode()
    uri = f"http://w.example/{number}" if uri is None else uri
    lines = [version, f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:test:{number}>", f"WARC-Date: {date}"]
    if uri:
        lines.append(f"WARC-Target-URI: {uri}")
    lines += fields
    lines += [f"Content-Type: {content_type}", f"Content-Length: {len(block) if length is None else length}"]
    head = end.join(lines).encode() + end.encode() * 2
    return head + block + (end.encode() * 2 if trailer is None else trailer)


def member(data: bytes) -> bytes:
    """One gzip member with nothing in it that changes from run to run."""
    return gzip.compress(data, 6, mtime=0)


def chunks(body: bytes, size: int, extension: bytes = b"", last: bytes = b"0\r\n\r\n") -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%X%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces) + last


def arc_record(url: str, block: bytes, mime: str = "text/html", date: str = "20020304050607") -> bytes:
    return f"{url} 192.0.2.7 {date} {mime} {len(block)}\n".encode() + block + b"\n"


def arc_file(records: list[bytes]) -> list[bytes]:
    """The records of an ARC 1.1 file with its filedesc record before them."""
    block = b"1 1 tests\nURL IP-address Archive-date Content-type Archive-length\n"
    return [arc_record("filedesc://t.arc", block, "text/plain"), *records]


def zip_of(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@dataclass(frozen=True)
class Placed:
    """Parts of a file with the place of each: (start, end) in bytes."""

    data: bytes
    places: list[tuple[int, int]]


def placed(parts: list[bytes]) -> Placed:
    places: list[tuple[int, int]] = []
    at = 0
    for part in parts:
        places.append((at, at + len(part)))
        at += len(part)
    return Placed(b"".join(parts), places)
