/* What the first look says about each block's surroundings; features.h lists it. */
#include <stdlib.h>

#include "evidence.h"
#include "judge.h"

static const double SURE = 0.6; /* a block that alone says "here is content" ... */
static const double SURE_LENGTH = 40;
enum { FAR = 99, FAR_INDEX = 50 };    /* blocks */
static const double FAR_CHARS = 1e5;  /* characters to a sure block where there is none */
static const double OUTSIDE = -0.1;   /* probability of a block that is not there */
static const double UNSURE = -1.0;    /* where no block is sure ... */
static const double UNSURE_LOG = -0.6321205588285577; /* ... and a logarithm will be taken: log(1 + x) is -1 */
static const double NEARLY_ALL = 0.85;
static const double LITTLE = 1e-6;

typedef struct {
    Page page;
    const double *probability;
    const double *length;
    const int64_t *places, *n_low, *n_high;
    float *rows;
    double *mass_before, *length_before; /* blocks + 1 */
    double total;
} Context;

static float *row_of(const Context *context, int row) { return context->rows + row * context->page.blocks; }

static const int64_t *place_of(const Context *context, int row) { return context->places + row * context->page.blocks; }

static void fill_row(const Context *context, int row, double value) {
    float *out = row_of(context, row);
    for (int64_t block = 0; block < context->page.blocks; block++)
        out[block] = (float)value;
}

static double mass_of(const Context *context, int64_t block) {
    return context->probability[block] * context->length[block];
}

static void sum_mass(Context *context) {
    double *mass = context->mass_before, *length = context->length_before;
    int64_t blocks = context->page.blocks;
    mass[0] = length[0] = 0.0;
    for (int64_t block = 0; block < blocks; block++) {
        mass[block + 1] = mass[block] + mass_of(context, block);
        length[block + 1] = length[block] + context->length[block];
    }
    context->total = at_least(mass[blocks], 1e-9);
}

static void describe_row(const Context *context, int64_t block) {
    static const int64_t reaches[] = {1, 3, 8, 20};
    const double *mass = context->mass_before, *length = context->length_before, *p = context->probability;
    int64_t blocks = context->page.blocks;
    row_of(context, C_P)[block] = (float)p[block];
    for (int64_t step = 1; step <= 3; step++) {
        row_of(context, C_P_MINUS1 + 1 - (int)step)[block] = (float)(block < step ? OUTSIDE : p[block - step]);
        row_of(context, C_P_PLUS1 - 1 + (int)step)[block] = (float)(block + step < blocks ? p[block + step] : OUTSIDE);
    }
    for (int i = 0; i < 4; i++) {
        int64_t low = block < reaches[i] ? 0 : block - reaches[i];
        int64_t high = block + reaches[i] + 1 < blocks ? block + reaches[i] + 1 : blocks;
        row_of(context, C_P_WINDOW1 + i)[block] = (float)((mass[high] - mass[low]) / (length[high] - length[low]));
    }
    row_of(context, C_P_BEFORE)[block] = (float)(mass[block] / context->total);
    row_of(context, C_P_AFTER)[block] = (float)((context->total - mass[block + 1]) / context->total);
}

typedef struct {
    double mass, mean, score;
} Subtree;

/* What a node holds: how much the first look wants, its share of the node's text, and how good an extract it
 * would make (its F1). */
static Subtree subtree(const Context *context, int64_t node) {
    int64_t low = context->n_low[node], high = context->n_high[node];
    double mass = context->mass_before[high] - context->mass_before[low];
    double length = context->length_before[high] - context->length_before[low];
    return (Subtree){mass, mass / at_least(length, 1.0), 2 * mass / (length + context->total)};
}

static void describe_containers(const Context *context, int64_t block) {
    for (int level = 0; level < BOXES; level++) {
        Subtree box = subtree(context, place_of(context, P_BOX + level)[block]);
        row_of(context, C_P_BOX0 + level)[block] = (float)box.mean;
        row_of(context, C_P_BOXMASS0 + level)[block] = (float)(box.mass / context->total);
        row_of(context, C_P_TOP0 + level)[block] = (float)box.score;
    }
}

/* The mean over all blocks of a shape, and over all under one heading. `sums` has room for 4 numbers a block. */
static void describe_groups(const Context *context, double *sums) {
    int64_t blocks = context->page.blocks;
    const int64_t *shape = place_of(context, P_SHAPE), *heading = place_of(context, P_HEADING);
    double *shape_mass = sums, *shape_length = sums + blocks;
    double *under_mass = sums + 2 * blocks + 1, *under_length = sums + 3 * blocks + 2; /* [-1]: under none */
    for (int64_t block = 0; block < blocks; block++) {
        double mass = mass_of(context, block), length = context->length[block];
        shape_mass[shape[block]] += mass;
        shape_length[shape[block]] += length;
        under_mass[heading[block]] += mass;
        under_length[heading[block]] += length;
    }
    for (int64_t block = 0; block < blocks; block++) {
        int64_t own = shape[block], under = heading[block];
        row_of(context, C_P_SHAPE)[block] = (float)(shape_mass[own] / shape_length[own]);
        row_of(context, C_P_UNDER)[block] = (float)(under_mass[under] / at_least(under_length[under], 1.0));
        row_of(context, C_P_HEADING)[block] = (float)(under < 0 ? OUTSIDE : context->probability[under]);
    }
}

static void describe_best(const Context *context) {
    const Page *page = &context->page;
    int64_t best = 0, tight = 0;
    double best_score = -1.0;
    for (int64_t node = 0; node < page->nodes; node++) {
        if (context->n_low[node] == context->n_high[node] && node > 0)
            continue;
        Subtree here = subtree(context, node);
        if (here.score > best_score) {
            best_score = here.score;
            best = node;
        }
        if (context->total > LITTLE && here.mass >= NEARLY_ALL * context->total)
            tight = node;
    }
    Chain to_best = chain_to(page, best), to_tight = chain_to(page, tight);
    for (int64_t block = 0; block < page->blocks; block++) {
        int64_t node = page->b_node[block];
        row_of(context, C_BEST_INSIDE)[block] = node >= best && node < page->n_end[best];
        row_of(context, C_BEST_BEFORE)[block] = node < best;
        row_of(context, C_BEST_AFTER)[block] = node >= page->n_end[best];
        row_of(context, C_BEST_COMMON)[block] = (float)common_depth(page, &to_best, node);
        row_of(context, C_TIGHT_INSIDE)[block] = node >= tight && node < page->n_end[tight];
        row_of(context, C_TIGHT_COMMON)[block] = (float)common_depth(page, &to_tight, node);
    }
    fill_row(context, C_BEST_SCORE, best_score);
    fill_row(context, C_BEST_MEAN, subtree(context, best).mean);
    fill_row(context, C_TIGHT_MEAN, subtree(context, tight).mean);
}

static bool is_sure(const Context *context, int64_t block) {
    return context->probability[block] > SURE && context->length[block] > SURE_LENGTH;
}

static float within(int64_t value, int64_t low, int64_t high) {
    return (float)(value < low ? low : value > high ? high : value);
}

/* The distance to the sure blocks before and after each block, in blocks and characters. */
static void describe_distances(const Context *context) {
    const double *length = context->length_before;
    int64_t blocks = context->page.blocks, last = -1, next = -1;
    for (int64_t block = 0; block < blocks; block++) {
        last = is_sure(context, block) ? block : last;
        int64_t back = last < 0 ? FAR : block - last;
        double chars = last + 1 < block ? length[block] - length[last + 1] : 0.0;
        row_of(context, C_SURE_BEFORE)[block] = within(back, 0, FAR);
        row_of(context, C_SURE_CHARS_BEFORE)[block] = (float)(back < FAR ? chars : FAR_CHARS);
    }
    for (int64_t block = blocks - 1; block >= 0; block--) {
        next = is_sure(context, block) ? block : next;
        int64_t ahead = next < 0 ? FAR : next - block;
        double chars = next > block + 1 ? length[next] - length[block + 1] : 0.0;
        row_of(context, C_SURE_AFTER)[block] = within(ahead, 0, FAR);
        row_of(context, C_SURE_CHARS_AFTER)[block] = (float)(ahead < FAR ? chars : FAR_CHARS);
    }
}

static void describe_sure(const Context *context) {
    int64_t blocks = context->page.blocks, first = 0, last = blocks - 1;
    while (first < blocks && !is_sure(context, first))
        first++;
    if (first == blocks) {
        for (int row = C_SURE_BEFORE; row <= C_SURE_BETWEEN; row++)
            fill_row(context, row, UNSURE);
        fill_row(context, C_SURE_CHARS_BEFORE, UNSURE_LOG);
        fill_row(context, C_SURE_CHARS_AFTER, UNSURE_LOG);
        return;
    }
    while (!is_sure(context, last))
        last--;
    describe_distances(context);
    for (int64_t block = 0; block < blocks; block++) {
        row_of(context, C_SURE_INDEX)[block] = within(block - first, -FAR_INDEX, FAR_INDEX);
        row_of(context, C_SURE_FROM_END)[block] = within(last - block, -FAR_INDEX, FAR_INDEX);
        row_of(context, C_SURE_BETWEEN)[block] = block >= first && block <= last;
    }
}

/* Of the sets of most probable blocks, the one whose expected F1 is best; ccrawl.html.content.decide says why
 * it is one of these. */
static void describe_threshold(const Context *context, const int32_t *order) {
    int64_t blocks = context->page.blocks;
    const double *p = context->probability;
    double mass = 0.0, length = 0.0, best = -1.0, threshold = 0.0;
    for (int64_t rank = 0; rank < blocks; rank++) {
        int64_t block = order[rank];
        mass += mass_of(context, block);
        length += context->length[block];
        double score = 2 * mass / (length + context->total);
        if (score > best) {
            best = score;
            threshold = p[block];
        }
        row_of(context, C_P_RANK)[block] = (float)((double)rank / (double)blocks);
    }
    for (int64_t block = 0; block < blocks; block++)
        row_of(context, C_P_OVER)[block] = (float)(p[block] - threshold);
    fill_row(context, C_PAGE_SCORE, best);
    fill_row(context, C_PAGE_THRESHOLD, threshold);
    fill_row(context, C_PAGE_MASS, context->total);
    fill_row(context, C_PAGE_P, context->total / context->length_before[blocks]);
}

static void describe_blocks(Context *context, double *groups, int32_t *order) {
    int64_t blocks = context->page.blocks;
    sum_mass(context);
    for (int64_t block = 0; block < blocks; block++) {
        describe_row(context, block);
        describe_containers(context, block);
    }
    describe_groups(context, groups);
    describe_best(context);
    describe_sure(context);
    order_by_value(context->probability, blocks, order, order + blocks);
    describe_threshold(context, order);
}

/* Fill in the rows of CONTEXT, from the first look's probabilities; `places` and `ranges` are those of
 * ccrawl_gather. */
EXPORTED int ccrawl_gather_context(const PageArrays *arrays, const double *text, const int64_t *places,
                                   const int64_t *ranges, const double *probability, float *rows) {
    Page page = page_of(arrays);
    size_t blocks = (size_t)page.blocks;
    double *sums = malloc(2 * (blocks + 1) * sizeof *sums);
    double *groups = calloc(4 * blocks + 2, sizeof *groups);
    int32_t *order = malloc(2 * blocks * sizeof *order);
    bool made = sums != NULL && groups != NULL && order != NULL;
    if (made) {
        Context context = {
            .page = page,
            .probability = probability,
            .length = text + X_LENGTH * page.blocks,
            .places = places,
            .n_low = ranges,
            .n_high = ranges + page.nodes,
            .rows = rows,
            .mass_before = sums,
            .length_before = sums + blocks + 1,
        };
        describe_blocks(&context, groups, order);
    }
    free(sums);
    free(groups);
    free(order);
    return made ? 0 : NO_MEMORY;
}
