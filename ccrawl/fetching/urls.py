"""URLs as they are asked for: ASCII, http or https, with the host in the one notation that can be checked.

The rules are those of browsers (WHATWG URL standard), since that is what sites are made for. Escapes stay
as they are written: `%3A` and `:` are two URLs to many servers.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

import idna

MAX_URL = 16 << 10
# Nine of ten URLs are written as they are asked for; for them this is all there is to do.
_PLAIN = re.compile(
    r"(https?)://(((?:[a-z0-9\-]+\.)*[a-z][a-z0-9\-]*)(?::([1-9][0-9]{1,4}))?)"
    r"((?:/(?!\.|%2[eE])[A-Za-z0-9._~!$&'()*+,;=:@%|^\[\]\-]*)*)"
    r"((?:\?[A-Za-z0-9._~!$&()*+,;=:@%|^\[\]/?{}`\\\-]*)?)"
)
_SCHEME = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*):")
_AUTHORITY = re.compile(rb"[/\\]*([^/\\?#]*)([^#]*)")
_CONTROLS = bytes(range(0x21))
# The percent-encode sets of paths and of queries.
_ESCAPED = re.compile(rb"[\x00-\x20\"<>`{}\x7f-\xff]")
_ESCAPED_IN_QUERY = re.compile(rb"[\x00-\x20\"<>'\x7f-\xff]")
_HOST = re.compile(r"[a-z0-9_~!$&'()*+,;=.\-]{1,255}")
_DOTS = re.compile(rb"(?:\.|%2e){1,2}", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}


class BadUrl(ValueError):
    """What can't be fetched; `error` is "url" or "scheme", as in ERRORS."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(detail)
        self.error = error


@dataclass(frozen=True, slots=True)
class WebUrl:
    """text: the URL without user, password and fragment; host: lower case, IPv6 without brackets.

    authority: host, and :port where it is not the scheme's own
    """

    text: str
    scheme: str
    host: str
    port: int
    authority: str

    @property
    def origin(self) -> str:
        """scheme://authority"""
        return f"{self.scheme}://{self.authority}"


def web_url(url: str | bytes) -> WebUrl:
    """The URL as it is asked for. Raises BadUrl."""
    if isinstance(url, str) and (plain := _PLAIN.fullmatch(url)) is not None and len(url) <= MAX_URL:
        scheme, authority, host, port, path, rest = plain.groups()
        number = int(port) if port else _PORTS[scheme]
        if len(host) < 256 and number < 65536 and (not port or number != _PORTS[scheme]):
            return WebUrl(f"{scheme}://{authority}{path or '/'}{rest}", scheme, host, number, authority)
    raw = _stripped(url)
    match = _SCHEME.match(raw)
    if match is None:
        raise BadUrl("url", "no scheme: http:// or https:// is missing")
    return _absolute(match[1].decode().lower(), raw[match.end() :])


def join(base: WebUrl, location: bytes) -> WebUrl:
    """Where a Location field leads. Raises BadUrl."""
    raw = _stripped(location)
    match = _SCHEME.match(raw)
    if match is not None:
        scheme = match[1].decode().lower()
        after = raw[match.end() :]
        if scheme != base.scheme or after[:2].replace(b"\\", b"/") == b"//":
            return _absolute(scheme, after)
        raw = after  # "http:page" is a page beside this one
    raw = raw.partition(b"#")[0]
    if raw[:2].replace(b"\\", b"/") == b"//":
        return _absolute(base.scheme, raw)
    path, question, query = base.text.removeprefix(base.origin).encode().partition(b"?")
    if raw.startswith(b"?"):
        raw = path + raw
    elif not raw:
        raw = path + question + query
    elif raw[:1] not in (b"/", b"\\"):
        raw = path[: path.rfind(b"/") + 1] + raw
    return _absolute(base.scheme, b"//" + base.authority.encode() + raw)


def _stripped(url: str | bytes) -> bytes:
    raw = url.encode("utf-8", "surrogatepass") if isinstance(url, str) else url
    raw = raw.strip(_CONTROLS)
    if len(raw) > MAX_URL:
        raise BadUrl("url", f"{len(raw)} bytes long, more than {MAX_URL}")
    return raw.translate(None, b"\t\r\n")


def _absolute(scheme: str, rest: bytes) -> WebUrl:
    if scheme not in _PORTS:
        raise BadUrl("scheme", f"the scheme {scheme[:40]} is not fetched, only http and https")
    match = _AUTHORITY.match(rest)
    assert match is not None  # every part of the pattern may be empty
    host, port = _host_and_port(match[1].rpartition(b"@")[2])
    path, question, query = match[2].partition(b"?")
    path = _ESCAPED.sub(_escape, _without_dots(path.replace(b"\\", b"/")))
    query = _ESCAPED_IN_QUERY.sub(_escape, query)
    port = port or _PORTS[scheme]
    authority = f"[{host}]" if ":" in host else host
    authority = authority if port == _PORTS[scheme] else f"{authority}:{port}"
    text = f"{scheme}://{authority}{(path or b'/').decode()}{(question + query).decode()}"
    return WebUrl(text, scheme, host, port, authority)


def _escape(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


def _without_dots(path: bytes) -> bytes:
    if b"." not in path and b"%2" not in path:
        return path
    kept: list[bytes] = []
    parts = path.split(b"/")[1:]
    for at, part in enumerate(parts):
        if not _DOTS.fullmatch(part):
            kept.append(part)
            continue
        if part.lower().replace(b"%2e", b".") == b".." and kept:
            kept.pop()
        if at == len(parts) - 1:
            kept.append(b"")
    return b"/" + b"/".join(kept)


def _host_and_port(authority: bytes) -> tuple[str, int | None]:
    if authority.startswith(b"["):
        literal, bracket, after = authority[1:].partition(b"]")
        if not bracket or (after and not after.startswith(b":")):
            raise BadUrl("url", "a bracket is missing in the address of the host")
        return _ipv6(literal), _port(after[1:])
    name, _, port = authority.partition(b":")
    return _host(name), _port(port)


def _port(digits: bytes) -> int | None:
    if not digits:
        return None
    if not digits.isdigit() or len(digits) > 8 or not 0 < int(digits) < 65536:
        raise BadUrl("url", f"the port {digits[:20].decode('latin-1')} does not exist")
    return int(digits)


def _ipv6(literal: bytes) -> str:
    try:
        if b"%" in literal:
            raise ValueError("a zone is of this machine only")
        return ipaddress.IPv6Address(literal.decode("ascii")).compressed
    except ValueError as error:
        raise BadUrl("url", f"not an address: {literal[:60].decode('latin-1')} ({error})") from error


def _host(name: bytes) -> str:
    if b"%" in name:
        name = unquote_to_bytes(name)
    try:
        host = name.decode("utf-8")
    except UnicodeDecodeError:
        host = name.decode("latin-1")
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except (idna.IDNAError, UnicodeError) as error:
            raise BadUrl("url", f"{host[:80]!r} can't be a host name ({error})") from error
    host = host.lower()
    if not _HOST.fullmatch(host) or not host.strip("."):
        raise BadUrl("url", f"{host[:80]!r} can't be a host name" if host else "no host")
    return _ipv4(host) or host


def _ipv4(host: str) -> str | None:
    """The address that a host of numbers is, whatever notation it is in; None for a name."""
    labels = host.removesuffix(".").split(".")
    if not labels[-1].isdigit() and _number(labels[-1]) is None:
        return None
    numbers = [_number(label) for label in labels]
    address = 0
    for at, number in enumerate(numbers):
        last = at == len(numbers) - 1
        room = 256 ** (5 - len(numbers)) if last else 256
        if number is None or number >= room or len(numbers) > 4:
            raise BadUrl("url", f"{host[:80]} is not an address")
        address = address * room + number
    return str(ipaddress.IPv4Address(address))


def _number(label: str) -> int | None:
    """A number in decimal, hexadecimal (0x) or octal (0)."""
    try:
        if label.startswith("0x"):
            return int(label[2:] or "0", 16) if "_" not in label else None
        if not label.isdigit() or len(label) > 40:
            return None
        return int(label, 8) if len(label) > 1 and label.startswith("0") else int(label)
    except ValueError:
        return None
