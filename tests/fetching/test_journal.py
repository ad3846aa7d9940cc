"""The journal of a shard: what goes in comes out, and a file that was cut anywhere keeps what is whole."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.fetching.journal import Journal, decode, encode, offsets_of, read_record
from ccrawl.fetching.types import Exchange, Fetched, Target

_TEXT = st.text(max_size=20)
_HEAD = st.binary(max_size=60)
_EXCHANGES = st.builds(
    Exchange,
    url=_TEXT,
    started_at=st.integers(0, 2**50),
    ip_address=_TEXT,
    request_head=_HEAD,
    response_head=_HEAD,
    status=st.integers(100, 999),
    headers=st.lists(st.tuples(_TEXT, _TEXT), max_size=3).map(tuple),
    body=st.binary(max_size=100),
    complete=st.booleans(),
)
FETCHES = st.builds(
    Fetched,
    target=st.builds(Target, position=st.integers(0, 5), url=_TEXT),
    exchanges=st.lists(_EXCHANGES, max_size=3).map(tuple),
    final_url=_TEXT,
    ip_address=_TEXT,
    fetched_at=st.integers(0, 2**50),
    duration_ms=st.integers(0, 10**6),
    ttfb_ms=st.none() | st.integers(0, 10**6),
    body=st.binary(max_size=100),
    error=st.sampled_from(["", "timeout"]),
    detail=_TEXT,
)


@given(FETCHES)
def test_a_fetch_comes_out_as_it_went_in(fetched: Fetched) -> None:
    assert decode(b"".join(encode(fetched, whole=True)), fetched.target) == fetched


@given(FETCHES)
def test_without_warc_the_last_exchange_is_kept_without_its_heads(fetched: Fetched) -> None:
    kept = decode(b"".join(encode(fetched, whole=False)), fetched.target)
    assert (kept.body, kept.status, kept.error) == (fetched.body, fetched.status, fetched.error)
    assert [(one.headers, one.body) for one in kept.exchanges] == [
        (one.headers, one.body) for one in fetched.exchanges[-1:]
    ]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.binary(max_size=50)), max_size=8, unique_by=lambda one: one[0]),
    st.integers(0, 1000),
    st.binary(max_size=30),
)
def test_a_journal_that_was_cut_keeps_every_whole_record(
    records: list[tuple[int, bytes]], cut: int, garbage: bytes
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.fetched"
        ends = []
        with Journal(path, 10) as journal:
            for position, content in records:
                journal.append(position, [content])
                ends.append(journal.size)
        size = path.stat().st_size
        cut = min(cut, size)
        path.write_bytes(path.read_bytes()[:cut] + garbage)
        whole = sum(end <= cut for end in ends)
        with Journal(path, 10) as journal:
            # Bytes that happen to go on as the file did make more of it whole, never less.
            assert journal.recovered >= whole
            for position, _ in records[:whole]:
                assert position in journal
            left = sorted({*range(10)} - {position for position, _ in records[:whole]})
            if journal.recovered == whole:
                assert list(journal.missing()) == left
                for position in left:
                    journal.append(position, [b"again"])
                assert list(journal.missing()) == []
        offsets = offsets_of(path, 10)
        with path.open("rb") as file:
            for position, content in records[:whole]:
                assert read_record(file.fileno(), int(offsets[position])) == content


def test_a_record_that_rotted_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "x.fetched"
    with Journal(path, 3) as journal:
        for position in range(3):
            journal.append(position, [b"content %d" % position])
        middle = journal.offset(1)
    content = bytearray(path.read_bytes())
    content[middle] ^= 1
    path.write_bytes(content)
    with Journal(path, 3) as journal:
        assert list(journal.missing()) == [1, 2]


def test_a_disk_that_refuses_is_told_with_the_file(tmp_path: Path) -> None:
    from ccrawl.errors import OutputError

    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"can't be written .* choose another --out"):
        Journal(tmp_path / "file" / "x.fetched", 1)
