/* infer.c — the static type of an expression: what COLMETADATA says before a value is computed.
 * Values are brought to it on their way out. */
#include "tsql/ast.h"
#include "tsql/eval/functions.h"
#include "value/decimal.h"

static bool is_text(const struct type *t)
{
	return type_info(t->id)->is_text;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

struct type tsql_type_as_text(const struct type *t)
{
	switch (t->id) {
	case TYPE_CHAR:
	case TYPE_VARCHAR: return TYPE_LEN(TYPE_VARCHAR, t->length);
	case TYPE_NCHAR:
	case TYPE_NVARCHAR: return TYPE_LEN(TYPE_NVARCHAR, t->length);
	case TYPE_TEXT: return TYPE_LEN(TYPE_VARCHAR, TYPE_MAX);
	case TYPE_NTEXT:
	case TYPE_XML: return TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
	case TYPE_BINARY:
	case TYPE_VARBINARY: return TYPE_LEN(TYPE_VARCHAR, t->length);
	case TYPE_VARIANT:
	case TYPE_NULL: return TYPE_LEN(TYPE_NVARCHAR, 4000);
	default: return TYPE_LEN(TYPE_VARCHAR, 64);
	}
}

static struct type concatenated(const struct type *a, const struct type *b)
{
	bool unicode = type_info(a->id)->is_unicode || type_info(b->id)->is_unicode;
	bool binary = type_info(a->id)->is_binary && type_info(b->id)->is_binary;
	uint8_t id = binary ? TYPE_VARBINARY : unicode ? TYPE_NVARCHAR : TYPE_VARCHAR;

	if (type_is_max(a) || type_is_max(b))
		return TYPE_LEN(id, TYPE_MAX);
	return TYPE_LEN(id, smaller(larger(1, a->length) + larger(0, b->length), unicode ? 4000 : 8000));
}

/* The rule is value's, which computes by it. */
static struct type decimal_type(uint8_t op, const struct type *a, const struct type *b)
{
	const char symbol = op == OP_MUL ? '*' : op == OP_DIV ? '/' : op == OP_MOD ? '%' : '+';
	struct type x = type_as_decimal(a), y = type_as_decimal(b), t = decimal_result(symbol, &x, &y);

	t.id = x.id == TYPE_DECIMAL || y.id == TYPE_DECIMAL ? TYPE_DECIMAL : TYPE_NUMERIC;
	return t;
}

static bool is_decimal(const struct type *t)
{
	return t->id == TYPE_DECIMAL || t->id == TYPE_NUMERIC;
}

static struct type arithmetic(uint8_t op, const struct type *a, const struct type *b)
{
	struct type t;
	bool bytes = type_info(a->id)->is_binary && type_info(b->id)->is_binary;

	if (a->id == TYPE_NULL && b->id == TYPE_NULL)
		return TYPE_OF(TYPE_INT);
	if (a->id == TYPE_NULL)
		return *b;
	if (b->id == TYPE_NULL)
		return *a;
	if (op == OP_ADD && ((is_text(a) && is_text(b)) || bytes))
		return concatenated(a, b);
	t = type_common(a, b);
	if (is_decimal(&t) && (is_decimal(a) || type_info(a->id)->is_exact) &&
	    (is_decimal(b) || type_info(b->id)->is_exact))
		return decimal_type(op, a, b);
	return t;
}

/* CASE without the conditions: the common type of its results. */
static struct type case_type(const struct expr *e, const struct type *args)
{
	struct type t = TYPE_OF(TYPE_NULL);
	size_t i = e->has_operand ? 2 : 1;

	for (; i < e->nargs; i += 2)
		t = tsql_type_common_known(&t, &args[i]);
	if (e->has_else)
		t = tsql_type_common_known(&t, &args[e->nargs - 1]);
	return t;
}

struct type tsql_type_common_known(const struct type *a, const struct type *b)
{
	if (a->id == TYPE_NULL)
		return *b;
	if (b->id == TYPE_NULL)
		return *a;
	return type_common(a, b);
}

static struct type aggregate_type(const struct expr *e, const struct type *args)
{
	struct type t = e->nargs > 0 ? args[0] : TYPE_OF(TYPE_INT);

	switch (e->op) {
	case AGG_COUNT: return TYPE_OF(TYPE_INT);
	case AGG_COUNT_BIG: return TYPE_OF(TYPE_BIGINT);
	case AGG_STRING:
		return TYPE_LEN(type_info(t.id)->is_unicode ? TYPE_NVARCHAR : TYPE_VARCHAR, TYPE_MAX);
	case AGG_SUM:
	case AGG_AVG:
		if (t.id == TYPE_TINYINT || t.id == TYPE_SMALLINT || t.id == TYPE_BIT)
			return TYPE_OF(TYPE_INT);
		return t;
	default: return t;
	}
}

struct type tsql_infer_type(const struct expr *e, const struct type *args)
{
	switch (e->kind) {
	case E_LITERAL: return e->literal.type;
	case E_UNARY: return args[0].id == TYPE_BIT || args[0].id == TYPE_NULL ? TYPE_OF(TYPE_INT) : args[0];
	case E_BINARY: return arithmetic(e->op, &args[0], &args[1]);
	case E_CASE: return case_type(e, args);
	case E_CAST: return e->cast;
	case E_CALL: return tsql_function_type(e->fn, args, e->nargs);
	case E_AGGREGATE: return aggregate_type(e, args);
	default: return e->type;
	}
}

bool tsql_infer_nullable(const struct expr *e)
{
	switch (e->kind) {
	case E_LITERAL: return e->literal.null;
	case E_CALL: return !tsql_function_never_null(e->fn);
	case E_UNARY: return e->args[0]->kind != E_LITERAL || e->args[0]->nullable;
	default: return true;
	}
}
