/* Lists, quotes and headings: what has a mark before its first line, and an indentation after it. */
#include "render.h"

#include <string.h>

enum { LARGEST = 999999999 }; /* more digits are no list number in CommonMark */
enum { MOST_DIGITS = 12 };    /* of a number in an attribute */

/* The number that `value` begins with; false where there is none. */
static bool read_integer(String value, int64_t *number) {
    size_t at = 0, digits = 0;
    while (at < value.length && is_space(value.bytes[at]) && value.bytes[at] < 0x80)
        at++;
    bool negative = at < value.length && value.bytes[at] == '-';
    if (at < value.length && (value.bytes[at] == '-' || value.bytes[at] == '+'))
        at++;
    int64_t read = 0;
    while (at < value.length && digits < MOST_DIGITS && value.bytes[at] >= '0' && value.bytes[at] <= '9') {
        read = 10 * read + (value.bytes[at++] - '0');
        digits++;
    }
    if (digits > 0)
        *number = negative ? -read : read;
    return digits > 0;
}

static void number_list(Writer *writer, const Node *node, List *list) {
    bool has_start = read_integer(attribute_of(writer, node, A_START), &list->number);
    if (!has_attribute(writer, node, A_REVERSED))
        return;
    list->step = -1;
    if (has_start)
        return;
    list->number = 0;
    for (const Node *child = node->first_child; child != NULL; child = child->next)
        list->number += element_of(writer, child) == E_LI;
}

/* Whether the first item starts with a paragraph, which makes the list a loose one: with blank lines between. */
static bool starts_with_paragraph(Writer *writer, const Node *node) {
    const Node *item = node->first_child;
    while (item != NULL && element_of(writer, item) != E_LI)
        item = item->next;
    const Node *child = item == NULL ? NULL : item->first_child;
    while (child != NULL && element_of(writer, child) == E_TEXT && stripped(page_text(writer, child)).length == 0)
        child = child->next;
    return child != NULL && element_of(writer, child) == E_P;
}

/* Whether an item has been written, as those without text are not. */
static bool has_text(List *list) {
    list->written = list->written || (list->item != NULL && !list->item->has_lead);
    return list->written;
}

static void close_list(Writer *writer) {
    List *closed = writer->list;
    if (has_text(closed)) {
        closed->context->closed_marker = closed->marker;
        closed->context->closed_at = writer->count;
    }
    writer->list = restore(writer).list;
    writer->context = restore(writer).context;
    writer->brk = PARAGRAPH;
}

/* `<ul>`, `<ol>`, `<menu>`, `<dir>`. A list directly inside a list belongs to the item before it. */
Close open_list(Writer *writer, Node *node) {
    Context *context = writer->context;
    if (!context->flow) {
        writer->brk = PARAGRAPH;
        return end_block;
    }
    List *outer = writer->list;
    save(writer, (Saved){.context = context});
    save(writer, (Saved){.list = outer});
    if (outer != NULL && outer->context == context && outer->item != NULL)
        context = writer->context = outer->item;
    bool ordered = element_of(writer, node) == E_OL;
    List *list = take(writer, sizeof *list);
    *list = (List){.context = context, .number = 1, .step = 1, .marker = ordered ? '.' : '-'};
    if (ordered)
        number_list(writer, node, list);
    if (context->closed_at == writer->count && context->closed_marker == list->marker)
        list->marker = ordered ? ')' : '*'; /* right behind another of its kind: the marker tells them apart */
    writer->brk = outer != NULL && outer->tight && context == outer->item ? NEXT_LINE : PARAGRAPH;
    list->separation = writer->brk;
    list->tight = !starts_with_paragraph(writer, node);
    writer->list = list;
    return close_list;
}

/* Leave the innermost context. */
void end_context(Writer *writer) {
    writer->context = writer->context->parent;
    writer->brk = PARAGRAPH;
}

static bool is_ordered(const List *list) { return list->marker == '.' || list->marker == ')'; }

/* What the first line of the list's next item begins with. */
static String item_lead(Writer *writer, const Node *node, List *list) {
    static const uint8_t space = ' ';
    String marker = {&list->marker, 1};
    if (!is_ordered(list))
        return JOIN(writer, marker, ((String){&space, 1}));
    read_integer(attribute_of(writer, node, A_VALUE), &list->number);
    int64_t number = list->number < 0 ? 0 : list->number > LARGEST ? LARGEST : list->number;
    list->number += list->step;
    return JOIN(writer, number_text(writer, number), marker, ((String){&space, 1}));
}

static Separation separation_of_item(List *list, String lead) {
    if (has_text(list))
        return list->tight ? NEXT_LINE : PARAGRAPH;
    if (is_ordered(list) && !(lead.length == 3 && lead.bytes[0] == '1'))
        return PARAGRAPH; /* only a list that starts at 1 can follow a line of text */
    return list->separation;
}

/* `<li>`: a context of its own, behind its marker. */
Close open_item(Writer *writer, Node *node) {
    if (writer->noted.count > 0 && open_note(writer, node))
        return end_context;
    Context *context = writer->context;
    List *list = writer->list;
    if (!context->flow || context->depth >= MOST_DEPTH) {
        Separation least = context->flow ? NEXT_LINE : PARAGRAPH;
        writer->brk = writer->brk > least ? writer->brk : least;
        return end_block;
    }
    if (list == NULL || list->context != context) {
        list = take(writer, sizeof *list);
        *list = (List){.context = context, .number = 1, .step = 1, .marker = '-', .separation = PARAGRAPH};
    }
    String lead = item_lead(writer, node, list);
    Separation separation = separation_of_item(list, lead);
    String prefix = JOIN(writer, context->prefix, repeated(writer, ' ', lead.length));
    list->item = writer->context = new_context(writer, context, lead, prefix, separation);
    writer->brk = PARAGRAPH;
    return end_context;
}

/* `<input>`: nothing, except a check box where a list item begins, which makes it a task. */
void put_checkbox(Writer *writer, Node *node) {
    Context *context = writer->context;
    String lead = context->lead;
    writer->ws = true;
    if (!context->has_lead || lead.length < 2 || lead.bytes[lead.length - 1] != ' ' ||
        (lead.bytes[lead.length - 2] != '-' && lead.bytes[lead.length - 2] != '*'))
        return;
    String type = attribute_of(writer, node, A_TYPE);
    if (type.length != sizeof "checkbox" - 1)
        return;
    for (size_t i = 0; i < type.length; i++)
        if ((type.bytes[i] | 0x20) != "checkbox"[i])
            return;
    context->lead = JOIN(writer, lead, has_attribute(writer, node, A_CHECKED) ? LITERAL("[x] ") : LITERAL("[ ] "));
}

/* `<blockquote>`. */
Close open_quote(Writer *writer, Node *node) {
    (void)node;
    Context *context = writer->context;
    writer->brk = PARAGRAPH;
    if (!context->flow || context->depth >= MOST_DEPTH)
        return end_block;
    String prefix = JOIN(writer, context->prefix, LITERAL("> "));
    writer->context = new_context(writer, context, LITERAL("> "), prefix, PARAGRAPH);
    return end_context;
}

/* A last word of number signs would be read as the end of the heading. */
static void end_heading(Writer *writer) {
    static const uint8_t literal[] = {HASH_BYTE};
    if (!writer->context->has_lead && writer->count > 0) {
        String *last = writer->texts + writer->count - 1;
        size_t start = last->length;
        while (start > 0 && last->bytes[start - 1] == '#')
            start--;
        if (start < last->length && (start == 0 || is_space(last_code(slice(*last, 0, start)))))
            *last = JOIN(writer, slice(*last, 0, start), ((String){literal, 1}),
                         slice(*last, start + 1, last->length));
    }
    end_context(writer);
}

/* A line with a bar and a line of dashes would be a table: such a heading gets number signs after all. */
static void underline(Writer *writer, String lead, String line) {
    int64_t start = restore(writer).number;
    if (!writer->context->has_lead) {
        settle_code(writer);
        settle(writer);
        bool has_bar = false;
        for (int64_t i = start; i < writer->count; i++)
            has_bar = has_bar || contains_byte(writer->marks[i], '|') || contains_byte(writer->texts[i], '|');
        writer->marks[start] =
            replaced(writer, writer->marks[start], UNDERLINED_BYTE, has_bar ? lead : LITERAL(""));
        if (!has_bar)
            append(writer, JOIN(writer, LITERAL("\n"), writer->context->prefix, line), LITERAL(""));
    }
    end_context(writer);
}

static void end_underlined_1(Writer *writer) { underline(writer, LITERAL("# "), LITERAL("===")); }

static void end_underlined_2(Writer *writer) { underline(writer, LITERAL("## "), LITERAL("---")); }

/* `<h1>` to `<h6>`: one line. */
Close open_heading(Writer *writer, int level) {
    static const uint8_t underlined_lead[] = {UNDERLINED_BYTE};
    Context *context = writer->context;
    writer->brk = PARAGRAPH;
    if (!context->flow)
        return end_block;
    bool underlined = level < 3 && writer->request->headings == HEADINGS_SETEXT;
    String lead = underlined ? (String){underlined_lead, 1}
                             : JOIN(writer, repeated(writer, '#', (size_t)level), LITERAL(" "));
    writer->context = new_context(writer, context, lead, context->prefix, PARAGRAPH);
    one_line(writer->context, LITERAL(" "));
    if (!underlined)
        return end_heading;
    writer->context->line_starts = true;
    save(writer, (Saved){.number = writer->count});
    return level == 1 ? end_underlined_1 : end_underlined_2;
}
