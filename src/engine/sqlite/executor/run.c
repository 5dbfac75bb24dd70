/* run.c — one call on one connection: its clock reading, its time limit, its result. Knows
 * nothing of transactions: the caller puts one around it. */
#include "base/clock.h"
#include "engine/sqlite/executor/executor_int.h"

/* Its cost ends it on the connection that it runs on, the others end it on the thread that it
 * runs on: for a snapshot these are two. */
static enum err_id why_ended(const struct runner *r, const struct call *c)
{
	const struct runner *thread = executor_notes(c)->runner;

	return r->run.ended != ERR_NONE || thread == NULL ? r->run.ended : thread->run.ended;
}

/* What the client is told of a call that was stopped for a reason of ours. */
static void say_why(const struct runner *r, const struct call *c, struct err *e)
{
	const struct executor *ex = r->ex;
	enum err_id why = why_ended(r, c);

	if (why == ERR_WAL_PINNED)
		err_set(e, why, ex->db->name, ex->max_wal_pages / (1048576u / STORE_PAGE));
	else if (why != ERR_NONE && why != ERR_QUERY_COST)
		err_set(e, why, ex->db->name);
	else
		engine_run_explain(&r->run, e);
}

/* Asked by the store now and then while a statement runs. */
bool executor_run_stop(void *arg)
{
	struct runner *r = arg;
	struct executor *ex = r->ex;
	const struct call *c = r->run.call;
	int64_t now;

	if (c == NULL)
		return false;
	now = clock_mono_ms();
	if (r->writer && now >= atomic_load_explicit(&ex->writer.next_deadline_ms, memory_order_relaxed))
		executor_queue_sweep(ex);
	return (c->waits != NULL && executor_pool_must_go(r->run.call, false, now)) ||
	       engine_run_stop(&r->run, ex->query_cost_limit, now);
}

int executor_run_row(struct runner *r, const struct value *vals, size_t n, struct err *reterr)
{
	if (engine_run_row(&r->run, vals, n, reterr) < 0)
		return -1;
	return why_ended(r, r->run.call) == ERR_NONE ? 0 : err_set(reterr, ERR_CANCELLED);
}

static int run_body(struct runner *r, struct call *c)
{
	switch (c->kind) {
	case CALL_PROC: return executor_steps_run(r, c, &c->err);
	case CALL_QUERY: return executor_query_run(r, c, &c->err);
	default:
		return err_set(&c->err, ERR_NOT_SUPPORTED, "A transaction step outside a transaction",
			       "Begin one first.");
	}
}

int executor_run_call(struct runner *r, struct call *c)
{
	uint64_t before;
	int rc;

	assert(r->conn != NULL && !lock_is_mine(&r->ex->lock));
	assert(!r->writer || executor_is_writer(r->ex));
	engine_call_begin(c);
	executor_notes(c)->later = NULL;
	engine_run_begin(&r->run, c);
	r->count = 0;
	before = store_changes(r->conn);
	rc = store_sound(r->ex->store, &c->err);
	if (rc == 0)
		rc = atomic_load_explicit(&c->cancelled, memory_order_relaxed)
			     ? err_set(&c->err, ERR_CANCELLED)
			     : run_body(r, c);
	engine_run_end(&r->run);
	if (rc < 0) {
		say_why(r, c, &c->err);
		engine_call_fail(c, &c->err);
	}
	/* also after a failure: the caller wants to know what to undo */
	c->rows_changed = store_changes(r->conn) - before;
	return rc;
}
