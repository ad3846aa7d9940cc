/* One walk over the tree, laid out as arrays; ccrawl.html.content.walk says what they hold. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

Page page_of(const PageArrays *arrays) {
    int64_t *n = arrays->node_rows, *t = arrays->text_rows, *b = arrays->block_rows;
    int64_t nodes = arrays->nodes, texts = arrays->texts, blocks = arrays->blocks;
    return (Page){
        .nodes = nodes,
        .texts = texts,
        .blocks = blocks,
        .n_address = n + N_ADDRESS * nodes,
        .n_tag = n + N_TAG * nodes,
        .n_parent = n + N_PARENT * nodes,
        .n_end = n + N_END * nodes,
        .n_depth = n + N_DEPTH * nodes,
        .n_hides = n + N_HIDES * nodes,
        .n_markup = (uint64_t *)n + N_MARKUP * nodes,
        .n_tags = (uint64_t *)n + N_TAGS * nodes,
        .n_markup_all = (uint64_t *)n + N_MARKUP_ALL * nodes,
        .t_node = t + T_NODE * texts,
        .t_block = t + T_BLOCK * texts,
        .t_address = t + T_ADDRESS * texts,
        .t_size = t + T_SIZE * texts,
        .b_node = b + B_NODE * blocks,
        .b_first = b + B_FIRST * blocks,
    };
}

static const Node *node_at(const Page *page, int64_t index) {
    return (const Node *)(uintptr_t)page->n_address[index];
}

static int64_t tag_of(const Tables *tables, const Node *node) {
    int64_t other = tables->tag_slots - 1;
    return node->name < (uintptr_t)other ? (int64_t)node->name : other;
}

/* Count the nodes that a walk from `root` meets, at most `most` + 1, and the texts among them that a browser
 * would show: sizes[0] and sizes[1]. */
EXPORTED void ccrawl_measure(const Tables *tables, const Node *root, int64_t most, int64_t *sizes) {
    int64_t nodes = 0, texts = 0;
    const Node *skipped = NULL; /* what the node stands in that is not shown */
    const Node *node = root;
    while (nodes <= most) {
        if (!is_blank(node)) {
            nodes++;
            texts += node->name == (uintptr_t)tables->tag[TAG_TEXT] && skipped == NULL;
        }
        if (skipped == NULL && (tables->tag_bits[tag_of(tables, node)] & SKIP))
            skipped = node;
        if (node->first_child != NULL) {
            node = node->first_child;
            continue;
        }
        for (; node != root && node->next == NULL; node = node->parent)
            skipped = node == skipped ? NULL : skipped;
        if (node == root)
            break;
        skipped = node == skipped ? NULL : skipped;
        node = node->next;
    }
    sizes[0] = nodes;
    sizes[1] = texts;
}

static void number_node(const Tables *tables, Page *page, const Node *node, int64_t parent, int64_t at) {
    page->n_address[at] = (int64_t)(uintptr_t)node;
    page->n_tag[at] = tag_of(tables, node);
    page->n_parent[at] = parent;
    page->n_end[at] = at + 1;
    page->n_depth[at] = at == 0 ? 0 : page->n_depth[parent] + 1;
}

/* Number the nodes in document order. */
static int number_nodes(const Tables *tables, Page *page, const Node *root) {
    int64_t parent = 0, at = 0, here = 0;
    const Node *node = root;
    for (;;) {
        if (!is_blank(node)) {
            if (at == page->nodes)
                return BAD_TREE;
            here = at++;
            number_node(tables, page, node, parent, here);
        }
        if (node->first_child != NULL) {
            node = node->first_child;
            parent = here;
            continue;
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            page->n_end[parent] = at;
            parent = page->n_parent[parent];
        }
        if (node == root)
            return at == page->nodes ? 0 : BAD_TREE;
        node = node->next;
    }
}

/* What the attributes of an element say: its markup groups, and whether it hides its subtree. */
static void read_names(const Tables *tables, const Node *node, uint64_t *markup, int64_t *hiding) {
    if (node->type != ELEMENT_NODE)
        return;
    const Attribute *attribute = ((const Element *)node)->first_attribute;
    for (; attribute != NULL; attribute = attribute->next) {
        const String *value = attribute->value;
        bool empty = value == NULL || value->bytes == NULL || value->length == 0;
        switch (known_attribute(tables, attribute)) {
        case ATTRIBUTE_CLASS:
        case ATTRIBUTE_ID:
        case ATTRIBUTE_ROLE:
        case ATTRIBUTE_ITEMPROP:
            if (!empty)
                *markup |= markup_bits(tables, value->bytes, value->length);
            break;
        case ATTRIBUTE_HIDDEN_:
            *hiding = 1;
            break;
        case ATTRIBUTE_ARIA_HIDDEN:
        case ATTRIBUTE_STYLE:
            if (!empty && hides(tables, *value))
                *hiding = 1;
            break;
        default:
            break;
        }
    }
}

/* Fill in what each element says of itself and inherits. Attributes are read of elements that hold text. Returns
 * the number of texts that a browser would show. */
static int64_t describe_nodes(const Tables *tables, Page *page) {
    int64_t *texts_before = page->n_hides; /* for nodes that are still to come */
    int64_t all_texts = 0, shown = 0;
    for (int64_t i = 0; i < page->nodes; i++) {
        texts_before[i] = all_texts;
        all_texts += page->n_tag[i] == tables->tag[TAG_TEXT];
    }
    for (int64_t i = 0; i < page->nodes; i++) {
        int64_t tag = page->n_tag[i], end = page->n_end[i], parent = page->n_parent[i];
        int64_t texts_after = end < page->nodes ? texts_before[end] : all_texts;
        uint64_t markup = 0, bits = tables->tag_bits[tag];
        int64_t hiding = 0;
        if ((tables->tag_kinds[tag] & IS_NAMED) && texts_after > texts_before[i])
            read_names(tables, node_at(page, i), &markup, &hiding);
        if (hiding)
            bits |= HIDDEN;
        page->n_hides[i] = hiding;
        page->n_markup[i] = markup;
        page->n_tags[i] = i == 0 ? bits : bits | page->n_tags[parent];
        page->n_markup_all[i] = i == 0 ? markup : markup | page->n_markup_all[parent];
        shown += tag == tables->tag[TAG_TEXT] && !(page->n_tags[i] & SKIP);
    }
    return shown;
}

/* Part the texts where a block-level element or two line breaks stand between them. */
static int64_t part_texts(const Tables *tables, const Page *page, int32_t *nearest, int64_t *node, int64_t *first) {
    int64_t opened = 0, opened_before = -1, around_before = -1, text = 0, blocks = 0;
    for (int64_t i = 0; i < page->nodes; i++) {
        int64_t tag = page->n_tag[i];
        bool is_inline = i > 0 && (tables->tag_kinds[tag] & IS_INLINE);
        bool breaks = i > 0 && tag == tables->tag[TAG_BR] && page->n_tag[i - 1] == tag;
        nearest[i] = is_inline ? nearest[page->n_parent[i]] : (int32_t)i;
        opened += !is_inline || breaks;
        if (text == page->texts || page->n_tag[i] != tables->tag[TAG_TEXT] || (page->n_tags[i] & SKIP))
            continue;
        if (opened != opened_before || nearest[i] != around_before) {
            first[blocks] = text;
            node[blocks++] = nearest[i];
        }
        opened_before = opened;
        around_before = nearest[i];
        String string = text_of(node_at(page, i));
        page->t_node[text] = i;
        page->t_address[text] = (int64_t)(uintptr_t)string.bytes;
        page->t_size[text++] = (int64_t)string.length;
    }
    return blocks;
}

/* Join blocks of one parent, then of one grandparent, then any that follow each other, until there are at
 * most `most`. Returns how many there are. */
static int64_t join_blocks(const Page *page, int64_t *node, int64_t *first, int64_t blocks, int64_t most) {
    for (int level = 0; level < 4 && blocks > most; level++) {
        int64_t joined = 0, last = -1;
        for (int64_t i = 0; i < blocks; i++) {
            int64_t owner = level < 3 ? page->n_parent[node[i]] : i * most / blocks;
            if (owner == last)
                continue;
            last = owner;
            first[joined] = first[i];
            node[joined++] = level < 3 ? owner : node[i];
        }
        blocks = joined;
    }
    return blocks;
}

/* Fill in the text rows, and the block rows, which have room for a block a text. Returns the number of blocks, at
 * most `most`; the second block row begins behind that many. */
static int64_t describe_texts(const Tables *tables, const Page *page, int64_t *block_rows, int64_t most) {
    int64_t *node = block_rows, *first = block_rows + page->texts;
    int32_t *nearest = malloc((size_t)page->nodes * sizeof *nearest);
    if (nearest == NULL)
        return NO_MEMORY;
    int64_t blocks = part_texts(tables, page, nearest, node, first);
    free(nearest);
    blocks = join_blocks(page, node, first, blocks, most);
    for (int64_t block = 0, text = 0; block < blocks; block++)
        for (int64_t end = block + 1 < blocks ? first[block + 1] : page->texts; text < end; text++)
            page->t_block[text] = block;
    if (blocks < page->texts)
        memmove(block_rows + blocks, first, (size_t)blocks * sizeof *first);
    return blocks;
}

/* Fill in all rows of `arrays`, whose `nodes` and `texts` are what ccrawl_measure gave, and `blocks` as many as
 * texts. Returns the number of blocks, at most `most`; the rows of blocks are that long. */
EXPORTED int64_t ccrawl_walk(const Tables *tables, const Node *root, const PageArrays *arrays, int64_t most) {
    Page page = page_of(arrays);
    int failed = number_nodes(tables, &page, root);
    if (failed != 0)
        return failed;
    if (describe_nodes(tables, &page) != page.texts)
        return BAD_TREE;
    return describe_texts(tables, &page, arrays->block_rows, most);
}
