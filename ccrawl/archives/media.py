"""Which bodies are pages: media types and, where they say nothing, what the bytes look like.

HTML by type is text/html and application/xhtml+xml. The bytes are asked (WHATWG MIME Sniffing, section 7.1)
where the type is missing, unreadable or one of SNIFFED. text/plain is a page only when a whole document
stands there (a doctype or <html> comes first): a browser would show its source, but in archives it is nearly
always a server that had no type for the file. A body under an HTML type is still no page when it starts like
a binary format or is JSON.
"""

from __future__ import annotations

import json
import re

HTML = "text/html"
XHTML = "application/xhtml+xml"

SNIFFED = frozenset(
    [
        "unknown/unknown",
        "application/unknown",
        "application/x-unknown",
        "content/unknown",
        "*/*",
        "application/octet-stream",
        "binary/octet-stream",
        "application/binary",
        "application/x-download",
        "application/force-download",
        "no-type",
        "unk",
        "-",
    ]
)
_TYPE = re.compile(r"[\s\"']*([a-z0-9!#$&^_.+*-]+/[a-z0-9!#$&^_.+*-]+|no-type|unk|-)", re.IGNORECASE)
_LEADING = re.compile(rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]*")
_HTML_START = re.compile(
    rb"<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P)"
    rb"[\t\n\x0c\r />]|<!--",
    re.IGNORECASE,
)
_DOCUMENT_START = re.compile(
    rb"(?:<!--.{0,4096}?-->[\t\n\x0c\r ]*|<\?xml[^>]{0,512}\?>[\t\n\x0c\r ]*){0,8}"
    rb"<(?:!DOCTYPE\s+HTML|HTML)[\t\n\x0c\r />]",
    re.IGNORECASE | re.DOTALL,
)
# First bytes of formats that are served as text/html by mistake (WHATWG MIME Sniffing, section 6, and the
# formats that archives hold most).
_BINARY_START = (
    b"%PDF-",
    b"%!PS-Adobe-",
    b"\x89PNG\r\n\x1a\n",
    b"GIF87a",
    b"GIF89a",
    b"\xff\xd8\xff",
    b"BM\x00",
    b"II*\x00",
    b"MM\x00*",
    b"\x00\x00\x01\x00",
    b"PK\x03\x04",
    b"Rar!\x1a\x07",
    b"7z\xbc\xaf\x27\x1c",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\x7fELF",
    b"MZ\x90\x00",
    b"OggS",
    b"ID3",
    b"fLaC",
    b"FWS",
    b"CWS",
    b"wOFF",
    b"wOF2",
    b"\x1aE\xdf\xa3",
    b"\x00asm",
    b"SQLite format 3\x00",
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Bytes that no text has (WHATWG "binary data byte"); NUL is left out, UTF-16 without a mark is full of it.
_BINARY_BYTES = bytes([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_TAG = re.compile(rb"<[!/]?[a-zA-Z][a-zA-Z0-9]{0,15}[\s>]")
MAX_JSON = 4 << 20


def media_type(content_type: str | None) -> str:
    """The type/subtype of a Content-Type value in lower case, "" when there is none to read."""
    match = _TYPE.match(content_type or "")
    return match[1].lower() if match else ""


def page_type(content_type: str | None, body: bytes) -> str | None:
    """HTML or XHTML when `body`, served under `content_type`, is a page; None otherwise."""
    kind = media_type(content_type)
    if kind in (HTML, XHTML):
        return None if is_binary(body) or is_json(body) else kind
    if not kind or kind in SNIFFED:
        return HTML if sniffs_as_html(body) else None
    if kind == "text/plain":
        return HTML if _DOCUMENT_START.match(body, _text_start(body)) and not is_binary(body) else None
    return None


def may_be_page(content_type: str | None) -> bool:
    """Whether a body under this type can be a page at all, whatever its bytes are."""
    kind = media_type(content_type)
    return not kind or kind in (HTML, XHTML, "text/plain") or kind in SNIFFED


def sniffs_as_html(body: bytes) -> bool:
    """WHATWG's "identifying an unknown media type", as far as HTML goes; XHTML behind <?xml is HTML too."""
    if body.startswith(_UTF16_MARKS):
        body = body[:2048].decode("utf-16", "replace").encode()
    start = _text_start(body)
    return bool(_HTML_START.match(body, start) or _DOCUMENT_START.match(body, start)) and not is_binary(body)


def _text_start(body: bytes) -> int:
    match = _LEADING.match(body)
    return match.end() if match else 0


def is_binary(body: bytes) -> bool:
    """Whether the body starts like a binary format, or like no text."""
    if (
        body.startswith(_BINARY_START)
        or body[4:8] == b"ftyp"
        or (body[:4] == b"RIFF" and body[8:12].isalnum())
    ):
        return True
    start = body[:1024]
    # Of random bytes a tenth are such. Real pages hold some too (a portal of 2005 separates fields with
    # \x02, dozens in its first kilobyte), but they hold tags beside them.
    binary = len(start) - len(start.translate(None, _BINARY_BYTES))
    return binary > len(start) // 20 + 3 and not _TAG.search(start)


def is_json(body: bytes) -> bool:
    """Whether the body is a JSON object or array."""
    at = _text_start(body)
    if body[at : at + 1] not in (b"{", b"["):
        return False
    if len(body) > MAX_JSON or body.rstrip()[-1:] not in (b"}", b"]"):
        return False
    try:
        json.loads(body[at:])
    except (ValueError, RecursionError):
        return False
    return True
