/* compare.c — which type two values meet in, and their order there. */
#include "value/compare.h"

#include <assert.h>
#include <string.h>

#include "value/datetime.h"
#include "value/decimal.h"
#include "value/guid.h"
#include "value/value_int.h"

/* ---- common type ---- */

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

/* An exact number as a decimal type, for precision and scale. */
struct type type_as_decimal(const struct type *t)
{
	switch ((enum type_id)t->id) {
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return *t;
	case TYPE_BIT: return TYPE_NUM(TYPE_NUMERIC, 1, 0);
	case TYPE_TINYINT: return TYPE_NUM(TYPE_NUMERIC, 3, 0);
	case TYPE_SMALLINT: return TYPE_NUM(TYPE_NUMERIC, 5, 0);
	case TYPE_BIGINT: return TYPE_NUM(TYPE_NUMERIC, 19, 0);
	case TYPE_SMALLMONEY: return TYPE_NUM(TYPE_NUMERIC, 10, 4);
	case TYPE_MONEY: return TYPE_NUM(TYPE_NUMERIC, 19, 4);
	default: return TYPE_NUM(TYPE_NUMERIC, 10, 0);
	}
}

static struct type common_decimal(const struct type *a, const struct type *b)
{
	struct type x = type_as_decimal(a), y = type_as_decimal(b);
	int scale = max_int(x.scale, y.scale), whole = max_int(x.precision - x.scale, y.precision - y.scale);

	assert(whole <= DECIMAL_DIGITS);
	if (whole + scale > DECIMAL_DIGITS)
		scale = DECIMAL_DIGITS - whole;
	return TYPE_NUM(TYPE_NUMERIC, (uint8_t)(whole + scale), (uint8_t)scale);
}

/* Fractional digits that a time type shows. */
static int time_scale(const struct type *t)
{
	if (type_info(t->id)->has_scale)
		return t->scale;
	return t->id == TYPE_DATETIME ? 3 : 0;
}

static int32_t common_length(const struct type *winner, const struct type *other)
{
	const struct type_info *w = type_info(winner->id), *o = type_info(other->id);
	int32_t length = winner->length, most = w->is_unicode ? 4000 : 8000;

	if (!o->has_length || type_is_max(winner))
		return length;
	if (type_is_max(other))
		return TYPE_MAX;
	if (other->length > length)
		length = other->length;
	return length > most ? most : length;
}

struct type type_common(const struct type *a, const struct type *b)
{
	const struct type_info *ia = type_info(a->id), *ib = type_info(b->id);
	const struct type *winner = ia->precedence >= ib->precedence ? a : b, *other = winner == a ? b : a;
	const struct type_info *info = type_info(winner->id), *lesser = type_info(other->id);
	struct type t = *winner;

	if (winner->id == TYPE_NULL)
		return TYPE_OF(TYPE_INT);
	if (other->id == TYPE_NULL)
		return t;
	if (info->has_precision && lesser->is_exact) {
		t = common_decimal(a, b);
		t.id = winner->id;
	} else if (info->is_time && info->has_scale && lesser->is_time) {
		t.scale = (uint8_t)max_int(winner->scale, time_scale(other));
	} else if (info->has_length) {
		t.length = common_length(winner, other);
	}
	return t;
}

/* ---- order ---- */

/* Sort key of a byte: punctuation, digits, letters without case, then the rest by code. */
static unsigned text_key(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return 0x200u + (c | 0x20u);
	if (c >= 'a' && c <= 'z')
		return 0x200u + c;
	if (c >= '0' && c <= '9')
		return 0x100u + c;
	return c >= 0x80 ? 0x300u + c : c;
}

/* À to Þ equal à to þ (but × is not ÷): in UTF-8 both are C3 and a second byte that differs by
 * 20. */
static unsigned char fold_latin1(const unsigned char *p, size_t i)
{
	if (i > 0 && p[i - 1] == 0xC3 && p[i] >= 0x80 && p[i] <= 0x9E && p[i] != 0x97)
		return (unsigned char)(p[i] + 0x20);
	return p[i];
}

int text_compare(struct str a, struct str b)
{
	const unsigned char *p = (const unsigned char *)a.p, *q = (const unsigned char *)b.p;
	size_t n = a.n > b.n ? a.n : b.n;

	for (size_t i = 0; i < n; i++) { /* the shorter one is taken to be filled up with blanks */
		unsigned x = text_key(i < a.n ? fold_latin1(p, i) : ' '),
			 y = text_key(i < b.n ? fold_latin1(q, i) : ' ');

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int text_compare_exact(struct str a, struct str b)
{
	size_t common = a.n < b.n ? a.n : b.n;
	int rc = common == 0 ? 0 : memcmp(a.p, b.p, common);

	for (size_t i = common; rc == 0 && i < a.n; i++)
		rc = (unsigned char)a.p[i] - ' ';
	for (size_t i = common; rc == 0 && i < b.n; i++)
		rc = ' ' - (unsigned char)b.p[i];
	return rc < 0 ? -1 : rc > 0;
}

/* Zeros at the end do not count. */
static int binary_compare(struct str a, struct str b)
{
	size_t n = a.n > b.n ? a.n : b.n;

	for (size_t i = 0; i < n; i++) {
		unsigned char x = i < a.n ? (unsigned char)a.p[i] : 0,
			      y = i < b.n ? (unsigned char)b.p[i] : 0;

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int order(int64_t a, int64_t b)
{
	return a == b ? 0 : a < b ? -1 : 1;
}

/* datetimeoffset compares in UTC, which is how it is held. */
static int moment_compare(const struct moment *a, const struct moment *b)
{
	return a->day != b->day ? order(a->day, b->day) : order(a->tick, b->tick);
}

/* Both have the same type. */
static int same_type_compare(const struct value *a, const struct value *b)
{
	const struct type_info *info = type_info(a->type.id);

	assert(a->type.id == b->type.id || (info->is_text && type_info(b->type.id)->is_text));
	if (info->is_text)
		return text_compare(a->u.s, b->u.s);
	if (info->is_binary)
		return binary_compare(a->u.s, b->u.s);
	if (info->has_precision)
		return decimal_compare(&a->u.dec, a->type.scale, &b->u.dec, b->type.scale);
	switch ((enum type_id)a->type.id) {
	case TYPE_REAL:
	case TYPE_FLOAT: return a->u.f == b->u.f ? 0 : a->u.f < b->u.f ? -1 : 1;
	case TYPE_GUID: return guid_compare(a->u.guid, b->u.guid);
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET: return moment_compare(&a->u.moment, &b->u.moment);
	default: return order(a->u.i, b->u.i);
	}
}

const struct value *value_unwrap(const struct value *v)
{
	while (v->type.id == TYPE_VARIANT && !v->null)
		v = v->u.variant;
	return v;
}

int value_compare(const struct value *a, const struct value *b, struct arena *ar, int *ret,
		  struct err *reterr)
{
	const struct type_info *ia, *ib;
	struct value x, y;
	struct type t;

	a = value_unwrap(a);
	b = value_unwrap(b);
	ia = type_info(a->type.id);
	ib = type_info(b->type.id);
	if (a->type.id == TYPE_XML || b->type.id == TYPE_XML)
		return err_set(reterr, ERR_NOT_COMPARABLE, "xml");
	if (a->null || b->null || a->type.id == b->type.id || (ia->is_text && ib->is_text)) {
		*ret = a->null || b->null ? order(b->null, a->null) : same_type_compare(a, b);
		return 0;
	}
	t = type_common(&a->type, &b->type);
	if (t.scale != 0 && type_info(t.id)->has_precision && ia->is_exact && ib->is_exact) {
		struct number na, nb; /* exact numbers meet without rounding */

		if (number_of(a, &na) && number_of(b, &nb)) {
			*ret = decimal_compare(&na.dec, na.scale, &nb.dec, nb.scale);
			return 0;
		}
	}
	if (value_convert(a, &t, CONVERT_ASSIGN, NULL, ar, &x, reterr) < 0 ||
	    value_convert(b, &t, CONVERT_ASSIGN, NULL, ar, &y, reterr) < 0)
		return -1;
	*ret = same_type_compare(&x, &y);
	return 0;
}
