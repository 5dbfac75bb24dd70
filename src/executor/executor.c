/* executor.c — starting, stopping, and the way in: which queue a call goes to, and when it is refused at the door. */
#define _GNU_SOURCE /* names of threads */
#include "executor/executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "executor/executor_int.h"

void call_refuse(struct call *c, enum err_id id, const char *arg)
{
	err_set(&c->err, id, arg);
	run_fail(c, &c->err); /* waiting is part of the execution: the status is that of a call that failed */
	c->txn_lost = false;
	c->complete(c);
}

void call_refuse_lost(struct call *c, const struct err *e)
{
	c->err = *e;
	c->rc = -1;
	c->status_set = false;
	c->txn_lost = true;
	c->rows_changed = 0;
	c->complete(c);
}

bool wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_ms)
{
	struct timespec at = { .tv_sec = (time_t)(at_ms / 1000), .tv_nsec = (long)(at_ms % 1000) * 1000000 };

	if (at_ms == NEVER) {
		pthread_cond_wait(cond, lock);
		return true;
	}
	return pthread_cond_timedwait(cond, lock, &at) != ETIMEDOUT;
}

void thread_name(const struct executor *ex, char kind)
{
	char name[16]; /* as long as the system takes */

	snprintf(name, sizeof(name), "%c-%.13s", kind, ex->name);
	pthread_setname_np(pthread_self(), name);
}

static int init_sync(struct executor *ex, struct err *reterr)
{
	pthread_condattr_t attr;

	if (checkpointer_init(&ex->checkpointer) < 0 || pthread_condattr_init(&attr) != 0)
		return err_nomem(reterr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* the clock of clock_mono_ms() */
	pthread_mutex_init(&ex->lock, NULL);
	pthread_cond_init(&ex->wake, &attr);
	pthread_cond_init(&ex->reader_wake, &attr);
	pthread_cond_init(&ex->flusher_wake, &attr);
	pthread_cond_init(&ex->fetch_wake, &attr);
	pthread_cond_init(&ex->flushed, &attr);
	pthread_cond_init(&ex->deferred.over, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static void executor_free(struct executor *ex)
{
	for (unsigned i = 0; i < READERS_MAX; i++)
		store_disconnect(ex->readers[i].conn);
	for (unsigned i = 0; i < INLINE_READERS; i++)
		store_disconnect(ex->inline_readers[i].conn);
	checkpointer_fini(&ex->checkpointer);
	store_disconnect(
		ex->writer
			.conn); /* the last one: it copies the log into the file, as those that only read cannot */
	pthread_cond_destroy(&ex->reader_wake);
	pthread_cond_destroy(&ex->flusher_wake);
	pthread_cond_destroy(&ex->fetch_wake);
	pthread_cond_destroy(&ex->flushed);
	pthread_cond_destroy(&ex->deferred.over);
	pthread_cond_destroy(&ex->wake);
	pthread_mutex_destroy(&ex->lock);
	free(ex);
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
	str_copy(ex->name, sizeof(ex->name), str_of(o->name));
	ex->store = o->store;
	atomic_init(&ex->literal, o->errata_literal);
	ex->execution_timeout_s = o->execution_timeout_s;
	ex->lock_timeout_ms = o->lock_timeout_ms;
	ex->transaction_idle_s = o->transaction_idle_s;
	ex->transaction_s = o->transaction_s;
	ex->promise = o->promise;
	ex->relaxed = o->relaxed;
	ex->commit_interval_ms = o->commit_interval_ms;
	ex->max_queue = o->max_queue;
	ex->max_readers = o->readers < READERS_MAX - READERS_EXTRA ? o->readers : READERS_MAX - READERS_EXTRA;
	ex->query_cost_limit = (uint64_t)o->query_cost_limit * 1000000 / STORE_STEPS_A_QUESTION;
	ex->max_wal_pages = o->max_wal_mib * (1048576u / STORE_PAGE);
	atomic_init(&ex->next_deadline_ms, NEVER);
	deferred_init(&ex->deferred);
	list_init(&ex->queue);
	later_init(ex);
	list_init(&ex->snapshots);
	for (unsigned i = 0; i < LANES; i++)
		list_init(&ex->reader_queue[i]);
	ex->writer.ex = ex;
	ex->writer.writer = true;
	if (store_connect(ex->store, false, &ex->writer.conn, reterr) < 0)
		goto fail;
	store_set_interrupt(ex->writer.conn, run_stop, &ex->writer);
	if (commit_start(ex, reterr) < 0)
		goto fail;
	if (thread_start(&ex->thread, writer_main, ex) < 0) {
		err_nomem(reterr);
		goto fail;
	}
	*ret = ex;
	return 0;
fail:
	executor_free(ex);
	return -1;
}

/* The threads are gone: nobody else looks at the queue. */
static void refuse_all(struct list *queue)
{
	struct list *item;

	while ((item = list_pop(queue)) != NULL)
		call_refuse(CONTAINER_OF(item, struct call, link), ERR_SHUTDOWN, NULL);
}

/* Stopping is set: no reader is added any more. */
static void join_readers(struct executor *ex)
{
	for (unsigned i = 0; i < READERS_MAX; i++) {
		enum reader_state state;

		pthread_mutex_lock(&ex->lock);
		state = ex->readers[i].state;
		pthread_mutex_unlock(&ex->lock);
		if (state != READER_NONE)
			pthread_join(ex->reader_threads[i], NULL);
	}
}

void executor_stop(struct executor *ex)
{
	if (ex == NULL)
		return;
	pthread_mutex_lock(&ex->lock);
	ex->stopping = true;
	pthread_cond_broadcast(&ex->wake);
	pthread_cond_broadcast(&ex->flushed);
	pthread_cond_broadcast(&ex->deferred.over);
	pthread_cond_broadcast(&ex->reader_wake);
	pthread_mutex_unlock(&ex->lock);
	pthread_join(ex->thread, NULL);
	join_readers(ex);
	later_stop(ex);
	commit_end(ex);
	checkpointer_stop(ex);
	flusher_stop(ex);
	refuse_all(&ex->queue);
	for (unsigned i = 0; i < LANES; i++)
		refuse_all(&ex->reader_queue[i]);
	snapshot_end_all(ex);
	executor_free(ex);
}

const char *executor_name(const struct executor *ex)
{
	return ex->name;
}

void executor_set_errata(struct executor *ex, bool literal)
{
	atomic_store(&ex->literal, literal);
}

void executor_set_commit(struct executor *ex, bool relaxed, int interval_ms)
{
	pthread_mutex_lock(&ex->lock);
	ex->relaxed = relaxed;
	ex->commit_interval_ms = interval_ms;
	pthread_cond_signal(&ex->flusher_wake); /* the next flush may be due earlier now */
	pthread_mutex_unlock(&ex->lock);
}

/* How long the call may wait for an open transaction, in ms. */
static int64_t lock_patience(const struct executor *ex, const struct call *c)
{
	return c->lock_timeout_ms < 0 ? ex->lock_timeout_ms : c->lock_timeout_ms;
}

/* Waiting is part of the execution: its limit may come first [E-COM-16]. */
static bool execution_ends_first(const struct executor *ex, const struct call *c)
{
	return ex->execution_timeout_s > 0 && (int64_t)ex->execution_timeout_s * 1000 <= lock_patience(ex, c);
}

int64_t queue_deadline(const struct executor *ex, const struct call *c, int64_t now_ms)
{
	return now_ms +
	       (execution_ends_first(ex, c) ? (int64_t)ex->execution_timeout_s * 1000 : lock_patience(ex, c));
}

/* The call waited long enough. An execution time-out takes the caller's own transaction with it (clarification 6), which has done nothing yet. */
static void refuse_late(const struct executor *ex, struct call *c)
{
	if (!execution_ends_first(ex, c)) {
		call_refuse(c, ERR_LOCK_TIMEOUT, NULL);
		return;
	}
	err_set(&c->err, ERR_TIMEOUT, ex->execution_timeout_s);
	run_fail(c, &c->err);
	c->txn_lost = c->txn != NULL;
	c->complete(c);
}

void queue_sweep(struct executor *ex)
{
	struct list late, *next;
	int64_t now = clock_mono_ms(), earliest = NEVER;

	list_init(&late);
	pthread_mutex_lock(&ex->lock);
	for (struct list *it = ex->queue.next; it != &ex->queue && ex->pinned != NULL; it = next) {
		struct call *c = CONTAINER_OF(it, struct call, link);

		next = it->next;
		if (c->deadline_ms <= now) {
			list_remove(it);
			list_append(&late, it);
			ex->waiting--;
		} else if (c->deadline_ms < earliest) {
			earliest = c->deadline_ms;
		}
	}
	atomic_store(&ex->next_deadline_ms, earliest);
	pthread_mutex_unlock(&ex->lock);
	while ((next = list_pop(&late)) != NULL)
		refuse_late(ex, CONTAINER_OF(next, struct call, link));
}

/* Under the lock. True: the writer sleeps and must be woken, once the lock is free. */
static bool rouse(struct executor *ex)
{
	bool asleep = ex->asleep;

	ex->asleep = false; /* one wake is enough for all that comes before it looks */
	return asleep;
}

/* Under the lock: puts the call where the writer finds it. Returns why not, or ERR_NONE; *ret_wake as rouse(). */
static enum err_id enqueue(struct executor *ex, struct call *c, bool *ret_wake)
{
	if (ex->waiting >= ex->max_queue)
		return ERR_BUSY;
	c->deadline_ms = 0;
	if (ex->pinned != NULL) {
		int64_t now = clock_mono_ms();

		c->deadline_ms = queue_deadline(ex, c, now);
		if (c->deadline_ms <= now)
			return ERR_LOCK_TIMEOUT;
		if (c->deadline_ms < atomic_load(&ex->next_deadline_ms)) {
			atomic_store(&ex->next_deadline_ms, c->deadline_ms);
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
	struct txn *t = c->txn;

	if (ex->stopping)
		return ERR_SHUTDOWN;
	if (t != NULL && t->state == TXN_OPEN) {
		t->pending = c;
		*ret_wake = rouse(ex);
		return ERR_NONE;
	}
	if (t != NULL && txn_answer(t, c)) {
		*ret_done = true;
		return ERR_NONE;
	}
	if (t != NULL && t->state == TXN_READING) /* one that waits for the writer is not idle */
		t->idle_at_ms = txn_idle_limit(ex, queue_deadline(ex, c, clock_mono_ms()));
	return enqueue(ex, c, ret_wake);
}

static bool only_reads(const struct call *c)
{
	return c->kind == CALL_QUERY || (c->kind == CALL_PROC && c->proc->read_only);
}

/* What no queue can help with: steps of a transaction without one, or with another database's. */
static bool misplaced(struct executor *ex, struct call *c)
{
	if (c->txn != NULL && c->txn->ex != ex) {
		err_set(&c->err, ERR_TXN_DATABASES, executor_name(c->txn->ex), ex->name);
		run_fail(c, &c->err);
		c->txn_lost = false;
		c->complete(c);
		return true;
	}
	if (c->txn != NULL || c->kind == CALL_PROC || c->kind == CALL_QUERY)
		return false;
	call_refuse(c,
		    c->kind == CALL_COMMIT ? ERR_COMMIT_NO_TRAN
		    : c->kind == CALL_SAVE ? ERR_SAVE_NO_TRAN
					   : ERR_ROLLBACK_NO_TRAN,
		    NULL);
	return true;
}

/* Under the lock. True: the first that wants a thread woken since the last executor_wake(). */
static bool want_wake(struct executor *ex, bool writer)
{
	bool first = !ex->wake_due;

	ex->wake_due = true;
	ex->wake_writer |= writer;
	return first;
}

bool executor_submit_quietly(struct executor *ex, struct call *c)
{
	bool wake = false, done = false, reader = c->txn == NULL && only_reads(c) && ex->max_readers > 0;
	enum err_id refused;

	list_init(&c->link); /* before all else: executor_cancel looks at it */
	if (misplaced(ex, c) || (reader && inline_read(ex, c)))
		return false;
	pthread_mutex_lock(&ex->lock);
	if (c->txn != NULL)
		reader = snapshot_takes(c);
	c->waits_for_reader = reader;
	refused = reader ? pool_submit(ex, c) : submit_writer(ex, c, &wake, &done);
	if (reader)
		wake = refused == ERR_NONE && ex->idle_readers > 0;
	if (wake)
		wake = want_wake(ex, !reader);
	pthread_mutex_unlock(&ex->lock);
	if (refused != ERR_NONE)
		call_refuse(c, refused, ex->name);
	else if (done)
		c->complete(c);
	return wake;
}

void executor_wake(struct executor *ex, bool alone)
{
	unsigned readers;
	bool writer;

	pthread_mutex_lock(&ex->lock);
	readers = ex->reader_waiting < ex->idle_readers ? ex->reader_waiting : ex->idle_readers;
	writer = ex->wake_writer;
	ex->wake_due = ex->wake_writer = false;
	if (writer && inline_may(ex, alone)) {
		inline_run(ex);
		writer = false;
	}
	pthread_mutex_unlock(&ex->lock);
	if (writer)
		pthread_cond_signal(&ex->wake);
	while (readers-- > 0)
		pthread_cond_signal(&ex->reader_wake);
}

void executor_submit(struct executor *ex, struct call *c)
{
	if (executor_submit_quietly(ex, c))
		executor_wake(ex, false);
}

/* A queued call is taken out and answered here; one that runs looks at the flag itself. */
void executor_cancel(struct executor *ex, struct call *c)
{
	bool queued;

	atomic_store(&c->cancelled, true);
	pthread_mutex_lock(&ex->lock);
	queued = !list_empty(&c->link);
	if (queued) {
		list_remove(&c->link);
		ex->waiting--;
		if (c->waits_for_reader)
			ex->reader_waiting--;
	}
	pthread_mutex_unlock(&ex->lock);
	if (queued)
		call_refuse(c, ERR_CANCELLED, NULL);
}
