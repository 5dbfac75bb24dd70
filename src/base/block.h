/* block.h — one piece of memory of any size, whose owner remembers how large it is. Small ones
 * are malloc's. Large ones come from the system, lie in huge pages where it has them, and grow
 * without being copied; the last few that were freed are kept for the next, where somebody keeps
 * spares (the server does, beside its account of memory), as long as the system has no better use
 * for them. */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include "base/lock.h"

#define BLOCK_SPARES 4
#define BLOCK_SPARES_MAX ((size_t)160 << 20) /* their bytes together */

/* Freed blocks. Thread-safe. */
struct block_spares {
	struct lock lock;
	struct block_mapping *all[BLOCK_SPARES]; /* owned; NULL: no spare here */
	size_t length;                           /* of all of them */
};
void block_spares_init(struct block_spares *s);
void block_spares_fini(struct block_spares *s);

/* A block of size bytes with the contents of p, a block of old bytes that is gone then; p NULL
 * and old 0: a new one, not zeroed. NULL: no memory, p is as it was. s: where large ones come from
 * and go to, before the system; NULL: the system alone. */
MUST_CHECK void *block_resize(struct block_spares *s, void *p, size_t old, size_t size);
void block_free(struct block_spares *s, void *p, size_t size);

#endif
