"""Captures out of records: which records are pages, and their payloads.

`read_captures` is the public reader. It takes the record's own word for nothing it can see itself: the media
type is checked against the bytes, codings are tried, lengths are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ccrawl.archives.codings import decode_body
from ccrawl.archives.digests import Digest, digest_of, empty_value, parse_digest
from ccrawl.archives.fields import host_of, parse_date, target_url
from ccrawl.archives.formats import Head
from ccrawl.archives.framing import Damage, Record
from ccrawl.archives.http import content_type_of, dechunk, parse_head
from ccrawl.archives.media import may_be_page, media_type, page_type
from ccrawl.archives.reader import read_records
from ccrawl.archives.sources import Source, find_sources
from ccrawl.errors import ArchiveError, PageError

MAX_PAGE_BYTES = 16 << 20
# Room in a record for an HTTP head and chunk framing above the page's own limit.
_SLACK = 1 << 20
MAX_DAMAGE_LISTED = 1000


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What counts as a capture.

    statuses: HTTP statuses that are wanted, None for every one
    max_page_bytes: pages that are larger, coded or decoded, are counted and not read into memory
    limit: stop after so many captures of one source, None for all
    conversions: yield the text of WET files (`conversion` records of text/plain) instead of pages
    truncated: also yield pages that the crawler cut
    resolve_revisits: yield a revisit with the body of its original, when that stood before it in the source
    strict: raise ArchiveError at the first damage
    """

    statuses: frozenset[int] | None = frozenset({200})
    max_page_bytes: int = MAX_PAGE_BYTES
    limit: int | None = None
    conversions: bool = False
    truncated: bool = True
    resolve_revisits: bool = False
    strict: bool = False


class NotHtml(PageError):
    """A payload that is no page once its content coding is removed."""

    cause = "not-html"


@dataclass(frozen=True, slots=True)
class Capture:
    """One captured page. `body` is what followed the HTTP head, codings and all; `payload()` removes them.

    url, host: as `archives.fields` reads them; host is "" for a URL without one
    date: UTC, None when the record has no readable date
    record_type: response, resource, conversion or revisit
    offset: of the record in its file, None where the file isn't compressed record by record
    record_length: bytes of the record in its file, None likewise
    status: None without an HTTP head (resources, conversions, bare ARC records)
    content_type: the Content-Type that holds, as written; media_type: what the body was taken for
    truncated: WARC-Truncated's value, "content-length" for a body shorter than announced, else None
    payload_digest: the record's own, None when it has none that can be believed
    language: WARC-Identified-Content-Language, "" without
    """

    url: str
    host: str
    date: datetime | None
    record_id: str
    record_type: str
    offset: int | None
    record_length: int | None
    status: int | None
    content_type: str | None
    media_type: str
    truncated: str | None
    payload_digest: Digest | None
    language: str
    content_coding: bytes
    chunked: bool
    body: bytes

    def payload(self, limit: int = MAX_PAGE_BYTES) -> bytes:
        """The body without transfer- and content-coding.

        Raises PageTooLarge above `limit` bytes, UnsupportedCoding, and NotHtml when what was coded is no page.
        """
        body = self._entity()
        if not self.content_coding and not body.startswith(b"\x1f\x8b\x08"):
            return decode_body(body, b"", limit)
        payload = decode_body(body, self.content_coding, limit)
        if self.record_type != "conversion" and (
            not payload or page_type(self.content_type, payload) is None
        ):
            raise NotHtml(f"{self.url}: the payload under {self.content_type or 'no type'} is not HTML")
        return payload

    def compute_digest(self, algorithm: str = "sha1") -> Digest:
        """The digest of the payload as WARC defines it: without transfer-coding, content-coding kept."""
        return digest_of(self._entity(), algorithm)

    def _entity(self) -> bytes:
        if self.chunked and (body := dechunk(self.body)) is not None:
            return body
        return self.body


@dataclass(slots=True)
class Tally:
    """What reading met. records == captures + sum(skipped.values()); damage is counted beside them.

    types: records by WARC-Type ("" for none); damage: the first MAX_DAMAGE_LISTED regions; damaged: all, by cause
    """

    types: Counter[str] = field(default_factory=Counter)
    captures: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    damage: list[Damage] = field(default_factory=list)
    damaged: Counter[str] = field(default_factory=Counter)

    @property
    def records(self) -> int:
        return self.types.total()

    def add_damage(self, damage: Damage) -> None:
        self.damaged[damage.cause] += 1
        if len(self.damage) < MAX_DAMAGE_LISTED:
            self.damage.append(damage)


def read_captures(
    source: Source | str | Path,
    *,
    options: CaptureOptions = CaptureOptions(),  # noqa: B008 (frozen)
    tally: Tally | None = None,
) -> Iterator[Capture]:
    """Read the pages of a source, or of all sources that a path or URL stands for.

    Yields captures in record order. What was passed over and why goes to `tally`. Raises SourceError when the
    source can't be read or isn't an archive, and ArchiveError at damage with `options.strict`.
    """
    tally = Tally() if tally is None else tally
    sources = [source] if isinstance(source, Source) else find_sources([str(source)])
    for one in sources:
        yield from _read_one(one, options, tally)


def _read_one(source: Source, options: CaptureOptions, tally: Tally) -> Iterator[Capture]:
    hold = options.max_page_bytes + _SLACK
    wanted = frozenset(["conversion"] if options.conversions else ["response", "resource"])

    def keep(head: Head) -> int:
        return hold if head.type in wanted else 0

    def damaged(damage: Damage) -> None:
        tally.add_damage(damage)
        if options.strict:
            raise ArchiveError(f"{source.name}: damage at byte {damage.offset}: {damage.cause}")

    left = options.limit
    if left is not None and left <= 0:
        return
    for record in read_records(source, keep=keep, damaged=damaged):
        tally.types[record.head.type] += 1
        found = capture_of(record, options)
        if isinstance(found, str):
            tally.skipped[found] += 1
            continue
        tally.captures += 1
        yield found
        if left is not None:
            left -= 1
            if not left:
                return


def capture_of(record: Record, options: CaptureOptions) -> Capture | str:
    """The capture that a record holds, or the cause for which it is passed over."""
    kind = record.head.type
    if kind == "conversion" and options.conversions:
        return _conversion(record, options)
    if options.conversions or kind not in ("response", "resource"):
        return "revisit" if kind == "revisit" else f"not-response:{kind if kind in _TYPES else 'other'}"
    if kind == "resource":
        return _without_head(record, record.field(b"content-type") or None, options)
    http = parse_head(record.buffer, record.start, record.end)
    if http is None:
        return _without_head(record, None, options)
    if options.statuses is not None and http.status not in options.statuses:
        return f"status:{'unparsable' if http.status is None else http.status}"
    content_type = content_type_of(http.fields.get(b"content-type", []))
    if not may_be_page(content_type):
        return "not-html"
    if not record.whole:
        return "too-large"
    body = record.buffer[http.end : record.end]
    if not body:
        return "empty"
    coding = http.last(b"content-encoding")
    chunked = b"chunked" in http.last(b"transfer-encoding").lower()
    return _capture(
        record, options, body, http.status, content_type, coding, chunked, http.last(b"content-length")
    )


_TYPES = frozenset(
    ["warcinfo", "request", "metadata", "revisit", "conversion", "continuation", "resource", "filedesc"]
)
_NO_PAGE_SCHEMES = ("dns:", "whois:", "filedesc:", "warcinfo:", "metadata:", "screenshot:")


def _without_head(record: Record, content_type: str | None, options: CaptureOptions) -> Capture | str:
    """A resource, or a response without an HTTP head: its block is its body."""
    if record.field(b"warc-target-uri").lower().lstrip("<").startswith(_NO_PAGE_SCHEMES):
        return "not-http"
    if not may_be_page(content_type):
        return "not-html"
    body = record.block
    if not body:
        return "empty"
    if not record.whole:
        return "too-large"
    return _capture(record, options, body, None, content_type, b"", False, b"")


def _conversion(record: Record, options: CaptureOptions) -> Capture | str:
    content_type = record.field(b"content-type") or None
    if media_type(content_type) not in ("text/plain", ""):
        return "not-text"
    if not record.whole or record.head.length > options.max_page_bytes:
        return "too-large"
    if not record.head.length:
        return "empty"
    return _built(record, record.block, None, content_type, "text/plain", b"", False, None)


def _capture(
    record: Record,
    options: CaptureOptions,
    body: bytes,
    status: int | None,
    content_type: str | None,
    coding: bytes,
    chunked: bool,
    announced: bytes,
) -> Capture | str:
    # A coded body is looked at when it is decoded; a chunked one starts with its first chunk's size line.
    page = media_type(content_type)
    if not coding and not body.startswith(b"\x1f\x8b\x08"):
        entity = (dechunk(body[:4096]) or body) if chunked else body
        if len(body) > options.max_page_bytes and not chunked:
            return "too-large"
        if not entity.strip():
            return "empty"
        page = page_type(content_type, entity) or ""
        if not page:
            return "not-html"
    truncated = record.field(b"warc-truncated").lower() or None
    if truncated is None and not chunked and announced.isdigit() and len(announced) < 18:
        truncated = "content-length" if len(body) < int(announced) else None
    if truncated and not options.truncated:
        return "truncated"
    return _built(record, body, status, content_type, page or "text/html", coding, chunked, truncated)


def _built(
    record: Record,
    body: bytes,
    status: int | None,
    content_type: str | None,
    page: str,
    coding: bytes,
    chunked: bool,
    truncated: str | None,
) -> Capture:
    url = target_url(record.field(b"warc-target-uri"))
    digest = parse_digest(text) if (text := record.field(b"warc-payload-digest")) else None
    if digest is not None and body and digest.value == empty_value(digest.algorithm):
        digest = None
    return Capture(
        url=url,
        host=host_of(url),
        date=parse_date(record.field(b"warc-date")),
        record_id=record.field(b"warc-record-id"),
        record_type=record.head.type,
        offset=record.offset,
        record_length=record.length,
        status=status,
        content_type=content_type,
        media_type=page,
        truncated=truncated,
        payload_digest=digest,
        language=record.field(b"warc-identified-content-language"),
        content_coding=coding,
        chunked=chunked,
        body=body,
    )
