/* The steps of judging a page's blocks. */
#ifndef CCRAWL_JUDGE_H
#define CCRAWL_JUDGE_H

#include "native.h"

enum { SOURCES = 8 }; /* of flags: phrase, under, tag, in, first, name, near, above */

/* A forest that is ready to be evaluated: its different questions, and which of them each tree asks. */
typedef struct {
    int64_t figures, flags, trees, depth;
    const int64_t *figure; /* figures: row of the matrix */
    const float *border;   /* figures */
    const int64_t *byte;   /* flags: row of the bytes */
    const uint8_t *mask;   /* flags */
    const int64_t *asked;  /* trees x depth: question, those about figures first; the highest bit first */
    const float *leaves;   /* trees x 2^depth */
    double bias;
} Forest;

/* What the head says, as UTF-8, each with single spaces for white space. */
typedef struct {
    const uint8_t *bodies;
    int64_t bodies_length; /* bytes; -1 when there is none */
    const uint8_t *description;
    int64_t description_length;
    const uint8_t *title; /* lower case */
    int64_t title_length;
    int64_t title_characters;
} HeadTexts;

EXPORTED int ccrawl_read_text(const Tables *tables, const PageArrays *arrays, const HeadTexts *head, double *rows);

EXPORTED int ccrawl_gather(const Tables *tables, const PageArrays *arrays, const double *text, const double *given,
                           float *matrix, uint8_t *flags, int64_t *places, int64_t *ranges);

EXPORTED int ccrawl_gather_context(const PageArrays *arrays, const double *text, const int64_t *places,
                                   const int64_t *ranges, const double *probability, float *rows);

EXPORTED int ccrawl_probability(const Forest *forest, const float *matrix, const uint8_t *flags, int64_t blocks,
                                double *probability);

#endif
