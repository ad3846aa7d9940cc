/* The hash XXH3, 64 bits, seed 0. */
#ifndef CCRAWL_XXH3_H
#define CCRAWL_XXH3_H

#include <stddef.h>
#include <stdint.h>

uint64_t xxh3(const uint8_t *data, size_t length);

#endif
