/* The end of a rendering: texts are spaced and escaped, and put between their marks.
 *
 * Backslashes stand where literal text would read as Markdown, and nowhere else: a character is escaped only where
 * a parser could take it for markup, by the delimiter rules of CommonMark 0.31 and GFM. What stands beside a
 * text's first and last character is not known here, so those count as dangerous. */
#include "characters.h"
#include "render.h"

#include <string.h>

enum { MOST_ENTITY = 32, MOST_LEVEL = 6, MOST_DIGITS = 9 };

static bool is_punctuation(uint8_t byte) {
    return (byte >= '!' && byte <= '/') || (byte >= ':' && byte <= '@') || (byte >= '[' && byte <= '`') ||
           (byte >= '{' && byte <= '~') || byte >= PIPE_BYTE;
}

/* Whether the ampersand before `after` could begin an entity, or whatever stands behind the text's end. */
static bool may_be_entity(String after) {
    size_t at = after.length != 0 && after.bytes[0] == '#', start = at;
    while (at < after.length && at - start < MOST_ENTITY &&
           (is_letter(after.bytes[at]) || is_digit(after.bytes[at])))
        at++;
    return at == after.length || after.bytes[at] == ';';
}

static bool is_alphanumeric_byte(const Writer *writer, String text, bool last) {
    if (text.length == 0)
        return false;
    uint8_t byte = text.bytes[last ? text.length - 1 : 0];
    if (byte < 0x80)
        return is_letter(byte) || is_digit(byte);
    return byte < PIPE_BYTE && is_alphanumeric(writer, last ? last_code(text) : first_code(text));
}

/* Whether a run of stars, underscores or tildes, with these texts around it, would be read as markup. */
static bool run_is_markup(const Writer *writer, uint8_t byte, size_t count, String before, String after) {
    bool spaced =
        before.length != 0 && before.bytes[before.length - 1] == ' ' && after.length != 0 && after.bytes[0] == ' ';
    if (byte == '*')
        return !spaced; /* with spaces around it, it opens and closes nothing */
    if (byte == '_')
        return !spaced &&
               !(is_alphanumeric_byte(writer, before, true) && is_alphanumeric_byte(writer, after, false));
    if (count > 1 || after.length == 0)
        return true;
    return before.length == 0 || !(before.bytes[before.length - 1] == ' ');
}

static bool is_escaped(uint8_t byte, String after) {
    uint8_t next = after.length != 0 ? after.bytes[0] : 0;
    bool ends = after.length == 0;
    switch (byte) {
    case '\\':
        return ends || is_punctuation(next);
    case '`':
        return true;
    case '<':
        return ends || is_letter(next) || next == '/' || next == '!' || next == '?';
    case '&':
        return may_be_entity(after);
    case ']':
        return ends || next == '(' || next == '[' || next == ':';
    default:
        return false;
    }
}

void escape(Builder *out, String text) {
    static const bool special[256] = {['\\'] = true, ['*'] = true, ['_'] = true, ['`'] = true,
                                      ['<'] = true,  ['&'] = true, [']'] = true, ['~'] = true};
    size_t from = 0;
    for (size_t at = 0; at < text.length;) {
        uint8_t byte = text.bytes[at];
        if (!special[byte]) {
            at++;
            continue;
        }
        size_t end = at + 1;
        bool marks = byte == '*' || byte == '_' || byte == '~';
        while (marks && end < text.length && text.bytes[end] == byte)
            end++;
        String before = slice(text, 0, at), after = slice(text, end, text.length);
        if (marks ? run_is_markup(out->writer, byte, end - at, before, after) : is_escaped(byte, after)) {
            add(out, slice(text, from, at));
            for (size_t i = at; i < end; i++) {
                add_byte(out, '\\');
                add_byte(out, byte);
            }
            from = end;
        }
        at = end;
    }
    add(out, slice(text, from, text.length));
}

/* Where the formula between `\(` and `\)`, or `\[` and `\]`, ends that starts at `at`; 0 where none does.
 *
 * `delimiter` is the one that the last look ended at, 0 at first: any later start before it leads there too, since
 * its backslash was not seen as one that begins a pair. So all looks together are linear in the text. */
static size_t formula_end(String text, size_t at, size_t *delimiter) {
    if (at + 1 >= text.length || (text.bytes[at + 1] != '(' && text.bytes[at + 1] != '['))
        return 0;
    uint8_t close = text.bytes[at + 1] == '(' ? ')' : ']';
    size_t start = at + 2;
    if (*delimiter < start) {
        for (*delimiter = start; *delimiter + 1 < text.length; ++*delimiter) {
            if (text.bytes[*delimiter] != '\\')
                continue;
            uint8_t next = text.bytes[*delimiter + 1];
            if (next == '(' || next == ')' || next == '[' || next == ']')
                break;
            ++*delimiter;
        }
    }
    at = *delimiter;
    return at + 1 < text.length && text.bytes[at + 1] == close && at > start ? at + 2 : 0;
}

/* `text` escaped, but for formulas between the delimiters of MathJax, which become dollar signs. */
static void add_text(Builder *out, String text) {
    if (!contains_byte(text, '\\')) {
        escape(out, text);
        return;
    }
    size_t from = 0, delimiter = 0;
    for (size_t at = 0; at < text.length; at++) {
        size_t end = text.bytes[at] == '\\' ? formula_end(text, at, &delimiter) : 0;
        if (end == 0)
            continue;
        escape(out, slice(text, from, at));
        add(out, tex_span(out->writer, slice(text, at + 2, end - 2), text.bytes[at + 1] == '['));
        from = end;
        at = end - 1;
    }
    escape(out, slice(text, from, text.length));
}

/* Whether a text is as it is to be: its white space single spaces, nothing in it unseen. */
static bool is_spaced(String text) {
    const uint8_t *at = text.bytes, *end = at + text.length;
    while (at < end) {
        if (*at == ' ' && at + 1 < end && at[1] == ' ')
            return false;
        bool placeholder = *at >= PIPE_BYTE;
        uint32_t code = placeholder || *at < 0x80 ? *at++ : next_character(&at, end);
        if (!placeholder && code != ' ' && (is_space(code) || is_unseen(code)))
            return false;
    }
    return true;
}

static bool ends_line(String text, size_t at) {
    return at >= text.length || text.bytes[at] == ' ' || text.bytes[at] == '\n';
}

/* Whether a line of nothing but what rules, underlines and delimiter rows are made of starts at `at`. */
static bool is_rule(String text, size_t at) {
    while (at < text.length && text.bytes[at] != 0 && strchr("-|:=_ ", text.bytes[at]) != NULL)
        at++;
    return at == text.length || text.bytes[at] == '\n';
}

/* Where a backslash has to stand in the line of text at `at`, for it to open no block; -1 for nowhere. */
static int64_t block_start(String text, size_t at) {
    uint8_t byte = at < text.length ? text.bytes[at] : 0;
    size_t end = at;
    if (byte == '#') {
        while (end < text.length && text.bytes[end] == '#')
            end++;
        return end - at <= MOST_LEVEL && ends_line(text, end) ? (int64_t)at : -1;
    }
    if (byte == '>')
        return (int64_t)at;
    if ((byte == '-' || byte == '+' || byte == '*') && ends_line(text, at + 1))
        return (int64_t)at;
    if (byte != 0 && strchr("-|:=_", byte) != NULL && is_rule(text, at))
        return (int64_t)at;
    if (byte == '[' && at + 2 < text.length && strchr(" xX", text.bytes[at + 1]) != NULL &&
        text.bytes[at + 1] != 0 && text.bytes[at + 2] == ']' && ends_line(text, at + 3))
        return (int64_t)at;
    while (end < text.length && end - at < MOST_DIGITS && is_digit(text.bytes[end]))
        end++;
    if (end > at && end < text.length && (text.bytes[end] == '.' || text.bytes[end] == ')') &&
        ends_line(text, end + 1))
        return (int64_t)end;
    return -1;
}

/* Puts what the placeholders stand for in their places. */
static String settled(Writer *writer, String text) {
    Builder out = {.writer = writer};
    int64_t backslash = -1;
    size_t from = 0;
    for (size_t at = 0; at < text.length; at++) {
        uint8_t byte = text.bytes[at];
        if (byte < PIPE_BYTE && (int64_t)at != backslash)
            continue;
        add(&out, slice(text, from, at));
        from = at + 1;
        if ((int64_t)at == backslash) {
            add_byte(&out, '\\');
            from = at;
            if (byte < PIPE_BYTE)
                continue;
            from = at + 1;
        }
        if (byte == PIPE_BYTE)
            add(&out, LITERAL("\\|"));
        else if (byte == OPEN_BRACKET_BYTE)
            add(&out, LITERAL("\\["));
        else if (byte == CLOSE_BRACKET_BYTE)
            add(&out, LITERAL("\\]"));
        else if (byte == EXCLAMATION_BYTE)
            add(&out, LITERAL("\\!"));
        else if (byte == HASH_BYTE)
            add(&out, LITERAL("\\#"));
        else if (byte == DELIMITER_BYTE) {
            uint8_t kind = text.bytes[++at];
            add(&out, kind == 's' ? LITERAL("**") : kind == 'e' ? LITERAL("*") : LITERAL("~~"));
            from = at + 1;
        } else if (byte == LINE_BYTE) {
            if (at + 1 < text.length && text.bytes[at + 1] == ' ')
                from = ++at + 1;
            backslash = block_start(text, at + 1);
        }
    }
    add(&out, slice(text, from, text.length));
    return built(&out);
}

static String without_ends(String text) {
    size_t start = 0, end = text.length;
    while (start < end && (text.bytes[start] == ' ' || text.bytes[start] == '\n'))
        start++;
    while (end > start && (text.bytes[end - 1] == ' ' || text.bytes[end - 1] == '\n'))
        end--;
    return slice(text, start, end);
}

static void add_references(Writer *writer, Builder *out) {
    for (int64_t i = 0; i < writer->references.count; i++) {
        add(out, i == 0 ? LITERAL("\n\n[") : LITERAL("\n["));
        add(out, number_text(writer, i + 1));
        add(out, LITERAL("]: "));
        add(out, writer->references.keys[i]);
    }
}

/* The Markdown of what has been written, without a line break at its end. */
String finish(Writer *writer) {
    Builder out = {.writer = writer};
    if (writer->count == 0)
        return LITERAL("");
    settle_code(writer);
    String ending = closing_of_page(writer);
    for (int64_t i = 0; i < writer->count; i++) {
        String text = writer->texts[i];
        add(&out, writer->marks[i]);
        add_text(&out, is_spaced(text) ? text : plain(writer, text));
    }
    add(&out, ending);
    String markdown = settled(writer, built(&out));
    if (writer->references.count > 0) {
        Builder with_references = {.writer = writer};
        add(&with_references, markdown);
        add_references(writer, &with_references);
        markdown = built(&with_references);
    }
    return without_ends(markdown);
}
