"""Heads that the native part reads, beside the same rules spelled out line by line."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ccrawl.archives.formats import MAX_HEAD, WARC, BadHead, Head
from ccrawl.archives.http import ResponseHead, parse_head

_FIELDS = [b"content-length", b"warc-type", b"warc-target-uri", b"warc-date", b"content-type"]
_HEADERS = [b"content-type", b"content-encoding", b"content-length", b"transfer-encoding"]
_PIECES = [
    *(
        b"\r\n",
        b"\n",
        b"\n\n",
        b"\r\n\r\n",
        b"\n\r\n",
        b"\r",
        b" ",
        b"\t",
        b"\x0b",
        b"\x0c",
        b":",
        b": ",
        b"\0",
    ),
    *(
        b"WARC/1.0\r\n",
        b"WARC/1.1\n",
        b"warc/1.0\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 100\r\n\r\n",
        b"HTTP 404\n",
    ),
    *(
        b"Content-Length: 12\r\n",
        b"content-length:7\n",
        b"Content-Length:\r\n 12\r\n",
        b"CONTENT-LENGTH : 1 2\r\n",
    ),
    *(
        b"WARC-Type: response\r\n",
        b"WARC-Type: \xff\r\n",
        b"Content-Type: a/b;\r\n\tc=d\r\n",
        b"Content-Type: \r\n",
    ),
    *(
        b"Content-Encoding: br\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Type:x\n \n \r\n y\r\n",
        b"12",
        b"x",
    ),
]
HEADS = st.lists(st.sampled_from(_PIECES) | st.binary(max_size=4), max_size=14).map(b"".join)
# Of bytes as random as these, few begin as a record does, and fewer have a length: lines that mostly are fields.
_LINES = st.lists(
    st.sampled_from([piece for piece in _PIECES if piece[:1].isalpha() and piece.endswith(b"\n")])
    | st.tuples(
        st.sampled_from(_FIELDS),
        st.sampled_from([b":", b": ", b" :\t"]),
        st.sampled_from([b"1", b"a b", b"", b"x\n y"]),
    ).map(lambda parts: b"".join(parts) + b"\r\n"),
    max_size=10,
).map(b"".join)
RECORDS = st.tuples(
    st.sampled_from([b"WARC/1.0\r\n", b"warc/1.1\n"]), _LINES, st.sampled_from([b"\r\n", b"\n", b""]), HEADS
).map(b"".join)


def _lines(head: bytes) -> list[tuple[bytes, bytes]]:
    """Names, as written, and unfolded values; lines without a colon have the name b""."""
    found: list[tuple[bytes, bytes]] = []
    for line in head.split(b"\n")[1:]:
        if line[:1] in (b" ", b"\t"):
            if found:
                name, value = found[-1]
                found[-1] = (name, (value + b" " + line.strip()).strip())
            continue
        name, colon, value = line.partition(b":")
        found.append((name, value.strip()) if colon else (b"", b""))
    return found


def _empty_line(text: bytes) -> tuple[int, int]:
    """Where the last line before the first empty line ends, and where the text after that begins."""
    match = re.search(rb"\n(?:\r\n|\n)", text)
    return (match.start(), match.end()) if match else (-1, -1)


def _expected_warc(text: bytes) -> dict[bytes, bytes] | str | None:
    last, block = _empty_line(text)
    if block < 0:
        return None
    if text[:5].upper() != b"WARC/":
        return "garbage"
    values: dict[bytes, bytes] = {}
    for name, value in _lines(text[:last]):
        values.setdefault(name.strip().lower(), value)
    length = values.get(b"content-length", b"")
    if not length:
        return "no-length"
    return values if length.isdigit() and len(length) <= 18 else "bad-length"


@given(text=HEADS | RECORDS, before=st.binary(max_size=3))
def test_a_warc_head_has_the_first_value_of_each_name(text: bytes, before: bytes) -> None:
    expected = _expected_warc(text)
    read: tuple[Head, int] | str | None
    try:
        read = WARC.read(before + text, len(before))
    except BadHead as bad:
        read = bad.cause
    if not isinstance(expected, dict):
        assert read == expected
        return
    assert isinstance(read, tuple)
    head, block = read
    assert block == len(before) + _empty_line(text)[1]
    assert head.length == int(expected[b"content-length"])
    assert head.type == expected.get(b"warc-type", b"").decode("latin-1").lower()
    assert {name: head.value(name) for name in _FIELDS} == {name: expected.get(name, b"") for name in _FIELDS}


def _expected_http(text: bytes) -> ResponseHead:
    last, body = _empty_line(text)
    if body < 0:
        last = body = len(text)
    status = re.match(rb"HTTP(?:/\d+(?:\.\d+)?)?[ \t]+(\d{1,3})(?![^ \t\r\n])", text[:last])
    fields: dict[bytes, list[bytes]] = {}
    for name, value in _lines(text[:last]):
        if name[:1].isalpha() and name.strip().lower() in _HEADERS:
            fields.setdefault(name.strip().lower(), []).append(value)
    return ResponseHead(int(status[1]) if status else None, fields, body)


@given(text=HEADS, before=st.binary(max_size=3), after=st.binary(max_size=3))
def test_an_http_head_has_all_values_of_the_headers_of_the_body(
    text: bytes, before: bytes, after: bytes
) -> None:
    message = b"HTTP" + text
    expected = _expected_http(message)
    while expected.status and 100 <= expected.status < 200 and message.startswith(b"HTTP", expected.end):
        done = expected.end
        rest = _expected_http(message[done:])
        expected = ResponseHead(rest.status, rest.fields, done + rest.end)
    head = parse_head(before + message + after, len(before), len(before + message))
    assert head is not None
    assert (head.status, head.fields) == (expected.status, expected.fields)
    assert head.end == expected.end


def test_headers_beyond_the_room_made_for_them_are_read_too() -> None:
    many = b"".join(b"Content-Type: text/%d\r\n" % number for number in range(500))
    head = parse_head(message := b"HTTP/1.1 200 OK\r\n" + many + b"\r\n", 0, len(message))
    assert head is not None
    assert head.fields[b"content-type"] == [b"text/%d" % number for number in range(500)]


def test_a_warc_head_longer_than_the_limit_has_no_end() -> None:
    start = b"WARC/1.0\r\nContent-Length: 5\r\nX: "
    for size, is_read in ((MAX_HEAD, True), (MAX_HEAD + 1, False)):
        head = start.ljust(size - 4, b"x") + b"\r\n\r\n"
        assert (WARC.read(head, 0) is not None) is is_read
