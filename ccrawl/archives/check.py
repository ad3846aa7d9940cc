"""What an archive holds and whether it is sound: records, pages, digests, damage, without converting
anything.

Digests are verified over all bytes of a record, streamed, whatever its size. A payload digest is right when
it is that of the body as the archive holds it, or without chunked framing, or without content codings:
writers differ, and WARC 1.1 (section 5.8) leaves room for all three.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ccrawl.archives.capture import SLACK, Capture, CaptureOptions, capture_of
from ccrawl.archives.captures import MAX_DAMAGE_LISTED
from ccrawl.archives.codings import decode_body
from ccrawl.archives.digests import Digest, digest_of, parse_digest
from ccrawl.archives.formats import Head
from ccrawl.archives.framing import Damage, Record
from ccrawl.archives.http import dechunk
from ccrawl.archives.reader import read_records
from ccrawl.archives.sources import Source
from ccrawl.errors import PageError, SourceError

# Results of a digest: right, wrong, written so that it can't be read, none there, or not to be decided.
VERIFIED, WRONG, UNREADABLE, MISSING, UNDECIDED = "verified", "wrong", "unreadable", "missing", "undecided"
_LIMIT = CaptureOptions().max_page_bytes


@dataclass(frozen=True, slots=True)
class WrongDigest:
    """A digest that isn't that of the bytes. kind: block or payload."""

    offset: int | None
    record_id: str
    kind: str
    written: str
    computed: str


@dataclass(slots=True)
class FileCheck:
    """What reading one source met.

    forms: format and compression of its files ("warc, gzip"); per_record: whether each record is a member of
    its own, None where there is none; types: records by WARC-Type; skipped: records that are no pages, by
    cause
    block, payload: records by what became of their digest; error: why the source can't be read at all
    """

    name: str
    path: str
    forms: Counter[str] = field(default_factory=Counter)
    per_record: bool | None = None
    types: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    block: Counter[str] = field(default_factory=Counter)
    payload: Counter[str] = field(default_factory=Counter)
    wrong: list[WrongDigest] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    damaged: Counter[str] = field(default_factory=Counter)
    error: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged and no digest is wrong."""
        return not (self.error or self.damaged or self.block[WRONG] or self.payload[WRONG])

    @property
    def records(self) -> int:
        """Records that were read whole."""
        return self.types.total()

    def as_json(self) -> dict[str, Any]:
        """The check as plain JSON types."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {name: dict(value) if isinstance(value, Counter) else value for name, value in values.items()}
        listed = {
            "wrong": [asdict(one) for one in self.wrong],
            "damage": [asdict(one) for one in self.damage],
        }
        return {**plain, **listed, "records": self.records, "sound": self.sound}


class _Hashing:
    """Block digest of one record, fed with its block."""

    def __init__(self, digest: Digest) -> None:
        self.digest = digest
        self._hash = hashlib.new(digest.algorithm, usedforsecurity=False)

    def update(self, block: bytes) -> None:
        self._hash.update(block)

    @property
    def value(self) -> bytes:
        return self._hash.digest()


def check_sources(sources: Iterable[Source]) -> Iterator[FileCheck]:
    """Check each source. One that can't be read is a FileCheck with an error."""
    for source in sources:
        yield check_source(source)


def check_source(source: Source) -> FileCheck:
    """Read all of a source and say what it holds."""
    check = FileCheck(source.name, source.path)
    options = CaptureOptions()
    hashing: list[_Hashing | None] = [None]

    def feed(head: Head) -> Callable[[bytes], object] | None:
        digest = parse_digest(head.value(b"warc-block-digest").decode("latin-1"))
        hashing[0] = _Hashing(digest) if digest else None
        return hashing[0].update if hashing[0] else None

    def damaged(damage: Damage) -> None:
        check.damaged[damage.cause] += 1
        if len(check.damage) < MAX_DAMAGE_LISTED:
            check.damage.append(damage)

    def described(form: str) -> None:
        check.forms[form] += 1

    try:
        records = read_records(
            source, keep=lambda head: _LIMIT + SLACK, damaged=damaged, feed=feed, described=described
        )
        for filename, record in records:
            check.types[record.head.type] += 1
            if record.offset is None:
                check.per_record = False
            elif check.per_record is None:
                check.per_record = True
            found = capture_of(record, options, filename)
            if isinstance(found, Capture):
                check.pages += 1
            else:
                check.skipped[found] += 1
            _count_block(check, record, hashing[0])
            _count_payload(check, record)
    except SourceError as error:
        check.error = str(error)
    return check


def _count_block(check: FileCheck, record: Record, hashing: _Hashing | None) -> None:
    written = record.field(b"warc-block-digest")
    if not written:
        check.block[MISSING] += 1
    elif hashing is None:
        check.block[UNREADABLE] += 1
    elif hashing.value == hashing.digest.value:
        check.block[VERIFIED] += 1
    else:
        _wrong(check, record, "block", written, Digest(hashing.digest.algorithm, hashing.value))


def _count_payload(check: FileCheck, record: Record) -> None:
    written = record.field(b"warc-payload-digest")
    digest = parse_digest(written)
    if not written:
        check.payload[MISSING] += 1
    elif digest is None:
        check.payload[UNREADABLE] += 1
    elif record.head.type == "revisit" or not record.whole or record.field(b"warc-segment-number"):
        check.payload[UNDECIDED] += 1  # the payload stands elsewhere, or is too large to take apart
    else:
        bodies = payloads(record)
        if any(digest_of(body, digest.algorithm).value == digest.value for body in bodies()):
            check.payload[VERIFIED] += 1
        else:
            _wrong(check, record, "payload", written, digest_of(next(bodies()), digest.algorithm))


def _wrong(check: FileCheck, record: Record, kind: str, written: str, computed: Digest) -> None:
    (check.block if kind == "block" else check.payload)[WRONG] += 1
    if len(check.wrong) < MAX_DAMAGE_LISTED:
        check.wrong.append(
            WrongDigest(record.offset, record.field(b"warc-record-id"), kind, written, str(computed))
        )


def payloads(record: Record) -> Callable[[], Iterator[bytes]]:
    """What may be meant by the payload of a record: as held, without chunks, without content codings."""

    def bodies() -> Iterator[bytes]:
        http = record.http()
        if http is None:
            yield _after_head(record.block) if record.head.type == "request" else record.block
            return
        body = record.after(http.end)
        yield body
        if b"chunked" in http.last(b"transfer-encoding").lower() and (whole := dechunk(body)) is not None:
            yield whole
            body = whole
        if coding := http.last(b"content-encoding"):
            try:
                yield decode_body(body, coding, _LIMIT)
            except PageError:
                return

    return bodies


def _after_head(message: bytes) -> bytes:
    """The body of an HTTP request."""
    return message.partition(b"\r\n\r\n")[2]
