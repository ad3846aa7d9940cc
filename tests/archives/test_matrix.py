"""The page of archives says what the reader does."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("moto.server")
pytest.importorskip("s3fs")
pytest.importorskip("lz4")

from ccrawl.archives import capture, formats, http, media

from . import matrix


def test_the_table_of_formats_is_what_the_trials_give() -> None:
    _, _, rest = matrix.PAGE.read_text().partition(matrix.BEGIN)
    written = rest.partition(matrix.END)[0].strip()
    assert written == matrix.table(), "write it anew: cd tests && python -m archives.matrix"


def test_the_page_names_every_sniffed_type_and_record_type() -> None:
    text = matrix.PAGE.read_text()
    for kind in media.SNIFFED - {"unk", "-"}:
        assert f"`{kind}`" in text
    for kind in capture.TYPES - {"revisit", "response", "resource"}:
        assert re.search(rf"\b{kind}\b", text)


def test_the_page_gives_the_limits_of_the_code() -> None:
    text = matrix.PAGE.read_text()
    for row, limit in (
        ("head of a WARC record", formats.MAX_HEAD),
        ("head line of an ARC record", formats.MAX_ARC_LINE),
        ("HTTP head", http.MAX_HEAD),
        ("page, coded and decoded", capture.MAX_PAGE_BYTES),
    ):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {row} |")]
        number, unit = re.search(r"(\d+) (KiB|MiB)", line).groups()  # type: ignore[union-attr]
        assert int(number) << {"KiB": 10, "MiB": 20}[unit] == limit
