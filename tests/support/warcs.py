"""WARC files made by hand, byte by byte, so that a test sees what it feeds."""

from __future__ import annotations

import base64
import gzip
import hashlib
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

SENTENCES = (
    "The ferry to the island leaves at noon and comes back before the lamps are lit.",
    "Nobody on the quay remembered who had painted the blue door of the old warehouse.",
    "In the third week of May the gardeners moved the lemon trees out of the glass house.",
    "She wrote down the height of the water every morning in a book with a green cover.",
    "The bakery sells its last bread at five, and after that only the cat is awake.",
    "Two engineers measured the bridge again, since the first numbers did not add up.",
)


def page(number: int, *, sentences: int = 5, extra: str = "") -> bytes:
    """An HTML page with a heading and a paragraph of its own for every `number`."""
    text = " ".join(
        SENTENCES[(number + step * (number % 5 + 1)) % len(SENTENCES)] for step in range(sentences)
    )
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Page {number}</title></head><body>'
        f'<nav><a href="/">Home</a> <a href="/all">All pages</a></nav>'
        f"<main><h1>Page {number}</h1><p>This is text number {number}. {text}</p>{extra}</main>"
        f"<footer>Made by hand</footer></body></html>"
    ).encode()


def http(
    body: bytes,
    *,
    status: str = "200 OK",
    content_type: str | None = "text/html",
    headers: Sequence[str] = (),
) -> bytes:
    """An HTTP response message."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def record(
    block: bytes,
    *,
    url: str = "http://site.test/",
    kind: str = "response",
    date: str = "2025-03-04T05:06:07Z",
    headers: Sequence[str] = (),
    length: int | None = None,
    record_id: str | None = None,
) -> bytes:
    """A WARC/1.0 record. `length` overrides Content-Length."""
    record_id = (
        record_id
        or f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, kind + url + hashlib.md5(block).hexdigest())}>"
    )
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: {record_id}",
        f"WARC-Date: {date}",
        f"WARC-Target-URI: {url}",
        *headers,
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(number: int, *, url: str | None = None, body: bytes | None = None, digest: bool = True) -> bytes:
    """The record of `page(number)` at a URL of its own, with its payload digest unless told otherwise."""
    body = page(number) if body is None else body
    headers = [f"WARC-Payload-Digest: {sha1(body)}"] if digest else []
    return record(http(body), url=url or f"http://site.test/{number}", headers=headers)


def sha1(payload: bytes) -> str:
    """A digest as Common Crawl writes it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(payload).digest()).decode()


def write(path: Path, records: Iterable[bytes]) -> Path:
    """Write the records, each a gzip member of its own where `path` ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    compress = path.suffix == ".gz"
    with path.open("wb") as file:
        for one in records:
            file.write(gzip.compress(one, compresslevel=6, mtime=0) if compress else one)
    return path
