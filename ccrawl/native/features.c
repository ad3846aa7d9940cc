/* Evidence about each block; features.h lists it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "judge.h"

enum { GOOD_LENGTH = 40 };    /* characters of a block of running text */
enum { LONGEST_SINCE = 200 }; /* blocks */
static const float NONE = -0.5F; /* where a logarithm will be taken: below 0 */

static double stops_of(const Evidence *evidence, int64_t block) { return text_row(evidence, STOP)[block]; }

static double density(const Evidence *evidence, int64_t block) {
    return at_most(text_row(evidence, X_LINKED)[block] / text_row(evidence, X_LENGTH)[block], 1.0);
}

/* Running text: what is not linked in a block that is long enough and has sentences. */
static double good(const Evidence *evidence, int64_t block) {
    double length = text_row(evidence, X_LENGTH)[block];
    if (stops_of(evidence, block) == 0 || length <= GOOD_LENGTH)
        return 0.0;
    return at_least(length - text_row(evidence, X_LINKED)[block], 0.0);
}

static int64_t tag_of(const Evidence *evidence, int64_t block) {
    return evidence->page.n_tag[evidence->page.b_node[block]];
}

/* 1 to 6, or 0 for what is no heading. */
static int heading_level(const Evidence *evidence, int64_t block) {
    int64_t tag = tag_of(evidence, block);
    for (int level = 1; level <= 6; level++)
        if (tag == evidence->tables->tag[TAG_H1 + level - 1])
            return level;
    return 0;
}

static uint64_t phrases_of(const Evidence *evidence, int64_t block) {
    uint64_t phrases;
    memcpy(&phrases, text_row(evidence, X_PHRASES) + block, sizeof phrases);
    return phrases;
}

static bool is_hidden(const Evidence *evidence, int64_t block) {
    return (evidence->page.n_tags[evidence->page.b_node[block]] & HIDDEN) != 0;
}

Chain chain_to(const Page *page, int64_t node) {
    Chain chain = {.length = 0};
    int64_t up[CHAIN];
    for (;; node = page->n_parent[node]) {
        up[chain.length++] = node;
        if (node == 0 || chain.length == CHAIN)
            break;
    }
    for (int i = 0; i < chain.length; i++)
        chain.node[i] = up[chain.length - 1 - i];
    return chain;
}

double common_depth(const Page *page, const Chain *chain, int64_t node) {
    int shared = 0;
    while (shared < chain->length && chain->node[shared] <= node && node < page->n_end[chain->node[shared]])
        shared++;
    return (double)shared / chain->length;
}

static void find_places(const Evidence *evidence) {
    const Page *page = &evidence->page;
    int64_t heading = -1;
    for (int64_t block = 0; block < page->blocks; block++) {
        int64_t box = page->b_node[block];
        for (int level = 0; level < BOXES; level++, box = page->n_parent[box])
            place(evidence, P_BOX + level)[block] = box;
        if (heading_level(evidence, block) > 0)
            heading = block;
        place(evidence, P_HEADING)[block] = heading;
    }
}

static void find_block_ranges(const Evidence *evidence) {
    const Page *page = &evidence->page;
    int64_t blocks = 0;
    int32_t headings = 0;
    for (int64_t node = 0; node < page->nodes; node++) {
        while (blocks < page->blocks && page->t_node[page->b_first[blocks]] < node)
            blocks++;
        evidence->n_low[node] = blocks;
        headings += page->n_tag[node] == evidence->tables->tag[TAG_H1];
        evidence->h1_before[node] = headings;
    }
    for (int64_t node = 0; node < page->nodes; node++) {
        int64_t end = page->n_end[node];
        evidence->n_high[node] = end < page->nodes ? evidence->n_low[end] : page->blocks;
    }
}

static void sum_blocks(const Evidence *evidence) {
    const Sums *sums = &evidence->sums;
    sums->length[0] = sums->linked[0] = sums->stops[0] = sums->good[0] = sums->headings[0] = 0.0;
    for (int64_t block = 0; block < evidence->page.blocks; block++) {
        sums->length[block + 1] = sums->length[block] + text_row(evidence, X_LENGTH)[block];
        sums->linked[block + 1] = sums->linked[block] + text_row(evidence, X_LINKED)[block];
        sums->stops[block + 1] = sums->stops[block] + stops_of(evidence, block);
        sums->good[block + 1] = sums->good[block] + good(evidence, block);
        sums->headings[block + 1] = sums->headings[block] + (heading_level(evidence, block) > 0);
    }
}

static void describe_own(const Evidence *evidence, int64_t block) {
    const Page *page = &evidence->page;
    double length = text_row(evidence, X_LENGTH)[block], words = text_row(evidence, X_WORDS)[block];
    double stops = stops_of(evidence, block);
    figure(evidence, OWN_LENGTH)[block] = (float)length;
    figure(evidence, OWN_WORDS)[block] = (float)words;
    figure(evidence, OWN_STOPS)[block] = (float)stops;
    figure(evidence, OWN_LINK_DENSITY)[block] = (float)density(evidence, block);
    figure(evidence, OWN_UPPER)[block] = (float)(text_row(evidence, UPPER)[block] / length);
    figure(evidence, OWN_STOP_RATE)[block] = (float)(stops / (words + 1));
    figure(evidence, OWN_MARKS)[block] = (float)(text_row(evidence, MARK)[block] / length);
    figure(evidence, OWN_ENDS_STOP)[block] = text_row(evidence, X_LAST)[block] == STOP;
    figure(evidence, OWN_HIDDEN)[block] = is_hidden(evidence, block);
    figure(evidence, OWN_DEPTH)[block] = (float)page->n_depth[page->b_node[block]];
    figure(evidence, OWN_IN_BODY)[block] = (float)text_row(evidence, X_IN_BODY)[block];
    figure(evidence, OWN_IN_DESCRIPTION)[block] = (float)text_row(evidence, X_IN_DESCRIPTION)[block];
}

static void describe_boxes(const Evidence *evidence, int64_t block) {
    const Sums *sums = &evidence->sums;
    int64_t blocks = evidence->page.blocks;
    double page_length = at_least(sums->length[blocks], 1.0), page_good = at_least(sums->good[blocks], 1.0);
    for (int level = 0; level < BOXES; level++) {
        int64_t box = place(evidence, P_BOX + level)[block];
        int64_t low = evidence->n_low[box], high = evidence->n_high[box];
        double length = at_least(sums->length[high] - sums->length[low], 1.0);
        double count = (double)(high - low);
        figure(evidence, BOX0_CHARS + level)[block] = (float)length;
        figure(evidence, BOX0_BLOCKS + level)[block] = (float)count;
        figure(evidence, BOX0_HEADINGS + level)[block] = (float)(sums->headings[high] - sums->headings[low]);
        figure(evidence, BOX0_SHARE + level)[block] = (float)(length / page_length);
        figure(evidence, BOX0_LINKS + level)[block] = (float)((sums->linked[high] - sums->linked[low]) / length);
        figure(evidence, BOX0_STOPS + level)[block] =
            (float)((sums->stops[high] - sums->stops[low]) / at_least(count, 1.0));
        figure(evidence, BOX0_GOODSHARE + level)[block] = (float)((sums->good[high] - sums->good[low]) / page_good);
    }
}

/* The first heading that matches the title, else the first block that equals it; -1 for none. */
static int64_t title_block(const Evidence *evidence) {
    const double *match = text_row(evidence, X_TITLE);
    for (int64_t block = 0; block < evidence->page.blocks; block++)
        if (match[block] > 0 && heading_level(evidence, block) > 0)
            return block;
    for (int64_t block = 0; block < evidence->page.blocks; block++)
        if (match[block] >= 1.0)
            return block;
    return -1;
}

/* The container whose own paragraphs hold most running text; half of it counts for its parent. */
static int64_t top_container(const Evidence *evidence, double *score) {
    const Page *page = &evidence->page;
    int64_t top = 0;
    for (int64_t block = 0; block < page->blocks; block++) {
        int64_t above = page->n_parent[page->b_node[block]];
        double rich = good(evidence, block);
        score[above] += rich;
        score[page->n_parent[above]] += rich / 2;
    }
    for (int64_t node = 1; node < page->nodes; node++)
        if (score[node] > score[top])
            top = node;
    return top;
}

typedef struct {
    int64_t top, title, first_good, last_good;
    Chain to_top, to_title;
} Landmarks;

static Landmarks find_landmarks(const Evidence *evidence, double *score) {
    const Page *page = &evidence->page;
    Landmarks marks = {.first_good = -1, .last_good = page->blocks - 1};
    marks.top = top_container(evidence, score);
    marks.title = title_block(evidence);
    marks.to_top = chain_to(page, marks.top);
    marks.to_title = chain_to(page, marks.title >= 0 ? page->b_node[marks.title] : 0);
    for (int64_t block = 0; block < page->blocks; block++) {
        if (good(evidence, block) == 0)
            continue;
        if (marks.first_good < 0)
            marks.first_good = block;
        marks.last_good = block;
    }
    if (marks.first_good < 0)
        marks.first_good = 0;
    return marks;
}

static void describe_place(const Evidence *evidence, const Landmarks *marks, int64_t block) {
    const Page *page = &evidence->page;
    const Sums *sums = &evidence->sums;
    int64_t node = page->b_node[block], top = marks->top, title = marks->title;
    double before = sums->length[block];
    double top_good = sums->good[evidence->n_high[top]] - sums->good[evidence->n_low[top]];
    bool titled = title >= 0;
    figure(evidence, PLACE_INDEX)[block] = (float)block;
    figure(evidence, PLACE_CHARS_BEFORE)[block] = (float)before;
    figure(evidence, PLACE_SHARE_BEFORE)[block] = (float)(before / at_least(sums->length[page->blocks], 1.0));
    figure(evidence, PLACE_AFTER_TITLE)[block] = titled ? block >= title : -1.0F;
    /* Without a title, below all distances that there are. */
    figure(evidence, PLACE_TITLE_DISTANCE)[block] = titled ? (float)(block - title) : -8102.0F;
    figure(evidence, PLACE_TOP_INSIDE)[block] = node >= top && node < page->n_end[top];
    figure(evidence, PLACE_TOP_BEFORE)[block] = node < top;
    figure(evidence, PLACE_TOP_AFTER)[block] = node >= page->n_end[top];
    figure(evidence, PLACE_TOP_COMMON)[block] = (float)common_depth(page, &marks->to_top, node);
    figure(evidence, PLACE_TOP_SHARE)[block] = (float)(top_good / at_least(sums->good[page->blocks], 1.0));
    figure(evidence, PLACE_FIRST_GOOD)[block] = (float)(block - marks->first_good);
    figure(evidence, PLACE_LAST_GOOD)[block] = (float)(marks->last_good - block);
    figure(evidence, PLACE_TITLE_COMMON)[block] = titled ? (float)common_depth(page, &marks->to_title, node) : -1.0F;
    figure(evidence, PLACE_H1_BEFORE)[block] = (float)evidence->h1_before[node];
}

static void describe_window(const Evidence *evidence, int64_t block, int64_t reach, int good_row, int links_row) {
    const Sums *sums = &evidence->sums;
    int64_t blocks = evidence->page.blocks;
    int64_t low = block < reach ? 0 : block - reach;
    int64_t high = block + reach + 1 < blocks ? block + reach + 1 : blocks;
    double length = at_least(sums->length[high] - sums->length[low], 1.0);
    figure(evidence, good_row)[block] = (float)(sums->good[high] - sums->good[low]);
    figure(evidence, links_row)[block] = (float)((sums->linked[high] - sums->linked[low]) / length);
}

static void describe_neighbours(const Evidence *evidence, int64_t block) {
    bool last = block + 1 == evidence->page.blocks;
    int64_t heading = place(evidence, P_HEADING)[block];
    describe_window(evidence, block, 2, WINDOW_GOOD5, WINDOW_LINKS5);
    describe_window(evidence, block, 7, WINDOW_GOOD15, WINDOW_LINKS15);
    figure(evidence, NEXT_LINK_DENSITY)[block] = last ? -1.0F : (float)density(evidence, block + 1);
    figure(evidence, UNDER_DISTANCE)[block] = heading < 0 ? NONE : (float)(block - heading);
    figure(evidence, UNDER_LENGTH)[block] = heading < 0 ? NONE : (float)text_row(evidence, X_LENGTH)[heading];
    figure(evidence, UNDER_LEVEL)[block] = heading < 0 ? 0.0F : (float)heading_level(evidence, heading);
}

static void describe_signs(const Evidence *evidence) {
    for (int sign = 0; sign < PHRASE_SIGNS; sign++) {
        int64_t since = LONGEST_SINCE;
        float *row = figure(evidence, SINCE_SHARE + sign);
        for (int64_t block = 0; block < evidence->page.blocks; block++) {
            if (phrases_of(evidence, block) & evidence->tables->sign_bits[sign])
                since = 0;
            else if (since < LONGEST_SINCE)
                since++;
            row[block] = (float)since;
        }
    }
}

static void fill(const Evidence *evidence, int row, double value) {
    float *out = figure(evidence, row);
    for (int64_t block = 0; block < evidence->page.blocks; block++)
        out[block] = (float)value;
}

static double count_tag(const Page *page, int64_t tag) {
    int64_t count = 0;
    for (int64_t node = 0; node < page->nodes; node++)
        count += page->n_tag[node] == tag;
    return (double)count;
}

static void describe_page(const Evidence *evidence) {
    const Page *page = &evidence->page;
    const int64_t *tag = evidence->tables->tag;
    int64_t blocks = page->blocks;
    double paragraphs = 0, wide = 0, hidden = 0, title = 0;
    for (int64_t block = 0; block < blocks; block++) {
        double length = text_row(evidence, X_LENGTH)[block], match = text_row(evidence, X_TITLE)[block];
        paragraphs += tag_of(evidence, block) == tag[TAG_P] ? length : 0;
        hidden += is_hidden(evidence, block) ? length : 0;
        wide += text_row(evidence, WIDE)[block];
        title = match > title ? match : title;
    }
    double total = at_least(evidence->sums.length[blocks], 1.0);
    fill(evidence, PAGE_CHARS, total);
    fill(evidence, PAGE_BLOCKS, (double)blocks);
    fill(evidence, PAGE_PARAGRAPHS, paragraphs);
    fill(evidence, PAGE_HEADINGS, evidence->sums.headings[blocks]);
    fill(evidence, PAGE_CELLS, count_tag(page, tag[TAG_TD]));
    fill(evidence, PAGE_ARTICLES, count_tag(page, tag[TAG_ARTICLE]));
    fill(evidence, PAGE_BODIES, evidence->given[G_BODIES]);
    fill(evidence, PAGE_ITEMS, count_tag(page, tag[TAG_LI]));
    fill(evidence, PAGE_LISTS, count_tag(page, tag[TAG_UL]));
    fill(evidence, PAGE_LINKS, evidence->sums.linked[blocks] / total);
    fill(evidence, PAGE_GOOD, evidence->sums.good[blocks] / total);
    fill(evidence, PAGE_MAIN, count_tag(page, tag[TAG_MAIN]));
    fill(evidence, PAGE_WIDE, wide / total);
    fill(evidence, PAGE_TITLE_FOUND, title);
    for (int i = G_OG_ARTICLE; i < G_KINDS; i++)
        fill(evidence, PAGE_OG_ARTICLE + i - G_OG_ARTICLE, evidence->given[i]);
    fill(evidence, PAGE_HIDDEN, hidden / total);
    for (int i = G_KINDS; i < GIVEN; i++)
        fill(evidence, KIND_ARTICLE + i - G_KINDS, evidence->given[i]);
}

/* The flags of each block: byte by byte, a row each, so that a forest asks many blocks at once. */
static void describe_flags(const Evidence *evidence, uint8_t *flags) {
    const Page *page = &evidence->page;
    int64_t blocks = page->blocks;
    for (int64_t block = 0; block < blocks; block++) {
        int64_t node = page->b_node[block], heading = place(evidence, P_HEADING)[block];
        uint64_t names = page->n_markup[node];
        uint64_t sources[SOURCES] = {
            phrases_of(evidence, block),
            heading < 0 ? 0 : phrases_of(evidence, heading),
            evidence->tables->own_bits[page->n_tag[node]],
            page->n_tags[node],
            page->n_tags[page->t_node[page->b_first[block]]],
            names,
            names | page->n_markup[place(evidence, P_BOX + 1)[block]] | page->n_markup[place(evidence, P_BOX + 2)[block]],
            page->n_markup_all[node],
        };
        for (int source = 0; source < SOURCES; source++)
            for (int byte = 0; byte < 8; byte++)
                flags[(8 * source + byte) * blocks + block] = (uint8_t)(sources[source] >> 8 * byte);
    }
}

static void describe_blocks(const Evidence *evidence, double *score, uint8_t *flags) {
    find_places(evidence);
    find_block_ranges(evidence);
    sum_blocks(evidence);
    Landmarks marks = find_landmarks(evidence, score);
    for (int64_t block = 0; block < evidence->page.blocks; block++) {
        describe_own(evidence, block);
        describe_boxes(evidence, block);
        describe_place(evidence, &marks, block);
        describe_neighbours(evidence, block);
    }
    describe_signs(evidence);
    describe_page(evidence);
    describe_flags(evidence, flags);
}

/* Fill in the first FIGURE_ROWS rows of the matrix, the flags, and the places of Evidence; `given` is GIVEN
 * numbers. */
EXPORTED int ccrawl_gather(const Tables *tables, const PageArrays *arrays, const double *text, const double *given,
                           float *matrix, uint8_t *flags, int64_t *places, int64_t *ranges) {
    Page page = page_of(arrays);
    size_t blocks = (size_t)page.blocks + 1, nodes = (size_t)page.nodes;
    double *sums = malloc(5 * blocks * sizeof *sums);
    double *score = calloc(nodes, sizeof *score);
    int32_t *h1_before = malloc(nodes * sizeof *h1_before);
    int failed = sums == NULL || score == NULL || h1_before == NULL ? NO_MEMORY : 0;
    if (failed == 0) {
        Evidence evidence = {
            .tables = tables,
            .page = page,
            .text = text,
            .given = given,
            .matrix = matrix,
            .places = places,
            .n_low = ranges,
            .n_high = ranges + page.nodes,
            .sums = {sums, sums + blocks, sums + 2 * blocks, sums + 3 * blocks, sums + 4 * blocks},
            .h1_before = h1_before,
        };
        describe_blocks(&evidence, score, flags);
        failed = describe_shapes(&evidence);
    }
    free(sums);
    free(score);
    free(h1_before);
    return failed;
}

#define LINEAR "linear"
#define LOGARITHM "logarithm"
#define SIGNED_LOGARITHM "signed-logarithm"
#define DESCRIBED(row, name, scale) name "=" scale " "

/* The rows of the matrix: name=scale, in order. */
EXPORTED const char *ccrawl_figures(void) { return FIGURES(DESCRIBED); }

EXPORTED const char *ccrawl_context(void) { return CONTEXT(DESCRIBED); }
