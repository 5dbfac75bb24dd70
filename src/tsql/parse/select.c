/* select.c — SELECT: its list, its clauses, UNION. What needs no data becomes a scalar SELECT
 * that the run answers by itself; the rest is kept as a tree that query/ translate when it runs. */
#include "tsql/parse/parser.h"

#include "tsql/eval/functions.h"

static int item_name(struct parser *p, struct select_item *it)
{
	struct str s;

	if (tsql_token_content(&p->tok, p->arena, &s, p->err) < 0)
		return tsql_parse_fail(p, p->tok.line);
	it->name = arena_strndup(p->arena, s.p, s.n);
	it->named = true;
	if (it->name == NULL)
		return tsql_parse_nomem(p);
	return tsql_parse_next(p);
}

static bool is_alias(const struct parser *p)
{
	return tsql_parse_is_name(p) || p->tok.kind == T_STRING || p->tok.kind == T_NSTRING;
}

static int assign_op(int op)
{
	switch (op) {
	case TSQL_OP2('+', '='): return OP_ADD;
	case TSQL_OP2('-', '='): return OP_SUB;
	case TSQL_OP2('*', '='): return OP_MUL;
	case TSQL_OP2('/', '='): return OP_DIV;
	case TSQL_OP2('%', '='): return OP_MOD;
	case TSQL_OP2('&', '='): return OP_AND;
	case TSQL_OP2('|', '='): return OP_OR;
	case TSQL_OP2('^', '='): return OP_XOR;
	default: return op == '=' ? -1 : -2;
	}
}

/* t.* needs a look two tokens ahead. */
static int star(struct parser *p, struct select_item *it, bool *ret_found)
{
	struct parser q = *p;

	*ret_found = false;
	if (tsql_parse_is_op(p, '*')) {
		*ret_found = true;
		return tsql_parse_next(p);
	}
	if (!tsql_parse_is_name(&q) || tsql_token_content(&q.tok, p->arena, &it->star_table, p->err) < 0 ||
	    tsql_parse_next(&q) < 0 || !tsql_parse_is_op(&q, '.') || tsql_parse_next(&q) < 0 ||
	    !tsql_parse_is_op(&q, '*'))
		return 0;
	*ret_found = true;
	p->lx = q.lx;
	p->tok = q.tok;
	return tsql_parse_next(p);
}

static int default_name(struct parser *p, struct select_item *it)
{
	it->name = "";
	if (it->expr->kind == E_COLUMN)
		it->name = arena_strndup(p->arena, it->expr->name.p, it->expr->name.n);
	return it->name == NULL ? tsql_parse_nomem(p) : 0;
}

static int assignment(struct parser *p, struct select_item *it)
{
	if (tsql_parse_variable(p, &it->var) < 0)
		return -1;
	it->assign_op = assign_op(p->tok.op);
	it->name = "";
	return tsql_parse_next(p) < 0 ? -1 : tsql_parse_expr(p, &it->expr);
}

static int item(struct parser *p, bool nested, struct select_item *it)
{
	struct token after = tsql_parse_peek(p);
	bool found;
	int rc;

	it->var = -1;
	it->assign_op = -1;
	if (p->tok.kind == T_VARIABLE && !nested && after.kind == T_OP && assign_op(after.op) > -2)
		return assignment(p, it);
	if (is_alias(p) && after.kind == T_OP && after.op == '=') {
		if (item_name(p, it) < 0 || tsql_parse_next(p) < 0)
			return -1;
		return tsql_parse_expr(p, &it->expr);
	}
	if (star(p, it, &found) < 0)
		return -1;
	if (found)
		return 0;
	if (tsql_parse_expr(p, &it->expr) < 0 || (rc = tsql_parse_accept(p, "AS")) < 0)
		return -1;
	if (is_alias(p))
		return item_name(p, it);
	return rc > 0 ? tsql_parse_syntax(p) : default_name(p, it);
}

static int items(struct parser *p, bool nested, struct select *s)
{
	size_t cap = 0, assigned = 0;
	int more = 1;

	while (more > 0) {
		if (tsql_parse_grow(p, (void **)&s->items, s->nitems, &cap, sizeof(*s->items)) < 0 ||
		    item(p, nested, &s->items[s->nitems]) < 0)
			return -1;
		assigned += s->items[s->nitems].var >= 0;
		if (++s->nitems > 4096) {
			err_raise(p->err, 1056, 15, 1,
				  "The number of elements in the select list exceeds the maximum allowed "
				  "number of 4096 elements.");
			return tsql_parse_fail(p, p->tok.line);
		}
		more = tsql_parse_accept_op(p, ',');
	}
	if (assigned > 0 && assigned < s->nitems) {
		err_raise(p->err, 141, 15, 1,
			  "A SELECT statement that assigns a value to a variable must not be combined with "
			  "data-retrieval operations.");
		return tsql_parse_fail(p, s->line);
	}
	s->assigns = assigned > 0;
	return more;
}

static int top(struct parser *p, struct select *s)
{
	int rc = tsql_parse_accept(p, "TOP"), line = p->tok.line;
	bool parenthesis = tsql_parse_is_op(p, '(');

	if (rc <= 0)
		return rc;
	if (!parenthesis && p->tok.kind != T_INT && p->tok.kind != T_VARIABLE)
		return tsql_parse_syntax(p);
	if (tsql_parse_primary(p, &s->top) < 0)
		return -1;
	if (tsql_expr_is_predicate(s->top) || s->top->in_query)
		return tsql_parse_syntax(p);
	if (tsql_parse_is(p, "PERCENT"))
		return tsql_parse_not_supported(p, line, "TOP … PERCENT", "Give a number of rows.");
	if (tsql_parse_is(p, "WITH"))
		return tsql_parse_not_supported(p, line, "TOP … WITH TIES", "Give a number of rows.");
	return 0;
}

static int group_by(struct parser *p, struct select *s)
{
	size_t cap = 0;
	int more = tsql_parse_accept(p, "GROUP");

	if (more <= 0)
		return more;
	if (tsql_parse_expect(p, "BY") < 0)
		return -1;
	while (more > 0) {
		if (s->ngroup == PARSE_LIST_MAX)
			return tsql_parse_not_supported(p, p->tok.line,
							"GROUP BY with more than 2000 expressions",
							"Group by fewer of them.");
		if (tsql_parse_grow(p, (void **)&s->group_by, s->ngroup, &cap, EXPR_POINTER) < 0 ||
		    tsql_parse_expr(p, &s->group_by[s->ngroup]) < 0)
			return -1;
		s->ngroup++;
		more = tsql_parse_accept_op(p, ',');
	}
	return more;
}

static int core(struct parser *p, bool nested, struct select **ret)
{
	struct select *s = arena_alloc(p->arena, sizeof(*s));
	int rc;

	if (s == NULL)
		return tsql_parse_nomem(p);
	s->line = p->tok.line;
	if (tsql_parse_expect(p, "SELECT") < 0 || (rc = tsql_parse_accept(p, "DISTINCT")) < 0 ||
	    tsql_parse_accept(p, "ALL") < 0)
		return -1;
	s->distinct = rc > 0;
	if (top(p, s) < 0 || items(p, nested, s) < 0)
		return -1;
	if (tsql_parse_is(p, "INTO"))
		return tsql_parse_not_supported(p, p->tok.line, "SELECT … INTO",
						"Read the rows and call the stored procedures instead.");
	if (tsql_parse_is(p, "FROM") && tsql_parse_from(p, s) < 0)
		return -1;
	if ((rc = tsql_parse_accept(p, "WHERE")) < 0 || (rc > 0 && tsql_parse_condition(p, &s->where) < 0) ||
	    group_by(p, s) < 0)
		return -1;
	if ((rc = tsql_parse_accept(p, "HAVING")) < 0 || (rc > 0 && tsql_parse_condition(p, &s->having) < 0))
		return -1;
	*ret = s;
	return 0;
}

static int order_by(struct parser *p, struct select *s)
{
	int rc = tsql_parse_accept(p, "ORDER");

	if (rc <= 0)
		return rc;
	if (tsql_parse_expect(p, "BY") < 0 || tsql_parse_order_list(p, &s->order_by, &s->norder) < 0)
		return -1;
	rc = tsql_parse_accept(p, "OFFSET");
	if (rc <= 0)
		return rc;
	if (tsql_parse_expr(p, &s->offset) < 0 ||
	    (tsql_parse_is(p, "ROW") ? tsql_parse_next(p) : tsql_parse_expect(p, "ROWS")) < 0 ||
	    (rc = tsql_parse_accept(p, "FETCH")) <= 0)
		return rc == 0 ? 0 : -1;
	if ((tsql_parse_is(p, "FIRST") ? tsql_parse_next(p) : tsql_parse_expect(p, "NEXT")) < 0 ||
	    tsql_parse_expr(p, &s->fetch) < 0 ||
	    (tsql_parse_is(p, "ROW") ? tsql_parse_next(p) : tsql_parse_expect(p, "ROWS")) < 0)
		return -1;
	return tsql_parse_expect(p, "ONLY");
}

/* FOR BROWSE and OPTION (…) change nothing here. */
static int trailers(struct parser *p)
{
	int rc;

	if (tsql_parse_is(p, "FOR")) {
		struct token after = tsql_parse_peek(p);

		if (!tsql_token_is(&after, "BROWSE"))
			return tsql_parse_not_supported(p, p->tok.line, "SELECT … FOR XML or FOR JSON",
							"Read the rows and format them in the client.");
		if (tsql_parse_next(p) < 0 || tsql_parse_next(p) < 0)
			return -1;
	}
	rc = tsql_parse_accept(p, "OPTION");
	if (rc <= 0)
		return rc;
	if (tsql_parse_expect_op(p, '(') < 0)
		return -1;
	while (!tsql_parse_is_op(p, ')')) {
		if (p->tok.kind == T_END)
			return tsql_parse_syntax(p);
		if (tsql_parse_next(p) < 0)
			return -1;
	}
	return tsql_parse_next(p);
}

static int unions(struct parser *p, struct select *s)
{
	unsigned n = 0;
	int rc;

	while (tsql_parse_is(p, "UNION")) {
		if (tsql_parse_next(p) < 0 || (rc = tsql_parse_accept(p, "ALL")) < 0)
			return -1;
		if (s->assigns)
			return tsql_parse_syntax(p);
		if (++n > 400) /* SQLite's own bound is 500 terms */
			return tsql_parse_not_supported(p, s->line, "A UNION of more than 400 SELECTs",
							"Split the query.");
		s->union_all = rc > 0;
		if (core(p, true, &s->next) < 0)
			return -1;
		s = s->next;
	}
	if (tsql_parse_is(p, "EXCEPT") || tsql_parse_is(p, "INTERSECT"))
		return tsql_parse_not_supported(p, p->tok.line, "EXCEPT and INTERSECT",
						"Use EXISTS in the WHERE clause instead.");
	return 0;
}

/* The first column name of an expression, for the message when there is no FROM. */
static const struct expr *first_column(const struct expr *e)
{
	if (e == NULL || !e->in_query || e->kind == E_COLUMN)
		return e != NULL && e->kind == E_COLUMN ? e : NULL;
	for (size_t i = 0; i < e->nargs; i++) {
		const struct expr *c = first_column(e->args[i]);
		if (c != NULL)
			return c;
	}
	return NULL;
}

static int no_column(struct parser *p, const struct expr *e)
{
	const struct expr *c = first_column(e);
	char shown[129];

	if (c == NULL)
		return 0;
	str_copy(shown, sizeof(shown), c->name);
	err_set(p->err, ERR_NO_COLUMN, shown);
	return tsql_parse_fail(p, c->line);
}

static bool needs_store(const struct select *s)
{
	bool alone = s->next == NULL;

	for (; s != NULL; s = s->next) {
		if (s->nfrom > 0 || s->distinct || s->ngroup > 0 || s->having != NULL || s->offset != NULL ||
		    (s->norder > 0 && !alone) || (s->next != NULL && !s->union_all) ||
		    (s->where != NULL && s->where->in_query))
			return true;
		for (size_t i = 0; i < s->nitems; i++) {
			if (s->items[i].expr != NULL && s->items[i].expr->in_query)
				return true;
		}
	}
	return false;
}

static int check_without_from(struct parser *p, const struct select *s)
{
	for (; s != NULL; s = s->next) {
		if (s->nfrom > 0)
			continue;
		for (size_t i = 0; i < s->nitems; i++) {
			if (s->items[i].expr == NULL) {
				err_raise(p->err, 263, 16, 1, "Must specify table to select from.");
				return tsql_parse_fail(p, s->line);
			}
			if (no_column(p, s->items[i].expr) < 0)
				return -1;
		}
		if (no_column(p, s->where) < 0)
			return -1;
	}
	return 0;
}

/* Names and types of a scalar SELECT; UNION ALL takes the common type of its rows. */
static int scalar_columns(struct parser *p, struct select *s)
{
	s->columns = arena_array(p->arena, s->nitems, sizeof(*s->columns));
	if (s->columns == NULL)
		return tsql_parse_nomem(p);
	for (const struct select *r = s; r != NULL; r = r->next) {
		if (r->nitems != s->nitems) {
			err_raise(p->err, 205, 16, 1,
				  "All queries combined using a UNION, INTERSECT or EXCEPT operator must "
				  "have an equal number of expressions in their target lists.");
			return tsql_parse_fail(p, s->line);
		}
		for (size_t i = 0; i < s->nitems; i++) {
			struct column *c = &s->columns[i];

			c->type = tsql_type_common_known(&c->type, &r->items[i].expr->type);
			c->nullable = c->nullable || r->items[i].expr->nullable;
		}
	}
	for (size_t i = 0; i < s->nitems; i++) {
		s->columns[i].name = s->items[i].name;
		if (s->columns[i].type.id == TYPE_NULL)
			s->columns[i].type = TYPE_OF(TYPE_INT);
	}
	return 0;
}

int tsql_parse_select(struct parser *p, bool nested, struct select **ret)
{
	bool outer = p->in_store_query;
	struct select *s;

	if (tsql_parse_enter(p) < 0)
		return -1;
	p->in_store_query = true;
	if (core(p, nested, &s) < 0 || unions(p, s) < 0 || order_by(p, s) < 0 || trailers(p) < 0)
		return -1;
	p->in_store_query = outer;
	tsql_parse_leave(p);
	s->in_query = needs_store(s);
	if (!outer && check_without_from(p, s) < 0)
		return -1;
	if (!nested && !s->in_query && scalar_columns(p, s) < 0)
		return -1;
	*ret = s;
	return 0;
}

int tsql_parse_select_statement(struct parser *p)
{
	struct select *s;
	struct insn *in;

	if (tsql_parse_select(p, false, &s) < 0 ||
	    tsql_parse_emit(p, s->in_query ? I_QUERY : I_SELECT, s->line, &in) < 0)
		return -1;
	in->u.select = s;
	return 0;
}
