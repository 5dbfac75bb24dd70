/* convert_number.c — whatever becomes a number: bit, integers, decimal, money, float. Everything
 * is first read into a struct number (exact or approximate) and then written into the target.
 * The grammar of a text depends on the target: '12.5' is a decimal but no int, '1e3' only a
 * float, '$1,000' only money [errata, clarification 11]. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "value/value_int.h"

#define MONEY_SCALE 4

static bool is_money(enum type_id id)
{
	return id == TYPE_MONEY || id == TYPE_SMALLMONEY;
}

static bool is_approximate(enum type_id id)
{
	return id == TYPE_FLOAT || id == TYPE_REAL;
}

bool number_of(const struct value *v, struct number *ret)
{
	const struct type_info *info = type_info(v->type.id);

	*ret = (struct number){ 0 };
	if (is_approximate(v->type.id)) {
		ret->approximate = true;
		ret->f = v->u.f;
	} else if (info->has_precision) {
		ret->dec = v->u.dec;
		ret->scale = v->type.scale;
	} else if (info->is_integer || is_money(v->type.id)) {
		ret->dec = decimal_from_int(v->u.i);
		ret->scale = is_money(v->type.id) ? MONEY_SCALE : 0;
	} else {
		return false;
	}
	return true;
}

/* ---- text ---- */

static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	}
	return s.n > 0;
}

/* [+-]digits; empty is 0. */
static int read_integer_text(struct conv *c, struct str s, struct number *ret)
{
	struct str digits = s;
	int precision, scale;
	bool overflow;

	if (s.n == 0)
		return 0;
	if (digits.p[0] == '+' || digits.p[0] == '-') {
		digits.p++;
		digits.n--;
	}
	if (!all_digits(digits))
		return conv_fail(c, FAULT_SYNTAX);
	if (decimal_parse(s, &ret->dec, &precision, &scale, &overflow))
		return 0;
	return conv_fail(c, FAULT_RANGE);
}

static int read_bit_text(struct conv *c, struct str s, struct number *ret)
{
	if (str_eq_nocase(s, STR("true"))) {
		ret->dec.magnitude = 1;
		return 0;
	}
	if (str_eq_nocase(s, STR("false")))
		return 0;
	return read_integer_text(c, s, ret);
}

static int read_decimal_text(struct conv *c, struct str s, struct number *ret)
{
	bool overflow;
	int precision;

	if (decimal_parse(s, &ret->dec, &precision, &ret->scale, &overflow))
		return 0;
	return conv_fail(c, overflow ? FAULT_RANGE : FAULT_SYNTAX);
}

/* Is it [+-]digits[.digits][e[+-]digits]? strtod alone would also take hexadecimal, infinity and
 * not-a-number. */
static bool float_grammar(struct str s)
{
	size_t i = 0, digits = 0;

	if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
		i++;
	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		digits++;
	if (i < s.n && s.p[i] == '.')
		i++;
	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		digits++;
	if (digits == 0)
		return false;
	if (i == s.n)
		return true;
	if ((s.p[i] | 0x20) != 'e')
		return false;
	i++;
	if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
		i++;
	return all_digits((struct str){ s.p + i, s.n - i });
}

static int read_float_text(struct conv *c, struct str s, struct number *ret)
{
	char text[512];

	ret->approximate = true;
	if (s.n == 0)
		return 0;
	if (s.n >= sizeof(text) || !float_grammar(s))
		return conv_fail(c, FAULT_SYNTAX);
	str_copy(text, sizeof(text), s);
	ret->f = strtod(text, NULL);
	return isfinite(ret->f) ? 0 : conv_fail(c, FAULT_RANGE);
}

/* [+-][$][+-]digits with commas[.digits]; empty is 0. */
static int read_money_text(struct conv *c, struct str s, struct number *ret)
{
	static const char *const currencies[] = { "$", "€", "£", "¥" };
	char plain[64];
	size_t n = 0, i = 0;
	bool point = false;

	if (s.n == 0)
		return 0;
	if (s.p[i] == '-' || s.p[i] == '+')
		plain[n++] = s.p[i++];
	for (size_t k = 0; k < ARRAY_LEN(currencies); k++) {
		size_t len = strlen(currencies[k]);

		if (s.n - i >= len && memcmp(s.p + i, currencies[k], len) == 0) {
			i += len;
			break;
		}
	}
	if (n == 0 && i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
		plain[n++] = s.p[i++];
	for (; i < s.n; i++) {
		if (s.p[i] == ',' && !point)
			continue;
		point = point || s.p[i] == '.';
		if (n == sizeof(plain))
			return conv_fail(c, FAULT_SYNTAX);
		plain[n++] = s.p[i];
	}
	return read_decimal_text(c, (struct str){ plain, n }, ret);
}

static int read_text(struct conv *c, struct number *ret)
{
	struct str s = str_trim(c->v->u.s);

	if (c->to->id == TYPE_BIT)
		return read_bit_text(c, s, ret);
	if (type_info(c->to->id)->is_integer)
		return read_integer_text(c, s, ret);
	if (is_approximate(c->to->id))
		return read_float_text(c, s, ret);
	if (is_money(c->to->id))
		return read_money_text(c, s, ret);
	return read_decimal_text(c, s, ret);
}

/* ---- bytes and times ---- */

/* Bytes are the big-endian number of the target's size; longer ones lose their beginning. */
static int read_binary(struct conv *c, struct number *ret)
{
	const uint8_t *p = (const uint8_t *)c->v->u.s.p;
	size_t n = c->v->u.s.n, size = type_info(c->to->id)->size;
	uint64_t bits = 0;
	int64_t i;

	if (type_info(c->to->id)->has_precision) {
		/* precision, scale, reserved, sign, magnitude little-endian */
		if (n < 5 || n > 20 || p[0] < 1 || p[0] > DECIMAL_DIGITS || p[1] > p[0])
			return conv_fail(c, FAULT_SYNTAX);
		for (size_t k = n; k > 4; k--)
			ret->dec.magnitude = ret->dec.magnitude << 8 | p[k - 1];
		ret->dec.negative = p[3] == 0 && ret->dec.magnitude != 0;
		ret->scale = p[1];
		return decimal_fits(&ret->dec, DECIMAL_DIGITS) ? 0 : conv_fail(c, FAULT_RANGE);
	}
	if (c->to->id == TYPE_BIT) {
		for (size_t k = 0; k < n; k++)
			bits |= p[k];
		ret->dec.magnitude = bits != 0;
		return 0;
	}
	for (size_t k = n > size ? n - size : 0; k < n; k++)
		bits = bits << 8 | p[k];
	switch (size) {
	case 1: i = (int64_t)bits; break;
	case 2: i = (int16_t)bits; break;
	case 4: i = (int32_t)bits; break;
	default: i = (int64_t)bits;
	}
	ret->dec = decimal_from_int(i);
	ret->scale = is_money(c->to->id) ? MONEY_SCALE : 0;
	return 0;
}

/* Days since 1900 with their fraction; an integer is the nearest midnight. */
static void read_datetime(struct conv *c, struct number *ret)
{
	if (type_info(c->to->id)->is_integer) {
		ret->dec = decimal_from_int(datetime_day(c->v->u.i + TICKS_PER_DAY / 2));
		return;
	}
	ret->approximate = true;
	ret->f = (double)c->v->u.i / (double)TICKS_PER_DAY;
}

/* ---- writing ---- */

static int write_integer(struct conv *c, const struct number *n)
{
	bool fits;

	if (c->to->id == TYPE_BIT) {
		c->out.u.i = n->approximate ? n->f != 0 : n->dec.magnitude != 0;
		return 0;
	}
	if (n->approximate) {
		fits = n->f > -9223372036854777856.0 && n->f < 9223372036854775808.0;
		if (fits)
			c->out.u.i = (int64_t)n->f; /* cut, not rounded */
	} else if (is_money(c->v->type.id)) {
		struct decimal whole; /* money alone is rounded */

		fits = decimal_rescale(&n->dec, n->scale, 0, &whole) &&
		       decimal_to_int(&whole, 0, &c->out.u.i);
	} else {
		fits = decimal_to_int(&n->dec, n->scale, &c->out.u.i);
	}
	return fits && type_holds(c->to->id, c->out.u.i) ? 0 : conv_fail(c, FAULT_RANGE);
}

static int write_float(struct conv *c, const struct number *n)
{
	double f = n->approximate ? n->f : decimal_to_double(&n->dec, n->scale);

	if (c->to->id == TYPE_REAL) {
		if (fabs(f) > 3.4028235677973366e38) /* beyond what rounds to the largest float */
			return conv_fail(c, FAULT_RANGE);
		f = (double)(float)f;
	}
	c->out.u.f = f;
	return isfinite(f) ? 0 : conv_fail(c, FAULT_RANGE);
}

/* The number with the given scale, rounded. */
static bool scaled(const struct number *n, int scale, struct decimal *ret)
{
	if (n->approximate)
		return decimal_from_double(n->f, scale, ret);
	return decimal_rescale(&n->dec, n->scale, scale, ret);
}

static int write_exact(struct conv *c, const struct number *n)
{
	struct decimal d;

	if (is_money(c->to->id)) {
		if (!scaled(n, MONEY_SCALE, &d) || !decimal_to_int(&d, 0, &c->out.u.i) ||
		    !type_holds(c->to->id, c->out.u.i))
			return conv_fail(c, FAULT_RANGE);
		return 0;
	}
	if (!scaled(n, c->to->scale, &d) || !decimal_fits(&d, c->to->precision))
		return conv_fail(c, FAULT_RANGE);
	c->out.u.dec = d;
	return 0;
}

static int read_source(struct conv *c, struct number *ret)
{
	const struct type_info *info = type_info(c->v->type.id);

	if (number_of(c->v, ret))
		return 0;
	if (info->is_text)
		return read_text(c, ret);
	if (info->is_binary)
		return read_binary(c, ret);
	read_datetime(c, ret);
	return 0;
}

int conv_to_number(struct conv *c)
{
	const struct type_info *target = type_info(c->to->id);
	struct number n;

	/* The common case: integers among themselves. */
	if (target->is_integer && type_info(c->v->type.id)->is_integer && c->to->id != TYPE_BIT) {
		c->out.u.i = c->v->u.i;
		return type_holds(c->to->id, c->v->u.i) ? 0 : conv_fail(c, FAULT_RANGE);
	}
	if (read_source(c, &n) < 0)
		return -1;
	if (target->is_integer)
		return write_integer(c, &n);
	return is_approximate(c->to->id) ? write_float(c, &n) : write_exact(c, &n);
}
