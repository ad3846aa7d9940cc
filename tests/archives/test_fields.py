"""Dates, URLs and hosts of record fields."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.archives.fields import host_of, parse_date, target_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2021-03-04T05:06:07Z", "2021-03-04T05:06:07.000000"),
        ("2021-03-04T05:06:07.5Z", "2021-03-04T05:06:07.500000"),
        ("2021-03-04T05:06:07.987654321Z", "2021-03-04T05:06:07.987654"),
        ("2021-03-04T05:06Z", "2021-03-04T05:06:00.000000"),
        ("2021-03-04", "2021-03-04T00:00:00.000000"),
        ("2021-03", "2021-03-01T00:00:00.000000"),
        ("2021", "2021-01-01T00:00:00.000000"),
        ("2021-03-04T05:06:07-03:30", "2021-03-04T08:36:07.000000"),
        ("2021-03-04T00:06:07+01:00", "2021-03-03T23:06:07.000000"),
        ("20210304050607", "2021-03-04T05:06:07.000000"),
        ("20210304", "2021-03-04T00:00:00.000000"),
        (" 2021-03-04T05:06:07Z ", "2021-03-04T05:06:07.000000"),
    ],
)
def test_dates_are_read_in_utc(text: str, expected: str) -> None:
    date = parse_date(text)
    assert date is not None and date.tzinfo is UTC
    assert date.strftime("%Y-%m-%dT%H:%M:%S.%f") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2021-02-30T00:00:00Z",
        "2021-13-01",
        "99999999999999",
        "2008-10-294T05:21:46-0700",
        "0000-00-00T00:00:00Z",
        "2021-03-04T05:06:07+99:99",
        "0001-01-01T00:00:00+23:00",
        "२०२१-०३-०४",
        "2021-3-4",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_date(text) is None


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_a_written_date_is_read_back(date: datetime) -> None:
    assert parse_date(date.isoformat() + "Z") == date.replace(tzinfo=UTC)


@given(st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    parse_date(text)
    host_of(text)
    host_of("http://" + text)
    target_url(text)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example/x", "a.example"),
        ("HTTPS://A.Example:8443/x?y#z", "a.example"),
        ("http://user:secret@a.example/", "a.example"),
        ("http://a.example?q=1@b.example", "a.example"),
        ("http://[2001:DB8::1]:80/", "2001:db8::1"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("http://a.example\\@b.example/", "a.example"),  # browsers take the backslash for a slash
        ("urn:isbn:123", ""),
        ("mailto:me@a.example", ""),
        ("dns:a.example", ""),
        ("", ""),
    ],
)
def test_hosts(url: str, host: str) -> None:
    assert host_of(url) == host


def test_a_target_loses_its_brackets_and_keeps_everything_else() -> None:
    assert target_url("<http://a.example/>") == "http://a.example/"
    assert target_url("http://a.example/b c") == "http://a.example/b%20c"
    assert target_url("http://a.example/50%|ü") == "http://a.example/50%|ü"
    assert target_url("http://a.example/\tx") == "http://a.example/x"
