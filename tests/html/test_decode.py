"""Bytes to UTF-8: what names the encoding, what each encoding means, and that no bytes break it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrawl.html._encodings import _LABELS, is_single_byte, lookup, to_text
from ccrawl.html.decode import Decoded, _is_utf8, decode

HEAD = "<!DOCTYPE html><html><head>{}<title>Pier</title></head><body><p>{}</p></body></html>"
MARKED = "<meta charset={}>"


def page(text: str, meta: str = "") -> str:
    return HEAD.format(meta, text)


def text_of(payload: bytes, content_type: str | None = None) -> str:
    return decode(payload, content_type).utf8.decode("utf-8", "strict")


# --- what names the encoding -------------------------------------------------------------------------


def test_valid_utf8_is_handed_on_as_the_same_object() -> None:
    payload = page("Größe").encode()
    assert decode(payload, "text/html; charset=utf-8").utf8 is payload
    assert decode(payload, None).utf8 is payload


def test_ascii_is_handed_on_under_its_label() -> None:
    payload = page("plain", MARKED.format("iso-8859-1")).encode()
    assert decode(payload, "text/html") == Decoded(payload, "windows-1252")
    assert decode(page("plain").encode(), None).encoding == "utf-8"


def test_byte_order_mark_beats_header_beats_meta() -> None:
    cyrillic = page("Маяк", MARKED.format("koi8-r"))
    assert (
        decode(b"\xef\xbb\xbf" + cyrillic.encode(), "text/html; charset=windows-1251").utf8
        == cyrillic.encode()
    )
    assert text_of(cyrillic.encode("cp1251"), "text/html; charset=windows-1251") == cyrillic
    assert text_of(cyrillic.encode("koi8-r"), "text/html") == cyrillic


def test_byte_order_mark_holds_where_bytes_alone_would_not_tell() -> None:
    assert text_of(b"\xef\xbb\xbf" + page("é").encode(), "text/html; charset=gbk") == page("é")
    assert decode(b"\xef\xbb\xbf" + page("Старый маяк").encode("cp1251"), None).encoding == "utf-8"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html; charset=windows-1251",
        'text/html;CHARSET = "Windows-1251" ; x=1',
        "text/html; charset='windows-1251'",
        "text/html; charset=windows-1251; charset=utf-8",
        '"text/html; charset=windows-1251"',
        "text/html, text/html; charset=windows-1251",
        "charset=cp1251, text/html",
        "text/html; charset=win1251",
    ],
)
def test_header_charset_is_found_however_it_is_written(content_type: str) -> None:
    assert decode(page("Маяк").encode("cp1251"), content_type).encoding == "windows-1251"
    assert "Маяк" in text_of(page("Маяк").encode("cp1251"), content_type)


@pytest.mark.parametrize(
    "head",
    [
        "<meta charset=windows-1251>",
        "<META CHARSET = 'windows-1251' />",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        "<meta content='text/html;charset=windows-1251' http-equiv=content-type>",
        "<!-- <meta charset=koi8-r> --><meta charset=windows-1251>",
        "<!--><meta charset=windows-1251>",
        "<link title='<meta charset=koi8-r>'><meta charset=windows-1251>",
        "<meta name=x content='charset=koi8-r'><meta charset=windows-1251>",
        "<meta charset=nonsense><meta charset=windows-1251>",
        "<meta charset=windows-1251 charset=koi8-r>",
        "<? pi ?><!doctype x></p a='>'><meta/charset=windows-1251>",
        "<script>" + "var x = 1;" * 5000 + "</script><meta charset=windows-1251>",
    ],
)
def test_meta_is_found_as_the_prescan_finds_it(head: str) -> None:
    assert decode(page("Маяк", head).encode("cp1251"), "text/html").encoding == "windows-1251"


def test_xml_declaration_names_the_encoding() -> None:
    assert (
        decode(b'<?xml version="1.0" encoding="koi8-r"?>' + page("Маяк").encode("koi8-r")).encoding
        == "koi8-r"
    )


def test_meta_of_utf_16_means_utf_8_and_of_user_defined_windows_1252() -> None:
    assert decode(page("Größe", MARKED.format("utf-16")).encode(), None).encoding == "utf-8"
    assert (
        decode(page("Gr\xf6\xdfe", MARKED.format("x-user-defined")).encode("latin-1")).encoding
        == "windows-1252"
    )


@pytest.mark.parametrize("label", ["iso-8859-1", "windows-1251", "latin1", "ibm866", "macintosh"])
def test_utf8_labelled_as_single_byte_is_recognised(label: str) -> None:
    assert decode(page("One é").encode(), f"text/html; charset={label}").encoding == "utf-8"
    assert (
        decode(page("Маяк " * 5 + "\ud800", MARKED.format(label)).encode("utf-8", "surrogatepass")).encoding
        == "utf-8"
    )


def test_two_chinese_characters_that_happen_to_be_utf8_keep_their_label() -> None:
    # D6 A1 and D0 A6 are 帧 and 笑 in GBK, and two valid sequences of UTF-8.
    payload = page("X").encode().replace(b"X", b"\xd6\xa1\xd0\xa6")
    assert "帧笑" in text_of(payload, "text/html; charset=gb2312")
    assert "港口灯塔港口灯塔" in text_of(page("港口灯塔港口灯塔").encode(), "text/html; charset=gb2312")


def test_one_broken_byte_costs_one_character() -> None:
    payload = page("Größe 港口 cut X end").encode().replace(b"X", b"\xe6\xb8")
    assert text_of(payload, None) == page("Größe 港口 cut X end").replace("X", "\ufffd")
    assert text_of(payload, "text/html; charset=iso-8859-1").count("\ufffd") == 1
    chinese = page("港口灯塔" * 9 + "X" + "港口").encode("gb18030").replace(b"X", b"\xff")
    assert text_of(chinese, "text/html; charset=gbk").count("\ufffd") == 1


def test_stray_byte_under_a_label_of_utf8_stays_utf8() -> None:
    assert decode(page("caf\xe9").encode("latin-1"), "text/html; charset=utf-8").encoding == "utf-8"


def test_label_of_utf8_on_a_page_that_is_not_is_overruled() -> None:
    text = page("Старый маяк стоит на берегу моря, и каждый вечер смотритель зажигает в нём огонь.")
    assert text_of(text.encode("cp1251"), "text/html; charset=utf-8") == text


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1251", "Старый маяк стоит на берегу моря, и каждый вечер смотритель зажигает огонь."),
        ("koi8-r", "Старый маяк стоит на берегу моря, и каждый вечер смотритель зажигает огонь."),
        ("cp932", "古い灯台は海辺に立っていて、毎晩番人が灯をともします。"),
        ("euc_jp", "古い灯台は海辺に立っていて、毎晩番人が灯をともします。"),
        ("gb18030", "古老的灯塔矗立在海边，守塔人每天晚上点亮灯火。"),
        ("big5", "古老的燈塔矗立在海邊，守塔人每天晚上點亮燈火。"),
        ("cp949", "오래된 등대는 바닷가에 서 있고 등대지기는 매일 저녁 불을 켠다."),
        ("cp1253", "Ο παλιός φάρος στέκεται στην ακτή και κάθε βράδυ ο φύλακας ανάβει το φως."),
        ("cp1255", "המגדלור הישן עומד על חוף הים ובכל ערב השומר מדליק את האור."),
        ("cp1256", "تقف المنارة القديمة على شاطئ البحر ويشعل الحارس الضوء كل مساء."),
        ("cp874", "ประภาคารเก่าตั้งอยู่ริมทะเล และผู้ดูแลจุดไฟทุกเย็น"),
        ("cp1250", "Stará věž stojí na břehu moře a každý večer strážce zapálí světlo."),
        ("cp1252", "Das alte Gebäude steht am Ufer, und jeden Abend zündet der Wärter größere Lichter an."),
    ],
)
def test_unlabelled_text_is_detected(codec: str, text: str) -> None:
    assert text in text_of(page(text).encode(codec), None)


def test_text_that_comes_late_is_detected() -> None:
    text = "Старый маяк стоит на берегу моря, и каждый вечер смотритель зажигает огонь."
    late = page("<script>" + "var x = 1 < 2;" * 150_000 + "</script>" + text)
    assert decode(late.encode("cp1251"), None).encoding == "windows-1251"


def test_detection_survives_a_broken_pair() -> None:
    lines = "".join(f"<p>古老的灯塔矗立在海边，守塔人每天晚上点亮灯火。第{i}盏灯。</p>" for i in range(40))
    payload = page(lines).encode("gb18030").replace(b"7\xd5\xb5", b"7\x81\xff", 1)
    assert decode(payload, None).encoding in ("gbk", "gb18030")


def test_lone_sign_on_an_english_page_is_western() -> None:
    assert "© 1999" in text_of(page("All rights reserved \xa9 1999").encode("latin-1"), None)
    assert "stealing £500,000" in text_of(page("stealing \xa3500,000").encode("latin-1"), None)


# --- UTF-16 and zero bytes ---------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("content_type", [None, "text/html; charset=utf-8", "text/html; charset=utf-16"])
def test_utf_16_is_told_with_and_without_a_mark(codec: str, content_type: str | None) -> None:
    text = page("Маяк 港口", MARKED.format("utf-8"))
    assert text_of(("\ufeff" + text).encode(codec), content_type) == text
    if content_type != "text/html; charset=utf-16" or codec == "utf-16-le":
        assert text_of(text.encode(codec), content_type) == text


def test_utf_16_of_little_markup_needs_its_label() -> None:
    text = "<p>" + "港口灯塔古老的灯塔矗立在海边" * 3 + "</p> a b c"
    assert text_of(text.encode("utf-16-le"), "text/html; charset=utf-16le") == text


@pytest.mark.parametrize("label", ["utf-16", "unicode", "ucs-2"])
def test_label_of_utf_16_on_bytes_without_zeros_counts_as_none(label: str) -> None:
    assert decode(page("héllo").encode(), f"text/html; charset={label}").encoding == "utf-8"


def test_zero_bytes_are_removed() -> None:
    assert text_of(b"\0\0<p>be\0fore \xc3\xa9</p>", None) == "<p>before é</p>"
    assert text_of(b"<p>be\0fore \xe9</p>", "text/html; charset=latin1") == "<p>before é</p>"


# --- labels and mappings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "name"),
    [
        *[("gb2312", "gbk"), ("x-gbk", "gbk"), ("GB_2312-80", "gbk"), ("gb18030", "gb18030")],
        *[
            ("shift_jis", "shift_jis"),
            ("Shift-JIS", "shift_jis"),
            ("x-sjis", "shift_jis"),
            ("windows-31j", "shift_jis"),
        ],
        *[
            ("ms932", "shift_jis"),
            ("cp932", "shift_jis"),
            ("SJIS", "shift_jis"),
            ("ks_c_5601-1987", "euc-kr"),
        ],
        *[("iso-8859-1", "windows-1252"), ("us-ascii", "windows-1252"), ("iso-8859-9", "windows-1254")],
        *[
            ("tis-620", "windows-874"),
            ("unicode", "utf-16le"),
            (" UTF8\n", "utf-8"),
            ("hz-gb-2312", "replacement"),
        ],
        *[
            ("big5-hkscs", "big5"),
            ("visual", "iso-8859-8"),
            ("logical", "iso-8859-8-i"),
            ("koi8-ru", "koi8-u"),
        ],
    ],
)
def test_label_means_what_browsers_mean(label: str, name: str) -> None:
    assert lookup(label) == name


@pytest.mark.parametrize(
    "label",
    ["", "none", "base64", "rot13", "idna", "punycode", "undefined", "mbcs", "oem", "utf-7", "utf-32", "unicode_escape",
     "hex", "zlib", "utf-8\0", "x" * 5000, "ISO-88591-1", "iso-8895-1", "cp037", "utf-8;q=1"],
)  # fmt: skip
def test_unknown_label_counts_as_none(label: str) -> None:
    assert lookup(label) is None
    assert "héllo" in text_of(page("héllo").encode(), f"text/html; charset={label}")
    assert "héllo" in text_of(page("héllo", f'<meta charset="{label}">').encode(), "text/html")


# Codes and characters as the standard's indexes pair them (index-big5.txt, index-gb18030.txt ...).
@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        *[
            ("gbk", "e946", "镕"),
            ("gbk", "87d6", "囍"),
            ("gbk", "a2e3", "€"),
            ("gbk", "80", "€"),
            ("gbk", "a8bc", "ḿ"),
        ],
        *[
            ("gb18030", "81308130", "\x80"),
            ("gb18030", "a6d9", "︐"),
            ("gb18030", "a3a0", "\u3000"),
            ("gb18030", "ff", "\ufffd"),
        ],
        *[
            ("shift_jis", "8740", "①"),
            ("shift_jis", "8160", "～"),
            ("shift_jis", "fbfc", "髙"),
            ("shift_jis", "b1", "ｱ"),
        ],
        *[
            ("shift_jis", "a0", "\ufffd"),
            ("shift_jis", "80", "\x80"),
            ("shift_jis", "5c", "\\"),
            ("shift_jis", "f040", "\ue000"),
        ],
        *[
            ("euc-jp", "ada1", "①"),
            ("euc-jp", "a1c1", "～"),
            ("euc-jp", "fce2", "髙"),
            ("euc-jp", "8eb1", "ｱ"),
        ],
        *[("euc-jp", "8fb0a1", "丂"), ("euc-jp", "a1dd", "－"), ("euc-jp", "f9a1", "纊")],
        *[
            ("euc-kr", "8c63", "똠"),
            ("big5", "a145", "‧"),
            ("big5", "a1e3", "～"),
            ("big5", "f9d6", "碁"),
            ("big5", "8862", "\xca\u0304"),
            ("big5", "8864", "\xca\u030c"),
        ],
        *[
            ("koi8-u", "aebe", "ўЎ"),
            ("windows-1252", "8081", "€\x81"),
            ("windows-1255", "ca", "\u05ba"),
            ("windows-874", "db", "\ufffd"),
        ],
        *[
            ("windows-1253", "81aa", "\x81\ufffd"),
            ("macintosh", "db", "€"),
            ("x-mac-cyrillic", "a2ff", "Ґ€"),
            ("ibm866", "80", "А"),
        ],
        *[
            ("x-user-defined", "4180ff", "A\uf780\uf7ff"),
            ("replacement", "41", "\ufffd"),
            ("iso-8859-16", "a4", "€"),
        ],
        *[
            ("iso-2022-jp", "1b24422121303b1b2842", "\u3000飴"),
            ("iso-2022-jp", "1b284a5c7e", "¥‾"),
            ("iso-2022-jp", "1b284931", "ｱ"),
        ],
        *[
            ("iso-2022-jp", "1b24422d211b2842610a", "①a\n"),
            ("utf-16be", "d83c", "\ufffd"),
            ("utf-16le", "41", "\ufffd"),
        ],
    ],
)
def test_codes_mean_what_the_index_says(name: str, code: str, text: str) -> None:
    assert to_text(bytes.fromhex(code), name) == text


@pytest.mark.parametrize("name", ["gbk", "big5", "euc-kr", "shift_jis", "euc-jp"])
def test_broken_pair_loses_no_markup(name: str) -> None:
    assert to_text(b"\x81<b>x", name).endswith("<b>x")
    assert to_text(b"\xfe<b>x", name).endswith("<b>x")


def test_unmapped_pair_does_not_shift_the_rest() -> None:
    # C9A1 has no character in EUC-KR: a user-defined row. Both bytes go, and the next pair is read in step.
    assert to_text(b"\xc9\xa1\xb0\xa1\xb0\xa1", "euc-kr") == "\ufffd가가"


@pytest.mark.parametrize("name", sorted(set(_LABELS)))
@given(payload=st.binary(max_size=60))
@settings(max_examples=40)
def test_every_encoding_decodes_any_bytes(name: str, payload: bytes) -> None:
    text = to_text(payload, name)
    text.encode("utf-8")
    if is_single_byte(name):
        assert len(text) == len(payload)


# --- any bytes ---------------------------------------------------------------------------------------

pieces = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from(
            [
                b"<meta",
                b" charset=",
                b"<!--",
                b"-->",
                b"utf-16",
                b"gbk",
                b'"',
                b"'",
                b">",
                b"<?xml",
                b"\xff\xfe",
            ]
        ),
        st.sampled_from(
            [b"\xef\xbb\xbf", b"\0", b"\x1b$B", b"http-equiv=content-type", b"content=", "é港".encode()]
        ),
    )
).map(b"".join)


@given(
    pieces,
    st.one_of(st.none(), st.text(max_size=30), st.sampled_from([f"text/html; charset={n}" for n in _LABELS])),
)
@settings(max_examples=500)
def test_any_bytes_give_clean_utf8(payload: bytes, content_type: str | None) -> None:
    decoded = decode(payload, content_type)
    text = decoded.utf8.decode("utf-8", "strict")
    assert "\0" not in text
    assert not text.startswith("\ufeff")
    assert decoded.encoding in _LABELS


@given(st.one_of(st.binary(), st.text(st.characters(codec="utf-8")).map(str.encode), pieces))
@settings(max_examples=400)
def test_the_check_for_utf8_is_pythons(payload: bytes) -> None:
    try:
        payload.decode("utf-8", "strict")
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert _is_utf8(payload) == valid


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_utf8_is_never_changed(text: str) -> None:
    assert decode(text.encode(), "text/html; charset=utf-8").utf8 == text.encode()


@pytest.mark.parametrize(
    "piece",
    [
        b"<meta ",
        b"<!--",
        b"<a b='",
        b"<meta charset",
        b"\x81",
        b"\xff\xe9",
        b"<",
        b'<meta a="',
        b"<meta charset=x>\xe9",
        b"\x1b$B\x80",
    ],
)
def test_hostile_megabytes_take_linear_time(piece: bytes) -> None:
    payload = b"\xe9<html>" + piece * (2_000_000 // len(piece))
    start = time.process_time()
    decode(payload, None)
    # Quadratic would be hours; linear is under a second.
    assert time.process_time() - start < 8
