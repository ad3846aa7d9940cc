"""The encodings of the web: labels to names, and bytes to text as the WHATWG Encoding Standard maps them.

Python's codecs do the work; where their mapping differs from the standard's index, the difference is a
small table here. Compared code by code with the standard's indexes, what is left is 192 rare characters
that HKSCS added in 2004 and 2008 (Big5 rows 87 to 8B), the full-width slash and backslash at A241 and A242
of Big5, and 8FA2B7 of EUC-JP. No codec of Python alone (base64, rot13, idna, punycode ...) can be reached:
a label that the tables do not hold has no encoding.

Source: https://encoding.spec.whatwg.org/, sections "Names and labels" and "Indexes".
"""

from __future__ import annotations

import codecs
import re
from functools import cache

UTF_8 = "utf-8"
REPLACEMENT = "\ufffd"

# Name (lower case) to its labels.
_LABELS: dict[str, str] = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866 ibm866",
    "iso-8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": (
        "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
    ),
    "iso-8859-6": (
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
        "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
    ),
    "iso-8859-7": (
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
        "iso_8859-7:1987 sun_eu_greek"
    ),
    "iso-8859-8": (
        "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
        "iso_8859-8 iso_8859-8:1988 visual"
    ),
    "iso-8859-8-i": "csiso88598i iso-8859-8-i logical",
    "iso-8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso-8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "windows-1250": "cp1250 windows-1250 x-cp1250",
    "windows-1251": "cp1251 windows-1251 x-cp1251",
    "windows-1252": (
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
        "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
    ),
    "windows-1253": "cp1253 windows-1253 x-cp1253",
    "windows-1254": (
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
        "windows-1254 x-cp1254"
    ),
    "windows-1255": "cp1255 windows-1255 x-cp1255",
    "windows-1256": "cp1256 windows-1256 x-cp1256",
    "windows-1257": "cp1257 windows-1257 x-cp1257",
    "windows-1258": "cp1258 windows-1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "gb18030": "gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso-2022-jp": "csiso2022jp iso-2022-jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "euc-kr": (
        "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
        "windows-949"
    ),
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
    "utf-16be": "unicodefffe utf-16be",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}
# Not in the standard, but found in headers: the names of other systems for the same code pages.
_OTHER_LABELS: dict[str, str] = {
    "big5": "cp950 ms950 windows-950 big5hk",
    "euc-kr": "cp949 ms949 uhc x-windows-949",
    "gbk": "cp936 ms936 windows-936 euc-cn",
    "ibm866": "dos-866",
    "shift_jis": "cp932 windows-932 x-ms-cp932",
    "windows-874": "cp874 ms874",
    "windows-1250": "win1250 win-1250 windows1250",
    "windows-1251": "win1251 win-1251 windows1251 ansi-1251",
    "windows-1252": "ansi win1252 win-1252 windows1252 iso-latin-1",
    "windows-1256": "win1256 win-1256 windows1256",
}

# Decoded as their superset, under the names that the standard gives them.
_PYTHON_CODECS = {
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "utf-8": "utf-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}
_SINGLE_BYTE_CODECS = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "windows-874": "cp874",
}
_SINGLE_BYTE_DIFFERENCES = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
# What Python's codec gives, to what the standard's index has at the same bytes.
_CORRECTIONS: dict[str, dict[str, str]] = {
    "big5": {
        **{"\u2022": "\u2027", "\uff64": "\ufe51", "\u203e": "\xaf", "\u223c": "\uff5e", "\u2641": "\u2295"},
        **{"\u2609": "\u2299", "\xa5": "\uffe5", "\xa2": "\uffe0", "\xa3": "\uffe1"},
    },
    "euc-jp": {
        **{"\u301c": "\uff5e", "\u2016": "\u2225", "\u2212": "\uff0d"},
        **{"\xa2": "\uffe0", "\xa3": "\uffe1", "\xac": "\uffe2"},
    },
    "shift_jis": dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", REPLACEMENT),
    # Private use until GB 18030-2005 and 2022 gave these characters code points of their own.
    "gb18030": {
        **{"\ue5e5": "\u3000", "\ue7c7": "\u1e3f"},
        **dict(
            zip(
                map(chr, range(0xE78D, 0xE797)),
                "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19",
                strict=True,
            )
        ),
        **dict(
            zip(
                "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
                map(chr, range(0x9FB4, 0x9FBC)),
                strict=True,
            )
        ),
    },
}
_CORRECTIONS["gbk"] = _CORRECTIONS["gb18030"]


def lookup(label: str) -> str | None:
    """The encoding that a label names, or None when it names none.

    As the standard: white space around it and case do not count. Beyond it: `_`, a space and `-` are the
    same (`euc_kr`, `shift jis`), and some names of other systems are known (`cp932`, `win1251`).
    """
    label = label.strip("\t\n\f\r ").lower()
    names = _names()
    return names.get(label) or names.get(_hyphenated(label))


def is_single_byte(name: str) -> bool:
    """Whether one byte is one character, whatever stands around it."""
    return name not in _PYTHON_CODECS and name not in ("iso-2022-jp", "replacement")


def to_text(html: bytes, name: str) -> str:
    """The text of bytes in an encoding by its name; what is no character becomes U+FFFD. Never raises."""
    if name == "replacement":
        return REPLACEMENT if html else ""
    if name == "iso-2022-jp":
        return _from_iso_2022_jp(html)
    if is_single_byte(name):
        return codecs.charmap_decode(html, "strict", _single_byte_table(name))[0]
    errors = "replace" if name.startswith("utf-") else f"ccrawl.{name}"
    text = codecs.decode(html, _PYTHON_CODECS[name], errors)
    if name in _CORRECTIONS:
        corrections = _CORRECTIONS[name]
        text = _corrected(name).sub(lambda match: corrections[match[0]], text)
    return text


def _hyphenated(label: str) -> str:
    return label.replace("_", "-").replace(" ", "-")


@cache
def _names() -> dict[str, str]:
    pairs = [
        (label, name)
        for table in (_LABELS, _OTHER_LABELS)
        for name, labels in table.items()
        for label in labels.split()
    ]
    return {_hyphenated(label): name for label, name in pairs} | dict(pairs)


@cache
def _corrected(name: str) -> re.Pattern[str]:
    return re.compile("[" + "".join(_CORRECTIONS[name]) + "]")


@cache
def _single_byte_table(name: str) -> str:
    """256 characters: the byte's in Python's codec, the C1 control where Windows left a gap, or U+FFFD."""
    if name == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else 0xF700 + byte) for byte in range(256))
    codec = _SINGLE_BYTE_CODECS.get(name) or name.replace("windows-", "cp").replace("iso-", "iso")
    table = []
    for byte in range(256):
        character = bytes([byte]).decode(codec, "replace")
        if character == REPLACEMENT and codec.startswith("cp") and byte < 0xA0:
            character = chr(byte)
        table.append(_SINGLE_BYTE_DIFFERENCES.get(name, {}).get(byte, character))
    return "".join(table)


# The standard takes both bytes of a pair that is no character, unless the second is ASCII (so that no
# markup is lost); Python's codecs take one, and read the rest of the line one byte out of step.
def _wrong_pair(error: UnicodeError, length: int = 2) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    start = error.start
    pair = error.object[start : start + length]
    for taken in range(1, len(pair)):
        if pair[taken] < 0x80:
            return REPLACEMENT, start + taken
    return REPLACEMENT, start + len(pair)


def _wrong_gb18030(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    if error.object[error.start] == 0x80:
        return "\u20ac", error.start + 1
    if error.object[error.start] == 0xFF:
        return REPLACEMENT, error.start + 1
    return _wrong_pair(error)


def _wrong_shift_jis(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    lead = error.object[error.start]
    return _wrong_pair(error, 2 if 0x81 <= lead <= 0x9F or 0xE0 <= lead <= 0xFC else 1)


def _wrong_euc_kr_or_big5(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return _wrong_pair(error, 2 if 0x81 <= error.object[error.start] <= 0xFE else 1)


def _wrong_euc_jp(error: UnicodeError) -> tuple[str, int]:
    """Rows 13 and 89 to 92 (NEC's and IBM's extensions) are in the standard's index, and in cp932."""
    assert isinstance(error, UnicodeDecodeError)
    start = error.start
    lead, trail = error.object[start], error.object[start + 1 : start + 2]
    if not 0xA1 <= lead <= 0xFE:
        return _wrong_pair(error, {0x8E: 2, 0x8F: 3}.get(lead, 1))
    if trail and 0xA1 <= trail[0] <= 0xFE:
        row, cell = lead - 0xA1, trail[0] - 0xA1
        shifted = row // 2 + (0x81 if row < 62 else 0xC1)
        offset = cell + (0x40 if cell < 63 else 0x41) if row % 2 == 0 else cell + 0x9F
        character = bytes((shifted, offset)).decode("cp932", "replace")
        if len(character) == 1:
            return character, start + 2
    return _wrong_pair(error)


codecs.register_error("ccrawl.gb18030", _wrong_gb18030)
codecs.register_error("ccrawl.gbk", _wrong_gb18030)
codecs.register_error("ccrawl.shift_jis", _wrong_shift_jis)
codecs.register_error("ccrawl.euc-kr", _wrong_euc_kr_or_big5)
codecs.register_error("ccrawl.big5", _wrong_euc_kr_or_big5)
codecs.register_error("ccrawl.euc-jp", _wrong_euc_jp)

_ESCAPE = re.compile(rb"\x1b(\([BJI]|\$[@B])")
_HIGH = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))


def _from_iso_2022_jp(html: bytes) -> str:
    """The bytes between two escape sequences are in one character set each."""
    first, *rest = _ESCAPE.split(html)
    pieces = [_ascii(first)]
    for escape, piece in zip(rest[::2], rest[1::2], strict=True):
        if escape == b"(B":
            pieces.append(_ascii(piece))
        elif escape == b"(J":
            pieces.append(_ascii(piece).translate({0x5C: "\xa5", 0x7E: "\u203e"}))
        elif escape == b"(I":
            pieces.append(to_text(piece.translate(_HIGH), "shift_jis"))
        else:
            pieces.append(to_text(piece.translate(_HIGH), "euc-jp"))
    return "".join(pieces)


def _ascii(html: bytes) -> str:
    return html.decode("ascii", "replace")
