/* call.c — functions, CAST and CONVERT, aggregates, CASE, @@ variables. */
#include "tsql/parse/parser.h"

#include "tsql/eval/dateparts.h"
#include "tsql/eval/functions.h"

int p_expr_list(struct parser *p, const struct expr ***ret, size_t *ret_n)
{
	const struct expr **list = NULL;
	size_t n = 0, cap = 0;
	int more = !p_is_op(p, ')');

	while (more > 0) {
		if (p_grow(p, (void **)&list, n, &cap, EXPR_POINTER) < 0 || p_expr(p, &list[n]) < 0)
			return -1;
		n++;
		more = p_accept_op(p, ',');
	}
	if (more < 0 || p_expect_op(p, ')') < 0)
		return -1;
	*ret = list;
	*ret_n = n;
	return 0;
}

static int cast(struct parser *p, int line, bool try_cast, const struct expr **ret)
{
	const struct expr *operand;
	struct expr *e;

	if (p_expect_op(p, '(') < 0 || p_expr(p, &operand) < 0 || p_expect(p, "AS") < 0 ||
	    p_node1(p, E_CAST, line, operand, &e) < 0 || p_type(p, true, 1, &e->cast) < 0 ||
	    p_expect_op(p, ')') < 0)
		return -1;
	e->try_cast = try_cast;
	*ret = e;
	return p_finish_node(p, e);
}

static int convert(struct parser *p, int line, bool try_cast, const struct expr **ret)
{
	const struct expr **args = arena_array(p->arena, 2, EXPR_POINTER);
	struct type type;
	struct expr *e;
	int style;

	if (args == NULL)
		return p_nomem(p);
	if (p_expect_op(p, '(') < 0 || p_type(p, true, 1, &type) < 0 || p_expect_op(p, ',') < 0 ||
	    p_expr(p, &args[0]) < 0 || (style = p_accept_op(p, ',')) < 0 ||
	    (style > 0 && p_expr(p, &args[1]) < 0) || p_expect_op(p, ')') < 0 ||
	    p_node(p, E_CAST, line, args, style > 0 ? 2 : 1, &e) < 0)
		return -1;
	e->cast = type;
	e->try_cast = try_cast;
	*ret = e;
	return p_finish_node(p, e);
}

static const struct {
	const char *name;
	uint8_t op;
} aggregates[] = {
	{ "COUNT", AGG_COUNT }, { "COUNT_BIG", AGG_COUNT_BIG },
	{ "SUM", AGG_SUM },     { "MIN", AGG_MIN },
	{ "MAX", AGG_MAX },     { "AVG", AGG_AVG },
};

static int aggregate(struct parser *p, uint8_t op, int line, const struct expr **ret)
{
	const struct expr *operand;
	bool star, distinct = false;
	struct expr *e;
	int rc;

	if (p_expect_op(p, '(') < 0)
		return -1;
	star = p_is_op(p, '*') && (op == AGG_COUNT || op == AGG_COUNT_BIG);
	if (star) {
		if (p_next(p) < 0 || p_node(p, E_AGGREGATE, line, NULL, 0, &e) < 0)
			return -1;
	} else {
		rc = p_accept(p, "DISTINCT");
		distinct = rc > 0;
		if (rc < 0 || p_accept(p, "ALL") < 0 || p_expr(p, &operand) < 0 ||
		    p_node1(p, E_AGGREGATE, line, operand, &e) < 0)
			return -1;
	}
	e->op = op;
	e->distinct = distinct;
	*ret = e;
	if (p_expect_op(p, ')') < 0)
		return -1;
	if (p_is(p, "OVER"))
		return p_not_supported(p, line, "A window function (OVER)", "Use GROUP BY instead.");
	if (!p->in_store_query)
		return p_syntax(p);
	return 0;
}

static int argument_count(struct parser *p, const struct function *f, size_t n, int line)
{
	if (n >= f->min && n <= f->max)
		return 0;
	if (f->min == f->max)
		err_raise(p->err, 174, 15, 1, "The %s function requires %d argument(s).", f->name, f->min);
	else
		err_raise(p->err, 189, 15, 1, "The %s function requires %d to %d arguments.", f->name, f->min,
			  f->max);
	return p_fail(p, line);
}

/* The first argument of DATEADD and its kin is a word, not a value. */
static int datepart_word(struct parser *p, const struct function *f, const struct expr **ret)
{
	enum datepart part;
	char shown[60];
	struct value v;

	if (p->tok.kind != T_NAME)
		return p_syntax(p);
	if (!datepart_by_name(p->tok.text, &part)) {
		str_copy(shown, sizeof(shown), p->tok.text);
		err_raise(p->err, 155, 15, 1, "'%s' is not a recognized %s option.", shown, f->name);
		return p_fail(p, p->tok.line);
	}
	v = value_int(TYPE_INT, part);
	return p_literal(p, &v, p->tok.line, ret) < 0 ? -1 : p_next(p);
}

static int dated_arguments(struct parser *p, const struct function *f, const struct expr ***ret,
			   size_t *ret_n)
{
	const struct expr **rest, **all;
	const struct expr *part;
	size_t n;

	if (datepart_word(p, f, &part) < 0 || p_expect_op(p, ',') < 0 || p_expr_list(p, &rest, &n) < 0)
		return -1;
	all = arena_array(p->arena, n + 1, EXPR_POINTER);
	if (all == NULL)
		return p_nomem(p);
	all[0] = part;
	for (size_t i = 0; i < n; i++)
		all[i + 1] = rest[i];
	*ret = all;
	*ret_n = n + 1;
	return 0;
}

/* IIF(condition, a, b): the only function whose argument is a predicate. */
static int iif_arguments(struct parser *p, const struct expr ***ret, size_t *ret_n)
{
	const struct expr **args = arena_array(p->arena, 3, EXPR_POINTER);

	if (args == NULL)
		return p_nomem(p);
	if (p_condition(p, &args[0]) < 0 || p_expect_op(p, ',') < 0 || p_expr(p, &args[1]) < 0 ||
	    p_expect_op(p, ',') < 0 || p_expr(p, &args[2]) < 0 || p_expect_op(p, ')') < 0)
		return -1;
	*ret = args;
	*ret_n = 3;
	return 0;
}

static int unknown_function(struct parser *p, struct str name, int line)
{
	char shown[129];

	str_copy(shown, sizeof(shown), name);
	err_set(p->err, ERR_NOT_RECOGNIZED, shown, "built-in function name");
	return p_fail(p, line);
}

static int function_call(struct parser *p, struct str name, int line, const struct expr **ret)
{
	const struct function *f = function_find(name);
	const struct expr **args = NULL;
	size_t n = 0;
	struct expr *e;

	if (f == NULL || f->name[0] == '@')
		return unknown_function(p, name, line);
	if (!f->no_parens || p_is_op(p, '(')) {
		if (p_expect_op(p, '(') < 0)
			return -1;
		if (f->datepart                    ? dated_arguments(p, f, &args, &n) < 0
		    : f->lazy && f->call == fn_iif ? iif_arguments(p, &args, &n) < 0
						   : p_expr_list(p, &args, &n) < 0)
			return -1;
	}
	if (argument_count(p, f, n, line) < 0 || p_node(p, E_CALL, line, args, n, &e) < 0)
		return -1;
	e->fn = f;
	*ret = e;
	return p_finish_node(p, e);
}

/* The name was consumed; the parenthesis comes next. */
int p_call(struct parser *p, struct str name, int line, const struct expr **ret)
{
	int rc;

	if (p_enter(p) < 0)
		return -1;
	if (str_eq_nocase(name, STR("CAST")) || str_eq_nocase(name, STR("TRY_CAST"))) {
		rc = cast(p, line, name.n > 4, ret);
	} else if (str_eq_nocase(name, STR("CONVERT")) || str_eq_nocase(name, STR("TRY_CONVERT"))) {
		rc = convert(p, line, name.n > 7, ret);
	} else {
		size_t i = 0;

		while (i < ARRAY_LEN(aggregates) && !str_eq_nocase(name, str_of(aggregates[i].name)))
			i++;
		rc = i < ARRAY_LEN(aggregates) ? aggregate(p, aggregates[i].op, line, ret)
					       : function_call(p, name, line, ret);
	}
	p_leave(p);
	return rc;
}

int p_case(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line, rc;
	const struct expr **args = NULL;
	size_t n = 0, cap = 0, first;
	struct expr *e;

	if (p_enter(p) < 0 || p_next(p) < 0 || p_grow(p, (void **)&args, n, &cap, EXPR_POINTER) < 0)
		return -1;
	if (!p_is(p, "WHEN") && p_expr(p, &args[n++]) < 0)
		return -1;
	first = n;
	while ((rc = p_accept(p, "WHEN")) > 0) {
		if (p_grow(p, (void **)&args, n + 2, &cap, EXPR_POINTER) < 0)
			return -1;
		if ((first > 0 ? p_expr(p, &args[n]) : p_condition(p, &args[n])) < 0 ||
		    p_expect(p, "THEN") < 0 || p_expr(p, &args[n + 1]) < 0)
			return -1;
		n += 2;
	}
	if (rc < 0)
		return -1;
	if (n == first)
		return p_syntax(p);
	rc = p_accept(p, "ELSE");
	if (rc < 0 || (rc > 0 && p_expr(p, &args[n++]) < 0) || p_expect(p, "END") < 0 ||
	    p_node(p, E_CASE, line, args, n, &e) < 0)
		return -1;
	e->has_operand = first > 0;
	e->has_else = rc > 0;
	*ret = e;
	p_leave(p);
	return p_finish_node(p, e);
}

int p_global(struct parser *p, const struct expr **ret)
{
	const struct function *f = function_find(p->tok.text);
	struct expr *e;

	if (f == NULL) {
		char shown[129];

		str_copy(shown, sizeof(shown), p->tok.text);
		err_set(p->err, ERR_NO_VARIABLE, shown);
		return p_fail(p, p->tok.line);
	}
	if (p_node(p, E_CALL, p->tok.line, NULL, 0, &e) < 0 || p_next(p) < 0)
		return -1;
	e->fn = f;
	*ret = e;
	return p_finish_node(p, e);
}
