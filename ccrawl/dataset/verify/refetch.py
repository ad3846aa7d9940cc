"""The laws that every row of a refetch keeps, whatever came of its URL."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ccrawl.archives.fields import host_of
from ccrawl.dataset.schema import REFETCH, RefetchRow
from ccrawl.dataset.verify.faults import Faults
from ccrawl.dataset.verify.rows import LANGUAGE, is_date
from ccrawl.fetching.pages import CONVERT
from ccrawl.fetching.rows import CHANGED, GONE, NEW, SAME, RowCounts, body_digest
from ccrawl.fetching.types import ERRORS
from ccrawl.run.convert import doc_id
from ccrawl.text.simhash import simhash

_CHANGES = frozenset(["", SAME, CHANGED, GONE, NEW])
_BITS = 64
_SHA1 = re.compile("(?:[0-9a-f]{40})?")


class RefetchLaws:
    """Checks a file's rows in order, and keeps the sums that the manifest is held against.

    unique: whether no two of the file's pages may have one digest
    """

    def __init__(self, faults: Faults, *, extractor: str, fingerprints: bool, unique: bool) -> None:
        self._faults = faults
        self._extractor = extractor
        self._fingerprints = fingerprints  # whether they follow our definition
        self._unique = unique
        self._sums = RowCounts()
        self._rows = 0
        self._urls: set[str] = set()
        self._digests: set[str] = set()

    def check(self, columns: Sequence[list[Any]]) -> None:
        """Check a batch: one list of values a column, in column order."""
        for values in zip(*columns, strict=True):
            number = self._rows
            self._rows += 1
            missing = [
                column.name
                for column, value in zip(REFETCH.columns, values, strict=True)
                if value is None and column.name not in REFETCH.nullable
            ]
            if missing:
                self._faults.add_row("null", number, f"{', '.join(missing)} without a value")
            else:
                self._row(number, RefetchRow(*values))

    def sums(self) -> dict[str, object]:
        """What the rows add up to, by the manifest's names."""
        counts = self._sums.counts()
        names = ("html_bytes", "markdown_bytes", "languages", "statuses", "errors", "changed")
        return {name: getattr(counts, name) for name in names}

    def _row(self, number: int, row: RefetchRow) -> None:
        def fault(code: str, detail: str) -> None:
            self._faults.add_row(code, number, detail)

        self._sums.add(row)
        expected = doc_id(row.url)
        if row.doc_id != expected:
            fault("doc-id", f"{row.doc_id!r}, the URL's is {expected!r}")
        if row.doc_id in self._urls:
            fault("repeated-url", row.url)
        self._urls.add(row.doc_id)
        if row.host != host_of(row.url):
            fault("host", f"{row.host!r}, the URL's is {host_of(row.url)!r}")
        if row.crawl_date and not is_date(row.crawl_date):
            fault("date", repr(row.crawl_date))
        length = len(row.markdown.encode())
        if row.markdown_length != length:
            fault("markdown-length", f"{row.markdown_length}, the Markdown has {length} bytes")
        if not 0 <= row.html_length <= row.body_length or (row.html and len(row.html) != row.html_length):
            fault("html-length", f"{row.html_length} of a body of {row.body_length} bytes")
        if not LANGUAGE.fullmatch(row.language) or not 0 <= row.language_confidence <= 1:
            fault("language", f"{row.language!r} with confidence {row.language_confidence}")
        if self._fingerprints and row.simhash != (fingerprint := simhash(row.markdown)):
            fault("simhash", f"{row.simhash:016x}, the Markdown's is {fingerprint:016x}")
        if row.extractor not in ("", self._extractor) or (row.markdown and not row.extractor):
            fault("provenance", f"extractor {row.extractor!r}")
        if (
            not _SHA1.fullmatch(row.digest)
            or bool(row.digest) != bool(row.body_length)
            or (row.html and row.digest != body_digest(row.html))
        ):
            fault("digest", f"{row.digest!r} of a body of {row.body_length} bytes")
        if detail := _contradiction(row):
            fault("answer", detail)
        if self._unique and not row.error and row.digest and 200 <= (row.status or 0) < 300:
            if row.digest in self._digests:
                fault("repeated-digest", row.digest)
            self._digests.add(row.digest)


def _contradiction(row: RefetchRow) -> str:
    """What of a row can't be so at once; "" when all can."""
    answered = row.status is not None
    if row.error and row.error not in ERRORS and not row.error.startswith(CONVERT):
        return f"error {row.error!r} is none that a fetch has"
    if not answered and not row.error:
        return "neither a status nor an error"
    if row.markdown and not (row.html_length and 200 <= (row.status or 0) < 300):
        return f"Markdown of an answer with status {row.status}"
    if row.changed not in _CHANGES:
        return f"changed is {row.changed!r}"
    if row.changed and (not answered or (row.error and not row.error.startswith(CONVERT))):
        return f"changed is {row.changed!r} without a whole answer"
    if row.simhash_distance is not None and not 0 <= row.simhash_distance <= _BITS:
        return f"simhash_distance is {row.simhash_distance}"
    if row.fetched_at < 0 or row.fetch_duration_ms < 0 or (row.ttfb_ms or 0) < 0:
        return "a time below 0"
    try:
        headers = json.loads(row.resp_headers) if row.resp_headers else {}
    except ValueError:
        headers = None
    return "" if isinstance(headers, dict) else "resp_headers is no JSON object"
