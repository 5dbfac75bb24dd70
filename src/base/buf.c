/* buf.c — the growable byte buffer. Writers need not look at every put: after the first failure
 * all of them do nothing. */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"

#define BUF_SMALLEST ((size_t)64)
#define BUF_LARGE ((size_t)4 << 20)

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void buf_fini(struct buf *b)
{
	block_free(budget_spares(b->budget), b->data, b->cap);
	budget_give(b->budget, b->cap);
	buf_forget(b);
}

void buf_forget(struct buf *b)
{
	*b = (struct buf){ .max = b->max, .budget = b->budget };
}

void buf_charge(struct buf *b, struct budget *a)
{
	assert(b->cap == 0);
	b->budget = a;
}

/* Capacity for need bytes, and more in proportion so that appending stays linear. Large blocks
 * grow without being copied (base/block.h), so small steps do; and a block of little more than
 * the value is one of those that are kept for the next. */
static bool buf_grow(struct buf *b, size_t need)
{
	size_t cap = b->cap < BUF_SMALLEST ? BUF_SMALLEST : b->cap, more = cap < BUF_LARGE ? cap : cap / 8;
	uint8_t *data;

	if (cap <= SIZE_MAX - more)
		cap += more;
	if (cap > b->max)
		cap = b->max;
	if (cap < need)
		cap = need;
	/* Near the limit: a part of it, down to what is needed. Not that at once, or every few
	 * bytes more would move all that is there. */
	while (!budget_take(b->budget, cap - b->cap)) {
		if (cap == need)
			return false;
		cap = need + (cap - need) / 4;
	}
	data = block_resize(budget_spares(b->budget), b->data, b->cap, cap);
	if (data == NULL) {
		budget_give(b->budget, cap - b->cap);
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

uint8_t *buf_reserve(struct buf *b, size_t n)
{
	if (b->failed)
		return NULL;
	if (b->len > b->max || n > b->max - b->len) {
		b->failed = true;
		return NULL;
	}
	if ((b->data == NULL || n > b->cap - b->len) && !buf_grow(b, b->len + n)) {
		b->failed = b->denied = true;
		return NULL;
	}
	return b->data + b->len;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *to = buf_reserve(b, n);

	if (to == NULL || n == 0)
		return;
	memcpy(to, p, n);
	b->len += n;
}

void buf_put_u8(struct buf *b, uint8_t v)
{
	uint8_t *to = buf_reserve(b, 1);

	if (to == NULL)
		return;
	*to = v;
	b->len++;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	char small[256], *large;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if ((size_t)n < sizeof(small)) {
		buf_put(b, small, (size_t)n);
		return;
	}
	large = malloc((size_t)n + 1);
	if (large == NULL) {
		b->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(large, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf_put(b, large, (size_t)n);
	free(large);
}

void buf_consume(struct buf *b, size_t n)
{
	if (n >= b->len) {
		b->len = 0;
		return;
	}
	if (n == 0)
		return;
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
}

void buf_reset(struct buf *b, size_t keep)
{
	b->len = 0;
	b->failed = b->denied = false;
	if (b->cap > keep) {
		block_free(budget_spares(b->budget), b->data, b->cap);
		budget_give(b->budget, b->cap);
		b->data = NULL;
		b->cap = 0;
	}
}
