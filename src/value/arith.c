/* arith.c — + - * / % & | ^ as T-SQL expressions have them: the operands are brought to one
 * type, which decides the arithmetic. */
#include <math.h>
#include <string.h>

#include "base/utf.h"
#include "value/compare.h"
#include "value/value_int.h"

static const struct {
	const char *name; /* in messages */
	char symbol;
} ops[] = {
	[OP_ADD] = { "add", '+' },    [OP_SUB] = { "subtract", '-' }, [OP_MUL] = { "multiply", '*' },
	[OP_DIV] = { "divide", '/' }, [OP_MOD] = { "modulo", '%' },   [OP_AND] = { "'&'", '&' },
	[OP_OR] = { "'|'", '|' },     [OP_XOR] = { "'^'", '^' },
};

static bool is_bitwise(enum value_op op)
{
	return op == OP_AND || op == OP_OR || op == OP_XOR;
}
static bool is_text(const struct value *v)
{
	return type_info(v->type.id)->is_text;
}
static bool is_binary(const struct value *v)
{
	return type_info(v->type.id)->is_binary;
}
static bool is_money(const struct type *t)
{
	return t->id == TYPE_MONEY || t->id == TYPE_SMALLMONEY;
}
static bool is_old_date(const struct type *t)
{
	return t->id == TYPE_DATETIME || t->id == TYPE_SMALLDATETIME;
}

static int incompatible(enum value_op op, const struct value *a, const struct value *b, struct err *reterr)
{
	return err_set(reterr, ERR_INCOMPATIBLE, conv_type_name(a->type.id), conv_type_name(b->type.id),
		       ops[op].name);
}

static int overflow(const struct type *t, struct err *reterr)
{
	return err_set(reterr, ERR_OVERFLOW, "expression", conv_type_name(t->id));
}

/* ---- concatenation ---- */

static struct type concat_type(const struct value *a, const struct value *b)
{
	struct type t = type_common(&a->type, &b->type);
	int32_t most = type_info(t.id)->is_unicode ? 4000 : 8000;

	if (!type_info(t.id)->has_length)
		return t;
	if (t.id == TYPE_CHAR || t.id == TYPE_NCHAR || t.id == TYPE_BINARY)
		t.id++; /* the varying type stands next to the fixed one */
	if (type_is_max(&a->type) || type_is_max(&b->type))
		t.length = TYPE_MAX;
	else
		t.length = a->type.length + b->type.length > most ? most : a->type.length + b->type.length;
	return t;
}

static int concat(const struct value *a, const struct value *b, struct arena *ar, struct value *ret,
		  struct err *reterr)
{
	struct type t = concat_type(a, b);
	struct value joined;
	char *p;

	if (a->null || b->null) {
		value_set_null(ret, t);
		return 0;
	}
	p = a->u.s.n > SIZE_MAX - b->u.s.n ? NULL : arena_alloc_raw(ar, a->u.s.n + b->u.s.n);
	if (p == NULL)
		return err_nomem(reterr);
	if (a->u.s.n != 0)
		memcpy(p, a->u.s.p, a->u.s.n);
	if (b->u.s.n != 0)
		memcpy(p + a->u.s.n, b->u.s.p, b->u.s.n);
	joined = value_text(TYPE_LEN(t.id, TYPE_MAX), (struct str){ p, a->u.s.n + b->u.s.n });
	return value_convert(&joined, &t, CONVERT_ASSIGN, NULL, ar, ret, reterr);
}

/* ---- integers and money ---- */

/* False: overflow. The divisor is not 0. */
static bool integer_op(enum value_op op, int64_t a, int64_t b, int64_t *ret)
{
	switch (op) {
	case OP_ADD: return !__builtin_add_overflow(a, b, ret);
	case OP_SUB: return !__builtin_sub_overflow(a, b, ret);
	case OP_MUL: return !__builtin_mul_overflow(a, b, ret);
	case OP_DIV:
		if (b == -1)
			return !__builtin_sub_overflow(0, a, ret);
		*ret = a / b;
		return true;
	case OP_MOD: *ret = b == -1 ? 0 : a % b; return true;
	case OP_AND: *ret = a & b; return true;
	case OP_OR: *ret = a | b; return true;
	case OP_XOR: *ret = a ^ b; return true;
	}
	return false;
}

/* Ten-thousandths: a product has them twice, a quotient not at all. */
static bool money_op(enum value_op op, int64_t a, int64_t b, int64_t *ret)
{
	__int128 r;

	if (op == OP_MUL) {
		r = (__int128)a * b;
		r = (r + (r < 0 ? -5000 : 5000)) / 10000;
	} else if (op == OP_DIV) {
		r = (__int128)a * 10000 / b;
	} else {
		return integer_op(op, a, b, ret);
	}
	if (r < INT64_MIN || r > INT64_MAX)
		return false;
	*ret = (int64_t)r;
	return true;
}

static int arith_integer(enum value_op op, const struct value *a, const struct value *b, struct value *ret,
			 struct err *reterr)
{
	struct type t = a->type;
	int64_t i;

	if ((op == OP_DIV || op == OP_MOD) && b->u.i == 0)
		return err_set(reterr, ERR_DIVIDE_BY_ZERO);
	if (!(is_money(&t) ? money_op(op, a->u.i, b->u.i, &i) : integer_op(op, a->u.i, b->u.i, &i)) ||
	    !type_holds(t.id, i))
		return overflow(&t, reterr);
	*ret = value_int(t.id, i);
	return 0;
}

/* ---- float, decimal, dates ---- */

static int arith_float(enum value_op op, const struct value *a, const struct value *b, struct value *ret,
		       struct err *reterr)
{
	struct type t = a->type;
	double f;

	if (op == OP_DIV && b->u.f == 0)
		return err_set(reterr, ERR_DIVIDE_BY_ZERO);
	switch (op) {
	case OP_ADD: f = a->u.f + b->u.f; break;
	case OP_SUB: f = a->u.f - b->u.f; break;
	case OP_MUL: f = a->u.f * b->u.f; break;
	default: f = a->u.f / b->u.f; break;
	}
	if (t.id == TYPE_REAL && isfinite(f))
		f = (double)(float)f;
	if (!isfinite(f))
		return overflow(&t, reterr);
	value_set_null(ret, t);
	ret->null = false;
	ret->u.f = f;
	return 0;
}

static int arith_decimal(enum value_op op, const struct value *a, const struct value *b, const struct type *t,
			 struct value *ret, struct err *reterr)
{
	struct decimal d;

	if ((op == OP_DIV || op == OP_MOD) && b->u.dec.magnitude == 0)
		return err_set(reterr, ERR_DIVIDE_BY_ZERO);
	if (!decimal_arith(ops[op].symbol, a, b, t, &d))
		return overflow(t, reterr);
	value_set_null(ret, *t);
	ret->null = false;
	ret->u.dec = d;
	return 0;
}

/* datetime ± days: both sides are ticks since 1900. */
static int arith_datetime(enum value_op op, const struct value *a, const struct value *b, struct value *ret,
			  struct err *reterr)
{
	struct type t = a->type;
	int64_t ticks = op == OP_ADD ? a->u.i + b->u.i : a->u.i - b->u.i;

	if (ticks < DATETIME_MIN || ticks > DATETIME_MAX || (t.id == TYPE_SMALLDATETIME && ticks < 0))
		return overflow(&t, reterr);
	*ret = value_int(t.id, ticks);
	return 0;
}

/* ---- which arithmetic ---- */

/* The type in which the operation is done; false when the operator does not take these operands. */
static bool operation_type(enum value_op op, const struct value *a, const struct value *b, struct type *ret)
{
	struct type t = type_common(&a->type, &b->type);
	const struct type_info *info = type_info(t.id);

	/* two texts, or a text and bytes: + was dealt with before */
	if (info->is_text || info->is_binary)
		return false;
	*ret = t;
	if (is_old_date(&t))
		return op == OP_ADD || op == OP_SUB;
	if (info->is_integer)
		return is_bitwise(op) || t.id != TYPE_BIT;
	if (is_bitwise(op))
		return false;
	if (t.id == TYPE_REAL || t.id == TYPE_FLOAT)
		return op != OP_MOD;
	return info->has_precision || is_money(&t);
}

/* Decimals keep their own precision and scale; what is not a decimal yet becomes one that holds
 * it. */
static int to_decimal(const struct value *v, const struct type *t, struct arena *ar, struct value *ret,
		      struct err *reterr)
{
	struct type own = type_info(v->type.id)->is_exact ? type_as_decimal(&v->type) : *t;

	return value_convert(v, &own, CONVERT_ASSIGN, NULL, ar, ret, reterr);
}

static int arith_decimals(enum value_op op, const struct value *a, const struct value *b, struct type t,
			  struct arena *ar, struct value *ret, struct err *reterr)
{
	struct type result;
	struct value x, y;

	if (to_decimal(a, &t, ar, &x, reterr) < 0 || to_decimal(b, &t, ar, &y, reterr) < 0)
		return -1;
	result = decimal_result(ops[op].symbol, &x.type, &y.type);
	result.id = t.id;
	if (x.null || y.null) {
		value_set_null(ret, result);
		return 0;
	}
	return arith_decimal(op, &x, &y, &result, ret, reterr);
}

int value_arith(enum value_op op, const struct value *a, const struct value *b, struct arena *ar,
		struct value *ret, struct err *reterr)
{
	struct value x, y;
	struct type t;

	a = value_unwrap(a);
	b = value_unwrap(b);
	if (op == OP_ADD && ((is_text(a) && (is_text(b) || b->type.id == TYPE_NULL)) ||
			     (is_binary(a) && (is_binary(b) || b->type.id == TYPE_NULL)) ||
			     (a->type.id == TYPE_NULL && (is_text(b) || is_binary(b)))))
		return concat(a, b, ar, ret, reterr);
	if (!operation_type(op, a, b, &t))
		return incompatible(op, a, b, reterr);
	if (type_info(t.id)->has_precision)
		return arith_decimals(op, a, b, t, ar, ret, reterr);
	if (value_convert(a, &t, CONVERT_ASSIGN, NULL, ar, &x, reterr) < 0 ||
	    value_convert(b, &t, CONVERT_ASSIGN, NULL, ar, &y, reterr) < 0)
		return -1;
	if (x.null || y.null) {
		value_set_null(ret, t);
		return 0;
	}
	if (is_old_date(&t))
		return arith_datetime(op, &x, &y, ret, reterr);
	if (t.id == TYPE_REAL || t.id == TYPE_FLOAT)
		return arith_float(op, &x, &y, ret, reterr);
	return arith_integer(op, &x, &y, ret, reterr);
}

int value_negate(const struct value *a, struct value *ret, struct err *reterr)
{
	const struct type_info *info;
	struct value v;

	a = value_unwrap(a);
	v = *a;
	info = type_info(v.type.id);
	if (v.type.id == TYPE_TINYINT)
		v.type.id = TYPE_SMALLINT; /* tinyint has no negative numbers */
	if (v.type.id == TYPE_NULL)
		value_set_null(&v, TYPE_OF(TYPE_INT));
	else if (v.type.id == TYPE_BIT ||
		 !(info->is_exact || v.type.id == TYPE_REAL || v.type.id == TYPE_FLOAT))
		return err_set(reterr, ERR_OPERAND, info->name, "minus");
	if (v.null) {
		*ret = v;
		return 0;
	}
	if (info->has_precision) {
		v.u.dec.negative = !v.u.dec.negative && v.u.dec.magnitude != 0;
	} else if (info->is_exact) {
		if (__builtin_sub_overflow((int64_t)0, v.u.i, &v.u.i) || !type_holds(v.type.id, v.u.i))
			return overflow(&v.type, reterr);
	} else {
		v.u.f = -v.u.f;
	}
	*ret = v;
	return 0;
}
