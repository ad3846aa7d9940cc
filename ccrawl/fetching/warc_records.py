"""Exchanges as WARC/1.1 records: a response or a revisit, and the request that asked for it.

Each record is a gzip member. Heads and bodies go in as they came, but for one thing: the transfer coding was
taken off the body, so `Transfer-Encoding`, and the `Content-Length` that it overrides (RFC 9112, section
6.3), are written as `X-Orig-Transfer-Encoding` and `X-Orig-Content-Length`, as Browsertrix has it. A reader
that believed them would take the body apart again.

Digests are SHA-256 in lower-case hex of the bytes as stored, content coding on: what Browsertrix writes and
keys its dedupe index by. Nothing here looks at a clock or at chance: the same exchange gives the same bytes.

Sources: the IIPC's WARC 1.1 (sections 5 and 6.7), Browsertrix Crawler's revisits.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote

from isal import igzip

from ccrawl import __version__
from ccrawl.archives import Digest, digest_of
from ccrawl.fetching.types import Exchange

IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
CONTAINER = "file://"  # what WARC-Refers-To-Container puts before a file name
SOFTWARE = f"ccrawl {__version__}"

# Of HTML it makes 20% where zlib's level 6 makes 17%, in a twelfth of the time (530 MB/s against 44): the
# writer shares its core with the fetch, and bodies mostly come compressed already.
_LEVEL = 2
_IDS = uuid.UUID("7e3a6a0e-5f0b-5c39-8f5c-1d0f4d1f6f0a")  # ours, for the ids of records
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_FRAMING = re.compile(rb"^((?:Transfer-Encoding|Content-Length)[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_TRANSFER_CODING = re.compile(rb"^Transfer-Encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)
_ANY_VISIBLE = re.compile(rb"[!-~]")
# Of ERRORS, those that cut a body; WARC 1.1, section 5.13.
_TRUNCATED = {"timeout": "time", "too-large": "length", "truncated": "disconnect", "disconnect": "disconnect"}

Fields = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Container:
    """A WACZ that holds originals. hash: SHA-256 in hex; size: bytes; crawl: its id in the dedupe index;
    each None or empty when not known."""

    filename: str
    hash: str | None = None
    size: int | None = None
    crawl: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier record with the same payload.

    date: its WARC-Date; digest: that of the payload, in the algorithm by which the two are known to be equal
    record_id: its WARC-Record-ID, "" when not known
    container: the WACZ that it lies in, None for one of this output or an unknown one
    """

    url: str
    date: str
    digest: Digest
    record_id: str = ""
    container: Container | None = None


def payload_digest(body: bytes) -> Digest:
    """The digest of a body as records carry it."""
    return digest_of(body, "sha256")


def warc_date(ms: int) -> str:
    """Unix milliseconds as a WARC-Date."""
    seconds, rest = divmod(ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{rest:03d}Z"


def warc_uri(url: str) -> str:
    """A URL as WARC-Target-URI: all but visible ASCII is escaped, so that it stays on its line."""
    return quote(url, safe=_VISIBLE, errors="replace")


def record_ids(position: int, hop: int, exchange: Exchange) -> tuple[str, str]:
    """WARC-Record-IDs of an exchange's answer and of its request.

    They depend on the exchange and its place alone: that is how a resumed run knows what it has written.
    """
    head = hashlib.sha256(exchange.response_head)
    head.update(hashlib.sha256(exchange.body).digest())
    told = f"{position} {hop} {exchange.started_at} {warc_uri(exchange.url)} {head.hexdigest()}"
    return _urn(f"answer {told}"), _urn(f"request {told}")


def has_payload(exchange: Exchange) -> bool:
    """Whether readers agree on where the body begins: no line of the head is blank before its end."""
    lines = exchange.response_head.split(b"\n")
    return (
        exchange.response_head.startswith(b"HTTP/")
        and len(lines) > 2
        and lines[-1] == b""
        and lines[-2] in (b"", b"\r")
        and all(_ANY_VISIBLE.search(line) for line in lines[:-2])
    )


def truncation(exchange: Exchange, error: str) -> str:
    """WARC-Truncated of an exchange: "" for a whole body. `error` is the fetch's, "" for a hop before."""
    return "" if exchange.complete else _TRUNCATED.get(error, "unspecified")


def warcinfo_record(filename: str, date: str, fields: Fields) -> bytes:
    """The record that opens a file; `fields` with an empty value are left out."""
    block = b"".join(
        f"{name}: {' '.join(value.split())}\r\n".encode("utf-8", "replace")
        for name, value in [
            ("software", SOFTWARE),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            *fields,
        ]
        if value.strip()
    )
    return _member(
        "warcinfo",
        [
            ("WARC-Record-ID", _urn(f"warcinfo {filename} {date} {hashlib.sha256(block).hexdigest()}")),
            ("WARC-Date", date),
            ("WARC-Filename", filename),
            ("Content-Type", "application/warc-fields"),
        ],
        block,
    )


def response_record(exchange: Exchange, record_id: str, digest: Digest | None, truncated: str) -> bytes:
    """A response with its body; without a payload digest where the head can't be told from the body."""
    return _member(
        "response",
        [
            *_common(exchange, record_id),
            *([("WARC-Payload-Digest", _spelled(digest))] if digest else []),
            *([("WARC-Truncated", truncated)] if truncated else []),
            ("Content-Type", "application/http; msgtype=response"),
        ],
        _framed(exchange.response_head) + exchange.body,
    )


def revisit_record(exchange: Exchange, record_id: str, earlier: Earlier) -> bytes:
    """A response whose body is that of an earlier record: the head alone, and where the body is."""
    container = earlier.container
    return _member(
        "revisit",
        [
            *_common(exchange, record_id),
            ("WARC-Profile", IDENTICAL_PAYLOAD),
            ("WARC-Refers-To-Target-URI", warc_uri(earlier.url)),
            *([("WARC-Refers-To-Date", earlier.date)] if earlier.date else []),
            *([("WARC-Refers-To", earlier.record_id)] if earlier.record_id else []),
            *([("WARC-Refers-To-Container", CONTAINER + warc_uri(container.filename))] if container else []),
            ("WARC-Payload-Digest", _spelled(earlier.digest)),
            ("Content-Type", "application/http; msgtype=response"),
        ],
        _framed(exchange.response_head),
    )


def request_record(exchange: Exchange, record_id: str, answer_id: str) -> bytes:
    """The request, which names the record that was really written for its answer."""
    return _member(
        "request",
        [
            *_common(exchange, record_id),
            ("WARC-Concurrent-To", answer_id),
            ("Content-Type", "application/http; msgtype=request"),
        ],
        exchange.request_head,
    )


def _common(exchange: Exchange, record_id: str) -> list[tuple[str, str]]:
    return [
        ("WARC-Record-ID", record_id),
        ("WARC-Date", warc_date(exchange.started_at)),
        ("WARC-Target-URI", warc_uri(exchange.url)),
        *([("WARC-IP-Address", exchange.ip_address)] if exchange.ip_address else []),
    ]


def _member(kind: str, fields: Fields, block: bytes) -> bytes:
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        *(f"{name}: {value}" for name, value in fields),
        f"WARC-Block-Digest: sha256:{hashlib.sha256(block).hexdigest()}",
        f"Content-Length: {len(block)}",
    ]
    head = "\r\n".join(lines).encode() + b"\r\n\r\n"
    return igzip.compress(head + block + b"\r\n\r\n", _LEVEL, mtime=0)


def _spelled(digest: Digest) -> str:
    """SHA-256 in hex as Browsertrix writes it, others in Base32 as crawlers do."""
    return f"sha256:{digest.value.hex()}" if digest.algorithm == "sha256" else str(replace(digest, text=""))


def _framed(head: bytes) -> bytes:
    """The head for a body without transfer coding."""
    return _FRAMING.sub(rb"X-Orig-\1", head) if _TRANSFER_CODING.search(head) else head


def _urn(name: str) -> str:
    return f"<urn:uuid:{uuid.uuid5(_IDS, name)}>"
