/* Changes of the tree. What is cut stays in the document's memory, as after lexbor's own removal, so that whoever
 * holds one of its nodes may read it. */
#ifndef CCRAWL_CUT_H
#define CCRAWL_CUT_H

#include "native.h"

void unlink_node(Node *node);

/* Put the children of an element in its place. */
void unwrap_node(Node *node);

/* Take away the attributes that hide an element. */
void reveal_node(const Tables *tables, Node *node);

#endif
