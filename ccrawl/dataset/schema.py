"""The columns of a dataset: names, types, order and meanings, in one place.

The first twelve are the public open-markdown-v3 layout, name for name and type for type, so that
files of either tool can be read as one dataset. Ours follow. Compatibility promise: columns are
only ever added at the end; a name never changes its type or meaning.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

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


@functools.cache
def arrow_schema() -> pa.Schema:
    """The Arrow schema; every field carries its meaning as metadata `description`."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(
                column.name,
                pa.type_for_alias(column.type),
                metadata={"description": column.meaning},
            )
            for column in COLUMNS
        ]
    )
