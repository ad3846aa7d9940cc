"""On plain constructs the Markdown equals markdownify's, normalised; where it deliberately does not, the
reason is here.

Normalised: markdownify's underlining and blank lines at the ends are configured away or stripped, runs of
blank lines are one, spaces at the ends of lines go, and the padding of tables is one space.
"""

from __future__ import annotations

import re

import pytest
from markdownify import markdownify
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.markdown import render

SAME = [
    "<h1>A</h1><p>B</p>",
    "<h2>A</h2><h3>B</h3>",
    "<p>One.</p><p>Two.</p>",
    "<p>a <b>b</b> c</p>",
    "<p>a <strong>b</strong>, <em>c</em></p>",
    "<p><i>a</i> <del>b</del></p>",
    "<p><code>a</code></p>",
    '<p><a href="https://x.example/a">b</a></p>',
    '<p><a href="https://x.example/a" title="t">b</a></p>',
    '<p><img src="https://x.example/a.png" alt="b"></p>',
    "<ul><li>a</li><li>b</li></ul>",
    "<ol><li>a</li><li>b</li></ol>",
    '<ol start="4"><li>a</li><li>b</li></ol>',
    "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>",
    "<ol><li>a<ul><li>b</li></ul></li></ol>",
    "<blockquote><p>a</p><p>b</p></blockquote>",
    "<blockquote><blockquote>a</blockquote></blockquote>",
    "<pre>a\n  b</pre>",
    '<pre><code class="language-sh">ls</code></pre>',
    "<p>a</p><hr><p>b</p>",
    "<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>",
    "<div>a</div><div>b</div>",
    "<p>a<br>b</p>",
]

# html -> (ours, why markdownify's is not what we want)
DIFFERENT = {
    "<p>a\n   b</p>": ("a b", "it keeps the line breaks of the source"),
    "<p>a_b * c</p>": ("a_b * c", "it escapes what no parser reads as markup"),
    "<p>1. a</p>": ("1\\. a", "it leaves a list behind"),
    "<p># a</p>": ("\\# a", "it leaves a heading behind"),
    "<p>&lt;b&gt;</p>": ("\\<b>", "it leaves HTML behind"),
    "<p>a&nbsp;b</p>": ("a b", "it keeps no-break spaces, so that equal texts differ"),
    '<p><a href="javascript:x()">a</a></p>': ("a", "it keeps script URLs"),
    '<p><a href="https://x.example/a b">c</a></p>': ("[c](https://x.example/a%20b)", "its destination ends at the space"),
    "<p>a<sub>b</sub></p>": ("a<sub>b</sub>", "it glues what is below the line to the word"),
    '<p><img src="data:image/gif;base64,R0lG" alt="a"></p>': ("a", "it keeps the bytes of images"),
    "<p hidden>a</p>": ("", "it keeps what is not shown"),
    "<template>a</template>": ("", "it keeps templates"),
    "<p>x<b>“a”</b>b</p>": ("x<strong>“a”</strong>b", "its delimiters are not read as such"),
    "<p><b>a</b><b>b</b></p>": ("**ab**", "its delimiters run together"),
    "<ul><li>a</li></ul><ul><li>b</li></ul>": ("- a\n\n* b", "its two lists are read as one"),
    "<ul><li>a</li><ul><li>b</li></ul></ul>": ("- a\n  - b", "its inner list is not inside the item"),
    '<a href="https://x.example/"><h2>a</h2></a>': ("## [a](https://x.example/)", "its link does not come out as one"),
    '<table><tr><td rowspan="2">a</td><td>b</td></tr><tr><td>c</td></tr></table>': (
        "| | |\n| --- | --- |\n| a | b |\n| | c |",
        "its rows have different numbers of cells",
    ),
}  # fmt: skip


def ours(html: str) -> str:
    body = LexborHTMLParser("<body>" + html).body
    assert body is not None
    return render(body)


def theirs(html: str) -> str:
    text = markdownify(
        html, heading_style="atx", bullets="-", newline_style="backslash", code_language_callback=_language
    )
    lines = [re.sub(r" +\|", " |", line.rstrip()) for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _language(element: object) -> str:
    code = element.find("code")  # type: ignore[attr-defined]
    classes = code.get("class", []) if code else []
    return next((name[9:] for name in classes if name.startswith("language-")), "")


@pytest.mark.parametrize("html", SAME)
def test_plain_constructs_are_written_as_markdownify_writes_them(html: str) -> None:
    assert ours(html) == theirs(html)


@pytest.mark.parametrize("html", DIFFERENT)
def test_a_deliberate_difference_is_one(html: str) -> None:
    markdown, reason = DIFFERENT[html]
    assert ours(html) == markdown, reason
    assert theirs(html) != markdown, "no longer a difference"
