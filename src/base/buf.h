/* buf.h — the one growable byte buffer. Failure (memory, bound) is remembered and looked at
 * once, at the end. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"
#include "base/budget.h"

struct buf {
	uint8_t *data; /* owned */
	size_t len, cap;
	size_t max; /* bound on len */
	bool failed;
	bool denied;           /* it failed for want of memory, not for its bound */
	struct budget *budget; /* that cap is taken from; NULL: nobody counts */
};

void buf_init(struct buf *b, size_t max);
/* From now on its memory is taken from this account. While it has none. */
void buf_charge(struct buf *b, struct budget *a);
void buf_fini(struct buf *b);
/* Its memory is somebody else's now, who has copied the struct: it is empty, with the same bound
 * and account. */
void buf_forget(struct buf *b);
/* Room for n more bytes: where to write them, or NULL (and failed). Does not change len. */
MUST_CHECK uint8_t *buf_reserve(struct buf *b, size_t n);
void buf_put(struct buf *b, const void *p, size_t n);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
/* len = 0, failure forgotten; memory above keep bytes is given back. */
void buf_reset(struct buf *b, size_t keep);

#endif
