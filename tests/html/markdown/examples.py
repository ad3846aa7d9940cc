"""Every construct once: its HTML, its Markdown, and the rule. The tests hold it, docs/reference/markdown.md
shows it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    section: str
    rule: str
    html: str
    markdown: str


def _examples(section: str, *examples: tuple[str, str, str]) -> list[Example]:
    return [Example(section, *example) for example in examples]


BASE = "https://example.org/guide/page.html"
"""The address of the page in all examples."""

EXAMPLES: list[Example] = [
    *_examples(
        "Blocks",
        (
            "Headings are one line, whatever is inside.",
            "<h2>Tides<br>and <b>times</b></h2>",
            "## Tides and **times**",
        ),
        (
            "Paragraphs are separated by one blank line, and so is any text between blocks.",
            "<p>One.</p>Two.<div>Three.</div>",
            "One.\n\nTwo.\n\nThree.",
        ),
        (
            "A line break is a backslash at the end of a line.",
            "<p>North Street 3<br>Harbour</p>",
            "North Street 3\\\nHarbour",
        ),
        ("Two line breaks end a paragraph.", "One.<br><br>Two.", "One.\n\nTwo."),
        ("Quotes nest.", "<blockquote><p>A</p><blockquote>B</blockquote></blockquote>", "> A\n>\n> > B"),
        ("A rule.", "<p>A</p><hr><p>B</p>", "A\n\n---\n\nB"),
        ("Empty elements leave nothing.", "<p>A</p><p> </p><div><b></b></div><h2></h2><p>B</p>", "A\n\nB"),
    ),
    *_examples(
        "Lists",
        ("Bullets; a list of paragraphs is a loose one.", "<ul><li>A<li>B</ul>", "- A\n- B"),
        ("", "<ul><li><p>A</p><li><p>B</p></ul>", "- A\n\n- B"),
        (
            "Numbers follow `start` and `value`; `reversed` counts down.",
            '<ol start="9"><li>A<li>B</ol>',
            "9. A\n10. B",
        ),
        ("", '<ol><li>A<li value="5">B<li>C</ol>', "1. A\n5. B\n6. C"),
        ("", "<ol reversed><li>A<li>B</ol>", "2. A\n1. B"),
        (
            "Nested lists, also where the page nests them the wrong way.",
            "<ul><li>A<ul><li>B</ul></ul>",
            "- A\n  - B",
        ),
        ("", "<ul><li>A</li><ul><li>B</li></ul></ul>", "- A\n  - B"),
        (
            "Blocks of an item are indented by the width of its marker.",
            '<ol start="99"><li><p>A</p><pre>code</pre></ol>',
            "99. A\n\n    ```\n    code\n    ```",
        ),
        (
            "A list right behind another has another marker, so that they stay two.",
            "<ul><li>A</ul><ul><li>B</ul>",
            "- A\n\n* B",
        ),
        (
            "Check boxes at the start of an item make it a task.",
            '<ul><li><input type="checkbox" checked> A<li><input type="checkbox"> B</ul>',
            "- [x] A\n- [ ] B",
        ),
        (
            "Terms and definitions are paragraphs.",
            "<dl><dt>Ebb</dt><dd>Falling water.</dd></dl>",
            "Ebb\n\nFalling water.",
        ),
    ),
    *_examples(
        "Inline",
        ("Spaces stand outside the markers.", "<p>a<b> b </b>c</p>", "a **b** c"),
        ("Markers side by side.", "<p><em>a</em> <strong>b</strong> <del>c</del></p>", "*a* **b** ~~c~~"),
        ("The same element right behind itself goes on.", "<p><b>a</b><b>b</b></p>", "**ab**"),
        (
            "Where a parser would not take the delimiter for one (punctuation inside, a letter outside; common in Chinese "
            "and Japanese), the element stays HTML.",
            "<p>他说<b>“好”</b>了</p>",
            "他说<strong>“好”</strong>了",
        ),
        (
            "Subscript and superscript stay HTML.",
            "<p>H<sub>2</sub>O, x<sup>10</sup></p>",
            "H<sub>2</sub>O, x<sup>10</sup>",
        ),
        ("Code, with as many backticks as it needs.", "<p><code>a`b</code></p>", "``a`b``"),
        ("", '<p><code><a href="/a">a()</a></code></p>', "[`a()`](https://example.org/a)"),
        ("Readings of ruby stand in parentheses.", "<p><ruby>漢<rp>(<rt>かん<rp>)</ruby></p>", "漢(かん)"),
        ("Quotation marks.", "<p><q>Aye</q>, she said.</p>", '"Aye", she said.'),
        ("Buttons and labels are separate words.", "<label>Name</label><button>Send</button>", "Name Send"),
        (
            "So are elements right behind each other where a small letter or a digit meets a capital, or a small "
            "letter a digit: a page's style sets them apart.",
            '<p><a href="/tides">Tide tables</a><span>For all harbours</span><span>2024</span></p>',
            "[Tide tables](https://example.org/tides) For all harbours 2024",
        ),
        (
            "Abbreviations, marks, insertions and elements of unknown names are their text.",
            '<p><abbr title="t">AB</abbr> <mark>c</mark> <ins>d</ins> <x-e>e</x-e></p>',
            "AB c d e",
        ),
    ),
    *_examples(
        "Links",
        ("Resolved against the page.", '<a href="../map">Map</a>', "[Map](https://example.org/map)"),
        (
            "Titles are kept.",
            '<a href="/m" title=\'The "map"\'>Map</a>',
            '[Map](https://example.org/m "The \\"map\\"")',
        ),
        (
            "What would end a destination is percent-encoded.",
            '<a href="/a b/c)d">A</a>',
            "[A](https://example.org/a%20b/c%29d)",
        ),
        ("Brackets in the text are escaped.", '<a href="/a">[1]</a>', "[\\[1\\]](https://example.org/a)"),
        (
            "Links to nowhere, into the page itself, and of schemes like `javascript:` or `data:` are their text.",
            '<a href="#top">Up</a> <a href="javascript:go()">Go</a> <a>No</a>',
            "Up Go No",
        ),
        ("An empty link is nothing.", '<p>A<a href="/x"></a></p>', "A"),
        (
            "A link around blocks links the first that has text.",
            '<a href="/a"><h3>A</h3><p>B</p></a>',
            "### [A](https://example.org/a)\n\nB",
        ),
    ),
    *_examples(
        "Images",
        (
            "Alternative text and source.",
            '<img src="/b.png" alt="A [boat]">',
            "![A \\[boat\\]](https://example.org/b.png)",
        ),
        (
            "What a script would load comes before the placeholder.",
            '<img src="data:image/gif;base64,R0lG" data-src="/b.png" alt="B">',
            "![B](https://example.org/b.png)",
        ),
        ("", '<img srcset="/s.png 1x, /l.png 2x" alt="S">', "![S](https://example.org/s.png)"),
        (
            "Images in the page's own bytes are their text.",
            '<p>See <img src="data:image/gif;base64,R0lG" alt="the boat"></p>',
            "See the boat",
        ),
        ("Counters of one pixel are nothing.", '<p>A<img src="/c.gif" width="1" height="1"></p>', "A"),
        (
            "Captions are paragraphs.",
            '<figure><img src="/b.png" alt="B"><figcaption>A boat.</figcaption></figure>',
            "![B](https://example.org/b.png)\n\nA boat.",
        ),
        (
            "`<noscript>` is nothing but its images, unless they are there already.",
            '<div><noscript>Turn it on. <img src="/n.png" alt="N"></noscript></div>',
            "![N](https://example.org/n.png)",
        ),
    ),
    *_examples(
        "Code blocks",
        (
            "The language comes from the class or a data attribute.",
            '<pre><code class="language-python">a = 1\n  b</code></pre>',
            "```python\na = 1\n  b\n```",
        ),
        ("", '<div class="highlight-source-rust"><pre>let a;</pre></div>', "```rust\nlet a;\n```"),
        (
            "The fence is longer than any backticks inside.",
            "<pre>```\na\n```</pre>",
            "````\n```\na\n```\n````",
        ),
        (
            "`<br>` and elements of a line of their own end a line.",
            "<pre>a<br>b<div>c</div>d</pre>",
            "```\na\nb\nc\nd\n```",
        ),
        (
            "Line numbers in a gutter are left out.",
            '<pre><span class="lineno">1</span>a\n<span class="lineno">2</span>b</pre>',
            "```\na\nb\n```",
        ),
        (
            "",
            '<pre><span class="line">a</span><span class="line">b</span></pre>',
            "```\na\nb\n```",
        ),
        (
            "",
            '<table><tr><td class="gutter"><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>',
            "```\na\nb\n```",
        ),
    ),
    *_examples(
        "Tables",
        (
            "A first row of header cells is the head; alignment is kept.",
            '<table><tr><th>Day<th align="right">Height<tr><td>Mon<td align="right">3</table>',
            "| Day | Height |\n| --- | ---: |\n| Mon | 3 |",
        ),
        (
            "A table without a head has an empty one.",
            "<table><tr><td>a<td>b<tr><td>c<td>d</table>",
            "| | |\n| --- | --- |\n| a | b |\n| c | d |",
        ),
        (
            "A cell that spans several stands in the first of them.",
            '<table><tr><td colspan="2">a<tr><td rowspan="2">b<td>c<tr><td>d</table>',
            "| | |\n| --- | --- |\n| a | |\n| b | c |\n| | d |",
        ),
        (
            "Bars are escaped; what would be lines is separated by `<br>`.",
            "<table><tr><th>a<th>b<tr><td>c|d<td><p>e</p><p>f</p></table>",
            "| a | b |\n| --- | --- |\n| c\\|d | e<br>f |",
        ),
        (
            "Layout tables are unfolded: those of one row or column, with headings, code, quotes or tables inside, or declared "
            "as presentation.",
            "<table><tr><td><h2>A</h2>B<td>C</table>",
            "## A\n\nB\n\nC",
        ),
    ),
    *_examples(
        "Formulas",
        (
            "TeX between dollar signs, once.",
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></semantics></math>",
            "$x^2$",
        ),
        (
            "MathML without TeX is written as TeX.",
            "<math><mfrac><mi>p</mi><mi>q</mi></mfrac></math>",
            "$\\frac{p}{q}$",
        ),
        ("", '<div><script type="math/tex; mode=display">E=mc^2</script></div>', "$$E=mc^2$$"),
        (
            "",
            '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle a_{1}}" src="/m.svg">',
            "$a_{1}$",
        ),
        (
            "Delimiters of MathJax become dollar signs.",
            "<p>so \\(a_1*b_1\\) and \\[c\\]</p>",
            "so $a_1*b_1$ and $$c$$",
        ),
    ),
    *_examples(
        "Footnotes",
        (
            "A reference to a note of the page, and the note.",
            '<p>Deep<sup><a href="#fn1">1</a></sup> water.</p><ol class="footnotes"><li id="fn1">Twelve metres. <a href="#r1">↩</a></li></ol>',
            "Deep[^1] water.\n\n[^1]: Twelve metres.",
        ),
    ),
    *_examples(
        "Escapes",
        ("Literal text stays literal.", "<p># no *heading*</p>", "\\# no \\*heading\\*"),
        ("", "<p>1. no list</p><p>- none</p>", "1\\. no list\n\n\\- none"),
        ("", "<p>&lt;b&gt; &amp;amp; [x](y)</p>", "\\<b> \\&amp; [x\\](y)"),
        (
            "And what needs no backslash has none.",
            "<p>snake_case, 2 * 3 = 6, a < b, $5, [1], C#, 50% & more!</p>",
            "snake_case, 2 * 3 = 6, a < b, $5, [1], C#, 50% & more!",
        ),
    ),
    *_examples(
        "Characters",
        ("White space of any kind is one space.", "<p>a\n  b&nbsp;&nbsp;c\u2003d</p>", "a b c d"),
        (
            "Soft hyphens, zero width spaces and byte order marks go; joiners stay.",
            "<p>soft&shy;hyphen zero&#8203;width a&zwj;b</p>",
            "softhyphen zerowidth a\u200db",
        ),
        ("Control characters and noncharacters go.", "<p>a\x1bb\uffffc</p>", "abc"),
    ),
    *_examples(
        "What is not shown",
        (
            "Scripts, styles, comments, templates; elements with `hidden`, `display: none` or `visibility: hidden` in their style; "
            "embedded content with its fallback, drawings, and what is chosen or typed in forms.",
            "<p>a</p><script>b</script><!-- c --><template>d</template><p hidden>e</p><p style='display:none'>f</p>"
            "<iframe>g</iframe><video>h</video><object>i</object><svg><title>j</title></svg><select><option>k</select><textarea>l</textarea>",
            "a",
        ),
        ("Closed details are kept.", "<details><summary>More</summary>Text.</details>", "More\n\nText."),
    ),
]
