/* arena.h — memory of one call or request: allocated piece by piece, freed at once, bounded. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/base.h"
#include "base/budget.h"

struct arena_chunk;
struct arena {
	struct arena_chunk *head; /* newest chunk; owned */
	size_t used, limit;       /* bytes handed out by malloc to this arena, and their bound */
	struct budget *budget;    /* that they are taken from; NULL: nobody counts */
};

void arena_init(struct arena *a, size_t limit);
/* From now on its memory is taken from this account. While it is empty. */
void arena_charge(struct arena *a, struct budget *b);
void arena_fini(struct arena *a);
/* Frees everything but keeps one small chunk for the next use. */
void arena_reset(struct arena *a);
/* n zeroed bytes, 16-byte aligned; NULL when memory or the limit is exhausted. n may be 0. */
MUST_CHECK void *arena_alloc(struct arena *a, size_t n);
/* The same, not zeroed: for large buffers that are written at once. */
MUST_CHECK void *arena_alloc_raw(struct arena *a, size_t n);
MUST_CHECK void *arena_array(struct arena *a, size_t n, size_t size); /* refuses n*size that wraps */
/* A copy with a terminating NUL. */
MUST_CHECK char *arena_strndup(struct arena *a, const char *s, size_t n);

#endif
