"""URLs as they are asked for."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrawl.fetching.urls import BadUrl, web_url


@pytest.mark.parametrize(
    ("url", "asked_for"),
    [
        ("http://A.Test", "http://a.test/"),
        ("HTTP://a.test:80/b", "http://a.test/b"),
        ("https://a.test:443/b", "https://a.test/b"),
        ("https://a.test:80/b", "https://a.test:80/b"),
        ("http://a.test?b", "http://a.test/?b"),
        ("http://a.test/b c", "http://a.test/b%20c"),
        ("http://a.test/%3a%2F", "http://a.test/%3a%2F"),
        ("http://a.test/é?é", "http://a.test/%C3%A9?%C3%A9"),
        ("http://bücher.test/", "http://xn--bcher-kva.test/"),
        ("http://xn--bcher-kva.test/", "http://xn--bcher-kva.test/"),
        ("http://b%C3%BCcher.test/", "http://xn--bcher-kva.test/"),
        ("http://a_b.test/", "http://a_b.test/"),
        ("http://a.test./", "http://a.test./"),
        ("  http://a.test/b\n", "http://a.test/b"),
        ("http:\\\\a.test\\b", "http://a.test/b"),
        ("http://me:secret@a.test/", "http://a.test/"),
        ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://a.test/../b/./c/%2e%2E/d", "http://a.test/b/d"),
        ("http://a.test/b?c=../d", "http://a.test/b?c=../d"),
        ("http://a.test/b#c", "http://a.test/b"),
    ],
)
def test_urls_are_written_as_browsers_write_them(url: str, asked_for: str) -> None:
    assert web_url(url).text == asked_for


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "017700000001", "127.1", "127.0.1", "0177.0.0.1", "0x7f.1", "127.0.0.1.",
     "１２７.0.0.1", "%31%32%37.0.0.1", "127。0。0。1"],
)  # fmt: skip
def test_every_notation_of_an_address_is_that_address(host: str) -> None:
    assert web_url(f"http://{host}/").host == "127.0.0.1"


@given(st.integers(0, 2**32 - 1))
def test_numbers_for_hosts_are_addresses_in_every_base(number: int) -> None:
    address = str(ipaddress.IPv4Address(number))
    a, b, c, d = ipaddress.IPv4Address(number).packed
    for host in (
        str(number),
        hex(number),
        f"0{number:o}",
        f"{a}.{number & 0xFFFFFF}",
        f"{a}.{b}.{c << 8 | d}",
    ):
        assert web_url(f"http://{host}/").host == address
    assert web_url(f"http://0x{a:x}.0{b:o}.{c}.{d}/").host == address


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("", "url"),
        ("a.test/b", "url"),
        ("//a.test/b", "url"),
        ("http://", "url"),
        ("http:///", "url"),
        ("http://./", "url"),
        ("http://a.test:0/", "url"),
        ("http://a.test:70000/", "url"),
        ("http://a.test:b/", "url"),
        ("http://a b.test/", "url"),
        ("http://a<b.test/", "url"),
        ("http://a.test\u0000b/", "url"),
        ("http://a%00b.test/", "url"),
        ("http://a%2fb.test/", "url"),
        ("http://256.256.256.256/", "url"),
        ("http://1.2.3.4.5/", "url"),
        ("http://4294967296/", "url"),
        ("http://a.09/", "url"),
        ("http://[::1/", "url"),
        ("http://[fe80::1%25eth0]/", "url"),
        ("http://[1.2.3.4]/", "url"),
        ("http://" + "a" * 300 + ".test/", "url"),
        ("http://a.test/" + "b" * 20_000, "url"),
        ("ftp://a.test/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("mailto:me@a.test", "scheme"),
    ],
)
def test_what_cannot_be_fetched_is_said_with_a_class(url: str, error: str) -> None:
    with pytest.raises(BadUrl) as caught:
        web_url(url)
    assert caught.value.error == error
    assert str(caught.value)


@given(st.text(max_size=60) | st.text(max_size=30).map("http://".__add__))
def test_any_text_is_a_url_or_an_error(text: str) -> None:
    try:
        url = web_url(text)
    except BadUrl:
        return
    assert url.text.isascii() and url.text.isprintable()
    assert url.text.startswith(url.origin + "/")
    assert web_url(url.text) == url


PARTS = st.text(st.sampled_from("ab.%2eE/?:@'{}|\\\\-_~0179x"), max_size=12)


@given(st.sampled_from(["http://", "https://", "HTTP://"]), PARTS, PARTS, PARTS)
def test_the_short_way_for_plain_urls_leads_to_the_same(
    scheme: str, host: str, path: str, query: str
) -> None:
    url = f"{scheme}a{host}/{path}?{query}"
    try:
        expected = web_url(url.encode())  # bytes go the long way
    except BadUrl:
        with pytest.raises(BadUrl):
            web_url(url)
        return
    assert web_url(url) == expected
