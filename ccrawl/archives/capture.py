"""One capture: what a record holds when it is a page, and why it is passed over when it isn't.

The record's own word is taken for nothing that can be seen: the media type is checked against the bytes,
codings are tried, lengths are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ccrawl.archives.codings import GZIP_MAGIC, UnsupportedCoding, decode_body
from ccrawl.archives.digests import Digest, digest_of, empty_value, parse_digest
from ccrawl.archives.fields import host_of, parse_date, target_url
from ccrawl.archives.framing import Record
from ccrawl.archives.http import content_type_of, dechunk
from ccrawl.archives.media import HTML, XHTML, may_be_page, media_type, page_type
from ccrawl.errors import PageError, PageTooLarge

MAX_PAGE_BYTES = 16 << 20
# Room in a record for an HTTP head and chunk framing above the page's own limit.
SLACK = 1 << 20


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What counts as a capture.

    statuses: HTTP statuses that are wanted, None for every one
    max_page_bytes: pages that are larger, coded or decoded, are counted and not read into memory
    limit: stop after so many captures of one source, None for all
    conversions: yield the text of WET files (`conversion` records of text/plain) instead of pages
    truncated: also yield pages that the crawler cut
    resolve_revisits: yield a revisit with the body of its original, when the source holds that
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
    filename: of the file that holds the record, as its source names it
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
    filename: str
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

        Raises PageTooLarge above `limit` bytes, UnsupportedCoding, and NotHtml when what was coded is no
        page.
        """
        body = self._entity()
        if not self.content_coding and not body.startswith(GZIP_MAGIC):
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


@dataclass(frozen=True, slots=True)
class _Message:
    """The payload side of a record: body and what its HTTP head, if any, says of it."""

    body: bytes
    status: int | None = None
    content_type: str | None = None
    coding: bytes = b""
    chunked: bool = False
    announced: bytes = b""  # Content-Length

    @property
    def coded(self) -> bool:
        return bool(self.coding) or self.body.startswith(GZIP_MAGIC)


# Record types that are counted under their own names; what else stands in WARC-Type is "other".
TYPES = frozenset(
    [
        "warcinfo",
        "request",
        "metadata",
        "revisit",
        "conversion",
        "continuation",
        "resource",
        "response",
        "filedesc",
    ]
)
_NO_PAGE = ("empty", "not-html", UnsupportedCoding.cause)
# Bytes of a coded body that are decoded to judge it.
_JUDGED = 8 << 10
# What crawlers store under the type response or resource that is no page of a site.
_NO_PAGE_SCHEMES = ("dns:", "whois:", "filedesc:", "warcinfo:", "metadata:", "screenshot:")


def capture_of(record: Record, options: CaptureOptions, filename: str = "") -> Capture | str:
    """The capture that a record holds, or the cause for which it is passed over."""
    kind = record.head.type
    if kind == "conversion" and options.conversions:
        return _conversion(record, options, filename)
    if options.conversions or kind not in ("response", "resource"):
        return "revisit" if kind == "revisit" else f"not-response:{kind if kind in TYPES else 'other'}"
    message = _message(record, options)
    if isinstance(message, str):
        return message
    if not record.whole or (len(message.body) > options.max_page_bytes and not message.chunked):
        return "too-large"
    page = _page_type(message)
    if page not in (HTML, XHTML):
        return page if page in _NO_PAGE else "not-html"
    truncated = _truncated(record, message)
    if truncated and not options.truncated:
        return "truncated"
    return _built(record, message, page, truncated, filename)


def _message(record: Record, options: CaptureOptions) -> _Message | str:
    """Head and body of a response or resource, or the cause why there are none."""
    if record.head.type == "response":
        http = record.http()
        if http is not None:
            if options.statuses is not None and http.status not in options.statuses:
                return f"status:{'unparsable' if http.status is None else http.status}"
            content_type = content_type_of(http.fields.get(b"content-type", []))
            if not may_be_page(content_type):
                return "not-html"
            return _Message(
                body=record.after(http.end),
                status=http.status,
                content_type=content_type,
                coding=http.last(b"content-encoding"),
                chunked=b"chunked" in http.last(b"transfer-encoding").lower(),
                announced=http.last(b"content-length"),
            )
    if record.field(b"warc-target-uri").lstrip(" <").lower().startswith(_NO_PAGE_SCHEMES):
        return "not-http"
    # A resource, or a response without an HTTP head: its block is its body. The type of such a response is
    # that of the message which isn't there (WARC) or of the body (ARC).
    bare = record.head.type == "response" and record.head.format == "warc"
    content_type = None if bare else record.field(b"content-type") or None
    return _Message(record.block, content_type=content_type) if may_be_page(content_type) else "not-html"


def _page_type(message: _Message) -> str:
    """HTML or XHTML, or the cause for which the body is no page."""
    body = message.body
    if message.chunked and (whole := dechunk(body)) is not None:
        body = whole
    if message.coded and body:
        # Enough is decoded here to judge by; payload() decodes the rest when the page is wanted.
        start = body[:_JUDGED]
        try:
            decoded = decode_body(start, message.coding, MAX_PAGE_BYTES)
        except PageTooLarge:
            decoded = start
        except UnsupportedCoding as error:
            return error.cause
        if decoded is start or decoded == start:
            return XHTML if media_type(message.content_type) == XHTML else HTML  # nothing to see yet
        body = decoded
    if not body or body.isspace():
        return "empty"
    return page_type(message.content_type, body) or "not-html"


def _truncated(record: Record, message: _Message) -> str | None:
    """Why the body is incomplete: the record's own word, or that it is shorter than announced."""
    said = record.field(b"warc-truncated").lower()
    if said:
        return said
    announced = message.announced
    if (
        not message.chunked
        and announced.isdigit()
        and len(announced) < 18
        and len(message.body) < int(announced)
    ):
        return "content-length"
    return None


def _conversion(record: Record, options: CaptureOptions, filename: str) -> Capture | str:
    content_type = record.field(b"content-type") or None
    if media_type(content_type) not in ("text/plain", ""):
        return "not-text"
    if not record.whole or record.head.length > options.max_page_bytes:
        return "too-large"
    message = _Message(record.block, content_type=content_type)
    return (
        _built(record, message, "text/plain", None, filename)
        if message.body and not message.body.isspace()
        else "empty"
    )


def _built(record: Record, message: _Message, page: str, truncated: str | None, filename: str) -> Capture:
    url = target_url(record.field(b"warc-target-uri"))
    digest = parse_digest(text) if (text := record.field(b"warc-payload-digest")) else None
    if digest is not None and message.body and digest.value == empty_value(digest.algorithm):
        digest = None
    return Capture(
        url=url,
        host=host_of(url),
        filename=filename,
        date=parse_date(record.field(b"warc-date")),
        record_id=record.field(b"warc-record-id"),
        record_type=record.head.type,
        offset=record.offset,
        record_length=record.length,
        status=message.status,
        content_type=message.content_type,
        media_type=page,
        truncated=truncated,
        payload_digest=digest,
        language=record.field(b"warc-identified-content-language"),
        content_coding=message.coding,
        chunked=message.chunked,
        body=message.body,
    )
