/* What a page says about itself, in its head and elsewhere: ccrawl.html.content.head makes sense of it. */
#include <string.h>

#include "native.h"

/* Properties that are asked for, by `property` or `name` of <meta>; the first of each counts. */
#define PROPERTIES(X)                                                                                               \
    X(DESCRIPTION, "description")                                                                                   \
    X(OG_DESCRIPTION, "og:description")                                                                             \
    X(OG_TYPE, "og:type")                                                                                           \
    X(OG_TITLE, "og:title")                                                                                         \
    X(OG_SITE_NAME, "og:site_name")                                                                                 \
    X(TWITTER_TITLE, "twitter:title")

#define PROPERTY_ENTRY(name, text) PROPERTY_##name,
enum { PROPERTIES(PROPERTY_ENTRY) PROPERTY_COUNT };

/* What else is found; numbered after the properties. */
enum { FOUND_TITLE = PROPERTY_COUNT, FOUND_HEADING, FOUND_STRUCTURED };

enum { MOST_HEADINGS = 8, MOST_SCRIPTS = 200 }; /* of the body */

#define PROPERTY_NAME(name, text) text " "

/* The names of the properties, in order. */
EXPORTED const char *ccrawl_properties(void) { return PROPERTIES(PROPERTY_NAME); }

typedef struct {
    const Tables *tables;
    int64_t *found; /* two numbers each: what it is, and its bytes; the first two are the sums */
    int64_t count, room;
    uint8_t *out; /* the bytes of all, one after the other */
    int64_t size, out_room;
    unsigned seen; /* properties, a bit each */
    bool titled;
} Reading;

static void add_bytes(Reading *reading, String text) {
    if (text.length != 0 && reading->size + (int64_t)text.length <= reading->out_room)
        memcpy(reading->out + reading->size, text.bytes, text.length);
    reading->size += (int64_t)text.length;
}

static void add_found(Reading *reading, int64_t kind, int64_t size) {
    reading->count++;
    if (reading->count <= reading->room) {
        reading->found[2 * reading->count] = kind;
        reading->found[2 * reading->count + 1] = size;
    }
}

/* Add the text within an element; returns its size. */
static int64_t add_text(Reading *reading, int64_t kind, const Node *element) {
    int64_t before = reading->size;
    for (const Node *node = element; node != NULL; node = following(node, element))
        add_bytes(reading, text_of(node));
    add_found(reading, kind, reading->size - before);
    return reading->size - before;
}

static String value_of(const Attribute *attribute) {
    String none = {NULL, 0};
    return attribute->value == NULL || attribute->value->bytes == NULL ? none : *attribute->value;
}

static void read_meta(Reading *reading, const Node *node) {
    static const char *const names[PROPERTY_COUNT] = {
#define PROPERTY_TEXT(name, text) text,
        PROPERTIES(PROPERTY_TEXT)};
    String property = {NULL, 0}, name = {NULL, 0}, content = {NULL, 0};
    const Attribute *attribute = ((const Element *)node)->first_attribute;
    for (; attribute != NULL; attribute = attribute->next) {
        switch (known_attribute(reading->tables, attribute)) {
        case ATTRIBUTE_PROPERTY:
            property = value_of(attribute);
            break;
        case ATTRIBUTE_NAME:
            name = value_of(attribute);
            break;
        case ATTRIBUTE_CONTENT:
            content = value_of(attribute);
            break;
        default:
            break;
        }
    }
    if (property.length == 0)
        property = name;
    for (int i = 0; i < PROPERTY_COUNT; i++) {
        if ((reading->seen & 1U << i) || !is_same_name(property.bytes, property.length, names[i], strlen(names[i])))
            continue;
        reading->seen |= 1U << i;
        add_bytes(reading, content);
        add_found(reading, i, (int64_t)content.length);
    }
}

/* Whether an element is a script of JSON-LD. */
static bool is_structured(const Tables *tables, const Node *node) {
    static const char kind[] = "ld+json";
    const Attribute *attribute = ((const Element *)node)->first_attribute;
    for (; attribute != NULL; attribute = attribute->next) {
        if (known_attribute(tables, attribute) != ATTRIBUTE_TYPE)
            continue;
        String value = value_of(attribute);
        return find_bytes(value.bytes, value.length, (const uint8_t *)kind, sizeof kind - 1) >= 0;
    }
    return false;
}

static void read_head(Reading *reading, const Node *head) {
    const int64_t *tag = reading->tables->tag;
    for (const Node *node = head; node != NULL; node = following(node, head)) {
        int64_t name = node->type == ELEMENT_NODE && node->name < MOST_KNOWN_NAMES ? (int64_t)node->name : -1;
        if (name == tag[TAG_META])
            read_meta(reading, node);
        else if (name == tag[TAG_TITLE] && !reading->titled)
            reading->titled = add_text(reading, FOUND_TITLE, node) > 0;
        else if (name == tag[TAG_SCRIPT] && is_structured(reading->tables, node))
            add_text(reading, FOUND_STRUCTURED, node);
    }
}

/* The first headings, and JSON-LD. */
static void read_body(Reading *reading, const Page *page) {
    const int64_t *tag = reading->tables->tag;
    int headings = 0, scripts = 0;
    for (int64_t i = 0; i < page->nodes; i++) {
        int64_t name = page->n_tag[i];
        if (name != tag[TAG_H1] && name != tag[TAG_SCRIPT])
            continue;
        const Node *node = (const Node *)(uintptr_t)page->n_address[i];
        if (name == tag[TAG_H1] && headings < MOST_HEADINGS) {
            headings++;
            add_text(reading, FOUND_HEADING, node);
        } else if (name == tag[TAG_SCRIPT] && scripts < MOST_SCRIPTS && is_structured(reading->tables, node)) {
            scripts++;
            add_text(reading, FOUND_STRUCTURED, node);
        }
    }
}

/* Read `head` (NULL for none) and a page's walk (NULL for none). `found` has room for two numbers each of `room`
 * things and two more, `out` for `size` bytes; the first two numbers say how much there is, which may be more. */
EXPORTED void ccrawl_read_head(const Tables *tables, const Node *head, const PageArrays *arrays, int64_t *found,
                               int64_t room, uint8_t *out, int64_t size) {
    Reading reading = {.tables = tables, .found = found, .room = room, .out = out, .out_room = size};
    if (arrays != NULL) {
        Page page = page_of(arrays);
        read_body(&reading, &page);
    }
    if (head != NULL)
        read_head(&reading, head);
    found[0] = reading.count;
    found[1] = reading.size;
}
