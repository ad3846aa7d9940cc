"""HTTP heads and chunked bodies as archives hold them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ccrawl.archives.http import content_type_of, dechunk, parse_head

from .build import chunks, response


def _head(message: bytes):  # type: ignore[no-untyped-def]
    return parse_head(message, 0, len(message))


def test_the_body_starts_after_the_empty_line() -> None:
    for end in (b"\r\n", b"\n"):
        message = response(b"\r\n\r\nbody", headers=(b"X: y",), end=end)
        head = _head(message)
        assert head.status == 200 and message[head.end :] == b"\r\n\r\nbody"
        assert head.last(b"content-type") == b"text/html; charset=utf-8"


def test_an_interim_response_is_passed_over() -> None:
    message = b"HTTP/1.1 103 Early Hints\r\nContent-Type: no\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + response(
        b"x"
    )
    head = _head(message)
    assert (head.status, message[head.end :]) == (200, b"x")
    assert _head(b"HTTP/1.1 100 Continue\r\n\r\n").status == 100


def test_broken_lines_do_not_hide_the_headers_after_them() -> None:
    message = response(
        b"x",
        headers=(
            b"no colon",
            b": no name",
            b"\xff\xfe: \x01",
            b"Content-Encoding : gzip",
            b"X-F: a",
            b"\t b",
        ),
    )
    head = _head(message)
    assert head.last(b"content-encoding") == b"gzip"
    assert head.last(b"content-type").startswith(b"text/html")


def test_a_folded_value_is_joined() -> None:
    head = _head(b"HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=big5\r\n\r\n")
    assert head.last(b"content-type") == b"text/html; charset=big5"


def test_a_message_without_a_status_line_has_no_head() -> None:
    assert _head(b"<html>\r\n\r\nHTTP/1.1 200 OK") is None


def test_the_last_readable_content_type_holds() -> None:
    assert content_type_of([b"text/html; charset=big5", b"text/html"]) == "text/html; charset=big5"
    assert content_type_of([b"text/html", b"", b"nothing"]) == "text/html"
    assert content_type_of([b"text/plain", b"text/html"]) == "text/html"
    assert content_type_of([b'"text/html"']) == "text/html"
    assert content_type_of([b"", b"html"]) is None


@given(st.binary(min_size=1, max_size=300), st.integers(1, 100), st.sampled_from([b"", b";a=b", b" ; c"]))
def test_chunks_are_joined(body: bytes, size: int, extension: bytes) -> None:
    assert dechunk(chunks(body, size, extension)) == body
    assert dechunk(chunks(body, size, extension, last=b"")) == body  # cut before the last chunk
    assert dechunk(chunks(body, size).replace(b"\r\n", b"\n")) == body or b"\r\n" in body


def test_a_body_cut_inside_a_chunk_gives_what_is_there() -> None:
    assert dechunk(chunks(b"abcdefghij", 5)[:15]) == b"abcdefg"


def test_what_is_not_chunked_is_none() -> None:
    for body in (
        b"<html></html>",
        b"fade\r\n<html>",
        b"5\r\n<html><body>\r\n",
        b"",
        b"zz\r\nab\r\n0\r\n\r\n",
    ):
        assert dechunk(body) is None


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    dechunk(data)
    for message in (data, b"HTTP/1.1 " + data, b"HTTP/1.1 200 OK\r\n" + data):
        head = parse_head(message, 0, len(message))
        assert head is None or 0 < head.end <= len(message)
