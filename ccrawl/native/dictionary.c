#include "dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "native.h"

static size_t hash(const uint8_t *key, size_t length) { /* FNV-1a */
    uint64_t value = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < length; i++)
        value = (value ^ key[i]) * UINT64_C(0x100000001B3);
    return (size_t)(value ^ value >> 32);
}

int index_keys(Dictionary *dictionary) {
    size_t size = 16;
    while (size < 4 * dictionary->count)
        size *= 2;
    dictionary->slots = calloc(size, sizeof *dictionary->slots);
    if (dictionary->slots == NULL)
        return NO_MEMORY;
    dictionary->mask = size - 1;
    for (size_t key = 0; key < dictionary->count; key++) {
        const int64_t *start = dictionary->start + key;
        size_t at = hash(dictionary->keys + start[0], (size_t)(start[1] - start[0])) & dictionary->mask;
        while (dictionary->slots[at] != 0)
            at = (at + 1) & dictionary->mask;
        dictionary->slots[at] = (uint32_t)(key + 1);
    }
    return 0;
}

const uint64_t *find_key(const Dictionary *dictionary, const uint8_t *key, size_t length) {
    size_t at = hash(key, length) & dictionary->mask;
    for (; dictionary->slots[at] != 0; at = (at + 1) & dictionary->mask) {
        size_t found = dictionary->slots[at] - 1;
        const int64_t *start = dictionary->start + found;
        if ((size_t)(start[1] - start[0]) == length && memcmp(dictionary->keys + start[0], key, length) == 0)
            return dictionary->values + found;
    }
    return NULL;
}
