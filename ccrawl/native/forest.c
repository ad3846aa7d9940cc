/* Oblivious trees; ccrawl.html.content.model says what they are. */
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "judge.h"

/* Blocks evaluated at once: the answers for them stay in the processor's cache. Rows of answers are whole
 * GROUPs; what lies behind the last block of a group is 0. */
enum { PART = 128, GROUP = 32, ANSWERED = 16 };
enum { MOST_DEPTH = 8 }; /* of a tree: a leaf's number fits into a byte. The caller has checked it */

static int64_t row_length(int64_t blocks) {
    return blocks < PART ? (blocks + GROUP - 1) / GROUP * GROUP : PART;
}

/* The answers for ANSWERED blocks. */
#ifdef __SSE2__
/* Compilers know no saturation, and take three times as many instructions to make bytes of the answers. */
static void compare(const float *restrict row, float border, uint8_t *restrict out) {
    __m128 wanted = _mm_set1_ps(border);
    __m128i a = _mm_castps_si128(_mm_cmpgt_ps(_mm_loadu_ps(row), wanted));
    __m128i b = _mm_castps_si128(_mm_cmpgt_ps(_mm_loadu_ps(row + 4), wanted));
    __m128i c = _mm_castps_si128(_mm_cmpgt_ps(_mm_loadu_ps(row + 8), wanted));
    __m128i d = _mm_castps_si128(_mm_cmpgt_ps(_mm_loadu_ps(row + 12), wanted));
    __m128i all = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    _mm_storeu_si128((__m128i *)out, _mm_and_si128(all, _mm_set1_epi8(1)));
}
#else
static void compare(const float *restrict row, float border, uint8_t *restrict out) {
    for (int i = 0; i < ANSWERED; i++)
        out[i] = row[i] > border;
}
#endif

static void test_bits(const uint8_t *restrict row, uint8_t mask, uint8_t *restrict out) {
    for (int i = 0; i < ANSWERED; i++)
        out[i] = (row[i] & mask) != 0;
}

/* The answers for `size` blocks, a row of `length` a question. The last blocks of a row are answered together with
 * some before them, twice. */
static void answer(const Forest *forest, const float *matrix, const uint8_t *flags, int64_t blocks, int64_t size,
                   int64_t length, uint8_t *answers) {
    int64_t last = size - ANSWERED, rest = row_length(size) - size;
    for (int64_t question = 0; question < forest->figures; question++) {
        const float *row = matrix + forest->figure[question] * blocks;
        float border = forest->border[question];
        uint8_t *out = answers + question * length;
        for (int64_t i = 0; i < last; i += ANSWERED)
            compare(row + i, border, out + i);
        if (last >= 0)
            compare(row + last, border, out + last);
        for (int64_t i = 0; last < 0 && i < size; i++)
            out[i] = row[i] > border;
        memset(out + size, 0, (size_t)rest);
    }
    for (int64_t question = 0; question < forest->flags; question++) {
        const uint8_t *row = flags + forest->byte[question] * blocks;
        uint8_t mask = forest->mask[question];
        uint8_t *out = answers + (forest->figures + question) * length;
        for (int64_t i = 0; i < last; i += ANSWERED)
            test_bits(row + i, mask, out + i);
        if (last >= 0)
            test_bits(row + last, mask, out + last);
        for (int64_t i = 0; last < 0 && i < size; i++)
            out[i] = (row[i] & mask) != 0;
        memset(out + size, 0, (size_t)rest);
    }
}

/* The leaves that a GROUP of blocks reaches: eight at once, since no byte ever grows into the next one. */
static void find_leaves(const uint8_t *const *rows, int64_t depth, int64_t start, uint8_t *leaf) {
    uint64_t leaves[GROUP / 8] = {0}, answers[GROUP / 8];
    for (int64_t level = 0; level < depth; level++) {
        memcpy(answers, rows[level] + start, sizeof answers);
        for (int i = 0; i < GROUP / 8; i++)
            leaves[i] = 2 * leaves[i] + answers[i];
    }
    memcpy(leaf, leaves, sizeof leaves);
}

/* Add the leaf that each of `size` blocks reaches in one tree, and some leaf up to the end of their GROUP. */
static void add_tree(const Forest *forest, int64_t tree, const uint8_t *answers, int64_t size, int64_t length,
                     float *score) {
    uint8_t leaf[GROUP];
    const uint8_t *rows[MOST_DEPTH];
    const float *leaves = forest->leaves + (tree << forest->depth);
    for (int64_t level = 0; level < forest->depth; level++)
        rows[level] = answers + forest->asked[tree * forest->depth + level] * length;
    for (int64_t start = 0; start < size; start += GROUP) {
        find_leaves(rows, forest->depth, start, leaf);
        for (int i = 0; i < GROUP; i++)
            score[start + i] += leaves[leaf[i]];
    }
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
    uint8_t *answers = malloc((size_t)(forest->figures + forest->flags + 1) * (size_t)length);
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
