/* Changes of the tree. */
#include "cut.h"

void unlink_node(Node *node) {
    if (node->parent != NULL) {
        if (node->parent->first_child == node)
            node->parent->first_child = node->next;
        if (node->parent->last_child == node)
            node->parent->last_child = node->previous;
    }
    if (node->next != NULL)
        node->next->previous = node->previous;
    if (node->previous != NULL)
        node->previous->next = node->next;
    node->parent = node->next = node->previous = NULL;
}

void unwrap_node(Node *node) {
    Node *first = node->first_child, *last = node->last_child, *parent = node->parent;
    if (first == NULL || parent == NULL)
        return;
    for (Node *child = first; child != NULL; child = child->next)
        child->parent = parent;
    first->previous = node->previous;
    last->next = node->next;
    if (node->previous != NULL)
        node->previous->next = first;
    else
        parent->first_child = first;
    if (node->next != NULL)
        node->next->previous = last;
    else
        parent->last_child = last;
    node->first_child = node->last_child = NULL;
    node->parent = node->next = node->previous = NULL;
}

void reveal_node(const Tables *tables, Node *node) {
    Element *element = (Element *)node;
    Attribute *attribute = node->type == ELEMENT_NODE ? element->first_attribute : NULL;
    while (attribute != NULL) {
        Attribute *next = attribute->next;
        int known = known_attribute(tables, attribute);
        if (known == ATTRIBUTE_HIDDEN_ || known == ATTRIBUTE_ARIA_HIDDEN || known == ATTRIBUTE_STYLE) {
            if (attribute->previous != NULL)
                attribute->previous->next = next;
            else
                element->first_attribute = next;
            if (next != NULL)
                next->previous = attribute->previous;
            else
                element->last_attribute = attribute->previous;
        }
        attribute = next;
    }
}
