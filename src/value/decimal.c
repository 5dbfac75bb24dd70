/* decimal.c — exact numbers. Every operation is done in 256 bits without loss, and rounded once
 * at the end. */
#include "value/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "value/wide.h"

static struct decimal decimal_of(u128 magnitude, bool negative)
{
	return (struct decimal){ magnitude, negative && magnitude != 0 };
}

int decimal_digits(const struct decimal *d)
{
	u128 v = d->magnitude;
	int n = 1;

	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

bool decimal_fits(const struct decimal *d, int precision)
{
	return precision >= DECIMAL_DIGITS + 1 || d->magnitude < pow10_u128(precision);
}

struct decimal decimal_from_int(int64_t i)
{
	return decimal_of(i < 0 ? (u128)0 - (u128)i : (u128)i, i < 0);
}

bool decimal_to_int(const struct decimal *d, int scale, int64_t *ret)
{
	u128 v = d->magnitude / pow10_u128(scale);

	if (v > (u128)INT64_MAX + (d->negative ? 1 : 0))
		return false;
	*ret = d->negative ? (int64_t)(0 - (uint64_t)v) : (int64_t)v;
	return true;
}

double decimal_to_double(const struct decimal *d, int scale)
{
	char text[DECIMAL_TEXT];

	decimal_format(d, scale, text, sizeof(text));
	return strtod(text, NULL);
}

bool decimal_from_double(double f, int scale, struct decimal *ret)
{
	char text[400];
	int precision, text_scale;
	bool overflow;
	struct decimal d;

	if (!isfinite(f) || fabs(f) >= 1e38)
		return false;
	snprintf(text, sizeof(text), "%.*f", scale, f);
	if (!decimal_parse(str_of(text), &d, &precision, &text_scale, &overflow))
		return false;
	return decimal_rescale(&d, text_scale, scale, ret);
}

/* A wide magnitude as a decimal of at most precision digits. */
static bool narrow(struct wide w, bool negative, int precision, struct decimal *ret)
{
	assert(precision >= 1 && precision <= DECIMAL_DIGITS); /* invariant 2 */
	if (w.high != 0 || w.low >= pow10_u128(precision))
		return false;
	*ret = decimal_of(w.low, negative);
	return true;
}

bool decimal_rescale(const struct decimal *d, int from, int to, struct decimal *ret)
{
	struct wide w = wide_of(d->magnitude);

	if (to >= from) {
		if (!wide_mul_pow10(w, to - from, &w))
			return false;
	} else {
		w = wide_round(w, from - to);
	}
	return narrow(w, d->negative, DECIMAL_DIGITS, ret);
}

/* Both at the larger of the two scales: at most 76 digits. */
static void align(const struct decimal *a, int scale_a, const struct decimal *b, int scale_b,
		  struct wide *ret_a, struct wide *ret_b)
{
	int scale = scale_a > scale_b ? scale_a : scale_b;

	if (!wide_mul_pow10(wide_of(a->magnitude), scale - scale_a, ret_a))
		*ret_a = wide_of(0);
	if (!wide_mul_pow10(wide_of(b->magnitude), scale - scale_b, ret_b))
		*ret_b = wide_of(0);
}

int decimal_compare(const struct decimal *a, int scale_a, const struct decimal *b, int scale_b)
{
	struct wide wa, wb;
	int order;

	if (a->negative != b->negative)
		return a->magnitude == 0 && b->magnitude == 0 ? 0 : a->negative ? -1 : 1;
	align(a, scale_a, b, scale_b, &wa, &wb);
	order = wide_compare(wa, wb);
	return a->negative ? -order : order;
}

bool decimal_parse(struct str s, struct decimal *ret, int *ret_precision, int *ret_scale, bool *ret_overflow)
{
	bool negative = false, point = false, round_up = false, full = false;
	u128 magnitude = 0;
	int scale = 0, seen = 0, digits = 0;
	size_t i = 0;

	if (ret_overflow != NULL)
		*ret_overflow = false;
	if (s.n > 0 && (s.p[0] == '+' || s.p[0] == '-'))
		negative = s.p[i++] == '-';
	for (; i < s.n; i++) {
		char c = s.p[i];

		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			return false;
		seen++;
		if (digits == DECIMAL_DIGITS) {
			if (!point) {
				if (ret_overflow != NULL)
					*ret_overflow = true;
				continue;
			}
			if (!full)
				round_up = c >= '5';
			full = true;
			continue;
		}
		magnitude = magnitude * 10 + (u128)(c - '0');
		if (magnitude != 0)
			digits++;
		scale += point;
		if (scale == DECIMAL_DIGITS && digits < DECIMAL_DIGITS) /* 0.000…: no place for more */
			digits = DECIMAL_DIGITS;
	}
	if (seen == 0)
		return false;
	if (ret_overflow != NULL && *ret_overflow)
		return false;
	if (round_up)
		magnitude++;
	*ret = decimal_of(magnitude, negative);
	digits = decimal_digits(ret);
	*ret_precision = digits < scale ? scale : digits;
	*ret_scale = scale;
	return digits <= DECIMAL_DIGITS;
}

size_t decimal_format(const struct decimal *d, int scale, char *dst, size_t size)
{
	char digits[DECIMAL_TEXT], text[DECIMAL_TEXT];
	u128 v = d->magnitude;
	size_t n = 0, len = 0;

	do {
		if ((int)n == scale && scale != 0)
			digits[n++] = '.';
		digits[n++] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while ((v != 0 || (int)n <= scale + (scale != 0)) && n < sizeof(digits) - 2);
	if (d->negative && d->magnitude != 0)
		text[len++] = '-';
	while (n > 0)
		text[len++] = digits[--n];
	text[len] = '\0';
	str_copy(dst, size, (struct str){ text, len });
	return len < size ? len : size == 0 ? 0 : size - 1;
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}
static int min_int(int a, int b)
{
	return a < b ? a : b;
}

/* When more than 38 digits would be needed, the fraction gives way, but of a product or quotient
 * never below six digits. */
struct type decimal_result(char op, const struct type *a, const struct type *b)
{
	int p1 = a->precision, s1 = a->scale, p2 = b->precision, s2 = b->scale, p, s, whole;

	switch (op) {
	case '*':
		s = s1 + s2;
		p = p1 + p2 + 1;
		break;
	case '/':
		s = max_int(6, s1 + p2 + 1);
		p = p1 - s1 + s2 + s;
		break;
	case '%':
		s = max_int(s1, s2);
		p = min_int(p1 - s1, p2 - s2) + s;
		break;
	default:
		s = max_int(s1, s2);
		whole = max_int(p1 - s1, p2 - s2);
		p = s + whole + 1;
		if (p > DECIMAL_DIGITS) {
			p = DECIMAL_DIGITS;
			s = min_int(s, p - whole);
		}
		return TYPE_NUM(TYPE_NUMERIC, (uint8_t)p, (uint8_t)s);
	}
	if (p > DECIMAL_DIGITS) {
		whole = p - s;
		s = min_int(s, max_int(DECIMAL_DIGITS - whole, 6));
		p = DECIMAL_DIGITS;
	}
	return TYPE_NUM(TYPE_NUMERIC, (uint8_t)max_int(p, 1), (uint8_t)s);
}

static bool decimal_add(const struct value *a, const struct value *b, bool subtract, const struct type *t,
			struct decimal *ret)
{
	bool negative_a = a->u.dec.negative, negative_b = b->u.dec.negative != subtract;
	int scale = max_int(a->type.scale, b->type.scale);
	struct wide wa, wb, sum;
	bool negative = negative_a;

	align(&a->u.dec, a->type.scale, &b->u.dec, b->type.scale, &wa, &wb);
	if (negative_a == negative_b) {
		sum = wide_add(wa, wb);
	} else if (wide_compare(wa, wb) >= 0) {
		sum = wide_sub(wa, wb);
	} else {
		sum = wide_sub(wb, wa);
		negative = negative_b;
	}
	return narrow(wide_round(sum, scale - t->scale), negative, t->precision, ret);
}

/* SQL Server cuts what the scale of a quotient cannot show; it does not round. */
static bool decimal_div(const struct value *a, const struct value *b, const struct type *t,
			struct decimal *ret)
{
	int shift = t->scale - a->type.scale + b->type.scale;
	struct wide n = wide_of(a->u.dec.magnitude), d = wide_of(b->u.dec.magnitude), rest;

	if (shift >= 0 ? !wide_mul_pow10(n, shift, &n) : !wide_mul_pow10(d, -shift, &d))
		return false;
	return narrow(wide_div(n, d, &rest), a->u.dec.negative != b->u.dec.negative, t->precision, ret);
}

static bool decimal_mod(const struct value *a, const struct value *b, const struct type *t,
			struct decimal *ret)
{
	struct wide wa, wb, rest;

	align(&a->u.dec, a->type.scale, &b->u.dec, b->type.scale, &wa, &wb);
	(void)wide_div(wa, wb, &rest);
	return narrow(rest, a->u.dec.negative, t->precision, ret);
}

bool decimal_arith(char op, const struct value *a, const struct value *b, const struct type *t,
		   struct decimal *ret)
{
	bool negative = a->u.dec.negative != b->u.dec.negative;
	struct wide product;

	switch (op) {
	case '*':
		product = wide_mul(a->u.dec.magnitude, b->u.dec.magnitude);
		return narrow(wide_round(product, a->type.scale + b->type.scale - t->scale), negative,
			      t->precision, ret);
	case '/': return decimal_div(a, b, t, ret);
	case '%': return decimal_mod(a, b, t, ret);
	default: return decimal_add(a, b, op == '-', t, ret);
	}
}
