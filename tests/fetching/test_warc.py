"""A refetch's WARC files: what goes in comes out, with warcio, FastWARC and our own reader."""

from __future__ import annotations

import base64
import gzip
import hashlib
import resource
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exchanges import START, exchange, fetched, head, many, one, warc_contents
from warcio.archiveiterator import ArchiveIterator

from ccrawl.archives import CaptureOptions, find_sources, read_captures
from ccrawl.archives.check import check_source
from ccrawl.archives.digests import digest_of
from ccrawl.errors import OutputError
from ccrawl.fetching.types import Fetched
from ccrawl.fetching.warc import WarcOptions, WarcOutput, earlier_in_index, remove_warcs
from ccrawl.fetching.warc_records import Container, Earlier
from ccrawl.index import Original, Package

PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
PAGE = b"<!doctype html><title>One</title><p>The tide table hangs beside the door of the harbour office."


@dataclass
class Read:
    """A record as warcio reads it, its digests verified."""

    type: str
    headers: dict[str, str]
    block: bytes
    payload: bytes
    problems: list[str]

    def __getitem__(self, name: str) -> str:
        return self.headers.get(f"WARC-{name}", "")


def read(files: Iterable[Path]) -> list[Read]:
    found = []
    for path in files:
        with path.open("rb") as file, path.open("rb") as again:
            raw = ArchiveIterator(again, no_record_parse=True)
            for record, bare in zip(ArchiveIterator(file, check_digests=True), raw, strict=True):
                payload = record.raw_stream.read()
                block = bare.raw_stream.read()
                headers = dict(record.rec_headers.headers)
                found.append(Read(record.rec_type, headers, block, payload, record.digest_checker.problems))
    return found


def write(folder: Path, *all_fetched: Fetched, options: WarcOptions | None = None) -> list[Read]:
    with WarcOutput(folder, options) as output:
        for each in all_fetched:
            output.write(each)
    return read(output.files)


def of_type(records: Iterable[Read], *kinds: str) -> list[Read]:
    return [record for record in records if record.type in kinds]


def sha256(payload: bytes) -> str:
    return "sha256:" + hashlib.sha256(payload).hexdigest()


def test_a_file_begins_with_who_made_it(tmp_path: Path) -> None:
    options = WarcOptions(
        prefix="spring",
        operator="Ada <ada@site.test>",
        user_agent="ccrawl (+x)\r\nWARC-Type: no",
        robots="obey",
    )
    first, *_ = write(tmp_path, one(0, "http://a.test/", PAGE), options=options)
    assert first.type == "warcinfo"
    assert first["Filename"] == "spring-00000.warc.gz"
    assert first["Date"] == "2026-09-21T14:13:20.123Z"
    fields = dict(line.split(": ", 1) for line in first.block.decode().splitlines())
    assert fields["software"].startswith("ccrawl ")
    assert fields["format"] == "WARC File Format 1.1"
    assert fields["operator"] == "Ada <ada@site.test>"
    assert fields["http-header-user-agent"] == "ccrawl (+x) WARC-Type: no"
    assert fields["robots"] == "obey"
    assert fields["isPartOf"] == "spring"


def test_an_exchange_is_a_response_and_the_request_that_names_it(tmp_path: Path) -> None:
    _, response, request = write(tmp_path, one(0, "http://a.test/x?y=1", PAGE))
    assert (response.type, request.type) == ("response", "request")
    assert response.headers == {
        "WARC-Type": "response",
        "WARC-Record-ID": response["Record-ID"],
        "WARC-Date": "2026-09-21T14:13:20.123Z",
        "WARC-Target-URI": "http://a.test/x?y=1",
        "WARC-IP-Address": "192.0.2.7",
        "WARC-Payload-Digest": sha256(PAGE),
        "WARC-Block-Digest": sha256(head("Content-Type: text/html") + PAGE),
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(head("Content-Type: text/html") + PAGE)),
    }
    assert request.block == b"GET /x?y=1 HTTP/1.1\r\nHost: a.test\r\n\r\n"
    assert request["Concurrent-To"] == response["Record-ID"]
    assert request["Target-URI"] == response["Target-URI"]
    assert request["Record-ID"] != response["Record-ID"]


def test_a_body_seen_before_is_a_revisit_of_it(tmp_path: Path) -> None:
    records = write(
        tmp_path,
        one(0, "http://a.test/a", PAGE),
        one(1, "http://a.test/b", PAGE, fields=["Content-Type: text/html", f"Content-Length: {len(PAGE)}"]),
        one(2, "http://a.test/c", PAGE + b"!"),
        one(3, "http://a.test/a", PAGE, status="404 Not Found"),
    )
    first, revisit, other, again = of_type(records, "response", "revisit")
    assert [record.type for record in (first, revisit, other, again)] == [
        *("response", "revisit", "response", "revisit")
    ]
    for record in (revisit, again):
        assert record["Profile"] == PROFILE
        assert record["Refers-To-Target-URI"] == first["Target-URI"]
        assert record["Refers-To-Date"] == first["Date"]
        assert record["Refers-To"] == first["Record-ID"]
        assert record["Payload-Digest"] == first["Payload-Digest"]
        assert record["Date"] > first["Date"]
        assert record["Block-Digest"] == sha256(record.block)
        assert "WARC-Refers-To-Container" not in record.headers
    assert revisit.block == head("Content-Type: text/html", f"Content-Length: {len(PAGE)}")
    assert again.block == head("Content-Type: text/html", status="404 Not Found")
    requests = of_type(records, "request")
    assert [request["Concurrent-To"] for request in requests] == [
        record["Record-ID"] for record in (first, revisit, other, again)
    ]


def test_bodies_are_compared_with_their_content_coding_on(tmp_path: Path) -> None:
    """As WARC defines the payload: the same page sent plain, chunked and compressed is two payloads."""
    packed = gzip.compress(PAGE, mtime=0)
    records = write(
        tmp_path,
        one(0, "http://a.test/plain", PAGE),
        one(1, "http://a.test/gz", packed, fields=["Content-Type: text/html", "Content-Encoding: gzip"]),
        one(2, "http://a.test/ch", PAGE, fields=["Content-Type: text/html", "Transfer-Encoding: chunked"]),
        one(3, "http://a.test/gz2", packed, fields=["Content-Type: text/html", "Content-Encoding: gzip"]),
    )
    kinds = [record.type for record in of_type(records, "response", "revisit")]
    assert kinds == ["response", "response", "revisit", "revisit"]


@pytest.mark.parametrize(
    ("body", "complete"), [(b"", True), (b"half of it", False)], ids=["empty", "incomplete"]
)
def test_what_is_empty_or_cut_is_no_copy(tmp_path: Path, body: bytes, complete: bool) -> None:
    elsewhere = Earlier("http://other.test/", "2025-01-01T00:00:00Z", digest_of(body, "sha256"))
    with WarcOutput(tmp_path) as output:
        for number in range(3):
            output.write(one(number, f"http://a.test/{number}", body, complete=complete), elsewhere)
    records = read(output.files)
    assert len(of_type(records, "response")) == 3
    assert not of_type(records, "revisit")


@pytest.mark.parametrize(
    ("error", "reason"),
    [("timeout", "time"), ("too-large", "length"), ("truncated", "disconnect"), ("internal", "unspecified")],
)
def test_a_cut_body_says_why(tmp_path: Path, error: str, reason: str) -> None:
    hop = exchange("http://a.test/", b"moved", status="301 Moved", complete=False)
    last = exchange("http://a.test/b", b"<p>the beg", complete=False)
    first, second = of_type(write(tmp_path, fetched(0, hop, last, error=error)), "response")
    assert first["Truncated"] == "unspecified"  # the fetch's error is not about it
    assert second["Truncated"] == reason
    assert second.payload == b"<p>the beg"
    assert second["Payload-Digest"] == sha256(b"<p>the beg")


def test_a_whole_body_is_not_called_truncated(tmp_path: Path) -> None:
    (response,) = of_type(write(tmp_path, one(0, "http://a.test/", PAGE, error="coding")), "response")
    assert "WARC-Truncated" not in response.headers


@pytest.mark.parametrize("name", ["Transfer-Encoding", "transfer-encoding", "TRANSFER-ENCODING "])
def test_a_body_that_looks_chunked_is_not_taken_apart(tmp_path: Path, name: str) -> None:
    body = b"5\r\n<html>not chunks at all</html>\r\n0\r\n\r\n"
    fields = [
        "Content-Type: text/html",
        f"{name}: chunked",
        "Content-Length: 7",
        "X-A: transfer-encoding: no",
    ]
    record = of_type(write(tmp_path, one(0, "http://a.test/", body, fields=fields)), "response")[0]
    assert record.problems == []
    lines = record.block.split(b"\r\n")
    assert f"X-Orig-{name}: chunked".encode() in lines
    assert b"X-Orig-Content-Length: 7" in lines
    assert b"X-A: transfer-encoding: no" in lines
    with next(tmp_path.glob("*.gz")).open("rb") as file:
        streams = [r.content_stream().read() for r in ArchiveIterator(file) if r.rec_type == "response"]
    assert streams == [body]
    (capture,) = read_captures(next(tmp_path.glob("*.gz")))
    assert capture.payload() == body


def test_each_hop_of_a_redirect_is_kept(tmp_path: Path) -> None:
    hops = [
        exchange("http://a.test/", b"", fields=["Location: /b"], status="302 Found", at=START),
        exchange("http://a.test/b", b"", fields=["Location: https://a.test/c"], status="301 X", at=START + 5),
        exchange("https://a.test/c", PAGE, at=START + 9),
    ]
    records = write(tmp_path, fetched(0, *hops))
    assert [record["Target-URI"] for record in of_type(records, "response")] == [hop.url for hop in hops]
    assert [record.type for record in records] == ["warcinfo", *["response", "request"] * 3]


def test_a_loop_within_a_millisecond_is_a_record_each_time(tmp_path: Path) -> None:
    hop = exchange("http://a.test/self", b"", fields=["Location: /self"], status="302 Found")
    records = write(tmp_path, fetched(0, hop, hop, hop, error="redirects"), fetched(1, hop, hop))
    ids = [record["Record-ID"] for record in records]
    assert len(of_type(records, "response")) == 5
    assert len(set(ids)) == len(ids) == 11


def test_a_fetch_without_an_answer_leaves_nothing(tmp_path: Path) -> None:
    nothing = fetched(0, exchange("http://a.test/", response_head=b""), error="connect")
    assert write(tmp_path / "a", nothing) == []
    assert not list((tmp_path / "a").glob("*.warc*"))


def test_a_copy_of_a_record_elsewhere_names_it(tmp_path: Path) -> None:
    """As the index gives it: a WACZ is named, and required; a date has the precision that it came with."""
    original = Original("jan", 0, "20250102030405678", "http://old.test/p q", 900)
    digest = digest_of(PAGE, "sha256")
    package = Package("crawl jan.wacz", "ab" * 32, 12345)
    with WarcOutput(tmp_path) as output:
        output.write(one(0, "http://a.test/", PAGE), earlier_in_index(original, digest, package))
        output.write(one(1, "http://a.test/2", PAGE))
        assert output.containers() == [Container("crawl jan.wacz", "ab" * 32, 12345, "jan")]
    revisit, second = of_type(read(output.files), "response", "revisit")
    assert revisit.type == "revisit"
    assert revisit["Refers-To-Target-URI"] == "http://old.test/p%20q"
    assert revisit["Refers-To-Date"] == "2025-01-02T03:04:05.678Z"
    assert revisit["Refers-To-Container"] == "file://crawl%20jan.wacz"
    assert revisit["Payload-Digest"] == sha256(PAGE)
    assert "WARC-Refers-To" not in revisit.headers
    assert second.type == "response"  # the payload isn't in this output, and nobody said that it is elsewhere


def test_a_copy_found_by_another_algorithm_is_named_by_it(tmp_path: Path) -> None:
    """A replay tool looks the original up by the digest that stands in its own index."""
    original = Original("cc", 0, "20250102030405", "http://old.test/", 900)
    with WarcOutput(tmp_path) as output:
        output.write(
            one(0, "http://a.test/", PAGE),
            earlier_in_index(original, digest_of(PAGE, "sha1"), Package("a.warc.gz")),
        )
        assert output.containers() == []
    (revisit,) = of_type(read(output.files), "revisit")
    assert revisit["Payload-Digest"] == "sha1:" + base64.b32encode(hashlib.sha1(PAGE).digest()).decode()
    assert revisit["Refers-To-Date"] == "2025-01-02T03:04:05Z"
    assert "WARC-Refers-To-Container" not in revisit.headers


def test_an_original_in_this_output_is_preferred(tmp_path: Path) -> None:
    elsewhere = Earlier(
        *("http://old.test/", "2025-01-01T00:00:00Z", digest_of(PAGE, "sha256")),
        container=Container("old.wacz"),
    )
    with WarcOutput(tmp_path) as output:
        output.write(one(0, "http://a.test/", PAGE))
        output.write(one(1, "http://a.test/2", PAGE), elsewhere)
        assert output.containers() == []
    (revisit,) = of_type(read(output.files), "revisit")
    assert revisit["Refers-To-Target-URI"] == "http://a.test/"


def test_files_are_rotated_between_exchanges(tmp_path: Path) -> None:
    options = WarcOptions(max_bytes=8000)
    records = write(tmp_path, *many(40), options=options)
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert [path.name for path in files] == [f"refetch-{number:05d}.warc.gz" for number in range(len(files))]
    assert len(files) > 3
    assert all(path.stat().st_size <= 8000 for path in files)
    assert len(of_type(records, "warcinfo")) == len(files)
    assert len(of_type(records, "response", "revisit")) == len(of_type(records, "request")) == 48
    for path in files:
        kinds = [record.type for record in read([path])]
        assert kinds[0] == "warcinfo"
        assert kinds[2::2] == ["request"] * ((len(kinds) - 1) // 2)


def test_an_exchange_above_the_limit_has_a_file_of_its_own(tmp_path: Path) -> None:
    records = write(tmp_path, *many(3), options=WarcOptions(max_bytes=100))
    assert len(of_type(records, "warcinfo")) == len(list(tmp_path.glob("*.warc.gz"))) == 4


def test_what_was_written_is_not_written_again(tmp_path: Path) -> None:
    with WarcOutput(tmp_path) as output:
        places = [output.write(each) for each in many(9)]
        assert [output.write(each) for each in many(9)] == places
    with WarcOutput(tmp_path) as output:
        assert [output.write(each) for each in many(9)] == places
        more = output.write(one(9, "http://a.test/", PAGE))
    assert {place.file for place in more} == {"refetch-00001.warc.gz"}
    assert len(of_type(read(output.files), "response", "revisit")) == 12


def test_an_output_that_was_left_is_gone_on_with_in_the_same_file(tmp_path: Path) -> None:
    for part in (many(9)[:4], many(9)[4:7], many(9)[7:]):
        output = WarcOutput(tmp_path / "parts")
        for each in part:
            output.write(each)
        output.leave()
        assert [path.name for path in (tmp_path / "parts").glob("*.gz*")] == ["refetch-00000.warc.gz.open"]
    WarcOutput(tmp_path / "parts").close()
    write(tmp_path / "whole", *many(9))
    assert warc_contents(tmp_path / "parts") == warc_contents(tmp_path / "whole")


def test_a_place_is_where_the_record_stands(tmp_path: Path) -> None:
    with WarcOutput(tmp_path, WarcOptions(max_bytes=6000)) as output:
        places = [place for each in many(20) for place in output.write(each)]
    for place in places:
        content = (tmp_path / place.file).read_bytes()[place.offset : place.offset + place.length]
        record = gzip.decompress(content).decode("latin-1")
        assert f"WARC-Record-ID: {place.record_id}\r\n" in record
        assert record.startswith(f"WARC/1.1\r\nWARC-Type: {place.type}\r\n")


def test_the_same_exchanges_give_the_same_bytes(tmp_path: Path) -> None:
    options = WarcOptions(max_bytes=8000)
    write(tmp_path / "a", *many(30), options=options)
    write(tmp_path / "b", *many(30), options=options)
    assert warc_contents(tmp_path / "a") == warc_contents(tmp_path / "b")


@pytest.mark.parametrize("damage", ["missing", "garbage", "old"])
def test_the_places_are_made_anew_from_the_files(tmp_path: Path, damage: str) -> None:
    options = WarcOptions(max_bytes=8000)
    with WarcOutput(tmp_path, options) as output:
        places = [output.write(each) for each in many(30)]
    before = warc_contents(tmp_path)
    state = tmp_path / ".refetch.places.sqlite"
    if damage == "missing":
        state.unlink()
    else:
        state.write_bytes(b"not a database, " * 999 if damage == "garbage" else b"")
    with WarcOutput(tmp_path, options) as output:
        assert [output.write(each) for each in many(30)] == places
        output.write(one(99, "http://a.test/copy", many(1)[0].exchanges[-1].body))
    assert before.items() <= warc_contents(tmp_path).items()
    assert read(output.files)[-2].type == "revisit"


def test_containers_outlive_a_lost_list_of_places(tmp_path: Path) -> None:
    elsewhere = Earlier(
        *("http://old.test/", "2025-01-01T00:00:00Z", digest_of(PAGE, "sha256")),
        container=Container("old.wacz", "cd" * 32, 9, "old"),
    )
    with WarcOutput(tmp_path) as output:
        output.write(one(0, "http://a.test/", PAGE), elsewhere)
    (tmp_path / ".refetch.places.sqlite").unlink()
    with WarcOutput(tmp_path) as output:
        assert output.containers() == [Container("old.wacz")]
        output.write(one(0, "http://a.test/", PAGE), elsewhere)
        assert output.containers() == [Container("old.wacz", "cd" * 32, 9, "old")]


def test_two_writers_are_kept_apart(tmp_path: Path) -> None:
    with (
        WarcOutput(tmp_path),
        WarcOutput(tmp_path, WarcOptions(prefix="other")),
        pytest.raises(OutputError, match="another ccrawl run is writing WARC files here"),
    ):
        WarcOutput(tmp_path)


def test_a_full_disk_leaves_whole_records(tmp_path: Path) -> None:
    """The limit on a file's size refuses a write in its middle, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    written: list[Fetched] = []
    with WarcOutput(tmp_path) as output:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, hard))
        try:
            with pytest.raises(OutputError, match=r"refetch-00000\.warc\.gz\.open: can't be written"):
                for each in many(200):
                    output.write(each)
                    written.append(each)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert written
    assert check_source(find_sources([str(tmp_path)])[0]).sound
    with WarcOutput(tmp_path) as output:
        for each in many(200):
            output.write(each)
    records = read(output.files)
    assert len(of_type(records, "response", "revisit")) == len(of_type(records, "request")) == 240


def test_an_output_can_be_removed(tmp_path: Path) -> None:
    write(tmp_path, *many(30), options=WarcOptions(max_bytes=8000))
    write(tmp_path, one(0, "http://a.test/", PAGE), options=WarcOptions(prefix="other"))
    files = len(list(tmp_path.glob("refetch-*.warc.gz")))
    assert remove_warcs(tmp_path, "refetch") == files
    assert {path.name for path in tmp_path.iterdir()} == {"other-00000.warc.gz", ".other.places.sqlite"}


def test_revisits_are_read_back_with_the_body_of_their_original(tmp_path: Path) -> None:
    write(tmp_path, one(0, "http://a.test/a", PAGE), one(1, "http://a.test/b", PAGE))
    options = CaptureOptions(resolve_revisits=True)
    captures = list(read_captures(next(tmp_path.glob("*.gz")), options=options))
    assert [(capture.url, capture.payload()) for capture in captures] == [
        ("http://a.test/a", PAGE),
        ("http://a.test/b", PAGE),
    ]


# Laws: whatever a server sends, the files are sound and give it back.

VISIBLE = st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters="\x7f\x85\xa0\xad")
FIELD = st.builds(
    "{}:{}{}".format,
    st.sampled_from(
        ["Content-Type", "X-A", "Transfer-Encoding", "Content-Length", "Content-Encoding", "Location"]
    ),
    st.sampled_from(["", " ", "\t"]),
    st.text(VISIBLE, max_size=12) | st.sampled_from(["chunked", "text/html", "gzip", "3"]),
)
SOUND = st.builds(
    lambda fields, end: (end.join(["HTTP/1.1 200 OK", *fields]) + end * 2).encode("latin-1"),
    st.lists(FIELD, max_size=5),
    st.sampled_from(["\r\n", "\n"]),
)
BODIES = st.binary(max_size=60) | st.sampled_from(
    [b"", b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nx", b"WARC/1.1\r\n"]
)
URLS = st.text(max_size=20).map("http://a.test/".__add__) | st.sampled_from(
    [
        "http://a.test/\r\nWARC-Type: metadata\r\n\r\n",
        "http://bücher.test/",
        "http://a.test/ b",
        "http://a.test/\ud800",
    ]
)


@st.composite
def targets(draw: st.DrawFn, heads: st.SearchStrategy[bytes]) -> list[Fetched]:
    found = []
    for position in range(draw(st.integers(0, 5))):
        exchanges = [
            exchange(
                draw(URLS),
                draw(BODIES),
                at=START + draw(st.integers(0, 10**10)),
                complete=draw(st.booleans()),
                response_head=draw(heads),
            )
            for _ in range(draw(st.integers(1, 3)))
        ]
        found.append(fetched(position, *exchanges, error=draw(st.sampled_from(["", "timeout", "truncated"]))))
    return found


def _exchanges_with_records(
    records: Sequence[Read], all_fetched: Iterable[Fetched]
) -> list[tuple[Read, object]]:
    answers = of_type(records, "response", "revisit")
    exchanges = [each for one_fetched in all_fetched for each in one_fetched.exchanges if each.response_head]
    return list(zip(answers, exchanges, strict=True))


@settings(max_examples=40)
@given(targets(SOUND), st.sampled_from([600, 10**6]))
def test_any_answer_comes_back_as_it_came(all_fetched: list[Fetched], max_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        records = write(Path(folder), *all_fetched, options=WarcOptions(max_bytes=max_bytes))
        sources = find_sources([folder]) if records else []
        checks = [check_source(source) for source in sources]
        fast = Counter[str]()
        for path in Path(folder).glob("*.gz"):
            with path.open("rb") as file:
                for record in FastIterator(file, record_types=WarcRecordType.any_type, verify_digests=True):
                    fast[record.headers["WARC-Type"]] += 1
    assert [record.problems for record in records if record.problems] == []
    assert all(check.sound for check in checks)
    assert fast == Counter(record.type for record in records)
    bodies: dict[str, bytes] = {}
    for record, sent in _exchanges_with_records(records, all_fetched):
        assert record.block.startswith(b"HTTP/1.1 200 OK")
        plain = record.block.replace(b"X-Orig-", b"")
        assert plain.startswith(sent.response_head)
        if record.type == "response":
            assert plain[len(sent.response_head) :] == sent.body.replace(b"X-Orig-", b"")
            assert record.payload == sent.body
            bodies[record["Record-ID"]] = record.payload
        else:
            assert plain == sent.response_head
            assert bodies[record["Refers-To"]] == sent.body != b""
        assert ("WARC-Truncated" in record.headers) == (not sent.complete)
        assert record["Target-URI"].isascii()


@settings(max_examples=25)
@given(
    targets(
        st.binary(max_size=40) | st.builds(bytes.__add__, st.just(b"HTTP/1.1 200"), st.binary(max_size=30))
    )
)
def test_no_head_breaks_the_file(all_fetched: list[Fetched]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with WarcOutput(Path(folder)) as output:
            places = [output.write(each) for each in all_fetched]
        for each, found in zip(all_fetched, places, strict=True):
            sent = [one_sent for one_sent in each.exchanges if one_sent.response_head]
            for place, answer in zip(found[::2], sent, strict=True):
                content = (Path(folder) / place.file).read_bytes()[place.offset : place.offset + place.length]
                block = gzip.decompress(content).partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
                if place.type == "response":
                    assert block.replace(b"X-Orig-", b"").endswith(answer.body.replace(b"X-Orig-", b""))
        for source in find_sources([folder]) if any(places) else []:
            assert check_source(source).sound
