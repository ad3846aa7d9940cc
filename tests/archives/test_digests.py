"""Digests: every base, no confusion of algorithms, nothing read into what can't be read."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.archives import digest_of, parse_digest
from ccrawl.archives.digests import SIZES


@given(body=st.binary(max_size=100), algorithm=st.sampled_from(sorted(SIZES)))
def test_base32_hex_and_base64_are_the_same_digest(body: bytes, algorithm: str) -> None:
    value = hashlib.new(algorithm, body).digest()
    base32 = base64.b32encode(value).decode()
    spellings = [
        value.hex(),
        value.hex().upper(),
        base32,
        base32.rstrip("="),
        base32.lower(),
        base64.b64encode(value).decode(),
        base64.urlsafe_b64encode(value).decode(),
    ]
    for spelling in spellings:
        digest = parse_digest(f"{algorithm}:{spelling}")
        assert digest is not None and (digest.algorithm, digest.value) == (algorithm, value)
        assert digest == digest_of(body, algorithm)
        assert str(digest) == f"{algorithm}:{spelling}"  # as the archive gave it


def test_a_computed_digest_is_written_in_base32() -> None:
    # The digest of zero bytes as every archive's documentation gives it.
    assert str(digest_of(b"")) == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    assert str(digest_of(b"", "md5")) == "md5:" + base64.b32encode(hashlib.md5(b"").digest()).decode().rstrip(
        "="
    )


def test_dashes_and_case_of_an_algorithm_do_not_matter() -> None:
    hexed = hashlib.sha256(b"x").hexdigest()
    assert parse_digest(f"SHA-256:{hexed}") == parse_digest(f"sha256:{hexed}")


def test_algorithms_of_one_size_are_not_equal() -> None:
    assert parse_digest("sha1:" + "ab" * 20) != parse_digest("md5:" + "ab" * 16)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha1",
        "sha1:",
        "sha1:_____",
        "xalg:foo",
        "sha1:" + "g" * 40,
        "sha1:" + "1" * 32,
        "sha1:" + "é" * 32,
        "sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        ":" + "a" * 40,
    ],
)
def test_what_is_no_digest_is_none(text: str) -> None:
    assert parse_digest(text) is None


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    parse_digest(text)
    parse_digest("sha1:" + text)
    parse_digest("md5:" + text)
