"""Markup rewritten before it is parsed. Each function takes one linear pass and changes nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 1000
MAX_ATTRIBUTES = 1000

_VOID = frozenset(b"area base br col embed frame hr img input link meta param source track wbr".split())
# Elements whose end tag may be left out: another of them, or their parent's end, closes them.
_CLOSED_BY_OTHERS = frozenset(
    b"html head body p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rt rp".split()
)
_RAW_TEXT = frozenset((b"script", b"style"))
# An attribute's value may hold `>`; a tag that never ends stops at the next `<`. Possessive: linear.
_MARKUP = re.compile(
    rb"<!--|<!\[CDATA\[|<(/?)([A-Za-z_][^\s/<>]*+)((?:[^<>\"'/]|\"[^\"<]*+\"|'[^'<]*+'|/(?!>))*+)(/?)>"
)
_CDATA = b"<![CDATA["
_LONG_TAG_BYTES = 16384
_LONG_TAG = re.compile(rb"<[A-Za-z][^<>]{%d}" % _LONG_TAG_BYTES)
_ATTRIBUTE = re.compile(rb"[\s/]*+[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"']++)?+)?+")


@dataclass(slots=True)
class _Markup:
    """A tag, or (without a name) a CDATA section and its text."""

    start: int
    end: int
    name: bytes | None = None
    closes: bool = False
    self_closed: bool = False
    inner: bytes = b""


def xhtml_as_html(xhtml: bytes) -> bytes:
    """XHTML in HTML's syntax: self-closed elements opened and closed, CDATA sections escaped."""
    pieces: list[bytes] = []
    done = 0
    for markup in _markup(xhtml):
        if markup.name is None:
            replacement = _escaped(markup.inner)
        elif markup.self_closed and not markup.closes and markup.name.lower() not in _VOID:
            replacement = b"<%b%b></%b>" % (markup.name, markup.inner, markup.name)
        else:
            continue
        pieces += (xhtml[done : markup.start], replacement)
        done = markup.end
    pieces.append(xhtml[done:])
    return b"".join(pieces)


def flattened(html: bytes) -> bytes:
    """HTML without the tags of elements that would stand more than MAX_DEPTH levels deep."""
    pieces: list[bytes] = []
    done = 0
    stack: list[bytes] = []
    opened: Counter[bytes] = Counter()
    for markup in _markup(html):
        name = markup.name.lower() if markup.name else b""
        if not name or name in _VOID or name in _CLOSED_BY_OTHERS:
            continue
        if markup.closes:
            while opened[name]:
                closed = stack.pop()
                opened[closed] -= 1
                if closed == name:
                    break
        elif len(stack) < MAX_DEPTH:
            stack.append(name)
            opened[name] += 1
        else:
            pieces.append(html[done : markup.start])
            done = markup.end
    pieces.append(html[done:])
    return b"".join(pieces)


def with_fewer_attributes(html: bytes) -> bytes:
    """HTML whose long tags end after MAX_ATTRIBUTES attributes; tags of less than 16 KB are left alone."""
    pieces: list[bytes] = []
    done = 0
    while (long_tag := _long_tag(html, done)) >= 0:
        start = end = long_tag + 1
        for count, attribute in enumerate(_attributes(html, start)):
            # The first of them is the tag's name.
            if count <= MAX_ATTRIBUTES:
                end = attribute
            start = attribute
        pieces.append(html[done:end])
        done = start
    pieces.append(html[done:])
    return b"".join(pieces)


def _long_tag(html: bytes, place: int) -> int:
    """Where the first tag of 16 KB or more from a place on begins, -1 for none.

    Of such a tag at least one of the pieces of 8 KB holds neither `<` nor `>`. To look for those first takes
    a fifth of the time of a search for the pattern, which took a sixth of that of parsing.
    """
    piece, seen = _LONG_TAG_BYTES // 2, place
    for start in range(place, len(html) - piece + 1, piece):
        end = start + piece
        if html.find(b">", start, end) >= 0 or html.find(b"<", start, end) >= 0:
            continue
        tag = html.rfind(b"<", seen, start)
        if tag >= 0 and _LONG_TAG.match(html, tag):
            return tag
        seen = start
    return -1


def _attributes(html: bytes, place: int) -> Iterator[int]:
    """Where each attribute from a place on ends, up to the end of the tag."""
    while attribute := _ATTRIBUTE.match(html, place):
        place = attribute.end()
        yield place


def _markup(html: bytes) -> Iterator[_Markup]:
    """The tags and CDATA sections in order; what stands in comments, scripts and styles is no markup."""
    place = 0
    while found := _MARKUP.search(html, place):
        place = found.end()
        name = found[2]
        if name is None:
            closing = b"]]>" if found[0] == _CDATA else b"-->"
            end = html.find(closing, place)
            if end < 0:
                return
            if found[0] == _CDATA:
                yield _Markup(found.start(), end + 3, inner=html[place:end])
            place = end + 3
            continue
        yield _Markup(found.start(), place, name, bool(found[1]), bool(found[4]), found[3])
        if name.lower() in _RAW_TEXT and not found[1] and not found[4]:
            end = html.find(b"</" + name, place)
            if end < 0:
                return
            place = end


def _escaped(text: bytes) -> bytes:
    return text.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
