"""The native renderer (ccrawl/native/render_*.c): the tables that it is told once, and its call."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ccrawl.html.options import RenderOptions
from ccrawl.native import Keys, address, checked, library
from ccrawl.text._ranges import UNSPACED, WORD

DEFAULT = RenderOptions()

_IN_WORD, _ALPHANUMERIC, _LOWER, _UPPER, _DIGIT = 1, 2, 4, 8, 16  # of a character
_LARGE = 500  # characters: a range of more of them is one of ideographs or syllables, letters all
_ELEMENTS, _ATTRIBUTES = 3, 1  # the numbers of the first ones
_MOST_KNOWN_NAMES = 4096
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_CHOICES = {
    "links": ("keep", "drop", "reference"),
    "images": ("keep", "alt", "drop"),
    "headings": ("atx", "setext"),
}


class _Names(ctypes.Structure):
    _fields_ = (("others", Keys), ("numbers", ctypes.c_void_p))


_Resolve = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))


class _Request(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in _CHOICES),
        *((name, ctypes.c_char_p) for name in ("scheme", "origin", "directory")),
        *((f"{name}_length", ctypes.c_int64) for name in ("scheme", "origin", "directory")),
        ("resolve", _Resolve),
    )


def render(node: LexborNode, base_url: str | None = None, options: RenderOptions = DEFAULT) -> str:
    """The Markdown of the subtree at `node`, without a line break at its end; "" when it has no text.

    Relative links are resolved against `base_url`, or the page's `<base href>`, itself relative to it.
    Elements that are not shown (`hidden`, `display: none`, `visibility: hidden`) are unlinked from the tree
    on the way; rendering again gives the same. Any tree can be rendered: depth is bounded by memory only,
    time is linear in size. Raises MemoryError where there is none.
    """
    base = _Base(_base(node, base_url))
    request = base.request(options)
    out, length = ctypes.c_void_p(), ctypes.c_int64()
    checked(
        library.ccrawl_render(
            _tables().address, ctypes.byref(request), node.mem_id, ctypes.byref(out), ctypes.byref(length)
        )
    )
    try:
        if base.raised is not None:
            raise base.raised
        return ctypes.string_at(out, length.value).decode()
    finally:
        library.ccrawl_free_text(out)


def _base(node: LexborNode, base_url: str | None) -> str | None:
    head = node.parser.head
    base = head.css_first("base[href]") if head is not None else None
    href = base.attributes.get("href") if base is not None else None
    if not href:
        return base_url
    try:
        return urljoin(base_url or "", href.strip())
    except ValueError:
        return base_url


class _Base:
    """What references are resolved against. The native part does so for simple ones, `resolve` for others."""

    def __init__(self, base: str | None) -> None:
        self._url = ""
        self._scheme = self._origin = self._directory = b""
        self._resolved: dict[bytes, bytes] = {}
        self.raised: BaseException | None = None  # in `resolve`
        try:
            parts = urlsplit(base or "")
            (base or "").encode()
        except ValueError:  # malformed, or with half a character of UTF-16
            return
        self._url = base or ""
        if parts.netloc and parts.scheme in ("http", "https"):
            origin = f"{parts.scheme}://{parts.netloc}"
            self._scheme, self._origin = f"{parts.scheme}:".encode(), origin.encode()
            if "/." not in parts.path:
                self._directory = (origin + (parts.path[: parts.path.rfind("/") + 1] or "/")).encode()

    def request(self, options: RenderOptions) -> _Request:
        """What the native part is asked for. It may call `resolve` while this lives."""
        choices = [_CHOICES[name].index(getattr(options, name)) for name in _CHOICES]
        parts = self._scheme, self._origin, self._directory
        return _Request(*choices, *parts, *map(len, parts), _Resolve(self._resolve))

    def _resolve(self, reference: int, length: int, length_out: Any) -> int | None:
        try:
            key = ctypes.string_at(reference, length)
            found = self._resolved.get(key)
            if found is None:
                found = self._resolved[key] = _joined(self._url, key.decode())
            length_out[0] = len(found)
            return ctypes.cast(ctypes.c_char_p(found), ctypes.c_void_p).value
        except BaseException as error:  # a timer's or a Ctrl-C's, which ctypes would print and forget
            self.raised = error
            return None


def _joined(base: str, reference: str) -> bytes:
    """The absolute URL, b"" for a malformed one."""
    try:
        url = reference if _SCHEME.match(reference) else urljoin(base, reference)
        if "[" in url or "]" in url:
            urlsplit(url)
        return url.encode()
    except ValueError:
        return b""


class _Tables:
    """The native part's tables, and the memory that they are in."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = []
        elements = library.ccrawl_render_elements().decode().split()
        attributes = library.ccrawl_render_attributes().decode().split()
        parser = LexborHTMLParser(f"<p {' '.join(attributes)}>x")
        paragraph = parser.css_first("p")
        assert paragraph is not None and paragraph.first_child is not None
        numbers = [parser.create_node(name).tag_id for name in elements]
        element_numbers = np.array(numbers, np.int64)
        element_numbers[element_numbers >= _MOST_KNOWN_NAMES] = 0
        attribute_numbers = np.zeros(len(attributes), np.int64)
        library.ccrawl_attribute_numbers(paragraph.mem_id, address(attribute_numbers), len(attributes))
        self.address: int | None = library.ccrawl_render_tables(
            ctypes.byref(self._names(elements, element_numbers, _ELEMENTS)),
            ctypes.byref(self._names(attributes, attribute_numbers, _ATTRIBUTES)),
            paragraph.first_child.tag_id,
            self._kept(_characters()),
        )
        if self.address is None:
            raise MemoryError("no memory for the tables of the native part")

    def _names(self, names: list[str], numbers: NDArray[np.int64], first: int) -> _Names:
        """Names with lexbor's numbers of them; those that it has none for are looked up by themselves."""
        others = {name.encode(): first + place for place, name in enumerate(names) if numbers[place] == 0}
        starts = np.cumsum([0, *map(len, others)], dtype=np.int64)
        keys = Keys(
            len(others),
            self._kept(np.frombuffer(bytearray(b"".join(others)), np.uint8)),
            self._kept(starts),
            self._kept(np.array(list(others.values()), np.uint64)),
        )
        return _Names(keys, self._kept(numbers))

    def _kept(self, array: NDArray[Any]) -> int:
        self._arrays.append(array)
        return address(array)


@cache
def _tables() -> _Tables:
    return _Tables()


def _characters() -> NDArray[np.uint8]:
    """Which characters are letters, marks and digits, which of these are no marks, and letters' case."""
    table = np.zeros(0x110000, np.uint8)
    for first, last in (*WORD, *UNSPACED):
        table[first : last + 1] = _IN_WORD
        if last - first > _LARGE:
            table[first : last + 1] |= _ALPHANUMERIC
        else:
            codes = [code for code in range(first, last + 1) if chr(code).isalnum()]
            table[codes] |= _ALPHANUMERIC
            table[[code for code in codes if chr(code).islower()]] |= _LOWER
            table[[code for code in codes if chr(code).isupper()]] |= _UPPER
            table[[code for code in codes if chr(code).isdecimal()]] |= _DIGIT
    return table
