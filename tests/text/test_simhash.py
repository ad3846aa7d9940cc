"""The fingerprint against a slow reading of its definition, and the laws it must keep."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrawl.native import library
from ccrawl.text import _ranges
from ccrawl.text.destinations import without_destinations
from ccrawl.text.simhash import distance, simhash

UNSPACED = re.compile(
    r"CJK (UNIFIED|COMPATIBILITY) IDEOGRAPH|(CJK|KANGXI) RADICAL|HIRAGANA |HENTAIGANA |(HALFWIDTH |CIRCLED )?KATAKANA |"
    r"THAI |LAO |KHMER |MYANMAR |TIBETAN "
)


def reference_tokens(text: str) -> list[str]:
    """Tokens one character at a time, from unicodedata."""
    tokens: list[str] = []
    word = ""
    for character in text + " ":
        is_word = unicodedata.category(character)[0] in "LMN"
        alone = is_word and (UNSPACED.match(unicodedata.name(character, "")) or character in "々〇")
        if is_word and not alone:
            word += character
            continue
        if word:
            tokens.append(word.casefold())
            word = ""
        if alone:
            tokens.append(character.casefold())
    return tokens


def reference_simhash(text: str) -> int:
    """The definition read aloud: Python integers and a loop over 64 bits."""
    tokens = reference_tokens(text)
    features = set(tokens)
    if len(tokens) >= 3:
        features = {" ".join(tokens[i : i + 3]) for i in range(len(tokens) - 2)}
    if not features:
        return 0
    hashes = [xxhash.xxh3_64_intdigest(feature.encode(), seed=0) for feature in features]
    fingerprint = 0
    for bit in range(64):
        if 2 * sum(value >> bit & 1 for value in hashes) > len(hashes):
            fingerprint |= 1 << bit
    return fingerprint or 1


# Neither brackets nor `<`: no destinations; characters of Unicode 14.0 and older are what 3.11 knows.
plain = st.text(
    st.one_of(
        st.sampled_from(
            "aB é Äß ИйΣς ٣٤ -_.,\n\u00a0\u200b한국 港口灯 ひらカナー ทะเล ລາວ ខ្មែរ မြန် བོད ⅷ²½ ﬁ 𝔘𝒳 İ\u0345々〇"
        ),
        st.characters(codec="utf-8", categories=["L", "M", "N", "P", "S", "Z"], exclude_characters="<[]()"),
    )
)


@given(plain)
@settings(max_examples=400)
@pytest.mark.skipif(unicodedata.unidata_version != _ranges.UNICODE_VERSION, reason="another Unicode version")
def test_equals_the_reference_on_any_text(text: str) -> None:
    assume_named = all(character not in "\u30fc\uff70\uff9e\uff9f" for character in text)
    # The four sound marks stand alone in the reference by their name, in the definition they join letters.
    if assume_named:
        assert simhash(text) == reference_simhash(text)


def test_xxh3_is_the_one_of_the_package_at_every_length() -> None:
    chance = random.Random(7)
    for length in (*range(1001), 1024, 1025, 4096, 65_537):
        data = chance.randbytes(length)
        assert library.ccrawl_xxh3(data, length) == xxhash.xxh3_64_intdigest(data)


@given(st.binary(max_size=300))
def test_xxh3_is_the_one_of_the_package_on_any_bytes(data: bytes) -> None:
    assert library.ccrawl_xxh3(data, len(data)) == xxhash.xxh3_64_intdigest(data)


def test_every_character_of_a_word_folds_as_python_says() -> None:
    for first, last in _ranges.WORD:
        for character in map(chr, range(first, last + 1)):
            assert simhash(character) == xxhash.xxh3_64_intdigest(character.casefold().encode())


def test_characters_beside_those_of_words_separate() -> None:
    for (_, last), (first, _) in zip(_ranges.WORD, _ranges.WORD[1:], strict=False):
        for character in {chr(last + 1), chr(first - 1)}:
            assert simhash(character) == 0
            assert simhash(f"one{character}two{character}three") == simhash("one two three")


@given(st.lists(st.one_of(st.sampled_from("a \ud800\udfff港é"), st.characters()), max_size=60).map("".join))
def test_surrogates_separate_like_spaces(text: str) -> None:
    assert simhash(text) == simhash(re.sub("[\ud800-\udfff]", " ", text))


@pytest.mark.parametrize("length", [1, 240, 241, 40_000])
@pytest.mark.parametrize("after", ["", " ", ".", "港"])
def test_a_word_of_any_length_is_one_token(length: int, after: str) -> None:
    expected = xxhash.xxh3_64_intdigest(b"a" * length)
    if after == "港":
        expected &= xxhash.xxh3_64_intdigest(after.encode())
    assert simhash("." * length + "a" * length + after) == expected


@pytest.mark.parametrize(
    ("pieces", "separators"),
    [
        (["pier", "Lamp", "Größe", "港", "маяк", "10", "a-b"], [" ", "", ", "]),
        ("abcdefghijklmnopqrstuvwxyz0123456789", [" "]),  # more windows than the text's length lets expect
    ],
)
def test_equals_the_reference_on_a_long_text(pieces: list[str] | str, separators: list[str]) -> None:
    chance = random.Random(5)
    text = "".join(chance.choice(pieces) + chance.choice(separators) for _ in range(30_000))
    assert simhash(text) == reference_simhash(text)


# One feature: its hash is the fingerprint.
@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("cat", "cat"),
        ("CAT!", "cat"),
        ("Straße", "strasse"),
        ("One, TWO three", "one two three"),
        ("**one** _two_ `three`", "one two three"),
        ("one\u00a0two\u2003three", "one two three"),
        ("港口灯", "港 口 灯"),
        ("ทาง", "ท า ง"),
        ("x港y", "x 港 y"),
        ("naïve cafe\u0301 no5", "naïve cafe\u0301 no5"),
        ("cat cat", "cat"),
    ],
)
def test_single_feature_is_its_own_hash(text: str, feature: str) -> None:
    assert simhash(text) == xxhash.xxh3_64_intdigest(feature.encode())


def test_two_tokens_keep_the_bits_that_both_have() -> None:
    both = xxhash.xxh3_64_intdigest(b"two") & xxhash.xxh3_64_intdigest(b"words")
    assert simhash("two words") == both


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "!?. -- ***", "\u200b\ufeff", "![](https://e.example/a.png)", "\ud800"]
)
def test_no_word_is_no_fingerprint(text: str) -> None:
    assert simhash(text) == 0


def test_bits_all_zero_are_stored_as_one() -> None:
    # Of twenty thousand such words, one of four pairs that share no bit.
    assert xxhash.xxh3_64_intdigest(b"w1151") & xxhash.xxh3_64_intdigest(b"w15004") == 0
    assert simhash("w1151 w15004") == 1


def test_threads_get_what_one_alone_gets() -> None:
    chance = random.Random(9)
    texts = [" ".join(chance.choices(["pier", "маяк", "港口", "Straße"], k=2000)) for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(simhash, texts)) == [simhash(text) for text in texts]


def test_too_little_memory_is_a_memory_error() -> None:
    code = """
import resource
from ccrawl.text.simhash import simhash
text = "pier " * 20_000_000
assert simhash("pier")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), -1))
try:
    simhash(text)
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "the native part of ccrawl has no memory for this page\n"


@given(plain, st.integers(2, 5))
def test_a_feature_votes_once(text: str, times: int) -> None:
    sentence = f"{text}. one two three. "
    tokens = len(reference_tokens(sentence))
    if tokens >= 3:
        # From the second time on, repeating adds no window that was not there.
        assert simhash(sentence * 2) == simhash(sentence * (times + 1))


@given(st.lists(st.sampled_from(["pier", "lamp", "harbour", "boat", "tide"]), min_size=3, max_size=40))
def test_separators_and_case_do_not_count(words: list[str]) -> None:
    expected = simhash(" ".join(words))
    assert simhash("\u00a0—\n".join(words).upper()) == expected
    assert simhash("# " + "** ".join(words) + "\n") == expected


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_distance_is_a_metric(a: int, b: int, c: int) -> None:
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


@pytest.mark.parametrize(
    ("markdown", "visible"),
    [
        ("[pier](https://a.example/x) end", "[pier]() end"),
        ("![lamp](<a b.png>) end", "![lamp]() end"),
        ('[pier](https://a.example/x "The pier") end', '[pier]( "The pier") end'),
        ("[pier](/w/Lamp_(light)) end", "[pier]() end"),
        ("[pier](/a(b(c)d)e) end", "[pier]() end"),
        (r"[pier](/a\)b) end", "[pier]() end"),
        ("[![lamp](i.png)](/page) end", "[![lamp]()]() end"),
        ("[pier]: https://a.example/x\nend", "[pier]:\nend"),
        ('[pier]: <x y> "Title"\nend', '[pier]: "Title"\nend'),
        ("see <https://a.example/x> end", "see   end"),
        ('<img src="a.png" alt="lamp"> end', '<img src= alt="lamp"> end'),
        ("<a class=b href=/x>pier</a>", "<a class=b href=>pier</a>"),
    ],
)
def test_destination_is_removed(markdown: str, visible: str) -> None:
    assert without_destinations(markdown) == visible


@pytest.mark.parametrize(
    "markdown",
    [
        "a note [1](see below) here",
        r"a note [1\](see) here",
        "[^1]: Footnote",
        "[note]: some words here",
        "bare https://a.example/x address",
        "a < b src = c",
        "mail <me@a.example>",
        "f(x)[i](",
    ],
)
def test_text_that_is_no_destination_stays(markdown: str) -> None:
    assert without_destinations(markdown) == markdown


def test_mirrors_on_two_hosts_are_equal() -> None:
    page = (
        "# Lamp\n\nThe [old pier](https://HOST/pier/a) by ![boat](https://HOST/i/1.png).\n\n<https://HOST/>\n"
    )
    assert simhash(page.replace("HOST", "one.example")) == simhash(page.replace("HOST", "mirror.two.example"))


@given(st.text("](<>)\\ \n\"'ahref=:x[!"))
def test_destinations_of_any_text_are_removed_without_error(text: str) -> None:
    assert len(without_destinations(text)) <= len(text)


@pytest.mark.parametrize(
    "piece",
    ["](", "](a(b", "[a](x(y(z", "](<", '](a "', "](a (", "<a ", "<a href=", "[a]: ", "\\](", "](\\", "]( "],
)
def test_removing_destinations_is_linear(piece: str) -> None:
    text = piece * 200_000
    start = time.process_time()
    without_destinations(text)
    # A quadratic search of these would take minutes; linear ones take 5 to 50 ms.
    assert time.process_time() - start < 2


def test_ten_megabytes_in_seconds() -> None:
    words = random.Random(1).choices(["pier", "lamp", "маяк", "港口", "10", "boat"], k=1_500_000)
    start = time.process_time()
    assert simhash(" ".join(words)) != 0
    assert time.process_time() - start < 3


def test_scripts_without_spaces_tell_texts_apart() -> None:
    rnd = random.Random(3)
    han = "".join(chr(0x4E00 + rnd.randrange(3000)) + ("。" if i % 23 == 22 else "") for i in range(900))
    near = han[:400] + "港口灯" + han[403:]
    other = "".join(chr(0x4E00 + rnd.randrange(3000)) for _ in range(900))
    thai = "เรือออกจากท่าทุกเช้าในฤดูฝน" * 30
    prints = [simhash(text) for text in (han, near, other, thai)]
    assert len(set(prints)) == 4 and 0 not in prints
    assert distance(prints[0], prints[1]) <= 6
    assert distance(prints[0], prints[2]) >= 16
    assert distance(prints[0], prints[3]) >= 16


def test_what_repeats_does_not_decide() -> None:
    noise = "Ð Ã Ñ Â " * 3000
    one = "".join(f"pier{i} lamp{i * 7} tide{i * 13}. " for i in range(60))
    other = "".join(f"boat{i * 3} rope{i * 5} sail{i * 11}. " for i in range(60))
    assert distance(simhash(one + noise), simhash(other + noise)) >= 12
    assert distance(simhash(one + noise), simhash(one)) <= 12
    assert distance(simhash(one + noise), simhash(one + noise + " x")) <= 8


@pytest.mark.skipif(unicodedata.unidata_version != _ranges.UNICODE_VERSION, reason="another Unicode version")
def test_tables_are_what_the_script_writes() -> None:
    root = Path(__file__).resolve().parents[2]
    sys.path.insert(0, str(root / "scripts"))
    try:
        from make_unicode_ranges import module
    finally:
        sys.path.pop(0)
    assert Path(_ranges.__file__).read_text(encoding="utf-8") == module()


def test_common_sound_marks_join_what_is_no_single_token() -> None:
    # U+30FC is Common by Script property: one token with the Latin letter, its own between Katakana.
    assert simhash("aー") == xxhash.xxh3_64_intdigest("aー".encode())
    assert simhash("メーカ") == simhash("メ ー カ")
