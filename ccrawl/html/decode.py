"""A page's bytes as UTF-8, by the rules of the WHATWG standards.

What says the encoding, in this order:

1. a byte order mark;
2. the `charset` of the Content-Type header, the first one;
3. `<meta charset>` or `<meta http-equiv=Content-Type>` in the first 1,024 bytes, found by the standard's
   prescan, or the XML declaration;
4. UTF-8, when the bytes are UTF-8 but for a few broken ones;
5. a `<meta>` that comes later;
6. statistics (chardetng, the detector of Firefox), helped by the language that `<html lang>` names.

A label that no table knows counts as none. Bytes are believed over their label in four cases, which
browsers read as mojibake:

- valid UTF-8 labelled as a single-byte encoding is UTF-8 (labelled as one of Chinese, Japanese, Korean or
  Thai, where a few words can be valid UTF-8 by chance, when it has at least six characters beyond ASCII);
- bytes labelled UTF-8 of which hardly one sequence is UTF-8 go on to 5 and 6;
- UTF-16 without a byte order mark is told by its zero bytes, whatever the label;
- a label of UTF-16 on bytes without zero bytes counts as none.

One broken byte becomes one U+FFFD and changes nothing else. U+0000 is removed here (the HTML standard
drops it from text); other control characters may also come from character references, so the renderer
removes them.

The usual page is valid UTF-8: it is checked without decoding it, and handed on as the same bytes object.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import chardetng_py
import pyarrow as pa

from ccrawl.html._encodings import REPLACEMENT, UTF_8, is_single_byte, lookup, to_text

_PRESCAN_BYTES = 1024
# Of a page of unknown encoding, about as much text as the detector gets to see.
_DETECTED_BYTES = 16 * 1024
_SEARCHED_BYTES = 1 << 20
_TOO_LITTLE_BYTES = 256
_PARTS = 5
_TOO_FEW = 3
_CENTRAL_EUROPEAN = frozenset(("windows-1250", "iso-8859-2", "windows-1257", "iso-8859-4", "windows-1254"))
# Broken sequences a page of UTF-8 may have, as a share of its good characters beyond ASCII, to be told
# without a label. Pages in other encodings have 2 and more: none but East Asian ones have 10 good in 100.
_BROKEN_SHARE = 0.5
# Characters beyond ASCII that make valid UTF-8 no chance, where a label says an East Asian encoding:
# a Chinese word in GBK is valid UTF-8 with a probability of 0.14 a character.
_SURE_CHARACTERS = 6
_UTF_16 = frozenset(("utf-16le", "utf-16be"))
_BOMS = ((b"\xef\xbb\xbf", UTF_8), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

_HIGH = re.compile(rb"[\x80-\xff]")
_LEAD = re.compile(rb"[\xc2-\xf4]")
# In UTF-8, all bytes but the first of each character beyond ASCII.
_NO_LEADS = bytes(range(0xC0))
_HEADER_CHARSET = re.compile(r"""(?:^|[\s;,"'])charset\s*=\s*["'\s]*([^\s;,"']*)""", re.IGNORECASE)
_LANG = re.compile(rb"<html\b[^>]{0,400}?\slang\s*=\s*[\"']?([a-z]{2,3})\b", re.IGNORECASE)
# The top-level domain whose pages the detector should think of, for the languages where it differs.
_DOMAINS = {
    **{b"cs": b"cz", b"da": b"dk", b"el": b"gr", b"et": b"ee", b"he": b"il", b"iw": b"il", b"ja": b"jp"},
    **{b"ko": b"kr", b"sl": b"si", b"sr": b"rs", b"sv": b"se", b"uk": b"ua", b"vi": b"vn", b"zh": b"cn"},
    **{b"ar": b"sa", b"fa": b"ir", b"be": b"by", b"ca": b"cat", b"nb": b"no", b"nn": b"no"},
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page as valid UTF-8 without a byte order mark or U+0000, and the encoding that it came in."""

    utf8: bytes
    encoding: str
    """WHATWG name in lower case, such as "utf-8", "windows-1252" or "gbk"."""


def decode(payload: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page. `content_type` is the value of the HTTP header. Never raises on any input."""
    marked = _byte_order_mark(payload)
    if marked == UTF_8:
        payload = payload[3:]
    elif marked:
        return _transcoded(payload, marked)
    if b"\0" in payload:
        if unmarked := _utf_16_by_zero_bytes(payload, content_type):
            return _transcoded(payload, unmarked)
        payload = payload.replace(b"\0", b"")
    declared = marked or _header_encoding(content_type) or _meta_encoding(payload, _PRESCAN_BYTES)
    if payload.isascii():
        return _decoded_ascii(payload, declared)
    if _is_utf8(payload):
        if declared is None or declared == UTF_8 or _is_surely_utf8(payload, declared):
            return Decoded(_without_marks(payload), UTF_8)
        return _transcoded(payload, declared)
    return _decoded_not_utf8(payload, declared, marked is not None)


def _decoded_ascii(payload: bytes, declared: str | None) -> Decoded:
    """Bytes that are the same in all encodings, but for those that work with escape sequences."""
    if declared == "replacement" or (declared in (None, "iso-2022-jp") and b"\x1b$" in payload):
        return _transcoded(payload, declared or "iso-2022-jp")
    return Decoded(payload, declared or UTF_8)


def _decoded_not_utf8(payload: bytes, declared: str | None, marked: bool) -> Decoded:
    if declared is None or declared == UTF_8 or _is_latin_like(declared):
        text = payload.decode(UTF_8, "replace")
        utf8 = text.encode()
        broken = text.count(REPLACEMENT)
        good = len(utf8.translate(None, _NO_LEADS)) - broken
        mostly = broken <= good * _BROKEN_SHARE
        contradicted = broken >= 5 and good * 4 < broken and not marked
        if mostly or (declared == UTF_8 and not contradicted):
            return Decoded(_without_marks(utf8), UTF_8)
        if declared == UTF_8:
            declared = None
    if declared is None:
        later = _meta_encoding(payload, len(payload))
        declared = later if later and later != UTF_8 else _detected(payload)
    return _transcoded(payload, declared)


def _transcoded(payload: bytes, encoding: str) -> Decoded:
    # Lone surrogates can come of no decoder but a future one; better a character lost than a page.
    utf8 = to_text(payload, encoding).encode(UTF_8, "replace")
    return Decoded(_without_marks(utf8.replace(b"\0", b"")), encoding)


def _without_marks(utf8: bytes) -> bytes:
    while utf8.startswith(b"\xef\xbb\xbf"):
        utf8 = utf8[3:]
    return utf8


def _byte_order_mark(payload: bytes) -> str | None:
    for mark, encoding in _BOMS:
        if payload.startswith(mark):
            return encoding
    return None


def _utf_16_by_zero_bytes(payload: bytes, content_type: str | None) -> str | None:
    """UTF-16 without a mark: by the header's label and some zero bytes, or by many of them alone.

    At the beginning of markup nearly every second byte is zero, and the others are not.
    """
    labelled = _header_label(content_type)
    if labelled in _UTF_16 and payload.count(0) * 50 > len(payload):
        return labelled
    start = payload[:256]
    half = len(start) // 2
    even, odd = start[::2].count(0), start[1::2].count(0)
    if odd > 0.6 * half and even < 0.1 * half:
        return "utf-16le"
    if even > 0.6 * half and odd < 0.1 * half:
        return "utf-16be"
    return None


def _is_utf8(payload: bytes) -> bool:
    """Whether the bytes are valid UTF-8: Arrow's check, half the time of making a str, and no copy."""
    offsets = struct.pack("<qq", 0, len(payload))
    try:
        pa.LargeStringArray.from_buffers(1, pa.py_buffer(offsets), pa.py_buffer(payload)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_latin_like(encoding: str) -> bool:
    """Single-byte encodings in whose texts hardly two characters are valid UTF-8 by chance."""
    return is_single_byte(encoding) and encoding != "windows-874"


def _is_surely_utf8(payload: bytes, declared: str) -> bool:
    if _is_latin_like(declared):
        return True
    leads = islice(_LEAD.finditer(payload), _SURE_CHARACTERS)
    return sum(1 for _ in leads) == _SURE_CHARACTERS


def _header_label(content_type: str | None) -> str | None:
    """The encoding that a Content-Type names, also a quoted, merged or otherwise odd one."""
    match = _HEADER_CHARSET.search(content_type) if content_type else None
    return lookup(match[1]) if match else None


def _header_encoding(content_type: str | None) -> str | None:
    """The same, but for UTF-16, which zero bytes would have told by now: such a label is a mistake."""
    encoding = _header_label(content_type)
    return None if encoding in _UTF_16 else encoding


_SPACE = rb"\t\n\f\r "
_MARKUP = re.compile(rb"<(?:(!--)|(meta)[\s/]|/?[a-z]|[!/?])", re.IGNORECASE)
_COMMENT_OR_META = re.compile(rb"<(?:(!--)|(meta)[\s/])", re.IGNORECASE)
_NAME_END = re.compile(rb"[\t\n\f\r >]")
_ATTRIBUTE = re.compile(
    rb"[%b/]*+(?:(>)|([^%b/>][^%b/>=]*+)(?:[%b]*+=[%b]*+(\"[^\"]*+\"|'[^']*+'|[^%b>\"'][^%b>]*+|(?=>)))?+)"
    % ((_SPACE,) * 7)
)
_CONTENT_CHARSET = re.compile(
    rb"charset[%b]*+=[%b]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^%b;\"']++))" % ((_SPACE,) * 3), re.IGNORECASE
)
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?\sencoding\s*+=\s*+[\"']([^\"'>]*+)[\"']")


def _meta_encoding(payload: bytes, limit: int) -> str | None:
    """The encoding that a meta tag or an XML declaration names within `limit` bytes.

    "Prescan a byte stream to determine its encoding" in the HTML standard. Beyond the standard's 1,024
    bytes only comments and meta tags are looked at, which is fast and linear.
    """
    head = payload[:limit]
    lower = head.lower() if limit <= _PRESCAN_BYTES else None
    if lower is None or b"charset" in lower:
        for attributes in _meta_tags(head, _MARKUP if lower is not None else _COMMENT_OR_META):
            if encoding := _encoding_of_meta(attributes):
                return encoding
    if head.startswith(b"<?xml") and (match := _XML_ENCODING.match(head[:_PRESCAN_BYTES])):
        return _meta_label(match[1])
    return None


def _meta_tags(head: bytes, markup: re.Pattern[bytes]) -> Iterator[dict[bytes, bytes]]:
    """The attributes of each meta tag; other tags are stepped over, so that their values hide no tag."""
    place = 0
    while found := markup.search(head, place):
        if found[1]:
            end = head.find(b"-->", found.start() + 2)
            if end < 0:
                return
            place = end + 3
        elif found[2]:
            attributes, place = _attributes(head, found.end() - 1)
            yield attributes
        elif head[found.end() - 1] in b"!/?":
            end = head.find(b">", found.end())
            if end < 0:
                return
            place = end + 1
        else:
            name = _NAME_END.search(head, found.end())
            if not name:
                return
            place = _attributes(head, name.start())[1]


def _attributes(head: bytes, place: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes from here to the end of the tag (the first of a name counts), and where it ends."""
    attributes: dict[bytes, bytes] = {}
    while match := _ATTRIBUTE.match(head, place):
        place = match.end()
        if match[1]:
            break
        attributes.setdefault(match[2].lower(), (match[3] or b"").strip(b"\"'"))
    return attributes, place


def _encoding_of_meta(attributes: dict[bytes, bytes]) -> str | None:
    if b"charset" in attributes:
        return _meta_label(attributes[b"charset"])
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    match = _CONTENT_CHARSET.search(attributes.get(b"content", b""))
    return _meta_label(match[1] or match[2] or match[3] or b"") if match else None


def _meta_label(label: bytes) -> str | None:
    """The encoding of a label that was read as ASCII: UTF-16 can't be true, so the standard says UTF-8."""
    encoding = lookup(label.decode("ascii", "replace"))
    if encoding in _UTF_16:
        return UTF_8
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _detected(payload: bytes) -> str:
    """The likeliest encoding of bytes that nothing labels and that are not UTF-8."""
    texts = _texts_beyond_ascii(payload)
    language = _LANG.search(payload, 0, 4 * _PRESCAN_BYTES)
    code = language[1].lower() if language else b"en"
    # Pages in all languages say English, because their template did.
    domain = None if code == b"en" else _DOMAINS.get(code, code)
    guess = _guess(texts, domain)
    if guess in _CENTRAL_EUROPEAN and domain is None and _characters_beyond_ascii(payload) <= _TOO_FEW:
        # A lone pound or copyright sign on an English page reads like a Polish letter.
        return "windows-1252"
    if is_single_byte(guess) and len(texts) >= 2 * _PARTS:
        # One broken pair rules a multi-byte encoding out, so ask about parts of the page as well.
        votes: Counter[str] = Counter()
        for part in range(_PARTS):
            vote = _guess(texts[part::_PARTS], domain)
            votes["" if is_single_byte(vote) else vote] += 1
            if votes.most_common(1)[0][1] > _PARTS // 2:
                return votes.most_common(1)[0][0] or guess
    return guess


def _texts_beyond_ascii(payload: bytes) -> list[bytes]:
    """Texts between tags that hold more than ASCII, the first 16 KB of them and none of them cut."""
    first = _HIGH.search(payload)
    assert first is not None
    start = max(payload.rfind(b"<", 0, first.start()), 0)
    pieces = payload[start : start + _SEARCHED_BYTES].split(b"<")
    if start + _SEARCHED_BYTES < len(payload) and len(pieces) > 1:
        pieces.pop()
    texts, size = [], 0
    for piece in pieces:
        if not piece.isascii():
            tag, end, text = piece.partition(b">")
            text = text if end else tag
            if not text.isascii():
                texts.append(text)
                size += len(text)
                if size > _DETECTED_BYTES:
                    break
    if size < _TOO_LITTLE_BYTES:
        # Hardly a text: scripts and attributes may say more.
        return [payload[start : start + 16 * _DETECTED_BYTES]]
    return texts


def _characters_beyond_ascii(payload: bytes) -> int:
    return len(payload) - len(payload.decode("ascii", "ignore"))


def _guess(texts: list[bytes], domain: bytes | None) -> str:
    detector = chardetng_py.EncodingDetector()
    detector.feed(b"\n".join(texts), last=True)
    return lookup(detector.guess(tld=domain, allow_utf8=False)) or "windows-1252"
