/* call.c — functions, CAST and CONVERT, aggregates, CASE, @@ variables. */
#include "tsql/parse/parser.h"

#include "tsql/eval/dateparts.h"
#include "tsql/eval/functions.h"

int tsql_parse_expr_list(struct parser *p, const struct expr ***ret, size_t *ret_n)
{
	const struct expr **list = NULL;
	size_t n = 0, cap = 0;
	int more = !tsql_parse_is_op(p, ')');

	while (more > 0) {
		if (tsql_parse_grow(p, (void **)&list, n, &cap, EXPR_POINTER) < 0 ||
		    tsql_parse_expr(p, &list[n]) < 0)
			return -1;
		n++;
		more = tsql_parse_accept_op(p, ',');
	}
	if (more < 0 || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	*ret = list;
	*ret_n = n;
	return 0;
}

static int cast(struct parser *p, int line, bool try_cast, const struct expr **ret)
{
	const struct expr *operand;
	struct expr *e;

	if (tsql_parse_expect_op(p, '(') < 0 || tsql_parse_expr(p, &operand) < 0 ||
	    tsql_parse_expect(p, "AS") < 0 || tsql_parse_node1(p, E_CAST, line, operand, &e) < 0 ||
	    tsql_parse_type(p, true, 1, &e->cast) < 0 || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	e->try_cast = try_cast;
	*ret = e;
	return tsql_parse_finish_node(p, e);
}

static int convert(struct parser *p, int line, bool try_cast, const struct expr **ret)
{
	const struct expr **args = arena_array(p->arena, 2, EXPR_POINTER);
	struct type type;
	struct expr *e;
	int style;

	if (args == NULL)
		return tsql_parse_nomem(p);
	if (tsql_parse_expect_op(p, '(') < 0 || tsql_parse_type(p, true, 1, &type) < 0 ||
	    tsql_parse_expect_op(p, ',') < 0 || tsql_parse_expr(p, &args[0]) < 0 ||
	    (style = tsql_parse_accept_op(p, ',')) < 0 || (style > 0 && tsql_parse_expr(p, &args[1]) < 0) ||
	    tsql_parse_expect_op(p, ')') < 0 ||
	    tsql_parse_node(p, E_CAST, line, args, style > 0 ? 2 : 1, &e) < 0)
		return -1;
	e->cast = type;
	e->try_cast = try_cast;
	*ret = e;
	return tsql_parse_finish_node(p, e);
}

static const struct {
	const char *name;
	uint8_t op;
} aggregates[] = {
	{ "COUNT", AGG_COUNT },       { "COUNT_BIG", AGG_COUNT_BIG },
	{ "SUM", AGG_SUM },           { "MIN", AGG_MIN },
	{ "MAX", AGG_MAX },           { "AVG", AGG_AVG },
	{ "STRING_AGG", AGG_STRING },
};

/* STRING_AGG(text, separator) */
static int string_agg(struct parser *p, int line, struct expr **ret)
{
	const struct expr *text, *separator;

	if (tsql_parse_expr(p, &text) < 0 || tsql_parse_expect_op(p, ',') < 0 ||
	    tsql_parse_expr(p, &separator) < 0)
		return -1;
	return tsql_parse_node2(p, E_AGGREGATE, line, text, separator, ret);
}

static int aggregate(struct parser *p, uint8_t op, int line, const struct expr **ret)
{
	const struct expr *operand;
	bool star, distinct = false;
	struct expr *e;
	int rc;

	if (tsql_parse_expect_op(p, '(') < 0)
		return -1;
	star = tsql_parse_is_op(p, '*') && (op == AGG_COUNT || op == AGG_COUNT_BIG);
	if (star) {
		if (tsql_parse_next(p) < 0 || tsql_parse_node(p, E_AGGREGATE, line, NULL, 0, &e) < 0)
			return -1;
	} else if (op == AGG_STRING) {
		if (string_agg(p, line, &e) < 0)
			return -1;
	} else {
		rc = tsql_parse_accept(p, "DISTINCT");
		distinct = rc > 0;
		if (rc < 0 || tsql_parse_accept(p, "ALL") < 0 || tsql_parse_expr(p, &operand) < 0 ||
		    tsql_parse_node1(p, E_AGGREGATE, line, operand, &e) < 0)
			return -1;
	}
	e->op = op;
	e->distinct = distinct;
	*ret = e;
	if (tsql_parse_expect_op(p, ')') < 0)
		return -1;
	if (tsql_parse_is(p, "OVER"))
		return tsql_parse_not_supported(p, line, "A window function (OVER)", "Use GROUP BY instead.");
	if (tsql_parse_is(p, "WITHIN"))
		return tsql_parse_not_supported(p, line, "STRING_AGG … WITHIN GROUP",
						"Sort the rows in the client.");
	if (!p->in_store_query)
		return tsql_parse_syntax(p);
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
	return tsql_parse_fail(p, line);
}

/* The first argument of DATEADD and its kin is a word, not a value. */
static int datepart_word(struct parser *p, const struct function *f, const struct expr **ret)
{
	enum datepart part;
	char shown[60];
	struct value v;

	if (p->tok.kind != T_NAME)
		return tsql_parse_syntax(p);
	if (!tsql_datepart_by_name(p->tok.text, &part)) {
		str_copy(shown, sizeof(shown), p->tok.text);
		err_raise(p->err, 155, 15, 1, "'%s' is not a recognized %s option.", shown, f->name);
		return tsql_parse_fail(p, p->tok.line);
	}
	v = value_int(TYPE_INT, part);
	return tsql_parse_literal(p, &v, p->tok.line, ret) < 0 ? -1 : tsql_parse_next(p);
}

static int dated_arguments(struct parser *p, const struct function *f, const struct expr ***ret,
			   size_t *ret_n)
{
	const struct expr **rest, **all;
	const struct expr *part;
	size_t n;

	if (datepart_word(p, f, &part) < 0 || tsql_parse_expect_op(p, ',') < 0 ||
	    tsql_parse_expr_list(p, &rest, &n) < 0)
		return -1;
	all = arena_array(p->arena, n + 1, EXPR_POINTER);
	if (all == NULL)
		return tsql_parse_nomem(p);
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
		return tsql_parse_nomem(p);
	if (tsql_parse_condition(p, &args[0]) < 0 || tsql_parse_expect_op(p, ',') < 0 ||
	    tsql_parse_expr(p, &args[1]) < 0 || tsql_parse_expect_op(p, ',') < 0 ||
	    tsql_parse_expr(p, &args[2]) < 0 || tsql_parse_expect_op(p, ')') < 0)
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
	return tsql_parse_fail(p, line);
}

static int function_call(struct parser *p, struct str name, int line, const struct expr **ret)
{
	const struct function *f = tsql_function_find(name);
	const struct expr **args = NULL;
	size_t n = 0;
	struct expr *e;

	if (f == NULL || f->name[0] == '@')
		return unknown_function(p, name, line);
	if (!f->no_parens || tsql_parse_is_op(p, '(')) {
		if (tsql_parse_expect_op(p, '(') < 0)
			return -1;
		if (f->datepart                         ? dated_arguments(p, f, &args, &n) < 0
		    : f->lazy && f->call == tsql_fn_iif ? iif_arguments(p, &args, &n) < 0
							: tsql_parse_expr_list(p, &args, &n) < 0)
			return -1;
	}
	if (argument_count(p, f, n, line) < 0 || tsql_parse_node(p, E_CALL, line, args, n, &e) < 0)
		return -1;
	e->fn = f;
	*ret = e;
	return tsql_parse_finish_node(p, e);
}

/* The name was consumed; the parenthesis comes next. */
int tsql_parse_call(struct parser *p, struct str name, int line, const struct expr **ret)
{
	int rc;

	if (tsql_parse_enter(p) < 0)
		return -1;
	if (str_eq_nocase(name, STR("CAST")) || str_eq_nocase(name, STR("TRY_CAST"))) {
		rc = cast(p, line, name.n > 4, ret);
	} else if (str_eq_nocase(name, STR("CONVERT")) || str_eq_nocase(name, STR("TRY_CONVERT"))) {
		rc = convert(p, line, name.n > 7, ret);
	} else if (str_eq_nocase(name, STR("ROW_NUMBER"))) {
		rc = tsql_parse_row_number(p, line, ret);
	} else {
		size_t i = 0;

		while (i < ARRAY_LEN(aggregates) && !str_eq_nocase(name, str_of(aggregates[i].name)))
			i++;
		rc = i < ARRAY_LEN(aggregates) ? aggregate(p, aggregates[i].op, line, ret)
					       : function_call(p, name, line, ret);
	}
	tsql_parse_leave(p);
	return rc;
}

int tsql_parse_case(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line, rc;
	const struct expr **args = NULL;
	size_t n = 0, cap = 0, first;
	struct expr *e;

	if (tsql_parse_enter(p) < 0 || tsql_parse_next(p) < 0 ||
	    tsql_parse_grow(p, (void **)&args, n, &cap, EXPR_POINTER) < 0)
		return -1;
	if (!tsql_parse_is(p, "WHEN") && tsql_parse_expr(p, &args[n++]) < 0)
		return -1;
	first = n;
	while ((rc = tsql_parse_accept(p, "WHEN")) > 0) {
		if (tsql_parse_grow(p, (void **)&args, n + 2, &cap, EXPR_POINTER) < 0)
			return -1;
		if ((first > 0 ? tsql_parse_expr(p, &args[n]) : tsql_parse_condition(p, &args[n])) < 0 ||
		    tsql_parse_expect(p, "THEN") < 0 || tsql_parse_expr(p, &args[n + 1]) < 0)
			return -1;
		n += 2;
	}
	if (rc < 0)
		return -1;
	if (n == first)
		return tsql_parse_syntax(p);
	rc = tsql_parse_accept(p, "ELSE");
	if (rc < 0 || (rc > 0 && tsql_parse_expr(p, &args[n++]) < 0) || tsql_parse_expect(p, "END") < 0 ||
	    tsql_parse_node(p, E_CASE, line, args, n, &e) < 0)
		return -1;
	e->has_operand = first > 0;
	e->has_else = rc > 0;
	*ret = e;
	tsql_parse_leave(p);
	return tsql_parse_finish_node(p, e);
}

int tsql_parse_global(struct parser *p, const struct expr **ret)
{
	const struct function *f = tsql_function_find(p->tok.text);
	struct expr *e;

	if (f == NULL) {
		char shown[129];

		str_copy(shown, sizeof(shown), p->tok.text);
		err_set(p->err, ERR_NO_VARIABLE, shown);
		return tsql_parse_fail(p, p->tok.line);
	}
	if (tsql_parse_node(p, E_CALL, p->tok.line, NULL, 0, &e) < 0 || tsql_parse_next(p) < 0)
		return -1;
	e->fn = f;
	*ret = e;
	return tsql_parse_finish_node(p, e);
}
