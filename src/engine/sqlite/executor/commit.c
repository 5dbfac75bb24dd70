/* commit.c — how a commit is made: flushed before anybody is answered, as a rule. A relaxed
 * database flushes afterwards. In others a group of calls that may be lost with the power is not
 * flushed at all, nor committed at once (deferred.c), while the service has a promise on the
 * disk that makes such a loss harmless (procession_promise). */
#include "base/clock.h"
#include "engine/sqlite/executor/executor_int.h"

/* Between two attempts to mend a store: from the first, twice as long each time, to the last. */
#define MEND_FIRST_MS 200
#define MEND_LAST_MS 10000

enum phase { PHASE_START, PHASE_PROMISE, PHASE_END };

static void no_complete(struct call *c)
{
	(void)c;
}

/* A commit and its flush, which are one to SQLite; measured. calls: that it is for. */
static int commit_now(struct executor *ex, size_t calls, struct err *reterr)
{
	int64_t began_us = clock_mono_us();

	if (store_commit(ex->writer.runner.conn, reterr) < 0)
		return -1;
	if (store_commit_wrote(ex->writer.runner.conn)) {
		metrics_flush(ex->db->metrics, clock_mono_us() - began_us);
		metrics_commit(ex->db->metrics, calls);
	}
	return 0;
}

static int commit_lazily(struct executor *ex, size_t calls, struct err *reterr)
{
	if (store_commit_lazily(ex->writer.runner.conn, reterr) < 0)
		return -1;
	if (store_commit_wrote(ex->writer.runner.conn))
		metrics_commit(ex->db->metrics, calls);
	return 0;
}

/* Those that share it, with what was deferred until now; of a transaction: one. */
static size_t calls_of(const struct executor *ex)
{
	size_t deferred = ex->deferred.state == DEFERRED_OPEN ? ex->deferred.calls : 0;

	return ex->group.n + deferred > 0 ? ex->group.n + deferred : 1;
}

/* Inside a transaction. *ret_until: the promise holds so long, in ticks. */
static int promise(struct executor *ex, enum phase phase, int64_t *ret_until, struct err *reterr)
{
	struct value value = value_int(TYPE_INT, (int)phase);
	struct call c = { .kind = CALL_PROC,
			  .proc = ex->promise.proc,
			  .values = &value,
			  .nvalues = 1,
			  .rights = RIGHT_SERVER,
			  .complete = no_complete };

	if (executor_run_call(&ex->writer.runner, &c) < 0) {
		*reterr = c.err;
		return -1;
	}
	*ret_until = c.now + (int64_t)c.status * TICKS_PER_SECOND;
	return 0;
}

static int promise_alone(struct executor *ex, enum phase phase, struct err *reterr)
{
	int64_t until;

	if (ex->promise.proc == NULL)
		return 0;
	if (store_begin(ex->writer.runner.conn, reterr) < 0)
		return -1;
	if (promise(ex, phase, &until, reterr) < 0 || store_commit(ex->writer.runner.conn, reterr) < 0) {
		store_rollback(ex->writer.runner.conn);
		return -1;
	}
	return 0;
}

int executor_commit_start(struct executor *ex, struct err *reterr)
{
	return promise_alone(ex, PHASE_START, reterr);
}

int executor_commit_call_in(struct executor *ex, struct err *reterr)
{
	ex->promise.until = 0;
	return promise_alone(ex, PHASE_START, reterr);
}

/* What is held was written, if at all, before the failure: it is lost, as its commit would be. */
void executor_commit_mend(struct executor *ex)
{
	struct err err;

	assert(executor_is_writer(ex) && ex->pinned == NULL);
	if (store_sound(ex->store, &err) == 0 || clock_mono_ms() < ex->mending.at_ms)
		return;
	executor_deferred_rollback(ex);
	if (store_mend(ex->writer.runner.conn, &err) == 0) {
		ex->mending.at_ms = ex->mending.wait_ms = 0;
		return;
	}
	ex->mending.wait_ms = ex->mending.wait_ms == 0                 ? MEND_FIRST_MS
			      : 2 * ex->mending.wait_ms < MEND_LAST_MS ? 2 * ex->mending.wait_ms
								       : MEND_LAST_MS;
	ex->mending.at_ms = clock_mono_ms() + ex->mending.wait_ms;
}

void executor_commit_end(struct executor *ex)
{
	struct err err;

	ex->mending.at_ms = 0;
	executor_commit_mend(ex);
	if (executor_deferred_commit(ex, &err) < 0 || ex->deferred.state == DEFERRED_LOST)
		return; /* as after a crash: items live longer than they would */
	if (ex->promise.until != 0 && promise_alone(ex, PHASE_END, &err) < 0)
		return;
}

static bool is_relaxed(struct executor *ex)
{
	bool relaxed;

	lock_take(&ex->lock);
	relaxed = ex->flusher.relaxed;
	lock_give(&ex->lock);
	return relaxed;
}

/* A promise that has run out, or nearly, is renewed with this commit, which is flushed then. */
static int commit_later(struct executor *ex, struct err *reterr)
{
	int64_t until;

	if (clock_ticks() < ex->promise.until)
		return executor_deferred_add(ex, ex->group.n, reterr);
	if (promise(ex, PHASE_PROMISE, &until, reterr) < 0 || commit_now(ex, calls_of(ex), reterr) < 0)
		return -1;
	ex->promise.until = until;
	executor_deferred_committed(ex);
	return 0;
}

int executor_commit_all(struct executor *ex, bool later, struct err *reterr)
{
	bool relaxed;

	assert(executor_is_writer(ex) && !lock_is_mine(&ex->lock));
	if (later && ex->promise.proc != NULL)
		return commit_later(ex, reterr);
	relaxed = is_relaxed(ex);
	if ((relaxed ? commit_lazily : commit_now)(ex, calls_of(ex), reterr) < 0)
		return -1;
	executor_deferred_committed(ex);
	if (relaxed)
		executor_flusher_committed(ex);
	return 0;
}
