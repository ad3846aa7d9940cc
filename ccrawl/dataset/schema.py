"""The columns of a dataset: names, types, order and meanings, in one place.

There are two layouts. An export's first twelve columns are the public open-markdown-v3 layout, a refetch's
first 27 the public refetch layout, name for name, so that files of either tool can be read as one dataset.
Ours follow. Compatibility promise: columns are only ever added at the end; a name never changes its type or
meaning.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


class Row(NamedTuple):
    """One page of the dataset. Field order is column order."""

    doc_id: str
    url: str
    host: str
    crawl_date: str
    warc_record_id: str
    html_length: int
    markdown_length: int
    markdown: str
    language: str
    language_confidence: float
    extractor: str
    simhash: int
    title: str
    payload_digest: str
    warc_filename: str
    warc_record_offset: int | None


class Column(NamedTuple):
    """A column as the Parquet file, the reference page and the dataset card describe it."""

    name: str
    type: str  # the Arrow type's name
    meaning: str


COLUMNS = (
    Column("doc_id", "string", "SHA-256 of the URL, first 16 bytes, lower-case hex (32 characters)"),
    Column("url", "string", "WARC-Target-URI as captured (angle brackets stripped)"),
    Column("host", "string", "host name of the URL, lower case, no port"),
    Column("crawl_date", "string", "WARC-Date as YYYY-MM-DD (UTC), empty when it can't be read"),
    Column("warc_record_id", "string", "WARC-Record-ID as written, with its angle brackets"),
    Column("html_length", "int64", "payload bytes after transfer- and content-decoding"),
    Column("markdown_length", "int64", "UTF-8 bytes of markdown"),
    Column("markdown", "string", "the page's main content"),
    Column("language", "string", "ISO 639-3, empty when there is too little text to tell"),
    Column("language_confidence", "double", "0 to 1"),
    Column("extractor", "string", "name@version of what made the text"),
    Column("simhash", "uint64", "fingerprint of the Markdown, 0 when there is none"),
    Column("title", "string", "the page's own title, empty when it has none"),
    Column("payload_digest", "string", "algorithm:value as the archive gave it, or computed (sha1, Base32)"),
    Column("warc_filename", "string", "the shard this row came from, as the crawl names it"),
    Column(
        "warc_record_offset",
        "int64",
        "byte offset of the record in that shard, null where the shard is one compressed stream",
    ),
)


class RefetchRow(NamedTuple):
    """What one URL answers today. Field order is column order."""

    doc_id: str
    url: str
    final_url: str
    host: str
    ip_address: str
    crawl_id: str
    crawl_date: str
    warc_record_id: str
    fetched_at: int
    status: int | None
    content_type: str
    fetch_duration_ms: int
    ttfb_ms: int | None
    etag: str
    last_modified: str
    resp_headers: str
    body_length: int
    digest: str
    html_length: int
    html: bytes
    markdown_length: int
    markdown: str
    error: str
    language: str
    language_confidence: float
    extractor: str
    simhash: int
    title: str
    changed: str
    simhash_distance: int | None


REFETCH_COLUMNS = (
    Column("doc_id", "string", "SHA-256 of the URL, first 16 bytes, lower-case hex (32 characters)"),
    Column("url", "string", "the URL that was asked for, as the source has it"),
    Column("final_url", "string", "the URL that answered last, after redirects; url when none answered"),
    Column("host", "string", "host name of url, lower case, no port"),
    Column("ip_address", "string", "the address that answered last, empty when none did"),
    Column("crawl_id", "string", "the archive's crawl, empty when the source is a list"),
    Column("crawl_date", "string", "the archived capture's date as YYYY-MM-DD, empty when not known"),
    Column("warc_record_id", "string", "the archived capture's WARC-Record-ID, empty when not known"),
    Column("fetched_at", "int64", "when the fetch began, milliseconds since 1970 (UTC)"),
    Column("status", "int32", "the last answer's HTTP status, null when no server answered"),
    Column("content_type", "string", "the last answer's Content-Type as sent, empty without one"),
    Column("fetch_duration_ms", "int64", "from the beginning to the last byte, redirects and waits included"),
    Column("ttfb_ms", "int64", "to the head of the last answer, null when no server answered"),
    Column("etag", "string", "the last answer's ETag, empty without one"),
    Column("last_modified", "string", "the last answer's Last-Modified, empty without one"),
    Column(
        "resp_headers",
        "string",
        "the last answer's fields as a JSON object of lower-case names, repeated ones joined by a comma and "
        "a blank; empty when no server answered",
    ),
    Column("body_length", "int64", "bytes of the last answer's body, content coding off"),
    Column("digest", "string", "SHA-1 of that body, lower-case hex; empty when it is empty"),
    Column("html_length", "int64", "body_length where the body is a page: HTML with a status of 2xx; else 0"),
    Column("html", "binary", "that body as it came, with --fetch-only; else empty"),
    Column("markdown_length", "int64", "UTF-8 bytes of markdown"),
    Column("markdown", "string", "the page's main content; empty when there is none"),
    Column(
        "error", "string", "why there is no whole answer, or no Markdown of it: one word; empty when well"
    ),
    Column("language", "string", "ISO 639-3, empty when there is too little text to tell"),
    Column("language_confidence", "double", "0 to 1"),
    Column("extractor", "string", "name@version of what made the text, empty where none was made"),
    Column("simhash", "uint64", "fingerprint of the Markdown, 0 when there is none"),
    Column("title", "string", "the page's own title, empty when it has none"),
    Column(
        "changed",
        "string",
        "same, changed or gone against the archived payload, new where there is none; empty when this fetch "
        "does not tell",
    ),
    Column(
        "simhash_distance",
        "int32",
        "bits in which simhash differs from the archived page's, null when either has none",
    ),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a kind of dataset. `row` is the tuple of a row's values, in column order.

    dictionaries: columns of few distinct values; long, all-different strings gain nothing from a dictionary
    and pay for it
    sizes: columns whose lengths count towards a row group's bytes, beside markdown's
    """

    name: str
    row: type[Any]
    columns: tuple[Column, ...]
    nullable: frozenset[str]
    dictionaries: tuple[str, ...]
    sizes: tuple[str, ...]

    def schema(self) -> pa.Schema:
        """The Arrow schema; every field carries its meaning as metadata `description`."""
        return _schema(self.name)


EXPORT = Layout(
    name="export",
    row=Row,
    columns=COLUMNS,
    nullable=frozenset(["warc_record_offset"]),
    dictionaries=("host", "crawl_date", "language", "extractor", "warc_filename"),
    sizes=("title", "url"),
)
REFETCH = Layout(
    name="refetch",
    row=RefetchRow,
    columns=REFETCH_COLUMNS,
    nullable=frozenset(["status", "ttfb_ms", "simhash_distance"]),
    dictionaries=(
        *("host", "crawl_id", "crawl_date", "content_type", "error", "language", "extractor", "changed"),
    ),
    sizes=("html", "resp_headers", "title", "url"),
)
LAYOUTS = {layout.name: layout for layout in (EXPORT, REFETCH)}


def layout_of(options: Mapping[str, Any]) -> Layout:
    """The layout of a dataset whose manifest has these `options`; those of an export name none."""
    return LAYOUTS.get(str(options.get("layout")), EXPORT)


def arrow_schema() -> pa.Schema:
    """The Arrow schema of an export."""
    return EXPORT.schema()


@functools.cache
def _schema(layout: str) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(
                column.name,
                pa.type_for_alias(column.type),
                metadata={"description": column.meaning},
            )
            for column in LAYOUTS[layout].columns
        ]
    )
