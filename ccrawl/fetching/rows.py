"""A target and what came of it become a row of the refetch layout."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from ccrawl.archives.digests import digest_of, parse_digest
from ccrawl.archives.fields import host_of
from ccrawl.dataset.ledger import Counts
from ccrawl.dataset.schema import RefetchRow
from ccrawl.fetching.pages import CONVERT, NO_PAGE, Converted, Text, content_type_of, field, has_page
from ccrawl.fetching.types import Archived, Fetched
from ccrawl.run.convert import doc_id
from ccrawl.text.printable import printable

SAME, CHANGED, GONE, NEW = "same", "changed", "gone", "new"
_GONE = frozenset([404, 410])


def row_of(
    fetched: Fetched, converted: Converted | None, *, keep_html: bool, simhash: int | None
) -> RefetchRow:
    """The row of a fetch. converted: None where nothing was tried; simhash: the archived page's, if known.

    A page that was set aside keeps all that the fetch brought.
    """
    target = fetched.target
    url = printable(target.url)
    page = has_page(fetched)
    text = (converted.text if converted else None) or Text()
    error = fetched.error
    if not error and converted and converted.text is None and converted.cause != NO_PAGE:
        error = CONVERT + converted.cause
    return RefetchRow(
        doc_id=doc_id(url),
        url=url,
        final_url=printable(fetched.final_url) or url,
        host=host_of(url),
        ip_address=fetched.ip_address,
        crawl_id=target.archived.crawl_id,
        crawl_date=target.archived.crawl_date,
        warc_record_id=target.archived.warc_record_id,
        fetched_at=fetched.fetched_at,
        status=fetched.status,
        content_type=content_type_of(fetched),
        fetch_duration_ms=fetched.duration_ms,
        ttfb_ms=fetched.ttfb_ms,
        etag=field(fetched, "etag"),
        last_modified=field(fetched, "last-modified"),
        resp_headers=_headers(fetched),
        body_length=len(fetched.body),
        digest=body_digest(fetched.body),
        html_length=len(fetched.body) if page else 0,
        html=fetched.body if page and keep_html else b"",
        markdown_length=len(text.markdown.encode()),
        markdown=text.markdown,
        error=error,
        language=text.language,
        language_confidence=text.language_confidence,
        extractor=text.extractor,
        simhash=text.simhash,
        title=text.title,
        changed=_changed(fetched, simhash, text.simhash),
        simhash_distance=distance(simhash, text.simhash),
    )


class RowCounts:
    """The sums of a file's rows that the ledger has."""

    def __init__(self) -> None:
        self.rows = 0
        self._html_bytes = self._markdown_bytes = 0
        self._languages: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._changed: Counter[str] = Counter()

    def add(self, row: RefetchRow) -> None:
        """Count a row."""
        self.rows += 1
        self._html_bytes += row.html_length
        self._markdown_bytes += row.markdown_length
        self._languages[row.language] += 1
        self._statuses["" if row.status is None else str(row.status)] += 1
        if row.error:
            self._errors[row.error] += 1
        if row.changed:
            self._changed[row.changed] += 1

    def counts(self, **others: Any) -> Counts:
        """The sums, with `others` that rows don't tell."""
        return Counts(
            rows=self.rows,
            html_bytes=self._html_bytes,
            markdown_bytes=self._markdown_bytes,
            languages=dict(sorted(self._languages.items())),
            statuses=dict(sorted(self._statuses.items())),
            errors=dict(sorted(self._errors.items())),
            changed=dict(sorted(self._changed.items())),
            **others,
        )


def body_digest(body: bytes) -> str:
    """The `digest` column: SHA-1 in lower-case hex, "" for no body."""
    return hashlib.sha1(body, usedforsecurity=False).hexdigest() if body else ""


def distance(archived: int | None, ours: int) -> int | None:
    """Bits that differ between two fingerprints; None when either is missing."""
    return (archived ^ ours).bit_count() if archived and ours else None


def _headers(fetched: Fetched) -> str:
    if not fetched.exchanges:
        return ""
    fields: dict[str, str] = {}
    for name, value in fetched.exchanges[-1].headers:
        key, value = printable(name).lower(), printable(value)
        fields[key] = f"{fields[key]}, {value}" if key in fields else value
    return json.dumps(fields, ensure_ascii=False)


def _changed(fetched: Fetched, archived: int | None, ours: int) -> str:
    """What became of the archived payload. The digest decides where there is one, else the fingerprint.

    Only an answer that came whole tells: no server, or one that fails, says nothing of the page.
    """
    known = _is_known(fetched.target.archived, archived)
    if fetched.error:
        return ""
    if fetched.status in _GONE:
        return GONE if known else ""
    if not 200 <= (fetched.status or 0) < 300:
        return ""
    if not known:
        return NEW
    digest = parse_digest(fetched.target.archived.payload_digest)
    if digest is not None:
        # Archives differ in whether the content coding counts; the body is the same if either agrees.
        bodies = (fetched.body, fetched.exchanges[-1].body)
        return SAME if any(digest_of(body, digest.algorithm) == digest for body in bodies) else CHANGED
    if archived and ours:
        return SAME if archived == ours else CHANGED
    return ""


def _is_known(archived: Archived, simhash: int | None) -> bool:
    return bool(archived.payload_digest or archived.warc_record_id or simhash)
