"""The flat form of a tree against a plain recursive reading of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.tables import markup_bits
from ccrawl.html.content.tags import HIDDEN, LINK, TAG_BIT
from ccrawl.html.content.walk import MOST_BLOCKS, MOST_NODES, Walk, walk


def flat(html: str) -> Walk:
    body = LexborHTMLParser(html).body
    assert body is not None
    page = walk(body)
    assert page is not None
    return page


def words(page: Walk) -> list[str]:
    return [" ".join(text.split()) for text in page.block_texts()]


trees = st.recursive(
    st.sampled_from(["word ", "more words, and some. ", "<br>", "<img src=x>", "<hr>"]),
    lambda inner: st.tuples(
        st.sampled_from(["div", "p", "b", "a", "ul", "li", "section", "span", "table"]),
        st.lists(inner, max_size=4),
    ).map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"),
    max_leaves=25,
)


@given(trees)
def test_parents_depths_and_subtree_ends_are_those_of_the_tree(html: str) -> None:
    page = flat(f"<body>{html}")
    number = {node.mem_id: index for index, node in enumerate(page.nodes())}
    for index, node in enumerate(page.nodes()):
        if index:
            assert node.parent is not None
            assert page.n_parent[index] == number[node.parent.mem_id]
            assert page.n_depth[index] == page.n_depth[page.n_parent[index]] + 1
        inside = [number[child.mem_id] for child in node.traverse(include_text=True, skip_empty=True)]
        if not node.is_text_node:
            assert inside == list(range(index, page.n_end[index]))


@given(trees)
def test_ancestor_flags_are_the_union_along_the_path(html: str) -> None:
    page = flat(f"<body>{html}")
    for index, node in enumerate(page.nodes()):
        expected, here = 0, node
        while here.tag != "body":
            expected |= TAG_BIT.get(here.tag or "", 0)
            assert here.parent is not None
            here = here.parent
        assert int(page.n_tags[index]) == expected


@given(trees)
def test_every_text_is_in_exactly_one_block_in_order(html: str) -> None:
    page = flat(f"<body>{html}")
    assert "".join(page.texts()).split() == page.root.text().split()
    assert list(page.t_block) == sorted(page.t_block)
    assert len(set(page.t_block.tolist())) == len(page.b_first)


def test_inline_elements_join_and_block_elements_part() -> None:
    page = flat("<div>one <b>two</b> <a href=x>three</a><p>four</p>five</div>")
    assert words(page) == ["one two three", "four", "five"]


def test_one_line_break_joins_and_two_part() -> None:
    assert words(flat("<p>one<br>two<br><br>three")) == ["one two", "three"]


def test_scripts_styles_and_form_values_are_no_text() -> None:
    page = flat(
        "<p>seen</p><script>var a</script><style>p{}</style><textarea>typed</textarea><svg><text>x</text></svg>"
    )
    assert words(page) == ["seen"]


def test_links_and_hidden_elements_are_marked_for_all_inside() -> None:
    page = flat(
        '<div style="display: none"><p>a</p></div><div hidden><b>b</b></div><a href=x><i>c</i></a><p>d'
    )
    flags = [int(bits) for bits in page.n_tags[page.t_node]]
    assert [bool(bits & HIDDEN) for bits in flags] == [True, True, False, False]
    assert [bool(bits & LINK) for bits in flags] == [False, False, True, False]


def test_names_come_from_class_id_role_and_itemprop() -> None:
    page = flat('<div class="Sidebar"><p id=x role=navigation itemprop="articleBody">text')
    paragraph = int(page.b_node[0])
    assert int(page.n_markup[paragraph]) == markup_bits("navigation article body")
    assert int(page.n_markup_all[paragraph]) == markup_bits("navigation article body sidebar")


def test_a_page_of_too_many_nodes_is_not_flattened() -> None:
    body = LexborHTMLParser("<p>x" * (MOST_NODES // 2 + 1)).body
    assert body is not None
    assert walk(body) is None


def test_too_many_blocks_are_joined_without_losing_text() -> None:
    rows = MOST_BLOCKS // 2 + 10
    page = flat("<table>" + "<tr><td>a<td>b" * rows + "</table>")
    assert len(page.b_first) == rows
    assert len(page.texts()) == 2 * rows
    loose = flat("<br><br>word" * (MOST_BLOCKS + 5))
    assert len(loose.b_first) <= MOST_BLOCKS


def test_depth_costs_no_recursion() -> None:
    page = flat("<div>" * 3000 + "text")
    assert int(page.n_depth[page.t_node[0]]) == 3001
