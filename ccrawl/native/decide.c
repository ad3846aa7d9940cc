/* Which blocks to keep; ccrawl.html.content.decide says how. */
#include <stdlib.h>

#include "native.h"

enum { PROSE_LENGTH = 60 }; /* characters */

/* The probability above which the set of blocks scores best. */
static double best_threshold(const double *probability, const double *words, int64_t blocks, double worth,
                             const int32_t *order) {
    double all = 0.0, mass = 0.0, chosen = 0.0, best = -1.0, threshold = 0.0;
    for (int64_t i = 0; i < blocks; i++)
        all += at_least(words[order[i]], 0.5) * probability[order[i]];
    all = at_least(all, 1e-9);
    for (int64_t i = 0; i < blocks; i++) {
        double own = at_least(words[order[i]], 0.5);
        mass += own * probability[order[i]];
        chosen += own;
        double score = worth * mass / chosen + mass / all;
        if (score > best) {
            best = score;
            threshold = probability[order[i]];
        }
    }
    return threshold;
}

/* Fill in 1 for each block to keep, else 0. `low` and `high` bound the threshold. */
EXPORTED int ccrawl_decide(const double *probability, const double *words, int64_t blocks, double worth, double low,
                           double high, uint8_t *keep) {
    int32_t *order = malloc(2 * (size_t)blocks * sizeof *order);
    if (order == NULL)
        return NO_MEMORY;
    order_by_value(probability, blocks, order, order + blocks);
    double threshold = best_threshold(probability, words, blocks, worth, order);
    threshold = threshold < low ? low : threshold;
    threshold = threshold > high ? high : threshold;
    double most = probability[order[0]];
    threshold = threshold > most ? most : threshold;
    for (int64_t block = 0; block < blocks; block++)
        keep[block] = probability[block] >= threshold;
    free(order);
    return 0;
}

/* Fill in 1 for each block that is running text: long enough, with a sentence, and mostly not linked. `text` is
 * what ccrawl_read_text gave. */
EXPORTED void ccrawl_find_prose(const double *text, int64_t blocks, uint8_t *prose) {
    const double *length = text + X_LENGTH * blocks, *stops = text + STOP * blocks, *linked = text + X_LINKED * blocks;
    for (int64_t block = 0; block < blocks; block++)
        prose[block] = length[block] > PROSE_LENGTH && stops[block] > 0 && linked[block] < 0.5 * length[block];
}
