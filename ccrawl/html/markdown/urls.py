"""Where links and images point: resolved against the page, and safe between the parentheses of a link."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

SCHEMES = frozenset(
    [
        "http",
        "https",
        "ftp",
        "ftps",
        "mailto",
        "tel",
        "sms",
        "news",
        "irc",
        "ircs",
        "xmpp",
        "magnet",
        "geo",
        "gemini",
        "gopher",
        "matrix",
    ]
)
"""What a link may point to. Anything else (javascript:, data:, file:, cid:) is of no use in a text."""

_SPACES = re.compile(r"[\t\n\r]")  # the URL Standard removes these anywhere in a URL
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
# References that most links are made of, with nothing to resolve in the path and nothing to escape.
_ABSOLUTE = re.compile(r"(?:https?:/)?/[\w\-.~/?#@!$'*+,=%:&]+", re.ASCII)
_RELATIVE = re.compile(r"[\w\-~%][\w\-.~/%]*(?:[?#][\w\-.~/?#@!$'*+,=%:&]*)?", re.ASCII)
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
_UNSAFE = re.compile(
    r"[\x00-\x20\x7f-\xa0\"<>\\`|\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff]"
)


class Destinations:
    """The destinations of one page, each resolved once.

    `get(href)` gives the absolute destination as it stands in Markdown, or "" where the reference leads
    nowhere useful: empty, into the page itself (`#part`), malformed, or of a scheme that is not in SCHEMES.
    """

    __slots__ = ("_base", "_directory", "_known", "_origin", "_scheme")

    def __init__(self, base: str | None) -> None:
        self._known: dict[str, str] = {}
        self._base = self._scheme = self._origin = self._directory = ""
        try:
            parts = urlsplit(base or "")
        except ValueError:
            return
        self._base = base or ""
        if parts.netloc and parts.scheme in ("http", "https"):
            self._scheme = f"{parts.scheme}:"
            self._origin = f"{parts.scheme}://{parts.netloc}"
            if "/." not in parts.path:
                self._directory = self._origin + (parts.path[: parts.path.rfind("/") + 1] or "/")

    def get(self, href: str) -> str:
        """The destination for a reference as the page wrote it."""
        found = self._known.get(href)
        if found is None:
            found = self._known[href] = self._resolve(href)
        return found

    def _resolve(self, href: str) -> str:
        if _ABSOLUTE.fullmatch(href):
            if href[0] != "/":
                return href
            if self._origin and "/." not in href:
                return (self._scheme if href[1] == "/" else self._origin) + href
        elif self._directory and _RELATIVE.fullmatch(href) and "/." not in href:
            return self._directory + href
        return self._resolve_any(href)

    def _resolve_any(self, href: str) -> str:
        href = _SPACES.sub("", href.strip(" \t\n\r\f\0"))
        if not href or href[0] == "#":
            return ""
        scheme = _SCHEME.match(href)
        if scheme and scheme[1].lower() not in SCHEMES:
            return ""
        try:
            return _escape(href if scheme else urljoin(self._base, href))
        except ValueError:
            return ""


def _escape(url: str) -> str:
    """`url` without anything that would end a Markdown destination or read as more than itself; ValueError
    for a malformed host.
    """
    if "[" in url or "]" in url:
        urlsplit(url)
    url = _UNSAFE.sub(_percent, url)
    if not _balanced(url):
        url = url.replace("(", "%28").replace(")", "%29")
    return _ENTITY.sub("&amp;", url)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _balanced(url: str) -> bool:
    """Whether parentheses pair up, nested no deeper than any parser allows (CommonMark: at least 32)."""
    depth = 0
    for bracket in re.findall(r"[()]", url):
        depth += 1 if bracket == "(" else -1
        if depth < 0 or depth > 8:
            return False
    return depth == 0
