/* How often blocks of a shape, and siblings of its containers' shapes, occur. */
#include <stdlib.h>

#include "evidence.h"

#define MIX UINT64_C(0x9E3779B97F4A7C15)
#define MIX_NAMES UINT64_C(0xC2B2AE3D27D4EB4F)

/* Counts by key: open addressing. A page made so that its keys meet is not worth more than MOST_PROBES: a key
 * that finds no slot within them has slot 0, which all such share. */
enum { MOST_PROBES = 64 };

typedef struct {
    uint64_t *key;
    int32_t *count;
    size_t mask;
} Counter;

static int make_counter(Counter *counter, int64_t keys) {
    size_t size = 64;
    while (size < 2 * (size_t)keys)
        size *= 2;
    counter->mask = size - 1;
    counter->key = malloc((size + 1) * sizeof *counter->key);
    counter->count = calloc(size + 1, sizeof *counter->count);
    return counter->key == NULL || counter->count == NULL ? NO_MEMORY : 0;
}

static void free_counter(Counter *counter) {
    free(counter->key);
    free(counter->count);
}

/* The slot of a key: 1 + where it stands, or where it may be put. */
static size_t slot_of(const Counter *counter, uint64_t key) {
    size_t at = (size_t)((key ^ key >> 29) * MIX >> 32);
    for (int probe = 0; probe < MOST_PROBES; probe++, at++) {
        size_t slot = (at & counter->mask) + 1;
        if (counter->count[slot] == 0 || counter->key[slot] == key)
            return slot;
    }
    return 0;
}

static int32_t count_of(const Counter *counter, uint64_t key) { return counter->count[slot_of(counter, key)]; }

static uint64_t own_shape(const Page *page, int64_t node) {
    return (uint64_t)page->n_tag[node] * MIX ^ page->n_markup[node] * MIX_NAMES;
}

/* Of siblings of one tag and one set of names. */
static uint64_t family(const Page *page, int64_t node) {
    return (own_shape(page, node) * MIX ^ (uint64_t)page->n_parent[node]) * MIX;
}

/* The tags and names of the block's containers, and its depth. */
static uint64_t path_of(const Evidence *evidence, int64_t block) {
    const Page *page = &evidence->page;
    int64_t node = place(evidence, P_BOX)[block];
    uint64_t path = own_shape(page, node) ^ (uint64_t)page->n_depth[node];
    for (int level = 1; level < BOXES; level++)
        path = path * MIX ^ own_shape(page, place(evidence, P_BOX + level)[block]);
    return path;
}

/* Number the shapes in the order in which they first occur. Returns how many there are. */
static int64_t number_shapes(const Evidence *evidence, Counter *counter) {
    int64_t *shape = place(evidence, P_SHAPE);
    int64_t shapes = 0;
    for (int64_t block = 0; block < evidence->page.blocks; block++) {
        uint64_t path = path_of(evidence, block);
        size_t slot = slot_of(counter, path);
        if (counter->count[slot] == 0) {
            counter->key[slot] = path;
            counter->count[slot] = (int32_t)++shapes; /* here the shape's number + 1 */
        }
        shape[block] = counter->count[slot] - 1;
    }
    return shapes;
}

/* Figures of all blocks of one shape: number, characters, links, sentences. */
static void sum_shapes(const Evidence *evidence, double *sums, int64_t shapes) {
    const int64_t *shape = place(evidence, P_SHAPE);
    const double *length = text_row(evidence, X_LENGTH), *linked = text_row(evidence, X_LINKED);
    const double *stops = text_row(evidence, STOP);
    double *count = sums, *chars = sums + shapes, *links = sums + 2 * shapes, *ends = sums + 3 * shapes;
    int64_t blocks = evidence->page.blocks;
    for (int64_t block = 0; block < blocks; block++) {
        count[shape[block]] += 1;
        chars[shape[block]] += length[block];
        links[shape[block]] += linked[block];
        ends[shape[block]] += stops[block];
    }
    for (int64_t block = 0; block < blocks; block++) {
        int64_t own = shape[block];
        figure(evidence, SHAPE_COUNT)[block] = (float)count[own];
        figure(evidence, SHAPE_CHARS)[block] = (float)chars[own];
        figure(evidence, SHAPE_LINKS)[block] = (float)(links[own] / chars[own]);
        figure(evidence, SHAPE_STOPS)[block] = (float)(ends[own] / count[own]);
    }
}

/* Count the elements that hold blocks, by family. */
static void count_families(const Evidence *evidence, Counter *counter) {
    const Page *page = &evidence->page;
    for (int64_t node = 0; node < page->nodes; node++) {
        if (evidence->n_high[node] == evidence->n_low[node] || page->n_tag[node] == evidence->tables->tag[TAG_TEXT])
            continue;
        uint64_t key = family(page, node);
        size_t slot = slot_of(counter, key);
        counter->key[slot] = key;
        counter->count[slot]++;
    }
}

static void describe_siblings(const Evidence *evidence, const Counter *counter) {
    const double *length = evidence->sums.length;
    for (int64_t block = 0; block < evidence->page.blocks; block++) {
        int32_t members[BOXES - 1], most = -1;
        int64_t widest = 0;
        for (int level = 0; level < BOXES - 1; level++) {
            int64_t box = place(evidence, P_BOX + level)[block];
            members[level] = count_of(counter, family(&evidence->page, box));
            if (members[level] > most) {
                most = members[level];
                widest = box;
            }
        }
        figure(evidence, SHAPE_SIBLINGS)[block] = (float)most;
        figure(evidence, SHAPE_SIBLING_CHARS)[block] =
            (float)(length[evidence->n_high[widest]] - length[evidence->n_low[widest]]);
        figure(evidence, SHAPE_LEVEL0)[block] = (float)members[0];
        figure(evidence, SHAPE_LEVEL2)[block] = (float)members[2];
    }
}

int describe_shapes(const Evidence *evidence) {
    Counter shapes = {0}, families = {0};
    double *sums = NULL;
    int failed = make_counter(&shapes, evidence->page.blocks);
    if (failed == 0)
        failed = make_counter(&families, evidence->page.nodes);
    if (failed == 0) {
        int64_t count = number_shapes(evidence, &shapes);
        sums = calloc((size_t)count, 4 * sizeof *sums);
        failed = sums == NULL ? NO_MEMORY : 0;
        if (failed == 0) {
            sum_shapes(evidence, sums, count);
            count_families(evidence, &families);
            describe_siblings(evidence, &families);
        }
    }
    free(sums);
    free_counter(&shapes);
    free_counter(&families);
    return failed;
}
