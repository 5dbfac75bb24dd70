/* query.c — a parsed SELECT is checked, then written in the dialect of the database that
 * runs it. */
#include "query/query.h"

#include <assert.h>
#include <string.h>

#include "query/check.h"
#include "query/emit.h"

/* set: which variables the SELECT sets, n of them looked at. */
static bool reads_any(struct query_check *c, const struct expr *e, const bool *set, size_t n)
{
	if (e == NULL || tsql_eval_spend(c->ev, 4) < 0)
		return false;
	if (e->kind == E_VARIABLE)
		return (size_t)e->var < n && set[e->var];
	for (size_t i = 0; i < e->nargs; i++) {
		if (reads_any(c, e->args[i], set, n))
			return true;
	}
	return false;
}

/* SELECT @s = @s + x FROM …: T-SQL carries the variable from row to row, a database cannot. */
static int check_assignment(struct query_check *c, const struct select *s)
{
	size_t n = 0;
	bool *set;

	if (!s->assigns)
		return 0;
	for (size_t i = 0; i < s->nitems; i++)
		n = (size_t)s->items[i].var >= n ? (size_t)s->items[i].var + 1 : n;
	set = arena_array(c->ev->arena, n, sizeof(*set));
	if (set == NULL)
		return err_nomem(c->ev->err);
	for (size_t i = 0; i < s->nitems; i++)
		set[s->items[i].var] = true;
	for (size_t i = 0; i < s->nitems; i++) {
		if (s->items[i].assign_op >= 0 || reads_any(c, s->items[i].expr, set, n))
			return query_refuse(c, s->line, "A SELECT … FROM that reads the variable it sets");
	}
	return 0;
}

static int check(struct query_check *c, const struct select *s, int64_t most, const struct query_select **ret)
{
	if (check_assignment(c, s) < 0 || query_select(c, s, NULL, most, ret) < 0)
		return query_fail(c, s->line);
	if (c->any_system && c->service.n > 0) {
		err_set(c->ev->err, ERR_NOT_SUPPORTED,
			"One SELECT over system views and tables of the database", "Use two SELECTs.");
		return query_fail(c, s->line);
	}
	return 0;
}

/* Of the engine that will run it. */
static enum query_sql sql_of(const struct query_check *c)
{
	return (enum query_sql)(c->service.n == 0 ? c->host->sql : c->sql);
}

static int finish(struct query_check *c, const struct query_select *checked, bool assign,
		  const struct query **ret)
{
	struct query_text text = { .ev = c->ev };
	struct query *q = arena_alloc(c->ev->arena, sizeof(*q));

	assert(checked != NULL);
	if (q == NULL)
		return err_nomem(c->ev->err);
	q->dialect = sql_of(c);
	(q->dialect == QUERY_POSTGRES ? &query_dialect_postgres : &query_dialect_sqlite)
		->write(&text, checked);
	query_text_put(&text, (struct str){ "", 1 }); /* its end */
	if (text.failed)
		return query_fail(c, c->line);
	q->sql = text.p;
	q->values = text.values;
	q->nvalues = text.nvalues;
	q->columns = checked->terms->columns;
	q->ncolumns = checked->terms->n;
	q->system = c->service.n == 0;
	q->database = q->system ? NULL : arena_strndup(c->ev->arena, c->service.p, c->service.n);
	q->assign = assign;
	if (!q->system && q->database == NULL)
		return err_nomem(c->ev->err);
	*ret = q;
	return 0;
}

int query_translate(struct eval *ev, const struct select *s, const struct query **ret)
{
	struct query_check c = { .ev = ev, .host = ev->host, .line = s->line };
	int64_t most = ev->host->vars->rowcount_limit;
	const struct query_select *checked = NULL;

	if (check(&c, s, most > 0 ? most : -1, &checked) < 0)
		return -1;
	return finish(&c, checked, s->assigns, ret);
}

int query_translate_sub(struct eval *ev, const struct select *s, bool exists, const struct query **ret)
{
	struct query_check c = { .ev = ev, .host = ev->host, .line = s->line };
	const struct query_select *checked = NULL;

	if (check(&c, s, exists ? 1 : 2, &checked) < 0)
		return -1;
	return finish(&c, checked, true, ret);
}

int query_describe(struct eval *ev, const struct select *s, const struct column **ret, size_t *ret_n)
{
	struct query_check c = { .ev = ev, .host = ev->host, .line = s->line };
	const struct query_select *checked = NULL;

	if (check(&c, s, -1, &checked) < 0)
		return -1;
	assert(checked != NULL);
	*ret = checked->terms->columns;
	*ret_n = checked->terms->n;
	return 0;
}
