/* type_number.c — integers, bit, floats, money, decimals and GUIDs, both ways. */
#include <math.h>
#include <string.h>

#include "tds/tds_int.h"

#define MAGNITUDE_MAX 16

static uint64_t le(struct tds_cursor b)
{
	uint64_t v = 0;

	for (size_t i = tds_left(&b); i-- > 0;)
		v = v << 8 | b.pos[i];
	return v;
}

/* A value may be narrower than INTN announced, and is then read by its own width. */
int tds_read_int(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	struct value v = { .type = w->type };
	uint64_t raw = le(b);

	switch (tds_left(&b)) {
	case 1: v.u.i = w->type.id == TYPE_BIT ? raw != 0 : (int64_t)raw; break;
	case 2: v.u.i = (int16_t)raw; break;
	case 4: v.u.i = (int32_t)raw; break;
	case 8: v.u.i = (int64_t)raw; break;
	default: return tds_read_bad_length(r);
	}
	*ret = v;
	return 0;
}

int tds_read_float(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	struct value v = { .type = w->type };
	uint64_t raw = le(b);
	float f;

	if (tds_left(&b) != (w->type.id == TYPE_REAL ? 4 : 8))
		return tds_read_bad_length(r);
	if (w->type.id == TYPE_REAL) {
		uint32_t raw32 = (uint32_t)raw;
		memcpy(&f, &raw32, sizeof(f));
		v.u.f = (double)f;
	} else {
		memcpy(&v.u.f, &raw, sizeof(v.u.f));
	}
	if (!isfinite(v.u.f))
		return tds_read_bad_value(r, w->type.id);
	*ret = v;
	return 0;
}

/* money: the high half first. */
int tds_read_money(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	struct value v = { .type = w->type };
	uint64_t raw = le(b);

	if (tds_left(&b) != (w->type.id == TYPE_SMALLMONEY ? 4 : 8))
		return tds_read_bad_length(r);
	v.u.i = w->type.id == TYPE_SMALLMONEY ? (int64_t)(int32_t)raw : (int64_t)(raw << 32 | raw >> 32);
	*ret = v;
	return 0;
}

/* 10 to the precision: what a magnitude must stay below. */
static unsigned __int128 decimal_bound(uint8_t precision)
{
	unsigned __int128 bound = 1;

	assert(precision <= 38);
	while (precision-- > 0)
		bound *= 10;
	return bound;
}

int tds_read_decimal(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		     struct value *ret)
{
	struct value v = { .type = w->type };
	uint8_t sign;

	if (!tds_get_u8(&b, &sign) || tds_left(&b) < 1 || tds_left(&b) > MAGNITUDE_MAX)
		return tds_read_bad_length(r);
	v.u.dec.magnitude = 0;
	for (size_t i = tds_left(&b); i-- > 0;)
		v.u.dec.magnitude = v.u.dec.magnitude << 8 | b.pos[i];
	if (v.u.dec.magnitude >= decimal_bound(w->type.precision))
		return tds_read_bad_value(r, w->type.id);
	v.u.dec.negative = sign == 0 && v.u.dec.magnitude != 0;
	*ret = v;
	return 0;
}

int tds_read_guid(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	struct value v = { .type = w->type };

	if (tds_left(&b) != sizeof(v.u.guid) || !tds_get_bytes(&b, v.u.guid, sizeof(v.u.guid)))
		return tds_read_bad_length(r);
	*ret = v;
	return 0;
}

uint8_t tds_decimal_size(uint8_t precision)
{
	return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

static size_t encode_decimal(uint8_t precision, const struct decimal *d, uint8_t dst[TDS_SMALL_MAX])
{
	size_t n = tds_decimal_size(precision);

	if (n < TDS_SMALL_MAX && d->magnitude >> 8 * (n - 1) != 0)
		return 0;
	dst[0] = !d->negative;
	tds_encode_le(dst + 1, (uint64_t)d->magnitude, n - 1 < 8 ? n - 1 : 8);
	if (n - 1 > 8)
		tds_encode_le(dst + 9, (uint64_t)(d->magnitude >> 64), n - 9);
	return n;
}

static size_t encode_float(enum type_id id, double d, uint8_t *dst)
{
	uint64_t raw = 0;
	uint32_t raw32;
	float f = (float)d;

	if (id == TYPE_REAL) {
		memcpy(&raw32, &f, sizeof(raw32));
		return tds_encode_le(dst, raw32, 4);
	}
	memcpy(&raw, &d, sizeof(raw));
	return tds_encode_le(dst, raw, 8);
}

size_t tds_encode_number(const struct type *t, const struct value *v, uint8_t dst[TDS_SMALL_MAX])
{
	uint64_t i = (uint64_t)v->u.i;

	switch (t->id) {
	case TYPE_BIT: return tds_encode_le(dst, i != 0, 1);
	case TYPE_TINYINT: return tds_encode_le(dst, i, 1);
	case TYPE_SMALLINT: return tds_encode_le(dst, i, 2);
	case TYPE_INT:
	case TYPE_SMALLMONEY: return tds_encode_le(dst, i, 4);
	case TYPE_BIGINT: return tds_encode_le(dst, i, 8);
	case TYPE_MONEY: return tds_encode_le(dst, i << 32 | i >> 32, 8);
	case TYPE_REAL:
	case TYPE_FLOAT: return encode_float(t->id, v->u.f, dst);
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return encode_decimal(t->precision, &v->u.dec, dst);
	case TYPE_GUID: memcpy(dst, v->u.guid, sizeof(v->u.guid)); return sizeof(v->u.guid);
	default: return 0;
	}
}
