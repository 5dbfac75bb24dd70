/* reader.c — calls that only read: those that wait go together, in one transaction that can write
 * nothing and one round trip; what is no function goes by itself. There is nothing to be in doubt
 * about: what was lost is read again, one by one. Between two attempts those that are cancelled
 * leave. */
#include <string.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define ATTEMPTS_MOST 20
#define ANSWER_LARGE ((size_t)64 << 10) /* a client may take its time for it */

/* Where one group writes at a time, every snapshot is a state between two of them; elsewhere only
 * SERIALIZABLE tells whether it is one. */
static enum pg_fixed begin_of(const struct pg_database *db)
{
	return db->takes_turns ? PG_BEGIN_LOOK : PG_BEGIN_READ;
}

/* Everything is sent at once. */
static struct pg_outcome read_function(struct pg_conn *c, struct call *call)
{
	struct pg_outcome out = { .rc = -1 };
	PGresult *r = NULL;
	enum pg_state s;

	if (!postgres_send_fixed(c, begin_of(c->db)))
		return (struct pg_outcome){ .rc = -1, .broken = true };
	if (postgres_call_send(c, call, &out.broken, &call->err) < 0)
		return out;
	if (!postgres_send_fixed(c, PG_COMMIT) || !postgres_send_sync(c))
		return (struct pg_outcome){ .rc = -1, .broken = true };
	s = postgres_skip(c, &call->err);
	if (s == PG_OK)
		s = postgres_next(c, &r);
	if (s == PG_OK) {
		out.rc = postgres_call_take(c, call, r, &call->err);
	} else {
		out.broken = s == PG_BROKEN;
		out.failed = s == PG_FAILED;
		out.conflict = s == PG_FAILED && postgres_is_conflict(r);
		if (s == PG_FAILED && r != NULL)
			postgres_error(c, r, &call->err);
	}
	PQclear(r);
	if (!out.broken && postgres_synced(c) != PG_OK)
		out.broken = true;
	return out;
}

static struct pg_outcome read_steps(struct pg_worker *w, struct call *call)
{
	enum pg_fixed begin = call->kind == CALL_QUERY ? PG_BEGIN_QUERY : begin_of(w->db);
	struct pg_outcome out = { .rc = -1, .broken = true };
	enum pg_state s;

	engine_run_begin(&w->run, call);
	w->conn->run = &w->run;
	s = postgres_do_fixed(w->conn, begin, &call->err);
	w->conn->run = NULL;
	engine_run_end(&w->run);
	if (s != PG_OK)
		return out;
	out = postgres_run_call(w->conn, call, &w->run);
	if (out.rc == 0 && (!postgres_send_fixed(w->conn, PG_COMMIT) || !postgres_send_sync(w->conn) ||
			    postgres_synced(w->conn) != PG_OK))
		return (struct pg_outcome){ .rc = -1, .broken = true };
	return out;
}

static struct pg_outcome read_one(struct pg_worker *w, struct call *call)
{
	struct pg_outcome out;

	if (postgres_function(w->db, call) == NULL)
		return read_steps(w, call);
	engine_call_begin(call);
	engine_run_begin(&w->run, call);
	w->conn->run = &w->run;
	out = read_function(w->conn, call);
	w->conn->run = NULL;
	engine_run_end(&w->run);
	if (out.rc < 0 && !out.broken && !out.conflict) {
		engine_run_explain(&w->run, &call->err);
		engine_call_fail(call, &call->err);
	}
	return out;
}

/* False: it is to be run again; also where PostgreSQL was asked to end it for another one, which
 * waits for its turn. */
static bool attempt(struct pg_worker *w, struct call *call)
{
	size_t mark = engine_call_mark(call);
	struct pg_outcome out = read_one(w, call);
	bool for_another = w->conn->cancelled && w->ngroup > 1;
	bool again = out.rc < 0 && (out.broken || out.conflict || for_another) &&
		     !postgres_is_ended(&w->run, call);

	if (out.broken || (out.rc < 0 && !postgres_rollback(w->conn)))
		postgres_conn_drop(w->conn);
	postgres_asked_is_over(w->conn);
	if (out.rc == 0)
		return true;
	if (!engine_call_rewind(call, mark) && again) {
		/* some of its rows have left: it cannot begin anew */
		(void)err_set(&call->err, ERR_ROWS_LOST, w->db->base.name);
		engine_call_fail(call, &call->err);
		return true;
	}
	if (again)
		engine_call_reset(call);
	return !again;
}

/* A connection to a primary that has proved lately that it is one: this is not known of the answer
 * itself, which nobody confirms. */
static int ready(struct pg_worker *w, int64_t until_ms, struct err *reterr)
{
	for (;;) {
		if (postgres_conn_ready(w->conn, until_ms, reterr) < 0)
			return -1;
		switch (postgres_lease(w->conn, until_ms, reterr)) {
		case PG_OK: return 0;
		case PG_FAILED: return -1;
		case PG_BROKEN: break; /* another one is the primary now */
		}
	}
}

/* The first of those that are left; out of the group when it has its result. */
static void run_first(struct pg_worker *w, unsigned attempts)
{
	struct call *call = w->group[0].call;

	if (attempts > ATTEMPTS_MOST) {
		(void)err_set(&call->err, ERR_STORE, w->db->base.name,
			      "others were in the way of this reading, again and again");
		engine_call_fail(call, &call->err);
	} else if (!attempt(w, call)) {
		return;
	}
	memmove(w->group, w->group + 1, --w->ngroup * sizeof(w->group[0]));
	engine_call_complete(call);
}

/* ---- together ---- */

static bool send_all(struct pg_worker *w)
{
	bool broken;

	if (!postgres_send_fixed(w->conn, begin_of(w->db)))
		return false;
	for (size_t i = 0; i < w->ngroup; i++) {
		struct call *c = w->group[i].call;

		engine_call_begin(c);
		if (postgres_call_send(w->conn, c, &broken, &c->err) < 0)
			return false;
	}
	return postgres_send_fixed(w->conn, PG_COMMIT) && postgres_send_sync(w->conn);
}

/* All answers, before any is given: nobody waits for a client that is slow to take its own. */
static bool take_all(struct pg_worker *w, PGresult **answers)
{
	enum pg_state s = postgres_skip(w->conn, NULL);

	for (size_t i = 0; i < w->ngroup && s == PG_OK; i++) {
		engine_run_begin(&w->run, w->group[i].call);
		w->conn->run = &w->run;
		s = postgres_next(w->conn, &answers[i]);
		w->conn->run = NULL;
		engine_run_end(&w->run);
	}
	/* also after a failure, what was sent is read to its end: the next answers are others' */
	return s != PG_BROKEN && postgres_synced(w->conn) == PG_OK && s == PG_OK && !w->conn->cancelled;
}

static void give(struct pg_worker *w, struct call *c, const PGresult *r)
{
	size_t mark = engine_call_mark(c);

	if (postgres_call_take(w->conn, c, r, &c->err) < 0) {
		engine_call_fail(c, &c->err);
		(void)engine_call_rewind(c, mark);
	}
	engine_call_complete(c);
}

static void give_all(struct pg_worker *w, PGresult *const *answers)
{
	for (int large = 0; large < 2; large++) {
		for (size_t i = 0; i < w->ngroup; i++) {
			if ((PQresultMemorySize(answers[i]) > ANSWER_LARGE) == large)
				give(w, w->group[i].call, answers[i]);
		}
	}
}

/* PostgreSQL was not reached: nobody begins to wait anew. */
static void refuse_all(struct pg_worker *w, const struct err *why)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		engine_call_begin(w->group[i].call);
		engine_call_fail(w->group[i].call, why);
		engine_call_complete(w->group[i].call);
	}
	w->ngroup = 0;
}

/* If something goes wrong nobody is answered, and nothing is left of it. False: better one by
 * one. */
static bool run_together(struct pg_worker *w)
{
	PGresult *answers[PG_GROUP_MAX] = { NULL };
	bool done = send_all(w) && take_all(w, answers), for_one = w->conn->cancelled;

	if (done)
		give_all(w, answers);
	for (size_t i = 0; i < w->ngroup; i++) {
		PQclear(answers[i]);
		if (!done)
			engine_call_reset(w->group[i].call);
	}
	if (done)
		w->ngroup = 0;
	else if (w->conn->h != NULL && !postgres_rollback(w->conn))
		postgres_conn_drop(w->conn);
	postgres_asked_is_over(w->conn);
	return for_one;
}

void postgres_reader_run(struct pg_worker *w)
{
	int64_t until_ms = clock_mono_ms() + w->db->engine->failover_ms;
	bool together = true;
	unsigned attempts = 0;
	struct err err;

	while (w->ngroup > 0) {
		size_t n = w->ngroup;

		if (ready(w, until_ms, &err) == 0) {
			if (together && n > 1)
				together = run_together(w);
			else
				run_first(w, ++attempts);
		} else if (!postgres_is_called_off(w->conn)) {
			refuse_all(w, &err);
		}
		postgres_dismiss(w); /* the others wait on */
		if (w->ngroup < n)
			attempts = 0;
	}
}
