/* expr.c — operators and predicates of a SELECT over views. */
#include "tsql/query/translate.h"

#include "tsql/eval/functions.h"
#include "value/convert.h"

static bool is_text(const struct piece *p)
{
	return type_info(p->type.id)->is_text;
}

static bool is_number(const struct piece *p)
{
	const struct type_info *info = type_info(p->type.id);

	return info->is_integer || info->is_exact || p->type.id == TYPE_BIT || p->type.id == TYPE_FLOAT ||
	       p->type.id == TYPE_REAL;
}

/* Values that the store keeps as they are read: text and numbers. Dates are ticks there, GUIDs bytes. */
static bool is_plain(const struct piece *p)
{
	return is_text(p) || is_number(p) || p->type.id == TYPE_NULL;
}

static int constant(struct query_translation *t, const struct expr *e, struct piece *ret)
{
	*ret = (struct piece){ .constant = true, .type = e->type, .nullable = e->nullable };
	if (eval_value(t->ev, e, &ret->value) < 0)
		return query_fail(t, e->line);
	if (ret->type.id == TYPE_NULL)
		ret->type = ret->value.type;
	return 0;
}

static int subquery(struct query_translation *t, const struct scope *sc, const struct expr *e,
		    struct piece *ret)
{
	struct column *columns;
	struct str sql;
	size_t n;

	if (query_select(t, e->query, sc, false, &sql, &columns, &n) < 0)
		return -1;
	*ret = (struct piece){ .type = columns[0].type, .nullable = true };
	ret->sql = query_sql(t, "(%.*s)", STR_ARG(sql));
	return ret->sql.n == 0 ? -1 : 0;
}

static int unary(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	struct piece p;

	if (query_expr(t, sc, e->args[0], &p) < 0)
		return -1;
	if (!is_number(&p))
		return query_refuse(t, e->line, "A sign before a column that is not a number");
	*ret = (struct piece){ .type = p.type.id == TYPE_BIT ? TYPE_OF(TYPE_INT) : p.type, .nullable = true };
	ret->sql = query_sql(t, "(%c %.*s)", e->op, STR_ARG(p.sql));
	return ret->sql.n == 0 ? -1 : 0;
}

static int arithmetic(struct query_translation *t, const struct scope *sc, const struct expr *e,
		      struct piece *ret)
{
	static const char *const ops[] = { [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/",
					   [OP_MOD] = "%", [OP_AND] = "&", [OP_OR] = "|" };
	struct piece a, b;
	struct type types[2];
	struct str sa, sb;
	bool joins;

	if (query_expr(t, sc, e->args[0], &a) < 0 || query_expr(t, sc, e->args[1], &b) < 0)
		return -1;
	joins = e->op == OP_ADD && is_text(&a) && is_text(&b);
	if (e->op == OP_XOR || !is_plain(&a) || !is_plain(&b) || (!joins && (is_text(&a) || is_text(&b))))
		return query_refuse(t, e->line, "This arithmetic on columns");
	types[0] = a.type;
	types[1] = b.type;
	*ret = (struct piece){ .type = infer_type(e, types),
			       .nullable = true,
			       .nocase = a.nocase || b.nocase };
	if (ret->type.id == TYPE_DECIMAL || ret->type.id == TYPE_NUMERIC)
		ret->type = TYPE_OF(TYPE_FLOAT);
	if (query_piece_sql(t, &a, &b.type, &sa) < 0 || query_piece_sql(t, &b, &a.type, &sb) < 0)
		return -1;
	ret->sql = query_sql(t, "(%.*s %s %.*s)", STR_ARG(sa), joins ? "||" : ops[e->op], STR_ARG(sb));
	return ret->sql.n == 0 ? -1 : 0;
}

int query_expr(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	t->line = e->line;
	if (!e->in_query)
		return constant(t, e, ret);
	switch (e->kind) {
	case E_COLUMN: return query_column(t, sc, e, ret);
	case E_UNARY: return unary(t, sc, e, ret);
	case E_BINARY: return arithmetic(t, sc, e, ret);
	case E_CASE: return query_case(t, sc, e, ret);
	case E_CAST: return query_cast(t, sc, e, ret);
	case E_CALL: return query_call(t, sc, e, ret);
	case E_AGGREGATE: return query_aggregate(t, sc, e, ret);
	case E_SUBQUERY: return subquery(t, sc, e, ret);
	default: return query_refuse(t, e->line, "This expression");
	}
}

/* A text that meets a number becomes one, as T-SQL's precedence has it. What is not a whole number is a float in the store. */
static struct str as_number(struct query_translation *t, struct str sql, const struct piece *text,
			    const struct piece *number)
{
	bool whole = type_info(number->type.id)->is_integer || number->type.id == TYPE_BIT;

	return query_sql(t, "tsql_cast(%.*s, %d, %d, 0)", STR_ARG(sql), (int)text->type.id,
			 whole ? (int)number->type.id : (int)TYPE_FLOAT);
}

int query_compare(struct query_translation *t, const struct piece *a, const char *op, const struct piece *b,
		  struct str *ret)
{
	const char *nocase = a->nocase || b->nocase ? " COLLATE NOCASE" : "";
	bool left = is_text(a) && !a->constant && is_number(b),
	     right = is_text(b) && !b->constant && is_number(a);
	struct type number = TYPE_OF(TYPE_FLOAT);
	struct str sa, sb;

	if (query_piece_sql(t, a, right ? &number : &b->type, &sa) < 0 ||
	    query_piece_sql(t, b, left ? &number : &a->type, &sb) < 0)
		return -1;
	if (left)
		sa = as_number(t, sa, a, b);
	if (right)
		sb = as_number(t, sb, b, a);
	if (left || right)
		nocase = "";
	*ret = query_sql(t, "(%.*s %s %.*s%s)", STR_ARG(sa), op, STR_ARG(sb), nocase);
	return ret->n == 0 ? -1 : 0;
}

static int comparison(struct query_translation *t, const struct scope *sc, const struct expr *e,
		      struct str *ret)
{
	static const char *const ops[] = { [CMP_EQ] = "=",  [CMP_NE] = "<>", [CMP_LT] = "<",
					   [CMP_LE] = "<=", [CMP_GT] = ">",  [CMP_GE] = ">=" };
	struct piece a, b;

	if (query_expr(t, sc, e->args[0], &a) < 0 || query_expr(t, sc, e->args[1], &b) < 0)
		return -1;
	t->line = e->line;
	return query_compare(t, &a, ops[e->op], &b, ret);
}

static int junction(struct query_translation *t, const struct scope *sc, const struct expr *e,
		    struct str *ret)
{
	struct text all = { 0 };
	struct str one;

	for (size_t i = 0; i < e->nargs; i++) {
		if (query_append(t, &all,
				 i == 0             ? STR("(")
				 : e->kind == E_AND ? STR(" AND ")
						    : STR(" OR ")) < 0)
			return -1;
		if (query_condition(t, sc, e->args[i], &one) < 0 || query_append(t, &all, one) < 0)
			return -1;
	}
	if (query_append(t, &all, STR(")")) < 0)
		return -1;
	*ret = text_str(&all);
	return 0;
}

static int between(struct query_translation *t, const struct scope *sc, const struct expr *e, struct str *ret)
{
	struct piece v, low, high;
	struct str a, b;

	if (query_expr(t, sc, e->args[0], &v) < 0 || query_expr(t, sc, e->args[1], &low) < 0 ||
	    query_expr(t, sc, e->args[2], &high) < 0 || query_compare(t, &v, ">=", &low, &a) < 0 ||
	    query_compare(t, &v, "<=", &high, &b) < 0)
		return -1;
	*ret = query_sql(t, "(%.*s AND %.*s)", STR_ARG(a), STR_ARG(b));
	return ret->n == 0 ? -1 : 0;
}

/* A member of a list. Whole numbers are written out, so that a list of them may be long; nothing else of a client is ever part of the SQL. */
static int member(struct query_translation *t, const struct piece *p, const struct type *want,
		  struct str *ret)
{
	const struct value *v = &p->value;

	if (!p->constant || v->null || !type_info(v->type.id)->is_integer ||
	    !(type_info(want->id)->is_integer || want->id == TYPE_BIT))
		return query_piece_sql(t, p, want, ret);
	*ret = query_sql(t, "%lld", (long long)v->u.i);
	return ret->n == 0 ? -1 : 0;
}

static int in_list(struct query_translation *t, const struct scope *sc, const struct expr *e, struct str *ret)
{
	struct type text = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
	struct text all = { 0 };
	struct piece left, p;
	struct str one;

	if (query_expr(t, sc, e->args[0], &left) < 0)
		return -1;
	if (query_piece_sql(t, &left, NULL, &one) < 0)
		return -1;
	one = query_sql(t, "(%.*s%s IN (", STR_ARG(one), left.nocase ? " COLLATE NOCASE" : "");
	if (one.n == 0 || query_append(t, &all, one) < 0)
		return -1;
	for (size_t i = 1; i < e->nargs; i++) {
		if (query_expr(t, sc, e->args[i], &p) < 0)
			return -1;
		if (is_text(&left) && is_number(&p) && p.constant && /* '7' and 7: as text here */
		    value_convert(&p.value, &text, CONVERT_CAST, NULL, t->ev->arena, &p.value, t->ev->err) <
			    0)
			return query_fail(t, e->line);
		if (member(t, &p, &left.type, &one) < 0 || (i > 1 && query_append(t, &all, STR(", ")) < 0) ||
		    query_append(t, &all, one) < 0)
			return -1;
	}
	if (query_append(t, &all, STR("))")) < 0)
		return -1;
	*ret = text_str(&all);
	return 0;
}

static bool can_be_text(const struct piece *p)
{
	const struct type_info *info = type_info(p->type.id);

	return p->constant || info->is_text || info->is_integer || p->type.id == TYPE_BIT;
}

/* The pattern is constant: so is ESCAPE's character, which is looked at here. */
static int like(struct query_translation *t, const struct scope *sc, const struct expr *e, struct str *ret)
{
	struct piece text, pattern, escape = { .constant = true, .value = { .null = true } };
	struct str a, b, c = { "", 0 };

	if (query_expr(t, sc, e->args[0], &text) < 0 || query_expr(t, sc, e->args[1], &pattern) < 0 ||
	    (e->nargs > 2 && query_expr(t, sc, e->args[2], &escape) < 0))
		return -1;
	if (!pattern.constant || !escape.constant)
		return query_refuse(t, e->line, "LIKE with a pattern that is not constant");
	if (!can_be_text(&text))
		return query_refuse(t, e->line, "LIKE on this type of column");
	if (!escape.value.null && (value_to_text(&escape.value, t->ev->arena, &c, t->ev->err) < 0 ||
				   like_escape(c, t->ev->err) < 0))
		return query_fail(t, e->line);
	if (query_piece_text(t, &text, &a) < 0 || query_piece_text(t, &pattern, &b) < 0 ||
	    (e->nargs > 2 && query_piece_text(t, &escape, &c) < 0))
		return -1;
	*ret = query_sql(t, "tsql_like(%.*s, %.*s%s%.*s)", STR_ARG(a), STR_ARG(b), e->nargs > 2 ? ", " : "",
			 STR_ARG(c));
	return ret->n == 0 ? -1 : 0;
}

static int in_query(struct query_translation *t, const struct scope *sc, const struct expr *e,
		    struct str *ret)
{
	struct column *columns;
	struct piece left;
	struct str a, sql;
	size_t n;

	if (query_expr(t, sc, e->args[0], &left) < 0 ||
	    query_select(t, e->query, sc, false, &sql, &columns, &n) < 0)
		return -1;
	if (n != 1) {
		err_raise(t->ev->err, 116, 16, 1,
			  "Only one expression can be specified in the select list when the subquery is not "
			  "introduced with EXISTS.");
		return query_fail(t, e->line);
	}
	if (query_piece_sql(t, &left, &columns[0].type, &a) < 0)
		return -1;
	*ret = query_sql(t, "(%.*s%s IN (%.*s))", STR_ARG(a), left.nocase ? " COLLATE NOCASE" : "",
			 STR_ARG(sql));
	return ret->n == 0 ? -1 : 0;
}

static int exists(struct query_translation *t, const struct scope *sc, const struct expr *e, struct str *ret)
{
	struct column *columns;
	struct str sql;
	size_t n;

	if (query_select(t, e->query, sc, false, &sql, &columns, &n) < 0)
		return -1;
	*ret = query_sql(t, "EXISTS (%.*s)", STR_ARG(sql));
	return ret->n == 0 ? -1 : 0;
}

static int is_null(struct query_translation *t, const struct scope *sc, const struct expr *e, struct str *ret)
{
	struct piece p;
	struct str s;

	if (query_expr(t, sc, e->args[0], &p) < 0 || query_piece_sql(t, &p, NULL, &s) < 0)
		return -1;
	*ret = query_sql(t, "(%.*s IS NULL)", STR_ARG(s));
	return ret->n == 0 ? -1 : 0;
}

static int constant_condition(struct query_translation *t, const struct expr *e, struct str *ret)
{
	enum tri r;

	if (eval_condition(t->ev, e, &r) < 0)
		return query_fail(t, e->line);
	*ret = r == TRI_TRUE ? STR("1") : r == TRI_FALSE ? STR("0") : STR("NULL");
	return 0;
}

int query_condition(struct query_translation *t, const struct scope *sc, const struct expr *e,
		    struct str *ret)
{
	struct str s;
	int rc;

	t->line = e->line;
	if (!e->in_query)
		return constant_condition(t, e, ret);
	switch (e->kind) {
	case E_COMPARE: return comparison(t, sc, e, ret);
	case E_AND:
	case E_OR: return junction(t, sc, e, ret);
	case E_NOT: rc = query_condition(t, sc, e->args[0], &s); break;
	case E_IS_NULL: rc = is_null(t, sc, e, &s); break;
	case E_BETWEEN: rc = between(t, sc, e, &s); break;
	case E_IN: rc = in_list(t, sc, e, &s); break;
	case E_LIKE: rc = like(t, sc, e, &s); break;
	case E_IN_QUERY: rc = in_query(t, sc, e, &s); break;
	case E_EXISTS: rc = exists(t, sc, e, &s); break;
	default: return query_refuse(t, e->line, "This condition");
	}
	if (rc < 0)
		return -1;
	*ret = s;
	if (e->negated || e->kind == E_NOT)
		*ret = query_sql(t, "(NOT %.*s)", STR_ARG(s));
	return ret->n == 0 ? -1 : 0;
}
