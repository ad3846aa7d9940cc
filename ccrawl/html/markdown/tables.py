"""Tables: as GFM tables where they hold data, unfolded into the flow where they only lay out a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from ccrawl.html.markdown.context import PARAGRAPH, Context
from ccrawl.html.markdown.escape import PIPE
from ccrawl.html.markdown.tags import tag_number
from ccrawl.html.markdown.writer import Close, Writer, end_block

_TR, _TD, _TH, _THEAD, _CAPTION = map(tag_number, ("tr", "td", "th", "thead", "caption"))
_SECTIONS = frozenset(map(tag_number, ("thead", "tbody", "tfoot")))
_LAYOUT = frozenset(map(tag_number, ("table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr")))
"""A table with any of these in a cell can't be written as a GFM table without losing them."""

_ALIGN = re.compile(r"text-align\s*:\s*(left|center|right)", re.I)
_PADDED = 32
"""Rows are filled up with empty cells in tables up to this many columns; GFM takes a shorter row as it is."""

_DELIMITERS = {"left": ":---", "center": ":---:", "right": "---:", "": "---"}


class Cell:
    """A cell: which texts are in it (from `start` up to `end`), and what it covers."""

    __slots__ = ("align", "columns", "end", "rows", "start")

    def __init__(self, start: int, columns: int, rows: int, align: str) -> None:
        self.start = start
        self.end = start
        self.columns = columns
        self.rows = rows
        self.align = align


class Table:
    """A table being written. `rows` fills as the walk comes by; `header` says that the first row is one.

    `context` is what the cells stand in, one after another: no other context opens on their one line.
    """

    __slots__ = ("context", "header", "rows", "widest")

    def __init__(self, header: bool, widest: int, prefix: str) -> None:
        self.header = header
        self.widest = widest
        self.context = Context(None, "", prefix, PARAGRAPH).one_line("<br>")
        self.rows: list[list[Cell]] = []


def table(writer: Writer, node: LexborNode) -> Close:
    """`<table>`."""
    writer.brk = PARAGRAPH
    shape = _shape(node, writer.context.prefix) if writer.context.flow else None
    if shape is not None:
        writer.settle()
    writer.saved.append(writer.table)
    writer.table = shape
    return end_table


def _rows(node: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """The table's own rows and captions, and whether each is in its head."""
    child = node.first_child
    while child is not None:
        tag = child.tag_id
        if tag in (_TR, _CAPTION):
            yield child, False
        elif tag in _SECTIONS:
            row = child.first_child
            while row is not None:
                if row.tag_id == _TR:
                    yield row, tag == _THEAD
                row = row.next
        child = child.next


def _shape(node: LexborNode, prefix: str) -> Table | None:
    """What is known of a data table before its cells are read; None for a layout table.

    Data: two rows and two columns at least, nothing in the cells that needs lines of its own, and not
    declared as presentation.
    """
    if (node.attrs.get("role") or "") in ("presentation", "none"):
        return None
    elements = node.traverse()
    next(elements)  # the table itself
    if any(element.tag_id in _LAYOUT for element in elements):
        return None
    widest = count = 0
    header = False
    for row, in_head in _rows(node):
        if row.tag_id == _CAPTION:
            if count:
                return None  # it would have to be written between two rows
            continue
        cells = [child.tag_id for child in row.iter() if child.tag_id in (_TD, _TH)]
        if count == 0:
            header = bool(cells) and (in_head or all(tag == _TH for tag in cells))
        widest = max(widest, len(cells))
        count += bool(cells)
    return Table(header, widest, prefix) if count > 1 and widest > 1 else None


def row(writer: Writer, node: LexborNode) -> Close | None:
    """`<tr>`."""
    if writer.table is not None:
        writer.table.rows.append([])
        return None
    writer.brk = PARAGRAPH
    return end_block


def cell(writer: Writer, node: LexborNode) -> Close:
    """`<td>`, `<th>`."""
    current = writer.table
    if current is None or not current.rows:
        writer.brk = PARAGRAPH
        return end_block
    columns, rows, align = 1, 1, ""
    if attributes := node.attributes:
        columns = min(_span(attributes.get("colspan")), current.widest)
        rows = _span(attributes.get("rowspan"))
        style = _ALIGN.search(attributes.get("style") or "")
        align = (style[1] if style else attributes.get("align") or "").lower()
    current.rows[-1].append(Cell(len(writer.texts), columns, rows, align))
    writer.saved.append(writer.context)
    writer.context = current.context
    writer.context.lead = ""
    writer.brk = PARAGRAPH
    return end_cell


def _span(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 8 and int(value) > 0 else 1


def end_cell(writer: Writer) -> None:
    writer.settle()
    assert writer.table is not None
    writer.table.rows[-1][-1].end = len(writer.texts)
    writer.context = writer.saved.pop()
    writer.brk = PARAGRAPH


def end_table(writer: Writer) -> None:
    """Put bars between the cells, now that all of them are known."""
    current = writer.table
    writer.table = writer.saved.pop()
    writer.brk = PARAGRAPH
    if current is None:
        return
    rows = [cells for cells in current.rows if cells]
    first = next((cell for cells in rows for cell in cells if cell.end > cell.start), None)
    if first is None:
        return
    _escape_pipes(writer, first.start)
    grid = _grid(rows, current.widest)
    width = max(len(line) for line in grid)
    prefix = writer.context.prefix
    pending = writer.break_here()
    if not current.header:
        pending += "| " * width + f"|\n{prefix}{_delimiter_row(rows, width)}"
    for number, line in enumerate(grid):
        if number or not current.header:
            pending += f"\n{prefix}"
        for slot in line + [None] * (width - len(line) if width <= _PADDED else 0):
            pending += "| "
            if slot is not None and slot.end > slot.start:
                writer.marks[slot.start] = pending + writer.marks[slot.start]
                pending = " "
        pending += "|"
        if number == 0 and current.header:
            pending += f"\n{prefix}{_delimiter_row(rows, width)}"
    writer.marks.append(pending)
    writer.texts.append("")


def _escape_pipes(writer: Writer, start: int) -> None:
    """A bar in a cell is escaped, in code too (GFM, section 4.10)."""
    for index in range(start, len(writer.texts)):
        if "|" in writer.texts[index]:
            writer.texts[index] = writer.texts[index].replace("|", PIPE)
        if "|" in writer.marks[index]:
            writer.marks[index] = writer.marks[index].replace("|", "\\|")


def _grid(rows: list[list[Cell]], widest: int) -> list[list[Cell | None]]:
    """The cells in their columns: one that spans several stands in the first of them, the others are empty.

    Bounded: a table is at most twice as wide as its longest row, and no more slots are added for spans than
    eight times the number of cells; spans beyond that count as one.
    """
    room = 1000 + 8 * sum(map(len, rows))
    limit = 2 * widest
    grid: list[list[Cell | None]] = []
    covered: dict[int, int] = {}  # column -> how many rows, from this one on, a cell above it reaches into
    for cells in rows:
        line: list[Cell | None] = []
        below: dict[int, int] = {}
        for cell in cells:
            while len(line) in covered and room > 0:
                line.append(None)
                room -= 1
            for offset in range(min(cell.columns, max(1, limit - len(line))) if room > 0 else 1):
                if cell.rows > 1 and len(line) < limit:
                    below[len(line)] = cell.rows - 1
                line.append(None if offset else cell)
                room -= 1 if offset else 0
        grid.append(line)
        if room > 0:
            below.update((column, left - 1) for column, left in covered.items() if left > 1)
        covered = below
    return grid


def _delimiter_row(rows: list[list[Cell]], width: int) -> str:
    aligns = [cell.align for cell in rows[-1] for _ in range(cell.columns)][:width]
    aligns += [""] * (width - len(aligns))
    return "| " + " | ".join(_DELIMITERS.get(align, "---") for align in aligns) + " |"
