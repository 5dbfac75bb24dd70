/* reader.c — threads for calls that only read. Each has a read-only connection; what it sees is
 * what was committed when its call began. */
#include "base/clock.h"
#include "engine/sqlite/executor/executor_int.h"

/* Several statements must see one state; a single one does by itself. */
static bool needs_snapshot(const struct call *c)
{
	unsigned reads = 0;

	for (unsigned i = 0; c->kind == CALL_PROC && i < c->proc->nsteps; i++) {
		const struct step *s = &c->proc->steps[i];

		if (s->native != NULL || s->kind == STEP_FETCH)
			return true;
		reads += s->stmt != NULL && !s->stmt->writes;
	}
	return reads > 1;
}

static int connect(struct runner *r, bool waits, struct err *reterr)
{
	if (r->conn != NULL)
		return 0;
	if (waits ? store_connect(r->ex->store, true, &r->conn, reterr) < 0
		  : store_connect_now(r->ex->store, &r->conn, reterr) < 0)
		return -1;
	store_set_interrupt(r->conn, executor_run_stop, r);
	return 0;
}

/* Fills the result. False: it failed, and what it has sent so far cannot be taken back. */
static bool read_once(struct runner *r, struct call *c)
{
	size_t mark = engine_call_mark(c);
	bool rewound = true;

	if (needs_snapshot(c) && store_begin(r->conn, &c->err) < 0) {
		engine_call_fail(c, &c->err);
		return true;
	}
	if (executor_run_call(r, c) < 0)
		rewound = engine_call_rewind(c, mark);
	store_rollback(r->conn);
	return rewound;
}

void executor_reader_run(struct runner *r, struct call *c)
{
	if (connect(r, true, &c->err) < 0)
		engine_call_fail(c, &c->err);
	else
		(void)read_once(r, c); /* where rows have left already, the error follows them */
	engine_call_complete(c);
}

bool executor_reader_run_now(struct runner *r, struct call *c)
{
	if (connect(r, false, &c->err) < 0)
		return false;
	store_set_waits(r->conn, false);
	if (!read_once(r, c) || c->rc == 0 || !store_was_busy(r->conn))
		return true;
	engine_call_reset(c);
	return false;
}

static bool reader_waits(struct call *c)
{
	return executor_pool_must_go(c, true, clock_mono_ms());
}

/* Under the lock, which is given up meanwhile. Whoever sees that it has left may join it at
 * once: it needs the lock no more. */
static void leave(struct executor *ex, struct runner *r)
{
	struct store_conn *conn = r->conn;

	r->conn = NULL;
	lock_give(&ex->lock);
	store_disconnect(conn);
	lock_take(&ex->lock);
	ex->pool.n--;
	r->state = READER_LEFT;
}

void *executor_reader_main(void *arg)
{
	struct runner *r = arg;
	struct executor *ex = r->ex;

	executor_thread_name(ex, 'r');
	lock_take(&ex->lock);
	for (;;) {
		struct call *c = NULL;

		while (!ex->stopping && (c = executor_pool_take(ex, r)) == NULL &&
		       !executor_pool_is_surplus(ex)) {
			ex->pool.idle++;
			lock_wait(&ex->lock, &ex->pool.wake);
			ex->pool.idle--;
		}
		if (c == NULL)
			break;
		executor_deferred_wait(ex);
		lock_give(&ex->lock);
		c->waits = reader_waits;
		executor_notes(c)->runner = r;
		r->run.ended = ERR_NONE;
		if (c->txn != NULL)
			executor_snapshot_run(c);
		else
			executor_reader_run(r, c);
		lock_take(&ex->lock);
		executor_pool_over(ex, r);
	}
	leave(ex, r);
	lock_give(&ex->lock);
	return NULL;
}
