/* buf.h — the one growable byte buffer. Failure (memory, bound) is remembered and looked at once, at the end. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"

struct buf {
	uint8_t *data;      /* owned */
	size_t len, cap;
	size_t max;         /* bound on len */
	bool failed;
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);
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
