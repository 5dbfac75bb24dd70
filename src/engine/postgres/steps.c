/* steps.c — a procedure step by step, a statement and a round trip each: for those whose natives
 * stand in the middle (the system database). The same table of steps that the SQLite engine
 * runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"

struct steps {
	struct pg_conn *conn;
	struct call *call;
	uint64_t count; /* rows of the last RUN or ROWS */
	struct pg_outcome out;
};

static bool stop_native(void *arg)
{
	const struct steps *s = arg;

	return atomic_load_explicit(&s->call->cancelled, memory_order_relaxed);
}

/* ---- statements ---- */

static int bind_all(struct steps *x, const struct statement *s, const struct value *fields, size_t nfields,
		    struct pg_params *p, struct err *reterr)
{
	const struct pg_statement *pg = &x->conn->db->sql->statements[s->id];

	if (postgres_params_init(p, &x->conn->arena, s->nbinds, reterr) < 0)
		return -1;
	for (unsigned i = 0; i < s->nbinds; i++) {
		struct value v;

		if (engine_value(&x->conn->db->base, x->call, &s->binds[i], fields, nfields, &v, reterr) <
			    0 ||
		    postgres_param(p, &x->conn->arena, &v, pg->kinds[i], reterr) < 0)
			return -1;
	}
	return 0;
}

static int answered(struct steps *x, enum pg_state s, const PGresult *r, struct err *reterr)
{
	if (s == PG_OK)
		return 0;
	x->out.broken = s == PG_BROKEN;
	x->out.failed = s == PG_FAILED;
	x->out.conflict = s == PG_FAILED && postgres_is_conflict(r);
	if (s == PG_FAILED)
		postgres_error(x->conn, r, reterr);
	else
		err_set(reterr, ERR_TXN_BROKEN, x->conn->db->base.name);
	return -1;
}

/* Its result is to be cleared by the caller, after success. */
static int run(struct steps *x, const struct statement *s, const struct value *fields, size_t nfields,
	       PGresult **ret, struct err *reterr)
{
	const struct pg_statement *pg = &x->conn->db->sql->statements[s->id];
	struct pg_conn *c = x->conn;
	struct pg_params p;
	enum pg_state state = PG_BROKEN;
	char name[16];
	PGresult *r = NULL;

	arena_reset(&c->arena);
	if (bind_all(x, s, fields, nfields, &p, reterr) < 0)
		return -1;
	snprintf(name, sizeof(name), "s%u", s->id);
	if (postgres_send_prepared(c, name, &c->statements[s->id], pg->sql, &p) && postgres_send_flush(c))
		state = postgres_next(c, &r);
	if (answered(x, state, r, reterr) < 0) {
		PQclear(r);
		return -1;
	}
	*ret = r;
	return 0;
}

static uint64_t changes(const PGresult *r)
{
	const char *tag = PQcmdStatus((PGresult *)r);

	return strncmp(tag, "SELECT", 6) == 0 ? 0 : strtoull(PQcmdTuples((PGresult *)r), NULL, 10);
}

static int step_run(struct steps *x, const struct step *s, struct err *reterr)
{
	PGresult *r;

	if (run(x, s->stmt, NULL, 0, &r, reterr) < 0)
		return -1;
	x->count = changes(r);
	x->call->rows_changed += x->count;
	PQclear(r);
	return 0;
}

/* First column of the first row as a number; without a row, or NULL, *ret is left alone. */
static int first_number(struct steps *x, const struct statement *s, int64_t *ret, struct err *reterr)
{
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value v;
	PGresult *r;
	int rc = 0;

	if (run(x, s, NULL, 0, &r, reterr) < 0)
		return -1;
	x->call->rows_changed += changes(r);
	if (PQntuples(r) > 0) {
		rc = postgres_column(r, 0, 0, &bigint, &x->conn->arena, &v, reterr);
		if (rc == 0 && !v.null)
			*ret = v.u.i;
	}
	PQclear(r);
	return rc;
}

static int condition(struct steps *x, const struct step *s, int64_t *ret, struct err *reterr)
{
	struct value v;

	*ret = 0;
	if (s->test == TEST_NONE)
		return s->stmt == NULL ? 0 : first_number(x, s->stmt, ret, reterr);
	if (s->test == TEST_NOTHING || s->test == TEST_SOMETHING) {
		*ret = (x->count == 0) == (s->test == TEST_NOTHING);
		return 0;
	}
	if (engine_value(&x->conn->db->base, x->call, &s->args[0], NULL, 0, &v, reterr) < 0)
		return -1;
	*ret = v.null == (s->test == TEST_NULL);
	return 0;
}

static int step_check(struct steps *x, const struct step *s, struct err *reterr)
{
	char text[sizeof(reterr->text)];
	int64_t holds;

	if (condition(x, s, &holds, reterr) < 0)
		return -1;
	if (holds != 0)
		return 0;
	if (engine_message(x->call, s->text, text, sizeof(text), reterr) < 0)
		return -1;
	return err_raise(reterr, s->number, s->severity, 1, "%s", text);
}

static int step_message(struct steps *x, const struct step *s, struct err *reterr)
{
	int64_t holds = s->stmt == NULL;

	if (s->stmt != NULL && first_number(x, s->stmt, &holds, reterr) < 0)
		return -1;
	return holds == 0 ? 0 : engine_message_send(x->call, s, reterr);
}

static int take_columns(struct steps *x, const struct step *s, const PGresult *r, struct err *reterr)
{
	struct call *c = x->call;

	for (unsigned i = 0; i < s->ntargets; i++) {
		const struct type *t = engine_value_type(c->proc, s->targets[i]);
		struct value *v = &c->values[s->targets[i]];

		assert(t != NULL);
		if (postgres_column(r, 0, (int)i, t, c->arena, v, reterr) < 0 ||
		    value_copy(v, c->arena, v, reterr) < 0)
			return -1;
	}
	return 0;
}

static int step_set(struct steps *x, const struct step *s, struct err *reterr)
{
	PGresult *r;
	int rc = 0;

	if (run(x, s->stmt, NULL, 0, &r, reterr) < 0)
		return -1;
	x->call->rows_changed += changes(r);
	if (PQntuples(r) > 0)
		rc = take_columns(x, s, r, reterr);
	PQclear(r);
	return rc;
}

static int step_fetch(struct steps *x, const struct step *s, struct err *reterr)
{
	struct pg_params p;
	struct value row;
	char sql[300];
	PGresult *r = NULL;
	enum pg_state state = PG_BROKEN;
	int rc;

	arena_reset(&x->conn->arena);
	snprintf(sql, sizeof(sql), "SELECT \"%.100s\" FROM \"%.100s\" WHERE n = $1", s->column, s->table);
	if (engine_value(&x->conn->db->base, x->call, &s->args[0], NULL, 0, &row, reterr) < 0 ||
	    postgres_params_init(&p, &x->conn->arena, 1, reterr) < 0 ||
	    postgres_param(&p, &x->conn->arena, &row, PG_INT8, reterr) < 0)
		return -1;
	if (postgres_send_params(x->conn, sql, &p) && postgres_send_flush(x->conn))
		state = postgres_next(x->conn, &r);
	rc = answered(x, state, r, reterr);
	if (rc == 0 && PQntuples(r) > 0)
		rc = take_columns(x, s, r, reterr);
	PQclear(r);
	return rc;
}

/* ---- result sets ---- */

static int send_rows(struct steps *x, const struct step *s, const PGresult *r, struct err *reterr)
{
	struct value *vals = arena_array(&x->conn->arena, s->ncolumns, sizeof(*vals));

	if (vals == NULL)
		return err_nomem(reterr);
	for (int row = 0; row < PQntuples(r); row++) {
		for (unsigned i = 0; i < s->ncolumns; i++) {
			if (postgres_column(r, row, (int)i, &s->columns[i].type, &x->conn->arena, &vals[i],
					    reterr) < 0)
				return -1;
		}
		if (call_sink_row(x->call->sink, vals, s->ncolumns) != 0)
			return err_set(reterr, ERR_CANCELLED);
		x->count++;
	}
	return 0;
}

struct use {
	struct engine_native native; /* first: each() gets back from it */
	struct meter meter;
	struct steps *steps;
	const struct step *step;
};

static int on_row(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct engine_native *n = CONTAINER_OF(ctx, struct engine_native, ctx);
	struct use *u = CONTAINER_OF(n, struct use, native);
	PGresult *r;
	int rc = 0;

	if (stop_native(u->steps))
		return err_set(reterr, ERR_CANCELLED);
	if (run(u->steps, u->step->stmt, fields, nfields, &r, reterr) < 0)
		return -1;
	ctx->changes = changes(r);
	u->steps->call->rows_changed += ctx->changes;
	if (u->step->kind == STEP_ROWS)
		rc = send_rows(u->steps, u->step, r, reterr);
	PQclear(r);
	return rc;
}

static int native(struct steps *x, const struct step *s, bool each, struct err *reterr)
{
	struct use u = { .steps = x,
			 .step = s,
			 .meter = { .left = 1, .stop = stop_native, .arg = x },
			 .native.each = each ? on_row : NULL };

	u.native.meter = &u.meter;
	return engine_native_run(&u.native, &x->conn->db->base, x->call, s, reterr);
}

static int step_rows(struct steps *x, const struct step *s, struct err *reterr)
{
	PGresult *r = NULL;
	int rc;

	x->count = 0;
	if (s->native == NULL && run(x, s->stmt, NULL, 0, &r, reterr) < 0)
		return -1;
	if (call_sink_columns(x->call->sink, s->columns, s->ncolumns) != 0)
		rc = err_set(reterr, ERR_CANCELLED);
	else
		rc = s->native != NULL ? native(x, s, true, reterr) : send_rows(x, s, r, reterr);
	PQclear(r);
	if (rc < 0)
		return -1;
	return call_sink_rows_done(x->call->sink, x->count) == 0 ? 0 : err_set(reterr, ERR_CANCELLED);
}

/* ---- the body ---- */

/* Runs one step; *pc is the one after it, or where it jumps to. */
static int step_one(struct steps *x, const struct step *s, unsigned *pc, struct err *reterr)
{
	struct call *c = x->call;
	int64_t number = 0;

	switch ((enum step_kind)s->kind) {
	case STEP_RUN: return step_run(x, s, reterr);
	case STEP_CHECK: return step_check(x, s, reterr);
	case STEP_SET: return step_set(x, s, reterr);
	case STEP_FETCH: return step_fetch(x, s, reterr);
	case STEP_ROWS: return step_rows(x, s, reterr);
	case STEP_NATIVE: return native(x, s, false, reterr);
	case STEP_EACH: return native(x, s, true, reterr);
	case STEP_MESSAGE: return step_message(x, s, reterr);
	case STEP_IF:
		if (condition(x, s, &number, reterr) < 0)
			return -1;
		if (number == 0)
			*pc = s->jump;
		return 0;
	case STEP_RETURN:
		number = s->stmt == NULL ? s->number : 0;
		if (s->stmt != NULL && first_number(x, s->stmt, &number, reterr) < 0)
			return -1;
		c->status = (int32_t)number;
		*pc = c->proc->nsteps;
		return 0;
	}
	return err_set(reterr, ERR_STORE, x->conn->db->base.name, "a procedure's table has an unknown step");
}

/* The clock of the call is the database's. */
static int read_clock(struct steps *x, struct err *reterr)
{
	struct pg_conn *c = x->conn;
	struct pg_params p;
	PGresult *r = NULL;
	enum pg_state state = PG_BROKEN;
	int rc;

	arena_reset(&c->arena);
	if (postgres_params_init(&p, &c->arena, 1, reterr) < 0 ||
	    postgres_param_int(&p, &c->arena, atomic_load(&c->db->clock), reterr) < 0)
		return -1;
	if (postgres_send_fixed_with(c, PG_CLOCK, &p) && postgres_send_flush(c))
		state = postgres_next(c, &r);
	rc = answered(x, state, r, reterr);
	if (rc == 0) {
		x->call->now = postgres_column_int(r, 0, 0);
		postgres_clock_seen(c->db, x->call->now);
	}
	PQclear(r);
	return rc;
}

struct pg_outcome postgres_steps_run(struct pg_conn *c, struct call *call, struct err *reterr)
{
	struct steps x = { .conn = c, .call = call };
	unsigned pc = 0;

	x.out.rc = read_clock(&x, reterr);
	while (x.out.rc == 0 && pc < call->proc->nsteps) {
		const struct step *s = &call->proc->steps[pc++];

		x.out.rc = step_one(&x, s, &pc, reterr);
		if (x.out.rc == 0 && stop_native(&x))
			x.out.rc = err_set(reterr, ERR_CANCELLED);
	}
	return x.out;
}
