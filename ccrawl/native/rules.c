/* Rules that hold whatever the model says; ccrawl.html.content.rules says which, and why. */
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "xxh3.h"

static const double LONG = 40;      /* characters; shorter blocks are repeated for good reasons: labels, cells */
static const double MAY_BE = 0.1;   /* a probability; below it a block is not kept, whether repeated or not */
static const double DOUBTFUL = 0.15; /* a probability; below it the model is sure that a block is none */
static const double REPEATED = 5.0; /* what the odds of a repeated block are divided by */
static const double REST = 20;      /* characters of the longest block that must be left when others go */

static const double *row_of(const Page *page, const double *text, int row) { return text + row * page->blocks; }

/* Copies have as many characters, words, capitals and stops; few others do. */
static double likeness(const Page *page, const double *text, int64_t block) {
    return row_of(page, text, X_LENGTH)[block] + 8191 * row_of(page, text, X_WORDS)[block] +
           131071 * row_of(page, text, UPPER)[block] + 8388593 * row_of(page, text, STOP)[block];
}

static size_t bytes_of(const Page *page, int64_t block) {
    int64_t end = block + 1 < page->blocks ? page->b_first[block + 1] : page->texts;
    size_t size = 0;
    for (int64_t text = page->b_first[block]; text < end; text++)
        size += (size_t)page->t_size[text] + 1;
    return size;
}

/* The words of a block with single spaces between, in `out`, which has room for bytes_of. Returns their size. */
static size_t write_words(const Page *page, int64_t block, uint8_t *out) {
    int64_t end = block + 1 < page->blocks ? page->b_first[block + 1] : page->texts;
    size_t size = 0;
    bool space = false;
    for (int64_t text = page->b_first[block]; text < end; text++, space = true) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)page->t_address[text], *stop = at + page->t_size[text];
        for (; at != stop; at++) {
            if (is_white_byte(*at)) {
                space = true;
                continue;
            }
            if (space && size > 0)
                out[size++] = ' ';
            space = false;
            out[size++] = *at;
        }
    }
    return size;
}

typedef struct {
    int64_t *block;    /* long blocks that may be content */
    double *likeness;  /* of each */
    int32_t *order;    /* twice as many */
    uint8_t *like;     /* whether another has the same */
    uint64_t *seen;    /* hashes of words, 0 where there is none; mask + 1 slots */
    size_t mask;
} Candidates;

static int64_t find_candidates(const Page *page, const double *text, const double *probability, Candidates *found) {
    const double *length = row_of(page, text, X_LENGTH);
    int64_t count = 0;
    for (int64_t block = 0; block < page->blocks; block++) {
        if (length[block] < LONG || probability[block] < MAY_BE)
            continue;
        found->likeness[count] = likeness(page, text, block);
        found->block[count++] = block;
    }
    return count;
}

/* Mark those that may be copies, or have one. Returns the bytes of the longest. */
static size_t mark_alike(const Page *page, Candidates *found, int64_t count) {
    size_t longest = 0;
    order_by_value(found->likeness, count, found->order, found->order + count);
    memset(found->like, 0, (size_t)count);
    for (int64_t rank = 1; rank < count; rank++) {
        int32_t one = found->order[rank - 1], other = found->order[rank];
        if (found->likeness[one] == found->likeness[other])
            found->like[one] = found->like[other] = 1;
    }
    for (int64_t i = 0; i < count; i++) {
        size_t size = found->like[i] ? bytes_of(page, found->block[i]) : 0;
        longest = size > longest ? size : longest;
    }
    return longest;
}

/* Whether these words were there before: their hash, of 64 bits, was. */
static bool is_seen(Candidates *found, uint64_t hash) {
    size_t at = (size_t)hash & found->mask;
    hash += hash == 0;
    while (found->seen[at] != 0 && found->seen[at] != hash)
        at = (at + 1) & found->mask;
    bool seen = found->seen[at] != 0;
    found->seen[at] = hash;
    return seen;
}

static void lower_repeated(const Page *page, Candidates *found, int64_t count, uint8_t *words, double *probability) {
    for (int64_t i = 0; i < count; i++) {
        int64_t block = found->block[i];
        if (!found->like[i] || !is_seen(found, xxh3(words, write_words(page, block, words))))
            continue;
        double odds = probability[block];
        probability[block] = odds / (odds + REPEATED * (1.0 - odds));
    }
}

/* Make blocks whose words an earlier one had less probable. */
static int settle_repeated(const Page *page, const double *text, double *probability) {
    size_t blocks = (size_t)page->blocks, slots = 16;
    while (slots < 2 * blocks)
        slots *= 2;
    Candidates found = {.mask = slots - 1};
    found.block = malloc(blocks * sizeof *found.block);
    found.likeness = malloc(blocks * sizeof *found.likeness);
    found.order = malloc(2 * blocks * sizeof *found.order);
    found.like = malloc(blocks);
    uint8_t *words = NULL;
    bool made = found.block != NULL && found.likeness != NULL && found.order != NULL && found.like != NULL;
    int failed = made ? 0 : NO_MEMORY;
    if (made) {
        int64_t count = find_candidates(page, text, probability, &found);
        size_t longest = mark_alike(page, &found, count);
        if (longest > 0) { /* of most pages no block is read */
            words = malloc(longest);
            found.seen = calloc(slots, sizeof *found.seen);
            failed = words == NULL || found.seen == NULL ? NO_MEMORY : 0;
            if (failed == 0)
                lower_repeated(page, &found, count, words, probability);
        }
    }
    free(found.block);
    free(found.likeness);
    free(found.order);
    free(found.like);
    free(found.seen);
    free(words);
    return failed;
}

static bool holds_content(const Tables *tables, int64_t tag) {
    return tag == tables->tag[TAG_MAIN] || tag == tables->tag[TAG_ARTICLE] || tag == tables->tag[TAG_H1];
}

static bool is_any_named(const Page *page, uint64_t groups) {
    for (int64_t node = 1; node < page->nodes; node++)
        if (page->n_markup[node] & groups)
            return true;
    return false;
}

/* Mark the nodes in an element that names itself after one of `groups`, unless it holds an article or the
 * heading. `before` has room for a number a node and one more. */
static void mark_named(const Tables *tables, const Page *page, uint64_t groups, int32_t *before, uint8_t *named) {
    int64_t until = 0;
    before[0] = 0;
    for (int64_t node = 0; node < page->nodes; node++)
        before[node + 1] = before[node] + holds_content(tables, page->n_tag[node]);
    for (int64_t node = 0; node < page->nodes; node++) {
        int64_t end = page->n_end[node];
        if (node > 0 && (page->n_markup[node] & groups) && before[end] == before[node] && end > until)
            until = end;
        named[node] = node < until;
    }
}

/* Take away blocks in such elements, unless nothing else is left. */
static int settle_named(const Tables *tables, const Page *page, const double *length, uint64_t groups,
                        double *probability) {
    if (!is_any_named(page, groups)) /* most pages */
        return 0;
    int32_t *before = malloc(((size_t)page->nodes + 1) * sizeof *before);
    uint8_t *named = malloc((size_t)page->nodes);
    bool made = before != NULL && named != NULL;
    if (made) {
        double rest = 0.0;
        mark_named(tables, page, groups, before, named);
        for (int64_t block = 0; block < page->blocks; block++)
            if (!named[page->b_node[block]] && length[block] > rest)
                rest = length[block];
        for (int64_t block = 0; block < page->blocks; block++)
            if (rest >= REST && named[page->b_node[block]])
                probability[block] = 0.0;
    }
    free(before);
    free(named);
    return made ? 0 : NO_MEMORY;
}

/* Change the probabilities of blocks as the rules ask before the decision; `text` is what ccrawl_read_text gave,
 * `groups` are MARKUP groups whose elements go, one set after the other. */
EXPORTED int ccrawl_settle(const Tables *tables, const PageArrays *arrays, const double *text, const uint64_t *groups,
                           int64_t sets, double *probability) {
    Page page = page_of(arrays);
    int failed = settle_repeated(&page, text, probability);
    for (int64_t set = 0; set < sets && failed == 0; set++)
        failed = settle_named(tables, &page, row_of(&page, text, X_LENGTH), groups[set], probability);
    return failed;
}

/* The text in an element, and what of it is kept. */
static void weigh(const Page *page, const double *length, int64_t node, const uint8_t *keep, double *all,
                  double *kept) {
    *all = *kept = 0.0;
    for (int64_t block = 0; block < page->blocks; block++) {
        if (page->b_node[block] < node || page->b_node[block] >= page->n_end[node])
            continue;
        *all += length[block];
        *kept += keep[block] ? length[block] : 0.0;
    }
}

/* Whether tags or names of elements within the article speak against a block. */
static bool is_spoken_against(const Page *page, int64_t article, int64_t block, uint64_t tags, uint64_t names) {
    int64_t node = page->b_node[block];
    if (page->n_tags[node] & ~page->n_tags[article] & tags)
        return true;
    for (; node > article; node = page->n_parent[node])
        if (page->n_markup[node] & names)
            return true;
    return false;
}

/* Keep what stands in an article or <main> of which most is kept, unless `tags`, MARKUP groups in `names`, what it
 * begins with or its probability speak against it. */
EXPORTED void ccrawl_complete(const Tables *tables, const PageArrays *arrays, const double *text, uint64_t tags,
                              uint64_t names, const double *probability, uint8_t *keep) {
    Page page = page_of(arrays);
    const double *length = row_of(&page, text, X_LENGTH), *phrases = row_of(&page, text, X_PHRASES);
    for (int64_t node = 0; node < page.nodes; node++) {
        double all, kept;
        if (page.n_tag[node] != tables->tag[TAG_ARTICLE] && page.n_tag[node] != tables->tag[TAG_MAIN])
            continue;
        weigh(&page, length, node, keep, &all, &kept);
        if (2 * kept <= all)
            continue;
        for (int64_t block = 0; block < page.blocks; block++) {
            uint64_t begins;
            memcpy(&begins, phrases + block, sizeof begins);
            bool inside = page.b_node[block] >= node && page.b_node[block] < page.n_end[node];
            bool open = inside && !keep[block] && begins == 0 && probability[block] >= DOUBTFUL;
            if (open && !is_spoken_against(&page, node, block, tags, names))
                keep[block] = 1;
        }
    }
}
