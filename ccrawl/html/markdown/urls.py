"""Where links and images point: resolved against the page, and safe between the parentheses of a link."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

SCHEMES = frozenset(
    "http https ftp ftps mailto tel sms news irc ircs xmpp magnet geo gemini gopher matrix".split(" ")
)
"""What a link may point to. Anything else (javascript:, data:, file:, cid:, ...) is nothing that text can use."""

_SPACES = re.compile(r"[\t\n\r]")  # the URL Standard removes these anywhere in a URL
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_PLAIN = re.compile(r"[\w\-.~/?#@!$'*+,;=%:&]+", re.ASCII)
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\"<>\\`|\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff]")


class Destinations:
    """The destinations of one page, each resolved once.

    Calling `get(href)` gives the absolute destination as it stands in Markdown, or "" where the reference leads
    nowhere useful: empty, into the page itself (`#part`), malformed, or of a scheme that is not in SCHEMES.
    """

    __slots__ = ("_base", "_known", "_origin", "_scheme")

    def __init__(self, base: str | None) -> None:
        self._base = base or ""
        self._known: dict[str, str] = {}
        try:
            parts = urlsplit(self._base)
        except ValueError:
            self._base = self._scheme = self._origin = ""
        else:
            self._scheme = f"{parts.scheme}:" if parts.netloc else ""
            self._origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""

    def get(self, href: str) -> str:
        """The destination for a reference as the page wrote it."""
        found = self._known.get(href)
        if found is None:
            found = self._known[href] = self._resolve(href)
        return found

    def _resolve(self, href: str) -> str:
        href = _SPACES.sub("", href.strip(" \t\n\r\f\0"))
        if not href or href[0] == "#":
            return ""
        if href[0] == "/" and self._origin and "/." not in href:
            url = (self._scheme if href.startswith("//") else self._origin) + href
        else:
            scheme = _SCHEME.match(href)
            if scheme and scheme[1].lower() not in SCHEMES:
                return ""
            try:
                url = href if scheme else urljoin(self._base, href)
            except ValueError:
                return ""
        return url if _PLAIN.fullmatch(url) and ";" not in url else _escape(url)


def _escape(url: str) -> str:
    """`url` without anything that would end a Markdown destination or read as more than itself."""
    if "[" in url or "]" in url:
        try:
            urlsplit(url)
        except ValueError:
            return ""
    url = _UNSAFE.sub(_percent, url)
    if not _balanced(url):
        url = url.replace("(", "%28").replace(")", "%29")
    return _ENTITY.sub("&amp;", url)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _balanced(url: str) -> bool:
    """Whether parentheses pair up, nested no deeper than any parser allows (CommonMark asks for 32 at least)."""
    depth = 0
    for bracket in re.findall(r"[()]", url):
        depth += 1 if bracket == "(" else -1
        if depth < 0 or depth > 8:
            return False
    return depth == 0
