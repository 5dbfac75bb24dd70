/* call.c — a call as one statement: the function that the generator made of its procedure. What
 * natives have to say is asked before; its rows go along as arrays. The answer is one list of rows,
 * in the order of things: rows of result sets, messages, a broken rule, the end. */
#include <stdio.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"

#define FIELDS_MAX 16
#define ROWS_FIRST 64

/* The fixed columns of an answer. */
enum { ANSWER_STEP, ANSWER_NUMBER, ANSWER_TEXT, ANSWER_CHANGED, ANSWER_NOW, ANSWER_VALUES };

const struct pg_function *postgres_function(const struct pg_database *db, const struct call *c)
{
	const struct pg_function *f;

	if (c->kind != CALL_PROC || db->sql->functions == NULL)
		return NULL;
	assert(c->proc >= db->procs->procs && c->proc < db->procs->procs + db->procs->nprocs);
	f = &db->sql->functions[c->proc - db->procs->procs];
	return f->sql == NULL ? NULL : f;
}

/* ---- natives, before ---- */

/* The rows that the native of one step yields, field by field. */
struct gathered {
	struct engine_native native; /* first: each() gets back from it */
	struct meter meter;
	struct arena *arena;
	struct value *values; /* row by row, in the arena */
	size_t nrows, cap, nfields;
	unsigned step;
};

static int gather_row(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct engine_native *n = CONTAINER_OF(ctx, struct engine_native, ctx);
	struct gathered *g = CONTAINER_OF(n, struct gathered, native);

	if (g->nrows == g->cap) {
		size_t cap = g->cap == 0 ? ROWS_FIRST : 2 * g->cap;
		struct value *grown = arena_array(g->arena, cap * nfields, sizeof(*grown));

		if (grown == NULL)
			return err_nomem(reterr);
		if (g->nrows > 0)
			memcpy(grown, g->values, g->nrows * nfields * sizeof(*grown));
		g->values = grown;
		g->cap = cap;
	}
	g->nfields = nfields;
	for (size_t i = 0; i < nfields; i++) {
		if (value_copy(&fields[i], g->arena, &g->values[g->nrows * nfields + i], reterr) < 0)
			return -1;
	}
	g->nrows++;
	ctx->changes = 1;
	return 0;
}

static bool stop_native(void *arg)
{
	return atomic_load_explicit(&((struct call *)arg)->cancelled, memory_order_relaxed);
}

static int gather(struct pg_conn *c, struct call *call, unsigned step, struct gathered *g, struct err *reterr)
{
	*g = (struct gathered){ .arena = &c->arena,
				.step = step,
				.meter = { .left = 1, .stop = stop_native, .arg = call },
				.native.each = gather_row };
	g->native.meter = &g->meter;
	return engine_native_run(&g->native, &c->db->base, call, &call->proc->steps[step], reterr);
}

/* A native that stands first gives values, or keeps something for those that follow; what may run
 * ahead has done so already. */
static int run_first(struct pg_conn *c, struct call *call, struct err *reterr)
{
	struct engine_native n = { 0 };
	struct meter meter = { .left = 1, .stop = stop_native, .arg = call };
	const struct proc *p = call->proc;

	if (p->nsteps == 0 || p->steps[0].kind != STEP_NATIVE)
		return 0;
	n.meter = &meter;
	return engine_native_run(&n, &c->db->base, call, &p->steps[0], reterr);
}

/* ---- arguments ---- */

static int bind_field(struct pg_conn *c, struct call *call, const struct pg_arg *arg, struct gathered *g,
		      struct pg_params *p, struct err *reterr)
{
	if (g->native.step == NULL || g->step != arg->step) {
		if (gather(c, call, arg->step, g, reterr) < 0)
			return -1;
	}
	assert(g->nrows == 0 || arg->index < g->nfields);
	return postgres_param_array(p, &c->arena, g->nrows == 0 ? NULL : g->values + arg->index, g->nfields,
				    g->nrows, arg->kind, reterr);
}

int postgres_bind(struct pg_conn *c, struct call *call, const struct pg_arg *arg, struct pg_params *p,
		  struct err *reterr)
{
	static const uint8_t sources[] = { [PG_ARG_VALUE] = BIND_PARAM,     [PG_ARG_TRIMMED] = BIND_TRIMMED,
					   [PG_ARG_LITERAL] = BIND_LITERAL, [PG_ARG_LOGIN] = BIND_LOGIN,
					   [PG_ARG_SLACK] = BIND_SLACK,     [PG_ARG_DATABASE] = BIND_DATABASE,
					   [PG_ARG_CLOCK] = BIND_NOW };
	struct bind b = { .index = arg->index };
	struct value v;

	assert(arg->source != PG_ARG_FIELD);
	if (arg->source == PG_ARG_CLOCK)
		return postgres_param_int(p, &c->arena, atomic_load(&c->db->clock), reterr);
	b.source = sources[arg->source];
	if (engine_value(&c->db->base, call, &b, NULL, 0, &v, reterr) < 0)
		return -1;
	return postgres_param(p, &c->arena, &v, arg->kind, reterr);
}

int postgres_call_send(struct pg_conn *c, struct call *call, bool *ret_broken, struct err *reterr)
{
	const struct pg_function *f = postgres_function(c->db, call);
	size_t index = (size_t)(f - c->db->sql->functions);
	struct gathered g = { .native.step = NULL };
	struct pg_params p;
	char name[16];
	int rc = 0;

	*ret_broken = false;
	call->now = atomic_load(&c->db->clock);
	arena_reset(&c->arena);
	if (run_first(c, call, reterr) < 0 || postgres_params_init(&p, &c->arena, f->nargs, reterr) < 0)
		return -1;
	for (unsigned i = 0; rc == 0 && i < f->nargs; i++)
		rc = f->args[i].source == PG_ARG_FIELD ? bind_field(c, call, &f->args[i], &g, &p, reterr)
						       : postgres_bind(c, call, &f->args[i], &p, reterr);
	if (rc < 0)
		return -1;
	snprintf(name, sizeof(name), "f%zu", index);
	*ret_broken = !postgres_send_prepared(c, name, &c->functions[index], f->sql, &p);
	return *ret_broken ? -1 : 0;
}

/* ---- the answer ---- */

struct answer {
	struct pg_conn *conn;
	struct call *call;
	const struct pg_function *f;
	const PGresult *r;
	bool rule;      /* it ended by a rule of its own */
	int open;       /* the ROWS step whose set is being sent, or -1 */
	uint64_t nrows; /* of it */
};

static int gone(struct err *reterr)
{
	return err_set(reterr, ERR_CANCELLED);
}

/* Where the columns of this ROWS step begin. */
static int first_column(const struct answer *a, int step)
{
	int at = ANSWER_VALUES + a->f->noutputs;

	for (int i = 0; i < step; i++) {
		if (a->call->proc->steps[i].kind == STEP_ROWS)
			at += a->call->proc->steps[i].ncolumns;
	}
	return at;
}

static int close_set(struct answer *a, struct err *reterr)
{
	int rc = a->open < 0 ? 0 : call_sink_rows_done(a->call->sink, a->nrows);

	a->open = -1;
	a->nrows = 0;
	return rc == 0 ? 0 : gone(reterr);
}

static int take_row(struct answer *a, int row, int step, struct err *reterr)
{
	const struct step *s = &a->call->proc->steps[step];
	struct value *vals = arena_array(&a->conn->arena, s->ncolumns, sizeof(*vals));
	int at = first_column(a, step);

	if (vals == NULL)
		return err_nomem(reterr);
	if (a->open != step) {
		if (close_set(a, reterr) < 0)
			return -1;
		a->open = step;
		if (call_sink_columns(a->call->sink, s->columns, s->ncolumns) != 0)
			return gone(reterr);
	}
	if (!PQgetisnull(a->r, row, ANSWER_NUMBER)) /* it ran, and has none */
		return 0;
	for (unsigned i = 0; i < s->ncolumns; i++) {
		if (postgres_column(a->r, row, at + (int)i, &s->columns[i].type, &a->conn->arena, &vals[i],
				    reterr) < 0)
			return -1;
	}
	a->nrows++;
	return call_sink_row(a->call->sink, vals, s->ncolumns) == 0 ? 0 : gone(reterr);
}

static int text_in(const struct answer *a, int row, struct str *ret, struct err *reterr)
{
	struct str s = { PQgetvalue(a->r, row, ANSWER_TEXT), (size_t)PQgetlength(a->r, row, ANSWER_TEXT) };

	return postgres_text_in(s, &a->conn->arena, ret, reterr);
}

static int take_message(struct answer *a, int row, const struct step *s, struct err *reterr)
{
	struct err note;
	struct str text;

	if (text_in(a, row, &text, reterr) < 0)
		return -1;
	err_clear(&note);
	note.number = s->number;
	note.severity = s->severity;
	note.state = 1;
	note.line = 1;
	str_copy(note.proc, sizeof(note.proc), str_of(a->call->proc->name));
	str_copy(note.text, sizeof(note.text), text);
	return call_sink_message(a->call->sink, &note) == 0 ? 0 : gone(reterr);
}

static int take_check(struct answer *a, int row, const struct step *s, struct err *reterr)
{
	struct str text;

	if (text_in(a, row, &text, reterr) < 0)
		return -1;
	a->rule = true;
	return err_raise(reterr, s->number, s->severity, 1, "%.*s", STR_ARG(text));
}

static int take_end(struct answer *a, int row, struct err *reterr)
{
	struct call *c = a->call;

	c->status = (int32_t)postgres_column_int(a->r, row, ANSWER_NUMBER);
	c->rows_changed = (uint64_t)postgres_column_int(a->r, row, ANSWER_CHANGED);
	for (unsigned i = 0; i < a->f->noutputs; i++) {
		unsigned target = a->f->outputs[i];
		const struct type *t = engine_value_type(c->proc, target);
		struct value *v = &c->values[target];

		assert(t != NULL);
		if (postgres_column(a->r, row, ANSWER_VALUES + (int)i, t, c->arena, v, reterr) < 0 ||
		    value_copy(v, c->arena, v, reterr) < 0)
			return -1;
	}
	return 0;
}

static int take_one(struct answer *a, int row, struct err *reterr)
{
	int step = (int)postgres_column_int(a->r, row, ANSWER_STEP);
	const struct step *s;

	if (!PQgetisnull(a->r, row, ANSWER_NOW)) {
		a->call->now = postgres_column_int(a->r, row, ANSWER_NOW);
		postgres_clock_seen(a->conn->db, a->call->now);
	}
	if (step >= 0 && step < a->call->proc->nsteps && a->call->proc->steps[step].kind == STEP_ROWS)
		return take_row(a, row, step, reterr);
	if (close_set(a, reterr) < 0)
		return -1;
	if (step < 0)
		return take_end(a, row, reterr);
	if (step >= a->call->proc->nsteps)
		return err_set(reterr, ERR_STORE, a->conn->db->base.name, "a function names an unknown step");
	s = &a->call->proc->steps[step];
	return s->kind == STEP_MESSAGE ? take_message(a, row, s, reterr) : take_check(a, row, s, reterr);
}

static int taken(const struct answer *a, int rc)
{
	return rc == 0 ? 0 : a->rule ? -1 : PG_UNTAKEN;
}

int postgres_call_take(struct pg_conn *c, struct call *call, const PGresult *r, struct err *reterr)
{
	struct answer a = {
		.conn = c, .call = call, .f = postgres_function(c->db, call), .r = r, .open = -1
	};
	int rc = 0;

	assert(a.f != NULL); /* it was sent as a function */
	arena_reset(&c->arena);
	if (PQnfields(r) < ANSWER_VALUES + a.f->noutputs || PQntuples(r) == 0) {
		(void)err_set(reterr, ERR_STORE, c->db->base.name, "a function gave no answer");
		return PG_UNTAKEN;
	}
	for (int row = 0; rc == 0 && row < PQntuples(r); row++)
		rc = take_one(&a, row, reterr);
	return taken(&a, rc);
}

int postgres_call_take_row(struct pg_conn *c, struct call *call, const PGresult *r, int row,
			   struct err *reterr)
{
	struct answer a = {
		.conn = c, .call = call, .f = postgres_function(c->db, call), .r = r, .open = -1
	};

	assert(a.f != NULL && a.f->one_row && PQnfields(r) >= ANSWER_VALUES + a.f->noutputs);
	arena_reset(&c->arena);
	return taken(&a, take_one(&a, row, reterr));
}
