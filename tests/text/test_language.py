"""Languages told from what a reader sees."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrawl.text import language
from ccrawl.text._iso639 import ISO_639_3
from ccrawl.text.language import NO_LANGUAGE, detect

ENGLISH = (
    "The old lighthouse stands by the sea, and every evening the keeper climbs the stairs to light the lamp."
)
GERMAN = "Der alte Leuchtturm steht am Meer, und jeden Abend steigt der Wärter die Treppe hinauf und zündet das Licht an."


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("eng", ENGLISH),
        ("deu", GERMAN),
        (
            "fra",
            "Le vieux phare se dresse au bord de la mer et chaque soir le gardien monte allumer la lampe.",
        ),
        (
            "spa",
            "El viejo faro está junto al mar y cada noche el guardián sube la escalera para encender la luz.",
        ),
        (
            "por",
            "O velho farol fica junto ao mar e todas as noites o faroleiro sobe a escada para acender a luz.",
        ),
        ("rus", "Старый маяк стоит на берегу моря, и каждый вечер смотритель зажигает в нём огонь."),
        ("ell", "Ο παλιός φάρος στέκεται στην ακτή και κάθε βράδυ ο φύλακας ανάβει το φως."),
        ("ara", "تقف المنارة القديمة على شاطئ البحر ويصعد الحارس كل مساء ليشعل الضوء."),
        ("heb", "המגדלור הישן עומד על חוף הים ובכל ערב השומר עולה במדרגות ומדליק את האור."),
        ("hin", "पुराना प्रकाशस्तंभ समुद्र के किनारे खड़ा है और हर शाम रखवाला दीपक जलाता है।"),
        ("zho", "古老的灯塔矗立在海边，守塔人每天晚上都要爬上楼梯点亮灯火。"),
        ("jpn", "古い灯台は海辺に立っていて、毎晩番人が階段を上って灯をともします。"),
        ("kor", "오래된 등대는 바닷가에 서 있고 등대지기는 매일 저녁 계단을 올라 불을 켠다."),
        ("tha", "ประภาคารเก่าตั้งอยู่ริมทะเล และผู้ดูแลเดินขึ้นบันไดไปจุดไฟทุกเย็น"),
        (
            "vie",
            "Ngọn hải đăng cũ đứng bên bờ biển và mỗi tối người gác đèn lại leo lên cầu thang để thắp sáng.",
        ),
    ],
)
def test_language_is_told(code: str, text: str) -> None:
    detected = detect(text)
    assert detected.code == code
    assert 0.5 <= detected.confidence <= 1.0


def test_what_no_reader_sees_does_not_count() -> None:
    markdown = (
        f"# {GERMAN[:40]}\n\n[Leuchtturm](https://example.org/the/old/lighthouse/stands/by/the/sea/and/every/evening)\n\n"
        f"```python\ndef the_keeper_climbs_the_stairs(): return every_evening_to_light_the_lamp\n```\n\n{GERMAN}\n\n"
        "`the keeper climbs the stairs every evening` https://example.org/the-keeper-of-the-old-lighthouse\n"
    )
    assert detect(markdown).code == "deu"
    code = "```\n" + "the keeper climbs the stairs to light the lamp\n" * 20 + "```\n"
    assert detect(code) == NO_LANGUAGE
    assert detect(code + GERMAN).code == "deu"


@pytest.mark.parametrize(
    "text",
    ["", " \n", "404", "OK", "12 345,67 €", "https://example.org/a/long/address/of/a/page", "###", "\ud800"],
)
def test_too_little_text_has_no_language(text: str) -> None:
    assert detect(text) == NO_LANGUAGE


def test_all_of_a_long_text_counts() -> None:
    # A short English beginning, then German: only the beginning of a page is often menus and notices.
    assert detect(f"{ENGLISH}\n\n" + f"{GERMAN}\n\n" * 60).code == "deu"


@pytest.mark.parametrize("beginning", ["Tokio Lima Oslo Kairo Quito Accra Dakar Tunis", "1999 2000 " * 5])
def test_a_text_that_few_characters_leave_open_is_read_further(beginning: str) -> None:
    # The first 40 characters of each of four lines are names of towns, which the model takes for Spanish, or
    # numbers.
    assert detect("\n".join([beginning] * 4)).code != "deu"
    assert detect("\n".join([f"{beginning} {GERMAN}"] * 4)).code == "deu"


def test_capitals_alone_change_nothing() -> None:
    polish = "Stocznia zakończyła budowę promu, który od czerwca będzie kursował między miastem a wyspą."
    greek = "Στην άκρη του λιμανιού δύο αδέλφια χτίζουν ακόμη ξύλινες βάρκες."
    for text in (GERMAN, polish, greek):
        assert detect(text.upper()) == detect(text.lower())
        assert detect(text.upper()).confidence > 0.8


def test_every_label_of_the_model_has_a_code() -> None:
    assert len(ISO_639_3) == 176
    assert all(len(code) == 3 and code.isalpha() and code.islower() for code in ISO_639_3.values())
    assert len(set(ISO_639_3.values())) == 176
    # The labels that the model gives for pieces of words of all its scripts are all in the table.
    model = language._model()
    seen = {
        label
        for text in ("hello", "маяк", "灯塔", "نور", "अआ", "ფარი")
        for label in model.predict(text, k=200)[0]
    }
    assert len(seen) > 150
    assert {label.removeprefix("__label__") for label in seen} <= set(ISO_639_3)


@given(st.text(max_size=400))
@settings(max_examples=200)
def test_any_text_gives_a_language_or_none(text: str) -> None:
    detected = detect(text)
    assert detected == detect(text)
    assert 0.0 <= detected.confidence <= 1.0
    assert detected.confidence == round(detected.confidence, 4)
    assert (detected.code == "") == (detected == NO_LANGUAGE)


@pytest.mark.parametrize("piece", ["```\n", "`", "<", "@", "a://", "](", "x"])
def test_time_is_bounded(piece: str) -> None:
    text = piece * (2_000_000 // len(piece))
    start = time.process_time()
    detect(text)
    assert time.process_time() - start < 2


def test_loading_the_model_says_nothing() -> None:
    code = f"from ccrawl.text.language import detect; assert detect({ENGLISH!r}).code == 'eng'"
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, check=True)
    assert result.stdout == b"" and result.stderr == b""


@pytest.mark.parametrize(
    ("code", "iso639_3"),
    [("eng", "eng"), ("en", "eng"), ("DE", "deu"), ("zh", "zho"), ("xx", None), ("", None)],
)
def test_codes_of_two_and_three_letters_are_known(code: str, iso639_3: str | None) -> None:
    assert language.iso639_3(code) == iso639_3
