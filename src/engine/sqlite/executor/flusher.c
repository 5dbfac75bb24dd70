/* flusher.c — the thread that flushes the commits of a relaxed database. Started when there is
 * first something to do; sleeps without a time-out when there is nothing. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/sqlite/executor/executor_int.h"

/* Without the lock. False: it failed, which is in the log; the writer mends the store. */
static bool flush_store(struct executor *ex)
{
	const struct log_ctx ctx = { .database = ex->db->name };
	int64_t began_us = clock_mono_us();
	struct err err;

	assert(!lock_is_mine(&ex->lock));
	if (store_flush(ex->store, &err) < 0) {
		LOG(LOG_ERROR, &ctx, "flush_failed", F_STR("reason", err.text));
		return false;
	}
	metrics_flush(ex->db->metrics, clock_mono_us() - began_us);
	return true;
}

/* Under the lock, which is given up meanwhile. */
static void flush(struct executor *ex)
{
	bool done;

	assert(lock_is_mine(&ex->lock));
	ex->flusher.flushing_ms = ex->flusher.unflushed_ms;
	ex->flusher.unflushed_ms = 0;
	lock_give(&ex->lock);
	done = flush_store(ex);
	lock_take(&ex->lock);
	ex->flusher.flushing_ms = 0;
	if (!done)
		pthread_cond_signal(&ex->writer.wake);
	pthread_cond_broadcast(&ex->flusher.flushed);
}

/* When the next flush begins: early enough to be over in time, as a rule. What a database left
 * unflushed that is durable now: at once. */
static int64_t flush_at(const struct executor *ex)
{
	if (ex->flusher.unflushed_ms == 0)
		return ENGINE_NEVER;
	return ex->flusher.relaxed ? ex->flusher.unflushed_ms + ex->flusher.interval_ms / 2
				   : ex->flusher.unflushed_ms;
}

static void *flusher_main(void *arg)
{
	struct executor *ex = arg;

	executor_thread_name(ex, 'f');
	lock_take(&ex->lock);
	while (!ex->flusher.leaves) {
		if (flush_at(ex) <= clock_mono_ms())
			flush(ex);
		else
			lock_wait_until(&ex->lock, &ex->flusher.wake, flush_at(ex));
	}
	if (ex->flusher.unflushed_ms != 0)
		flush(ex);
	lock_give(&ex->lock);
	return NULL;
}

/* Under the lock. */
static bool rouse(struct executor *ex)
{
	assert(lock_is_mine(&ex->lock));
	if (!ex->flusher.started)
		ex->flusher.started = thread_start(&ex->flusher.thread, flusher_main, ex) == 0;
	else
		pthread_cond_signal(&ex->flusher.wake);
	return ex->flusher.started;
}

/* How old the oldest commit is that could be lost. */
static bool flush_is_late(const struct executor *ex)
{
	int64_t oldest = ex->flusher.flushing_ms != 0 ? ex->flusher.flushing_ms : ex->flusher.unflushed_ms;

	return oldest != 0 && clock_mono_ms() - oldest >= ex->flusher.interval_ms;
}

void executor_flusher_committed(struct executor *ex)
{
	bool late;

	assert(executor_is_writer(ex));
	lock_take(&ex->lock);
	if (ex->flusher.unflushed_ms == 0) {
		ex->flusher.unflushed_ms = clock_mono_ms();
		if (!rouse(ex))
			flush(ex);
	}
	while ((late = flush_is_late(ex)) && !ex->stopping && !ex->writer.worker_is_inline)
		lock_wait(&ex->lock, &ex->flusher.flushed);
	lock_give(&ex->lock);
	/* beside one that may be under way, which need not cover this commit */
	if (late && ex->writer.worker_is_inline)
		(void)flush_store(ex);
}

void executor_flusher_stop(struct executor *ex)
{
	if (!ex->flusher.started)
		return;
	lock_take(&ex->lock);
	ex->flusher.leaves = true;
	pthread_cond_signal(&ex->flusher.wake);
	lock_give(&ex->lock);
	pthread_join(ex->flusher.thread, NULL);
}
