/* inline.c — inline execution. A short call may be run by the thread that brought it; that
 * thread waits for the disk at most, never for a lock or for another process, and a call that
 * took long switches inline execution off for a while.
 *
 * Why: handing a call to another thread and taking it back costs more than running it. What is
 * short is said by the procedure (SHORT), and its values are small.
 *
 * - A call that only reads runs on a connection beside the writer's, as the readers do it.
 * - A call that comes alone, while the writer sleeps and nothing else waits, runs on the
 *   writer's own connection; should something wake the writer meanwhile, it waits until this is
 *   over. What the call leaves to be done, the writer is woken for.
 * - Renewals wait for no flush. So any number of them is run in this way, also by a thread that
 *   has others to serve. The commit of what is deferred is left to the writer.
 *
 * What would have to wait is the writer's, which may: a call that finds the database locked by
 * another process, or somebody who begins to see all databases as of one moment (the lock that
 * commits share is taken before anything is changed, if nobody wants it for himself). A flush
 * that is late is made here, in place of waiting for the flusher. The executor's own lock counts
 * as none, nor does that of the mark of the WAL: nobody has them while a call runs, while he
 * waits, or for longer than it takes to change a few fields, and no thread of low priority takes
 * either, but where a flush has failed and nothing is answered anyway. */
#include "base/clock.h"
#include "engine/sqlite/executor/executor_int.h"

#define VALUES_MOST ((size_t)2 << 20)
#define LONG_MS 5
#define AGAIN_MS 1000 /* after one that took long */

static bool is_short(const struct call *c)
{
	size_t bytes = 0;

	if (c->kind != CALL_PROC || c->txn != NULL || !c->proc->is_short)
		return false;
	for (size_t i = 0; i < c->nvalues && bytes <= VALUES_MOST; i++) {
		const struct type_info *t = type_info(c->values[i].type.id);

		if (!c->values[i].null && (t->is_binary || t->is_text))
			bytes += c->values[i].u.s.n;
	}
	return bytes <= VALUES_MOST;
}

/* Under the lock. Not when a call has taken long of late, or while renewals that were answered
 * are not committed yet, for which a reader can wait. */
static bool may_read(const struct executor *ex)
{
	assert(lock_is_mine(&ex->lock));
	return ex->deferred.state != DEFERRED_OPEN && !ex->stopping &&
	       clock_mono_ms() >= ex->writer.inline_again_ms;
}

/* Under the lock: a call has been run inline. */
static void took(struct executor *ex, int64_t began_ms)
{
	int64_t now = clock_mono_ms();

	assert(lock_is_mine(&ex->lock));
	if (now - began_ms >= LONG_MS)
		ex->writer.inline_again_ms = now + AGAIN_MS;
}

/* NULL: none may be, or all are taken. */
static struct runner *inline_reader_take(struct executor *ex)
{
	struct runner *r = NULL;

	lock_take(&ex->lock);
	for (unsigned i = 0; i < INLINE_READERS && r == NULL && may_read(ex); i++) {
		if (!ex->pool.inline_taken[i]) {
			ex->pool.inline_taken[i] = true;
			r = &ex->pool.inline_readers[i];
			r->ex = ex;
			r->run.db = ex->db;
		}
	}
	lock_give(&ex->lock);
	return r;
}

static void inline_reader_give(struct executor *ex, const struct runner *r, int64_t began_ms)
{
	lock_take(&ex->lock);
	assert(ex->pool.inline_taken[r - ex->pool.inline_readers] && r->run.call == NULL);
	ex->pool.inline_taken[r - ex->pool.inline_readers] = false;
	if (ex->stopping)
		pthread_cond_broadcast(&ex->pool.wake);
	took(ex, began_ms);
	lock_give(&ex->lock);
}

bool executor_inline_read(struct executor *ex, struct call *c)
{
	struct runner *r = is_short(c) ? inline_reader_take(ex) : NULL;
	int64_t began = clock_mono_ms();
	bool done;

	if (r == NULL)
		return false;
	done = executor_reader_run_now(r, c);
	inline_reader_give(ex, r, began);
	if (done)
		engine_call_complete(c);
	return done;
}

bool executor_inline_goes_on(const struct executor *ex)
{
	assert(lock_is_mine(&ex->lock));
	if (ex->promise.proc == NULL || clock_ticks() >= ex->promise.until || executor_deferred_is_due(ex))
		return false;
	LIST_EACH (it, &ex->queue) {
		const struct call *c = CONTAINER_OF(it, struct call, link);

		if (!is_short(c) || !c->proc->flush_later)
			return false;
	}
	return true;
}

bool executor_inline_may(const struct executor *ex, bool alone)
{
	assert(lock_is_mine(&ex->lock));
	if (ex->writer.state != WRITER_DOZES || ex->stopping || ex->pinned != NULL ||
	    list_empty(&ex->queue) || clock_mono_ms() < ex->writer.inline_again_ms)
		return false;
	return (alone && ex->waiting == 1 && is_short(CONTAINER_OF(ex->queue.next, struct call, link))) ||
	       executor_inline_goes_on(ex);
}

bool executor_inline_run(struct executor *ex)
{
	int64_t began = clock_mono_ms();

	assert(lock_is_mine(&ex->lock) && ex->writer.state == WRITER_DOZES);
	if (!store_commits_try(ex->writer.runner.conn))
		return false;
	executor_writer_move(ex, WRITER_INLINE);
	executor_writer_take(ex, true);
	executor_group_take(ex);
	lock_give(&ex->lock);
	store_set_waits(ex->writer.runner.conn, false);
	executor_group_run(ex);
	store_set_waits(ex->writer.runner.conn, true);
	store_commits_give(ex->writer.runner.conn);
	executor_group_answer(ex);
	lock_take(&ex->lock);
	ex->writer.inline_ms = clock_mono_ms();
	took(ex, began);
	ex->writer.asleep = ex->writer.state == WRITER_INLINE && !executor_writer_is_wanted(ex);
	executor_writer_move(ex, ex->writer.state == WRITER_INLINE ? WRITER_DOZES : WRITER_RUNS);
	if (!ex->writer.asleep)
		pthread_cond_signal(&ex->writer.wake);
	return true;
}
