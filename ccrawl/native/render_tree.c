/* What the renderer asks of the tree. */
#include "cut.h"
#include "render.h"

#include <stdlib.h>
#include <string.h>

static int number_in(const uint8_t *by_number, const Dictionary *by_name, uintptr_t name) {
    if (name < MOST_KNOWN_NAMES)
        return by_number[name];
    const NameEntry *entry = (const NameEntry *)name;
    const uint8_t *bytes = entry->length <= SHORT_NAME ? entry->name.within : entry->name.bytes;
    const uint64_t *found = find_key(by_name, bytes, entry->length);
    return found == NULL ? 0 : (int)*found;
}

int element_of(const Writer *writer, const Node *node) {
    int element = number_in(writer->tables->element, &writer->tables->elements, node->name);
    if (element != NO_ELEMENT)
        return element;
    return node->type == ELEMENT_NODE ? E_OTHER : NO_ELEMENT;
}

static const Attribute *find_attribute(const Writer *writer, const Node *node, int attribute) {
    if (node->type != ELEMENT_NODE)
        return NULL;
    const RenderTables *tables = writer->tables;
    const Attribute *found = ((const Element *)node)->first_attribute;
    for (; found != NULL; found = found->next)
        if (number_in(tables->attribute, &tables->attributes, found->node.name) == attribute)
            return found;
    return NULL;
}

bool has_attribute(const Writer *writer, const Node *node, int attribute) {
    return find_attribute(writer, node, attribute) != NULL;
}

String attribute_of(Writer *writer, const Node *node, int attribute) {
    const Attribute *found = find_attribute(writer, node, attribute);
    if (found == NULL || found->value == NULL || found->value->bytes == NULL)
        return LITERAL("");
    return valid(writer, *found->value);
}

String page_text(Writer *writer, const Node *node) { return valid(writer, text_of(node)); }

bool is_only_child(const Node *child) { return child != NULL && child->next == NULL; }

String text_within(Writer *writer, const Node *node) {
    Builder text = {.writer = writer};
    for (const Node *inner = node; inner != NULL; inner = following(inner, node))
        add(&text, page_text(writer, inner));
    return built(&text);
}

static String after_spaces(String text) {
    while (text.length != 0 && is_space(first_code(text))) {
        size_t size = 1;
        while (size < text.length && (text.bytes[size] & 0xC0) == 0x80)
            size++;
        text = slice(text, size, text.length);
    }
    return text;
}

/* What follows `word`, in letters of either case, at the start of `text`; NULL bytes where it is another. */
static String after_word(String text, const char *word) {
    for (size_t i = 0; word[i] != 0; i++)
        if (i >= text.length || (text.bytes[i] | 0x20) != word[i])
            return (String){NULL, 0};
    return slice(text, strlen(word), text.length);
}

static bool declares(String text, const char *property, const char *value) {
    String rest = after_word(text, property);
    if (rest.bytes == NULL)
        return false;
    rest = after_spaces(rest);
    if (rest.length == 0 || rest.bytes[0] != ':')
        return false;
    return after_word(after_spaces(slice(rest, 1, rest.length)), value).bytes != NULL;
}

static bool style_hides(String style) {
    for (size_t i = 0; i < style.length; i++) {
        uint8_t letter = style.bytes[i] | 0x20;
        bool starts = i == 0 || style.bytes[i - 1] == ';' || is_space(last_code(slice(style, 0, i)));
        String rest = slice(style, i, style.length);
        if (starts && ((letter == 'd' && declares(rest, "display", "none")) ||
                       (letter == 'v' && declares(rest, "visibility", "hidden"))))
            return true;
    }
    return false;
}

static bool is_hidden(Writer *writer, const Node *node) {
    if (node->type != ELEMENT_NODE || ((const Element *)node)->first_attribute == NULL)
        return false;
    if (has_attribute(writer, node, A_HIDDEN) &&
        !equal(attribute_of(writer, node, A_HIDDEN), LITERAL("until-found")))
        return true;
    String style = attribute_of(writer, node, A_STYLE);
    return (contains(style, "none") || contains(style, "hidden")) && style_hides(style);
}

/* Unlink what is not shown: `hidden`; `display: none` and `visibility: hidden` in an element's style.
 *
 * The body stays: pages that hide it show it by script. `hidden=until-found` is shown by a search. */
void remove_hidden(Writer *writer, Node *root) {
    Node *node = root;
    while (node != NULL) {
        if (node == root || element_of(writer, node) == E_BODY || !is_hidden(writer, node)) {
            node = following(node, root);
            continue;
        }
        Node *hidden = node;
        while (node != root && node->next == NULL)
            node = node->parent;
        node = node == root ? NULL : node->next;
        unlink_node(hidden);
    }
}

/* Names that lexbor has a number for, and the others. */
typedef struct {
    int64_t count; /* of the others */
    const uint8_t *keys;
    const int64_t *start;
    const uint64_t *values;
    const int64_t *numbers; /* lexbor's of each, 0 for the others */
} Names;

#define NAME_ENTRY(name, text) text " "
static const char ELEMENT_NAMES[] = RENDER_ELEMENTS(NAME_ENTRY);
static const char ATTRIBUTE_NAMES[] = RENDER_ATTRIBUTES(NAME_ENTRY);

/* Names of the elements and attributes whose numbers the caller gives, in order. */
EXPORTED const char *ccrawl_render_elements(void) { return ELEMENT_NAMES; }

EXPORTED const char *ccrawl_render_attributes(void) { return ATTRIBUTE_NAMES; }

static int fill(uint8_t *by_number, Dictionary *others, const Names *names, int first, int end) {
    for (int i = first; i < end; i++)
        if (names->numbers[i - first] > 0 && names->numbers[i - first] < MOST_KNOWN_NAMES)
            by_number[names->numbers[i - first]] = (uint8_t)i;
    others->count = (size_t)names->count;
    others->keys = names->keys;
    others->start = names->start;
    others->values = names->values;
    return index_keys(others);
}

EXPORTED void ccrawl_free_render_tables(RenderTables *tables) {
    if (tables == NULL)
        return;
    free(tables->elements.slots);
    free(tables->attributes.slots);
    free(tables);
}

/* Tables for ccrawl_render, whose arrays the caller keeps; NULL when there is no memory. `text` is lexbor's number
 * of a text node. */
EXPORTED RenderTables *ccrawl_render_tables(const Names *elements, const Names *attributes, int64_t text,
                                            const uint8_t *characters) {
    RenderTables *tables = calloc(1, sizeof *tables);
    if (tables == NULL)
        return NULL;
    tables->characters = characters;
    if (fill(tables->element, &tables->elements, elements, E_OTHER + 1, ELEMENTS) != 0 ||
        fill(tables->attribute, &tables->attributes, attributes, NO_ATTRIBUTE + 1, RENDER_ATTRIBUTES_END) != 0) {
        ccrawl_free_render_tables(tables);
        return NULL;
    }
    tables->element[text] = E_TEXT;
    return tables;
}
