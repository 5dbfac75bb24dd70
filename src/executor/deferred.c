/* deferred.c — renewals that are written together. Calls that may be flushed later (FLUSH LATER, under a promise) need not even be committed at once: their transaction stays
 * open from one group to the next, and a page with a hundred renewals is written once. All that the writer runs sees them. Who reads on a connection of its own waits for
 * a commit first; so does a group of calls one of which wants its flush.
 *
 * If they are lost, by an engine that gives the transaction up or by a commit that fails, it is as after a loss of power: the promise is called in before anything else runs.
 *
 * How many are held: more and more, as long as writing them takes a moment only. Where nearly each of them has a page of its own, holding them saves nothing and the commit
 * is long: then few. */
#include "base/clock.h"
#include "executor/executor_int.h"

#define DEFERRED_MS 5000
#define CALLS_FEW 256
#define CALLS_MOST (1u << 18)
#define PAGES_MOST 4096 /* bounds how long the commit keeps others waiting */
#define AGAIN_MS 60000  /* after it was not worth while */

void deferred_init(struct deferred *h)
{
	h->limit = CALLS_FEW;
}

/* The transaction is over, one way or the other. */
static void release(struct executor *ex)
{
	struct deferred *h = &ex->deferred;

	pthread_mutex_lock(&ex->lock);
	h->open = false;
	h->calls = 0;
	h->times++;
	atomic_store(&h->wanted, false);
	pthread_cond_broadcast(&h->over);
	pthread_mutex_unlock(&ex->lock);
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

int deferred_commit(struct executor *ex, struct err *reterr)
{
	unsigned before = store_wal_waiting(ex->store), after;

	if (!ex->deferred.open)
		return 0;
	if (store_commit_lazily(ex->writer.conn, reterr) < 0) {
		deferred_rollback(ex);
		return -1;
	}
	after = store_wal_waiting(ex->store);
	learn(&ex->deferred, after > before ? after - before : 0);
	release(ex);
	return 0;
}

void deferred_committed(struct executor *ex)
{
	if (ex->deferred.open)
		release(ex);
}

void deferred_rollback(struct executor *ex)
{
	store_rollback(ex->writer.conn);
	if (!ex->deferred.open)
		return;
	ex->deferred.lost = true;
	release(ex);
}

int deferred_begin(struct executor *ex, bool alone, struct err *reterr)
{
	if (store_sound(ex->store, reterr) < 0)
		return -1;
	if (ex->deferred.open && !alone)
		return 0;
	if (deferred_commit(ex, reterr) < 0)
		return -1;
	if (ex->deferred.lost && commit_call_in(ex, reterr) < 0)
		return -1;
	ex->deferred.lost = false;
	return store_begin(ex->writer.conn, reterr);
}

int deferred_add(struct executor *ex, size_t calls, struct err *reterr)
{
	struct deferred *h = &ex->deferred;

	if (!h->open) {
		pthread_mutex_lock(&ex->lock);
		h->open = true;
		h->until_ms = clock_mono_ms() + DEFERRED_MS;
		pthread_mutex_unlock(&ex->lock);
	}
	h->calls += (unsigned)calls;
	return deferred_is_due(ex) && !ex->runs_inline ? deferred_commit(ex, reterr) : 0;
}

bool deferred_is_due(const struct executor *ex)
{
	return ex->deferred.open &&
	       (atomic_load(&ex->deferred.wanted) || ex->deferred.calls >= ex->deferred.limit ||
		clock_mono_ms() >= ex->deferred.until_ms);
}

void deferred_wait(struct executor *ex)
{
	struct deferred *h = &ex->deferred;
	unsigned times = h->times;

	while (h->open && h->times == times && !ex->stopping) {
		atomic_store(&h->wanted, true);
		pthread_cond_signal(&ex->wake);
		pthread_cond_wait(&h->over, &ex->lock);
	}
}
