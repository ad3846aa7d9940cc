"""A capture becomes a row, or the reason why it does not: the per-page path in one screen."""

from __future__ import annotations

import hashlib

from ccrawl.archives import Capture
from ccrawl.dataset.schema import Row
from ccrawl.html.extractors import extract, get_extractor
from ccrawl.run.options import ExportOptions
from ccrawl.run.outcome import EMPTY, OTHER_LANGUAGE, Outcome, Page, attempt
from ccrawl.text.language import Language, detect
from ccrawl.text.printable import printable
from ccrawl.text.simhash import simhash


def convert(page: Page, options: ExportOptions) -> Outcome[Row]:
    """Decode, extract, fingerprint and describe one page.

    A page without text, or in a language that was not asked for, is an outcome; a page that can't be
    converted is a failed outcome with its cause. Only what ends a process escapes (and BaseExceptions).
    """
    return attempt(page.number, lambda: _convert(page, options))


def _convert(page: Page, options: ExportOptions) -> Outcome[Row]:
    capture = page.capture
    payload = capture.payload(options.max_page_bytes)
    extracted = extract(
        payload,
        capture.url,
        content_type=capture.content_type,
        extractor=options.extractor,
        options=options.extract,
    )
    markdown = extracted.markdown
    if not markdown:
        return Outcome(page.number, None, EMPTY)
    language = _language(capture, markdown)
    if options.languages and (
        language.code not in options.languages or language.confidence < options.min_language_confidence
    ):
        return Outcome(page.number, None, OTHER_LANGUAGE)
    url = printable(capture.url)
    row = Row(
        doc_id=doc_id(url),
        url=url,
        host=capture.host,
        crawl_date=capture.date.strftime("%Y-%m-%d") if capture.date else "",
        warc_record_id=printable(capture.record_id),
        html_length=len(payload),
        markdown_length=len(markdown.encode()),
        markdown=markdown,
        language=language.code,
        language_confidence=language.confidence,
        extractor=get_extractor(options.extractor).label,
        simhash=simhash(markdown),
        title=printable(extracted.title),
        payload_digest=str(capture.payload_digest or capture.compute_digest()),
        warc_filename=printable(capture.filename),
        warc_record_offset=capture.offset,
    )
    return Outcome(page.number, row)


def _language(capture: Capture, markdown: str) -> Language:
    """The detected language. A WET record's own word for it holds where it has one, as sure as we agree."""
    detected = detect(markdown)
    named = capture.language.partition(",")[0].strip().lower()
    if capture.record_type != "conversion" or not named or named == detected.code:
        return detected
    return Language(named, 0.0)


def doc_id(url: str) -> str:
    """The `doc_id` column: SHA-256 of the URL's UTF-8, its first 16 bytes in lower-case hex."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]
