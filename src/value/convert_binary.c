/* convert_binary.c — whatever becomes bytes, and GUIDs. Numbers are big-endian and stand at the
 * right end of a binary(n); everything else begins at the left. */
#include <string.h>

#include "base/clock.h"
#include "base/utf.h"
#include "value/guid.h"
#include "value/value_int.h"

struct bytes {
	struct str s;
	bool right;       /* padded and cut at the left */
	uint8_t room[24]; /* of the small ones */
};

static void put_big_endian(struct bytes *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->room[b->s.n++] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static void put_little_endian(struct bytes *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->room[b->s.n++] = (uint8_t)(v >> (8 * i));
}

static uint64_t float_bits(const struct value *v, size_t size)
{
	float f = (float)v->u.f;
	uint32_t small;
	uint64_t large;

	memcpy(&small, &f, sizeof(small));
	memcpy(&large, &v->u.f, sizeof(large));
	return size == 4 ? small : large;
}

static void bytes_of_decimal(const struct value *v, struct bytes *b)
{
	unsigned __int128 m = v->u.dec.magnitude;

	put_big_endian(b, v->type.precision, 1);
	put_big_endian(b, v->type.scale, 1);
	put_big_endian(b, 0, 1);
	put_big_endian(b, !v->u.dec.negative, 1);
	do {
		put_little_endian(b, (uint32_t)m, 4);
		m >>= 32;
	} while (m != 0);
}

static void bytes_of_moment(const struct value *v, struct bytes *b)
{
	const struct moment *m = &v->u.moment;
	size_t time_bytes = v->type.scale <= 2 ? 3 : v->type.scale <= 4 ? 4 : 5;
	uint64_t tick = (uint64_t)m->tick;

	if (v->type.id != TYPE_DATE) {
		for (int i = v->type.scale; i < 7; i++)
			tick /= 10;
		put_little_endian(b, v->type.scale, 1);
		put_little_endian(b, tick, time_bytes);
	}
	if (v->type.id != TYPE_TIME)
		put_little_endian(b, (uint64_t)m->day, 3);
	if (v->type.id == TYPE_DATETIMEOFFSET)
		put_little_endian(b, (uint16_t)m->offset, 2);
}

static void bytes_of_datetime(const struct value *v, struct bytes *b)
{
	int64_t day = datetime_day(v->u.i);
	uint64_t rest = (uint64_t)(v->u.i - day * TICKS_PER_DAY);

	b->right = true;
	if (v->type.id == TYPE_SMALLDATETIME) {
		put_big_endian(b, (uint64_t)day, 2);
		put_big_endian(b, rest / (60 * TICKS_PER_SECOND), 2);
		return;
	}
	put_big_endian(b, (uint64_t)day, 4);
	put_big_endian(b, rest, 4);
}

/* The small ones: everything but text, binary and xml. */
static void bytes_of_fixed(const struct value *v, struct bytes *b)
{
	const struct type_info *info = type_info(v->type.id);

	b->s = (struct str){ (const char *)b->room, 0 };
	if (v->type.id == TYPE_GUID) {
		memcpy(b->room, v->u.guid, 16);
		b->s.n = 16;
	} else if (v->type.id == TYPE_DATETIME || v->type.id == TYPE_SMALLDATETIME) {
		bytes_of_datetime(v, b);
	} else if (info->is_time) {
		bytes_of_moment(v, b);
	} else if (info->has_precision) {
		bytes_of_decimal(v, b);
	} else {
		b->right = true;
		if (v->type.id == TYPE_REAL || v->type.id == TYPE_FLOAT)
			put_big_endian(b, float_bits(v, info->size), info->size);
		else
			put_big_endian(b, (uint64_t)v->u.i, info->size);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* CONVERT(varbinary, '0x1F', 1) and CONVERT(varbinary, '1F', 2). */
static int bytes_of_hex(struct conv *c, struct str s, struct bytes *b)
{
	uint8_t *p;

	if (c->style == 1) {
		if (s.n < 2 || s.p[0] != '0' || (s.p[1] | 0x20) != 'x')
			return conv_fail(c, FAULT_SYNTAX);
		s = (struct str){ s.p + 2, s.n - 2 };
	}
	if (s.n % 2 != 0)
		return conv_fail(c, FAULT_SYNTAX);
	p = arena_alloc_raw(c->arena, s.n / 2);
	if (p == NULL)
		return err_nomem(c->err);
	for (size_t i = 0; i < s.n / 2; i++) {
		int high = hex_digit(s.p[2 * i]), low = hex_digit(s.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return conv_fail(c, FAULT_SYNTAX);
		p[i] = (uint8_t)(high << 4 | low);
	}
	b->s = (struct str){ (const char *)p, s.n / 2 };
	return 0;
}

/* The bytes that the text has on the wire: code page 1252, or UTF-16. */
static int bytes_of_text(struct conv *c, struct bytes *b)
{
	struct str s = c->v->u.s;
	bool wide = type_info(c->v->type.id)->is_unicode;
	uint8_t *p;

	if (c->style == 1 || c->style == 2)
		return bytes_of_hex(c, s, b);
	p = s.n > SIZE_MAX / 2 ? NULL : arena_alloc_raw(c->arena, wide ? s.n * 2 : s.n);
	if (p == NULL)
		return err_nomem(c->err);
	b->s.n = wide ? utf16le_from_utf8(p, s.p, s.n) : cp1252_from_utf8(p, s.p, s.n, NULL);
	b->s.p = (const char *)p;
	return 0;
}

static int bytes_of(struct conv *c, struct bytes *b)
{
	const struct type_info *info = type_info(c->v->type.id);

	if (info->is_binary || (c->v->type.id == TYPE_XML && c->v->xml_encoding == XML_BYTES)) {
		b->s = c->v->u.s;
		return 0;
	}
	if (info->is_text || c->v->type.id == TYPE_XML)
		return bytes_of_text(c, b);
	bytes_of_fixed(c->v, b);
	return 0;
}

static bool all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != 0)
			return false;
	}
	return true;
}

/* Too many bytes: an argument is refused rather than changed [E-COM-07]; only the leading zeros
 * of a number may go. */
static int cut(struct conv *c, struct bytes *b, size_t most)
{
	size_t excess = b->s.n - most;

	if (c->mode == CONVERT_ARGUMENT && !(b->right && all_zero(b->s.p, excess)))
		return conv_too_long(c);
	if (b->right)
		b->s.p += excess;
	b->s.n = most;
	return 0;
}

int conv_to_binary(struct conv *c)
{
	bool bounded = type_info(c->to->id)->has_length && !type_is_max(c->to);
	size_t length = bounded ? (size_t)c->to->length : 0, padding = 0;
	struct bytes b = { .right = false };
	char *p;

	if (bytes_of(c, &b) < 0)
		return -1;
	if (bounded && b.s.n > length && cut(c, &b, length) < 0)
		return -1;
	if (c->to->id == TYPE_BINARY && b.s.n < length)
		padding = length - b.s.n;
	c->out.u.s = b.s;
	if (padding == 0 && (b.s.p < (const char *)b.room || b.s.p >= (const char *)b.room + sizeof(b.room)))
		return 0;
	p = arena_alloc(c->arena, b.s.n + padding);
	if (p == NULL)
		return err_nomem(c->err);
	if (b.s.n != 0)
		memcpy(p + (b.right ? padding : 0), b.s.p, b.s.n);
	c->out.u.s = (struct str){ p, b.s.n + padding };
	return 0;
}

/* Bytes fill a GUID from the left; as an argument, more than 16 do not fit it. */
static int guid_from_binary(struct conv *c)
{
	struct str s = c->v->u.s;

	if (s.n > 16 && conv_is_call(c))
		return conv_fail(c, FAULT_RANGE);
	if (s.n != 0)
		memcpy(c->out.u.guid, s.p, s.n < 16 ? s.n : 16);
	return 0;
}

int conv_to_guid(struct conv *c)
{
	if (c->v->type.id == TYPE_GUID) {
		memcpy(c->out.u.guid, c->v->u.guid, 16);
		return 0;
	}
	if (type_info(c->v->type.id)->is_binary)
		return guid_from_binary(c);
	return guid_parse(c->v->u.s, c->out.u.guid) ? 0 : conv_fail(c, FAULT_SYNTAX);
}
