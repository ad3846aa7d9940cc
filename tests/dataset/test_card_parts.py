"""Laws of the card's parts: escaping, counting, pictures, templates."""

from __future__ import annotations

import json
import statistics
import xml.etree.ElementTree as ElementTree
from collections import Counter
from html import unescape

import pyarrow as pa
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ccrawl.dataset.card.escape import code, inline, json_in_fence, one_line, python_string, yaml_string
from ccrawl.dataset.card.parts import table
from ccrawl.dataset.card.pictures import Bar, across, upright
from ccrawl.dataset.card.tally import ColumnTally, class_sizes, spread
from ccrawl.dataset.card.template import fill

FUZZ = settings(deadline=None, max_examples=60)  # the machine may be busy
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
# Text that is likely to be markup, and any text at all.
TRICKY = st.text(alphabet="ab1 \\`*_{}[]()<>#+-.!|~&$:@^=\"'/?\n\t;", max_size=30) | st.text(max_size=30)


@FUZZ
@given(TRICKY)
@example("1. one")
@example("12) two")
@example("- item")
@example("a#")
@example("***")
@example("&amp; &lt;b>")
@example("http://x.test www.x.test a@x.test")
def test_inline_text_shows_as_it_is_and_is_no_markup(text: str) -> None:
    shown = one_line(text)
    if shown:
        assert unescape(MARKDOWN.render(inline(text))) == f"<p>{shown}</p>\n"
        assert unescape(MARKDOWN.render(f"# {inline(text)}")) == f"<h1>{shown}</h1>\n"


@FUZZ
@given(TRICKY)
@example("a|b\\|c")
@example("```|")
@example("`")
def test_code_shows_as_it_is_also_in_a_table(text: str) -> None:
    shown = one_line(text)
    if not shown:
        assert code(text) == "–"
        return
    assert unescape(MARKDOWN.render(f"x {code(text)} y")) == f"<p>x <code>{shown}</code> y</p>\n"
    cell = MARKDOWN.render(table(["a", "b"], [(code(text, in_table=True), inline(text))]))
    assert cell.count("<td") == 2
    if "\\|" not in shown:  # in a table no code span can hold that
        assert unescape(cell).partition("<td>")[2].startswith(f"<code>{shown}</code></td>")


@FUZZ
@given(TRICKY)
@example("no")
@example("1.0")
@example("null")
@example("a: b #c")
@example("\u2028\x85")
def test_yaml_gives_the_string_back(text: str) -> None:
    printable = "".join(character for character in text if character.isprintable())
    assert yaml.safe_load(f"key: {yaml_string(text)}\n") == {"key": printable}
    assert yaml.safe_load(f"- {yaml_string(text)}\n") == [printable]


@FUZZ
@given(st.text())
def test_python_gives_the_string_back(text: str) -> None:
    assert eval(python_string(text)) == text
    assert len(python_string(text).splitlines()) == 1


@FUZZ
@given(st.dictionaries(st.text(max_size=5), st.text(max_size=40) | st.integers(), max_size=4))
@example({"a": "\n```\n<!-- x -->\U000e0001\x7f"})
def test_json_in_a_fence_is_whole_and_can_not_end_it(values: dict[str, object]) -> None:
    text = json_in_fence(values)
    assert json.loads(text) == values
    assert "<" not in text
    assert not any(line.lstrip().startswith("```") for line in text.splitlines())


@FUZZ
@given(st.text(max_size=50), st.integers(1, 20))
def test_shortened_text_is_never_longer_than_asked(text: str, limit: int) -> None:
    assert len(one_line(text, limit)) <= limit


@FUZZ
@given(st.lists(st.lists(st.integers(0, 300), max_size=20), max_size=6))
def test_tallies_over_batches_count_as_one(batches: list[list[int]]) -> None:
    tally = ColumnTally("length")
    for batch in batches:
        tally.add(pa.array(batch, pa.int64()))
    values = [value for batch in batches for value in batch]
    counted = Counter(values)
    assert tally.values_in_order() == sorted(counted.items())
    assert list(tally.most_frequent()) == sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    assert len(tally) == len(counted)
    found = spread(tally.values_in_order())
    if not values:
        assert found is None
        return
    assert found is not None
    assert (found.least, found.greatest) == (min(values), max(values))
    assert found.median == statistics.median_low(values)
    assert found.mean == pytest.approx(statistics.fmean(values))
    # A quantile: so many values are not above it, and fewer are below it.
    for share, quantile in ((0.1, found.tenth), (0.9, found.ninetieth)):
        assert sum(value <= quantile for value in values) >= share * len(values) - 1e-9
        assert sum(value < quantile for value in values) <= share * len(values)
    classes = class_sizes(tally.values_in_order())
    assert sum(number for _, number in classes) == len(values)
    for low, number in classes:
        assert number == sum(low <= value < max(1, low * 2) for value in values)


def test_a_tally_reads_dictionary_columns_too() -> None:
    tally = ColumnTally("host")
    tally.add(pa.array(["a", "b", "a"]).dictionary_encode())
    tally.add(pa.array(["b", "b"]))
    assert tally.most_frequent() == (("b", 3), ("a", 2))


BARS = st.lists(st.builds(Bar, label=st.text(max_size=40), value=st.integers(0, 10**13)), max_size=15)


@FUZZ
@given(BARS, st.text(max_size=20))
def test_pictures_are_well_formed_whatever_the_labels(bars: list[Bar], axis: str) -> None:
    for svg in (across("Title", bars), upright("Title", bars, one_line(axis))):
        root = ElementTree.fromstring(svg)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        drawn = [node for node in root.iter() if node.attrib.get("class") in ("bar", "rest")]
        assert len(drawn) == len(bars)
        for node, bar in zip(drawn, bars, strict=True):
            x, y = float(node.attrib["x"]), float(node.attrib["y"])
            assert x >= 0
            assert x + float(node.attrib["width"]) <= width
            assert y >= 0
            assert y + float(node.attrib["height"]) <= height
            assert (float(node.attrib["width"]) * float(node.attrib["height"]) > 0) == (bar.value > 0)


def test_bars_are_drawn_to_scale() -> None:
    root = ElementTree.fromstring(across("T", [Bar("a", 400), Bar("b", 100)]))
    a, b = (float(n.attrib["width"]) for n in root.iter() if n.attrib.get("class") == "bar")
    assert a / b == pytest.approx(4, abs=0.01)


def test_a_section_that_looks_like_a_place_is_not_filled_again() -> None:
    sections = {"front_matter": "---\n---\n", "a": "{{ b }}", "b": "B"}
    assert fill("{{ front_matter }}\n{{ a }}\n", sections, {}) == "---\n---\n\n{{ b }}\n"


def test_a_section_without_text_takes_no_line() -> None:
    sections = {"front_matter": "---\n---\n", "a": ""}
    assert fill("{{ front_matter }}\nx\n{{ a }}\ny\n", sections, {}) == "---\n---\n\nx\ny\n"
