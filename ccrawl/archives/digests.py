"""Payload and block digests as archives write them: `algorithm:value` in Base32, hex or Base64.

Two spellings of one digest are equal here; two algorithms never are. What can't be read is no digest: a label
such as `sha1:_____` on two records must not make them copies of each other.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache

# Bytes of a digest by algorithm. Any of them can be recomputed with hashlib.
SIZES = {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}
_BASE32 = re.compile("[A-Za-z2-7]+")
_BASE32_DIGITS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567",
    "0123456789ABCDEFGHIJKLMNOP0123456789ABCDEFGHIJKLMNOPQRSTUV",
)


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest: algorithm in lower case without dashes, value as raw bytes, and the text it was read from."""

    algorithm: str
    value: bytes
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text or f"{self.algorithm}:{base64.b32encode(self.value).decode().rstrip('=')}"


def parse_digest(text: str) -> Digest | None:
    """Read a digest field; None when its algorithm is unknown or its value isn't one of that algorithm."""
    label, colon, value = text.strip().partition(":")
    algorithm = label.strip().lower().replace("-", "").replace("_", "")
    size = SIZES.get(algorithm)
    value = value.strip()
    if not colon or size is None or not value.isascii():
        return None
    raw = _decoded(value, size)
    return None if raw is None else Digest(algorithm, raw, text.strip())


def _decoded(value: str, size: int) -> bytes | None:
    """The lengths of hex, Base32 and Base64 differ for every algorithm, so the length tells the base."""
    bare = value.rstrip("=")
    try:
        if len(bare) == size * 2:
            return bytes.fromhex(bare)
        if len(bare) == -(-size * 8 // 5):
            # int() in base 32 is ten times as fast as base64.b32decode; only the digits differ.
            spare = len(bare) * 5 - size * 8
            if not _BASE32.fullmatch(bare):
                return None
            return (int(bare.translate(_BASE32_DIGITS), 32) >> spare).to_bytes(size)
        if len(bare) == -(-size * 8 // 6):
            return base64.b64decode(
                bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4), validate=True
            )
    except (ValueError, binascii.Error):
        return None
    return None


def digest_of(body: bytes, algorithm: str = "sha1") -> Digest:
    """Compute a digest of `body`. ValueError for an algorithm that isn't in SIZES."""
    if algorithm not in SIZES:
        raise ValueError(f"unknown digest algorithm {algorithm!r}: one of {', '.join(SIZES)}")
    return Digest(algorithm, hashlib.new(algorithm, body, usedforsecurity=False).digest())


@lru_cache
def empty_value(algorithm: str) -> bytes:
    """The constant digest of zero bytes, which some writers put on every record."""
    return digest_of(b"", algorithm).value
