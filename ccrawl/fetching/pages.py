"""A fetched body becomes Markdown: what a converter process does beside the fetch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from ccrawl.archives.media import may_be_page, page_type
from ccrawl.fetching.journal import decode, read_record
from ccrawl.fetching.types import Fetched, Target
from ccrawl.html.extractors import extract, get_extractor
from ccrawl.run.options import ExportOptions
from ccrawl.run.outcome import Outcome, attempt
from ccrawl.text.language import detect
from ccrawl.text.printable import printable
from ccrawl.text.simhash import simhash

# What stands before the cause in the error column when the page came and its Markdown could not be made.
CONVERT = "convert-"
NO_PAGE = "no-page"

# Errors with which a part of the body came: it is kept as what it is.
_WITH_BODY = ("", "truncated")


@dataclass(frozen=True, slots=True)
class Text:
    """What a page says; all empty for one without text."""

    markdown: str = ""
    title: str = ""
    language: str = ""
    language_confidence: float = 0.0
    extractor: str = ""
    simhash: int = 0


class FetchedPage(NamedTuple):
    """A fetch on its way through conversion: where the journal has it. `number` counts a run's targets."""

    number: int
    journal: Path
    offset: int
    url: str


def content_type_of(fetched: Fetched) -> str:
    """The last answer's Content-Type as sent, "" without one."""
    return field(fetched, "content-type")


def field(fetched: Fetched, name: str) -> str:
    """The last answer's first field of that name (in lower case), "" without one."""
    exchanges = fetched.exchanges
    headers = exchanges[-1].headers if exchanges else ()
    return next((printable(value).strip() for key, value in headers if key.lower() == name), "")


def may_have_page(fetched: Fetched) -> bool:
    """Whether the body is worth a look: it came, with a status of 2xx and a type that pages have."""
    return (
        bool(fetched.body)
        and fetched.error in _WITH_BODY
        and 200 <= (fetched.status or 0) < 300
        and may_be_page(content_type_of(fetched) or None)
    )


def has_page(fetched: Fetched) -> bool:
    """Whether the body is a page: HTML that came with a status of 2xx."""
    return may_have_page(fetched) and page_type(content_type_of(fetched) or None, fetched.body) is not None


def convert_fetched(page: FetchedPage, options: ExportOptions) -> Outcome[bytes]:
    """The Markdown of a fetch, as `encode_text` writes it, or why there is none."""
    return attempt(page.number, lambda: _convert(page, options))


def _convert(page: FetchedPage, options: ExportOptions) -> Outcome[bytes]:
    with page.journal.open("rb", buffering=0) as file:
        fetched = decode(read_record(file.fileno(), page.offset), Target(page.number, page.url))
    if not has_page(fetched):
        return Outcome(page.number, None, NO_PAGE)
    text = text_of(fetched.body, fetched.final_url, content_type_of(fetched) or None, options)
    return Outcome(page.number, encode_text(text))


def text_of(html: bytes, url: str, content_type: str | None, options: ExportOptions) -> Text:
    """Extract, detect and fingerprint. Raises what an extractor raises."""
    extracted = extract(
        html, url, content_type=content_type, extractor=options.extractor, options=options.extract
    )
    if not extracted.markdown:
        return Text(title=printable(extracted.title), extractor=get_extractor(options.extractor).label)
    language = detect(extracted.markdown)
    return Text(
        markdown=extracted.markdown,
        title=printable(extracted.title),
        language=language.code,
        language_confidence=language.confidence,
        extractor=get_extractor(options.extractor).label,
        simhash=simhash(extracted.markdown),
    )


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of a page: its text, or else the cause and what to say of it."""

    text: Text | None
    cause: str = ""
    detail: str = ""


def encode_text(text: Text) -> bytes:
    """A converted page as a record of a journal."""
    return json.dumps({"text": asdict(text)}).encode()


def encode_failure(cause: str, detail: str) -> bytes:
    """A page without text as a record of a journal."""
    return json.dumps({"cause": cause, "detail": detail}).encode()


def decode_converted(content: bytes) -> Converted:
    """What either wrote."""
    values = json.loads(content)
    text = values.get("text")
    return Converted(Text(**text)) if text is not None else Converted(None, **values)
