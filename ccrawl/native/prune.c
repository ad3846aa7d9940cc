/* Cutting what was not kept out of the tree; ccrawl.html.content.prune says how. */
#include <stdlib.h>

#include "cut.h"

typedef struct {
    const Tables *tables;
    Page page;
    const uint8_t *keep, *prose; /* blocks */
    int32_t *kept_before;        /* texts kept before each node; nodes + 1 */
    int32_t *shown_before;       /* texts shown before each node; nodes + 1 */
    int64_t first_kept, last_kept; /* nodes; -1 when none is */
    uint8_t *dead;                 /* nodes */
} Pruning;

static int32_t kept_in(const Pruning *pruning, int64_t node) {
    return pruning->kept_before[pruning->page.n_end[node]] - pruning->kept_before[node];
}

static int32_t shown_in(const Pruning *pruning, int64_t node) {
    return pruning->shown_before[pruning->page.n_end[node]] - pruning->shown_before[node];
}

static bool is_kept(const Pruning *pruning, int64_t text) {
    return pruning->keep[pruning->page.t_block[text]] != 0;
}

static void count_texts(Pruning *pruning) {
    const Page *page = &pruning->page;
    int32_t kept = 0;
    int64_t text = 0;
    pruning->first_kept = pruning->last_kept = -1;
    for (int64_t node = 0; node < page->nodes; node++) {
        pruning->kept_before[node] = kept;
        pruning->shown_before[node] = (int32_t)text;
        if (text == page->texts || page->t_node[text] != node)
            continue;
        if (is_kept(pruning, text)) {
            kept++;
            if (pruning->first_kept < 0)
                pruning->first_kept = node;
            pruning->last_kept = node;
        }
        text++;
    }
    pruning->kept_before[page->nodes] = kept;
    pruning->shown_before[page->nodes] = (int32_t)text;
}

static bool has_tag(const Pruning *pruning, int64_t node, int tag) {
    return pruning->page.n_tag[node] == pruning->tables->tag[tag];
}

/* Whether a picture between two kept texts is part of the text. */
static bool belongs(const Pruning *pruning, int64_t picture, int64_t text_before, int64_t text_after) {
    const Page *page = &pruning->page;
    bool captioned = false, placed = false;
    int64_t around = page->n_parent[picture];
    for (int level = 0; level < 3; level++, around = page->n_parent[around]) {
        bool figure = has_tag(pruning, around, TAG_FIGURE);
        captioned |= figure && kept_in(pruning, around) > 0;
        placed |= figure || (level < 2 && has_tag(pruning, around, TAG_P));
    }
    bool told = pruning->prose[page->t_block[text_before]] != 0;
    bool tells = pruning->prose[page->t_block[text_after]] != 0;
    bool heading = (page->n_tags[page->t_node[text_before]] & pruning->tables->heading_bits) != 0;
    return captioned || (tells && (told || heading)) || (placed && told);
}

static void mark_decorations(Pruning *pruning) {
    const Page *page = &pruning->page;
    int64_t before = 0, after = 0; /* kept texts before and after the node */
    for (int64_t node = pruning->first_kept + 1; node < pruning->last_kept; node++) {
        if (!has_tag(pruning, node, TAG_IMG))
            continue;
        while (page->t_node[after] < node || !is_kept(pruning, after)) {
            if (is_kept(pruning, after))
                before = after;
            after++;
        }
        pruning->dead[node] = !belongs(pruning, node, before, after);
    }
}

/* A subtree that never had text goes with the text around it, unless it stands between kept text. */
static void mark_dead(Pruning *pruning) {
    const Page *page = &pruning->page;
    bool any = pruning->first_kept >= 0;
    for (int64_t node = 0; node < page->nodes; node++) {
        bool outside = any && (page->n_end[node] <= pruning->first_kept || node > pruning->last_kept);
        pruning->dead[node] = shown_in(pruning, node) > 0 ? kept_in(pruning, node) == 0 : outside;
    }
    if (any)
        mark_decorations(pruning);
    pruning->dead[0] = 0;
}

static Node *node_of(const Pruning *pruning, int64_t node) {
    return (Node *)(uintptr_t)pruning->page.n_address[node];
}

static void change_tree(const Pruning *pruning) {
    const Page *page = &pruning->page;
    for (int64_t node = 0; node < page->nodes; node++) {
        if (page->n_hides[node] && kept_in(pruning, node) > 0)
            reveal_node(pruning->tables, node_of(pruning, node));
        if (pruning->dead[node] && !pruning->dead[page->n_parent[node]])
            unlink_node(node_of(pruning, node));
    }
    /* A page that shows its text to browsers without scripts only: the renderer would skip the element. */
    for (int64_t node = 0; node < page->nodes; node++)
        if (has_tag(pruning, node, TAG_NOSCRIPT) && kept_in(pruning, node) > 0)
            unwrap_node(node_of(pruning, node));
}

/* Cut all blocks out of the tree that `keep` doesn't tell to keep; `prose` tells those of running text. */
EXPORTED int ccrawl_prune(const Tables *tables, const PageArrays *arrays, const uint8_t *keep, const uint8_t *prose) {
    Pruning pruning = {.tables = tables, .page = page_of(arrays), .keep = keep, .prose = prose};
    size_t nodes = (size_t)pruning.page.nodes;
    int32_t *counts = malloc(2 * (nodes + 1) * sizeof *counts);
    pruning.dead = malloc(nodes);
    bool made = counts != NULL && pruning.dead != NULL;
    if (made) {
        pruning.kept_before = counts;
        pruning.shown_before = counts + nodes + 1;
        count_texts(&pruning);
        mark_dead(&pruning);
        change_tree(&pruning);
    }
    free(counts);
    free(pruning.dead);
    return made ? 0 : NO_MEMORY;
}
