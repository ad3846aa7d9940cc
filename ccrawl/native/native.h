/* What the parts of the native code share: the tables that they are given once, and a page's arrays.
 *
 * Rules of the house: nothing is written but the arrays that the caller hands over, so that any number of
 * threads may run; nothing recurses; time and memory are linear in the page. All arrays are numpy's, and each
 * enumeration of rows stands in the order of the Python module of the same name.
 */
#ifndef CCRAWL_NATIVE_H
#define CCRAWL_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "characters.h"
#include "dictionary.h"
#include "lexbor.h"

#if defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

enum { NO_MEMORY = -1, BAD_TREE = -2 };

/* Tags and attributes that are asked for by name; the caller says lexbor's number of each. */
#define KNOWN_TAGS(X)                                                                                               \
    X(TEXT, "-text")                                                                                                \
    X(BR, "br")                                                                                                     \
    X(H1, "h1")                                                                                                     \
    X(H2, "h2")                                                                                                     \
    X(H3, "h3")                                                                                                     \
    X(H4, "h4")                                                                                                     \
    X(H5, "h5")                                                                                                     \
    X(H6, "h6")                                                                                                     \
    X(P, "p")                                                                                                       \
    X(TD, "td")                                                                                                     \
    X(LI, "li")                                                                                                     \
    X(UL, "ul")                                                                                                     \
    X(IMG, "img")                                                                                                   \
    X(FIGURE, "figure")                                                                                             \
    X(ARTICLE, "article")                                                                                           \
    X(MAIN, "main")                                                                                                 \
    X(BLOCKQUOTE, "blockquote")                                                                                     \
    X(NOSCRIPT, "noscript")                                                                                         \
    X(NAV, "nav")                                                                                                   \
    X(FOOTER, "footer")                                                                                             \
    X(ASIDE, "aside")                                                                                               \
    X(HEADER, "header")                                                                                             \
    X(FORM, "form")                                                                                                 \
    X(SELECT, "select")                                                                                             \
    X(DATALIST, "datalist")                                                                                         \
    X(SVG, "svg")                                                                                                   \
    X(SCRIPT, "script")                                                                                             \
    X(META, "meta")                                                                                                 \
    X(TITLE, "title")

#define KNOWN_ATTRIBUTES(X)                                                                                         \
    X(CLASS, "class")                                                                                               \
    X(ID, "id")                                                                                                     \
    X(ROLE, "role")                                                                                                 \
    X(ITEMPROP, "itemprop")                                                                                         \
    X(HIDDEN_, "hidden")                                                                                            \
    X(ARIA_HIDDEN, "aria-hidden")                                                                                   \
    X(STYLE, "style")                                                                                               \
    X(TYPE, "type")                                                                                                 \
    X(PROPERTY, "property")                                                                                         \
    X(NAME, "name")                                                                                                 \
    X(CONTENT, "content")

#define TAG_ENTRY(name, text) TAG_##name,
#define ATTRIBUTE_ENTRY(name, text) ATTRIBUTE_##name,
enum { KNOWN_TAGS(TAG_ENTRY) TAGS };
enum { KNOWN_ATTRIBUTES(ATTRIBUTE_ENTRY) ATTRIBUTES };

enum { IS_INLINE = 1, IS_NAMED = 2 }; /* of a tag's kind */

/* Bits of n_tags that are no tags. */
#define HIDDEN (UINT64_C(1) << 60)
#define SKIP (UINT64_C(1) << 61)

enum { PHRASE_SIGNS = 6 };

/* Characters are counted by class in one register, STEP_BITS each, up to MOST_STEPS of them: counters in memory
 * would each wait for the one before. What a character of a class adds, and in the highest bit whether it is of a
 * word: */
enum { STEP_BITS = 6, MOST_STEPS = 63 };
static inline uint64_t class_step(int class) {
    return UINT64_C(1) << STEP_BITS * class | (class <= WIDE ? UINT64_C(1) << 63 : 0);
}

/* The tables of ccrawl.html.content.tables; read only. */
typedef struct {
    Characters characters;
    uint64_t ascii_steps[0x80]; /* class_step of each */
    int64_t tag_slots;        /* tags are numbered below; the last stands for all that are not known */
    const uint64_t *tag_bits; /* tag_slots: TAG_BIT, SKIP */
    const uint64_t *own_bits; /* tag_slots: OWN_TAGS */
    const uint8_t *tag_kinds; /* tag_slots */
    uint64_t link_bit;        /* of tag_bits */
    uint64_t heading_bits;
    int64_t tag[TAGS];
    int8_t attribute[MOST_KNOWN_NAMES]; /* of each of lexbor's numbers, where in KNOWN_ATTRIBUTES; else -1 */
    Dictionary markup;               /* words of class and id */
    Dictionary phrases;              /* first words of interface text */
    Dictionary first_words;          /* of phrases */
    Dictionary beginnings;           /* their first three characters */
    const uint8_t *after;            /* entry of code points below 0x10000: may stand after a phrase */
    uint64_t sign_bits[PHRASE_SIGNS];
    struct LongWords *long_words; /* words of `markup` that are looked for in longer ones */
} Tables;

/* Rows of Walk.nodes, of Walk.texts and Walk.blocks. */
enum { N_ADDRESS, N_TAG, N_PARENT, N_END, N_DEPTH, N_HIDES, N_MARKUP, N_TAGS, N_MARKUP_ALL, NODE_ROWS };
enum { T_NODE, T_BLOCK, T_ADDRESS, T_SIZE, TEXT_ROWS };
enum { B_NODE, B_FIRST, BLOCK_ROWS };
/* Rows of BlockText.rows: numbers, and the bits of PHRASES. */
enum { X_LENGTH = CLASSES, X_WORDS, X_LINKED, X_LAST, X_IN_BODY, X_IN_DESCRIPTION, X_TITLE, X_PHRASES, BLOCK_TEXT_ROWS };
/* Rows of Evidence.places. */
enum { P_BOX, P_SHAPE = P_BOX + 4, P_HEADING, PLACE_ROWS };

/* Walk's arrays, row by row. */
typedef struct {
    int64_t nodes, texts, blocks;
    int64_t *n_address, *n_tag, *n_parent, *n_end, *n_depth, *n_hides;
    uint64_t *n_markup, *n_tags, *n_markup_all;
    int64_t *t_node, *t_block, *t_address, *t_size;
    int64_t *b_node, *b_first;
} Page;

/* The same as the caller has it. */
typedef struct {
    int64_t nodes, texts, blocks;
    int64_t *node_rows, *text_rows, *block_rows;
} PageArrays;

Page page_of(const PageArrays *arrays);

/* MARKUP groups of the words in a class, id, role or itemprop. */
uint64_t markup_bits(const Tables *tables, const uint8_t *names, size_t length);

/* PHRASES groups that the characters, at most 64, begin with. */
uint64_t phrase_bits(const Tables *tables, const uint32_t *codes, size_t length);

/* Whether any phrase begins with these characters: the first PHRASE_BEGINNING of a text, or all of it. */
enum { PHRASE_BEGINNING = 3 };
bool may_begin_phrase(const Tables *tables, const uint32_t *codes, size_t length);

/* Whether the value of `style` or `aria-hidden` hides an element. */
bool hides(const Tables *tables, String value);

int build_long_words(Tables *tables);

/* The attribute of an element that stands at `known` in KNOWN_ATTRIBUTES, or -1. */
int known_attribute(const Tables *tables, const Attribute *attribute);

static inline double at_least(double value, double least) { return value < least ? least : value; }

static inline double at_most(double value, double most) { return value > most ? most : value; }

/* The characters of a block: its texts with a space between. */
typedef struct {
    const Page *page;
    int64_t text, end; /* the text that is being read; the one after the last */
    const uint8_t *at, *stop;
} BlockReader;

BlockReader read_block(const Page *page, int64_t block);

/* The next character, -1 at the end. */
int64_t read_character(BlockReader *reader);

/* Where `needle` begins in `text`, as bytes; -1 for nowhere. Linear time. */
int64_t find_bytes(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length);

/* Numbers 0 ... size - 1 in `order`, those of the greatest values first, equal ones as they stand. `scratch`
 * has room for as many. */
void order_by_value(const double *values, int64_t size, int32_t *order, int32_t *scratch);

#endif
