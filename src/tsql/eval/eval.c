/* eval.c — computing expressions. Recursion is bounded: the parser made no tree deeper than
 * EXPR_DEPTH. */
#include <assert.h>

#include "tsql/eval/eval.h"

#include "tsql/eval/functions.h"
#include "value/convert.h"
#include "value/pattern.h"

#define NODE_STEPS 8 /* of a node of the tree, in bytes looked at */

size_t tsql_eval_size(const struct value *v)
{
	const struct type_info *info;

	if (v->null)
		return 0;
	if (v->type.id == TYPE_VARIANT)
		v = v->u.variant;
	info = type_info(v->type.id);
	return info->is_text || info->is_binary || v->type.id == TYPE_XML ? v->u.s.n : 0;
}

int tsql_eval_room(struct eval *ev, const char *what, size_t n)
{
	size_t most = ev->host == NULL ? 0 : ev->host->max_value;

	if (most > 0 && n > most)
		return err_set(ev->err, ERR_TOO_LARGE, what, (unsigned long long)most, "max_value_size");
	return tsql_eval_spend(ev, n);
}

int tsql_eval_as(struct eval *ev, const struct expr *e, const struct type *t, struct value *ret)
{
	struct value v;

	if (tsql_eval_value(ev, e, &v) < 0 || tsql_eval_spend(ev, tsql_eval_size(&v)) < 0)
		return -1;
	return value_convert(&v, t, CONVERT_ASSIGN, NULL, ev->arena, ret, ev->err);
}

static int unary(struct eval *ev, const struct expr *e, struct value *ret)
{
	struct value v;

	assert(e->nargs == 1);
	if (tsql_eval_value(ev, e->args[0], &v) < 0)
		return -1;
	if (v.null) {
		value_set_null(ret, e->type);
		return 0;
	}
	if (e->op == '-')
		return value_negate(&v, ret, ev->err);
	if (e->op == '~') {
		if (!type_info(v.type.id)->is_integer && v.type.id != TYPE_BIT)
			return err_raise(ev->err, 8117, 16, 1,
					 "Operand data type %s is invalid for '~' operator.",
					 type_info(v.type.id)->name);
		v.u.i = v.type.id == TYPE_BIT ? !v.u.i : v.type.id == TYPE_TINYINT ? (uint8_t)~v.u.i : ~v.u.i;
	}
	*ret = v;
	return 0;
}

/* With CONCAT_NULL_YIELDS_NULL OFF a NULL text is an empty one. */
static bool joins_null(const struct eval *ev, const struct expr *e, const struct value *a,
		       const struct value *b)
{
	return e->op == OP_ADD && ev->host != NULL && !ev->host->vars->concat_null_yields_null &&
	       a->null != b->null && (type_info(a->type.id)->is_text || type_info(b->type.id)->is_text);
}

static int binary(struct eval *ev, const struct expr *e, struct value *ret)
{
	struct value a, b;

	if (tsql_eval_value(ev, e->args[0], &a) < 0 || tsql_eval_value(ev, e->args[1], &b) < 0)
		return -1;
	assert(e->nargs == 2);
	if (joins_null(ev, e, &a, &b)) {
		*ret = a.null ? b : a;
		return 0;
	}
	if (a.null || b.null) {
		value_set_null(ret, e->type);
		return 0;
	}
	if (tsql_eval_room(ev, "The result of +", tsql_eval_size(&a) + tsql_eval_size(&b)) < 0)
		return -1;
	return value_arith(e->op, &a, &b, ev->arena, ret, ev->err);
}

static int case_when(struct eval *ev, const struct expr *e, const struct expr **ret)
{
	size_t first = e->has_operand ? 1 : 0;
	size_t end = e->nargs - (e->has_else ? 1 : 0);
	struct value operand, when;

	if (e->has_operand && tsql_eval_value(ev, e->args[0], &operand) < 0)
		return -1;
	for (size_t i = first; i + 1 < end; i += 2) {
		enum tri t = TRI_UNKNOWN;
		int cmp;

		if (!e->has_operand) {
			if (tsql_eval_condition(ev, e->args[i], &t) < 0)
				return -1;
		} else {
			if (tsql_eval_value(ev, e->args[i], &when) < 0)
				return -1;
			if (!operand.null && !when.null) {
				if (tsql_eval_spend(ev, tsql_eval_size(&operand) + tsql_eval_size(&when)) <
					    0 ||
				    value_compare(&operand, &when, ev->arena, &cmp, ev->err) < 0)
					return -1;
				t = cmp == 0 ? TRI_TRUE : TRI_FALSE;
			}
		}
		if (t == TRI_TRUE) {
			*ret = e->args[i + 1];
			return 0;
		}
	}
	*ret = e->has_else ? e->args[e->nargs - 1] : NULL;
	return 0;
}

static int case_value(struct eval *ev, const struct expr *e, struct value *ret)
{
	const struct expr *chosen;

	if (case_when(ev, e, &chosen) < 0)
		return -1;
	if (chosen == NULL) {
		value_set_null(ret, e->type);
		return 0;
	}
	return e->type.id == TYPE_NULL ? tsql_eval_value(ev, chosen, ret)
				       : tsql_eval_as(ev, chosen, &e->type, ret);
}

static int cast(struct eval *ev, const struct expr *e, struct value *ret)
{
	struct value v, style;
	struct type integer = TYPE_OF(TYPE_INT);
	size_t n;
	int rc;

	if (tsql_eval_value(ev, e->args[0], &v) < 0)
		return -1;
	n = tsql_eval_size(&v);
	if (type_info(v.type.id)->is_binary && type_info(e->cast.id)->is_text) /* two digits a byte */
		n *= 2;
	if (tsql_eval_room(ev, "The result of a conversion", n) < 0)
		return -1;
	if (e->nargs > 1) {
		if (tsql_eval_as(ev, e->args[1], &integer, &style) < 0)
			return -1;
		if (style.null) {
			value_set_null(ret, e->cast);
			return 0;
		}
		rc = value_convert_style(&v, &e->cast, (int)style.u.i, ev->arena, ret, ev->err);
	} else {
		rc = value_convert(&v, &e->cast, CONVERT_CAST, NULL, ev->arena, ret, ev->err);
	}
	if (rc < 0 && e->try_cast && !meter_gave_up(ev->meter) &&
	    (ev->err == NULL || ev->err->number != ERR_EXPLICIT_NUMBER)) {
		err_clear(ev->err);
		value_set_null(ret, e->cast);
		return 0;
	}
	return rc;
}

static int call(struct eval *ev, const struct expr *e, struct value *ret)
{
	struct fn_args f = { .ev = ev, .fn = e->fn, .expr = e, .n = e->nargs };
	struct value few[4], *v = few;

	assert(e->fn != NULL);
	if (e->fn->lazy)
		return e->fn->call(&f, ret);
	if (e->nargs > ARRAY_LEN(few)) {
		v = arena_array(ev->arena, e->nargs, sizeof(*v));
		if (v == NULL)
			return err_nomem(ev->err);
	}
	for (size_t i = 0; i < e->nargs; i++) {
		if (tsql_eval_value(ev, e->args[i], &v[i]) < 0)
			return -1;
		if (v[i].null && e->fn->null_in_null_out) {
			value_set_null(ret, e->type);
			return 0;
		}
		/* functions take time in proportion to their arguments; the others count by
		 * themselves */
		if (tsql_eval_spend(ev, tsql_eval_size(&v[i])) < 0)
			return -1;
	}
	f.v = v;
	return tsql_function_run(&f, ret);
}

int tsql_eval_value(struct eval *ev, const struct expr *e, struct value *ret)
{
	assert(e->depth <= EXPR_DEPTH);
	if (tsql_eval_spend(ev, NODE_STEPS) < 0)
		return -1;
	switch (e->kind) {
	case E_LITERAL: *ret = e->literal; return 0;
	case E_VARIABLE:
		assert(e->var >= 0);
		*ret = ev->slots[e->var].value;
		return 0;
	case E_UNARY: return unary(ev, e, ret);
	case E_BINARY: return binary(ev, e, ret);
	case E_CASE: return case_value(ev, e, ret);
	case E_CAST: return cast(ev, e, ret);
	case E_CALL: return call(ev, e, ret);
	default:
		return err_set(ev->err, ERR_NOT_SUPPORTED, "This expression outside a SELECT with FROM",
			       "Use a SELECT.");
	}
}

static bool holds(enum comparison op, int cmp)
{
	switch (op) {
	case CMP_EQ: return cmp == 0;
	case CMP_NE: return cmp != 0;
	case CMP_LT: return cmp < 0;
	case CMP_LE: return cmp <= 0;
	case CMP_GT: return cmp > 0;
	default: return cmp >= 0;
	}
}

static int compare_values(struct eval *ev, enum comparison op, const struct value *a, const struct value *b,
			  enum tri *ret)
{
	int cmp;

	if (a->null || b->null) {
		bool old_nulls = ev->host != NULL && !ev->host->vars->ansi_nulls &&
				 (op == CMP_EQ || op == CMP_NE);

		*ret = !old_nulls                               ? TRI_UNKNOWN
		       : (a->null && b->null) == (op == CMP_EQ) ? TRI_TRUE
								: TRI_FALSE;
		return 0;
	}
	if (tsql_eval_spend(ev, tsql_eval_size(a) + tsql_eval_size(b)) < 0 ||
	    value_compare(a, b, ev->arena, &cmp, ev->err) < 0)
		return -1;
	assert(!a->null && !b->null);
	*ret = holds(op, cmp) ? TRI_TRUE : TRI_FALSE;
	return 0;
}

static enum tri negate(enum tri t)
{
	return t == TRI_UNKNOWN ? t : t == TRI_TRUE ? TRI_FALSE : TRI_TRUE;
}

static int compare(struct eval *ev, const struct expr *e, enum tri *ret)
{
	struct value a, b;

	assert(e->nargs == 2);
	if (tsql_eval_value(ev, e->args[0], &a) < 0 || tsql_eval_value(ev, e->args[1], &b) < 0)
		return -1;
	return compare_values(ev, e->op, &a, &b, ret);
}

static int between(struct eval *ev, const struct expr *e, enum tri *ret)
{
	struct value v, low, high;
	enum tri a, b;

	assert(e->nargs == 3);
	if (tsql_eval_value(ev, e->args[0], &v) < 0 || tsql_eval_value(ev, e->args[1], &low) < 0 ||
	    tsql_eval_value(ev, e->args[2], &high) < 0 || compare_values(ev, CMP_GE, &v, &low, &a) < 0 ||
	    compare_values(ev, CMP_LE, &v, &high, &b) < 0)
		return -1;
	*ret = a == TRI_FALSE || b == TRI_FALSE ? TRI_FALSE
	       : a == TRI_TRUE && b == TRI_TRUE ? TRI_TRUE
						: TRI_UNKNOWN;
	return 0;
}

static int in_list(struct eval *ev, const struct expr *e, enum tri *ret)
{
	struct value v, w;
	enum tri t;

	assert(e->nargs >= 2);
	*ret = TRI_FALSE;
	if (tsql_eval_value(ev, e->args[0], &v) < 0)
		return -1;
	for (size_t i = 1; i < e->nargs && *ret != TRI_TRUE; i++) {
		if (tsql_eval_value(ev, e->args[i], &w) < 0 || compare_values(ev, CMP_EQ, &v, &w, &t) < 0)
			return -1;
		if (t != TRI_FALSE)
			*ret = t;
	}
	return 0;
}

int tsql_like_escape(struct str escape, struct err *reterr)
{
	char shown[33];

	if (pattern_is_escape(escape))
		return 0;
	str_copy(shown, sizeof(shown), escape);
	return err_set(reterr, ERR_LIKE_ESCAPE, shown);
}

static int like(struct eval *ev, const struct expr *e, enum tri *ret)
{
	struct str part[3] = { { "", 0 }, { "", 0 }, { "", 0 } };
	struct pattern pattern;
	bool unicode = false;
	struct value v;
	int rc;

	assert(e->nargs == 2 || e->nargs == 3);
	for (size_t i = 0; i < e->nargs; i++) {
		if (tsql_eval_value(ev, e->args[i], &v) < 0 || tsql_eval_spend(ev, tsql_eval_size(&v)) < 0)
			return -1;
		if (v.null) {
			*ret = TRI_UNKNOWN;
			return 0;
		}
		if (value_to_text(&v, ev->arena, &part[i], ev->err) < 0)
			return -1;
		unicode = unicode || (i < 2 && type_info(v.type.id)->is_unicode);
	}
	if (e->nargs > 2 && tsql_like_escape(part[2], ev->err) < 0)
		return -1;
	pattern = pattern_of_tsql(part[1], part[2], unicode);
	rc = pattern_match(&pattern, part[0], ev->meter);
	if (rc < 0)
		return err_set(ev->err, ERR_CANCELLED);
	*ret = rc > 0 ? TRI_TRUE : TRI_FALSE;
	return 0;
}

static int junction(struct eval *ev, const struct expr *e, enum tri *ret)
{
	enum tri decisive = e->kind == E_AND ? TRI_FALSE : TRI_TRUE;
	enum tri t;

	*ret = negate(decisive);
	for (size_t i = 0; i < e->nargs; i++) {
		if (tsql_eval_condition(ev, e->args[i], &t) < 0)
			return -1;
		if (t == decisive) {
			*ret = t;
			return 0;
		}
		if (t == TRI_UNKNOWN)
			*ret = t;
	}
	return 0;
}

int tsql_eval_condition(struct eval *ev, const struct expr *e, enum tri *ret)
{
	struct value v;
	enum tri t = TRI_UNKNOWN;
	int rc;

	switch (e->kind) {
	case E_COMPARE: return compare(ev, e, ret);
	case E_AND:
	case E_OR: return junction(ev, e, ret);
	case E_NOT:
		rc = tsql_eval_condition(ev, e->args[0], &t);
		*ret = negate(t);
		return rc;
	case E_IS_NULL:
		rc = tsql_eval_value(ev, e->args[0], &v);
		t = rc == 0 && v.null ? TRI_TRUE : TRI_FALSE;
		break;
	case E_BETWEEN: rc = between(ev, e, &t); break;
	case E_IN: rc = in_list(ev, e, &t); break;
	case E_LIKE: rc = like(ev, e, &t); break;
	default:
		return err_set(ev->err, ERR_NOT_SUPPORTED, "This condition outside a SELECT with FROM",
			       "Use a SELECT.");
	}
	*ret = e->negated ? negate(t) : t;
	return rc;
}
