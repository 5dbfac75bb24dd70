/* block.h — one piece of memory of any size, whose owner remembers how large it is. Small ones
 * are malloc's. Large ones come from the system, lie in huge pages where it has them, and grow
 * without being copied; the last few that were freed are kept for the next, as long as the
 * system has no better use for them. */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include "base/base.h"

/* A block of size bytes with the contents of p, a block of old bytes that is gone then; p NULL
 * and old 0: a new one, not zeroed. NULL: no memory, p is as it was. */
MUST_CHECK void *block_resize(void *p, size_t old, size_t size);
void block_free(void *p, size_t size);

#endif
