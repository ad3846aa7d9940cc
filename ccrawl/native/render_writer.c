/* The state of a rendering: what has been written, and what the next text has to be preceded by. */
#include "render.h"

#include <string.h>

static const char LINE_STARTS[] = "#-+*>|:=_[0123456789";
static const char DELIMITERS[] = {'*', '*', '~'}; /* what the marks of an emphasis are made of */
static const char *const KIND_NAMES[KINDS] = {"strong", "em", "del", "sub", "sup", "q", "rt", "a"};

static bool is_emphasis(InlineKind kind) { return kind <= DELETED; }

static String name_of(InlineKind kind) {
    return (String){(const uint8_t *)KIND_NAMES[kind], strlen(KIND_NAMES[kind])};
}

Context *new_context(Writer *writer, Context *parent, String lead, String prefix, Separation separation) {
    Context *context = take(writer, sizeof *context);
    *context = (Context){
        .parent = parent,
        .lead = lead,
        .has_lead = true,
        .flow = true,
        .line_starts = true,
        .separation = separation,
        .depth = parent == NULL ? 0 : parent->depth + 1,
        .prefix = prefix,
        .closed_at = -1,
    };
    context->breaks[NOTHING] = LITERAL("");
    context->breaks[BREAK] = JOIN(writer, LITERAL("\\\n"), prefix);
    context->breaks[NEXT_LINE] = JOIN(writer, LITERAL("\n"), prefix);
    context->breaks[PARAGRAPH] = JOIN(writer, LITERAL("\n"), stripped_right(prefix), LITERAL("\n"), prefix);
    return context;
}

/* Text has to stay on one line: `joint` stands where lines would end. */
void one_line(Context *context, String joint) {
    context->flow = context->line_starts = false;
    context->breaks[NOTHING] = LITERAL("");
    for (int i = BREAK; i < SEPARATIONS; i++)
        context->breaks[i] = joint;
}

void append(Writer *writer, String mark, String text) {
    settle_code(writer);
    if (writer->count == writer->room) {
        int64_t room = writer->room, room_marks = writer->room, room_pictures = writer->room;
        writer->texts = grown(writer, writer->texts, writer->count, &room, sizeof *writer->texts);
        writer->marks = grown(writer, writer->marks, writer->count, &room_marks, sizeof *writer->marks);
        writer->is_picture = grown(writer, writer->is_picture, writer->count, &room_pictures, 1);
        writer->room = room;
    }
    writer->texts[writer->count] = text;
    writer->marks[writer->count] = mark;
    writer->is_picture[writer->count] = 0;
    writer->count++;
}

void save(Writer *writer, Saved value) {
    writer->saved = grown(writer, writer->saved, writer->saved_count, &writer->saved_room, sizeof *writer->saved);
    writer->saved[writer->saved_count++] = value;
}

Saved restore(Writer *writer) { return writer->saved[--writer->saved_count]; }

static bool shares_delimiter(const Inline *one, const Inline *other) {
    return is_emphasis(other->kind) && DELIMITERS[one->kind] == DELIMITERS[other->kind] && !other->html;
}

/* Elements that are to be written, or that are; outermost first. Returns how many there are. */
static int choose(Writer *writer, bool written, Inline **chosen) {
    int count = 0;
    for (int i = 0; i < writer->inline_count; i++) {
        Inline *element = writer->inlines + i;
        if (written ? element->at >= 0 : element->at < 0 && !element->done)
            chosen[count++] = element;
    }
    return count;
}

/* Decide for elements that begin here whether they are HTML, for a parser to see them.
 *
 * CommonMark (6.2) reads a delimiter with punctuation on its inner side only when its outer side is white space or
 * punctuation too: `a**"b"**c` is no emphasis. Such an element is written as HTML. So is one that begins right
 * where another ends, or right behind text of another that goes on around it: its delimiter could be read as the
 * end of that one.
 *
 * `fresh` are these, outermost first. `before` is the character before the first mark, " " at the start of a line,
 * "" where it is a mark itself; `next` is what stands behind the last one. */
static void choose_openings(Writer *writer, Inline **fresh, int count, String before, String next) {
    Inline *around[KINDS], *outer = fresh[0];
    int written = choose(writer, true, around), run = 0;
    while (is_emphasis(outer->kind) && run < count && shares_delimiter(outer, fresh[run]))
        run++;
    bool spaced = equal(before, LITERAL(" "));
    for (int i = 0; i < count; i++) {
        bool can_end = !spaced || i >= run; /* with white space before it, a delimiter can only begin */
        bool shared = false;
        for (int j = 0; j < written && is_emphasis(fresh[i]->kind); j++)
            shared = shared || shares_delimiter(fresh[i], around[j]);
        fresh[i]->html = can_end && shared;
    }
    if (run > 0 && !outer->html && is_word(writer, before))
        outer->html = run < count || !is_word(writer, first_character(next));
}

/* Whether the outermost of the elements that end between two texts, with no space around, has to be HTML. Those
 * inside it then have its tag behind them, which will do. */
static bool must_end_as_html(const Writer *writer, String before, String next) {
    const Inline *outer = writer->closed + writer->closed_count - 1;
    if (!is_emphasis(outer->kind) || outer->html || !is_word(writer, first_character(next)))
        return false;
    if (!is_word(writer, before))
        return true;
    for (int i = 0; i < writer->closed_count; i++)
        if (!shares_delimiter(outer, writer->closed + i))
            return true;
    return false;
}

static void end_as_html(Writer *writer, Inline *element) {
    String mark = writer->marks[element->at];
    element->html = true;
    for (size_t i = 0; i + 1 < mark.length; i++) {
        if (mark.bytes[i] == DELIMITER_BYTE && mark.bytes[i + 1] == KIND_NAMES[element->kind][0]) {
            writer->marks[element->at] = JOIN(writer, slice(mark, 0, i), LITERAL("<"), name_of(element->kind),
                                              LITERAL(">"), slice(mark, i + 2, mark.length));
            return;
        }
    }
}

static void remove_first(Inline **fresh, int *count) {
    for (int i = 1; i < *count; i++)
        fresh[i - 1] = fresh[i];
    --*count;
}

/* Settle how marks between the last text and `next`, with no space around them, are written. */
static void join(Writer *writer, String next) {
    Inline *fresh[KINDS];
    int count = 0;
    if (writer->opening) {
        count = choose(writer, false, fresh);
        while (count > 0 && writer->closed_count > 0) { /* </b><b>: it simply goes on */
            Inline *ended = writer->closed + writer->closed_count - 1;
            if (ended->kind != fresh[0]->kind || !is_emphasis(ended->kind))
                break;
            fresh[0]->at = ended->at;
            fresh[0]->html = ended->html;
            writer->closed_count--;
            remove_first(fresh, &count);
        }
        writer->opening = count > 0;
    }
    String before = writer->tail.length != 0 || writer->count == 0
                        ? LITERAL("")
                        : last_character(writer->texts[writer->count - 1]);
    if (count > 0) {
        choose_openings(writer, fresh, count, before, next);
        if (writer->closed_count > 0 && is_emphasis(writer->closed[writer->closed_count - 1].kind) &&
            is_emphasis(fresh[0]->kind))
            fresh[0]->html = true;
    } else if (writer->closed_count > 0 && must_end_as_html(writer, before, next)) {
        end_as_html(writer, writer->closed + writer->closed_count - 1);
    }
    String bracket = count > 0 ? fresh[0]->open : next;
    if (writer->closed_count == 0 && equal(before, LITERAL("!")) && equal(bracket, LITERAL("["))) {
        static const uint8_t literal[] = {EXCLAMATION_BYTE};
        String *last = writer->texts + writer->count - 1;
        *last = JOIN(writer, slice(*last, 0, last->length - 1), ((String){literal, 1}));
    }
}

static String closings(Writer *writer) {
    Builder marks = {.writer = writer};
    add(&marks, writer->tail);
    writer->tail = LITERAL("");
    for (int i = 0; i < writer->closed_count; i++) {
        const Inline *element = writer->closed + i;
        if (element->html) {
            add(&marks, LITERAL("</"));
            add(&marks, name_of(element->kind));
            add(&marks, LITERAL(">"));
        } else {
            add(&marks, element->close);
        }
    }
    writer->closed_count = 0;
    return built(&marks);
}

static String openings(Writer *writer) {
    Builder marks = {.writer = writer};
    for (int i = 0; i < writer->inline_count; i++) {
        Inline *element = writer->inlines + i;
        if (element->at >= 0 || element->done)
            continue;
        if (element->html) {
            add(&marks, LITERAL("<"));
            add(&marks, name_of(element->kind));
            add(&marks, LITERAL(">"));
        } else {
            add(&marks, element->open);
        }
        element->at = writer->count;
    }
    writer->opening = false;
    return built(&marks);
}

static void end_inline(Writer *writer, const Inline *element) {
    static const uint8_t open_bracket[] = {OPEN_BRACKET_BYTE}, close_bracket[] = {CLOSE_BRACKET_BYTE};
    if (writer->closed_count == KINDS) /* one of a kind can be open: there are no more */
        longjmp(*writer->out, 1);
    writer->closed[writer->closed_count++] = *element;
    if (element->kind != ANCHOR)
        return;
    for (int64_t i = element->since; i < writer->count;
         i++) { /* brackets would end the link's text, or begin it */
        writer->texts[i] = replaced(writer, writer->texts[i], '[', (String){open_bracket, 1});
        writer->texts[i] = replaced(writer, writer->texts[i], ']', (String){close_bracket, 1});
    }
}

static bool has_more_than_pictures(const Writer *writer, int64_t since) {
    for (int64_t i = since; i < writer->count; i++)
        if (!writer->is_picture[i])
            return true;
    return false;
}

/* End what is open at a block boundary; it goes on behind it, except a link that has had its text. */
static void suspend(Writer *writer) {
    for (int i = writer->inline_count - 1; i >= 0; i--) {
        Inline *element = writer->inlines + i;
        if (element->at < 0)
            continue;
        end_inline(writer, element);
        element->done = element->kind == ANCHOR && has_more_than_pictures(writer, element->since);
        element->at = -1;
        element->html = false;
        element->since = writer->count;
        writer->opening = writer->opening || !element->done;
    }
}

/* What begins the first line of a context: its own lead, after those of the contexts that begin with it. */
static String lead_of(Writer *writer, Context *context) {
    String lead = LITERAL("");
    Separation separation = NOTHING;
    while (context != NULL && context->has_lead) {
        lead = JOIN(writer, context->lead, lead);
        context->has_lead = false;
        separation = context->separation;
        context = context->parent;
    }
    return context == NULL ? lead : JOIN(writer, context->breaks[separation], lead);
}

static bool ends_with_break(String mark) {
    return mark.length >= 4 && memcmp(mark.bytes + mark.length - 4, "<br>", 4) == 0;
}

/* What separates the next text, on a line of its own, from what stands before. */
static String break_mark(Writer *writer, String text, bool has_content) {
    static const uint8_t line[] = {LINE_BYTE};
    Context *context = writer->context;
    if (writer->brk > BREAK && writer->inline_count > 0 && (context->flow || context->has_lead))
        suspend(writer);
    String mark = context->has_lead ? lead_of(writer, context) : context->breaks[writer->brk];
    if (writer->opening && ends_with_break(mark)) /* so that what opens can't be read as an end */
        mark = JOIN(writer, mark, LITERAL(" "));
    if (writer->tail.length != 0 || writer->closed_count > 0)
        mark = JOIN(writer, closings(writer), mark);
    if (text.length != 0 && context->line_starts && !has_content &&
        memchr(LINE_STARTS, text.bytes[0], sizeof LINE_STARTS - 1))
        mark = JOIN(writer, mark, ((String){line, 1}));
    writer->brk = NOTHING;
    return mark;
}

/* Whether a word ends and another begins between two texts: a small letter or a digit meets a capital, or a small
 * letter meets a digit, and both words have more than this one character. */
static bool words_meet(const Writer *writer, String before, String after) {
    const uint8_t *characters = writer->tables->characters;
    String last = last_character(before), first = first_character(after);
    if (last.length == 0 || last.bytes[0] >= PIPE_BYTE || first.bytes[0] >= PIPE_BYTE)
        return false;
    uint8_t left = characters[first_code(last)], right = characters[first_code(first)];
    if ((right & CAPITAL) != 0 ? (left & (SMALL | DIGIT_CHARACTER)) == 0
                               : (left & SMALL) == 0 || (right & DIGIT_CHARACTER) == 0)
        return false;
    before.length -= last.length;
    after = slice(after, first.length, after.length);
    return is_word(writer, last_character(before)) && after.length != 0 && is_word(writer, first_character(after));
}

/* Remember a space before `text` where it would run into the word before it. A browser shows elements side by side
 * with no white space between them apart where the page's style says so, which is not read here: names and what
 * is said of them, entries of a menu. */
void part_words(Writer *writer, String text) {
    if (writer->seam == ELEMENTS_MEET && writer->brk == NOTHING && !writer->ws && writer->count > 0)
        writer->ws = words_meet(writer, writer->texts[writer->count - 1], text);
    writer->seam = NO_SEAM;
}

/* Write `text` after all that is pending before it. Nothing at its ends is white space or unseen.
 *
 * `content` is finished Markdown that stands right before the text; where that is all, the text is empty. */
void put(Writer *writer, String text, String content) {
    String mark = LITERAL(""), next = content.length != 0 ? content : text;
    bool spaced = true;
    if (writer->brk != NOTHING) {
        mark = break_mark(writer, text, content.length != 0);
    } else if (writer->ws) {
        mark = writer->tail.length != 0 || writer->closed_count > 0 ? JOIN(writer, closings(writer), LITERAL(" "))
                                                                    : LITERAL(" ");
    } else if (writer->tail.length != 0 || writer->opening || writer->closed_count > 0 || content.length != 0) {
        spaced = false;
        join(writer, next);
        mark = closings(writer);
    }
    writer->ws = false;
    if (writer->opening) {
        if (spaced && writer->inline_count > 1) {
            Inline *fresh[KINDS];
            int count = choose(writer, false, fresh);
            if (count > 0)
                choose_openings(writer, fresh, count, LITERAL(" "), next);
        }
        mark = JOIN(writer, mark, openings(writer));
    }
    append(writer, JOIN(writer, mark, content), text);
}

/* Whether `next` would stand right behind the last text, nothing between. */
bool goes_on(Writer *writer, String next) {
    if (writer->brk != NOTHING || writer->ws || writer->tail.length != 0)
        return false;
    if (writer->opening || writer->closed_count > 0)
        join(writer, next);
    return !writer->opening && writer->closed_count == 0;
}

/* Write finished Markdown that is a block of its own. */
void put_block(Writer *writer, const String *lines, size_t count) {
    String prefix = writer->context->prefix, blank = stripped_right(prefix);
    Builder block = {.writer = writer};
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            add_byte(&block, '\n');
            add(&block, lines[i].length != 0 ? prefix : blank);
        }
        add(&block, lines[i]);
    }
    writer->brk = PARAGRAPH;
    put(writer, LITERAL(""), built(&block));
    writer->brk = PARAGRAPH;
}

/* What a block that is written by hand begins with. */
String break_here(Writer *writer) {
    Context *context = writer->context;
    String mark = context->has_lead ? lead_of(writer, context) : context->breaks[PARAGRAPH];
    writer->brk = PARAGRAPH;
    return mark;
}

/* What ends the inline elements that end with the page. */
String closing_of_page(Writer *writer) {
    suspend(writer);
    return closings(writer);
}

/* Open an inline element; false where one of its kind is open already. */
bool open_inline(Writer *writer, InlineKind kind, String open, String close) {
    for (int i = 0; i < writer->inline_count; i++)
        if (writer->inlines[i].kind == kind)
            return false;
    writer->inlines[writer->inline_count++] = (Inline){kind, open, close, -1, writer->count, false, false};
    writer->opening = true;
    return true;
}

/* End the innermost open inline element. */
void close_inline(Writer *writer) {
    Inline element = writer->inlines[--writer->inline_count];
    if (element.at >= 0)
        end_inline(writer, &element);
    if (writer->opening) {
        writer->opening = false;
        for (int i = 0; i < writer->inline_count; i++)
            writer->opening = writer->opening || (writer->inlines[i].at < 0 && !writer->inlines[i].done);
    }
}

/* Write here what ends the open inline elements: the line is at its end. */
void settle(Writer *writer) {
    if (writer->inline_count > 0)
        suspend(writer);
    if (writer->tail.length != 0 || writer->closed_count > 0)
        append(writer, closings(writer), LITERAL(""));
}

void end_block(Writer *writer) { writer->brk = PARAGRAPH; }

void skip_children(Writer *writer) { (void)writer; }
