/* Formulas, once each, as TeX between dollar signs. */
#include "cut.h"
#include "render.h"

#include <string.h>

enum { MOST_NESTED = 50 }; /* MathML nested deeper is taken as its text */

/* Classes of what only shows a formula that another element holds as text. */
static const char *const COPIES[] = {"katex-html",
                                     "MathJax",
                                     "MathJax_Display",
                                     "MathJax_Preview",
                                     "MathJax_SVG",
                                     "MathJax_SVG_Display",
                                     "MathJax_CHTML",
                                     "MJXc-display",
                                     "mjx-chtml",
                                     "mwe-math-fallback-image-inline",
                                     "mwe-math-fallback-image-display"};
enum { COPY_COUNT = sizeof COPIES / sizeof *COPIES };

/* The formula within `{\displaystyle ...}`, or all of it. */
static String without_style(String tex) {
    static const char *const starts[] = {"{\\displaystyle", "{\\textstyle", "{\\scriptstyle"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts_with(tex, starts[i]) && tex.length > strlen(starts[i]) && tex.bytes[tex.length - 1] == '}')
            return stripped(slice(tex, strlen(starts[i]), tex.length - 1));
    return tex;
}

/* A formula between dollar signs, empty when there is none. Dollar signs inside would end it and are left out. */
String tex_span(Writer *writer, String tex, bool display) {
    tex = without_style(stripped(replaced(writer, plain(writer, tex), '$', LITERAL(""))));
    String mark = display ? LITERAL("$$") : LITERAL("$");
    return tex.length == 0 ? tex : JOIN(writer, mark, tex, mark);
}

/* Write a formula: a block of its own if it is a display and there is room for one. */
static void put_tex(Writer *writer, String tex, bool display) {
    display = display && writer->context->flow;
    String span = tex_span(writer, tex, display);
    if (span.length != 0 && display)
        put_block(writer, &span, 1);
    else if (span.length != 0)
        put(writer, LITERAL(""), span);
}

static bool is_copy(Writer *writer, const Node *node) {
    String classes = node->type != ELEMENT_NODE ? LITERAL("") : attribute_of(writer, node, A_CLASS);
    for (size_t start = 0, end; start < classes.length; start = end + 1) {
        for (end = start; end < classes.length && !(classes.bytes[end] < 0x80 && is_space(classes.bytes[end]));)
            end++;
        for (int i = 0; i < COPY_COUNT; i++)
            if (end - start == strlen(COPIES[i]) && memcmp(classes.bytes + start, COPIES[i], end - start) == 0)
                return true;
    }
    return false;
}

static bool says_display(Writer *writer, const Node *node) {
    return contains(attribute_of(writer, node, A_CLASS), "katex-display");
}

/* Unlink the pictures of a formula that stand behind it; whether one says that it is a display. */
static bool drop_copies(Writer *writer, const Node *node) {
    bool display = false;
    const Node *holder = node->parent;
    for (int i = 0; i < 2 && holder != NULL; i++, holder = holder->parent) {
        display = display || says_display(writer, holder);
        if (holder->next != NULL && is_copy(writer, holder->next))
            unlink_node(holder->next);
    }
    return display || (holder != NULL && says_display(writer, holder));
}

/* Whether presentation MathML of an element is read; other elements show nothing. */
static bool is_shown(int element) {
    return element == E_TEXT || element == E_MATH || element == E_SEMANTICS ||
           (element >= E_MACTION && element <= E_MUNDEROVER);
}

/* How elements with a fixed number of parts are put together: `%` stands for the next part. */
typedef struct {
    uint8_t element;
    int parts;
    const char *template;
    bool swapped; /* the second part comes first */
} Template;

static const Template TEMPLATES[] = {
    {E_MFRAC, 2, "\\frac{%}{%}", false}, {E_MROOT, 2, "\\sqrt[%]{%}", true},    {E_MSUP, 2, "%^{%}", false},
    {E_MSUB, 2, "%_{%}", false},         {E_MSUBSUP, 3, "%_{%}^{%}", false},    {E_MUNDER, 2, "%_{%}", false},
    {E_MOVER, 2, "%^{%}", false},        {E_MUNDEROVER, 3, "%_{%}^{%}", false},
};
enum { TEMPLATE_COUNT = sizeof TEMPLATES / sizeof *TEMPLATES };

static String filled(Writer *writer, const Template *template, String *parts) {
    Builder out = {.writer = writer};
    if (template->swapped) {
        String first = parts[0];
        parts[0] = parts[1];
        parts[1] = first;
    }
    for (const char *at = template->template; *at != 0; at++) {
        if (*at == '%')
            add(&out, *parts++);
        else
            add_byte(&out, (uint8_t)*at);
    }
    return built(&out);
}

static String with_between(Writer *writer, const char *start, const String *parts, int64_t count,
                           const char *between, const char *end) {
    Builder out = {.writer = writer};
    add(&out, (String){(const uint8_t *)start, strlen(start)});
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            add(&out, (String){(const uint8_t *)between, strlen(between)});
        add(&out, parts[i]);
    }
    add(&out, (String){(const uint8_t *)end, strlen(end)});
    return built(&out);
}

/* The words of all texts within, with a space between. */
static String words_within(Writer *writer, const Node *node) {
    Builder text = {.writer = writer};
    for (const Node *inner = node; inner != NULL; inner = following(inner, node)) {
        add(&text, page_text(writer, inner));
        add_byte(&text, ' ');
    }
    return plain(writer, built(&text));
}

/* An element of MathML that is being read, and the TeX of its children so far. */
typedef struct {
    const Node *node;
    String *parts;
    int64_t count, room;
} Formula;

/* Elements of a fixed number of parts keep empty ones, in their places. */
static const Template *template_of(int element) {
    for (int i = 0; i < TEMPLATE_COUNT; i++)
        if (TEMPLATES[i].element == element)
            return TEMPLATES + i;
    return NULL;
}

static String tex_of_parts(Writer *writer, Formula *formula) {
    int element = element_of(writer, formula->node);
    const Template *template = template_of(element);
    if (template != NULL && formula->count == template->parts)
        return filled(writer, template, formula->parts);
    if (element == E_MSQRT)
        return with_between(writer, "\\sqrt{", formula->parts, formula->count, " ", "}");
    if (element == E_MTEXT)
        return with_between(writer, "\\text{", formula->parts, formula->count, " ", "}");
    if (element == E_MTR)
        return with_between(writer, "", formula->parts, formula->count, " & ", "");
    if (element == E_MTABLE)
        return with_between(writer, "\\begin{matrix} ", formula->parts, formula->count, " \\\\ ",
                            " \\end{matrix}");
    return with_between(writer, "", formula->parts, formula->count, " ", "");
}

static void add_part(Writer *writer, Formula *formula, String part) {
    if (part.length == 0 && template_of(element_of(writer, formula->node)) == NULL)
        return;
    formula->parts = grown(writer, formula->parts, formula->count, &formula->room, sizeof *formula->parts);
    formula->parts[formula->count++] = part;
}

/* Presentation MathML as TeX: fractions, roots, indices and rows; of anything else its text. */
static String presentation_tex(Writer *writer, const Node *root) {
    Formula stack[MOST_NESTED + 1];
    int depth = 0;
    stack[0] = (Formula){.node = root};
    const Node *child = root->first_child;
    while (true) {
        if (child == NULL) {
            String tex = tex_of_parts(writer, stack + depth);
            if (depth == 0)
                return tex;
            child = stack[depth--].node->next;
            add_part(writer, stack + depth, tex);
            continue;
        }
        int element = element_of(writer, child);
        if (element == E_TEXT) {
            if (!is_blank(child))
                add_part(writer, stack + depth, stripped(page_text(writer, child)));
        } else if (is_shown(element) && depth == MOST_NESTED) {
            add_part(writer, stack + depth, words_within(writer, child));
        } else if (is_shown(element)) {
            stack[++depth] = (Formula){.node = child};
            child = child->first_child;
            continue;
        }
        child = child->next;
    }
}

/* The TeX that an element of MathML carries along; NULL bytes where there is none. */
static String annotation_within(Writer *writer, const Node *node) {
    for (const Node *inner = following(node, node); inner != NULL; inner = following(inner, node))
        if (element_of(writer, inner) == E_ANNOTATION &&
            equal(attribute_of(writer, inner, A_ENCODING), LITERAL("application/x-tex")))
            return text_within(writer, inner);
    return attribute_of(writer, node, A_ALTTEXT);
}

/* `<math>`: its TeX annotation or `alttext` where there is one, otherwise its own notation as TeX.
 *
 * What shows the same formula again for the eye (KaTeX, Wikipedia) is taken out of the tree. */
void put_math(Writer *writer, Node *node) {
    String tex = annotation_within(writer, node);
    bool display = equal(attribute_of(writer, node, A_DISPLAY), LITERAL("block")) || drop_copies(writer, node);
    put_tex(writer, stripped(tex).length != 0 ? tex : presentation_tex(writer, node), display);
}

/* `<script type="math/tex">`, where MathJax 2 keeps the formula; other scripts are nothing.
 *
 * Where MathJax has run, what it shows stands before the script and has been written: it is unlinked, and the page
 * is to be rendered again. */
void put_math_script(Writer *writer, Node *node) {
    String type = attribute_of(writer, node, A_TYPE);
    if (!starts_with(type, "math/tex"))
        return;
    while (node->previous != NULL && is_copy(writer, node->previous)) {
        unlink_node(node->previous);
        writer->found_copies = true;
    }
    if (writer->table == NULL || !writer->context->flow)
        put_tex(writer, text_within(writer, node), contains(type, "mode=display"));
}

/* An `<img>` that shows a formula with its TeX as the alternative text (Wikipedia, WordPress, older forums). */
bool put_math_image(Writer *writer, Node *node) {
    String classes = attribute_of(writer, node, A_CLASS), text = attribute_of(writer, node, A_ALT);
    if (text.length == 0 || !(contains(classes, "mwe-math-fallback") || contains(classes, "tex")))
        return false;
    put_tex(writer, text, contains(classes, "display"));
    return true;
}
