/* natives.c — steps that are C functions of a service: one that takes and gives values, one that yields rows for a statement. */
#include <assert.h>

#include "catalogue/native.h"
#include "executor/executor_int.h"

struct native_call {
	struct native_ctx ctx; /* first: each() gets back from it */
	struct runner *runner;
	struct meter meter;
	const struct step *step;
	uint64_t rows; /* ROWS … EACH: sent so far */
};

static int prepare(struct native_call *n, struct runner *r, struct call *c, const struct step *s,
		   native_fn *ret, struct err *reterr)
{
	struct value *args = arena_array(c->arena, s->nargs, sizeof(*args));

	if (args == NULL)
		return err_nomem(reterr);
	for (unsigned i = 0; i < s->nargs; i++) {
		if (steps_value(r, c, &s->args[i], NULL, 0, &args[i], reterr) < 0)
			return -1;
	}
	*n = (struct native_call){ .ctx = { .call = c, .conn = r->conn, .args = args, .nargs = s->nargs },
				   .runner = r,
				   .step = s };
	n->meter = (struct meter){ .left = 1, .stop = run_stop, .arg = r };
	n->ctx.meter = &n->meter;
	*ret = native_find(s->native, &n->ctx.userdata);
	if (*ret == NULL)
		return err_set(reterr, ERR_NOT_SUPPORTED, s->native,
			       "The server was built without this function.");
	return 0;
}

static const struct type *type_of(const struct proc *p, unsigned index)
{
	return index < p->nparams ? &p->params[index].type : &p->locals[index - p->nparams].type;
}

/* ---- before the call is submitted ---- */

bool executor_has_ahead(const struct proc *p)
{
	return p->nsteps > 0 && p->steps[0].kind == STEP_NATIVE && native_is_ahead(p->steps[0].native);
}

int executor_run_ahead(struct executor *ex, struct call *c, struct meter *m)
{
	struct runner r = { .ex = ex };
	struct native_call n;
	native_fn fn;

	assert(executor_has_ahead(c->proc) && c->scratch == NULL && c->proc->steps[0].ntargets == 0);
	if (prepare(&n, &r, c, &c->proc->steps[0], &fn, &c->err) == 0) {
		n.ctx.meter = m;
		if (fn(&n.ctx, &c->err) == 0)
			return 0;
	}
	run_fail(c, &c->err);
	return -1;
}

/* ---- steps ---- */

int native_run(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct native_call n;
	native_fn fn;

	if (prepare(&n, r, c, s, &fn, reterr) < 0)
		return -1;
	n.ctx.results = arena_array(c->arena, s->ntargets, sizeof(struct value));
	if (n.ctx.results == NULL)
		return err_nomem(reterr);
	n.ctx.nresults = s->ntargets;
	for (unsigned i = 0; i < s->ntargets; i++)
		value_set_null(&n.ctx.results[i], *type_of(c->proc, s->targets[i]));
	if (fn(&n.ctx, reterr) != 0)
		return -1;
	for (unsigned i = 0; i < s->ntargets; i++) {
		if (value_copy(&n.ctx.results[i], c->arena, &c->values[s->targets[i]], reterr) < 0)
			return -1;
	}
	return 0;
}

static int on_row(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct native_call *n = CONTAINER_OF(ctx, struct native_call, ctx);
	uint64_t before = store_changes(n->runner->conn);
	struct store_stmt *st;
	int rc;

	if (run_stop(n->runner)) /* a long document is many short statements */
		return err_set(reterr, ERR_CANCELLED);
	if (store_statement(n->runner->conn, n->step->stmt, &st, reterr) < 0)
		return -1;
	rc = steps_bind(n->runner, ctx->call, st, n->step->stmt, fields, nfields, reterr);
	while (rc == 0 && (rc = store_step(st, reterr)) > 0)
		rc = 0;
	store_finish(st);
	ctx->changes = rc == 0 ? store_changes(n->runner->conn) - before : 0;
	return rc;
}

/* ROWS … EACH: what the statement gives for this row of fields is part of the result set. */
static int on_result(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct native_call *n = CONTAINER_OF(ctx, struct native_call, ctx);
	struct store_stmt *st;
	int rc;

	if (run_stop(n->runner))
		return err_set(reterr, ERR_CANCELLED);
	if (store_statement(n->runner->conn, n->step->stmt, &st, reterr) < 0)
		return -1;
	rc = steps_bind(n->runner, ctx->call, st, n->step->stmt, fields, nfields, reterr);
	if (rc == 0)
		rc = rows_send_part(n->runner, ctx->call, st, n->step->columns, n->step->ncolumns, &n->rows,
				    reterr);
	store_finish(st);
	return rc;
}

int native_rows(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct native_call n;
	native_fn fn;

	if (prepare(&n, r, c, s, &fn, reterr) < 0)
		return -1;
	n.ctx.each = on_result;
	if (sink_columns(c->sink, s->columns, s->ncolumns) != 0)
		return err_set(reterr, ERR_CANCELLED);
	if (fn(&n.ctx, reterr) != 0)
		return -1;
	return sink_rows_done(c->sink, n.rows) == 0 ? 0 : err_set(reterr, ERR_CANCELLED);
}

int native_each(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct native_call n;
	native_fn fn;

	if (prepare(&n, r, c, s, &fn, reterr) < 0)
		return -1;
	n.ctx.each = on_row;
	return fn(&n.ctx, reterr) == 0 ? 0 : -1;
}
