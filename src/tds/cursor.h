/* cursor.h — the only way to read bytes that came from outside. It compares with what is left,
 * never adds to a position. */
#ifndef TDS_CURSOR_H
#define TDS_CURSOR_H

#include <assert.h>
#include <string.h>

#include "base/base.h"

struct tds_cursor {
	const uint8_t *pos, *end;
};

static inline struct tds_cursor tds_cursor_of(const void *p, size_t n)
{
	const uint8_t *b = p;
	return (struct tds_cursor){ b, n == 0 ? b : b + n }; /* NULL + 0 is not defined */
}

static inline size_t tds_left(const struct tds_cursor *c)
{
	assert(c->pos <= c->end);
	return (size_t)(c->end - c->pos);
}

/* Cuts the next n bytes off into *ret, so that a nested part cannot read past its own frame. */
MUST_CHECK static inline bool tds_get_slice(struct tds_cursor *c, size_t n, struct tds_cursor *ret)
{
	if (n > tds_left(c))
		return false;
	*ret = (struct tds_cursor){ c->pos, c->pos + n };
	c->pos += n;
	return true;
}

MUST_CHECK static inline bool tds_skip(struct tds_cursor *c, size_t n)
{
	struct tds_cursor ignored;
	return tds_get_slice(c, n, &ignored);
}

MUST_CHECK static inline bool tds_get_bytes(struct tds_cursor *c, void *dst, size_t n)
{
	struct tds_cursor s;
	if (!tds_get_slice(c, n, &s))
		return false;
	memcpy(dst, s.pos, n);
	return true;
}

MUST_CHECK static inline bool tds_get_u8(struct tds_cursor *c, uint8_t *ret)
{
	return tds_get_bytes(c, ret, 1);
}

MUST_CHECK static inline bool tds_get_u16(struct tds_cursor *c, uint16_t *ret)
{
	uint8_t b[2];
	if (!tds_get_bytes(c, b, sizeof(b)))
		return false;
	*ret = (uint16_t)(b[0] | b[1] << 8);
	return true;
}

MUST_CHECK static inline bool tds_get_u16be(struct tds_cursor *c, uint16_t *ret)
{
	uint8_t b[2];
	if (!tds_get_bytes(c, b, sizeof(b)))
		return false;
	*ret = (uint16_t)(b[0] << 8 | b[1]);
	return true;
}

MUST_CHECK static inline bool tds_get_u32(struct tds_cursor *c, uint32_t *ret)
{
	uint8_t b[4];
	if (!tds_get_bytes(c, b, sizeof(b)))
		return false;
	*ret = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return true;
}

MUST_CHECK static inline bool tds_get_u64(struct tds_cursor *c, uint64_t *ret)
{
	uint32_t lo, hi;
	if (!tds_get_u32(c, &lo) || !tds_get_u32(c, &hi))
		return false;
	*ret = (uint64_t)hi << 32 | lo;
	return true;
}

#endif
