/* table.c — table variables while a program runs: rows that procedures tell, in memory that is
 * taken from the session's account; SELECT reads them (query/text.c writes them for the database).
 * An engine's thread adds rows while the run waits for it. */
#include "tsql/run/run.h"

#include <assert.h>
#include <string.h>

#include "value/convert.h"

struct table {
	struct tsql_into into;
	struct table *next;
	int var;
	const struct table_type *type;
	struct table_rows rows;
	size_t cap, before; /* before: rows when the INSERT began */
	size_t bytes, most; /* of all rows; no more than an expression may make */
	struct arena arena;
	struct sink *messages;
};

static struct table *of_sink(struct sink *s)
{
	return CONTAINER_OF(CONTAINER_OF(s, struct tsql_into, sink), struct table, into);
}

static int take_columns(struct sink *s, const struct column *columns, size_t n)
{
	struct table *t = of_sink(s);

	(void)columns;
	if (n == t->type->n)
		return 0;
	return err_raise(&t->into.err, 213, 16, 7,
			 "Column name or number of supplied values does not match table definition: the "
			 "procedure tells %zu columns, the table variable has %zu.",
			 n, t->type->n);
}

static int grow(struct table *t)
{
	size_t cap = t->cap == 0 ? 64 : t->cap * 2;
	struct value **rows = arena_array(&t->arena, cap, sizeof(struct value *));

	if (rows == NULL)
		return err_nomem(&t->into.err);
	if (t->rows.n > 0)
		memcpy(rows, t->rows.rows, t->rows.n * sizeof(struct value *));
	t->rows.rows = rows;
	t->cap = cap;
	return 0;
}

static int take_value(struct table *t, const struct value *v, const struct column *c, struct value *ret)
{
	struct value converted;

	if (v->null && !c->nullable)
		return err_raise(&t->into.err, 515, 16, 2,
				 "Cannot insert the value NULL into column '%.128s' of a table variable; "
				 "column does not allow nulls. INSERT fails.",
				 c->name);
	if (value_convert(v, &c->type, CONVERT_ARGUMENT, c->name, &t->arena, &converted, &t->into.err) < 0)
		return -1;
	t->bytes += sizeof(*ret) + tsql_eval_size(&converted);
	if (t->bytes > t->most)
		return err_set(&t->into.err, ERR_TOO_LARGE, "A table variable", (unsigned long long)t->most,
			       "max_value_size");
	return value_copy(&converted, &t->arena, ret, &t->into.err);
}

static int take_row(struct sink *s, const struct value *values, size_t n)
{
	struct table *t = of_sink(s);
	struct value *row;

	assert(n == t->type->n);
	if (t->rows.n == t->cap && grow(t) < 0)
		return -1;
	row = arena_array(&t->arena, n, sizeof(*row));
	if (row == NULL)
		return err_nomem(&t->into.err);
	for (size_t i = 0; i < n; i++) {
		if (take_value(t, &values[i], &t->type->columns[i], &row[i]) < 0)
			return -1;
	}
	t->rows.rows[t->rows.n++] = row;
	return 0;
}

static int take_rows_done(struct sink *s, uint64_t rows)
{
	(void)s, (void)rows;
	return 0;
}

static int take_message(struct sink *s, const struct err *e)
{
	return call_sink_message(of_sink(s)->messages, e);
}

static size_t take_mark(struct sink *s)
{
	return of_sink(s)->rows.n;
}

static bool take_back(struct sink *s, size_t mark)
{
	of_sink(s)->rows.n = mark;
	return true;
}

static const struct sink_ops ops = {
	.columns = take_columns,
	.row = take_row,
	.rows_done = take_rows_done,
	.message = take_message,
	.mark = take_mark,
	.rewind = take_back,
};

int tsql_run_make_table(struct tsql_run *r, int var, struct err *reterr)
{
	struct tsql_state *st = r->state;
	struct table *t = arena_alloc(r->arena, sizeof(*t));

	if (t == NULL)
		return err_nomem(reterr);
	t->into.sink.ops = &ops;
	t->var = var;
	t->type = t->rows.type = st->prog->vars[var].table;
	t->most = r->host->max_value == 0 ? SIZE_MAX : r->host->max_value;
	arena_init(&t->arena, r->arena->limit);
	arena_charge(&t->arena, r->arena->budget);
	t->next = st->tables;
	st->tables = t;
	st->slots[var].table = &t->rows;
	return 0;
}

void tsql_run_drop_tables(struct tsql_run *r)
{
	for (struct table *t = r->state->tables; t != NULL; t = t->next) {
		arena_fini(&t->arena);
		t->rows.n = 0;
	}
	r->state->tables = NULL;
}

static struct table *table_of(const struct tsql_run *r, int var)
{
	struct table *t = r->state->tables;

	while (t != NULL && t->var != var)
		t = t->next;
	assert(t != NULL);
	return t;
}

struct tsql_into *tsql_run_into(struct tsql_run *r, int var)
{
	struct table *t = table_of(r, var);

	err_clear(&t->into.err);
	t->before = t->rows.n;
	t->messages = r->host->sink;
	return &t->into;
}

void tsql_run_inserted(struct tsql_run *r, int var, bool failed)
{
	struct table *t = table_of(r, var);

	if (!failed) {
		tsql_run_done(r, CMD_INSERT, true, t->rows.n - t->before);
		return;
	}
	t->rows.n = t->before;
	r->host->vars->rowcount = 0;
	r->host->ops->statement_done(r->host, CMD_INSERT, false, 0, true);
}
