/* What the features of a page's blocks are computed from, and where they go. */
#ifndef CCRAWL_EVIDENCE_H
#define CCRAWL_EVIDENCE_H

#include "features.h"
#include "native.h"

enum { BOXES = 4 };

/* Sums over all blocks before each one; those over a subtree are differences. */
typedef struct {
    double *length, *linked, *stops, *good, *headings; /* blocks + 1 */
} Sums;

typedef struct {
    const Tables *tables;
    Page page;
    const double *text; /* BlockText.rows */
    const double *given;
    float *matrix; /* FIGURE_ROWS x blocks */
    int64_t *places;
    int64_t *n_low, *n_high; /* a node's first block, and the one after its last */
    Sums sums;
    int32_t *h1_before; /* of each node, itself among them */
} Evidence;

static inline float *figure(const Evidence *evidence, int row) {
    return evidence->matrix + row * evidence->page.blocks;
}

static inline const double *text_row(const Evidence *evidence, int row) {
    return evidence->text + row * evidence->page.blocks;
}

static inline int64_t *place(const Evidence *evidence, int row) {
    return evidence->places + row * evidence->page.blocks;
}

/* From the root to a node: at most the last CHAIN containers. */
enum { CHAIN = 64 };
typedef struct {
    int64_t node[CHAIN];
    int length;
} Chain;

Chain chain_to(const Page *page, int64_t node);

/* How much of the chain a node shares, 0 to 1. */
double common_depth(const Page *page, const Chain *chain, int64_t node);

/* The shape of each block, and how often it occurs. 0, or NO_MEMORY. */
int describe_shapes(const Evidence *evidence);

#endif
