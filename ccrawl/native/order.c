/* A stable sort of a page's blocks by probability. */
#include "native.h"

/* Merge two sorted runs of `from`: [low, middle) and [middle, high). */
static void merge(const double *values, const int32_t *from, int32_t *to, int64_t low, int64_t middle, int64_t high) {
    int64_t left = low, right = middle;
    for (int64_t at = low; at < high; at++) {
        bool take_right = left == middle || (right < high && values[from[right]] > values[from[left]]);
        to[at] = take_right ? from[right++] : from[left++];
    }
}

void order_by_value(const double *values, int64_t size, int32_t *order, int32_t *scratch) {
    int32_t *from = order, *to = scratch;
    for (int64_t i = 0; i < size; i++)
        order[i] = (int32_t)i;
    for (int64_t width = 1; width < size; width *= 2) {
        for (int64_t low = 0; low < size; low += 2 * width) {
            int64_t middle = low + width < size ? low + width : size;
            int64_t high = middle + width < size ? middle + width : size;
            merge(values, from, to, low, middle, high);
        }
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order)
        for (int64_t i = 0; i < size; i++)
            order[i] = from[i];
}
