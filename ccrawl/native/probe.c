/* Single nodes, for the binding: to check lexbor.h against selectolax, and for what is needed of few elements. */
#include <string.h>

#include "native.h"

enum { F_NAME, F_NEXT, F_PREVIOUS, F_PARENT, F_FIRST_CHILD, F_LAST_CHILD, F_TYPE, F_TEXT_SIZE, FIELDS };

/* What lexbor.h reads in a node, without following any address. */
EXPORTED void ccrawl_node_fields(const Node *node, uint64_t *fields) {
    fields[F_NAME] = node->name;
    fields[F_NEXT] = (uint64_t)(uintptr_t)node->next;
    fields[F_PREVIOUS] = (uint64_t)(uintptr_t)node->previous;
    fields[F_PARENT] = (uint64_t)(uintptr_t)node->parent;
    fields[F_FIRST_CHILD] = (uint64_t)(uintptr_t)node->first_child;
    fields[F_LAST_CHILD] = (uint64_t)(uintptr_t)node->last_child;
    fields[F_TYPE] = (uint64_t)node->type;
    fields[F_TEXT_SIZE] = text_of(node).length;
}

/* lexbor's numbers of an element's attributes in order, at most `room`; 0 for one that has none. Returns how
 * many there are. */
EXPORTED int64_t ccrawl_attribute_numbers(const Node *node, uint64_t *numbers, int64_t room) {
    int64_t count = 0;
    const Attribute *attribute = ((const Element *)node)->first_attribute;
    for (; attribute != NULL && count < room; attribute = attribute->next) {
        uintptr_t name = attribute->qualified_name != 0 ? attribute->qualified_name : attribute->node.name;
        numbers[count++] = name < MOST_KNOWN_NAMES ? name : 0;
    }
    return count;
}

/* The text within a node, at most `room` bytes of it, in `out`. Returns its size in bytes. */
EXPORTED int64_t ccrawl_text(const Node *root, uint8_t *out, int64_t room) {
    int64_t size = 0;
    for (const Node *node = root; node != NULL; node = following(node, root)) {
        String text = text_of(node);
        if (text.length != 0 && size + (int64_t)text.length <= room)
            memcpy(out + size, text.bytes, text.length);
        size += (int64_t)text.length;
    }
    return size;
}

/* Whether an element is a script of JSON-LD. */
static bool is_structured(const Tables *tables, const Node *node) {
    static const char kind[] = "ld+json";
    if (node->type != ELEMENT_NODE)
        return false;
    const Attribute *attribute = ((const Element *)node)->first_attribute;
    for (; attribute != NULL; attribute = attribute->next) {
        const String *value = attribute->value;
        if (known_attribute(tables, attribute) == ATTRIBUTE_TYPE && value != NULL && value->bytes != NULL)
            return find_bytes(value->bytes, value->length, (const uint8_t *)kind, sizeof kind - 1) >= 0;
    }
    return false;
}

/* The addresses of the elements with the tag that stands at `known` in KNOWN_TAGS, of scripts those of JSON-LD
 * only; at most `room`. Returns how many that are. */
EXPORTED int64_t ccrawl_find_elements(const Tables *tables, const PageArrays *arrays, int64_t known,
                                      uint64_t *found, int64_t room) {
    Page page = page_of(arrays);
    int64_t count = 0;
    for (int64_t node = 0; node < page.nodes && count < room; node++) {
        if (page.n_tag[node] != tables->tag[known])
            continue;
        uint64_t place = (uint64_t)page.n_address[node];
        if (known != TAG_SCRIPT || is_structured(tables, (const Node *)(uintptr_t)place))
            found[count++] = place;
    }
    return count;
}
