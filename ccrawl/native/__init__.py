"""The native part: heads of records, a page's tree as arrays, the arithmetic over them, fingerprints, in C.

It is a plain shared library, without Python's headers, that the installation compiles (`compiling.py`). It is
loaded here, and its functions get their signatures; `ccrawl.html.content` and `ccrawl.text.simhash` call them
with numpy's arrays, `ccrawl.archives` with bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import c_bool, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from ccrawl.errors import CcrawlError
from ccrawl.native.compiling import LIBRARY, sources_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_MEMORY, BAD_TREE = -1, -2


class PageArrays(ctypes.Structure):
    """Walk's arrays: their sizes and addresses."""

    _fields_ = (
        *((name, c_int64) for name in ("nodes", "texts", "blocks")),
        *((name, c_void_p) for name in ("node_rows", "text_rows", "block_rows")),
    )


class Keys(ctypes.Structure):
    """Byte strings one after the other, where each starts, and 64 bits for each."""

    _fields_ = (("count", c_int64), ("keys", c_void_p), ("start", c_void_p), ("values", c_void_p))


class Specification(ctypes.Structure):
    """What the tables are made of; tables.c says what each is."""

    _fields_ = (
        ("characters", c_void_p),
        ("lower", c_void_p),
        ("lowered", c_int64),
        ("tag_slots", c_int64),
        *((name, c_void_p) for name in ("tag_bits", "own_bits", "tag_kinds")),
        *((name, c_uint64) for name in ("link_bit", "heading_bits")),
        *((name, c_void_p) for name in ("tags", "attributes")),
        *((name, Keys) for name in ("markup", "phrases", "first_words", "beginnings")),
        *((name, c_void_p) for name in ("after", "sign_bits")),
    )


class HeadTexts(ctypes.Structure):
    """What the head says, as UTF-8."""

    _fields_ = (
        *(("bodies", c_char_p), ("bodies_length", c_int64)),
        *(("description", c_char_p), ("description_length", c_int64)),
        *(("title", c_char_p), ("title_length", c_int64), ("title_characters", c_int64)),
    )


class Forest(ctypes.Structure):
    """A forest that is ready to be evaluated; forest.c says what each array is."""

    _fields_ = (
        *((name, c_int64) for name in ("figures", "flags", "trees", "depth")),
        *((name, c_void_p) for name in ("figure", "border", "byte", "mask", "asked", "leaves")),
        ("bias", c_double),
    )


class Folding(ctypes.Structure):
    """Which characters are of words, and what they fold to; fingerprint.c says what each array is."""

    _fields_ = (
        *((name, c_void_p) for name in ("plain", "kinds", "folded")),
        ("fold_below", c_int64),
        *((name, c_void_p) for name in ("several", "several_start")),
    )


Given = c_double * 13  # what the head and the URL say; features.h says in which order

_PAGE, _FOREST = ctypes.POINTER(PageArrays), ctypes.POINTER(Forest)
_TABLES, _ARRAY = c_void_p, c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {  # what a function returns, and takes
    "ccrawl_tag_names": (c_char_p,),
    "ccrawl_attribute_names": (c_char_p,),
    "ccrawl_figures": (c_char_p,),
    "ccrawl_context": (c_char_p,),
    "ccrawl_tables": (_TABLES, ctypes.POINTER(Specification)),
    "ccrawl_markup_bits": (c_uint64, _TABLES, c_char_p, c_int64),
    "ccrawl_phrase_bits": (c_uint64, _TABLES, c_char_p, c_int64),
    "ccrawl_node_fields": (None, c_uint64, _ARRAY),
    "ccrawl_attribute_numbers": (c_int64, c_uint64, _ARRAY, c_int64),
    "ccrawl_properties": (c_char_p,),
    "ccrawl_read_head": (None, _TABLES, c_void_p, c_void_p, _ARRAY, c_int64, _ARRAY, c_int64),
    "ccrawl_strip": (c_int64, _TABLES, c_uint64, c_bool, _ARRAY, c_int64),
    "ccrawl_measure": (None, _TABLES, c_uint64, c_int64, _ARRAY),
    "ccrawl_walk": (c_int64, _TABLES, c_uint64, _PAGE, c_int64),
    "ccrawl_read_text": (c_int, _TABLES, _PAGE, ctypes.POINTER(HeadTexts), _ARRAY),
    "ccrawl_gather": (c_int, _TABLES, _PAGE, *[_ARRAY] * 6),
    "ccrawl_gather_context": (c_int, _PAGE, *[_ARRAY] * 5),
    "ccrawl_probability": (c_int, _FOREST, _ARRAY, _ARRAY, c_int64, _ARRAY),
    "ccrawl_judge": (
        *(c_int, _TABLES, _PAGE, ctypes.POINTER(HeadTexts)),
        *(_ARRAY, _FOREST, _FOREST, _ARRAY, _ARRAY),
    ),
    "ccrawl_decide": (c_int, _ARRAY, _ARRAY, c_int64, c_double, c_double, c_double, _ARRAY),
    "ccrawl_find_prose": (None, _ARRAY, c_int64, _ARRAY),
    "ccrawl_settle": (c_int, _TABLES, _PAGE, _ARRAY, _ARRAY, c_int64, _ARRAY),
    "ccrawl_complete": (None, _TABLES, _PAGE, _ARRAY, c_uint64, c_uint64, _ARRAY, _ARRAY),
    "ccrawl_render_elements": (c_char_p,),
    "ccrawl_render_attributes": (c_char_p,),
    "ccrawl_render_tables": (_TABLES, c_void_p, c_void_p, c_int64, _ARRAY),
    "ccrawl_render": (c_int, _TABLES, c_void_p, c_uint64, c_void_p, c_void_p),
    "ccrawl_free_text": (None, c_void_p),
    "ccrawl_prune": (c_int, _TABLES, _PAGE, _ARRAY, _ARRAY),
    "ccrawl_simhash": (c_int, ctypes.POINTER(Folding), c_char_p, c_int64, ctypes.POINTER(c_uint64)),
    "ccrawl_xxh3": (c_uint64, c_char_p, c_int64),
    "ccrawl_warc_fields": (c_char_p,),
    "ccrawl_warc_head": (c_int64, c_char_p, *[c_int64] * 3, _ARRAY),
    "ccrawl_http_fields": (c_char_p,),
    "ccrawl_http_head": (c_int64, c_char_p, *[c_int64] * 3, *[_ARRAY] * 2, c_int64),
}


def _load() -> ctypes.CDLL:
    remedy = "run scripts/setup in a checkout, else install ccrawl again"
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        raise CcrawlError(f"ccrawl's native part can't be loaded ({error}); {remedy}") from error
    wanted = sources_sum()
    if wanted and (not hasattr(loaded, "ccrawl_sources") or loaded.ccrawl_sources() & 0xFFFFFFFF != wanted):
        raise CcrawlError(f"{LIBRARY}: made from other sources than those beside it; {remedy}")
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


library = _load()
_Byte: Any = ctypes.c_char


def address(array: NDArray[Any]) -> int:
    """Where the items of a contiguous array are."""
    if not array.size:
        return 0
    return ctypes.addressof(_Byte.from_buffer(array))  # in half the time of array.ctypes.data


def addresses(*arrays: NDArray[Any]) -> Iterator[int]:
    """The same of several."""
    return map(address, arrays)


def checked(result: int) -> int:
    """What a function returned, unless it failed: MemoryError, or CcrawlError for a tree that was changed
    while it was read.
    """
    if result == NO_MEMORY:
        raise MemoryError("the native part of ccrawl has no memory for this page")
    if result == BAD_TREE:
        raise CcrawlError("the page's tree was changed while it was read; let one thread work on a page")
    return result
