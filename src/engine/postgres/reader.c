/* reader.c — calls that only read: each in a transaction of its own that can write nothing, one
 * round trip where it is a function. There is nothing to be in doubt about: what was lost is read
 * again. */
#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define ATTEMPTS_MOST 20

enum attempt { ATTEMPT_DONE, ATTEMPT_AGAIN, ATTEMPT_BROKEN };

/* Everything is sent at once. */
static struct pg_outcome read_function(struct pg_conn *c, struct call *call)
{
	struct pg_outcome out = { .rc = -1 };
	PGresult *r = NULL;
	enum pg_state s;

	if (!postgres_send_fixed(c, PG_BEGIN_READ))
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
	enum pg_fixed begin = call->kind == CALL_QUERY ? PG_BEGIN_QUERY : PG_BEGIN_READ;
	struct pg_outcome out = { .rc = -1, .broken = true };

	if (postgres_do_fixed(w->conn, begin, &call->err) != PG_OK)
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

static enum attempt attempt(struct pg_worker *w, struct call *call, size_t mark)
{
	struct pg_outcome out = read_one(w, call);
	bool again = out.rc < 0 && (out.broken || out.conflict);

	if (out.broken || (out.rc < 0 && !postgres_rollback(w->conn)))
		postgres_conn_drop(w->conn);
	w->conn->cancelled = false;
	if (out.rc == 0)
		return ATTEMPT_DONE;
	if (!engine_call_rewind(call, mark) && again) {
		/* some of its rows have left: it cannot begin anew */
		(void)err_set(&call->err, ERR_UNREACHABLE, w->db->base.name,
			      w->db->engine->failover_ms / 1000, "the connection was lost between two rows");
		engine_call_fail(call, &call->err);
		return ATTEMPT_DONE;
	}
	if (again)
		engine_call_reset(call);
	return out.broken ? ATTEMPT_BROKEN : again ? ATTEMPT_AGAIN : ATTEMPT_DONE;
}

static void run(struct pg_worker *w, struct call *call)
{
	size_t mark = engine_call_mark(call);
	int64_t until_ms = clock_mono_ms() + w->db->engine->failover_ms;
	unsigned attempts = 0;
	enum attempt result = ATTEMPT_AGAIN;

	while (result != ATTEMPT_DONE) {
		if (atomic_load_explicit(&call->cancelled, memory_order_relaxed))
			(void)err_set(&call->err, ERR_CANCELLED);
		else if (postgres_conn_ready(w->conn, until_ms, &call->err) == 0 &&
			 ++attempts <= ATTEMPTS_MOST) {
			result = attempt(w, call, mark);
			continue;
		} else if (attempts > ATTEMPTS_MOST) {
			(void)err_set(&call->err, ERR_STORE, w->db->base.name,
				      "others were in the way of this reading, again and again");
		}
		engine_call_fail(call, &call->err);
		return;
	}
}

void postgres_reader_run(struct pg_worker *w)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		run(w, w->group[i].call);
		engine_call_complete(w->group[i].call);
	}
	w->ngroup = 0;
}
