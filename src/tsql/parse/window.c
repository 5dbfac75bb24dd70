/* window.c — ROW_NUMBER() OVER ([PARTITION BY …] ORDER BY …): the rows of a result numbered, which
 * is how programs of before OFFSET page. And the list of ORDER BY, which SELECT has too. */
#include "tsql/parse/parser.h"

int tsql_parse_order_list(struct parser *p, struct order_item **ret, size_t *ret_n)
{
	size_t cap = 0;
	int more = 1, rc;

	*ret = NULL;
	*ret_n = 0;
	while (more > 0) {
		struct order_item *item;

		if (*ret_n == PARSE_LIST_MAX)
			return tsql_parse_not_supported(p, p->tok.line,
							"ORDER BY with more than 2000 expressions",
							"Order by fewer of them.");
		if (tsql_parse_grow(p, (void **)ret, *ret_n, &cap, sizeof(**ret)) < 0)
			return -1;
		item = &(*ret)[(*ret_n)++];
		if (tsql_parse_expr(p, &item->expr) < 0)
			return -1;
		rc = tsql_parse_accept(p, "DESC");
		if (rc < 0 || tsql_parse_accept(p, "ASC") < 0)
			return -1;
		item->descending = rc > 0;
		more = tsql_parse_accept_op(p, ',');
	}
	return more;
}

static int partition_by(struct parser *p, const struct expr ***ret, size_t *ret_n)
{
	size_t cap = 0;
	int more = tsql_parse_accept(p, "PARTITION");

	if (more <= 0)
		return more;
	if (tsql_parse_expect(p, "BY") < 0)
		return -1;
	while (more > 0) {
		if (*ret_n == PARSE_LIST_MAX)
			return tsql_parse_not_supported(p, p->tok.line,
							"PARTITION BY with more than 2000 expressions",
							"Use fewer of them.");
		if (tsql_parse_grow(p, (void **)ret, *ret_n, &cap, EXPR_POINTER) < 0 ||
		    tsql_parse_expr(p, &(*ret)[*ret_n]) < 0)
			return -1;
		(*ret_n)++;
		more = tsql_parse_accept_op(p, ',');
	}
	return more;
}

static int no_order(struct parser *p, int line)
{
	err_raise(p->err, 4112, 15, 1, "The function 'ROW_NUMBER' must have an OVER clause with ORDER BY.");
	return tsql_parse_fail(p, line);
}

int tsql_parse_row_number(struct parser *p, int line, const struct expr **ret)
{
	const struct expr **args = NULL;
	size_t n = 0;
	struct expr *e;

	if (tsql_parse_expect_op(p, '(') < 0 || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	if (!tsql_parse_is(p, "OVER"))
		return no_order(p, line);
	if (tsql_parse_next(p) < 0 || tsql_parse_expect_op(p, '(') < 0 || partition_by(p, &args, &n) < 0)
		return -1;
	if (!tsql_parse_is(p, "ORDER"))
		return no_order(p, line);
	if (tsql_parse_next(p) < 0 || tsql_parse_expect(p, "BY") < 0 ||
	    tsql_parse_node(p, E_ROW_NUMBER, line, args, n, &e) < 0 ||
	    tsql_parse_order_list(p, &e->over, &e->nover) < 0 || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	*ret = e;
	return p->in_store_query ? 0 : tsql_parse_syntax(p);
}
