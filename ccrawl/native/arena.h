/* Memory that is given back all at once. */
#ifndef CCRAWL_ARENA_H
#define CCRAWL_ARENA_H

#include <stddef.h>

typedef struct Block Block;

struct Arena {
    Block *blocks;
    char *at;
    size_t left;
};

/* `size` bytes, aligned for anything; NULL when there are none. */
void *arena_take(struct Arena *arena, size_t size);

void arena_free(struct Arena *arena);

#endif
