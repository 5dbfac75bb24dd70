/* run.c — one call on one connection, waited for: its limits, its result. Knows nothing of
 * transactions: the caller puts one around it. */
#include <stdio.h>

#include "base/clock.h"
#include "catalogue/query.h"
#include "engine/postgres/postgres_int.h"

/* ---- by a function ---- */

static struct pg_outcome failed(struct pg_conn *c, enum pg_state s, const PGresult *r, struct err *reterr)
{
	struct pg_outcome out = { .rc = -1, .broken = s == PG_BROKEN, .failed = s == PG_FAILED };

	if (s == PG_FAILED) {
		out.conflict = postgres_is_conflict(r);
		postgres_error(c, r, reterr);
	} else {
		err_set(reterr, ERR_TXN_BROKEN, c->db->base.name);
	}
	return out;
}

static struct pg_outcome run_function(struct pg_conn *c, struct call *call, struct err *reterr)
{
	struct pg_outcome out = { 0 };
	PGresult *r = NULL;
	enum pg_state s = PG_BROKEN;

	out.rc = postgres_call_send(c, call, &out.broken, reterr);
	if (out.rc < 0 && !out.broken)
		return out;
	if (!out.broken && postgres_send_flush(c))
		s = postgres_next(c, &r);
	if (s != PG_OK)
		out = failed(c, s, r, reterr);
	else
		out.rc = postgres_call_take(c, call, r, reterr);
	PQclear(r);
	return out;
}

/* ---- a query ---- */

/* A client that reads slowly makes its query last; only after so much more than its own time does
 * PostgreSQL end one, for whom nobody looks any more. */
#define SLOW_CLIENT_S 3600

/* Queries run as a role that can read the views and nothing else, whatever their text might be. */
static bool send_role(struct pg_conn *c)
{
	int64_t limit_s = c->db->base.limits.execution_timeout_s;
	struct pg_params p;
	struct err err;
	char ms[32];

	snprintf(ms, sizeof(ms), "%lld", limit_s <= 0 ? 0LL : (long long)(limit_s + SLOW_CLIENT_S) * 1000);
	return postgres_params_init(&p, &c->arena, 1, &err) == 0 && postgres_param_text(&p, ms, &err) == 0 &&
	       postgres_send_fixed_with(c, PG_BE_READER, &p);
}

static int send_query(struct pg_conn *c, const struct query *q, bool *ret_sent, struct err *reterr)
{
	struct pg_params p;

	arena_reset(&c->arena);
	if (postgres_params_init(&p, &c->arena, (unsigned)q->nvalues, reterr) < 0)
		return -1;
	for (size_t i = 0; i < q->nvalues; i++) {
		const struct value *v = &q->values[i];

		if (postgres_param(&p, &c->arena, v, postgres_kind(&v->type), reterr) < 0)
			return -1;
	}
	*ret_sent = send_role(c) && postgres_send_params(c, q->sql, &p) && postgres_send_flush(c);
	return 0;
}

static int send_row(struct pg_conn *c, const struct query *q, const PGresult *r, struct value *vals,
		    struct engine_run *run, struct err *reterr)
{
	for (size_t i = 0; i < q->ncolumns; i++) {
		if (postgres_column(r, 0, (int)i, &q->columns[i].type, &c->arena, &vals[i], reterr) < 0)
			return -1;
	}
	return engine_run_row(run, vals, q->ncolumns, reterr);
}

/* Between two rows: whether the others are not wanted any more. After a bad row they are read in a
 * transaction, since ending a statement would end all of it. */
static bool must_end(struct pg_conn *c, struct engine_run *run, struct pg_outcome *out, struct err *reterr)
{
	int64_t now = clock_mono_ms();
	bool stop = engine_run_stop(run, 0, now) || postgres_slow_must_go(c->worker, false, now);

	if (stop && out->rc == 0)
		out->rc = err_set(reterr, ERR_CANCELLED);
	return !c->cancelled && (stop || (out->rc < 0 && c->worker->kind == PG_READER));
}

/* All rows, one lent at a time. *ret_rest: some were not read. */
static struct pg_outcome take_rows(struct pg_conn *c, struct call *call, struct engine_run *run,
				   struct err *reterr)
{
	const struct query *q = call->query;
	struct value *vals = arena_array(call->arena, q->ncolumns, sizeof(*vals));
	struct pg_outcome out = { .rc = vals == NULL ? err_nomem(reterr) : 0 };
	uint64_t rows = 0;
	bool ended = false;
	PGresult *r;
	enum pg_state s;

	postgres_row_by_row(c);
	if (out.rc == 0 && call_sink_columns(call->sink, q->columns, q->ncolumns) != 0)
		out.rc = err_set(reterr, ERR_CANCELLED);
	while ((s = postgres_part(c, &r)) == PG_OK && r != NULL) {
		if (out.rc == 0 && PQntuples(r) > 0) {
			arena_reset(&c->arena);
			out.rc = send_row(c, q, r, vals, run, reterr);
			rows++;
		}
		PQclear(r);
		if (ended || !must_end(c, run, &out, reterr))
			continue;
		ended = true;
		if (!postgres_ask_to_end(c)) {
			r = NULL;
			s = PG_BROKEN;
			break;
		}
	}
	if (s == PG_BROKEN || (s == PG_FAILED && out.rc == 0))
		out = failed(c, s, r, reterr);
	else if (s == PG_FAILED)
		out.failed = true;
	PQclear(r);
	if (out.rc == 0 && call_sink_rows_done(call->sink, rows) != 0)
		out.rc = err_set(reterr, ERR_CANCELLED);
	return out;
}

static struct pg_outcome run_query(struct pg_conn *c, struct call *call, struct engine_run *run,
				   struct err *reterr)
{
	struct pg_outcome out = { 0 };
	bool sent = false;
	PGresult *r = NULL;
	enum pg_state s;

	out.rc = send_query(c, call->query, &sent, reterr);
	if (out.rc < 0)
		return out;
	s = sent ? postgres_next(c, &r) : PG_BROKEN;
	if (s != PG_OK)
		out = failed(c, s, r, reterr);
	else
		out = take_rows(c, call, run, reterr);
	PQclear(r);
	if (out.rc < 0 || call->txn == NULL)
		return out; /* the role ends with the transaction, or its savepoint */
	s = postgres_do_fixed(c, PG_BE_ONESELF, reterr);
	return s == PG_OK ? out : failed(c, PG_BROKEN, NULL, reterr);
}

/* ---- any ---- */

static struct pg_outcome run_body(struct pg_conn *c, struct call *call, struct engine_run *run)
{
	struct pg_outcome out = { .rc = -1 };

	if (atomic_load_explicit(&call->cancelled, memory_order_relaxed)) {
		(void)err_set(&call->err, ERR_CANCELLED);
		return out;
	}
	if (call->kind == CALL_QUERY)
		return run_query(c, call, run, &call->err);
	if (call->kind == CALL_PROC)
		return postgres_function(c->db, call) != NULL ? run_function(c, call, &call->err)
							      : postgres_steps_run(c, call, &call->err);
	(void)err_set(&call->err, ERR_NOT_SUPPORTED, "A transaction step outside a transaction",
		      "Begin one first.");
	return out;
}

struct pg_outcome postgres_run_call(struct pg_conn *c, struct call *call, struct engine_run *run)
{
	struct pg_outcome out;

	engine_call_begin(call);
	engine_run_begin(run, call);
	c->run = run;
	out = run_body(c, call, run);
	c->run = NULL;
	engine_run_end(run);
	if (out.rc < 0) {
		engine_run_explain(run, &call->err);
		engine_call_fail(call, &call->err);
	}
	return out;
}

bool postgres_is_ended(const struct engine_run *run, struct call *call)
{
	bool cancelled = atomic_load_explicit(&call->cancelled, memory_order_relaxed);

	if (!cancelled && !run->timed_out && run->ended == ERR_NONE)
		return false;
	(void)err_set(&call->err, ERR_CANCELLED);
	engine_run_explain(run, &call->err);
	engine_call_fail(call, &call->err);
	return true;
}
