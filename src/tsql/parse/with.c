/* with.c — WITH name [(columns)] AS (SELECT …), …: common table expressions. Where FROM names one
 * it gets the SELECT itself, as if it had been written there; so nothing after the parser knows
 * them. A SELECT that names itself (recursion) is refused. */
#include "tsql/parse/parser.h"

#include <assert.h>

#define WITH_MAX 50

const struct with *tsql_parse_find_with(const struct parser *p, struct str name)
{
	const struct with *w = p->with;

	while (w != NULL && !str_eq_nocase(w->name, name))
		w = w->outer;
	return w;
}

static int column_names(struct parser *p, struct with *w)
{
	size_t cap = 0;
	int more = tsql_parse_accept_op(p, '(');

	if (more <= 0)
		return more;
	while (more > 0) {
		struct str name;

		if (tsql_parse_grow(p, (void **)&w->columns, w->ncolumns, &cap, sizeof(const char *)) < 0 ||
		    tsql_parse_name(p, &name) < 0)
			return -1;
		w->columns[w->ncolumns] = arena_strndup(p->arena, name.p, name.n);
		if (w->columns[w->ncolumns++] == NULL)
			return tsql_parse_nomem(p);
		more = tsql_parse_accept_op(p, ',');
	}
	return more < 0 ? -1 : tsql_parse_expect_op(p, ')');
}

static int twice(struct parser *p, const struct with *w, int line)
{
	err_raise(p->err, 422, 16, 1, "Duplicate common table expression name '%.*s' was specified.",
		  STR_ARG(w->name));
	return tsql_parse_fail(p, line);
}

static int one(struct parser *p)
{
	struct with *w = arena_alloc(p->arena, sizeof(*w));
	int line = p->tok.line;

	if (w == NULL)
		return tsql_parse_nomem(p);
	if (tsql_parse_name(p, &w->name) < 0)
		return -1;
	if (tsql_parse_find_with(p, w->name) != NULL)
		return twice(p, w, line);
	w->outer = p->with;
	p->with = w; /* without a SELECT yet: who names it now is inside */
	if (column_names(p, w) < 0 || tsql_parse_expect(p, "AS") < 0 || tsql_parse_expect_op(p, '(') < 0)
		return -1;
	if (!tsql_parse_is(p, "SELECT"))
		return tsql_parse_syntax(p);
	return tsql_parse_select(p, true, &w->select) < 0 ? -1 : tsql_parse_expect_op(p, ')');
}

int tsql_parse_with(struct parser *p)
{
	int line = p->tok.line, more = 1, n = 0, rc;

	assert(p->with == NULL && !p->in_store_query); /* a statement's first word */
	if (tsql_parse_next(p) < 0)
		return -1;
	p->in_store_query = true;
	while (more > 0) {
		if (++n > WITH_MAX)
			return tsql_parse_not_supported(p, line, "A WITH of more than 50 SELECTs",
							"Split the query.");
		if (one(p) < 0)
			return -1;
		more = tsql_parse_accept_op(p, ',');
	}
	p->in_store_query = false;
	if (more < 0)
		return -1;
	if (!tsql_parse_is(p, "SELECT"))
		return tsql_parse_not_supported(p, line, "A WITH that is not followed by SELECT",
						"Call the stored procedures instead.");
	rc = tsql_parse_select_statement(p);
	p->with = NULL;
	return rc;
}

int tsql_parse_use_with(struct parser *p, const struct with *w, struct from_item *f)
{
	if (w->select == NULL)
		return tsql_parse_not_supported(p, f->line, "A WITH that names itself",
						"Read the rows step by step.");
	assert(f->derived == NULL && (w->ncolumns == 0) == (w->columns == NULL));
	f->derived = w->select;
	f->is_with = true;
	f->column_names = w->columns;
	f->ncolumn_names = w->ncolumns;
	if (f->alias.n == 0)
		f->alias = w->name;
	return 0;
}
