"""The collected hard inputs of area encoding, where the shared folder is there: decode and parse alone."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccrawl.html.decode import Decoded, decode
from ccrawl.html.tree import parse

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not CASES.exists(), reason="no shared folder")]


def members(data: bytes) -> Iterator[bytes]:
    while data:
        inflate = zlib.decompressobj(31)
        yield inflate.decompress(data)
        data = inflate.unused_data


def decoded_pages(case_id: str) -> list[tuple[Decoded, str]]:
    """Each page of a case as decoded, and the text of its tree."""
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    recipe = next(case["input"] for case in map(json.loads, lines) if case["id"] == case_id)
    sys.path.insert(0, str(CASES))
    try:
        import helpers
    finally:
        sys.path.pop(0)
    names: dict[str, Any] = dict(vars(helpers))
    exec(recipe.removeprefix("py:"), names)
    pages = []
    for record in members(names["data"]):
        head, payload = record.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n\r\n").split(b"\r\n\r\n", 1)
        # The first Content-Type with a charset: joining the values is the archive reader's decision.
        types = [
            line.split(b":", 1)[1].decode("latin-1")
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-type:")
        ]
        decoded = decode(payload, ", ".join(types).strip() or None)
        pages.append((decoded, parse(decoded.utf8).root.text(deep=True)))
    return pages


def test_gb2312_means_gb18030() -> None:
    for decoded, text in decoded_pages("enc-gb2312-means-gb18030"):
        assert "朱镕基 囍 € 港口" in text
        assert "\ufffd" not in text
        assert decoded.encoding in ("gbk", "gb18030")


def test_shift_jis_means_cp932() -> None:
    for decoded, text in decoded_pages("enc-shift-jis-means-cp932"):
        assert "①髙橋～港" in text
        assert decoded.encoding == "shift_jis"


def test_precedence() -> None:
    texts = decoded_pages("enc-precedence-bom-header-meta")
    assert len(texts) == 8
    for decoded, text in texts:
        assert "Гавань" in text, decoded.encoding
        assert "\ufeff" not in text


def test_utf_16_forms() -> None:
    for decoded, text in decoded_pages("enc-utf16-forms"):
        assert "Гавань 港口" in text, decoded.encoding
        assert "\0" not in text and "\ufeff" not in text


def test_unknown_labels() -> None:
    texts = decoded_pages("enc-unknown-label")
    assert len(texts) == 36
    for decoded, text in texts:
        assert "Marker label-ok, héllo" in text, decoded.encoding


def test_late_meta_and_one_bad_byte() -> None:
    (late, late_text), (one, one_text) = decoded_pages("enc-late-meta-and-one-bad-byte")
    assert late.encoding == "windows-1251" and "Гавань и маяк" in late_text
    assert one.encoding == "utf-8" and "Größe des Hafens, 港口." in one_text
    assert one_text.count("\ufffd") == 2


def test_nul_bytes() -> None:
    (_, first), (_, second) = decoded_pages("enc-nul-and-control-bytes")
    assert "before NUL" in first and "Marker after-nul" in first
    assert "doc-002" in second
    assert "\0" not in first + second
