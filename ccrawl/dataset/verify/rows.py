"""The laws that every row keeps, whatever page it came from."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

from ccrawl.archives.digests import parse_digest
from ccrawl.archives.fields import host_of
from ccrawl.dataset.manifest import LOCATIONS
from ccrawl.dataset.schema import COLUMNS, Row
from ccrawl.dataset.verify.faults import Faults
from ccrawl.text.simhash import simhash

_NULLABLE = {"warc_record_offset"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
LANGUAGE = re.compile(r"[a-z]{3}|", re.ASCII)


class RowLaws:
    """Checks a file's rows in order, and keeps the sums that the manifest is held against."""

    def __init__(self, faults: Faults, *, extractor: str, source: str, fingerprints: bool) -> None:
        self.rows = 0
        self.html_bytes = 0
        self.markdown_bytes = 0
        self.languages: Counter[str] = Counter()
        self._faults = faults
        self._extractor = extractor
        self._source = source
        self._fingerprints = fingerprints  # whether they follow our definition
        self._place = ("", -1)  # file and offset of the row before

    def check(self, columns: Sequence[list[Any]]) -> None:
        """Check a batch: one list of values a column, in column order."""
        for values in zip(*columns, strict=True):
            number = self.rows
            self.rows += 1
            missing = [
                column.name
                for column, value in zip(COLUMNS, values, strict=True)
                if value is None and column.name not in _NULLABLE
            ]
            if missing:
                self._faults.add_row("null", number, f"{', '.join(missing)} without a value")
            else:
                self._row(number, Row(*values))

    def sums(self) -> dict[str, object]:
        """What the rows add up to, by the manifest's names."""
        return {
            "html_bytes": self.html_bytes,
            "markdown_bytes": self.markdown_bytes,
            "languages": dict(self.languages),
        }

    def _row(self, number: int, row: Row) -> None:
        def fault(code: str, detail: str) -> None:
            self._faults.add_row(code, number, detail)

        self.html_bytes += row.html_length
        self.markdown_bytes += row.markdown_length
        self.languages[row.language] += 1
        doc_id = hashlib.sha256(row.url.encode()).hexdigest()[:32]
        if row.doc_id != doc_id:
            fault("doc-id", f"{row.doc_id!r}, the URL's is {doc_id!r}")
        if row.host != host_of(row.url):
            fault("host", f"{row.host!r}, the URL's is {host_of(row.url)!r}")
        if row.crawl_date and not is_date(row.crawl_date):
            fault("date", repr(row.crawl_date))
        length = len(row.markdown.encode())
        if row.markdown_length != length or not length:
            fault("markdown-length", f"{row.markdown_length}, the Markdown has {length} bytes")
        if row.html_length < 0:
            fault("html-length", str(row.html_length))
        if not LANGUAGE.fullmatch(row.language) or not 0 <= row.language_confidence <= 1:
            fault("language", f"{row.language!r} with confidence {row.language_confidence}")
        if self._fingerprints and row.simhash != (fingerprint := simhash(row.markdown)):
            fault("simhash", f"{row.simhash:016x}, the Markdown's is {fingerprint:016x}")
        if parse_digest(row.payload_digest) is None:
            fault("digest", repr(row.payload_digest))
        # A shard of single records holds those of many files, sorted by file and offset.
        single_records = self._source.startswith(LOCATIONS)
        if row.extractor != self._extractor or not (single_records or row.warc_filename == self._source):
            fault("provenance", f"extractor {row.extractor!r}, warc_filename {row.warc_filename!r}")
        if row.warc_record_offset is not None and not row.warc_filename.startswith(LOCATIONS):
            place = (row.warc_filename if single_records else "", row.warc_record_offset)
            if place <= self._place:
                fault("order", f"offset {row.warc_record_offset} after {self._place[1]}")
            self._place = place


def is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False
