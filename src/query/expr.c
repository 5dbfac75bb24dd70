/* expr.c — operators of a SELECT over views: columns, constants, arithmetic, subqueries. */
#include "query/check.h"

#include <assert.h>

#include "tsql/eval/functions.h"
#include "value/convert.h"

/* Values that a database keeps as they are read: text and numbers. Dates are ticks there, GUIDs
 * bytes. */
static bool is_plain(const struct query_node *n)
{
	return query_is_text(n) || query_is_number(&n->type) || n->type.id == TYPE_NULL;
}

static bool is_text_or_null(const struct query_node *n)
{
	return query_is_text(n) || n->type.id == TYPE_NULL;
}

static int constant(struct query_check *c, const struct expr *e, const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_VALUE, 0);

	if (n == NULL)
		return -1;
	n->type = e->type;
	n->nullable = e->nullable;
	n->computed = e;
	if (query_suggest(c, n, NULL, SUGGEST_WIDE) < 0)
		return -1;
	if (tsql_eval_value(c->ev, e, &n->value) < 0)
		return query_fail(c, e->line);
	if (n->type.id == TYPE_NULL)
		n->type = n->value.type;
	*ret = n;
	return 0;
}

static int subquery(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		    const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_SUBQUERY, 0);

	if (n == NULL || query_select(c, e->query, sc, -1, &n->query) < 0)
		return -1;
	n->type = n->query->terms->columns[0].type;
	n->order = n->query->terms->items[0]->order;
	*ret = n;
	return 0;
}

static int unary(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		 const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_UNARY, 1);

	if (n == NULL || query_expr(c, sc, e->args[0], &n->args[0]) < 0)
		return -1;
	if (!query_is_number(&n->args[0]->type))
		return query_refuse(c, e->line, "A sign before a column that is not a number");
	n->op = e->op;
	n->type = n->args[0]->type.id == TYPE_BIT && e->op != '~' ? TYPE_OF(TYPE_INT) : n->args[0]->type;
	*ret = n;
	return 0;
}

static int arithmetic(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		      const struct query_node **ret)
{
	const struct query_node *a = NULL, *b = NULL;
	struct query_node *n;
	struct type types[2];
	bool joins;

	if (query_expr(c, sc, e->args[0], &a) < 0 || query_expr(c, sc, e->args[1], &b) < 0)
		return -1;
	assert(a != NULL && b != NULL);
	joins = e->op == OP_ADD && (query_is_text(a) || query_is_text(b)) && is_text_or_null(a) &&
		is_text_or_null(b);
	if (e->op == OP_XOR || !is_plain(a) || !is_plain(b) ||
	    (!joins && (query_is_text(a) || query_is_text(b))))
		return query_refuse(c, e->line, "This arithmetic on columns");
	n = query_node_new(c, joins ? NODE_JOIN_TEXT : NODE_ARITHMETIC, 2);
	if (n == NULL)
		return -1;
	types[0] = a->type;
	types[1] = b->type;
	n->op = e->op;
	n->type = tsql_infer_type(e, types);
	n->order = a->order > b->order ? a->order : b->order;
	if (n->type.id == TYPE_DECIMAL || n->type.id == TYPE_NUMERIC)
		n->type = TYPE_OF(TYPE_FLOAT);
	*ret = n;
	return query_meet(c, a, &b->type, &n->args[0]) < 0 ? -1 : query_meet(c, b, &a->type, &n->args[1]);
}

int query_expr(struct query_check *c, const struct query_scope *sc, const struct expr *e,
	       const struct query_node **ret)
{
	c->line = e->line;
	if (!e->in_query)
		return constant(c, e, ret);
	switch (e->kind) {
	case E_COLUMN: return query_column(c, sc, e, ret);
	case E_UNARY: return unary(c, sc, e, ret);
	case E_BINARY: return arithmetic(c, sc, e, ret);
	case E_CASE: return query_case(c, sc, e, ret);
	case E_CAST: return query_cast(c, sc, e, ret);
	case E_CALL: return query_call(c, sc, e, ret);
	case E_AGGREGATE: return query_aggregate(c, sc, e, ret);
	case E_ROW_NUMBER: return query_row_number(c, sc, e, ret);
	case E_SUBQUERY: return subquery(c, sc, e, ret);
	default: return query_refuse(c, e->line, "This expression");
	}
}
