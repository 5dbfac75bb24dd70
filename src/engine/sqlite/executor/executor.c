/* executor.c — starting, stopping, and the way in: which queue a call goes to, and when it is
 * refused at the door. */
#define _GNU_SOURCE /* names of threads */
#include "engine/sqlite/executor/executor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/sqlite/executor/executor_int.h"

#define NOTE_LOOK_MS 100 /* between two looks whether somebody still waits */

void executor_thread_name(const struct executor *ex, char kind)
{
	char name[16]; /* as long as the system takes */

	snprintf(name, sizeof(name), "%c-%.13s", kind, ex->db->name);
	pthread_setname_np(pthread_self(), name);
}

static int init_sync(struct executor *ex, struct err *reterr)
{
	if (executor_checkpointer_init(&ex->checkpointer) < 0)
		return err_nomem(reterr);
	lock_init(&ex->lock);
	lock_cond_init(&ex->writer.wake);
	lock_cond_init(&ex->pool.wake);
	lock_cond_init(&ex->flusher.wake);
	lock_cond_init(&ex->fetching.wake);
	lock_cond_init(&ex->flusher.flushed);
	lock_cond_init(&ex->deferred.over);
	lock_cond_init(&ex->note.done);
	return 0;
}

static void disconnect(struct store_conn **c)
{
	store_disconnect(*c);
	*c = NULL;
}

static void disconnect_all(struct executor *ex)
{
	for (unsigned i = 0; i < READERS_MAX; i++)
		disconnect(&ex->pool.readers[i].conn);
	for (unsigned i = 0; i < INLINE_READERS; i++)
		disconnect(&ex->pool.inline_readers[i].conn);
	disconnect(&ex->checkpointer.conn);
	/* the last one: it copies the WAL into the file, as those that only read cannot */
	disconnect(&ex->writer.runner.conn);
}

void executor_free(struct executor *ex)
{
	if (ex == NULL)
		return;
	disconnect_all(ex);
	store_noted_free(ex->note.installed);
	executor_checkpointer_fini(&ex->checkpointer);
	pthread_cond_destroy(&ex->pool.wake);
	pthread_cond_destroy(&ex->flusher.wake);
	pthread_cond_destroy(&ex->fetching.wake);
	pthread_cond_destroy(&ex->flusher.flushed);
	pthread_cond_destroy(&ex->deferred.over);
	pthread_cond_destroy(&ex->note.done);
	pthread_cond_destroy(&ex->writer.wake);
	lock_fini(&ex->lock);
	free(ex);
}

/* Before the writer's thread there is this one. */
static int begin_writer(struct executor *ex, struct err *reterr)
{
	lock_take(&ex->lock);
	executor_writer_take(ex, false);
	lock_give(&ex->lock);
	return executor_commit_start(ex, reterr);
}

/* After the writer's thread, and all others that run calls: what is held is committed. */
static void stop_writer(struct executor *ex)
{
	lock_take(&ex->lock);
	assert(ex->writer.state == WRITER_LEFT && ex->pinned == NULL && ex->pool.busy == 0);
	executor_writer_take(ex, false);
	lock_give(&ex->lock);
	executor_commit_end(ex);
}

int executor_start(const struct executor_options *o, struct executor **ret, struct err *reterr)
{
	struct executor *ex = calloc(1, sizeof(*ex));

	if (ex == NULL)
		return err_nomem(reterr);
	if (init_sync(ex, reterr) < 0) {
		free(ex);
		return -1;
	}
	ex->db = o->database;
	ex->store = o->store;
	ex->promise.proc = o->promise;
	ex->flusher.relaxed = o->relaxed;
	ex->flusher.interval_ms = o->commit_interval_ms;
	ex->pool.max = o->readers < READERS_MAX - READERS_EXTRA ? o->readers : READERS_MAX - READERS_EXTRA;
	ex->query_cost_limit = (uint64_t)ex->db->limits.query_cost_limit * 1000000 / STORE_STEPS_A_QUESTION;
	ex->max_wal_pages = o->max_wal_mib * (1048576u / STORE_PAGE);
	atomic_init(&ex->writer.next_deadline_ms, ENGINE_NEVER);
	executor_deferred_init(&ex->deferred);
	list_init(&ex->queue);
	executor_later_init(ex);
	list_init(&ex->snapshots);
	for (unsigned i = 0; i < LANES; i++)
		list_init(&ex->pool.queue[i]);
	ex->writer.runner.ex = ex;
	ex->writer.runner.run.db = ex->db;
	ex->writer.runner.writer = true;
	if (store_connect(ex->store, false, &ex->writer.runner.conn, reterr) < 0)
		goto fail;
	store_set_interrupt(ex->writer.runner.conn, executor_run_stop, &ex->writer.runner);
	if (begin_writer(ex, reterr) < 0 || executor_counter_start(ex, reterr) < 0)
		goto fail;
	if (thread_start(&ex->writer.thread, executor_writer_main, ex) < 0) {
		err_nomem(reterr);
		goto fail;
	}
	*ret = ex;
	return 0;
fail:
	executor_counter_stop(ex);
	executor_free(ex);
	return -1;
}

/* The threads are gone: nobody else looks at the queue. */
static void refuse_all(struct list *queue)
{
	struct list *item;

	while ((item = list_pop(queue)) != NULL)
		engine_call_refuse(CONTAINER_OF(item, struct call, link), ERR_SHUTDOWN, NULL);
}

/* Stopping is set: no reader is added any more. */
static void join_readers(struct executor *ex)
{
	for (unsigned i = 0; i < READERS_MAX; i++) {
		enum reader_state state;

		lock_take(&ex->lock);
		state = ex->pool.readers[i].state;
		lock_give(&ex->lock);
		if (state != READER_NONE)
			pthread_join(ex->pool.threads[i], NULL);
	}
}

/* Threads of others that read by themselves: each ends soon, and no more begin. */
static void wait_for_inline(struct executor *ex)
{
	lock_take(&ex->lock);
	for (unsigned i = 0; i < INLINE_READERS; i++) {
		while (ex->pool.inline_taken[i])
			lock_wait(&ex->lock, &ex->pool.wake);
	}
	lock_give(&ex->lock);
}

void executor_stop(struct executor *ex)
{
	if (ex == NULL || ex->stopped)
		return;
	ex->stopped = true;
	lock_take(&ex->lock);
	ex->stopping = true;
	pthread_cond_broadcast(&ex->writer.wake);
	pthread_cond_broadcast(&ex->flusher.flushed);
	pthread_cond_broadcast(&ex->deferred.over);
	pthread_cond_broadcast(&ex->pool.wake);
	pthread_cond_broadcast(&ex->note.done);
	lock_give(&ex->lock);
	executor_counter_stop(ex);
	pthread_join(ex->writer.thread, NULL);
	join_readers(ex);
	wait_for_inline(ex);
	executor_later_stop(ex);
	stop_writer(ex);
	executor_checkpointer_stop(ex);
	executor_flusher_stop(ex);
	refuse_all(&ex->queue);
	for (unsigned i = 0; i < LANES; i++)
		refuse_all(&ex->pool.queue[i]);
	executor_snapshot_end_all(ex);
	disconnect_all(ex);
}

void executor_set_commit(struct executor *ex, bool relaxed, int interval_ms)
{
	lock_take(&ex->lock);
	ex->flusher.relaxed = relaxed;
	ex->flusher.interval_ms = interval_ms;
	pthread_cond_signal(&ex->flusher.wake); /* the next flush may be due earlier now */
	lock_give(&ex->lock);
}

int64_t executor_queue_deadline(const struct executor *ex, const struct call *c, int64_t now_ms)
{
	return now_ms + engine_patience_ms(ex->db, c);
}

void executor_queue_sweep(struct executor *ex)
{
	struct list late, *next;
	int64_t now = clock_mono_ms(), earliest = ENGINE_NEVER;

	list_init(&late);
	lock_take(&ex->lock);
	for (struct list *it = ex->queue.next; it != &ex->queue && ex->pinned != NULL; it = next) {
		struct call *c = CONTAINER_OF(it, struct call, link);

		next = it->next;
		if (executor_notes(c)->deadline_ms <= now) {
			list_remove(it);
			list_append(&late, it);
			ex->waiting--;
		} else if (executor_notes(c)->deadline_ms < earliest) {
			earliest = executor_notes(c)->deadline_ms;
		}
	}
	atomic_store(&ex->writer.next_deadline_ms, earliest);
	lock_give(&ex->lock);
	while ((next = list_pop(&late)) != NULL)
		engine_call_refuse_late(ex->db, CONTAINER_OF(next, struct call, link));
}

/* Under the lock. True: the writer sleeps and must be woken, once the lock is free. */
static bool rouse(struct executor *ex)
{
	bool asleep = ex->writer.asleep;

	assert(lock_is_mine(&ex->lock));
	ex->writer.asleep = false; /* one wake is enough for all that comes before it looks */
	return asleep;
}

/* Under the lock: puts the call where the writer finds it. Returns why not, or ERR_NONE;
 * *ret_wake as rouse(). */
static enum err_id enqueue(struct executor *ex, struct call *c, bool *ret_wake)
{
	assert(lock_is_mine(&ex->lock));
	if (ex->waiting >= ex->db->limits.max_queue)
		return ERR_BUSY;
	executor_notes(c)->deadline_ms = 0;
	if (ex->pinned != NULL) {
		int64_t now = clock_mono_ms();

		executor_notes(c)->deadline_ms = executor_queue_deadline(ex, c, now);
		if (executor_notes(c)->deadline_ms <= now)
			return ERR_LOCK_TIMEOUT;
		if (executor_notes(c)->deadline_ms < atomic_load(&ex->writer.next_deadline_ms)) {
			atomic_store(&ex->writer.next_deadline_ms, executor_notes(c)->deadline_ms);
			*ret_wake = rouse(ex);
		}
	} else {
		*ret_wake = rouse(ex);
	}
	list_append(&ex->queue, &c->link);
	ex->waiting++;
	return ERR_NONE;
}

/* Under the lock. Sets *ret_done when the call has its result already. */
static enum err_id submit_writer(struct executor *ex, struct call *c, bool *ret_wake, bool *ret_done)
{
	struct executor_txn *t = executor_txn_of(c);

	assert(lock_is_mine(&ex->lock));
	/* also at the end: the writer undoes it, and then refuses this, or its owner would free
	 * what the writer still has */
	if (t != NULL && t->state == TXN_OPEN) {
		assert(t->pending == NULL); /* calls of a session come one after another */
		t->pending = c;
		*ret_wake = rouse(ex);
		return ERR_NONE;
	}
	if (t != NULL && executor_txn_answer(t, c)) {
		*ret_done = true;
		return ERR_NONE;
	}
	if (ex->stopping)
		return ERR_SHUTDOWN;
	if (t != NULL && t->state == TXN_READING) /* one that waits for the writer is not idle */
		t->idle_at_ms = engine_idle_limit_ms(ex->db, executor_queue_deadline(ex, c, clock_mono_ms()));
	return enqueue(ex, c, ret_wake);
}

/* Under the lock. True: the first that wants a thread woken since the last executor_wake(). */
static bool want_wake(struct executor *ex, bool writer)
{
	bool first = !ex->writer.wake_due;

	assert(lock_is_mine(&ex->lock));
	ex->writer.wake_due = true;
	ex->writer.wake_wanted |= writer;
	return first;
}

bool executor_submit_quietly(struct executor *ex, struct call *c)
{
	bool wake = false, done = false,
	     reader = c->txn == NULL && engine_call_only_reads(c) && ex->pool.max > 0;
	enum err_id refused;

	assert(list_empty(&c->link));
	assert(c->txn == NULL || executor_txn_of(c)->ex == ex);
	if (reader && executor_inline_read(ex, c))
		return false;
	lock_take(&ex->lock);
	if (c->txn != NULL && ex->stopping)
		executor_snapshot_leave(executor_txn_of(c));
	if (c->txn != NULL)
		reader = executor_snapshot_takes(c);
	executor_notes(c)->waits_for_reader = reader;
	refused = reader ? executor_pool_submit(ex, c) : submit_writer(ex, c, &wake, &done);
	if (reader)
		wake = refused == ERR_NONE && ex->pool.idle > 0;
	if (wake)
		wake = want_wake(ex, !reader);
	lock_give(&ex->lock);
	if (refused != ERR_NONE)
		engine_call_refuse(c, refused, ex->db->name);
	else if (done)
		engine_call_complete(c);
	return wake;
}

void executor_wake(struct executor *ex, bool alone)
{
	unsigned readers;
	bool writer;

	lock_take(&ex->lock);
	readers = ex->pool.waiting < ex->pool.idle ? ex->pool.waiting : ex->pool.idle;
	writer = ex->writer.wake_wanted;
	ex->writer.wake_due = ex->writer.wake_wanted = false;
	if (writer && executor_inline_may(ex, alone) && executor_inline_run(ex))
		writer = false;
	lock_give(&ex->lock);
	if (writer)
		pthread_cond_signal(&ex->writer.wake);
	while (readers-- > 0)
		pthread_cond_signal(&ex->pool.wake);
}

/* A queued call is taken out and answered here; one that runs looks at the flag itself. */
void executor_cancel(struct executor *ex, struct call *c)
{
	bool queued;

	assert(atomic_load(&c->cancelled));
	lock_take(&ex->lock);
	queued = !list_empty(&c->link);
	if (queued) {
		list_remove(&c->link);
		ex->waiting--;
		if (executor_notes(c)->waits_for_reader)
			ex->pool.waiting--;
	}
	lock_give(&ex->lock);
	if (queued)
		engine_call_refuse(c, ERR_CANCELLED, NULL);
}

/* Under the lock. */
static void want_note(struct executor *ex, struct store_noted *noted)
{
	assert(lock_is_mine(&ex->lock));
	ex->note.wanted = true;
	ex->note.noted = noted;
	(void)rouse(ex);
	pthread_cond_signal(&ex->writer.wake);
}

int executor_note(struct executor *ex, struct store_noted *noted, bool (*stop)(void *arg), void *arg,
		  struct err *reterr)
{
	bool stopped = false;
	int rc = 0;

	lock_take(&ex->lock);
	want_note(ex, noted);
	while ((ex->note.wanted && !ex->stopping && !stopped) || ex->note.turning) {
		(void)lock_wait_until(&ex->lock, &ex->note.done, clock_mono_ms() + NOTE_LOOK_MS);
		stopped = stop(arg);
	}
	if (ex->note.wanted)
		rc = err_set(reterr, ex->stopping ? ERR_SHUTDOWN : ERR_CANCELLED);
	else if (ex->note.rc < 0)
		*reterr = ex->note.err, rc = -1;
	ex->note.wanted = false;
	lock_give(&ex->lock);
	return rc;
}

void executor_note_end(struct executor *ex)
{
	lock_take(&ex->lock);
	want_note(ex, NULL);
	lock_give(&ex->lock);
}

void executor_statistics(struct executor *ex, struct engine_statistics *ret)
{
	*ret = (struct engine_statistics){ .waiting = 0 };
	lock_take(&ex->lock);
	ret->waiting = ex->waiting;
	ret->transactions = ex->pinned != NULL;
	LIST_EACH (it, &ex->snapshots)
		ret->transactions++;
	lock_give(&ex->lock);
}
