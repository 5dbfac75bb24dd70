/* node.c — nodes of expressions: depth, static type and flags are settled when a node is made. */
#include "tsql/parse/parser.h"

#include <assert.h>
#include <string.h>

#include "tsql/eval/functions.h"

static int too_deep(struct parser *p, int line)
{
	err_raise(p->err, 191, 15, 1,
		  "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up "
		  "into smaller queries.");
	return tsql_parse_fail(p, line);
}

/* Type and nullability; for nodes whose op, fn or cast is set after tsql_parse_node. */
int tsql_parse_finish_node(struct parser *p, struct expr *e)
{
	struct type few[8], *types = few;

	assert(e->depth <= EXPR_DEPTH);
	if (e->in_query || tsql_expr_is_predicate(e))
		return 0;
	if (e->nargs > ARRAY_LEN(few)) {
		types = arena_array(p->arena, e->nargs, sizeof(*types));
		if (types == NULL)
			return tsql_parse_nomem(p);
	}
	for (size_t i = 0; i < e->nargs; i++)
		types[i] = e->args[i]->type;
	e->type = tsql_infer_type(e, types);
	e->nullable = tsql_infer_nullable(e);
	return 0;
}

int tsql_parse_node(struct parser *p, enum expr_kind kind, int line, const struct expr **args, size_t n,
		    struct expr **ret)
{
	struct expr *e = arena_alloc(p->arena, sizeof(*e));

	assert(n == 0 || args != NULL);
	if (e == NULL)
		return tsql_parse_nomem(p);
	e->kind = (uint8_t)kind;
	e->line = line;
	e->var = -1;
	e->nullable = true;
	e->args = args;
	e->nargs = (uint32_t)n;
	e->in_query = kind == E_COLUMN || kind == E_AGGREGATE || kind == E_SUBQUERY || kind == E_IN_QUERY ||
		      kind == E_EXISTS || kind == E_ROW_NUMBER;
	for (size_t i = 0; i < n; i++) {
		e->in_query = e->in_query || args[i]->in_query;
		if (args[i]->depth >= e->depth)
			e->depth = (uint16_t)(args[i]->depth + 1);
	}
	if (e->depth > EXPR_DEPTH)
		return too_deep(p, line);
	assert(n == 0 || e->depth > args[0]->depth); /* whoever walks it comes to an end */
	*ret = e;
	return 0;
}

int tsql_parse_node1(struct parser *p, enum expr_kind kind, int line, const struct expr *a, struct expr **ret)
{
	const struct expr **args = arena_array(p->arena, 1, EXPR_POINTER);

	if (args == NULL)
		return tsql_parse_nomem(p);
	args[0] = a;
	return tsql_parse_node(p, kind, line, args, 1, ret);
}

int tsql_parse_node2(struct parser *p, enum expr_kind kind, int line, const struct expr *a,
		     const struct expr *b, struct expr **ret)
{
	const struct expr **args = arena_array(p->arena, 2, EXPR_POINTER);

	if (args == NULL)
		return tsql_parse_nomem(p);
	args[0] = a;
	args[1] = b;
	return tsql_parse_node(p, kind, line, args, 2, ret);
}

int tsql_parse_literal(struct parser *p, const struct value *v, int line, const struct expr **ret)
{
	struct expr *e;

	if (tsql_parse_node(p, E_LITERAL, line, NULL, 0, &e) < 0)
		return -1;
	e->literal = *v;
	e->type = v->type;
	e->nullable = v->null;
	*ret = e;
	return 0;
}
