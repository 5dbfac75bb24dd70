/* predicate.c — conditions of a SELECT over views. */
#include "query/check.h"

#include <assert.h>

#include "tsql/eval/functions.h"
#include "value/convert.h"

/* How two sides compare: names when one of them is one, else exactly, if they are texts. */
static uint8_t meeting_order(const struct query_node *a, const struct query_node *b)
{
	uint8_t order = a->order > b->order ? a->order : b->order;

	return order == ORDER_PLAIN && query_is_text(a) && query_is_text(b) ? ORDER_EXACT : order;
}

/* A text that meets a number becomes one, as T-SQL's precedence has it. What is not a whole
 * number is a float in the database. */
static int as_number(struct query_check *c, const struct query_node *text, const struct query_node *number,
		     const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_CAST, 1);

	if (n == NULL)
		return -1;
	n->args[0] = text;
	n->type = query_is_whole(number) ? TYPE_OF(number->type.id) : TYPE_OF(TYPE_FLOAT);
	*ret = n;
	return 0;
}

int query_compare(struct query_check *c, const struct query_node *a, enum comparison op,
		  const struct query_node *b, const struct query_node **ret)
{
	bool left = query_is_text(a) && a->kind != NODE_VALUE && query_is_number(&b->type),
	     right = query_is_text(b) && b->kind != NODE_VALUE && query_is_number(&a->type);
	struct query_node *n = query_node_new(c, NODE_COMPARE, 2);
	struct type number = TYPE_OF(TYPE_FLOAT);

	if (!left && !right && a->kind != NODE_VALUE && b->kind != NODE_VALUE &&
	    !query_types_meet(&a->type, &b->type))
		return query_refuse(c, c->line, "A comparison of columns whose types do not meet");
	if (n == NULL || query_meet(c, a, right ? &number : &b->type, &n->args[0]) < 0 ||
	    query_meet(c, b, left ? &number : &a->type, &n->args[1]) < 0)
		return -1;
	if ((op == CMP_EQ || op == CMP_NE) && (query_suggest(c, a, &b->type, SUGGEST_SAME) < 0 ||
					       query_suggest(c, b, &a->type, SUGGEST_SAME) < 0))
		return -1;
	if ((left && as_number(c, n->args[0], b, &n->args[0]) < 0) ||
	    (right && as_number(c, n->args[1], a, &n->args[1]) < 0))
		return -1;
	n->op = (uint8_t)op;
	n->order = left || right ? ORDER_PLAIN : meeting_order(a, b);
	*ret = n;
	return 0;
}

static int comparison(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		      const struct query_node **ret)
{
	const struct query_node *a, *b;

	if (query_expr(c, sc, e->args[0], &a) < 0 || query_expr(c, sc, e->args[1], &b) < 0)
		return -1;
	c->line = e->line;
	return query_compare(c, a, (enum comparison)e->op, b, ret);
}

static int junction(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		    const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, e->kind == E_AND ? NODE_AND : NODE_OR, e->nargs);

	for (size_t i = 0; n != NULL && i < e->nargs; i++) {
		if (query_condition(c, sc, e->args[i], &n->args[i]) < 0)
			return -1;
	}
	*ret = n;
	return n == NULL ? -1 : 0;
}

static int between(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		   const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_AND, 2);
	const struct query_node *v, *low, *high;

	if (n == NULL || query_expr(c, sc, e->args[0], &v) < 0 || query_expr(c, sc, e->args[1], &low) < 0 ||
	    query_expr(c, sc, e->args[2], &high) < 0 || query_compare(c, v, CMP_GE, low, &n->args[0]) < 0 ||
	    query_compare(c, v, CMP_LE, high, &n->args[1]) < 0)
		return -1;
	*ret = n;
	return 0;
}

static int in_list(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		   const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_IN, e->nargs);
	const struct query_node *left, *member;
	struct type all = TYPE_OF(TYPE_NULL);

	if (n == NULL || query_expr(c, sc, e->args[0], &left) < 0)
		return -1;
	n->args[0] = left;
	n->order = meeting_order(left, left);
	for (size_t i = 1; i < e->nargs; i++) {
		if (query_expr(c, sc, e->args[i], &member) < 0)
			return -1;
		if (query_is_text(left) && query_is_number(&member->type) && /* '7' and 7: as text here */
		    query_as_text(c, member, &member) < 0)
			return -1;
		if (query_meet(c, member, &left->type, &n->args[i]) < 0 ||
		    query_suggest(c, member, &left->type, SUGGEST_SAME) < 0)
			return -1;
		all = tsql_type_common_known(&all, &member->type);
		if (member->order > n->order && query_is_text(left))
			n->order = member->order;
	}
	*ret = n;
	return query_suggest(c, left, &all, SUGGEST_SAME);
}

static bool can_be_text(const struct query_node *n)
{
	return n->kind == NODE_VALUE || query_is_text(n) || query_is_whole(n);
}

/* The pattern is constant: so is ESCAPE's character, which is looked at here. */
static int like(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_LIKE, e->nargs);
	const struct query_node *escape = NULL;
	struct str s;

	if (n == NULL)
		return -1;
	for (size_t i = 0; i < e->nargs; i++) {
		if (query_expr(c, sc, e->args[i], &n->args[i]) < 0)
			return -1;
		if (i > 0 && n->args[i]->kind != NODE_VALUE)
			return query_refuse(c, e->line, "LIKE with a pattern that is not constant");
	}
	if (!can_be_text(n->args[0]))
		return query_refuse(c, e->line, "LIKE on this type of column");
	escape = e->nargs > 2 ? n->args[2] : NULL;
	if (escape != NULL && !escape->value.null &&
	    (value_to_text(&escape->value, c->ev->arena, &s, c->ev->err) < 0 ||
	     tsql_like_escape(s, c->ev->err) < 0))
		return query_fail(c, e->line);
	n->unicode = type_info(n->args[0]->type.id)->is_unicode || type_info(n->args[1]->type.id)->is_unicode;
	for (size_t i = 0; i < e->nargs; i++) {
		if (query_as_text(c, n->args[i], &n->args[i]) < 0)
			return -1;
	}
	*ret = n;
	return 0;
}

static int in_query(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		    const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_IN_QUERY, 1);
	const struct query_term *rows;
	const struct query_node *left;

	if (n == NULL || query_expr(c, sc, e->args[0], &left) < 0 ||
	    query_select(c, e->query, sc, -1, &n->query) < 0)
		return -1;
	rows = n->query->terms;
	if (rows->n != 1) {
		err_raise(c->ev->err, 116, 16, 1,
			  "Only one expression can be specified in the select list when the subquery is not "
			  "introduced with EXISTS.");
		return query_fail(c, e->line);
	}
	n->order = meeting_order(left, rows->items[0]);
	*ret = n;
	return query_meet(c, left, &rows->columns[0].type, &n->args[0]);
}

static int exists(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		  const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_EXISTS, 0);

	*ret = n;
	return n == NULL ? -1 : query_select(c, e->query, sc, -1, &n->query);
}

static int is_null(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		   const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_IS_NULL, 1);

	*ret = n;
	return n == NULL ? -1 : query_expr(c, sc, e->args[0], &n->args[0]);
}

static int constant_condition(struct query_check *c, const struct expr *e, const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_TRUTH, 0);
	enum tri r;

	if (n == NULL)
		return -1;
	if (tsql_suggest_condition(c->ev, e) < 0 || tsql_eval_condition(c->ev, e, &r) < 0)
		return query_fail(c, e->line);
	n->op = (uint8_t)r;
	*ret = n;
	return 0;
}

static int not(struct query_check * c, const struct query_node *of, const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_NOT, 1);

	if (n == NULL)
		return -1;
	n->args[0] = of;
	*ret = n;
	return 0;
}

int query_condition(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		    const struct query_node **ret)
{
	const struct query_node *n = NULL;
	int rc;

	c->line = e->line;
	if (!e->in_query)
		return constant_condition(c, e, ret);
	switch (e->kind) {
	case E_COMPARE: return comparison(c, sc, e, ret);
	case E_AND:
	case E_OR: return junction(c, sc, e, ret);
	case E_NOT: rc = query_condition(c, sc, e->args[0], &n); break;
	case E_IS_NULL: rc = is_null(c, sc, e, &n); break;
	case E_BETWEEN: rc = between(c, sc, e, &n); break;
	case E_IN: rc = in_list(c, sc, e, &n); break;
	case E_LIKE: rc = like(c, sc, e, &n); break;
	case E_IN_QUERY: rc = in_query(c, sc, e, &n); break;
	case E_EXISTS: rc = exists(c, sc, e, &n); break;
	default: return query_refuse(c, e->line, "This condition");
	}
	if (rc < 0)
		return -1;
	assert(n != NULL);
	if (e->negated || e->kind == E_NOT)
		return not(c, n, ret);
	*ret = n;
	return 0;
}
