"""`ccrawl check`: counts, digests in every base, damage, exit codes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path

import pytest

from ccrawl.archives import digest_of, find_sources
from ccrawl.archives.check import FileCheck, check_source
from ccrawl.cli.check import as_text, command

from .build import chunks, member, page, record, response, zip_of


def check(tmp_path: Path, data: bytes, name: str = "t.warc.gz") -> FileCheck:
    path = tmp_path / name
    path.write_bytes(data)
    (source,) = find_sources([str(path)])
    return check_source(source)


def _fields(block: bytes, payload: bytes, algorithm: str = "sha1", base: str = "base32") -> tuple[str, ...]:
    def written(body: bytes) -> str:
        value = hashlib.new(algorithm, body).digest()
        coded = {"base32": base64.b32encode(value).decode(), "hex": value.hex()}[base]
        return f"{algorithm}:{coded}"

    return f"WARC-Block-Digest: {written(block)}", f"WARC-Payload-Digest: {written(payload)}"


def test_records_pages_and_form_are_told(tmp_path: Path) -> None:
    data = member(record(b"x: y\r\n", 0, kind="warcinfo", uri="", content_type="application/warc-fields"))
    data += b"".join(member(record(response(page(str(n))), n)) for n in range(3))
    data += member(record(response(b"GIF89a", content_type=b"image/gif"), 9))
    result = check(tmp_path, data)
    assert (result.records, result.pages) == (5, 3)
    assert dict(result.types) == {"warcinfo": 1, "response": 4}
    assert dict(result.skipped) == {"not-response:warcinfo": 1, "not-html": 1}
    assert dict(result.forms) == {"warc, gzip": 1} and result.per_record
    assert result.sound
    whole = check(tmp_path, gzip.compress(gzip.decompress(data)))
    assert whole.records == 5 and whole.per_record is False


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
@pytest.mark.parametrize("base", ["base32", "hex"])
def test_digests_are_verified_and_wrong_ones_found(tmp_path: Path, algorithm: str, base: str) -> None:
    body = page("x").encode()
    block = response(body)
    good = record(block, 1, fields=_fields(block, body, algorithm, base))
    bad = record(block, 2, fields=_fields(block + b"x", body + b"x", algorithm, base))
    result = check(tmp_path, member(good) + member(bad))
    assert dict(result.block) == {"verified": 1, "wrong": 1}
    assert dict(result.payload) == {"verified": 1, "wrong": 1}
    assert [(w.record_id, w.kind, w.offset) for w in result.wrong] == [
        ("<urn:test:2>", "block", len(member(good))),
        ("<urn:test:2>", "payload", len(member(good))),
    ]
    assert result.wrong[1].computed == str(digest_of(body, algorithm))
    assert not result.sound


def test_a_payload_is_what_any_writer_means_by_it(tmp_path: Path) -> None:
    body = page("x").encode()
    coded = gzip.compress(body)
    block = response(chunks(coded, 20), headers=(b"Transfer-Encoding: chunked", b"Content-Encoding: gzip"))
    parts = [
        record(block, n, fields=_fields(block, meant))
        for n, meant in enumerate((chunks(coded, 20), coded, body))
    ]
    request = b"POST / HTTP/1.1\r\nHost: x\r\n\r\na=b"
    parts.append(record(request, 8, kind="request", fields=_fields(request, b"a=b")))
    parts.append(record(body, 9, kind="resource", content_type="text/html", fields=_fields(body, body)))
    result = check(tmp_path, b"".join(map(member, parts)))
    assert dict(result.payload) == {"verified": 5} and dict(result.block) == {"verified": 5}


def test_blocks_of_any_size_are_verified_in_a_stream(tmp_path: Path) -> None:
    block = response(b"\0" * (40 << 20), content_type=b"video/mp4")
    good = record(block, 1, fields=_fields(block, b"")[:1])
    bad = record(block, 2, fields=_fields(block + b"x", b"")[:1])
    for name, data in (("t.warc", good + bad), ("t.warc.gz", member(good) + member(bad))):
        assert dict(check(tmp_path, data, name).block) == {"verified": 1, "wrong": 1}


def test_digests_that_say_nothing_are_told_apart(tmp_path: Path) -> None:
    block = response(page("x"))
    parts = [
        record(block, 1, fields=("WARC-Payload-Digest: xalg:1", "WARC-Block-Digest: sha1:zz")),
        record(block, 2),
        record(b"", 3, kind="revisit", fields=_fields(b"", b"elsewhere")),
    ]
    result = check(tmp_path, b"".join(map(member, parts)))
    assert dict(result.payload) == {"unreadable": 1, "missing": 1, "undecided": 1}
    assert dict(result.block) == {"unreadable": 1, "missing": 1, "verified": 1}
    assert result.sound


def test_damage_makes_a_file_unsound(tmp_path: Path) -> None:
    data = member(record(response(page("x")), 1))
    result = check(tmp_path, data + data[:-9])
    assert not result.sound and dict(result.damaged) == {"cut": 1}
    assert f"cut at byte {len(data)}, {len(data) - 9} bytes passed over" in as_text(result)


def test_the_command_prints_each_file_and_exits_with_3_when_one_is_not_sound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "a.warc.gz"
    good.write_bytes(member(record(response(page("x")), 1)))
    assert command([str(good)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.warc.gz",
        "  form     warc, gzip, each record on its own",
        "  records  1 (response 1)",
        "  pages    1",
        "  block    1 missing digests",
        "  payload  1 missing digests",
        "  result   sound",
    ]
    (tmp_path / "b.warc").write_bytes(b"nothing")
    (tmp_path / "c.wacz").write_bytes(zip_of({"archive/a.warc.gz": good.read_bytes()}))
    assert command([str(tmp_path)], as_json=True) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["name"], line["sound"], line["records"]) for line in lines] == [
        ("a.warc.gz", True, 1),
        ("b.warc", False, 0),
        ("c.wacz/archive/a.warc.gz", True, 1),
    ]
    assert "no WARC or ARC record" in lines[1]["error"]


def test_what_a_file_says_cannot_reach_the_terminal(tmp_path: Path) -> None:
    data = record(response(page("x")), 1, kind="re\x1b[31msponse")
    assert "\x1b" not in as_text(check(tmp_path, data, "t.warc"))
