/* deferred.c — renewals that are written together. Calls that may be flushed later (FLUSH LATER,
 * under a promise) need not even be committed at once: their transaction stays open from one
 * group to the next, and a page with a hundred renewals is written once. All that the writer
 * runs sees them. Who reads on a connection of its own waits for a commit first; so does a group
 * of calls one of which wants its flush.
 *
 * If they are lost, by an engine that gives the transaction up or by a commit that fails, it is
 * as after a loss of power: the promise is called in before anything else runs.
 *
 * How many are held: more and more, as long as writing them takes a moment only. Where nearly
 * each of them has a page of its own, holding them saves nothing and the commit is long: then
 * few. */
#include "base/clock.h"
#include "engine/sqlite/executor/executor_int.h"

#define DEFERRED_MS 5000
#define CALLS_FEW 256
#define CALLS_MOST (1u << 18)
#define PAGES_MOST 4096 /* bounds how long the commit keeps others waiting */
#define AGAIN_MS 60000  /* after it was not worth while */

void executor_deferred_init(struct deferred *h)
{
	h->limit = CALLS_FEW;
}

/* The transaction is over, one way or the other. */
static void release(struct executor *ex, enum deferred_state to)
{
	struct deferred *h = &ex->deferred;

	lock_take(&ex->lock);
	executor_deferred_move(ex, to);
	h->calls = 0;
	h->times++;
	atomic_store(&h->wanted, false);
	pthread_cond_broadcast(&h->over);
	lock_give(&ex->lock);
}

static void learn(struct deferred *h, unsigned pages)
{
	int64_t now = clock_mono_ms();

	if (pages >= PAGES_MOST && pages > h->calls / 2) {
		h->limit = CALLS_FEW;
		h->again_ms = now + AGAIN_MS;
	} else if (pages < PAGES_MOST && h->calls >= h->limit && h->limit < CALLS_MOST &&
		   now >= h->again_ms) {
		h->limit *= 2;
	}
}

int executor_deferred_commit(struct executor *ex, struct err *reterr)
{
	unsigned before = store_wal_waiting(ex->store), after;

	assert(executor_is_writer(ex) && !lock_is_mine(&ex->lock));
	if (ex->deferred.state != DEFERRED_OPEN)
		return 0;
	if (store_commit_lazily(ex->writer.runner.conn, reterr) < 0) {
		executor_deferred_rollback(ex);
		return -1;
	}
	metrics_commit(ex->db->metrics, ex->deferred.calls);
	after = store_wal_waiting(ex->store);
	learn(&ex->deferred, after > before ? after - before : 0);
	release(ex, DEFERRED_NONE);
	return 0;
}

void executor_deferred_committed(struct executor *ex)
{
	assert(executor_is_writer(ex));
	if (ex->deferred.state == DEFERRED_OPEN)
		release(ex, DEFERRED_NONE);
}

void executor_deferred_rollback(struct executor *ex)
{
	assert(executor_is_writer(ex) && !lock_is_mine(&ex->lock));
	store_rollback(ex->writer.runner.conn);
	if (ex->deferred.state == DEFERRED_OPEN)
		release(ex, DEFERRED_LOST);
}

/* Renewals that were lost: the promise is called in. */
static int make_good(struct executor *ex, struct err *reterr)
{
	if (ex->deferred.state != DEFERRED_LOST)
		return 0;
	if (executor_commit_call_in(ex, reterr) < 0)
		return -1;
	lock_take(&ex->lock);
	executor_deferred_move(ex, DEFERRED_NONE);
	lock_give(&ex->lock);
	return 0;
}

int executor_deferred_begin(struct executor *ex, bool alone, struct err *reterr)
{
	if (store_sound(ex->store, reterr) < 0)
		return -1;
	if (ex->deferred.state == DEFERRED_OPEN && !alone)
		return 0;
	if (executor_deferred_commit(ex, reterr) < 0 || make_good(ex, reterr) < 0)
		return -1;
	assert(ex->deferred.state == DEFERRED_NONE);
	return store_begin(ex->writer.runner.conn, reterr);
}

int executor_deferred_add(struct executor *ex, size_t calls, struct err *reterr)
{
	struct deferred *h = &ex->deferred;

	if (h->state != DEFERRED_OPEN) {
		lock_take(&ex->lock);
		executor_deferred_move(ex, DEFERRED_OPEN);
		h->until_ms = clock_mono_ms() + DEFERRED_MS;
		lock_give(&ex->lock);
	}
	h->calls += (unsigned)calls;
	return executor_deferred_is_due(ex) && !ex->writer.worker_is_inline
		       ? executor_deferred_commit(ex, reterr)
		       : 0;
}

bool executor_deferred_is_due(const struct executor *ex)
{
	return ex->deferred.state == DEFERRED_OPEN &&
	       (atomic_load(&ex->deferred.wanted) || ex->deferred.calls >= ex->deferred.limit ||
		clock_mono_ms() >= ex->deferred.until_ms);
}

void executor_deferred_wait(struct executor *ex)
{
	struct deferred *h = &ex->deferred;
	unsigned times = h->times;

	assert(lock_is_mine(&ex->lock));
	while (h->state == DEFERRED_OPEN && h->times == times && !ex->stopping) {
		atomic_store(&h->wanted, true);
		pthread_cond_signal(&ex->writer.wake);
		lock_wait(&ex->lock, &h->over);
	}
}
