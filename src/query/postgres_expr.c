/* postgres_expr.c — expressions and conditions as PostgreSQL's SQL. */
#include <assert.h>
#include <string.h>

#include "query/postgres.h"

static void around(struct query_postgres *w, struct str before, const struct query_node *n, struct str after)
{
	query_text_put(w->t, before);
	query_postgres_expr(w, n);
	query_text_put(w->t, after);
}

void query_postgres_as_text(struct query_postgres *w, const struct query_node *n)
{
	/* functions that search do not take the collation of names */
	around(w, STR("(CAST("), n, STR(" AS text) COLLATE \"C\")"));
}

void query_postgres_key(struct query_postgres *w, const struct query_node *n, uint8_t order)
{
	if (order == ORDER_PLAIN) {
		query_postgres_expr(w, n);
		return;
	}
	query_text_put(w->t, order == ORDER_EXACT ? STR("tsql_exact(") : STR("tsql_names("));
	query_postgres_as_text(w, n);
	query_text_put(w->t, STR(")"));
}

void query_postgres_rank(struct query_postgres *w, const struct query_node *n, uint8_t order)
{
	if (order != ORDER_EXACT) {
		query_postgres_key(w, n, order);
		return;
	}
	query_text_put(w->t, STR("tsql_rank("));
	query_postgres_as_text(w, n);
	query_text_put(w->t, STR(")"));
}

/* Decimals travel and are kept as texts; a number is what is meant. */
static bool is_decimal(const struct type *t)
{
	return t->id == TYPE_DECIMAL || t->id == TYPE_NUMERIC;
}

/* Of a variant that which it holds. */
static void value(struct query_postgres *w, const struct query_node *n)
{
	const struct value *v = &n->value;
	size_t number;

	if (v->type.id == TYPE_VARIANT && !v->null)
		v = v->u.variant;
	number = query_text_bind(w->t, v);
	query_text_format(w->t, is_decimal(&v->type) ? "CAST($%zu AS numeric)" : "$%zu", number);
}

static bool is_bytes(const struct query_node *n)
{
	return type_info(n->type.id)->is_binary || n->type.id == TYPE_GUID;
}

/* Of a group all rows have the same value here, but for case and blanks: the least is as good as
 * any. */
static void column(struct query_postgres *w, const struct query_node *n)
{
	if (w->grouped)
		query_text_put(w->t, is_bytes(n)               ? STR("tsql_min(")
				     : n->order == ORDER_PLAIN ? STR("min(")
							       : STR("min(CAST("));
	if (is_decimal(&n->type))
		query_text_put(w->t, STR("CAST("));
	query_text_column(w->t, n->source, n->column);
	if (is_decimal(&n->type))
		query_text_put(w->t, STR(" AS numeric)"));
	if (w->grouped)
		query_text_put(w->t, n->order == ORDER_PLAIN ? STR(")") : STR(" AS text) COLLATE \"C\")"));
}

static void binary(struct query_postgres *w, const struct query_node *n, struct str operator, struct str end)
{
	query_text_put(w->t, STR("("));
	query_postgres_expr(w, n->args[0]);
	query_text_put(w->t, operator);
	query_postgres_expr(w, n->args[1]);
	query_text_put(w->t, end);
}

/* What is divided by 0 is NULL, as in SQLite. */
static void arithmetic(struct query_postgres *w, const struct query_node *n)
{
	switch (n->op) {
	case OP_ADD: binary(w, n, STR(" + "), STR(")")); break;
	case OP_SUB: binary(w, n, STR(" - "), STR(")")); break;
	case OP_MUL: binary(w, n, STR(" * "), STR(")")); break;
	case OP_DIV: binary(w, n, STR(" / nullif("), STR(", 0))")); break;
	case OP_MOD: binary(w, n, STR(" % nullif("), STR(", 0))")); break;
	case OP_AND: binary(w, n, STR(" & "), STR(")")); break;
	case OP_XOR: binary(w, n, STR(" # "), STR(")")); break;
	default: binary(w, n, STR(" | "), STR(")")); break;
	}
}

static void join_text(struct query_postgres *w, const struct query_node *n)
{
	query_text_put(w->t, STR("("));
	query_postgres_as_text(w, n->args[0]);
	query_text_put(w->t, STR(" || "));
	query_postgres_as_text(w, n->args[1]);
	query_text_put(w->t, STR(")"));
}

/* What a CASE may be: values of different types, whose common one here is text, when it is a
 * variant. */
static void outcome(struct query_postgres *w, const struct query_node *whole, const struct query_node *n)
{
	if (whole->type.id == TYPE_VARIANT)
		query_postgres_as_text(w, n);
	else
		query_postgres_expr(w, n);
}

static void choice(struct query_postgres *w, const struct query_node *n)
{
	query_text_put(w->t, STR("CASE"));
	for (size_t i = 0; i + 1 < n->nargs; i += 2) {
		query_text_put(w->t, STR(" WHEN "));
		query_postgres_condition(w, n->args[i]);
		query_text_put(w->t, STR(" THEN "));
		outcome(w, n, n->args[i + 1]);
	}
	if (n->has_else) {
		query_text_put(w->t, STR(" ELSE "));
		outcome(w, n, n->args[n->nargs - 1]);
	}
	query_text_put(w->t, STR(" END"));
}

static void unary(struct query_postgres *w, const struct query_node *n)
{
	if (n->op == '~' && n->type.id == TYPE_BIT)
		query_text_put(w->t, STR("(1 - "));
	else
		query_text_format(w->t, "(%c ", n->op);
	around(w, STR(""), n->args[0], STR(")"));
}

/* Extremes of texts are shown as they are, so of a group in T-SQL's order that which is least by
 * code points is taken; everything else is compared by its key. */
static void aggregate(struct query_postgres *outer, const struct query_node *n)
{
	static const char *const names[] = {
		[AGG_COUNT] = "count",       [AGG_COUNT_BIG] = "count", [AGG_SUM] = "sum",
		[AGG_MIN] = "min",           [AGG_MAX] = "max",         [AGG_AVG] = "avg",
		[AGG_STRING] = "string_agg",
	};
	struct query_postgres inside = { outer->t, false }, *w = &inside;
	bool whole = n->op == AGG_AVG && type_info(n->type.id)->is_integer;
	bool extreme = n->op == AGG_MIN || n->op == AGG_MAX;

	if (n->nargs == 0) {
		query_text_put(w->t, STR("count(*)"));
		return;
	}
	query_text_format(w->t, "%s%s%s(%s", whole ? "trunc(" : "",
			  extreme && is_bytes(n->args[0]) ? "tsql_" : "", names[n->op],
			  n->distinct ? "DISTINCT " : "");
	if (extreme && n->args[0]->order != ORDER_PLAIN)
		around(w, STR("CAST("), n->args[0], STR(" AS text) COLLATE \"C\""));
	else if (n->op == AGG_STRING)
		query_postgres_as_text(w, n->args[0]);
	else
		query_postgres_key(w, n->args[0], n->distinct ? n->args[0]->order : ORDER_PLAIN);
	if (n->op == AGG_STRING)
		around(w, STR(", CAST("), n->args[1], STR(" AS text)"));
	query_text_put(w->t, whole ? STR("))") : STR(")"));
}

static void row_number(struct query_postgres *w, const struct query_node *n)
{
	query_text_put(w->t, STR("row_number() OVER ("));
	for (size_t i = 0; i < n->nargs; i++) {
		query_text_put(w->t, i == 0 ? STR("PARTITION BY ") : STR(", "));
		query_postgres_key(w, n->args[i], n->args[i]->order);
	}
	query_postgres_order(w, n->over, n->nover);
	query_text_put(w->t, STR(")"));
}

static void subquery(struct query_postgres *w, struct str before, const struct query_node *n)
{
	struct query_postgres inside = { w->t, false };

	query_text_put(w->t, before);
	query_postgres_select(&inside, n->query);
	query_text_put(w->t, STR(")"));
}

void query_postgres_expr(struct query_postgres *w, const struct query_node *n)
{
	switch ((enum query_node_kind)n->kind) {
	case NODE_VALUE: value(w, n); break;
	case NODE_COLUMN: column(w, n); break;
	case NODE_UNARY: unary(w, n); break;
	case NODE_ARITHMETIC: arithmetic(w, n); break;
	case NODE_JOIN_TEXT: join_text(w, n); break;
	case NODE_CASE: choice(w, n); break;
	case NODE_CAST: query_postgres_cast(w, n); break;
	case NODE_CALL: query_postgres_call(w, n); break;
	case NODE_AGGREGATE: aggregate(w, n); break;
	case NODE_ROW_NUMBER: row_number(w, n); break;
	case NODE_SUBQUERY: subquery(w, STR("("), n); break;
	default: query_postgres_condition(w, n);
	}
}

/* ---- conditions ---- */

/* An index is in the order of whole texts: those that are equal to a constant but for blanks at the
 * end lie between the constant without its own and the same with '!', which comes after the
 * blank. */
static void near(struct query_postgres *w, const struct query_node *column, const struct value *constant)
{
	struct str s = query_without_blanks(constant->u.s);
	struct value low = *constant, high = *constant;
	char *p = arena_alloc_raw(w->t->ev->arena, s.n + 1);

	if (p == NULL)
		return; /* only slower */
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	p[s.n] = '!';
	low.u.s = s;
	high.u.s = (struct str){ p, s.n + 1 };
	query_postgres_expr(w, column);
	query_text_format(w->t, " >= $%zu AND ", query_text_bind(w->t, &low));
	query_postgres_expr(w, column);
	query_text_format(w->t, " < $%zu AND ", query_text_bind(w->t, &high));
}

static void comparison(struct query_postgres *w, const struct query_node *n)
{
	const struct query_node *a = n->args[0], *b = n->args[1];
	void (*key)(struct query_postgres *, const struct query_node *, uint8_t);

	query_text_put(w->t, STR("("));
	if (n->op == CMP_EQ && n->order == ORDER_EXACT && !w->grouped) {
		if (a->kind == NODE_COLUMN && query_is_text_constant(b))
			near(w, a, &b->value);
		else if (b->kind == NODE_COLUMN && query_is_text_constant(a))
			near(w, b, &a->value);
	}
	key = n->op == CMP_EQ || n->op == CMP_NE ? query_postgres_key : query_postgres_rank;
	key(w, a, n->order);
	query_text_put(w->t, query_comparison_sign(n->op));
	key(w, b, n->order);
	query_text_put(w->t, STR(")"));
}

static void junction(struct query_postgres *w, const struct query_node *n, struct str word)
{
	for (size_t i = 0; i < n->nargs; i++) {
		query_text_put(w->t, i == 0 ? STR("(") : word);
		query_postgres_condition(w, n->args[i]);
	}
	query_text_put(w->t, STR(")"));
}

/* Whole numbers of a list are written out, so that a list of them may be long. */
static void member(struct query_postgres *w, const struct query_node *n, uint8_t order)
{
	if (n->kind == NODE_VALUE && !n->value.null && type_info(n->value.type.id)->is_integer &&
	    order == ORDER_PLAIN)
		query_text_format(w->t, "%lld", (long long)n->value.u.i);
	else
		query_postgres_key(w, n, order);
}

static void in_list(struct query_postgres *w, const struct query_node *n)
{
	query_text_put(w->t, STR("("));
	query_postgres_key(w, n->args[0], n->order);
	query_text_put(w->t, STR(" IN ("));
	for (size_t i = 1; i < n->nargs; i++) {
		if (i > 1)
			query_text_put(w->t, STR(", "));
		member(w, n->args[i], n->order);
	}
	query_text_put(w->t, STR("))"));
}

static void in_query(struct query_postgres *w, const struct query_node *n)
{
	query_text_put(w->t, STR("("));
	query_postgres_key(w, n->args[0], n->order);
	query_text_put(w->t, n->order == ORDER_EXACT   ? STR(" IN (SELECT tsql_exact(v.c0) FROM (")
			     : n->order == ORDER_NAMES ? STR(" IN (SELECT tsql_names(v.c0) FROM (")
						       : STR(" IN (SELECT v.c0 FROM ("));
	subquery(w, STR(""), n);
	query_text_put(w->t, STR(" AS v))"));
}

static void like(struct query_postgres *w, const struct query_node *n)
{
	query_text_put(w->t, n->unicode ? STR("tsql_nlike(") : STR("tsql_like("));
	for (size_t i = 0; i < n->nargs; i++) {
		if (i > 0)
			query_text_put(w->t, STR(", "));
		query_postgres_as_text(w, n->args[i]);
	}
	query_text_put(w->t, STR(")"));
}

void query_postgres_condition(struct query_postgres *w, const struct query_node *n)
{
	switch ((enum query_node_kind)n->kind) {
	case NODE_TRUTH:
		query_text_put(w->t, n->op == TRI_TRUE    ? STR("true")
				     : n->op == TRI_FALSE ? STR("false")
							  : STR("CAST(NULL AS boolean)"));
		break;
	case NODE_COMPARE: comparison(w, n); break;
	case NODE_AND: junction(w, n, STR(" AND ")); break;
	case NODE_OR: junction(w, n, STR(" OR ")); break;
	case NODE_NOT:
		query_text_put(w->t, STR("(NOT "));
		query_postgres_condition(w, n->args[0]);
		query_text_put(w->t, STR(")"));
		break;
	case NODE_IS_NULL: around(w, STR("("), n->args[0], STR(" IS NULL)")); break;
	case NODE_IN: in_list(w, n); break;
	case NODE_IN_QUERY: in_query(w, n); break;
	case NODE_EXISTS: subquery(w, STR("EXISTS ("), n); break;
	case NODE_LIKE: like(w, n); break;
	default: assert(!"no condition"); break;
	}
}
