/* suggest.c — which type a parameter that nobody declared should have, by what it meets in an
 * expression without columns: for sp_describe_undeclared_parameters. SQL Server's rules, in short:
 * beside =, in IN, CAST and calls the type of the other side; elsewhere the widest type of that
 * kind; two such parameters in one expression tell nothing about each other. */
#include "tsql/eval/eval.h"

#include <string.h>

#include "tsql/eval/functions.h"

static struct tsql_undeclared *entry_of(const struct eval *ev, const struct expr *e)
{
	struct tsql_undeclared *u = e->kind == E_VARIABLE ? &ev->undeclared[e->var] : NULL;

	return u != NULL && u->name.n > 0 ? u : NULL;
}

/* An undeclared parameter somewhere in it; NULL: none, or the meter gave up. */
static struct tsql_undeclared *any_in(struct eval *ev, const struct expr *e)
{
	struct tsql_undeclared *u = tsql_eval_spend(ev, 4) < 0 ? NULL : entry_of(ev, e);

	for (size_t i = 0; u == NULL && i < e->nargs; i++)
		u = any_in(ev, e->args[i]);
	return u;
}

/* The widest type of the kind. */
static struct type wide(const struct type *t)
{
	const struct type_info *info = type_info(t->id);

	if (t->id == TYPE_DECIMAL || t->id == TYPE_NUMERIC)
		return TYPE_NUM(TYPE_NUMERIC, 38, 19);
	if (info->is_text && t->id != TYPE_XML)
		return TYPE_LEN(info->is_unicode ? TYPE_NVARCHAR : TYPE_VARCHAR, type_is_max(t)     ? TYPE_MAX
										 : info->is_unicode ? 4000
												    : 8000);
	if (info->is_binary)
		return TYPE_LEN(TYPE_VARBINARY, type_is_max(t) ? TYPE_MAX : 8000);
	if (info->is_time && info->has_scale)
		return TYPE_NUM(t->id, 0, 7);
	return *t;
}

static int two_untyped(struct eval *ev, const struct tsql_undeclared *a, const struct tsql_undeclared *b)
{
	char first[129], second[129];

	str_copy(first, sizeof(first), a->name);
	str_copy(second, sizeof(second), b->name);
	return err_set(ev->err, ERR_TWO_UNTYPED, first, second);
}

/* Two that meet each other: each gets the other's type. */
static int meet(struct eval *ev, const struct expr *a, const struct expr *b, enum suggestion how)
{
	const struct tsql_undeclared *in_a = any_in(ev, a), *in_b = any_in(ev, b);

	if (in_a != NULL && in_b != NULL)
		return two_untyped(ev, in_a, in_b);
	return tsql_suggest_value(ev, a, &b->type, how) < 0 ? -1 : tsql_suggest_value(ev, b, &a->type, how);
}

/* The operands of arithmetic: of the other's type, or of the result's where that is the larger. */
static int operands(struct eval *ev, const struct expr *e, const struct type *want)
{
	const struct expr *a = e->args[0], *b = e->args[1];
	struct type t;

	if (meet(ev, a, b, SUGGEST_WIDE) < 0)
		return -1;
	if (want == NULL || want->id == TYPE_NULL)
		return 0;
	t = tsql_type_common_known(want, any_in(ev, a) != NULL ? &b->type : &a->type);
	return tsql_suggest_value(ev, a, &t, SUGGEST_WIDE) < 0 ? -1
							       : tsql_suggest_value(ev, b, &t, SUGGEST_WIDE);
}

/* Values of which one is the result: all of one type. */
static int alternatives(struct eval *ev, const struct expr *e, size_t from, size_t step,
			const struct type *want)
{
	struct type t = want != NULL && want->id != TYPE_NULL ? *want : e->type;

	for (size_t i = from; i < e->nargs; i += step) {
		if (tsql_suggest_value(ev, e->args[i], &t, SUGGEST_WIDE) < 0)
			return -1;
	}
	return 0;
}

static int choice(struct eval *ev, const struct expr *e, const struct type *want)
{
	size_t first = e->has_operand ? 1 : 0, last = e->nargs - (e->has_else ? 1 : 0);

	for (size_t i = first; i < last; i += 2) {
		if (e->has_operand ? meet(ev, e->args[0], e->args[i], SUGGEST_SAME) < 0
				   : tsql_suggest_condition(ev, e->args[i]) < 0)
			return -1;
	}
	if (e->has_else &&
	    tsql_suggest_value(ev, e->args[last], want != NULL ? want : &e->type, SUGGEST_WIDE) < 0)
		return -1;
	for (size_t i = first + 1; i < last; i += 2) {
		if (tsql_suggest_value(ev, e->args[i], want != NULL ? want : &e->type, SUGGEST_WIDE) < 0)
			return -1;
	}
	return 0;
}

/* Of the functions about objects those that give a name take a number, the others a name. */
static int asked_about(struct eval *ev, const struct expr *e)
{
	const struct type number = TYPE_OF(TYPE_INT), name = TYPE_LEN(TYPE_NVARCHAR, 4000);
	size_t n = strlen(e->fn->name);
	bool gives_name = n > 5 && strcmp(e->fn->name + n - 5, "_NAME") == 0;

	for (size_t i = 0; i < e->nargs; i++) {
		if (tsql_suggest_value(ev, e->args[i], gives_name ? &number : &name, SUGGEST_SAME) < 0)
			return -1;
	}
	return 0;
}

/* DATEADD(part, number, date) */
static int date_and_number(struct eval *ev, const struct expr *e)
{
	const struct type number = TYPE_OF(TYPE_INT), date = TYPE_OF(TYPE_DATETIME);

	return tsql_suggest_value(ev, e->args[1], &number, SUGGEST_SAME) < 0
		       ? -1
		       : tsql_suggest_value(ev, e->args[2], &date, SUGGEST_SAME);
}

/* What a function takes is known where it takes what it gives; other arguments tell nothing. */
static int arguments(struct eval *ev, const struct expr *e, const struct type *want)
{
	const struct type text = TYPE_LEN(TYPE_NVARCHAR, 4000);

	switch (e->fn->rule) {
	case R_COMMON: return alternatives(ev, e, 0, 1, want);
	case R_COMMON_REST:
		if (tsql_expr_is_predicate(e->args[0]) && tsql_suggest_condition(ev, e->args[0]) < 0)
			return -1;
		return alternatives(ev, e, 1, 1, want);
	case R_TEXT:
	case R_TEXT_MAX: return tsql_suggest_value(ev, e->args[0], &text, SUGGEST_SAME);
	case R_TEXT_ALL: return alternatives(ev, e, 0, 1, &text);
	case R_DATE: return date_and_number(ev, e);
	default: return e->fn->call == NULL ? asked_about(ev, e) : 0;
	}
}

int tsql_suggest_value(struct eval *ev, const struct expr *e, const struct type *want, enum suggestion how)
{
	struct tsql_undeclared *u;

	if (ev->undeclared == NULL)
		return 0;
	if (tsql_eval_spend(ev, 4) < 0)
		return -1;
	u = entry_of(ev, e);
	if (u != NULL && want != NULL && want->id != TYPE_NULL)
		u->type = how == SUGGEST_SAME ? *want : wide(want);
	if (e->in_query || any_in(ev, e) == NULL)
		return 0; /* what stands beside columns is met where these are known */
	switch (e->kind) {
	case E_UNARY: return tsql_suggest_value(ev, e->args[0], want, SUGGEST_WIDE);
	case E_BINARY: return operands(ev, e, want);
	case E_CASE: return choice(ev, e, want);
	case E_CAST: return tsql_suggest_value(ev, e->args[0], &e->cast, SUGGEST_SAME);
	case E_CALL: return arguments(ev, e, want);
	default: return 0;
	}
}

static int between(struct eval *ev, const struct expr *e)
{
	return meet(ev, e->args[0], e->args[1], SUGGEST_WIDE) < 0
		       ? -1
		       : meet(ev, e->args[0], e->args[2], SUGGEST_WIDE);
}

static int in_list(struct eval *ev, const struct expr *e)
{
	struct type all = TYPE_OF(TYPE_NULL);

	for (size_t i = 1; i < e->nargs; i++) {
		if (meet(ev, e->args[0], e->args[i], SUGGEST_SAME) < 0)
			return -1;
		all = tsql_type_common_known(&all, &e->args[i]->type);
	}
	return tsql_suggest_value(ev, e->args[0], &all, SUGGEST_SAME);
}

static int like(struct eval *ev, const struct expr *e)
{
	const struct type text = TYPE_LEN(TYPE_NVARCHAR, 4000);

	for (size_t i = 0; i < e->nargs; i++) {
		if (tsql_suggest_value(ev, e->args[i], &text, SUGGEST_SAME) < 0)
			return -1;
	}
	return 0;
}

int tsql_suggest_condition(struct eval *ev, const struct expr *e)
{
	if (ev->undeclared == NULL || e->in_query)
		return 0;
	switch (e->kind) {
	case E_COMPARE:
		return meet(ev, e->args[0], e->args[1],
			    e->op == CMP_EQ || e->op == CMP_NE ? SUGGEST_SAME : SUGGEST_WIDE);
	case E_AND:
	case E_OR:
	case E_NOT:
		for (size_t i = 0; i < e->nargs; i++) {
			if (tsql_suggest_condition(ev, e->args[i]) < 0)
				return -1;
		}
		return 0;
	case E_BETWEEN: return between(ev, e);
	case E_IN: return in_list(ev, e);
	case E_LIKE: return like(ev, e);
	case E_IS_NULL: return tsql_suggest_value(ev, e->args[0], NULL, SUGGEST_WIDE);
	default: return 0;
	}
}
