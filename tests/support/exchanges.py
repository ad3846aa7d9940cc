"""What a fetch hands over, made by hand: exchanges and targets that never saw a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from ccrawl.fetching.types import Exchange, Fetched, Target

START = 1_790_000_000_123  # 2026-09-21T14:13:20.123Z


def head(*fields: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def exchange(
    url: str,
    body: bytes = b"",
    *,
    fields: Sequence[str] = ("Content-Type: text/html",),
    status: str = "200 OK",
    at: int = START,
    complete: bool = True,
    response_head: bytes | None = None,
) -> Exchange:
    place = url.partition("://")[2]
    host, _, path = place.partition("/")
    return Exchange(
        url=url,
        started_at=at,
        ip_address="192.0.2.7",
        request_head=f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1", "replace"),
        response_head=head(*fields, status=status) if response_head is None else response_head,
        status=int(status.split()[0]),
        headers=tuple((field.partition(": ")[0], field.partition(": ")[2]) for field in fields),
        body=body,
        complete=complete,
    )


def fetched(position: int, *exchanges: Exchange, error: str = "") -> Fetched:
    """What came of a target that took these exchanges."""
    first, last = exchanges[0], exchanges[-1]
    return Fetched(
        target=Target(position, first.url),
        exchanges=exchanges,
        final_url=last.url,
        ip_address=last.ip_address,
        fetched_at=first.started_at,
        duration_ms=12,
        ttfb_ms=7,
        body=b"" if error else last.body,
        error=error,
    )


def one(position: int, url: str, body: bytes, *, error: str = "", **options: object) -> Fetched:
    """A target that took one exchange, a second after the one before it."""
    at = START + 1000 * position
    return fetched(position, exchange(url, body, at=at, **options), error=error)  # type: ignore[arg-type]


def many(count: int) -> list[Fetched]:
    """Targets with bodies of their own, a copy every fourth, a redirect every fifth."""
    found = []
    for number in range(count):
        same = number - 3 if number % 4 == 3 else number
        body = b"<p>" + base64.b64encode(hashlib.shake_128(b"%d" % same).digest(450))
        url, at = f"http://site{number % 7}.test/{number}", START + 1000 * number
        hops = [exchange(url + "/old", b"moved", status="301 Moved", at=at - 5)] if number % 5 == 0 else []
        found.append(fetched(number, *hops, exchange(url, body, at=at)))
    return found


def warc_contents(folder: Path) -> dict[str, bytes]:
    """The WARC files of a folder, finished or not."""
    return {path.name: path.read_bytes() for path in folder.glob("*.warc*")}
