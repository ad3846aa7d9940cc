"""The field's hard archives, made by the recipes that stand beside the checkout; see the cases' own words."""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ccrawl.archives import Capture, CaptureOptions, Tally, read_captures
from ccrawl.errors import SourceError

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="no shared data beside the checkout"),
]


def _recipe(case_id: str) -> dict[str, Any]:
    for line in (SHARED / "cases" / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["id"] == case_id:
            break
    else:
        pytest.skip(f"no case {case_id}")
    names: dict[str, Any] = {}
    sys.path.insert(0, str(SHARED / "cases"))
    try:
        exec("from helpers import *\n" + case["input"].removeprefix("py:"), names)
    finally:
        sys.path.pop(0)
    return names


def _read(
    tmp_path: Path, data: bytes, name: str = "case.warc.gz", **options: Any
) -> tuple[list[Capture], Tally]:
    path = tmp_path / name
    path.write_bytes(data)
    tally = Tally()
    captures = list(read_captures(path, options=CaptureOptions(**options), tally=tally))
    assert tally.records == len(captures) + tally.skipped.total()
    return captures, tally


def _marks(captures: list[Capture]) -> list[str]:
    found = []
    for capture in captures:
        match = re.search(rb"[Mm]arker ([\w-]+)", capture.payload())
        found.append(match[1].decode() if match else "")
    return found


def test_chunked_bodies(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-chunked-left-in-payload")["data"])
    assert len({capture.payload() for capture in captures}) == 1
    assert len({capture.compute_digest() for capture in captures}) == 1
    assert len(captures) == 5 and "Grüße vom Hafen, 港口".encode() in captures[0].payload()


def test_chunking_removed_before(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-chunked-header-already-decoded")["data"])
    assert _marks(captures) == ["plain-one", "plain-two", "plain-three"]
    assert all(capture.payload() == capture.body for capture in captures)


def test_digests_that_say_nothing(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-digest-missing-or-empty-constant")["data"])
    assert [capture.payload_digest for capture in captures] == [None] * 8
    computed = [capture.compute_digest() for capture in captures]
    assert computed[0] == computed[1] and len(set(computed)) == 7


def test_dates(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-date-precision")["data"])
    assert [capture.date and capture.date.strftime("%Y-%m-%dT%H:%M:%S.%f") for capture in captures] == [
        "2024-01-02T03:04:05.100000",
        "2024-01-02T03:04:05.123456",
        "2024-01-02T03:04:00.000000",
        "2024-01-02T00:00:00.000000",
        "2024-01-01T00:00:00.000000",
        "2024-01-01T00:00:00.000000",
        "2024-01-02T01:04:05.000000",
        "2024-01-02T03:04:05.000000",
        None,
        None,
    ]


def test_status_lines(tmp_path: Path) -> None:
    data = _recipe("warc-non200-and-status-lines")["data"]
    captures, tally = _read(tmp_path, data)
    assert _marks(captures) == [f"doc-00{n}" for n in range(5)]
    assert dict(tally.skipped) == {
        f"status:{status}": 1 for status in (404, 301, 206, 304, 503, 0, "unparsable")
    }
    captures, _ = _read(tmp_path, data, statuses=None)
    assert [capture.status for capture in captures] == [200] * 5 + [404, 301, 206, 304, 503, 0, None]


def test_arc(tmp_path: Path) -> None:
    names = _recipe("warc-arc-v1-oddities")
    at = names["data"].find(b"http://t.example/a b")
    records = names["data"][at:]
    cuts = [records.find(url + b" ") for url, *_ in names["recs"]] + [len(records)]
    per_record = [names["data"][:at], *(records[a:b] for a, b in itertools.pairwise(cuts))]
    for name, data in (("t.arc", names["data"]), ("t.arc.gz", b"".join(map(names["gz"], per_record)))):
        captures, tally = _read(tmp_path, data, name)
        assert [capture.url for capture in captures] == [
            "http://t.example/a%20b.html?x=1%202",
            "http://t.example/bare",
            "http://t.example/ok",
        ]
        assert _marks(captures) == ["doc-001", "doc-002", "doc-003"]
        assert captures[0].date is not None and captures[0].date.isoformat() == "2004-09-25T00:10:13+00:00"
        assert not tally.damage


def test_bare_line_feeds(tmp_path: Path) -> None:
    captures, tally = _read(tmp_path, _recipe("warc-lf-only-and-018")["data"], "t.warc")
    assert "Гавань" in captures[0].payload().decode("cp1251")
    assert captures[0].content_type == "text/html; charset=windows-1251"
    assert len(captures) == 3 and not tally.damage
    assert all(capture.payload().startswith(b"<!DOCTYPE") for capture in captures)


def test_one_member_for_the_whole_file(tmp_path: Path) -> None:
    captures, tally = _read(tmp_path, _recipe("warc-whole-file-gzip")["data"])
    assert [capture.offset for capture in captures] == [None] * 5
    assert not tally.damage


def test_target_uris(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-target-uri-forms")["data"])
    assert len(captures) == 10
    assert captures[0].url == "http://t.example/br"
    assert captures[1].url == "http://t.example/a%20b.html"
    assert captures[2].url == "http://t.example/日本語?q=ü"
    assert [captures[n].host for n in (3, 6, 7, 8)] == ["xn--mnchen-3ya.example", "t.example", "", "::1"]


def test_http_heads(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-http-head-oddities")["data"])
    assert captures[0].content_type == "text/html; charset=windows-1251"
    assert "Гавань" in captures[0].payload().decode("cp1251")
    assert b"doc-002" in captures[1].payload() and captures[1].payload().endswith(b"</html>")
    assert captures[2].payload().startswith(b"<!DOCTYPE") and b"doc-003" in captures[2].payload()
    assert b"doc-004" in captures[3].payload() and captures[3].status is None


def test_content_codings(tmp_path: Path) -> None:
    names = _recipe("warc-content-encoding-matrix")
    captures, tally = _read(tmp_path, names["data"])
    assert len(captures) == 19
    assert {capture.payload() for capture in captures} == {names["b"]}
    assert not tally.skipped


def test_record_types(tmp_path: Path) -> None:
    data = _recipe("warc-record-types-and-media-types")["data"]
    captures, tally = _read(tmp_path, data)
    assert [capture.record_type for capture in captures] == ["response"] * 3 + ["resource"]
    assert "Café" in captures[3].payload().decode("cp1252")
    assert captures[3].content_type == "text/html; charset=windows-1252"
    assert dict(tally.skipped) == {
        "not-response:conversion": 1,
        "not-response:request": 1,
        "not-response:metadata": 1,
        "not-response:warcinfo": 1,
        "not-http": 1,
    }
    texts, _ = _read(tmp_path, data, conversions=True)
    assert [text.payload() for text in texts] == [
        b"First para of doc-005.\n\nSecond para after a blank line."
    ]
    assert texts[0].language == "eng"


def test_cut_payloads(tmp_path: Path) -> None:
    captures, _ = _read(tmp_path, _recipe("warc-truncated-compressed-payload")["data"])
    assert [capture.truncated for capture in captures] == ["length", "content-length", None]
    for capture in captures[:2]:
        assert b"Line 0000 " in capture.payload() and b"Line 1000 " in capture.payload()


def test_wrong_labels(tmp_path: Path) -> None:
    captures, tally = _read(tmp_path, _recipe("html-binary-or-mislabelled")["data"])
    assert _marks(captures) == ["doc-001", "doc-002", "doc-003", "doc-004", "doc-005"]
    assert dict(tally.skipped) == {"not-html": 5, "empty": 1}


def test_wacz(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = _recipe("wacz-layout-variants")
    captures, _ = _read(tmp_path, names["good"], "good.wacz")
    assert _marks(captures) == ["doc-000", "doc-001", "doc-002"]
    captures, _ = _read(tmp_path, names["deflated"], "deflated.wacz")
    assert _marks(captures) == ["doc-000"]
    captures, _ = _read(tmp_path, names["empty"], "empty.wacz")
    assert not captures and "holds no WARC" in caplog.text
    with pytest.raises(SourceError, match="directory"):
        _read(tmp_path, names["cut"], "cut.wacz")
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{n}.wacz" for n in ("good", "deflated", "empty", "cut")
    }
