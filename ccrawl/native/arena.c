#include "arena.h"

#include <stdlib.h>

enum { ALIGNED = 16, BLOCK_SIZE = 1 << 16 };

struct Block {
    Block *next;
    size_t size; /* fills it up to what is aligned */
};

void *arena_take(struct Arena *arena, size_t size) {
    if (size > ((size_t)-1) / 2)
        return NULL;
    size = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (size > arena->left) {
        size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
        Block *block = malloc(sizeof *block + room);
        if (block == NULL)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        if (room == size) /* a large piece has a block of its own; the current one goes on */
            return block + 1;
        arena->at = (char *)(block + 1);
        arena->left = room;
    }
    void *taken = arena->at;
    arena->at += size;
    arena->left -= size;
    return taken;
}

void arena_free(struct Arena *arena) {
    while (arena->blocks != NULL) {
        Block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
