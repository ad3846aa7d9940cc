from __future__ import annotations

import hashlib
from pathlib import Path

from support import warcs

from ccrawl.archives import read_captures
from ccrawl.run.duplicates import DuplicateFilter


def kept(tmp_path: Path, records: list[bytes]) -> tuple[list[str], int]:
    """The last parts of the URLs that stay, and how many captures were dropped."""
    source = warcs.write(tmp_path / "a.warc", records)
    duplicates = DuplicateFilter()
    names = [page.capture.url.rpartition("/")[2] for page in duplicates.pages(read_captures(source))]
    return names, duplicates.dropped


def record(name: str, body: bytes, digest: str | None) -> bytes:
    headers = [] if digest is None else [f"WARC-Payload-Digest: {digest}"]
    return warcs.record(warcs.http(body), url=f"http://site.test/{name}", headers=headers)


ONE, TWO = warcs.page(1), warcs.page(2)


def hex_sha1(body: bytes) -> str:
    return "sha1:" + hashlib.sha1(body).hexdigest()


def hex_sha256(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def test_the_first_copy_survives(tmp_path: Path) -> None:
    records = [
        record(name, body, warcs.sha1(body))
        for name, body in (("a", ONE), ("b", TWO), ("c", ONE), ("d", ONE))
    ]
    assert kept(tmp_path, records) == (["a", "b"], 2)


def test_the_archives_own_digest_is_believed(tmp_path: Path) -> None:
    """It is the crawler's statement about the payload, and hashing again would cost what the check saves."""
    records = [record("a", ONE, warcs.sha1(b"x")), record("b", TWO, warcs.sha1(b"x"))]
    assert kept(tmp_path, records) == (["a"], 1)


def test_base32_and_hex_of_one_digest_are_equal(tmp_path: Path) -> None:
    records = [
        record("a", ONE, warcs.sha1(ONE)),
        record("b", ONE, hex_sha1(ONE)),
        record("c", ONE, hex_sha1(ONE).upper()),
    ]
    assert kept(tmp_path, records) == (["a"], 2)


def test_mixed_algorithms_miss_no_duplicate(tmp_path: Path) -> None:
    records = [
        record("a", ONE, hex_sha256(ONE)),
        record("b", ONE, warcs.sha1(ONE)),
        record("c", TWO, warcs.sha1(TWO)),
    ]
    assert kept(tmp_path, records) == (["a", "c"], 1)


def test_without_a_usable_digest_the_payload_is_hashed(tmp_path: Path) -> None:
    labels = [None, "", "sha1:____", "nonsense", "sha1:____", warcs.sha1(b"")]
    records = [record(str(i), warcs.page(i), label) for i, label in enumerate(labels)]
    records.append(record("copy", warcs.page(1), None))
    assert kept(tmp_path, records) == (["0", "1", "2", "3", "4", "5"], 1)


def test_the_same_payload_chunked_and_plain_is_one(tmp_path: Path) -> None:
    body = b"".join(b"%x\r\n%s\r\n" % (len(ONE[i : i + 50]), ONE[i : i + 50]) for i in range(0, len(ONE), 50))
    chunked = warcs.record(
        warcs.http(body + b"0\r\n\r\n", headers=["Transfer-Encoding: chunked"]),
        url="http://site.test/chunked",
    )
    assert kept(tmp_path, [record("plain", ONE, None), chunked]) == (["plain"], 1)


def test_copies_would_have_made_a_row_when_their_first_copy_did(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc", [record(str(i), body, None) for i, body in enumerate((ONE, TWO, ONE, TWO, ONE))]
    )
    duplicates = DuplicateFilter()
    for page in duplicates.pages(read_captures(source)):
        if page.capture.body == ONE:
            duplicates.made_row(page.number)
    assert (duplicates.dropped, duplicates.dropped_with_row) == (3, 2)


def test_the_scope_is_one_shard(tmp_path: Path) -> None:
    assert kept(tmp_path, [record("a", ONE, None)]) == kept(tmp_path, [record("a", ONE, None)]) == (["a"], 0)
