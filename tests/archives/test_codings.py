"""Content codings: each, stacked, lying, cut, and bombs."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.archives.codings import UnsupportedCoding, decode_body
from ccrawl.errors import PageTooLarge

LIMIT = 1 << 20


def _raw(body: bytes) -> bytes:
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    return coder.compress(body) + coder.flush()


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=4),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", CODERS)
@given(body=st.text(min_size=1, max_size=400))
def test_what_was_coded_is_decoded(name: str, body: str) -> None:
    page = ("<p>" + body).encode()
    assert decode_body(CODERS[name](page), name.encode(), LIMIT) == page


def test_a_raw_deflate_stream_is_decoded() -> None:
    body = b"<p>ferry</p>" * 50
    assert decode_body(_raw(body), b"deflate", LIMIT) == body


@given(st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd"]), min_size=1, max_size=4))
def test_stacked_codings_are_removed_from_the_outermost_in(names: list[str]) -> None:
    body = b"<html><p>a page with some text in it</p></html>"
    coded = body
    for name in names:
        coded = CODERS[name](coded)
    assert decode_body(coded, ", ".join(names).encode(), LIMIT) == body


@pytest.mark.parametrize(
    "claim", [b"gzip", b"br", b"deflate", b"zstd", b"identity", b"none", b"UTF-8", b"gzip, br"]
)
def test_a_body_that_is_not_coded_stays_as_it_is(claim: bytes) -> None:
    body = "<html><p>grüße, 港口, гавань</p></html>".encode() * 20
    assert decode_body(body, claim, LIMIT) == body


def test_gzip_without_a_header_is_removed() -> None:
    assert decode_body(gzip.compress(b"<p>x</p>"), b"", LIMIT) == b"<p>x</p>"


def test_bytes_after_the_stream_are_ignored_and_further_members_read() -> None:
    assert decode_body(gzip.compress(b"<p>x</p>") + b"\0\0rest", b"gzip", LIMIT) == b"<p>x</p>"
    assert (
        decode_body(gzip.compress(b"") + gzip.compress(b"a") + gzip.compress(b"b"), b"gzip", LIMIT) == b"ab"
    )


@pytest.mark.parametrize("name", CODERS)
def test_a_cut_body_gives_its_beginning(name: str) -> None:
    rnd = random.Random(3)
    body = "".join(f"<p>line {n} {rnd.random()}</p>" for n in range(20_000)).encode()
    coded = CODERS[name](body)
    part = decode_body(coded[: len(coded) // 2], name.encode(), 8 << 20)
    assert body.startswith(part) and len(part) > len(body) // 10


@pytest.mark.parametrize("name", CODERS)
def test_a_bomb_is_too_large_and_costs_little(name: str) -> None:
    coded = CODERS[name](b"\0" * (64 << 20))
    with pytest.raises(PageTooLarge):
        decode_body(coded, name.encode(), LIMIT)
    with pytest.raises(PageTooLarge):
        decode_body(gzip.compress(coded), name.encode() + b", gzip", LIMIT)


def test_the_limit_itself_is_no_bomb() -> None:
    body = b"a" * LIMIT
    assert decode_body(gzip.compress(body), b"gzip", LIMIT) == body
    with pytest.raises(PageTooLarge):
        decode_body(gzip.compress(body + b"a"), b"gzip", LIMIT)
    with pytest.raises(PageTooLarge):
        decode_body(body + b"a", b"", LIMIT)


def test_an_unknown_coding_of_binary_is_unsupported_and_of_text_harmless() -> None:
    with pytest.raises(UnsupportedCoding, match="compress"):
        decode_body(b"\x1f\x9d\x90" + bytes(range(256)), b"compress", LIMIT)
    assert decode_body(b"<p>text</p>", b"compress", LIMIT) == b"<p>text</p>"
    with pytest.raises(UnsupportedCoding):
        decode_body(b"x", b"gzip," * 50, LIMIT)


@given(st.binary(max_size=300), st.sampled_from([b"gzip", b"deflate", b"br", b"zstd", b"", b"br, gzip"]))
def test_no_bytes_raise_anything_else(body: bytes, coding: bytes) -> None:
    for candidate in (body, b"\x1f\x8b\x08" + body, b"\x28\xb5\x2f\xfd" + body, b"\x78\x9c" + body):
        try:
            assert len(decode_body(candidate, coding, LIMIT)) <= LIMIT
        except (PageTooLarge, UnsupportedCoding):
            pass
