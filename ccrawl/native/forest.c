/* Oblivious trees; ccrawl.html.content.model says what they are. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* Blocks evaluated at once: the answers for them stay in the processor's cache. Rows of answers are whole
 * GROUPs, which compilers turn into single instructions; what lies behind the last block is 0. */
enum { PART = 256, GROUP = 16 };

static int64_t row_length(int64_t blocks) {
    return blocks < PART ? (blocks + GROUP - 1) / GROUP * GROUP : PART;
}

/* The answers for `size` blocks, a row of `length` a question. */
static void answer(const Forest *forest, const float *matrix, const uint8_t *flags, int64_t blocks, int64_t size,
                   int64_t length, uint8_t *answers) {
    for (int64_t question = 0; question < forest->figures; question++) {
        const float *row = matrix + forest->figure[question] * blocks;
        float border = forest->border[question];
        uint8_t *out = answers + question * length;
        for (int64_t i = 0; i < size; i++)
            out[i] = row[i] > border;
    }
    for (int64_t question = 0; question < forest->flags; question++) {
        const uint8_t *row = flags + forest->byte[question] * blocks;
        uint8_t mask = forest->mask[question];
        uint8_t *out = answers + (forest->figures + question) * length;
        for (int64_t i = 0; i < size; i++)
            out[i] = (row[i] & mask) != 0;
    }
}

/* Double each number of a group and add an answer to it. */
static void add_answers(uint8_t *restrict leaf, const uint8_t *restrict answers) {
    for (int i = 0; i < GROUP; i++)
        leaf[i] = (uint8_t)(2 * leaf[i] + answers[i]);
}

/* Add the leaf that each block reaches in one tree. */
static void add_tree(const Forest *forest, int64_t tree, const uint8_t *answers, int64_t size, int64_t length,
                     float *score) {
    uint8_t leaf[PART];
    const int64_t *asked = forest->asked + tree * forest->depth;
    const float *leaves = forest->leaves + (tree << forest->depth);
    memset(leaf, 0, (size_t)length);
    for (int64_t level = 0; level < forest->depth; level++)
        for (int64_t group = 0; group < length; group += GROUP)
            add_answers(leaf + group, answers + asked[level] * length + group);
    for (int64_t i = 0; i < size; i++)
        score[i] += leaves[leaf[i]];
}

/* e^x, to the last bit or nearly, the same on every machine: a C library's differs from the next one's. */
static double exponential(double x) {
    static const double LOG2_HIGH = 6.93147180369123816490e-01, LOG2_LOW = 1.90821492927058770002e-10;
    x = x < -700 ? -700 : x > 700 ? 700 : x;
    double steps = x / (LOG2_HIGH + LOG2_LOW);
    int64_t power = (int64_t)(steps + (steps < 0 ? -0.5 : 0.5));
    double rest = (x - (double)power * LOG2_HIGH) - (double)power * LOG2_LOW;
    double sum = 1.0;
    for (int term = 14; term > 0; term--)
        sum = 1.0 + sum * rest / term;
    uint64_t bits = (uint64_t)(power + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* The probability of each of `blocks` columns of `matrix` (figures) and `flags` (bytes). */
EXPORTED int ccrawl_probability(const Forest *forest, const float *matrix, const uint8_t *flags, int64_t blocks,
                                double *probability) {
    int64_t length = row_length(blocks);
    uint8_t *answers = calloc((size_t)(forest->figures + forest->flags + 1), (size_t)length);
    if (answers == NULL)
        return NO_MEMORY;
    for (int64_t start = 0; start < blocks; start += PART) {
        int64_t size = blocks - start < PART ? blocks - start : PART;
        float score[PART] = {0};
        answer(forest, matrix + start, flags + start, blocks, size, length, answers);
        for (int64_t tree = 0; tree < forest->trees; tree++)
            add_tree(forest, tree, answers, size, length, score);
        for (int64_t i = 0; i < size; i++)
            probability[start + i] = 1.0 / (1.0 + exponential(-((double)score[i] + forest->bias)));
    }
    free(answers);
    return 0;
}
