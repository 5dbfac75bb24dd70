/* choice.c — CASE, IIF and NULLIF: all become a searched CASE. */
#include "query/check.h"

/* Values to the type that the whole has; how texts among them compare. */
static int settle(struct query_check *c, struct query_node *n, const struct type *type)
{
	n->type = *type;
	for (size_t i = 0; i < n->nargs; i++) {
		if (i % 2 == 0 && !(n->has_else && i + 1 == n->nargs))
			continue; /* a condition */
		if (query_settle(c, n->args[i], type, &n->args[i]) < 0)
			return -1;
		if (query_is_text(n) && n->args[i]->order > n->order)
			n->order = n->args[i]->order;
	}
	return 0;
}

static int when(struct query_check *c, const struct query_scope *sc, const struct query_node *operand,
		const struct expr *e, struct type *type, const struct query_node **ret)
{
	const struct query_node *value;

	if (operand == NULL)
		return query_condition(c, sc, e, ret);
	if (query_expr(c, sc, e, &value) < 0)
		return -1;
	*type = value->type;
	return query_compare(c, operand, CMP_EQ, value, ret);
}

int query_case(struct query_check *c, const struct query_scope *sc, const struct expr *e,
	       const struct query_node **ret)
{
	size_t first = e->has_operand ? 1 : 0;
	struct query_node *n = query_node_new(c, NODE_CASE, e->nargs - first);
	struct type *types = arena_array(c->ev->arena, e->nargs, sizeof(*types)), type;
	const struct query_node *operand = NULL;

	if (n == NULL || types == NULL)
		return err_nomem(c->ev->err);
	if (e->has_operand) {
		if (query_expr(c, sc, e->args[0], &operand) < 0)
			return -1;
		types[0] = operand->type;
	}
	n->has_else = e->has_else;
	for (size_t i = 0; i < n->nargs; i++) {
		const struct expr *arg = e->args[first + i];
		bool is_when = i % 2 == 0 && !(e->has_else && i + 1 == n->nargs);

		if (is_when ? when(c, sc, operand, arg, &types[first + i], &n->args[i]) < 0
			    : query_expr(c, sc, arg, &n->args[i]) < 0)
			return -1;
		if (!is_when)
			types[first + i] = n->args[i]->type;
	}
	type = tsql_infer_type(e, types);
	*ret = n;
	return settle(c, n, &type);
}

int query_iif(struct query_check *c, const struct query_scope *sc, const struct expr *e,
	      const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_CASE, 3);
	struct type types[3] = { 0 }, type;

	if (n == NULL || query_condition(c, sc, e->args[0], &n->args[0]) < 0 ||
	    query_expr(c, sc, e->args[1], &n->args[1]) < 0 || query_expr(c, sc, e->args[2], &n->args[2]) < 0)
		return -1;
	types[1] = n->args[1]->type;
	types[2] = n->args[2]->type;
	type = tsql_infer_type(e, types);
	n->has_else = true;
	*ret = n;
	return settle(c, n, &type);
}

/* CASE WHEN a = b THEN NULL ELSE a END, which is what T-SQL says that it is. */
int query_nullif(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		 const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_CASE, 3), *null = query_node_new(c, NODE_VALUE, 0);
	const struct query_node *a, *b;
	struct type types[2], type;

	if (n == NULL || null == NULL || query_expr(c, sc, e->args[0], &a) < 0 ||
	    query_expr(c, sc, e->args[1], &b) < 0 || query_compare(c, a, CMP_EQ, b, &n->args[0]) < 0)
		return -1;
	types[0] = a->type;
	types[1] = b->type;
	type = tsql_infer_type(e, types);
	value_set_null(&null->value, type);
	null->type = type;
	n->args[1] = null;
	n->args[2] = a;
	n->has_else = true;
	*ret = n;
	return settle(c, n, &type);
}
