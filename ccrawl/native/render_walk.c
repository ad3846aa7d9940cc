/* The walk over the tree, and what each element renders to. */
#include "arena.h"
#include "native.h"
#include "render.h"

#include <stdlib.h>
#include <string.h>

/* Elements that stand on lines of their own and need no markup. */
static const uint8_t BLOCKS[] = {E_ADDRESS,  E_ARTICLE,    E_ASIDE,   E_BODY,    E_CAPTION, E_CENTER,   E_COL,
                                 E_COLGROUP, E_DD,         E_DETAILS, E_DIALOG,  E_DIV,     E_DL,       E_DT,
                                 E_FIELDSET, E_FIGCAPTION, E_FIGURE,  E_FOOTER,  E_FORM,    E_FRAMESET, E_HEADER,
                                 E_HGROUP,   E_HTML,       E_LEGEND,  E_MAIN,    E_NAV,     E_OPTGROUP, E_OPTION,
                                 E_P,        E_SEARCH,     E_SECTION, E_SUMMARY, E_TBODY,   E_TFOOT,    E_THEAD};

/* Elements that render nothing, whatever is inside.
 *
 * Code and metadata; fallback for embedded content, which a browser shows only where it can't show the content
 * itself (iframe, object, video, audio, canvas); drawings (svg); what a visitor may choose or has typed in a form
 * (select, datalist, textarea); the parentheses of ruby, which are written whether the page has them or not. */
static const uint8_t SKIPPED[] = {E_STYLE, E_TEMPLATE, E_HEAD,     E_TITLE,    E_NOFRAMES, E_NOEMBED,  E_IFRAME,
                                  E_FRAME, E_OBJECT,   E_EMBED,    E_APPLET,   E_VIDEO,    E_AUDIO,    E_CANVAS,
                                  E_SVG,   E_SELECT,   E_DATALIST, E_TEXTAREA, E_METER,    E_PROGRESS, E_AREA,
                                  E_MAP,   E_SOURCE,   E_TRACK,    E_PARAM,    E_RP,       E_META,     E_LINK,
                                  E_BASE,  E_BASEFONT, E_BGSOUND};

static bool is_among(const uint8_t *elements, size_t count, int element) {
    return memchr(elements, element, count) != NULL;
}

static Close inline_with(Writer *writer, InlineKind kind, String open, String close) {
    return open_inline(writer, kind, open, close) ? close_inline : JUST_FOLLOWS;
}

static Close emphasis(Writer *writer, InlineKind kind) {
    static const uint8_t marks[][2] = {{DELIMITER_BYTE, 's'}, {DELIMITER_BYTE, 'e'}, {DELIMITER_BYTE, 'd'}};
    String close = kind == STRONG ? LITERAL("**") : kind == EMPHASIS ? LITERAL("*") : LITERAL("~~");
    return inline_with(writer, kind, (String){marks[kind], 2}, close);
}

static void end_control(Writer *writer) { writer->ws = true; }

/* `<br>`: a hard break; two in a row are a paragraph's end, as pages of old mean them. */
static Close break_line(Writer *writer) {
    if (writer->brk == NOTHING)
        writer->brk = BREAK;
    else if (writer->brk == BREAK)
        writer->brk = PARAGRAPH;
    return skip_children;
}

/* `<hr>`. Right behind a list marker `---` would be one line of dashes with it. */
static Close put_rule(Writer *writer) {
    String rule = writer->context->has_lead ? LITERAL("___") : LITERAL("---");
    if (writer->context->flow)
        put_block(writer, &rule, 1);
    return skip_children;
}

static Close written(Writer *writer, Node *node, void (*write)(Writer *, Node *)) {
    write(writer, node);
    return skip_children;
}

/* What is done at an element: it is written, or opened. */
static Close open_element(Writer *writer, Node *node, int element) {
    switch (element) {
    case E_H1:
    case E_H2:
    case E_H3:
    case E_H4:
    case E_H5:
    case E_H6:
        return open_heading(writer, element - E_H1 + 1);
    case E_UL:
    case E_OL:
    case E_MENU:
    case E_DIR:
        return open_list(writer, node);
    case E_LI:
        return open_item(writer, node);
    case E_BLOCKQUOTE:
        return open_quote(writer, node);
    case E_TABLE:
        return open_table(writer, node);
    case E_TR:
        return open_row(writer);
    case E_TD:
    case E_TH:
        return open_cell(writer, node);
    case E_A:
        return open_link(writer, node);
    case E_B:
    case E_STRONG:
        return emphasis(writer, STRONG);
    case E_I:
    case E_EM:
        return emphasis(writer, EMPHASIS);
    case E_DEL:
    case E_S:
    case E_STRIKE:
        return emphasis(writer, DELETED);
    case E_SUB:
        return inline_with(writer, SUBSCRIPT, LITERAL("<sub>"), LITERAL("</sub>"));
    case E_SUP: /* as HTML, or a footnote's reference */
        return put_reference(writer, node) ? skip_children
                                           : inline_with(writer, SUPERSCRIPT, LITERAL("<sup>"), LITERAL("</sup>"));
    case E_Q:
        return inline_with(writer, QUOTATION, LITERAL("\""), LITERAL("\""));
    case E_RT:
        return inline_with(writer, RUBY, LITERAL("("), LITERAL(")"));
    case E_BUTTON:
    case E_LABEL: /* a browser shows them apart from the text around them */
        writer->ws = true;
        return end_control;
    case E_BR:
        return break_line(writer);
    case E_HR:
        return put_rule(writer);
    case E_IMG:
        return written(writer, node, put_image);
    case E_INPUT:
        return written(writer, node, put_checkbox);
    case E_NOSCRIPT:
        return written(writer, node, put_images_without_script);
    case E_PRE:
    case E_LISTING:
    case E_XMP:
        return written(writer, node, put_code_block);
    case E_CODE:
    case E_KBD:
    case E_SAMP:
    case E_TT:
        return written(writer, node, put_inline_code);
    case E_MATH:
        return written(writer, node, put_math);
    case E_SCRIPT:
        return written(writer, node, put_math_script);
    default:
        break;
    }
    if (element == NO_ELEMENT || is_among(SKIPPED, sizeof SKIPPED, element))
        return skip_children;
    if (!is_among(BLOCKS, sizeof BLOCKS, element))
        return JUST_FOLLOWS;
    writer->brk = PARAGRAPH;
    return end_block;
}

/* Writes a text node. White space at its ends is remembered, not written. */
static void put_text(Writer *writer, String text) {
    bool before, after;
    text = visible(text, &before, &after);
    writer->ws = writer->ws || before;
    if (text.length == 0)
        return;
    part_words(writer, text);
    if (writer->brk == NOTHING && !writer->opening && writer->closed_count == 0 && writer->tail.length == 0)
        append(writer, writer->ws ? LITERAL(" ") : LITERAL(""), text);
    else
        put(writer, text, LITERAL(""));
    writer->ws = after;
}

/* Whether the element's text belongs to the word before it: the number of a note, an index. */
static bool is_script(int element) { return element == E_SUB || element == E_SUP || element == E_RT; }

static void begin_seam(Writer *writer, int element) {
    if (element != NO_ELEMENT)
        writer->seam = writer->seam == NO_SEAM || is_script(element) ? NO_SEAM : ELEMENTS_MEET;
}

static void end_seam(Writer *writer, int element) {
    if (element != NO_ELEMENT)
        writer->seam = is_script(element) ? NO_SEAM : ELEMENT_ENDED;
}

typedef struct {
    Node *node;
    Close close;
} Opened;

static void write_tree(Writer *writer, Node *root) {
    Opened *stack = NULL;
    int64_t depth = 0, room = 0;
    Node *node = root;
    while (true) {
        if (node == NULL) {
            Opened opened = stack[--depth];
            node = opened.node;
            if (opened.close != JUST_FOLLOWS)
                opened.close(writer);
            end_seam(writer, element_of(writer, node));
        } else {
            int element = element_of(writer, node);
            if (element == E_TEXT) {
                put_text(writer, page_text(writer, node));
            } else {
                begin_seam(writer, element);
                Close close = open_element(writer, node, element);
                if (close != skip_children && node->first_child != NULL) {
                    stack = grown(writer, stack, depth, &room, sizeof *stack);
                    stack[depth++] = (Opened){node, close};
                    node = node->first_child;
                    continue;
                }
                if (close != JUST_FOLLOWS && close != skip_children)
                    close(writer);
                end_seam(writer, element);
            }
        }
        if (depth == 0)
            return;
        node = node->next;
    }
}

static Writer new_writer(const RenderTables *tables, const RenderRequest *request, Arena *arena, jmp_buf *out) {
    Writer writer = {
        .tables = tables, .request = request, .arena = arena, .out = out, .brk = PARAGRAPH, .code_at = -1};
    writer.tail = LITERAL("");
    return writer;
}

static String render(const RenderTables *tables, const RenderRequest *request, Node *root, Arena *arena,
                     jmp_buf *out) {
    Writer writer = new_writer(tables, request, arena, out);
    remove_hidden(&writer, root);
    writer.context = new_context(&writer, NULL, LITERAL(""), LITERAL(""), NOTHING);
    write_tree(&writer, root);
    if (writer.found_copies) { /* of formulas, after they had been written: they are out of the tree now */
        writer = new_writer(tables, request, arena, out);
        writer.context = new_context(&writer, NULL, LITERAL(""), LITERAL(""), NOTHING);
        write_tree(&writer, root);
    }
    return finish(&writer);
}

static int render_into(const RenderTables *tables, const RenderRequest *request, Node *root, Arena *arena,
                       uint8_t **out, int64_t *length) {
    jmp_buf no_memory;
    if (setjmp(no_memory) != 0)
        return NO_MEMORY;
    String markdown = render(tables, request, root, arena, &no_memory);
    *out = malloc(markdown.length + 1);
    if (*out == NULL)
        return NO_MEMORY;
    if (markdown.length != 0)
        memcpy(*out, markdown.bytes, markdown.length);
    *length = (int64_t)markdown.length;
    return 0;
}

/* The Markdown of the subtree at `root` in *out, which ccrawl_free_text gives back. 0, or NO_MEMORY.
 *
 * Elements that are not shown are unlinked from the tree on the way; rendering again gives the same. */
EXPORTED int ccrawl_render(const RenderTables *tables, const RenderRequest *request, Node *root, uint8_t **out,
                           int64_t *length) {
    Arena arena = {NULL, NULL, 0};
    *out = NULL;
    *length = 0;
    int result = render_into(tables, request, root, &arena, out, length);
    arena_free(&arena);
    return result;
}

EXPORTED void ccrawl_free_text(uint8_t *text) { free(text); }
