/* reader.c — threads for calls that only read. Each has a read-only connection; what it sees is what was committed when its call began. */
#include "base/clock.h"
#include "executor/executor_int.h"

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

static int connect(struct runner *r, struct err *reterr)
{
	if (r->conn != NULL)
		return 0;
	if (store_connect(r->ex->store, true, &r->conn, reterr) < 0)
		return -1;
	store_set_interrupt(r->conn, run_stop, r);
	return 0;
}

/* Fills the result. False: it failed, and what it has sent so far cannot be taken back. */
static bool read_once(struct runner *r, struct call *c)
{
	size_t mark = run_mark(c);
	bool rewound = true;

	if (needs_snapshot(c) && store_begin(r->conn, &c->err) < 0) {
		run_fail(c, &c->err);
		return true;
	}
	if (run_call(r, c) < 0)
		rewound = run_rewind(c, mark);
	store_rollback(r->conn);
	return rewound;
}

void reader_run(struct runner *r, struct call *c)
{
	if (connect(r, &c->err) < 0)
		run_fail(c, &c->err);
	else
		(void)read_once(r, c); /* where rows have left already, the error follows them */
	c->complete(c);
}

bool reader_run_now(struct runner *r, struct call *c)
{
	if (connect(r, &c->err) < 0)
		return false;
	store_set_waits(r->conn, false);
	if (!read_once(r, c) || c->rc == 0 || !store_was_busy(r->conn))
		return true;
	run_reset(c);
	return false;
}

static bool reader_waits(struct call *c)
{
	return pool_must_go(c, true, clock_mono_ms());
}

/* Under the lock, which is given up meanwhile. Whoever sees that it has left may join it at once: it needs the lock no more. */
static void leave(struct executor *ex, struct runner *r)
{
	struct store_conn *conn = r->conn;

	r->conn = NULL;
	pthread_mutex_unlock(&ex->lock);
	store_disconnect(conn);
	pthread_mutex_lock(&ex->lock);
	ex->nreaders--;
	r->state = READER_LEFT;
}

void *reader_main(void *arg)
{
	struct runner *r = arg;
	struct executor *ex = r->ex;

	thread_name(ex, 'r');
	pthread_mutex_lock(&ex->lock);
	for (;;) {
		struct call *c = NULL;

		while (!ex->stopping && (c = pool_take(ex, r)) == NULL && !pool_is_surplus(ex)) {
			ex->idle_readers++;
			pthread_cond_wait(&ex->reader_wake, &ex->lock);
			ex->idle_readers--;
		}
		if (c == NULL)
			break;
		deferred_wait(ex);
		pthread_mutex_unlock(&ex->lock);
		c->waits = reader_waits;
		c->runner = r;
		r->ended = ERR_NONE;
		if (c->txn != NULL)
			snapshot_run(c);
		else
			reader_run(r, c);
		pthread_mutex_lock(&ex->lock);
		pool_over(ex, r);
	}
	leave(ex, r);
	pthread_mutex_unlock(&ex->lock);
	return NULL;
}
