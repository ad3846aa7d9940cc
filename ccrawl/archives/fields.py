"""Values of record fields: dates, target URIs, hosts.

Sources: W3C-DTF as profiled by WARC 1.1 (section 5.4), the 14-digit dates of ARC, RFC 3986, WHATWG URL for
what browsers strip. Nothing here raises on any text.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import idna

_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?)?)?)?"
    r"(?:[zZ]|([+-])(\d\d):?(\d\d))?\Z",
    re.ASCII,
)
_DIGITS = re.compile(r"\d{8}(?:\d\d){0,3}\Z", re.ASCII)


def unfolded(value: bytes) -> bytes:
    """A value that may go on over several lines, in one: what stands on each, with a blank between."""
    if value.find(b"\n") < 0:
        return value
    return b" ".join(filter(None, map(bytes.strip, value.split(b"\n"))))


def parse_date(text: str) -> datetime | None:
    """A WARC or ARC date in UTC, None when it isn't a date.

    Precision may be reduced down to the year; what is missing is taken as the first. Digits after the sixth
    of a fraction are cut. 8 to 14 digits in a row are read as ARC writes them.
    """
    text = text.strip()
    try:
        if len(text) == 20 and text[19] == "Z":  # nearly all: YYYY-MM-DDTHH:MM:SSZ
            return datetime.fromisoformat(text)
        if _DIGITS.match(text):
            padded = text.ljust(14, "0")
            return datetime.strptime(padded + "+0000", "%Y%m%d%H%M%S%z").astimezone(UTC)
        match = _DATE.match(text)
        if match is None:
            return None
        year, month, day, hour, minute, second, fraction, sign, zone_hours, zone_minutes = match.groups()
        zone = UTC
        if sign:
            shift = timedelta(hours=int(zone_hours), minutes=int(zone_minutes))
            zone = timezone(-shift if sign == "-" else shift)
        date = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=zone,
        )
        return date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def target_url(field: str) -> str:
    """The URL of a WARC-Target-URI: without wget's angle brackets, blanks as %20, all else as it is."""
    url = field.strip()
    if url.startswith("<") and url.endswith(">"):
        url = url[1:-1].strip()
    if " " in url:
        url = url.replace(" ", "%20")
    if not url.isprintable():
        url = "".join(c for c in url if c not in "\t\r\n")
    return url


def host_of(url: str) -> str:
    """The host of a URL in lower case, internationalised names as xn--, no port; "" where it has none."""
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme.replace("+", "").replace("-", "").replace(".", "").isalnum():
        return ""
    for end in "/?#\\":
        rest = rest.partition(end)[0]
    rest = rest.rpartition("@")[2]
    if rest.startswith("["):
        return rest[1:].partition("]")[0].lower()
    host = rest.partition(":")[0].lower()
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return host
