/* Single nodes, for the binding: to check lexbor.h against selectolax. */
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
