"""SURT keys: URLs in the form that CDX indexes are sorted and searched by.

    http://www.Example.com:80/A/../B/?z=1&a=2#top  ->  com,example)/b?a=2&z=1

The rules are those of the Internet Archive's canonicalizer, on which pywb and the CDX writers agree: an index
with other keys is not found again. Its Python package has a licence that ours can't take in; the tests hold
this to it.
"""

from __future__ import annotations

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

import idna

# All visible ASCII but the two that would be read as something else.
_SAFE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "#%")
# Escapes of escapes are undone too. Real ones are two deep; each pass costs the whole URL.
_MAX_PASSES = 64
_DEFAULT_PORTS = {b"http": b"80", b"https": b"443"}
_WWW = re.compile(rb"www\d*\.")
_PORT = re.compile(rb":(\d*)\Z")
_LABELS_APART = re.compile(rb"\.+")
_SESSION_FOLDERS = [
    re.compile(rb"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)", re.IGNORECASE | re.DOTALL),
    re.compile(rb"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)", re.IGNORECASE | re.DOTALL),
]
_SESSION_ARGUMENTS = [
    re.compile(rb"(.*)" + argument + rb"(?:&|\Z)", re.IGNORECASE | re.DOTALL)
    for argument in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
]


def surt(url: str) -> str:
    """The key of an http or https URL; of another, the URL itself without blanks."""
    raw = url.encode("utf-8", "replace")
    scheme, separator, rest = raw.partition(b"://")
    scheme = scheme.lower()
    if not separator or scheme not in _DEFAULT_PORTS:
        return quote_from_bytes(raw, safe=_SAFE + "#%")
    rest = rest.partition(b"#")[0]
    place, _, query = rest.partition(b"?")
    authority, _, path = place.partition(b"/")
    key = _host_key(authority, _DEFAULT_PORTS[scheme]) + b")" + _path_key(b"/" + path)
    if query := _query_key(query):
        key += b"?" + query
    return key.decode("ascii")


def _host_key(authority: bytes, default_port: bytes) -> bytes:
    """Labels in reverse, and the port where it isn't the scheme's own."""
    host = authority.rpartition(b"@")[2]
    port = b""
    if match := _PORT.search(host):
        host, port = host[: match.start()], match[1].lstrip(b"0")
    host = _LABELS_APART.sub(b".", _unescaped(host)).strip(b".")
    if not host.isascii():
        try:
            host = idna.encode(host.decode("utf-8"), uts46=True)
        except (idna.IDNAError, UnicodeError):
            pass  # stays as it is, escaped
    host = _escaped(host.lower())
    if www := _WWW.match(host):
        host = host[www.end() :]
    key = b",".join(reversed(host.strip(b"[]").split(b".")))
    return key + b":" + port if port and port != default_port else key


def _path_key(path: bytes) -> bytes:
    """Without dots and doubled slashes, in lower case, without sessions and a slash at the end."""
    kept: list[bytes] = []
    segments = _unescaped(path).split(b"/")[1:]
    for segment in segments:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    folders = [segment for segment in kept[:-1] if segment]
    path = _escaped(b"/" + b"/".join([*folders, *kept[-1:]])).lower()
    for pattern in _SESSION_FOLDERS:
        if match := pattern.fullmatch(path):
            path = match[1] + match[2]
    return path[:-1] if path.endswith(b"/") and len(path) > 1 else path


def _query_key(query: bytes) -> bytes:
    """In lower case, without sessions, arguments in order."""
    query = _escaped(_unescaped(query))
    for pattern in _SESSION_ARGUMENTS:
        if match := pattern.match(query):
            query = match[1] + query[match.end() :]
    arguments = [argument.split(b"=", 1) for argument in query.lower().split(b"&")]
    return b"&".join(b"=".join(argument) for argument in sorted(arguments))


def _unescaped(text: bytes) -> bytes:
    for _ in range(_MAX_PASSES):
        plain = unquote_to_bytes(text)
        if plain == text:
            break
        text = plain
    return text


def _escaped(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_SAFE).encode("ascii")
