/* natives.c — steps that are C functions of a service (engine/native.c), as far as they need the
 * store: a statement that runs for each row that one yields. */
#include "engine/sqlite/executor/executor_int.h"

struct native_use {
	struct engine_native native; /* first: each() gets back from it */
	struct meter meter;
	struct runner *runner;
	uint64_t rows; /* ROWS … EACH: sent so far */
};

static struct native_use *use_of(struct native_ctx *ctx)
{
	struct engine_native *n = CONTAINER_OF(ctx, struct engine_native, ctx);

	return CONTAINER_OF(n, struct native_use, native);
}

static int use(struct native_use *u, struct call *c, const struct step *s, struct err *reterr)
{
	u->meter = (struct meter){ .left = 1, .stop = executor_run_stop, .arg = u->runner };
	u->native.meter = &u->meter;
	return engine_native_run(&u->native, u->runner->ex->db, c, s, reterr);
}

int executor_native_run(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct native_use u = { .runner = r };

	return use(&u, c, s, reterr);
}

/* The step's statement with the values of this row. A long document is many short statements:
 * whether the call must stop is asked before each. */
static int begin_row(struct native_use *u, const struct value *fields, size_t nfields,
		     struct store_stmt **ret, struct err *reterr)
{
	const struct statement *s = u->native.step->stmt;
	struct store_stmt *st;

	if (executor_run_stop(u->runner))
		return err_set(reterr, ERR_CANCELLED);
	if (store_statement(u->runner->conn, s, &st, reterr) < 0)
		return -1;
	if (executor_steps_bind(u->runner, u->native.ctx.call, st, s, fields, nfields, reterr) < 0) {
		store_finish(st);
		return -1;
	}
	*ret = st;
	return 0;
}

static int on_row(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct native_use *u = use_of(ctx);
	uint64_t before = store_changes(u->runner->conn);
	struct store_stmt *st;
	int rc;

	if (begin_row(u, fields, nfields, &st, reterr) < 0)
		return -1;
	while ((rc = store_step(st, reterr)) > 0)
		;
	store_finish(st);
	ctx->changes = rc == 0 ? store_changes(u->runner->conn) - before : 0;
	return rc;
}

int executor_native_each(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct native_use u = { .runner = r, .native.each = on_row };

	return use(&u, c, s, reterr);
}

/* What the statement gives for this row of fields is part of the result set. */
static int on_result(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct native_use *u = use_of(ctx);
	const struct step *s = u->native.step;
	struct store_stmt *st;
	int rc;

	if (begin_row(u, fields, nfields, &st, reterr) < 0)
		return -1;
	rc = executor_rows_send_part(u->runner, ctx->call, st, s->columns, s->ncolumns, &u->rows, reterr);
	store_finish(st);
	return rc;
}

int executor_native_rows(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct native_use u = { .runner = r, .native.each = on_result };

	if (call_sink_columns(c->sink, s->columns, s->ncolumns) != 0)
		return err_set(reterr, ERR_CANCELLED);
	if (use(&u, c, s, reterr) < 0)
		return -1;
	return call_sink_rows_done(c->sink, u.rows) == 0 ? 0 : err_set(reterr, ERR_CANCELLED);
}
