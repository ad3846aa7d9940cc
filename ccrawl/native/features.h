/* The figures of a block, a row each, in the order of their matrix.
 *
 * X(row, name, scale): a forest asks for figures by name. The scale says how a figure is seen when weights are
 * fitted: LINEAR as it is, LOGARITHM as log(1 + x), SIGNED_LOGARITHM the same on both sides of 0. A tree only
 * compares, so no logarithm is taken here: the borders are converted instead.
 */
#ifndef CCRAWL_FEATURES_H
#define CCRAWL_FEATURES_H

#define LEVELS(X, row, name, scale)                                                                                 \
    X(BOX0_##row, "box0." name, scale)                                                                              \
    X(BOX1_##row, "box1." name, scale)                                                                              \
    X(BOX2_##row, "box2." name, scale)                                                                              \
    X(BOX3_##row, "box3." name, scale)

#define FIGURES(X)                                                                                                  \
    /* the block by itself */                                                                                       \
    X(OWN_LENGTH, "own.length", LOGARITHM)                                                                          \
    X(OWN_WORDS, "own.words", LOGARITHM)                                                                            \
    X(OWN_STOPS, "own.stops", LOGARITHM)                                                                            \
    X(OWN_LINK_DENSITY, "own.link_density", LINEAR)                                                                 \
    X(OWN_UPPER, "own.upper", LINEAR)                                                                               \
    X(OWN_STOP_RATE, "own.stop_rate", LINEAR)                                                                       \
    X(OWN_MARKS, "own.marks", LINEAR)                                                                               \
    X(OWN_ENDS_STOP, "own.ends_stop", LINEAR)                                                                       \
    X(OWN_HIDDEN, "own.hidden", LINEAR)                                                                             \
    X(OWN_DEPTH, "own.depth", LINEAR)                                                                               \
    X(OWN_IN_BODY, "own.in_body", LINEAR)                                                                           \
    X(OWN_IN_DESCRIPTION, "own.in_description", LINEAR)                                                             \
    /* its element and the three around that */                                                                     \
    LEVELS(X, CHARS, "chars", LOGARITHM)                                                                            \
    LEVELS(X, BLOCKS, "blocks", LOGARITHM)                                                                          \
    LEVELS(X, HEADINGS, "headings", LOGARITHM)                                                                      \
    LEVELS(X, SHARE, "share", LINEAR)                                                                               \
    LEVELS(X, LINKS, "links", LINEAR)                                                                               \
    LEVELS(X, STOPS, "stops", LINEAR)                                                                               \
    LEVELS(X, GOODSHARE, "goodshare", LINEAR)                                                                       \
    /* where it stands; the top is the container whose own paragraphs hold most running text */                     \
    X(PLACE_INDEX, "place.index", LOGARITHM)                                                                        \
    X(PLACE_CHARS_BEFORE, "place.chars_before", LOGARITHM)                                                          \
    X(PLACE_SHARE_BEFORE, "place.share_before", LINEAR)                                                             \
    X(PLACE_AFTER_TITLE, "place.after_title", LINEAR)                                                               \
    X(PLACE_TITLE_DISTANCE, "place.title_distance", SIGNED_LOGARITHM)                                               \
    X(PLACE_TOP_INSIDE, "place.top_inside", LINEAR)                                                                 \
    X(PLACE_TOP_BEFORE, "place.top_before", LINEAR)                                                                 \
    X(PLACE_TOP_AFTER, "place.top_after", LINEAR)                                                                   \
    X(PLACE_TOP_COMMON, "place.top_common", LINEAR)                                                                 \
    X(PLACE_TOP_SHARE, "place.top_share", LINEAR)                                                                   \
    X(PLACE_FIRST_GOOD, "place.first_good", LINEAR)                                                                 \
    X(PLACE_LAST_GOOD, "place.last_good", LINEAR)                                                                   \
    X(PLACE_TITLE_COMMON, "place.title_common", LINEAR)                                                             \
    X(PLACE_H1_BEFORE, "place.h1_before", LINEAR)                                                                   \
    /* the five and the fifteen blocks around it */                                                                 \
    X(WINDOW_GOOD5, "window.good5", LOGARITHM)                                                                      \
    X(WINDOW_GOOD15, "window.good15", LOGARITHM)                                                                    \
    X(WINDOW_LINKS5, "window.links5", LINEAR)                                                                       \
    X(WINDOW_LINKS15, "window.links15", LINEAR)                                                                     \
    X(NEXT_LINK_DENSITY, "next.link_density", LINEAR)                                                               \
    /* the heading that it stands under */                                                                          \
    X(UNDER_DISTANCE, "under.distance", LOGARITHM)                                                                  \
    X(UNDER_LENGTH, "under.length", LOGARITHM)                                                                      \
    X(UNDER_LEVEL, "under.level", LINEAR)                                                                           \
    /* how many blocks ago one began with such a phrase */                                                          \
    X(SINCE_SHARE, "since.share", LOGARITHM)                                                                        \
    X(SINCE_RELATED, "since.related", LOGARITHM)                                                                    \
    X(SINCE_COMMENT, "since.comment", LOGARITHM)                                                                    \
    X(SINCE_SUBSCRIBE, "since.subscribe", LOGARITHM)                                                                \
    X(SINCE_AUTHOR, "since.author", LOGARITHM)                                                                      \
    X(SINCE_LEGAL, "since.legal", LOGARITHM)                                                                        \
    /* blocks of its shape, and siblings of its containers' shapes */                                               \
    X(SHAPE_COUNT, "shape.count", LOGARITHM)                                                                        \
    X(SHAPE_CHARS, "shape.chars", LOGARITHM)                                                                        \
    X(SHAPE_SIBLINGS, "shape.siblings", LOGARITHM)                                                                  \
    X(SHAPE_SIBLING_CHARS, "shape.sibling_chars", LOGARITHM)                                                        \
    X(SHAPE_LEVEL0, "shape.level0", LOGARITHM)                                                                      \
    X(SHAPE_LEVEL2, "shape.level2", LOGARITHM)                                                                      \
    X(SHAPE_LINKS, "shape.links", LINEAR)                                                                           \
    X(SHAPE_STOPS, "shape.stops", LINEAR)                                                                           \
    /* the page, the same for all blocks */                                                                         \
    X(PAGE_CHARS, "page.chars", LOGARITHM)                                                                          \
    X(PAGE_BLOCKS, "page.blocks", LOGARITHM)                                                                        \
    X(PAGE_PARAGRAPHS, "page.paragraphs", LOGARITHM)                                                                \
    X(PAGE_HEADINGS, "page.headings", LOGARITHM)                                                                    \
    X(PAGE_CELLS, "page.cells", LOGARITHM)                                                                          \
    X(PAGE_ARTICLES, "page.articles", LOGARITHM)                                                                    \
    X(PAGE_BODIES, "page.bodies", LOGARITHM)                                                                        \
    X(PAGE_ITEMS, "page.items", LOGARITHM)                                                                          \
    X(PAGE_LISTS, "page.lists", LOGARITHM)                                                                          \
    X(PAGE_LINKS, "page.links", LINEAR)                                                                             \
    X(PAGE_GOOD, "page.good", LINEAR)                                                                               \
    X(PAGE_MAIN, "page.main", LINEAR)                                                                               \
    X(PAGE_WIDE, "page.wide", LINEAR)                                                                               \
    X(PAGE_TITLE_FOUND, "page.title_found", LINEAR)                                                                 \
    /* what the caller says of it */                                                                                \
    X(PAGE_OG_ARTICLE, "page.og_article", LINEAR)                                                                   \
    X(PAGE_OG_PRODUCT, "page.og_product", LINEAR)                                                                   \
    X(PAGE_URL_DEPTH, "page.url_depth", LINEAR)                                                                     \
    X(PAGE_URL_WORDS, "page.url_words", LINEAR)                                                                     \
    X(PAGE_URL_DATE, "page.url_date", LINEAR)                                                                       \
    X(PAGE_URL_ROOT, "page.url_root", LINEAR)                                                                       \
    X(PAGE_HIDDEN, "page.hidden", LINEAR)                                                                           \
    X(KIND_ARTICLE, "kind.article", LINEAR)                                                                         \
    X(KIND_PRODUCT, "kind.product", LINEAR)                                                                         \
    X(KIND_THREAD, "kind.thread", LINEAR)                                                                           \
    X(KIND_LIST, "kind.list", LINEAR)                                                                               \
    X(KIND_RECIPE, "kind.recipe", LINEAR)                                                                           \
    X(KIND_PLACE, "kind.place", LINEAR)

/* What the first look says about a block's surroundings. */
#define CONTEXT(X)                                                                                                  \
    X(P, "p", LINEAR)                                                                                               \
    X(P_MINUS3, "p-3", LINEAR)                                                                                      \
    X(P_MINUS2, "p-2", LINEAR)                                                                                      \
    X(P_MINUS1, "p-1", LINEAR)                                                                                      \
    X(P_PLUS1, "p+1", LINEAR)                                                                                       \
    X(P_PLUS2, "p+2", LINEAR)                                                                                       \
    X(P_PLUS3, "p+3", LINEAR)                                                                                       \
    X(P_WINDOW1, "p.window1", LINEAR)                                                                               \
    X(P_WINDOW3, "p.window3", LINEAR)                                                                               \
    X(P_WINDOW8, "p.window8", LINEAR)                                                                               \
    X(P_WINDOW20, "p.window20", LINEAR)                                                                             \
    X(P_BOX0, "p.box0", LINEAR)                                                                                     \
    X(P_BOX1, "p.box1", LINEAR)                                                                                     \
    X(P_BOX2, "p.box2", LINEAR)                                                                                     \
    X(P_BOX3, "p.box3", LINEAR)                                                                                     \
    X(P_BOXMASS0, "p.boxmass0", LINEAR)                                                                             \
    X(P_BOXMASS1, "p.boxmass1", LINEAR)                                                                             \
    X(P_BOXMASS2, "p.boxmass2", LINEAR)                                                                             \
    X(P_BOXMASS3, "p.boxmass3", LINEAR)                                                                             \
    X(P_TOP0, "p.top0", LINEAR)                                                                                     \
    X(P_TOP1, "p.top1", LINEAR)                                                                                     \
    X(P_TOP2, "p.top2", LINEAR)                                                                                     \
    X(P_TOP3, "p.top3", LINEAR)                                                                                     \
    X(P_SHAPE, "p.shape", LINEAR)                                                                                  \
    X(P_UNDER, "p.under", LINEAR)                                                                                   \
    X(P_HEADING, "p.heading", LINEAR)                                                                              \
    X(P_BEFORE, "p.before", LINEAR)                                                                                 \
    X(P_AFTER, "p.after", LINEAR)                                                                                   \
    /* the container that alone would make the best extract */                                                      \
    X(BEST_INSIDE, "best.inside", LINEAR)                                                                           \
    X(BEST_BEFORE, "best.before", LINEAR)                                                                           \
    X(BEST_AFTER, "best.after", LINEAR)                                                                             \
    X(BEST_SCORE, "best.score", LINEAR)                                                                             \
    X(BEST_COMMON, "best.common", LINEAR)                                                                           \
    X(BEST_MEAN, "best.mean", LINEAR)                                                                               \
    /* the deepest node that holds nearly all of what the first look wants */                                       \
    X(TIGHT_INSIDE, "tight.inside", LINEAR)                                                                         \
    X(TIGHT_COMMON, "tight.common", LINEAR)                                                                         \
    X(TIGHT_MEAN, "tight.mean", LINEAR)                                                                             \
    /* the run from the first to the last block that is surely content */                                           \
    X(SURE_BEFORE, "sure.before", LINEAR)                                                                           \
    X(SURE_AFTER, "sure.after", LINEAR)                                                                             \
    X(SURE_INDEX, "sure.index", LINEAR)                                                                             \
    X(SURE_FROM_END, "sure.from_end", LINEAR)                                                                       \
    X(SURE_BETWEEN, "sure.between", LINEAR)                                                                         \
    X(SURE_CHARS_BEFORE, "sure.chars_before", LOGARITHM)                                                            \
    X(SURE_CHARS_AFTER, "sure.chars_after", LOGARITHM)                                                              \
    /* the page: the best set of blocks by expected F1, and what the first look wants of all */                     \
    X(PAGE_SCORE, "page.score", LINEAR)                                                                             \
    X(PAGE_THRESHOLD, "page.threshold", LINEAR)                                                                     \
    X(PAGE_MASS, "page.mass", LOGARITHM)                                                                            \
    X(PAGE_P, "page.p", LINEAR)                                                                                     \
    X(P_RANK, "p.rank", LINEAR)                                                                                     \
    X(P_OVER, "p.over", LINEAR)

#define ROW_ENTRY(row, name, scale) row,
enum { FIGURES(ROW_ENTRY) FIGURE_ROWS };
#define CONTEXT_ENTRY(row, name, scale) C_##row,
enum { CONTEXT(CONTEXT_ENTRY) CONTEXT_ROWS };

/* What comes with the head and the URL, in this order. */
enum { G_BODIES, G_OG_ARTICLE, G_OG_PRODUCT, G_URL_DEPTH, G_URL_WORDS, G_URL_DATE, G_URL_ROOT, G_KINDS, GIVEN = G_KINDS + 6 };

#endif
