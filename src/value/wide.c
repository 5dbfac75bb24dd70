/* wide.c — 256-bit unsigned arithmetic. Products of two 38-digit numbers and dividends with a
 * full quotient have up to 77 digits. */
#include "value/wide.h"

#include <assert.h>

u128 pow10_u128(int n)
{
	u128 v = 1;

	assert(n <= 38);
	while (n-- > 0)
		v *= 10;
	return v;
}

struct wide wide_mul(u128 a, u128 b)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
	u128 p00 = (u128)a0 * b0, p01 = (u128)a0 * b1, p10 = (u128)a1 * b0, p11 = (u128)a1 * b1;
	u128 middle = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;

	return (struct wide){ p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64),
			      middle << 64 | (uint64_t)p00 };
}

struct wide wide_add(struct wide a, struct wide b)
{
	struct wide r = { a.high + b.high, a.low + b.low };

	r.high += r.low < a.low;
	return r;
}

struct wide wide_sub(struct wide a, struct wide b)
{
	return (struct wide){ a.high - b.high - (a.low < b.low), a.low - b.low };
}

int wide_compare(struct wide a, struct wide b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

bool wide_mul_pow10(struct wide a, int n, struct wide *ret)
{
	while (n > 0) {
		int step = n < 38 ? n : 38;
		u128 factor = pow10_u128(step);
		struct wide low = wide_mul(a.low, factor), high = wide_mul(a.high, factor);

		if (high.high != 0 || low.high + high.low < low.high)
			return false;
		a = (struct wide){ low.high + high.low, low.low };
		n -= step;
	}
	*ret = a;
	return true;
}

static struct wide shift_left(struct wide a)
{
	return (struct wide){ a.high << 1 | a.low >> 127, a.low << 1 };
}

/* Bit by bit: divisions are rare, and this needs no proof. */
static struct wide wide_div_slow(struct wide a, struct wide b, struct wide *ret_rest)
{
	struct wide quotient = { 0, 0 }, rest = { 0, 0 };

	for (int i = 255; i >= 0; i--) {
		bool carry = rest.high >> 127;
		u128 bit = (i >= 128 ? a.high >> (i - 128) : a.low >> i) & 1;

		rest = shift_left(rest);
		rest.low |= bit;
		if (carry || wide_compare(rest, b) >= 0) {
			rest = wide_sub(rest, b);
			if (i >= 128)
				quotient.high |= (u128)1 << (i - 128);
			else
				quotient.low |= (u128)1 << i;
		}
	}
	*ret_rest = rest;
	return quotient;
}

struct wide wide_div(struct wide a, struct wide b, struct wide *ret_rest)
{
	assert(b.high != 0 || b.low != 0); /* whoever divides has looked */
	if (a.high == 0 && b.high == 0) {
		*ret_rest = wide_of(a.low % b.low);
		return wide_of(a.low / b.low);
	}
	return wide_div_slow(a, b, ret_rest);
}

struct wide wide_round(struct wide a, int n)
{
	struct wide unit, rest, q;

	if (n <= 0)
		return a;
	if (!wide_mul_pow10(wide_of(1), n, &unit))
		/* 10ⁿ is beyond 256 bits, so a is less than half of it */
		return wide_of(0);
	q = wide_div(a, unit, &rest);
	if (wide_compare(rest, wide_sub(unit, rest)) >= 0)
		q = wide_add(q, wide_of(1));
	return q;
}
