/* The Markdown of a tree: what the parts of the renderer share.
 *
 * Writing is lazy. A block boundary, a list marker, `**` or `[` are only remembered when their element opens, and
 * written when text arrives: so an empty element leaves nothing behind, and boundaries never pile up.
 *
 * Two arrays grow side by side: texts[i] is text as the page has it, without the white space at its ends, neither
 * spaced nor escaped inside; marks[i] is the finished Markdown that stands before it. Texts are spaced and escaped
 * when the page is done (render_finish.c). What is no text of the page (an image, a code span) is a mark before an
 * empty text.
 *
 * All memory of a rendering is in one arena; where there is no more of it, the rendering ends by longjmp. Depth
 * costs nothing but memory, and time is linear in the page.
 */
#ifndef CCRAWL_RENDER_H
#define CCRAWL_RENDER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dictionary.h"
#include "lexbor.h"

/* Elements that are told apart. The caller says lexbor's number of each that lexbor knows. */
#define RENDER_ELEMENTS(X)                                                                                             \
    X(A, "a") X(ADDRESS, "address") X(ANNOTATION, "annotation") X(APPLET, "applet") X(AREA, "area")                    \
    X(ARTICLE, "article") X(ASIDE, "aside") X(AUDIO, "audio") X(B, "b") X(BASE, "base") X(BASEFONT, "basefont")        \
    X(BGSOUND, "bgsound") X(BLOCKQUOTE, "blockquote") X(BODY, "body") X(BR, "br") X(BUTTON, "button")                  \
    X(CANVAS, "canvas") X(CAPTION, "caption") X(CENTER, "center") X(CODE, "code") X(COL, "col")                        \
    X(COLGROUP, "colgroup") X(DATALIST, "datalist") X(DD, "dd") X(DEL, "del") X(DETAILS, "details")                    \
    X(DIALOG, "dialog") X(DIR, "dir") X(DIV, "div") X(DL, "dl") X(DT, "dt") X(EM, "em") X(EMBED, "embed")              \
    X(FIELDSET, "fieldset") X(FIGCAPTION, "figcaption") X(FIGURE, "figure") X(FOOTER, "footer") X(FORM, "form")        \
    X(FRAME, "frame") X(FRAMESET, "frameset") X(H1, "h1") X(H2, "h2") X(H3, "h3") X(H4, "h4") X(H5, "h5")              \
    X(H6, "h6") X(HEAD, "head") X(HEADER, "header") X(HGROUP, "hgroup") X(HR, "hr") X(HTML, "html") X(I, "i")          \
    X(IFRAME, "iframe") X(IMG, "img") X(INPUT, "input") X(KBD, "kbd") X(LABEL, "label") X(LEGEND, "legend")            \
    X(LI, "li") X(LINK, "link") X(LISTING, "listing") X(MAIN, "main") X(MAP, "map") X(MATH, "math")                    \
    X(MENU, "menu") X(META, "meta") X(METER, "meter") X(NAV, "nav") X(NOEMBED, "noembed")                              \
    X(NOFRAMES, "noframes") X(NOSCRIPT, "noscript") X(OBJECT, "object") X(OL, "ol") X(OPTGROUP, "optgroup")            \
    X(OPTION, "option") X(P, "p") X(PARAM, "param") X(PRE, "pre") X(PROGRESS, "progress") X(Q, "q") X(RP, "rp")        \
    X(RT, "rt") X(S, "s") X(SAMP, "samp") X(SCRIPT, "script") X(SEARCH, "search") X(SECTION, "section")                \
    X(SELECT, "select") X(SOURCE, "source") X(STRIKE, "strike") X(STRONG, "strong") X(STYLE, "style")                  \
    X(SUB, "sub") X(SUMMARY, "summary") X(SUP, "sup") X(SVG, "svg") X(TABLE, "table") X(TBODY, "tbody")                \
    X(TD, "td") X(TEMPLATE, "template") X(TEXTAREA, "textarea") X(TFOOT, "tfoot") X(TH, "th")                          \
    X(THEAD, "thead") X(TITLE, "title") X(TR, "tr") X(TRACK, "track") X(TT, "tt") X(UL, "ul") X(VIDEO, "video")        \
    X(XMP, "xmp") X(MACTION, "maction") X(MENCLOSE, "menclose") X(MERROR, "merror") X(MFENCED, "mfenced")              \
    X(MFRAC, "mfrac") X(MI, "mi") X(MLABELEDTR, "mlabeledtr") X(MMULTISCRIPTS, "mmultiscripts") X(MN, "mn")            \
    X(MO, "mo") X(MOVER, "mover") X(MPADDED, "mpadded") X(MROOT, "mroot") X(MROW, "mrow") X(MS, "ms")                  \
    X(MSPACE, "mspace") X(MSQRT, "msqrt") X(MSTYLE, "mstyle") X(MSUB, "msub") X(MSUBSUP, "msubsup")                    \
    X(MSUP, "msup") X(MTABLE, "mtable") X(MTD, "mtd") X(MTEXT, "mtext") X(MTR, "mtr") X(MUNDER, "munder")              \
    X(MUNDEROVER, "munderover") X(SEMANTICS, "semantics")

/* Attributes that are read. */
#define RENDER_ATTRIBUTES(X)                                                                                           \
    X(ALIGN, "align") X(ALT, "alt") X(ALTTEXT, "alttext") X(CHECKED, "checked") X(CLASS, "class")                      \
    X(COLSPAN, "colspan") X(DATA_LANG, "data-lang") X(DATA_LANGUAGE, "data-language")                                  \
    X(DATA_LAZY, "data-lazy") X(DATA_LAZY_SRC, "data-lazy-src") X(DATA_LAZY_SRCSET, "data-lazy-srcset")                \
    X(DATA_LINE_NUMBER, "data-line-number") X(DATA_ORIGINAL, "data-original")                                          \
    X(DATA_ORIGINAL_SRC, "data-original-src") X(DATA_SRC, "data-src") X(DATA_SRCSET, "data-srcset")                    \
    X(DISPLAY, "display") X(ENCODING, "encoding") X(HEIGHT, "height") X(HIDDEN, "hidden") X(HREF, "href")              \
    X(ID, "id") X(REVERSED, "reversed") X(ROLE, "role") X(ROWSPAN, "rowspan") X(SRC, "src")                            \
    X(SRCSET, "srcset") X(START, "start") X(STYLE, "style") X(TITLE, "title") X(TYPE, "type")                          \
    X(VALUE, "value") X(WIDTH, "width")

#define ELEMENT_ENTRY(name, text) E_##name,
#define RENDER_ATTRIBUTE_ENTRY(name, text) A_##name,
enum { NO_ELEMENT, E_TEXT, E_OTHER, RENDER_ELEMENTS(ELEMENT_ENTRY) ELEMENTS };
enum { NO_ATTRIBUTE, RENDER_ATTRIBUTES(RENDER_ATTRIBUTE_ENTRY) RENDER_ATTRIBUTES_END };

/* Characters, as the caller's table has them: letters, marks and digits; letters and digits; small
 * letters, capitals, digits. */
enum { IN_WORD = 1, ALPHANUMERIC = 2, SMALL = 4, CAPITAL = 8, DIGIT_CHARACTER = 16 };

/* Made once by ccrawl_render_tables; read only. */
typedef struct {
    uint8_t element[MOST_KNOWN_NAMES];   /* by lexbor's number */
    uint8_t attribute[MOST_KNOWN_NAMES];
    Dictionary elements; /* by name, where lexbor has no number */
    Dictionary attributes;
    const uint8_t *characters; /* CODE_POINTS */
} RenderTables;

enum { LINKS_KEEP, LINKS_DROP, LINKS_REFERENCE };
enum { IMAGES_KEEP, IMAGES_ALT, IMAGES_DROP };
enum { HEADINGS_ATX, HEADINGS_SETEXT };

/* The destination of a reference, for those that are not simple: UTF-8 that lives until the rendering ends. */
typedef const uint8_t *(*Resolve)(const uint8_t *reference, int64_t length, int64_t *length_out);

/* What a rendering is asked for, as the caller has it. */
typedef struct {
    int64_t links, images, headings;
    const uint8_t *scheme, *origin, *directory; /* of the base, for simple references; "" where it has none */
    int64_t scheme_length, origin_length, directory_length;
    Resolve resolve;
} RenderRequest;

/* Placeholders in texts and marks: bytes that no UTF-8 has. They stand for characters whose escape depends on
 * what they stand in, which only the walk knows, and for marks that are settled at the end. */
enum {
    PIPE_BYTE = 0xF8,
    OPEN_BRACKET_BYTE,
    CLOSE_BRACKET_BYTE,
    EXCLAMATION_BYTE,
    HASH_BYTE,
    UNDERLINED_BYTE, /* the lead of a heading, until it is known whether it can be underlined */
    DELIMITER_BYTE,  /* of an emphasis, so that it can still become HTML; the kind's letter follows */
    LINE_BYTE,       /* the start of a line of text that begins with one of LINE_STARTS */
};

#define LITERAL(text) ((String){(const uint8_t *)(text), sizeof(text) - 1})

/* How much separates what is written from what comes. */
typedef enum { NOTHING, BREAK, NEXT_LINE, PARAGRAPH, SEPARATIONS } Separation;

enum { MOST_DEPTH = 16 }; /* quotes and lists nested deeper add no prefix: indentation stays linear */

/* What lines are written in: the document, a quote, an item, or a heading or cell, which are one line. */
typedef struct Context Context;
struct Context {
    Context *parent;
    String lead; /* what the first line begins with */
    bool has_lead; /* it is still to be written */
    bool flow;     /* blocks can stand inside */
    bool line_starts; /* text at the start of a line could be read as the start of a block */
    Separation separation; /* of the first line from what stands before */
    int depth;
    String prefix; /* what each further line begins with */
    String breaks[SEPARATIONS];
    uint8_t closed_marker; /* of a list that ended here, and how many texts there were then */
    int64_t closed_at;
};

typedef struct List List;
struct List {
    Context *context;
    Context *item; /* of its last item */
    int64_t number, step;
    Separation separation; /* of its first item from what stands before */
    uint8_t marker;        /* '-', '*', or what follows the number of an item, '.' or ')' */
    bool tight, written;
};

typedef struct {
    int64_t start, end; /* the texts in it */
    int64_t columns, rows;
    uint8_t align; /* 'l', 'c', 'r' or 0 */
} Cell;

typedef struct Row Row;
struct Row {
    Cell *cells;
    int64_t count, room;
};

typedef struct Table Table;
struct Table {
    bool header; /* the first row is one */
    int64_t widest;
    Context *context; /* what the cells stand in, one after another */
    Row *rows;
    int64_t count, room;
};

typedef enum { STRONG, EMPHASIS, DELETED, SUBSCRIPT, SUPERSCRIPT, QUOTATION, RUBY, ANCHOR, KINDS } InlineKind;

/* What has ended and begun since the last text: nothing; an inline element; and another right behind it. */
typedef enum { NO_SEAM, ELEMENT_ENDED, ELEMENTS_MEET } Seam;

/* An open inline element that has a mark at each end. */
typedef struct {
    InlineKind kind;
    String open, close;
    int64_t at;    /* the index of the mark that opens it, -1 while that is not written */
    int64_t since; /* how many texts there were when it was opened */
    bool html;     /* its marks are HTML this time */
    bool done;     /* a link that has more than a picture in it, and that further blocks are not part of */
} Inline;

typedef struct Arena Arena;

typedef struct Writer Writer;

/* A string that grows. */
typedef struct {
    Writer *writer;
    uint8_t *bytes;
    int64_t size, room;
} Builder;

/* Strings and a number for each. */
typedef struct {
    String *keys;
    int64_t *values;
    int64_t count, room;
    uint32_t *slots; /* key + 1, or 0 */
    size_t mask;
} Map;

typedef union {
    Context *context;
    List *list;
    Table *table;
    int64_t number;
} Saved;

struct Writer {
    const RenderTables *tables;
    const RenderRequest *request;
    Arena *arena;
    jmp_buf *out; /* where there is no memory */
    String *texts, *marks;
    uint8_t *is_picture; /* of marks */
    int64_t count, room;
    Context *context;
    List *list;
    Table *table;
    Saved *saved; /* what elements put back when they end */
    int64_t saved_count, saved_room;
    Separation brk;
    bool ws;      /* white space has been seen since the last text */
    Seam seam;
    bool opening; /* some of `inlines` are to be written before the next text */
    Inline inlines[KINDS]; /* open, outermost first; one of a kind */
    int inline_count;
    Inline closed[KINDS]; /* written ones that have ended since the last text, innermost first */
    int closed_count;
    String tail; /* the end of a link, finished, to be written before anything else */
    /* The last code span: how many texts there were after it, its text, its mark without itself, and whether
     * that is still without what has joined it. */
    int64_t code_at;
    Builder code;
    String code_before;
    bool code_grown;
    bool found_copies; /* of formulas, after they had been written */
    bool has_notes;    /* `notes` is filled */
    Map notes;         /* ids of what may be a footnote */
    Map noted;         /* those referred to, and the number of their label in `labels` */
    Map labels;
    Map references;
    Map images; /* where pictures are that have been written */
};

/* What is done when the children of an element have been written. */
typedef void (*Close)(Writer *writer);

/* Stand for an element that has been written or shows nothing, and one whose children just follow. */
void skip_children(Writer *writer);
#define JUST_FOLLOWS ((Close)NULL)

void end_block(Writer *writer);

/* --- render_text.c: memory, strings, characters --- */

void *take(Writer *writer, size_t size);
void *grown(Writer *writer, const void *old, int64_t count, int64_t *room, size_t item);
String joined(Writer *writer, const String *parts, size_t count);
#define JOIN(writer, ...) joined(writer, (String[]){__VA_ARGS__}, sizeof((String[]){__VA_ARGS__}) / sizeof(String))
String replaced(Writer *writer, String text, uint8_t byte, String with);
String repeated(Writer *writer, uint8_t byte, size_t count);
String number_text(Writer *writer, int64_t number);

static inline bool is_letter(uint8_t byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

static inline bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static inline String slice(String text, size_t from, size_t to) { return (String){text.bytes + from, to - from}; }
bool equal(String one, String other);
bool starts_with(String text, const char *start);
bool contains(String text, const char *part);
bool contains_byte(String text, uint8_t byte);
int64_t *map_get(const Map *map, String key);
int64_t *map_put(Writer *writer, Map *map, String key, int64_t value); /* the value that is there, or this one */

bool is_space(uint32_t code); /* Unicode's white space, as str.isspace() has it */
uint32_t first_code(String text);
uint32_t last_code(String text);
size_t last_size(String text); /* bytes of the last character */
String first_character(String text);
String last_character(String text); /* empty for an empty text */
String stripped(String text);
String stripped_left(String text);
String stripped_right(String text);
bool is_word(const Writer *writer, String character); /* neither white space nor punctuation nor a symbol */
bool is_alphanumeric(const Writer *writer, uint32_t code);
bool is_unseen(uint32_t code); /* invisible, a control character or no character */
String valid(Writer *writer, String text);
String visible(String text, bool *space_before, bool *space_after);
String plain(Writer *writer, String text);
String verbatim(Writer *writer, String text);

void add(Builder *builder, String text);
void add_byte(Builder *builder, uint8_t byte);
static inline String built(const Builder *builder) { return (String){builder->bytes, (size_t)builder->size}; }

/* --- render_tree.c: elements and attributes --- */

int element_of(const Writer *writer, const Node *node);
bool has_attribute(const Writer *writer, const Node *node, int attribute);
String attribute_of(Writer *writer, const Node *node, int attribute); /* empty where there is none */
String page_text(Writer *writer, const Node *node); /* of a text node */
bool is_only_child(const Node *child);
String text_within(Writer *writer, const Node *node);
void remove_hidden(Writer *writer, Node *root);

/* --- render_writer.c --- */

Context *new_context(Writer *writer, Context *parent, String lead, String prefix, Separation separation);
void one_line(Context *context, String joint);
void put(Writer *writer, String text, String content);
void part_words(Writer *writer, String text);
bool goes_on(Writer *writer, String following);
void put_block(Writer *writer, const String *lines, size_t count);
String break_here(Writer *writer);
void append(Writer *writer, String mark, String text);
bool open_inline(Writer *writer, InlineKind kind, String open, String close);
void close_inline(Writer *writer);
void settle(Writer *writer);
String closing_of_page(Writer *writer);
void save(Writer *writer, Saved value);
Saved restore(Writer *writer);

/* --- the elements --- */

Close open_list(Writer *writer, Node *node);
Close open_item(Writer *writer, Node *node);
Close open_quote(Writer *writer, Node *node);
Close open_heading(Writer *writer, int level);
void end_context(Writer *writer);
void put_checkbox(Writer *writer, Node *node);
Close open_table(Writer *writer, Node *node);
Close open_row(Writer *writer);
Close open_cell(Writer *writer, Node *node);
Close open_link(Writer *writer, Node *node);
bool begin_link(Writer *writer, Node *node);
void put_image(Writer *writer, Node *node);
void put_images_without_script(Writer *writer, Node *node);
String destination_of(Writer *writer, String reference);
void put_inline_code(Writer *writer, Node *node);
void settle_code(Writer *writer);
void put_code_block(Writer *writer, Node *node);
void put_math(Writer *writer, Node *node);
void put_math_script(Writer *writer, Node *node);
bool put_math_image(Writer *writer, Node *node);
String tex_span(Writer *writer, String tex, bool display);
bool put_reference(Writer *writer, Node *node);
bool is_sign(Node *node);
bool open_note(Writer *writer, Node *node);

/* --- render_finish.c --- */

void escape(Builder *out, String text);
String finish(Writer *writer);
bool is_entity(const Writer *writer, String after); /* what follows an ampersand makes it one */

#endif
