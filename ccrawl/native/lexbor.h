/* The part of lexbor's tree that is read here: the layout of its nodes, as its headers give it.
 *
 * selectolax compiles lexbor in and exports none of its functions, but says where a node is (mem_id). The
 * binding checks at load that these structures fit the installed selectolax.
 */
#ifndef CCRAWL_LEXBOR_H
#define CCRAWL_LEXBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELEMENT_NODE = 1, TEXT_NODE = 3 };

typedef struct {
    const uint8_t *bytes; /* UTF-8; NULL when there is none */
    size_t length;
} String;

typedef struct Node Node;
struct Node {
    void *events;
    uintptr_t name; /* lexbor's number; an address for a name that lexbor doesn't know beforehand */
    uintptr_t prefix;
    uintptr_t namespace_;
    void *document;
    Node *next;
    Node *previous;
    Node *parent;
    Node *first_child;
    Node *last_child;
    void *user;
    int type;
};

typedef struct Attribute Attribute;
struct Attribute {
    Node node;
    uintptr_t upper_name;
    uintptr_t qualified_name; /* as written; 0 when that is the node's name */
    String *value;            /* NULL for an attribute without one */
    Node *owner;
    Attribute *next;
    Attribute *previous;
};

typedef struct {
    Node node;
    uintptr_t upper_name;
    uintptr_t qualified_name;
    String *is_value;
    Attribute *first_attribute;
    Attribute *last_attribute;
} Element;

typedef struct {
    Node node;
    String text;
} CharacterData;

enum { SHORT_NAME = 16 };

/* What the address of a name that lexbor doesn't know beforehand leads to. */
typedef struct {
    union {
        const uint8_t *bytes;
        uint8_t within[SHORT_NAME + 1]; /* of a name of at most SHORT_NAME bytes */
    } name;
    size_t length;
} NameEntry;

enum { MOST_KNOWN_NAMES = 4096 }; /* numbers are far below, addresses far above */

/* The node after `node` in document order within `root`, NULL after the last. */
static inline Node *following(const Node *node, const Node *root) {
    if (node->first_child != NULL)
        return node->first_child;
    while (node != root && node->next == NULL)
        node = node->parent;
    return node == root ? NULL : node->next;
}

/* The text of a node, empty unless it is a text node. */
static inline String text_of(const Node *node) {
    String none = {NULL, 0};
    if (node->type != TEXT_NODE)
        return none;
    String text = ((const CharacterData *)node)->text;
    return text.bytes == NULL ? none : text;
}

/* Whether a text node holds nothing but HTML's white space. */
static inline bool is_blank(const Node *node) {
    if (node->type != TEXT_NODE)
        return false;
    String text = text_of(node);
    for (size_t i = 0; i < text.length; i++) {
        uint8_t byte = text.bytes[i];
        if (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r' && byte != '\f')
            return false;
    }
    return true;
}

#endif
