/* Tables: as GFM tables where they hold data, unfolded into the flow where they only lay out a page. */
#include "render.h"

#include <string.h>

enum { PADDED = 32 }; /* rows are filled up to so many columns; GFM takes a shorter row as it is */
enum { SPAN_DIGITS = 7 };

static bool is_section(int element) { return element == E_THEAD || element == E_TBODY || element == E_TFOOT; }

/* A table with any of these in a cell can't be written as a GFM table without losing them. */
static bool needs_lines(int element) {
    return element == E_TABLE || element == E_PRE || element == E_BLOCKQUOTE ||
           (element >= E_H1 && element <= E_H6) || element == E_HR;
}

/* The table's next row or caption after `row` (NULL: the first one), those of its sections among them. */
static const Node *next_row(const Writer *writer, const Node *table, const Node *row) {
    const Node *node = row == NULL ? table->first_child : row->next;
    const Node *holder = row == NULL ? table : row->parent;
    while (true) {
        if (node == NULL) {
            if (holder == table)
                return NULL;
            node = holder->next;
            holder = table;
            continue;
        }
        int element = element_of(writer, node);
        if (element == E_TR || (element == E_CAPTION && holder == table))
            return node;
        if (holder == table && is_section(element)) {
            holder = node;
            node = node->first_child;
            continue;
        }
        node = node->next;
    }
}

/* Counts the cells of a row, and those of a header. */
static int64_t count_cells(const Writer *writer, const Node *row, int64_t *headers) {
    int64_t cells = 0;
    *headers = 0;
    for (const Node *child = row->first_child; child != NULL; child = child->next) {
        int element = element_of(writer, child);
        cells += element == E_TD || element == E_TH;
        *headers += element == E_TH;
    }
    return cells;
}

/* What is known of a data table before its cells are read; NULL for a layout table.
 *
 * Data: two rows and two columns at least, nothing in the cells that needs lines of its own, and not declared as
 * presentation. */
static Table *shape_of(Writer *writer, const Node *node) {
    String role = attribute_of(writer, node, A_ROLE);
    if (equal(role, LITERAL("presentation")) || equal(role, LITERAL("none")))
        return NULL;
    for (const Node *inner = following(node, node); inner != NULL; inner = following(inner, node))
        if (needs_lines(element_of(writer, inner)))
            return NULL;
    int64_t widest = 0, count = 0;
    bool header = false;
    for (const Node *row = next_row(writer, node, NULL); row != NULL; row = next_row(writer, node, row)) {
        if (element_of(writer, row) == E_CAPTION) {
            if (count > 0)
                return NULL; /* it would have to be written between two rows */
            continue;
        }
        int64_t headers, cells = count_cells(writer, row, &headers);
        if (count == 0)
            header = cells > 0 && (element_of(writer, row->parent) == E_THEAD || headers == cells);
        widest = cells > widest ? cells : widest;
        count += cells > 0;
    }
    if (count < 2 || widest < 2)
        return NULL;
    Table *table = take(writer, sizeof *table);
    *table = (Table){.header = header, .widest = widest};
    table->context = new_context(writer, NULL, LITERAL(""), writer->context->prefix, PARAGRAPH);
    one_line(table->context, LITERAL("<br>"));
    return table;
}

/* The cells in their columns, NULL for an empty slot. */
typedef struct {
    const Cell **slots;
    int64_t count, room;
} Line;

static void add_slot(Writer *writer, Line *line, const Cell *cell) {
    line->slots = grown(writer, line->slots, line->count, &line->room, sizeof *line->slots);
    line->slots[line->count++] = cell;
}

/* How many rows, from the next one on, the cells above reach into each column; and which columns those are. */
typedef struct {
    int64_t *rows;
    int64_t *columns;
    int64_t count;
} Cover;

static Cover new_cover(Writer *writer, int64_t columns) {
    size_t size = (size_t)columns * sizeof(int64_t);
    Cover cover = {take(writer, size), take(writer, size), 0};
    memset(cover.rows, 0, size);
    return cover;
}

static void set_cover(Cover *cover, int64_t column, int64_t rows) {
    if (cover->rows[column] == 0)
        cover->columns[cover->count++] = column;
    cover->rows[column] = rows;
}

static void clear_cover(Cover *cover) {
    for (int64_t i = 0; i < cover->count; i++)
        cover->rows[cover->columns[i]] = 0;
    cover->count = 0;
}

/* Puts a row's cells in their columns, and in `below` what they cover. */
static Line line_of(Writer *writer, const Row *row, int64_t limit, const Cover *cover, Cover *below,
                    int64_t *room) {
    Line line = {NULL, 0, 0};
    for (int64_t i = 0; i < row->count; i++) {
        const Cell *cell = row->cells + i;
        while (line.count < limit && cover->rows[line.count] > 0 && *room > 0) {
            add_slot(writer, &line, NULL);
            --*room;
        }
        int64_t left = limit - line.count > 1 ? limit - line.count : 1;
        int64_t columns = *room <= 0 ? 1 : cell->columns < left ? cell->columns : left;
        for (int64_t offset = 0; offset < columns; offset++) {
            if (cell->rows > 1 && line.count < limit)
                set_cover(below, line.count, cell->rows - 1);
            add_slot(writer, &line, offset > 0 ? NULL : cell);
            *room -= offset > 0;
        }
    }
    return line;
}

/* The cells in their columns: one that spans several stands in the first of them, the others are empty.
 *
 * Bounded: a table is at most twice as wide as its longest row, and no more slots are added for spans than eight
 * times the number of cells; spans beyond that count as one. */
static Line *grid_of(Writer *writer, const Table *table, int64_t *lines_out) {
    int64_t room = 1000, limit = 2 * table->widest, lines = 0;
    for (int64_t i = 0; i < table->count; i++)
        room += 8 * table->rows[i].count;
    Line *grid = take(writer, (size_t)table->count * sizeof *grid);
    Cover cover = new_cover(writer, limit), below = new_cover(writer, limit);
    for (int64_t i = 0; i < table->count; i++) {
        if (table->rows[i].count == 0)
            continue;
        grid[lines++] = line_of(writer, table->rows + i, limit, &cover, &below, &room);
        for (int64_t j = 0; j < cover.count && room > 0; j++)
            if (cover.rows[cover.columns[j]] > 1)
                set_cover(&below, cover.columns[j], cover.rows[cover.columns[j]] - 1);
        clear_cover(&cover);
        Cover former = cover;
        cover = below;
        below = former;
    }
    *lines_out = lines;
    return grid;
}

/* The row under the header, with the alignments of the last row. */
static String delimiter_row(Writer *writer, const Table *table, int64_t width) {
    const Row *last = NULL;
    for (int64_t i = 0; i < table->count; i++)
        last = table->rows[i].count > 0 ? table->rows + i : last;
    Builder row = {.writer = writer};
    int64_t column = 0;
    for (int64_t i = 0; i <= last->count; i++) {
        int64_t columns = i < last->count ? last->cells[i].columns : width - column;
        uint8_t align = i < last->count ? last->cells[i].align : 0;
        for (int64_t j = 0; j < columns && column < width; j++, column++) {
            add(&row, LITERAL("| "));
            add(&row, align == 'l'   ? LITERAL(":---")
                      : align == 'c' ? LITERAL(":---:")
                      : align == 'r' ? LITERAL("---:")
                                     : LITERAL("---"));
            add_byte(&row, ' ');
        }
    }
    add_byte(&row, '|');
    return built(&row);
}

/* A bar in a cell is escaped, in code too (GFM, section 4.10). */
static void escape_bars(Writer *writer, int64_t start) {
    static const uint8_t literal[] = {PIPE_BYTE};
    for (int64_t i = start; i < writer->count; i++) {
        writer->texts[i] = replaced(writer, writer->texts[i], '|', (String){literal, 1});
        writer->marks[i] = replaced(writer, writer->marks[i], '|', LITERAL("\\|"));
    }
}

/* The index of the first text in a cell, -1 when all are empty. */
static int64_t first_text(const Table *table) {
    for (int64_t i = 0; i < table->count; i++)
        for (int64_t j = 0; j < table->rows[i].count; j++)
            if (table->rows[i].cells[j].end > table->rows[i].cells[j].start)
                return table->rows[i].cells[j].start;
    return -1;
}

/* Put bars between the cells of a line; `pending` is what stands before the next text. */
static void put_line(Writer *writer, const Line *line, int64_t width, Builder *pending) {
    int64_t slots = width <= PADDED && width > line->count ? width : line->count;
    for (int64_t i = 0; i < slots; i++) {
        const Cell *cell = i < line->count ? line->slots[i] : NULL;
        add(pending, LITERAL("| "));
        if (cell != NULL && cell->end > cell->start) {
            writer->marks[cell->start] = JOIN(writer, built(pending), writer->marks[cell->start]);
            *pending = (Builder){.writer = writer};
            add_byte(pending, ' ');
        }
    }
    add_byte(pending, '|');
}

static void write_bars(Writer *writer, const Table *table) {
    int64_t lines, width = 0;
    Line *grid = grid_of(writer, table, &lines);
    for (int64_t i = 0; i < lines; i++)
        width = grid[i].count > width ? grid[i].count : width;
    String prefix = writer->context->prefix, delimiters = delimiter_row(writer, table, width);
    Builder pending = {.writer = writer};
    add(&pending, break_here(writer));
    if (!table->header) {
        for (int64_t i = 0; i < width; i++)
            add(&pending, LITERAL("| "));
        add(&pending, LITERAL("|\n"));
        add(&pending, prefix);
        add(&pending, delimiters);
    }
    for (int64_t i = 0; i < lines; i++) {
        if (i > 0 || !table->header) {
            add_byte(&pending, '\n');
            add(&pending, prefix);
        }
        put_line(writer, grid + i, width, &pending);
        if (i == 0 && table->header) {
            add_byte(&pending, '\n');
            add(&pending, prefix);
            add(&pending, delimiters);
        }
    }
    append(writer, built(&pending), LITERAL(""));
}

/* Put bars between the cells, now that all of them are known. */
static void end_table(Writer *writer) {
    const Table *table = writer->table;
    writer->table = restore(writer).table;
    writer->brk = PARAGRAPH;
    int64_t first = table == NULL ? -1 : first_text(table);
    if (first < 0)
        return;
    settle_code(writer);
    escape_bars(writer, first);
    write_bars(writer, table);
}

/* `<table>`. */
Close open_table(Writer *writer, Node *node) {
    writer->brk = PARAGRAPH;
    Table *table = writer->context->flow ? shape_of(writer, node) : NULL;
    if (table != NULL)
        settle(writer);
    save(writer, (Saved){.table = writer->table});
    writer->table = table;
    return end_table;
}

/* `<tr>`. */
Close open_row(Writer *writer) {
    Table *table = writer->table;
    if (table == NULL) {
        writer->brk = PARAGRAPH;
        return end_block;
    }
    table->rows = grown(writer, table->rows, table->count, &table->room, sizeof *table->rows);
    table->rows[table->count++] = (Row){NULL, 0, 0};
    return JUST_FOLLOWS;
}

static int64_t span_of(String value) {
    int64_t span = 0;
    if (value.length == 0 || value.length > SPAN_DIGITS)
        return 1;
    for (size_t i = 0; i < value.length; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9')
            return 1;
        span = 10 * span + (value.bytes[i] - '0');
    }
    return span > 0 ? span : 1;
}

/* 'l', 'c', 'r' for a word that says where text stands; 0 for another. */
static uint8_t alignment(String word, bool whole) {
    static const char *const words[] = {"left", "center", "right"};
    for (int i = 0; i < 3; i++) {
        size_t size = strlen(words[i]), at = 0;
        while (at < size && at < word.length && (word.bytes[at] | 0x20) == words[i][at])
            at++;
        if (at == size && (!whole || word.length == size))
            return (uint8_t)words[i][0];
    }
    return 0;
}

static String after_white(String text) {
    while (text.length != 0 && text.bytes[0] < 0x80 && is_space(text.bytes[0]))
        text = slice(text, 1, text.length);
    return text;
}

/* The alignment that a style gives, 0 where it gives none. */
static uint8_t style_alignment(String style) {
    static const char property[] = "text-align";
    enum { SIZE = sizeof property - 1 };
    for (size_t i = 0; i + SIZE <= style.length; i++) {
        size_t at = 0;
        while (at < SIZE &&
               (property[at] == '-' ? style.bytes[i + at] : style.bytes[i + at] | 0x20) == property[at])
            at++;
        String rest = after_white(slice(style, i + at, style.length));
        if (at < SIZE || rest.length == 0 || rest.bytes[0] != ':')
            continue;
        uint8_t found = alignment(after_white(slice(rest, 1, rest.length)), false);
        if (found != 0)
            return found;
    }
    return 0;
}

static void end_cell(Writer *writer) {
    settle(writer);
    Row *row = writer->table->rows + writer->table->count - 1;
    row->cells[row->count - 1].end = writer->count;
    writer->context = restore(writer).context;
    writer->brk = PARAGRAPH;
}

/* `<td>`, `<th>`. */
Close open_cell(Writer *writer, Node *node) {
    Table *table = writer->table;
    if (table == NULL || table->count == 0) {
        writer->brk = PARAGRAPH;
        return end_block;
    }
    int64_t columns = span_of(attribute_of(writer, node, A_COLSPAN));
    uint8_t align = style_alignment(attribute_of(writer, node, A_STYLE));
    Row *row = table->rows + table->count - 1;
    row->cells = grown(writer, row->cells, row->count, &row->room, sizeof *row->cells);
    row->cells[row->count++] = (Cell){
        .start = writer->count,
        .end = writer->count,
        .columns = columns < table->widest ? columns : table->widest,
        .rows = span_of(attribute_of(writer, node, A_ROWSPAN)),
        .align = align != 0 ? align : alignment(attribute_of(writer, node, A_ALIGN), true),
    };
    save(writer, (Saved){.context = writer->context});
    writer->context = table->context;
    writer->context->lead = LITERAL("");
    writer->context->has_lead = true;
    writer->brk = PARAGRAPH;
    return end_cell;
}
