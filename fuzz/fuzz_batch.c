/* fuzz_batch.c — the text of a batch: lexer, parser, static types, the evaluator, and the
 * translation of SELECTs. Everything that is handed out is answered at once; loops stop after a
 * few turns. Input: BYTE flags, then the text. */
#include <string.h>

#include "fuzz.h"
#include "tsql/tsql.h"

struct host {
	struct sink sink;
	struct tsql_host host;
	struct tsql_session vars;
	unsigned rows;
};

static int take_columns(struct sink *s, const struct column *c, size_t n)
{
	(void)s;
	for (size_t i = 0; i < n; i++)
		HOLDS(c[i].name != NULL && c[i].type.id != TYPE_NULL && c[i].type.id < TYPE_COUNT);
	return 0;
}

static int take_row(struct sink *s, const struct value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		HOLDS(v[i].type.id != TYPE_NULL);
	return ++CONTAINER_OF(s, struct host, sink)->rows < 1000 ? 0 : -1;
}

static int take_rows_done(struct sink *s, uint64_t rows)
{
	(void)s;
	(void)rows;
	return 0;
}

static int take_message(struct sink *s, const struct err *e)
{
	(void)s;
	HOLDS(strlen(e->text) < sizeof(e->text) && e->line > 0);
	return 0;
}

static size_t take_mark(struct sink *s)
{
	return (size_t)CONTAINER_OF(s, struct host, sink)->rows;
}

static bool take_rewind(struct sink *s, size_t mark)
{
	CONTAINER_OF(s, struct host, sink)->rows = (unsigned)mark;
	return true;
}

static const struct sink_ops sink_ops = { .columns = take_columns,
					  .row = take_row,
					  .rows_done = take_rows_done,
					  .message = take_message,
					  .mark = take_mark,
					  .rewind = take_rewind };

static void statement_done(struct tsql_host *h, enum tsql_command cmd, bool has_count, uint64_t count,
			   bool error)
{
	(void)h;
	HOLDS(cmd != CMD_NONE && (has_count || count == 0) && !(has_count && error));
}

static int give_value(struct tsql_host *h, const char *name, const struct value *args, size_t nargs,
		      struct arena *a, struct value *ret, struct err *reterr)
{
	(void)h;
	(void)args;
	(void)a;
	if (nargs > 3)
		return err_raise(reterr, 50000, 16, 1, "refused");
	if (name[0] == 'S')
		return 0;
	*ret = name[0] == '@' ? value_int(TYPE_INT, 16) : value_nvarchar("Db1");
	return 1;
}

static int use(struct tsql_host *h, struct str database, struct err *reterr)
{
	(void)h;
	return database.n % 2 == 0 ? 0 : err_set(reterr, ERR_NO_DATABASE_USE, "x");
}

static int database(struct tsql_host *h, struct str name, struct tsql_database *ret, struct err *reterr)
{
	(void)h;
	*ret = (struct tsql_database){ .name = "Db1", .service = SERVICE_STATE, .may_select = true };
	if (name.n % 3 == 1)
		*ret = (struct tsql_database){ .name = "Db2", .service = SERVICE_WORD, .may_select = true };
	return name.n % 3 == 2 ? err_set(reterr, ERR_NO_OBJECT, "") : 0;
}

static int end_session(struct tsql_host *h, int64_t session, struct err *reterr)
{
	(void)h;
	return session % 2 == 0 ? 0 : err_set(reterr, ERR_KILL_SELF);
}

static const struct tsql_host_ops host_ops = { .statement_done = statement_done,
					       .value = give_value,
					       .use = use,
					       .database = database,
					       .kill = end_session };

static void check_query(const struct query *q)
{
	HOLDS(q->sql != NULL && q->ncolumns > 0);
	for (const char *p = q->sql; (p = strchr(p, '?')) != NULL; p++) /* every mark has its value */
		HOLDS(strtoul(p + 1, NULL, 10) >= 1 && strtoul(p + 1, NULL, 10) <= q->nvalues);
}

static void answer_query(struct tsql_run *r, struct arena *a)
{
	struct value *row = arena_array(a, r->query->ncolumns, sizeof(*row));

	check_query(r->query);
	if (row == NULL) {
		tsql_query_done(r, -1, NULL, 0, NULL);
		return;
	}
	for (size_t i = 0; i < r->query->ncolumns; i++)
		row[i] = value_null(r->query->columns[i].type);
	tsql_query_done(r, 0, NULL, 1, row);
}

/* INSERT … EXEC of a procedure that tells two columns. */
static int fill(struct tsql_into *into)
{
	static const struct column columns[] = { { "n", TYPE_OF(TYPE_INT), true },
						 { "t", TYPE_LEN(TYPE_NVARCHAR, 9), false } };
	const struct value rows[][2] = {
		{ value_int(TYPE_INT, 300),
		  value_text(TYPE_LEN(TYPE_NVARCHAR, 9), (struct str){ "7\0\"\x01", 4 }) },
		{ value_null(TYPE_OF(TYPE_INT)), value_nvarchar("") },
	};
	int rc = call_sink_columns(&into->sink, columns, ARRAY_LEN(columns));

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(rows); i++)
		rc = call_sink_row(&into->sink, rows[i], ARRAY_LEN(columns));
	HOLDS((rc == 0) == (into->err.number == 0));
	return rc;
}

static bool answer(struct tsql_run *r, enum tsql_wants w, struct arena *a)
{
	struct value outputs[64] = { { .null = true } };
	int32_t status = 1;

	switch (w) {
	case TSQL_EXEC:
		for (size_t i = 0; i < ARRAY_LEN(outputs); i++)
			outputs[i] = value_int(TYPE_INT, (int64_t)i);
		if (r->exec.into != NULL && fill(r->exec.into) < 0) {
			tsql_exec_done(r, -1, r->exec.into->err.number, false, NULL, NULL);
			return true;
		}
		tsql_exec_done(r, 0, 0, false, &status, r->exec.nargs <= ARRAY_LEN(outputs) ? outputs : NULL);
		return true;
	case TSQL_EXEC_TEXT: tsql_exec_done(r, -1, 50000, false, NULL, NULL); return true;
	case TSQL_QUERY: answer_query(r, a); return true;
	case TSQL_TRAN: tsql_tran_done(r, 0, NULL); return true;
	case TSQL_WAIT:
		HOLDS(r->wait_ms <= 86400000);
		tsql_wait_done(r);
		return true;
	case TSQL_FAILED: HOLDS(r->err.number != 0); return false;
	default: return false;
	}
}

static void run(struct host *h, const struct tsql_program *p, struct arena *a)
{
	const struct column *columns;
	struct meter meter = { .left = 4 << 20 };
	struct tsql_run r;
	struct err e = { 0 };
	size_t n;

	if (tsql_describe(p, &h->host, NULL, a, &columns, &n, &e) < 0)
		HOLDS(e.number != 0);
	HOLDS(tsql_run_start(p, &h->host, NULL, 0, a, &r, &e) == 0 || e.number != 0);
	if (e.number != 0 && r.state == NULL)
		return;
	for (int turns = 0; turns < 200; turns++) {
		enum tsql_wants w = tsql_next(&r);

		if (w == TSQL_YIELD)
			w = tsql_next_long(&r, &meter);
		if (w != TSQL_HERE && !answer(&r, w, a))
			break;
	}
	tsql_run_end(&r);
}

/* The same text with parameters that nobody declared. */
static void look(struct host *h, struct str text, struct arena *a)
{
	const struct tsql_undeclared *found = NULL;
	struct tsql_program *p;
	struct err e = { 0 };
	size_t n = 0;

	if (tsql_compile_undeclared(text, &h->vars, NULL, 0, NULL, a, &p, &e) < 0 ||
	    tsql_undeclared(p, &h->host, NULL, a, &found, &n, &e) < 0) {
		HOLDS(e.number != 0);
		return;
	}
	for (size_t i = 0; i < n; i++)
		HOLDS(found[i].name.n > 1 && found[i].type.id != TYPE_NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host h = { .sink = { &sink_ops } };
	struct tsql_declared *declared;
	struct tsql_program *p;
	struct err e = { 0 };
	struct arena a;
	struct str text;
	size_t n;

	if (size < 1)
		return 0;
	tsql_session_init(&h.vars, (data[0] & 1) != 0);
	h.host = (struct tsql_host){ .sink = &h.sink, .vars = &h.vars, .ops = &host_ops };
	text = (struct str){ (const char *)data + 1, size - 1 };
	arena_init(&a, 8 << 20);
	if ((data[0] & 2) != 0) {
		HOLDS(tsql_parse_declarations(text, &a, &declared, &n, &e) == 0 ||
		      (e.number != 0 && e.line >= 0));
	} else if (tsql_compile(text, &h.vars, NULL, 0, NULL, &a, &p, &e) == 0) {
		run(&h, p, &a);
	} else {
		HOLDS(e.number != 0 && (e.line > 0 || e.number == 701));
		look(&h, text, &a);
	}
	arena_fini(&a);
	return 0;
}
