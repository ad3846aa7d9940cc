/* Code: inline and in blocks. */
#include "render.h"

#include <string.h>

enum { MOST_LANGUAGE = 31, LEAST_FENCE = 3, HOLDERS = 3 };

static const char *const NO_LANGUAGES[] = {
    "auto",        "code",  "code-block", "copy", "default", "hljs",    "language", "nohighlight", "none",
    "notranslate", "plain", "plaintext",  "pre",  "text",    "toolbar", "txt",      "wrapper"};
enum { NO_LANGUAGE_COUNT = sizeof NO_LANGUAGES / sizeof *NO_LANGUAGES };

/* Classes of gutters of line numbers. */
static const char *const GUTTERS[] = {"linenumber", "linenumbers", "line-number",     "line-numbers", "lineno",
                                      "linenos",    "linenodiv",   "linenosdiv",      "gutter",       "lnum",
                                      "ln-num",     "blob-num",    "hljs-ln-numbers", "rouge-gutter"};
enum { GUTTER_COUNT = sizeof GUTTERS / sizeof *GUTTERS };

static bool is_white_byte(uint8_t byte) { return byte < 0x80 && is_space(byte); }

static bool is_between_words(uint8_t byte) { return is_white_byte(byte) || byte == '_' || byte == '-'; }

/* Whether `word` stands at `at`, in letters of either case. */
static bool stands_at(String text, size_t at, const char *word) {
    for (; *word != 0; word++, at++) {
        uint8_t byte = at < text.length ? text.bytes[at] : 0;
        if ((*word == '-' ? byte : byte | 0x20) != *word)
            return false;
    }
    return true;
}

static bool is_gutter(String classes) {
    for (size_t at = 0; at < classes.length; at++) {
        if (at > 0 && !is_between_words(classes.bytes[at - 1]))
            continue;
        for (int i = 0; i < GUTTER_COUNT; i++) {
            size_t end = at + strlen(GUTTERS[i]);
            if (stands_at(classes, at, GUTTERS[i]) &&
                (end == classes.length || is_between_words(classes.bytes[end])))
                return true;
        }
    }
    return false;
}

static bool is_line(String classes) {
    for (size_t at = 0; at + 4 <= classes.length; at++)
        if ((at == 0 || is_between_words(classes.bytes[at - 1])) && stands_at(classes, at, "line") &&
            (at + 4 == classes.length || is_white_byte(classes.bytes[at + 4])))
            return true;
    return false;
}

static bool is_skipped(int element) {
    return element == E_SCRIPT || element == E_STYLE || element == E_TEMPLATE || element == E_BUTTON;
}

static bool is_line_element(int element) {
    return element == E_DIV || element == E_P || element == E_LI || element == E_TR;
}

/* The lines of code as they are put together. */
typedef struct {
    Builder text;
    bool fresh; /* a line has just begun */
    bool due;   /* what comes next is on a new line, unless it begins with a line break itself */
} Lines;

static void add_code(Lines *lines, String text) {
    if (text.length == 0)
        return;
    if (lines->due && text.bytes[0] != '\n')
        add_byte(&lines->text, '\n');
    add(&lines->text, text);
    lines->fresh = text.bytes[text.length - 1] == '\n';
    lines->due = false;
}

static void add_break(Lines *lines) {
    add(&lines->text, lines->due ? LITERAL("\n\n") : LITERAL("\n"));
    lines->fresh = true;
    lines->due = false;
}

typedef struct {
    const Node *node;
    bool is_line;
} Opened;

/* Whether an element holds nothing but white space. Found out without its text put together: such elements may be
 * nested thousands deep. */
static bool is_blank_within(const Node *node) {
    for (const Node *inner = node; inner != NULL; inner = following(inner, node))
        if (stripped(text_of(inner)).length != 0)
            return false;
    return true;
}

/* Whether an element in code is a gutter of line numbers. */
static bool numbers_lines(Writer *writer, const Node *node, String classes) {
    if (is_gutter(classes))
        return true;
    return has_attribute(writer, node, A_DATA_LINE_NUMBER) && is_blank_within(node);
}

/* The text of code in the lines that are shown, without gutters of line numbers.
 *
 * `<br>` ends a line. Elements that are lines (by their tag, or a class such as `line` or `code-line`) have one to
 * themselves, whether the page has line breaks between them or not. */
static String code_text(Writer *writer, const Node *node) {
    const Node *current = node->first_child;
    if (current == NULL)
        return LITERAL("");
    if (is_only_child(current) && element_of(writer, current) == E_TEXT)
        return page_text(writer, current);
    Lines lines = {.text = {.writer = writer}, .fresh = true};
    Opened *stack = NULL;
    int64_t depth = 0, room = 0;
    while (true) {
        if (current == NULL) {
            if (depth == 0)
                return built(&lines.text);
            Opened opened = stack[--depth];
            current = opened.node;
            lines.due = lines.due || (opened.is_line && !lines.fresh);
            current = current->next;
            continue;
        }
        int element = element_of(writer, current);
        if (element == E_TEXT) {
            add_code(&lines, page_text(writer, current));
        } else if (element == E_BR) {
            add_break(&lines);
        } else if (!is_skipped(element) && current->type == ELEMENT_NODE) {
            String classes = attribute_of(writer, current, A_CLASS);
            if (element == E_CODE || !numbers_lines(writer, current, classes)) {
                bool line = is_line(classes) || is_line_element(element);
                lines.due = lines.due || (line && !lines.fresh);
                stack = grown(writer, stack, depth, &room, sizeof *stack);
                stack[depth++] = (Opened){current, line};
                current = current->first_child;
                continue;
            }
        }
        current = current->next;
    }
}

/* The length of the run of backticks at `at`. */
static size_t backticks(String text, size_t at) {
    size_t end = at;
    while (end < text.length && text.bytes[end] == '`')
        end++;
    return end - at;
}

/* The shortest length that no run of backticks has. */
static size_t unused_length(Writer *writer, String text) {
    size_t most = 1, length = 1;
    while (most * (most + 1) / 2 <= text.length) /* there is no room for runs of all lengths up to `most` */
        most++;
    uint8_t *used = take(writer, most + 1);
    memset(used, 0, most + 1);
    for (size_t at = 0; at < text.length; at++) {
        size_t run = backticks(text, at);
        if (run <= most)
            used[run] = 1;
        at += run;
    }
    while (used[length])
        length++;
    return length;
}

static size_t longest_run(String text) {
    size_t longest = 0;
    for (size_t at = 0; at < text.length; at++) {
        size_t run = backticks(text, at);
        longest = run > longest ? run : longest;
        at += run;
    }
    return longest;
}

/* `text`, without white space at its ends, as a code span. Its fence is no run of backticks in it. */
static String code_span(Writer *writer, String text) {
    String fence = repeated(writer, '`', contains_byte(text, '`') ? unused_length(writer, text) : 1);
    bool padded = text.bytes[0] == '`' || text.bytes[text.length - 1] == '`';
    String pad = padded ? LITERAL(" ") : LITERAL("");
    return JOIN(writer, fence, pad, text, pad, fence);
}

/* Write the last code span anew, where others have joined it. */
void settle_code(Writer *writer) {
    if (!writer->code_grown)
        return;
    writer->code_grown = false;
    writer->marks[writer->count - 1] = JOIN(writer, writer->code_before, code_span(writer, built(&writer->code)));
}

/* Write a code span. Two side by side would be read as one with backticks inside, so they become one. */
static void put_span(Writer *writer, String text) {
    if (writer->code_at == writer->count && !writer->ws && goes_on(writer, LITERAL("`"))) {
        writer->code_grown = true;
    } else {
        String span = code_span(writer, text);
        put(writer, LITERAL(""), span);
        String mark = writer->marks[writer->count - 1];
        writer->code_before = slice(mark, 0, mark.length - span.length);
        writer->code = (Builder){.writer = writer};
    }
    add(&writer->code, text);
    writer->code_at = writer->count;
}

static void put_inline_text(Writer *writer, const Node *node) {
    String text = code_text(writer, node), inner = plain(writer, text);
    if (inner.length == 0) {
        writer->ws = writer->ws || text.length != 0;
        return;
    }
    writer->ws = writer->ws || is_space(first_code(text));
    put_span(writer, inner);
    writer->ws = is_space(last_code(text));
}

/* `<code>`, `<samp>`, `<kbd>`, `<tt>`: a code span; inside a link, where it holds nothing but that. */
void put_inline_code(Writer *writer, Node *node) {
    Node *child = node->first_child;
    if (is_only_child(child) && element_of(writer, child) == E_A && begin_link(writer, child)) {
        put_inline_text(writer, child);
        close_inline(writer);
    } else {
        put_inline_text(writer, node);
    }
}

/* Whether a whole block is the gutter of the one beside it, as in tables with one cell for each. */
static bool is_gutter_block(Writer *writer, const Node *node, String text) {
    for (const uint8_t *at = text.bytes; at < text.bytes + text.length; at++)
        if (!is_white_byte(*at) && (*at < '0' || *at > '9'))
            return false;
    const Node *holder = node->parent;
    for (int i = 0; i < HOLDERS && holder != NULL; i++, holder = holder->parent)
        if (is_gutter(attribute_of(writer, holder, A_CLASS)))
            return true;
    return false;
}

/* The name of a language at `at`, empty where none stands there. */
static String name_at(String text, size_t at) {
    size_t end = at;
    if (at >= text.length || (text.bytes[at] | 0x20) < 'a' || (text.bytes[at] | 0x20) > 'z')
        return LITERAL("");
    while (end < text.length && end - at < MOST_LANGUAGE &&
           (((text.bytes[end] | 0x20) >= 'a' && (text.bytes[end] | 0x20) <= 'z') ||
            (text.bytes[end] >= '0' && text.bytes[end] <= '9') || strchr("+#_.-", text.bytes[end]) != NULL) &&
           text.bytes[end] != 0)
        end++;
    return slice(text, at, end);
}

static bool is_language(String name) {
    if (name.length == 0)
        return false;
    for (int i = 0; i < NO_LANGUAGE_COUNT; i++)
        if (name.length == strlen(NO_LANGUAGES[i]) && stands_at(name, 0, NO_LANGUAGES[i]))
            return false;
    return true;
}

static size_t skip(String text, size_t at, const char *word) {
    size_t size = strlen(word);
    return at + size <= text.length && memcmp(text.bytes + at, word, size) == 0 ? at + size : 0;
}

/* The name that a highlighter gives its language at `at`, the start of a class: Prism and highlight.js
 * (language-x, lang-x, hljs x), GitHub (highlight-source-x), Sphinx (highlight-x), pandoc (sourceCode x),
 * SyntaxHighlighter (brush: x). */
static String named_at(String classes, size_t at) {
    static const char *const starts[] = {"language-", "lang-", "highlight-source-", "highlight-text-",
                                         "highlight-"};
    size_t after;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if ((after = skip(classes, at, starts[i])) != 0) {
            String name = name_at(classes, after);
            if (name.length != 0)
                return name;
        }
    if ((after = skip(classes, at, "brush:")) != 0) {
        while (after < classes.length && is_white_byte(classes.bytes[after]))
            after++;
        return name_at(classes, after);
    }
    if ((after = skip(classes, at, "hljs")) == 0)
        after = skip(classes, at, "sourceCode");
    size_t word = after;
    while (word < classes.length && is_white_byte(classes.bytes[word]))
        word++;
    if (after == 0 || word == after)
        return LITERAL("");
    size_t prefixed = skip(classes, word, "language-");
    prefixed = prefixed != 0 ? prefixed : skip(classes, word, "lang-");
    return name_at(classes, prefixed != 0 ? prefixed : word);
}

/* The language that an element names, empty where it names none. */
static String language_of_element(Writer *writer, const Node *node) {
    static const uint8_t attributes[] = {A_DATA_LANG, A_DATA_LANGUAGE};
    for (size_t i = 0; i < sizeof attributes; i++) {
        String value = stripped(attribute_of(writer, node, attributes[i]));
        String name = value.length == 0 ? value : name_at(value, 0);
        if (name.length == value.length && is_language(name))
            return name;
    }
    String classes = attribute_of(writer, node, A_CLASS);
    for (size_t at = 0; at < classes.length; at++) {
        if (at > 0 && !is_white_byte(classes.bytes[at - 1]))
            continue;
        String name = named_at(classes, at);
        if (is_language(name))
            return name;
        if (name.length != 0)
            at = (size_t)(name.bytes - classes.bytes) + name.length - 1;
    }
    return LITERAL("");
}

/* The language that the block, its `<code>`, or one of two elements around it names. */
static String language_of(Writer *writer, const Node *node) {
    const Node *code = following(node, node);
    while (code != NULL && element_of(writer, code) != E_CODE)
        code = following(code, node);
    const Node *parent = node->parent;
    const Node *elements[] = {code, node, parent, parent == NULL ? NULL : parent->parent};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        String name = elements[i] == NULL ? LITERAL("") : language_of_element(writer, elements[i]);
        if (name.length != 0)
            return name;
    }
    return LITERAL("");
}

/* `text` in lines without white space at their ends, between `first` and room for one more. Returns how many there
 * are, without empty ones at the start and the end. */
static String *lines_of(Writer *writer, String text, size_t *count_out) {
    size_t count = 1, start = 0, filled = 0;
    for (size_t i = 0; i < text.length; i++)
        count += text.bytes[i] == '\n';
    String *lines = take(writer, (count + 2) * sizeof *lines), *line = lines + 1;
    for (size_t i = 0; i <= text.length; i++) {
        if (i < text.length && text.bytes[i] != '\n')
            continue;
        String piece = stripped_right(slice(text, start, i));
        start = i + 1;
        if (piece.length == 0 && line == lines + 1)
            continue;
        *line++ = piece;
        filled = piece.length != 0 ? (size_t)(line - lines) - 1 : filled;
    }
    *count_out = filled;
    return lines;
}

/* `<pre>`: a fenced block; where there is room for one line only, a code span. */
void put_code_block(Writer *writer, Node *node) {
    String text = verbatim(writer, code_text(writer, node));
    if (!writer->context->flow) {
        String words = plain(writer, text);
        if (words.length != 0) {
            writer->ws = true;
            put_span(writer, words);
            writer->ws = true;
        }
        return;
    }
    size_t count;
    String *lines = lines_of(writer, text, &count);
    if (count == 0 || is_gutter_block(writer, node, text))
        return;
    size_t longest = longest_run(text);
    String fence = repeated(writer, '`', longest + 1 > LEAST_FENCE ? longest + 1 : LEAST_FENCE);
    lines[0] = JOIN(writer, fence, language_of(writer, node));
    lines[count + 1] = fence;
    put_block(writer, lines, count + 2);
}
