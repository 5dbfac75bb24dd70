/* fn_number.c — functions of numbers. The first argument is brought to the result's type, then
 * computed in it. */
#include "tsql/eval/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value/convert.h"
#include "value/guid.h"

static bool is_decimal(const struct value *v)
{
	return v->type.id == TYPE_DECIMAL || v->type.id == TYPE_NUMERIC;
}

static int overflow(const struct fn_args *f, const struct value *v)
{
	return err_set(f->ev->err, ERR_OVERFLOW, "expression", type_info(v->type.id)->name);
}

int tsql_fn_abs(const struct fn_args *f, struct value *ret)
{
	if (tsql_fn_as(f, 0, &f->expr->type, ret) < 0)
		return -1;
	if (is_decimal(ret))
		ret->u.dec.negative = false;
	else if (ret->type.id == TYPE_FLOAT)
		ret->u.f = fabs(ret->u.f);
	else if (ret->u.i == INT64_MIN || (ret->type.id == TYPE_INT && ret->u.i == INT32_MIN))
		return overflow(f, ret);
	else
		ret->u.i = ret->u.i < 0 ? -ret->u.i : ret->u.i;
	return 0;
}

int tsql_fn_sign(const struct fn_args *f, struct value *ret)
{
	int sign;

	if (tsql_fn_as(f, 0, &f->expr->type, ret) < 0)
		return -1;
	if (is_decimal(ret)) {
		unsigned __int128 one = 1;

		for (int i = 0; i < ret->type.scale; i++)
			one *= 10;
		if (ret->u.dec.magnitude != 0)
			ret->u.dec.magnitude = one;
	} else if (ret->type.id == TYPE_FLOAT) {
		ret->u.f = (ret->u.f > 0) - (ret->u.f < 0);
	} else {
		sign = (ret->u.i > 0) - (ret->u.i < 0);
		ret->u.i = ret->type.id == TYPE_MONEY ? sign * 10000 : sign;
	}
	return 0;
}

static unsigned __int128 power10(int n)
{
	unsigned __int128 p = 1;

	while (n-- > 0)
		p *= 10;
	return p;
}

/* Down to whole numbers; up: CEILING. The argument keeps its own scale until here. */
static int whole(const struct fn_args *f, bool up, struct value *ret)
{
	struct value v = f->v[0];

	if (!is_decimal(&v)) {
		if (tsql_fn_as(f, 0, &f->expr->type, ret) < 0)
			return -1;
		if (ret->type.id == TYPE_FLOAT) {
			ret->u.f = up ? ceil(ret->u.f) : floor(ret->u.f);
		} else if (ret->type.id == TYPE_MONEY) {
			int64_t rest = ret->u.i % 10000;

			ret->u.i -= rest;
			if (rest < 0 && !up)
				ret->u.i -= 10000;
			else if (rest > 0 && up)
				ret->u.i += 10000;
		}
		return 0;
	}
	{
		unsigned __int128 unit = power10(v.type.scale), rest = v.u.dec.magnitude % unit;

		*ret = v;
		ret->type = f->expr->type;
		ret->u.dec.magnitude /= unit;
		if (rest != 0 && v.u.dec.negative != up)
			ret->u.dec.magnitude++;
		if (ret->u.dec.magnitude == 0)
			ret->u.dec.negative = false;
	}
	return 0;
}

int tsql_fn_floor(const struct fn_args *f, struct value *ret)
{
	return whole(f, false, ret);
}

int tsql_fn_ceiling(const struct fn_args *f, struct value *ret)
{
	return whole(f, true, ret);
}

/* Half away from zero, or cut. drop: how many decimal digits go. */
static unsigned __int128 rounded(unsigned __int128 m, int drop, bool cut)
{
	unsigned __int128 unit;

	if (drop <= 0)
		return m;
	if (drop > 38)
		return 0;
	unit = power10(drop);
	return (m + (cut ? 0 : unit / 2)) / unit * unit;
}

static int round_int(const struct fn_args *f, int drop, bool cut, struct value *v)
{
	bool negative = v->u.i < 0;
	unsigned __int128 m = rounded((unsigned __int128)(negative ? -(__int128)v->u.i : v->u.i), drop, cut);

	if (m > (unsigned __int128)(v->type.id == TYPE_INT ? INT32_MAX : INT64_MAX))
		return overflow(f, v);
	v->u.i = negative ? -(int64_t)m : (int64_t)m;
	return 0;
}

static void round_float(int digits, bool cut, struct value *v)
{
	double scale = pow(10, abs(digits) > 300 ? 300 : abs(digits)), x;

	x = digits >= 0 ? v->u.f * scale : v->u.f / scale;
	if (!isfinite(x))
		return;
	x = cut ? trunc(x) : round(x);
	v->u.f = digits >= 0 ? x / scale : x * scale;
}

int tsql_fn_round(const struct fn_args *f, struct value *ret)
{
	int64_t digits, cut = 0;
	int n;

	if (tsql_fn_as(f, 0, &f->expr->type, ret) < 0 || tsql_fn_int(f, 1, &digits) < 0 ||
	    (f->n > 2 && tsql_fn_int(f, 2, &cut) < 0))
		return -1;
	n = digits < -400 ? -400 : digits > 400 ? 400 : (int)digits;
	if (ret->type.id == TYPE_FLOAT) {
		round_float(n, cut != 0, ret);
		return 0;
	}
	if (!is_decimal(ret))
		return round_int(f, (ret->type.id == TYPE_MONEY ? 4 : 0) - n, cut != 0, ret);
	ret->u.dec.magnitude = rounded(ret->u.dec.magnitude, ret->type.scale - n, cut != 0);
	if (ret->u.dec.magnitude >= power10(ret->type.precision))
		return overflow(f, ret);
	if (ret->u.dec.magnitude == 0)
		ret->u.dec.negative = false;
	return 0;
}

static int return_float(const struct fn_args *f, double d, struct value *ret)
{
	if (!isfinite(d))
		return err_raise(f->ev->err, 3623, 16, 1, "An invalid floating point operation occurred.");
	*ret = (struct value){ .type = TYPE_OF(TYPE_FLOAT) };
	ret->u.f = d;
	return 0;
}

int tsql_fn_power(const struct fn_args *f, struct value *ret)
{
	struct value v;
	double a, b;

	if (tsql_fn_float(f, 0, &a) < 0 || tsql_fn_float(f, 1, &b) < 0 || return_float(f, pow(a, b), &v) < 0)
		return -1;
	return value_convert(&v, &f->expr->type, CONVERT_CAST, NULL, f->ev->arena, ret, f->ev->err);
}

int tsql_fn_sqrt(const struct fn_args *f, struct value *ret)
{
	double a;

	return tsql_fn_float(f, 0, &a) < 0 ? -1 : return_float(f, sqrt(a), ret);
}

int tsql_fn_square(const struct fn_args *f, struct value *ret)
{
	double a;

	return tsql_fn_float(f, 0, &a) < 0 ? -1 : return_float(f, a * a, ret);
}

int tsql_fn_exp(const struct fn_args *f, struct value *ret)
{
	double a;

	return tsql_fn_float(f, 0, &a) < 0 ? -1 : return_float(f, exp(a), ret);
}

int tsql_fn_log(const struct fn_args *f, struct value *ret)
{
	double a, base = 0;

	if (tsql_fn_float(f, 0, &a) < 0 || (f->n > 1 && tsql_fn_float(f, 1, &base) < 0))
		return -1;
	return return_float(f, f->n > 1 ? log(a) / log(base) : log(a), ret);
}

int tsql_fn_pi(const struct fn_args *f, struct value *ret)
{
	return return_float(f, 3.14159265358979323846, ret);
}

/* With a seed the same number every time, as in T-SQL; without one from the system's randomness. */
int tsql_fn_rand(const struct fn_args *f, struct value *ret)
{
	uint64_t bits;
	uint8_t random[16];
	int64_t seed;

	if (f->n > 0 && !f->v[0].null) {
		if (tsql_fn_int(f, 0, &seed) < 0)
			return -1;
		bits = ((uint64_t)seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
		bits ^= bits >> 29;
		bits *= UINT64_C(0xBF58476D1CE4E5B9);
		bits ^= bits >> 32;
	} else {
		guid_random(random);
		memcpy(&bits, random + 8, 8); /* bytes 6 and 8 of a GUID hold its version; mix them away */
		bits ^= (uint64_t)random[0] << 56 | (uint64_t)random[1] << 48 | (uint64_t)random[2] << 40;
		bits *= UINT64_C(0x9E3779B97F4A7C15);
	}
	return return_float(f, (double)(bits >> 11) / 9007199254740992.0, ret);
}

int tsql_fn_isnumeric(const struct fn_args *f, struct value *ret)
{
	static const uint8_t tries[] = { TYPE_FLOAT, TYPE_MONEY };
	const struct value *v = &f->v[0];
	const struct type_info *info = type_info(v->type.id);
	struct value unused;
	struct str s;

	*ret = value_int(TYPE_INT, 0);
	if (v->null)
		return 0;
	if (!info->is_text) {
		ret->u.i = info->is_integer || is_decimal(v) || v->type.id == TYPE_MONEY ||
			   v->type.id == TYPE_SMALLMONEY || v->type.id == TYPE_REAL ||
			   v->type.id == TYPE_FLOAT || v->type.id == TYPE_BIT;
		return 0;
	}
	s = str_trim(v->u.s);
	for (size_t i = 0; s.n > 0 && i < ARRAY_LEN(tries) && ret->u.i == 0; i++) {
		struct type t = TYPE_OF(tries[i]);

		ret->u.i = value_convert(v, &t, CONVERT_CAST, NULL, f->ev->arena, &unused, NULL) == 0;
	}
	return 0;
}
