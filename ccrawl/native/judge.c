/* Both looks at a page, one after the other. */
#include <stdlib.h>

#include "evidence.h"
#include "judge.h"

/* Fill in BlockText's rows, and the probability that each block is main content; the rest is what the steps
 * take. */
EXPORTED int ccrawl_judge(const Tables *tables, const PageArrays *arrays, const HeadTexts *head, const double *given,
                          const Forest *first, const Forest *second, double *text, double *probability) {
    size_t blocks = (size_t)arrays->blocks;
    float *matrix = malloc((FIGURE_ROWS + CONTEXT_ROWS) * blocks * sizeof *matrix);
    uint8_t *flags = malloc(8 * SOURCES * blocks);
    int64_t *places = malloc(PLACE_ROWS * blocks * sizeof *places);
    int64_t *ranges = malloc(2 * (size_t)arrays->nodes * sizeof *ranges);
    int failed = matrix == NULL || flags == NULL || places == NULL || ranges == NULL ? NO_MEMORY : 0;
    if (failed == 0)
        failed = ccrawl_read_text(tables, arrays, head, text);
    if (failed == 0)
        failed = ccrawl_gather(tables, arrays, text, given, matrix, flags, places, ranges);
    if (failed == 0)
        failed = ccrawl_probability(first, matrix, flags, arrays->blocks, probability);
    if (failed == 0)
        failed = ccrawl_gather_context(arrays, text, places, ranges, probability, matrix + FIGURE_ROWS * blocks);
    if (failed == 0)
        failed = ccrawl_probability(second, matrix, flags, arrays->blocks, probability);
    free(matrix);
    free(flags);
    free(places);
    free(ranges);
    return failed;
}
