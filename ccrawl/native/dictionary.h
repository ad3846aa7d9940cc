/* A fixed set of byte strings, each with 64 bits. */
#ifndef CCRAWL_DICTIONARY_H
#define CCRAWL_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t count;
    const uint8_t *keys;    /* one after the other */
    const int64_t *start;   /* count + 1 */
    const uint64_t *values; /* count */
    uint32_t *slots;        /* key + 1, or 0; linear probing */
    size_t mask;
} Dictionary;

/* Fills in `slots` and `mask`; the other fields are set. 0, or NO_MEMORY. */
int index_keys(Dictionary *dictionary);

/* The value of a key, or NULL. */
const uint64_t *find_key(const Dictionary *dictionary, const uint8_t *key, size_t length);

#endif
