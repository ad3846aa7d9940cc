"""Which records are captures, what is said of them, and why the others are passed over."""

from __future__ import annotations

import gzip
import hashlib
import pickle
import random
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ccrawl.archives import (
    Capture,
    CaptureOptions,
    NotHtml,
    Skip,
    Source,
    Tally,
    UnsupportedCoding,
    digest_of,
    find_sources,
    read_captures,
)
from ccrawl.errors import PageTooLarge, SourceError

from .build import arc_file, arc_record, chunks, member, page, record, response, zip_of


def read(tmp_path: Path, data: bytes, name: str = "t.warc.gz", **options: Any) -> tuple[list[Capture], Tally]:
    path = tmp_path / name
    path.write_bytes(data)
    tally = Tally()
    captures = list(read_captures(path, options=CaptureOptions(**options), tally=tally))
    assert tally.records == tally.captures + tally.skipped.total()
    assert tally.captures == len(captures)
    return captures, tally


def warc(*blocks: bytes, **fields: Any) -> bytes:
    return b"".join(member(record(block, n, **fields)) for n, block in enumerate(blocks))


def test_a_capture_says_what_its_record_says(tmp_path: Path) -> None:
    body = page("one").encode()
    digest = digest_of(body)
    first = member(
        record(b"software: x\r\n", 0, kind="warcinfo", uri="", content_type="application/warc-fields")
    )
    second = member(
        record(
            response(body, content_type=b"text/html; charset=UTF-8"),
            7,
            uri="<http://W.Example:81/a b>",
            date="2020-02-03T04:05:06.75Z",
            fields=(f"WARC-Payload-Digest: {digest}", "WARC-Truncated: Time"),
        )
    )
    (capture,), tally = read(tmp_path, first + second)
    assert capture.url == "http://W.Example:81/a%20b"
    assert capture.host == "w.example"
    assert capture.filename == "t.warc.gz"
    assert capture.date is not None and capture.date.isoformat() == "2020-02-03T04:05:06.750000+00:00"
    assert capture.record_id == "<urn:test:7>"
    assert (capture.offset, capture.record_length) == (len(first), len(second))
    assert (capture.status, capture.content_type) == (200, "text/html; charset=UTF-8")
    assert capture.media_type == "text/html"
    assert capture.truncated == "time"
    assert capture.payload_digest == digest == capture.compute_digest()
    assert capture.payload() == body
    assert dict(tally.types) == {"warcinfo": 1, "response": 1}
    assert pickle.loads(pickle.dumps(capture)) == capture


def test_offsets_of_a_plain_file_are_its_own_and_of_one_member_none(tmp_path: Path) -> None:
    parts = [record(response(page(str(n))), n) for n in range(3)]
    captures, _ = read(tmp_path, b"".join(parts), "t.warc")
    assert [c.offset for c in captures] == [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    captures, _ = read(tmp_path, member(b"".join(parts)))
    assert [c.offset for c in captures] == [None, None, None]


def test_members_cut_anywhere_are_one_stream(tmp_path: Path) -> None:
    data = b"".join(record(response(page(str(n), 40)), n) for n in range(5))
    blocks = b"".join(member(data[at : at + 1000]) for at in range(0, len(data), 1000))
    captures, tally = read(tmp_path, blocks)
    assert [c.payload() for c in captures] == [page(str(n), 40).encode() for n in range(5)]
    assert not tally.damage


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a", "a.txt.gz"])
def test_the_form_is_told_by_the_bytes_and_not_by_the_name(tmp_path: Path, name: str) -> None:
    for data in (record(response(page("x"))), member(record(response(page("x"))))):
        captures, _ = read(tmp_path, data, name)
        assert len(captures) == 1


@pytest.mark.parametrize(
    "version", ["WARC/0.17", "WARC/0.18", "WARC/1.0", "WARC/1.1", "warc/1.0", "WARC/2.0"]
)
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_versions_and_line_ends(tmp_path: Path, version: str, end: str) -> None:
    block = response(page("x"), end=end.encode())
    data = b"".join(record(block, n, version=version, end=end) for n in range(3))
    for bytes_, name in ((data, "t.warc"), (member(data), "t.warc.gz")):
        captures, tally = read(tmp_path, bytes_, name)
        assert [c.payload() for c in captures] == [page("x").encode()] * 3
        assert not tally.damage


def test_records_without_line_ends_after_them_are_read(tmp_path: Path) -> None:
    for trailer in (b"", b"\n", b"\r\n", b"\r\n\r\n\r\n\r\n"):
        data = b"".join(record(response(page("x")), n, trailer=trailer) for n in range(3))
        captures, tally = read(tmp_path, data, "t.warc")
        assert len(captures) == 3 and not tally.damage


def test_folded_and_repeated_fields(tmp_path: Path) -> None:
    fields = ("X-Note: one", " two", "WARC-Target-URI: http://other.example/", "Content-Length : 1")
    (capture,), _ = read(tmp_path, record(response(page("x")), 1, fields=fields[:3]), "t.warc")
    assert capture.url == "http://w.example/1"  # the first of two stands
    folded = record(response(page("x")), 1).replace(b"\r\nContent-Length: ", b"\r\ncontent-length:\r\n  ")
    captures, tally = read(tmp_path, folded, "t.warc")
    assert len(captures) == 1 and not tally.damage


def test_statuses_are_counted_by_name_and_chosen_by_option(tmp_path: Path) -> None:
    lines = [
        b"HTTP/1.1 200",
        b"HTTP/2 200",
        b"HTTP/1.0 404 No",
        b"HTTP/1.1 2000 x",
        b"HTTP/1.1 -1",
        b"HTTP/1.1 1",
    ]
    data = warc(*(response(page("x"), status=line) for line in lines))
    captures, tally = read(tmp_path, data)
    assert [c.url[-1] for c in captures] == ["0", "1"]
    assert tally.skipped == Counter({"status:404": 1, "status:unparsable": 2, "status:1": 1})
    captures, _ = read(tmp_path, data, statuses=frozenset({404}))
    assert [c.status for c in captures] == [404]
    captures, _ = read(tmp_path, data, statuses=None)
    assert [c.status for c in captures] == [200, 200, 404, None, None, 1]


def test_record_types_that_are_no_pages_are_counted(tmp_path: Path) -> None:
    kinds = ["request", "metadata", "warcinfo", "revisit", "continuation", "conversion", "spam", ""]
    data = b"".join(member(record(response(page("x")), n, kind=kind)) for n, kind in enumerate(kinds))
    captures, tally = read(tmp_path, data)
    assert not captures
    assert dict(tally.skipped) == {
        **{
            f"not-response:{kind}": 1
            for kind in ("request", "metadata", "warcinfo", "continuation", "conversion")
        },
        "not-response:other": 2,
        "revisit": 1,
    }


def test_skipped_records_can_be_listed_with_their_place(tmp_path: Path) -> None:
    parts = [member(record(response(page("x"), status=b"HTTP/1.1 404"), n)) for n in range(2)]
    (tmp_path / "t.warc.gz").write_bytes(b"".join(parts))
    skips: list[Skip] = []
    assert not list(read_captures(tmp_path / "t.warc.gz", tally=Tally(on_skip=skips.append)))
    assert skips == [
        Skip("status:404", "t.warc.gz", 0, "<urn:test:0>", "http://w.example/0"),
        Skip("status:404", "t.warc.gz", len(parts[0]), "<urn:test:1>", "http://w.example/1"),
    ]


def test_a_resource_is_a_page_by_the_records_own_type(tmp_path: Path) -> None:
    html = page("x").encode()
    data = (
        member(record(html, 1, kind="resource", content_type="text/html; charset=utf-8"))
        + member(record(html, 2, kind="resource", content_type="image/png"))
        + member(record(b"...", 3, kind="resource", uri="dns:w.example", content_type="text/dns"))
    )
    (capture,), tally = read(tmp_path, data)
    assert (capture.record_type, capture.status, capture.payload()) == ("resource", None, html)
    assert dict(tally.skipped) == {"not-html": 1, "not-http": 1}


def test_a_response_without_a_head_is_read_as_a_page_when_it_looks_like_one(tmp_path: Path) -> None:
    data = warc(page("x").encode(), b"just some words\r\n\r\nin lines")
    (capture,), tally = read(tmp_path, data)
    assert (capture.status, capture.payload()) == (None, page("x").encode())
    assert dict(tally.skipped) == {"not-html": 1}


def test_conversions_are_read_whole_when_asked_for(tmp_path: Path) -> None:
    text = "First line.\n\nHTTP/1.1 200 OK\n\nLast line, a naïve one."
    data = member(
        record(
            text,
            1,
            kind="conversion",
            content_type="text/plain",
            fields=("WARC-Identified-Content-Language: eng,fra",),
        )
    ) + warc(response(page("x")))
    (capture,), tally = read(tmp_path, data, "t.warc.wet.gz", conversions=True)
    assert capture.payload() == text.encode()
    assert (capture.record_type, capture.language, capture.media_type) == (
        "conversion",
        "eng,fra",
        "text/plain",
    )
    assert dict(tally.skipped) == {"not-response:response": 1}


DOCUMENT = page("x").encode()
TYPES: list[tuple[bytes | None, bytes, bool]] = [
    (b"text/html", DOCUMENT, True),
    (b"TEXT/HTML;charset=x", DOCUMENT, True),
    (b"text/html,text/html", DOCUMENT, True),
    (b"application/xhtml+xml", DOCUMENT, True),
    (b"text/html", b"just words under an HTML type", True),
    (b"text/html", b"%PDF-1.4\n1 0 obj", False),
    (b"text/html", b"\x89PNG\r\n\x1a\n....", False),
    (b"text/html", b"PK\x03\x04....", False),
    (b"text/html", b"\0\0\0\x20ftypisom....", False),
    (b"text/html", b"RIFF\x24\0\0\0WAVEfmt ", False),
    (b"text/html", b'{"a": [1, 2, {"b": "<p>"}]}', False),
    (b"text/html", b'[{"a": 1}]\n', False),
    (b"text/html", b"<text>" + b"\x02".join(b"%d" % n for n in range(300)) + b"</text>", True),
    (b"text/html", random.Random(4).randbytes(5000), False),
    (b"text/html", b"{not json} <p>but a page</p>", True),
    (None, DOCUMENT, True),
    (b"", DOCUMENT, True),
    (None, b"no markup at all", False),
    (b"application/octet-stream", DOCUMENT, True),
    (b"application/octet-stream", b"\0\1\2\3\4\5\6\7\x0e\x0f" * 50, False),
    (b"unknown/unknown", b"\xef\xbb\xbf \n<!-- x --><p>x</p>", True),
    (b"*/*", b"<TABLE border=0>", True),
    (b"*/*", b"<TABLEAU>", False),
    (None, "<html><p>x</p>".encode("utf-16"), True),
    (b"text/plain", DOCUMENT, True),
    (b"text/plain", b"<!-- c --><html><p>x", True),
    (b"text/plain", b"<p>a fragment shown as source</p>", False),
    (b"text/plain", b"words", False),
    (b"application/pdf", DOCUMENT, False),
    (b"image/svg+xml", b"<svg/>", False),
    (b"application/xml", b"<?xml version='1.0'?><html/>", False),
    (None, b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", True),
]


@pytest.mark.parametrize(("content_type", "body", "expected"), TYPES)
def test_media_types(tmp_path: Path, content_type: bytes | None, body: bytes, expected: bool) -> None:
    captures, tally = read(tmp_path, warc(response(body, content_type=content_type)))
    assert len(captures) == expected
    assert tally.skipped == Counter({} if expected else {"not-html": 1})
    # Coded, the same body is judged the same.
    coded = response(gzip.compress(body), content_type=content_type, headers=(b"Content-Encoding: gzip",))
    captures, _ = read(tmp_path, warc(coded))
    assert len(captures) == expected


def test_empty_bodies_are_counted_as_such(tmp_path: Path) -> None:
    chunked = (b"Transfer-Encoding: chunked",)
    data = warc(
        response(b""),
        response(b" \r\n "),
        response(b"0\r\n\r\n", headers=chunked),
        response(gzip.compress(b"")),
    )
    captures, tally = read(tmp_path, data)
    assert not captures and dict(tally.skipped) == {"empty": 4}


def test_pages_above_the_limit_are_counted_and_not_held(tmp_path: Path) -> None:
    big = page("x").encode() + b" " * 70_000
    over = b"<p>" + b"x" * (2 << 20)
    data = warc(response(big), response(over), response(over, content_type=b"video/mp4"), response(page("y")))
    captures, tally = read(tmp_path, data, max_page_bytes=len(big))
    assert [c.url[-1] for c in captures] == ["0", "3"]
    assert dict(tally.skipped) == {"too-large": 1, "not-html": 1}
    for name, bytes_ in (
        ("t.warc.gz", data),
        ("t.warc", b"".join(record(response(over), n) for n in range(3))),
    ):
        captures, tally = read(tmp_path, bytes_, name, max_page_bytes=1000)
        assert tally.skipped["too-large"] >= 2


def test_a_coded_bomb_raises_when_its_payload_is_asked_for(tmp_path: Path) -> None:
    bomb = gzip.compress(page("x").encode() + b" " * (40 << 20))
    (capture,), _ = read(tmp_path, warc(response(bomb, headers=(b"Content-Encoding: gzip",))))
    with pytest.raises(PageTooLarge):
        capture.payload()
    with pytest.raises(PageTooLarge):
        capture.payload(1 << 20)


def test_unknown_codings_are_counted(tmp_path: Path) -> None:
    captures, tally = read(
        tmp_path, warc(response(b"\x1f\x9d\x90\0\1\2", headers=(b"Content-Encoding: compress",)))
    )
    assert not captures and dict(tally.skipped) == {"unsupported-coding": 1}
    assert UnsupportedCoding.cause == "unsupported-coding" and NotHtml.cause == "not-html"


def test_json_behind_a_coding_is_found_when_it_is_decoded(tmp_path: Path) -> None:
    body = b'{"a": "' + random.Random(1).randbytes(50_000).hex().encode() + b'"}'
    (capture,), _ = read(tmp_path, warc(response(gzip.compress(body), headers=(b"Content-Encoding: gzip",))))
    with pytest.raises(NotHtml):
        capture.payload()


def test_chunked_and_coded_payloads_and_their_digest(tmp_path: Path) -> None:
    body = page("x").encode()
    coded = gzip.compress(body)
    headers = (b"Transfer-Encoding: chunked", b"Content-Encoding: gzip")
    data = warc(response(chunks(coded, 30), headers=headers), response(coded, headers=headers))
    captures, _ = read(tmp_path, data)
    assert [c.payload() for c in captures] == [body, body]
    # WARC's payload: without transfer coding, with content coding.
    assert {c.compute_digest("sha256").value for c in captures} == {hashlib.sha256(coded).digest()}


def test_bodies_shorter_than_announced_are_truncated(tmp_path: Path) -> None:
    body = page("x").encode()
    length = b"Content-Length: %d"
    data = warc(
        response(body[:-5], headers=(length % len(body),)),
        response(body, headers=(length % len(body),)),
        response(body, headers=(length % 3,)),  # longer: the header speaks of the coded body that isn't there
    )
    captures, _ = read(tmp_path, data)
    assert [c.truncated for c in captures] == ["content-length", None, None]
    assert captures[2].payload() == body
    captures, tally = read(tmp_path, data, truncated=False)
    assert len(captures) == 2 and dict(tally.skipped) == {"truncated": 1}


def test_the_digest_of_nothing_on_a_page_is_no_digest(tmp_path: Path) -> None:
    for algorithm in ("sha1", "md5", "sha256"):
        field = f"WARC-Payload-Digest: {digest_of(b'', algorithm)}"
        (capture,), _ = read(tmp_path, warc(response(page("x")), fields=(field,)))
        assert capture.payload_digest is None


def test_a_limit_stops_after_so_many_captures(tmp_path: Path) -> None:
    data = warc(*(response(page(str(n))) for n in range(5)))
    for limit, expected in ((0, 0), (1, 1), (3, 3), (9, 5)):
        captures, _ = read(tmp_path, data, limit=limit)
        assert len(captures) == expected


def test_arc_records(tmp_path: Path) -> None:
    second = b"http://w.example/2 192.0.2.7 20020304050607 text/html 200 - - 0 f.arc "
    html = page("x").encode()
    parts = arc_file(
        [
            arc_record("http://w.example/a page", response(html)),
            arc_record("http://w.example/bare", html, "no-type"),
            arc_record("http://w.example/gif", b"GIF89a...", "image/gif"),
            arc_record("dns:w.example", b"20020304\nw.example. 60 IN A 192.0.2.7\n", "text/dns"),
            second + b"%d\n" % len(response(html)) + response(html) + b"\n",
        ]
    )
    for name, data in (("t.arc", b"".join(parts)), ("t.arc.gz", b"".join(map(member, parts)))):
        captures, tally = read(tmp_path, data, name)
        assert [c.url for c in captures] == [
            "http://w.example/a%20page",
            "http://w.example/bare",
            "http://w.example/2",
        ]
        assert [c.payload() for c in captures] == [html] * 3
        assert all(c.date is not None and c.date.isoformat() == "2002-03-04T05:06:07+00:00" for c in captures)
        assert dict(tally.skipped) == {"not-response:filedesc": 1, "not-html": 1, "not-http": 1}
        assert not tally.damage
        assert captures[0].offset == (len(parts[0]) if name == "t.arc" else len(member(parts[0])))


def test_revisits_are_passed_over_or_resolved(tmp_path: Path) -> None:
    body = page("original").encode()
    digest = f"WARC-Payload-Digest: {digest_of(body)}"
    original = record(response(body), 1, fields=(digest,))
    other = record(response(page("other")), 2)
    by_digest = record(
        b"HTTP/1.1 200 OK\r\n\r\n",
        3,
        kind="revisit",
        uri="http://w.example/again",
        fields=(digest,),
        date="2024-06-01",
    )
    by_url = record(
        b"",
        4,
        kind="revisit",
        fields=("WARC-Refers-To-Target-URI: http://w.example/2", "WARC-Refers-To-Date: 2024-05-06T07:08:09Z"),
    )
    by_id = record(b"", 5, kind="revisit", fields=("WARC-Refers-To: <urn:test:2>",))
    unknown = record(b"", 6, kind="revisit", fields=("WARC-Refers-To: <urn:test:99>",))
    parts = [original, other, by_digest, by_url, by_id, unknown]
    for name, data in (("t.warc", b"".join(parts)), ("t.warc.gz", b"".join(map(member, parts)))):
        captures, tally = read(tmp_path, data, name)
        assert len(captures) == 2 and tally.skipped["revisit"] == 4
        captures, tally = read(tmp_path, data, name, resolve_revisits=True)
        assert [c.record_id for c in captures] == [f"<urn:test:{n}>" for n in range(1, 6)]
        assert [c.payload() for c in captures] == [
            body,
            page("other").encode(),
            body,
            *[page("other").encode()] * 2,
        ]
        again = captures[2]
        assert (again.url, again.record_type) == ("http://w.example/again", "revisit")
        assert again.date is not None and again.date.day == 1
        assert tally.skipped["revisit"] == 1
    # Wherever the originals stand, and where they have no place of their own to be read from again.
    late = [by_digest, by_url, original, by_id, unknown, other]
    for order, numbers in ((parts, [1, 2, 3, 4, 5]), (late, [3, 4, 1, 5, 2])):
        for name, data in (
            ("t.warc", b"".join(order)),
            ("t.warc.gz", b"".join(map(member, order))),
            ("one.warc.gz", member(b"".join(order))),
            ("t.wacz", zip_of({"t.warc.gz": b"".join(map(member, order))}, zipfile.ZIP_DEFLATED)),
        ):
            captures, tally = read(tmp_path, data, name, resolve_revisits=True)
            assert [c.record_id for c in captures] == [f"<urn:test:{n}>" for n in numbers], name
            bodies = {1: body, 3: body}
            assert [c.payload() for c in captures] == [bodies.get(n, page("other").encode()) for n in numbers]
            assert tally.skipped["revisit"] == 1 and tally.records == len(order)


def test_damage_is_counted_once_when_revisits_are_looked_up(tmp_path: Path) -> None:
    digest = f"WARC-Payload-Digest: {digest_of(b'far away')}"
    revisit = record(b"", 1, kind="revisit", fields=(digest,))
    data = revisit + b"garbage\r\n" * 9 + record(response(page("x")), 2)
    captures, tally = read(tmp_path, data, resolve_revisits=True)
    assert len(captures) == 1 and len(tally.damage) == 1 and tally.skipped["revisit"] == 1


def test_what_is_no_archive_is_an_error_that_says_so(tmp_path: Path) -> None:
    for data, message in (
        (b"", "empty"),
        (b"<html>" * 100, "no WARC or ARC record"),
        (gzip.compress(b"urlkey timestamp\n" * 50), "no WARC or ARC record"),
        (b"warc/0.9 120 response http://a/ 20060101000000 x\r\n\r\n", "draft before 0.17"),
    ):
        with pytest.raises(SourceError, match=message):
            read(tmp_path, data, "t.warc.gz")
    with pytest.raises(SourceError, match="No such file"):
        list(read_captures(Source("gone.warc", str(tmp_path / "gone.warc"))))


def test_a_source_is_what_a_worker_gets(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(warc(response(page("x"))))
    (source,) = find_sources([str(tmp_path)])
    assert pickle.loads(pickle.dumps(source)) == source
    assert len(list(read_captures(source))) == 1
