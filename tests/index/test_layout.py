"""What is packed and read by the hundred is what would be one by one."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import hiredis
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ccrawl.index import Original, kind_of_rules, normalised_key
from ccrawl.index import redis_layout as layout
from ccrawl.index import redis_wire as wire
from ccrawl.index.types import ALGORITHMS, Counts, EntryTuple, Key, Package

PARTS = st.one_of(
    st.sampled_from(
        ["", "0", "7", "-1", "x", "\u0663", "20250304050607", "20250304050607123", "00000101000000"]
    ),
    st.text(max_size=4),
)
WRITTEN = st.builds(
    "{} {} {} {}".format,
    st.integers(0, 9),
    st.sampled_from(["20250304050607", "20250304050607123"]),
    st.sampled_from(["http://site.test/", "http://site.test/caf\u00e9"]),
    st.integers(1, 10**9),
)
TEXTS = st.one_of(st.none(), WRITTEN, st.lists(PARTS, max_size=6).map(" ".join))
DIGESTS = st.binary(min_size=32, max_size=32)
KEYS: st.SearchStrategy[Key] = st.one_of(
    DIGESTS.map(lambda value: bytes([ALGORITHMS["sha256"]]) + value),
    st.builds(normalised_key, st.binary(min_size=8, max_size=8), DIGESTS),
    st.binary(min_size=20, max_size=20).map(lambda value: bytes([ALGORITHMS["sha1"]]) + value),
)


@given(st.one_of(st.lists(TEXTS, max_size=6), st.lists(WRITTEN, max_size=6)), st.integers(1, 9))
@example(["0 20250304050607 http://site.test/ 5", "0 20250304050607  6"], 1)
@example(["0 20250304050607 http://a.test/", "0 20250304050607 http://a.test/ b 5"], 1)
@example(["0 20250304050607 http://site.test/ 0", "0 20250304050607 http://site.test/ 6"], 1)
@example([" 20250304050607 http://site.test/ 5", "0 20250304050607 http://site.test/ 6"], 1)
@example(["0 20250304050607 http://a.test/ 5 \n 0 20250304050607 http://b.test/ 6", "0 1", "2"], 1)
@example([f"0 20250304050607 http://site.test/ {'9' * 5000}"], 1)
@example([f"{'9' * 5000} 20250304050607 http://site.test/ 5"], 1)
@example(["0 20250304050607 http://site.test/ \u0663"], 1)
def test_texts_read_together_are_those_read_alone(texts: list[str | None], slots: int) -> None:
    values = map(layout.read_value, texts)
    assert layout.read_originals("run", slots, _sent(texts)) == [
        Original("run", *dataclasses.astuple(value)) if value and value.slot < slots else None
        for value in values
    ]


def _sent(texts: list[str | None]) -> list[bytes | None]:
    return [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]


def test_originals_have_their_names() -> None:
    [found] = layout.read_originals("run", 3, [b"2 20250304050607 http://site.test/ 5"])
    assert found is not None
    assert (found.crawl, found.package, found.date) == ("run", 2, "20250304050607")
    assert (found.url, found.size) == ("http://site.test/", 5)


@given(st.integers(0, 3), st.lists(st.tuples(DIGESTS, st.just(""), st.text(max_size=9), st.integers(-1, 9))))
def test_values_are_read_as_they_were_written(slot: int, entries: list[EntryTuple]) -> None:
    for (_, _, url, size), text in zip(entries, layout.write_values(slot, entries), strict=True):
        assert text.count(" ") == 3
        expected = (slot, "", text.split(" ")[2], max(1, size)) if url else None
        found = layout.read_value(text)
        assert (found and dataclasses.astuple(found)) == expected


@given(st.lists(KEYS, max_size=8))
def test_each_key_with_a_place_stands_once_and_in_order(keys: list[Key]) -> None:
    parted = layout.by_space(keys)
    assert len({space.owners for space, _ in parted}) == len(parted)
    for space, places in parted:
        assert list(places) == sorted(places)
        mine = [keys[at] for at in places]
        assert all(layout.space_of(key) is space for key in mine)
        fields = [layout.field_of(key) for key in mine]
        assert layout.fields_of(space, mine, ", ") == ", ".join(fields)
        assert {len(field) for field in fields} == {space.width}
    there = sorted(at for _, places in parted for at in places)
    assert there == [at for at, key in enumerate(keys) if layout.space_of(key)]


@given(st.lists(st.tuples(DIGESTS.map(bytes.hex), st.text(max_size=9)), min_size=1, max_size=6))
def test_packed_commands_are_heard_as_they_were_meant(pairs: list[tuple[str, str]]) -> None:
    """hiredis reads commands, too: they are arrays of strings."""
    fields, values = map(list, zip(*pairs, strict=True))
    reader = hiredis.Reader(encoding="utf-8", errors="surrogateescape")
    packed = wire.Fields(len(fields), "".join(wire.between(64) + field for field in fields))
    commands = [wire.hmget("alldupes", packed), *wire.hsetnx("h:run", fields, _written(values))]
    reader.feed("".join(commands).encode())
    assert reader.gets() == ["HMGET", "alldupes", *fields]
    for field, value in zip(fields, _written(values), strict=True):
        assert reader.gets() == ["HSETNX", "h:run", field, value]
    assert reader.gets() is False


def _written(urls: list[str]) -> list[str]:
    return layout.write_values(0, [(b"", "", url, 1) for url in urls])


def test_a_rule_set_has_its_name_in_the_field() -> None:
    key = normalised_key(b"\x01" * 8, bytes(32))
    assert layout.field_of(key) == f"{kind_of_rules(bytes([1] * 8)).removeprefix('norm-')}:{bytes(32).hex()}"


@pytest.mark.parametrize("text", ["", "-", "--5", "5-", "1e3", "\u0663", "9" * 5000, "-" + "9" * 5000])
def test_a_counter_that_is_no_number_is_nothing(text: str) -> None:
    fields = {"totalUrls": text, "dupeUrls": "-5", "conservedSize": "7"}
    assert layout.read_counts(fields) == Counts(0, -5, 7, 0)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "5", '{"filename": 5}', "[" * 100_000, '{"a":' * 100_000, "9" * 5000, "{}"]
)
def test_a_slot_that_is_no_package_is_none(text: str) -> None:
    assert layout.read_package(text) is None


@pytest.mark.parametrize("wrong", [True, -1, 1.5, "5", 10**30, [], {}, None])
def test_what_a_slot_says_wrongly_is_not_known(wrong: Any) -> None:
    package = layout.read_package(json.dumps({"filename": "a.wacz", "hash": [wrong], "size": wrong}))
    assert package == Package("a.wacz", None, None)
