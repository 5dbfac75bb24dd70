/* writer.c — the thread that owns the writing connection. It sleeps without a time-out when
 * there is nothing to do: an idle server makes no wake-ups. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/sqlite/executor/executor_int.h"

/* When it is worth doing, the checkpointer is asked to copy the WAL into the file. These are
 * numbers of pages of the WAL that have not been copied. */
#define WAL_REST 1000  /* what may be left for the writer, so that the WAL can begin anew */
#define WAL_HUGE 80000 /* what the writer copies itself: the checkpointer is too slow */
#define WAL_IDLE 500   /* what is worth copying once nothing has been done for IDLE_MS */
#define IDLE_MS 1000

/* Under the lock, which is given up meanwhile. */
static bool doze(struct executor *ex, int64_t until_ms)
{
	bool woken;

	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex));
	if (executor_snapshot_next_due(ex) < until_ms)
		until_ms = executor_snapshot_next_due(ex);
	executor_writer_move(ex, WRITER_DOZES);
	ex->writer.asleep = true;
	ex->writer.doze_until_ms = until_ms;
	woken = lock_wait_until(&ex->lock, &ex->writer.wake, until_ms);
	ex->writer.asleep = false;
	if (ex->writer.state == WRITER_INLINE) {
		executor_writer_move(ex, WRITER_WAITS);
		while (ex->writer.state == WRITER_WAITS)
			lock_wait(&ex->lock, &ex->writer.wake);
	} else {
		executor_writer_move(ex, WRITER_RUNS);
	}
	executor_writer_take(ex, false);
	return woken;
}

/* Under the lock, which is given up meanwhile. A failure is in the log. */
static void settle(struct executor *ex)
{
	struct err err;

	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex));
	lock_give(&ex->lock);
	executor_deferred_commit(ex, &err);
	lock_take(&ex->lock);
}

/* Under the lock, which is given up meanwhile. True: nothing was to be mended, or it is. */
static bool mend(struct executor *ex)
{
	struct err err;

	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex));
	if (store_sound(ex->store, &err) == 0)
		return true;
	lock_give(&ex->lock);
	executor_commit_mend(ex);
	lock_take(&ex->lock);
	return store_sound(ex->store, &err) == 0;
}

/* The writer's own. One that the checkpointer has under way goes on: SQLite lets one of the two
 * wait for nothing. */
static void checkpoint(struct executor *ex)
{
	if (atomic_load(&ex->checkpointer.state) == CHECKPOINT_DONE)
		executor_checkpoint_move(&ex->checkpointer, CHECKPOINT_NONE);
	settle(ex);
	lock_give(&ex->lock);
	store_checkpoint(ex->writer.runner.conn, true);
	lock_take(&ex->lock);
}

/* The WAL is copied well before it is so long that readers are ended for it: one that nobody has
 * tried to shorten is not their fault. */
static unsigned within_limit(const struct executor *ex, unsigned pages, unsigned part)
{
	unsigned most = ex->max_wal_pages / part;

	return ex->max_wal_pages == 0 || pages < most ? pages : most;
}

/* Between calls. The checkpointer goes on while calls go on, but never sees the end of a WAL
 * that still grows: the rest, a small one, is the writer's. */
static void keep_wal_short(struct executor *ex)
{
	unsigned waiting = store_wal_waiting(ex->store);
	unsigned worth = within_limit(ex, store_checkpoint_worth(ex->store), 2);
	int state = atomic_load(&ex->checkpointer.state);

	if (waiting >= within_limit(ex, WAL_HUGE, 1) || (state == CHECKPOINT_DONE && waiting <= WAL_REST))
		checkpoint(ex);
	else if (state == CHECKPOINT_DONE || (state == CHECKPOINT_NONE && waiting >= worth))
		if (!executor_checkpointer_start(ex))
			checkpoint(ex);
}

static int64_t idle_until(struct executor *ex)
{
	struct err err;

	if (store_sound(ex->store, &err) < 0)
		return ex->mending.at_ms;
	if (ex->deferred.state == DEFERRED_OPEN)
		return ex->deferred.until_ms;
	return store_wal_waiting(ex->store) >= WAL_IDLE ? clock_mono_ms() + IDLE_MS : ENGINE_NEVER;
}

static void idle_turn(struct executor *ex)
{
	bool held = ex->deferred.state == DEFERRED_OPEN, woken = doze(ex, idle_until(ex));

	if (!woken && !held && ex->mending.at_ms == 0 && list_empty(&ex->queue) && !ex->stopping &&
	    clock_mono_ms() - ex->writer.inline_ms >= IDLE_MS)
		checkpoint(ex);
}

bool executor_writer_is_wanted(struct executor *ex)
{
	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex));
	return !list_empty(&ex->queue) || executor_deferred_is_due(ex) ||
	       idle_until(ex) < ex->writer.doze_until_ms;
}

void executor_group_take(struct executor *ex)
{
	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex) && ex->pinned == NULL);
	while (ex->group.n < GROUP_MAX && !list_empty(&ex->queue)) {
		struct call *c = CONTAINER_OF(ex->queue.next, struct call, link);

		if (c->txn != NULL)
			break;
		list_remove(&c->link);
		ex->waiting--;
		ex->group.slots[ex->group.n++] = (struct slot){ .call = c, .mark = engine_call_mark(c) };
	}
}

static void queue_turn(struct executor *ex)
{
	struct call *first = CONTAINER_OF(ex->queue.next, struct call, link);

	if (first->txn != NULL) {
		bool over;

		list_remove(&first->link);
		ex->waiting--;
		/* a snapshot may have reached its limit while its call waited here */
		over = executor_txn_answer(executor_txn_of(first), first);
		if (!over) {
			executor_txn_of(first)->session = first->session;
			executor_txn_pin(ex, executor_txn_of(first));
		}
		lock_give(&ex->lock);
		if (over)
			engine_call_complete(first);
		else
			executor_txn_run(ex, first, true);
	} else {
		executor_group_take(ex);
		lock_give(&ex->lock);
		executor_group_run(ex);
		executor_group_answer(ex);
	}
	lock_take(&ex->lock);
}

/* The pinned transaction has been silent, or open, for too long; its call, if there is one, is
 * told so. */
static void give_up(struct executor *ex, struct call *c, int64_t now)
{
	struct err err = engine_txn_overdue(ex->db, ex->pinned->age_at_ms, now);
	struct call *late = executor_txn_unpin(ex, &err);

	assert(c == NULL || late == NULL);
	c = c == NULL ? late : c;
	if (c != NULL)
		engine_call_refuse_lost(c, &err);
}

static void pinned_call(struct executor *ex, struct executor_txn *t, struct call *c)
{
	int64_t now = clock_mono_ms();

	if (engine_txn_is_too_old(c, t->age_at_ms, now))
		give_up(ex, c, now);
	else
		executor_txn_run(ex, c, false);
}

static void pinned_turn(struct executor *ex)
{
	struct executor_txn *t = ex->pinned;
	struct call *c = t->pending;
	int64_t now, late, over;

	if (c != NULL) {
		t->pending = NULL;
		lock_give(&ex->lock);
		pinned_call(ex, t, c);
		lock_take(&ex->lock);
		return;
	}
	now = clock_mono_ms();
	late = atomic_load(&ex->writer.next_deadline_ms);
	over = t->idle_at_ms < t->age_at_ms ? t->idle_at_ms : t->age_at_ms;
	if (now < late && now < over) {
		doze(ex, late < over ? late : over);
		return;
	}
	lock_give(&ex->lock);
	if (now >= late)
		executor_queue_sweep(ex);
	else
		give_up(ex, NULL, now);
	lock_take(&ex->lock);
}

/* What was held is committed; what is not noted is, from now on. One that fails is its owner's. */
static int change_notes(struct executor *ex, struct store_noted *noted, struct err *reterr)
{
	struct store_noted *old = ex->note.installed;
	struct err ignored;

	if (executor_deferred_commit(ex, reterr) < 0)
		return -1;
	if (noted == old)
		return 0;
	ex->note.installed = NULL;
	if (store_note(ex->writer.runner.conn, noted, reterr) < 0) {
		if (store_note(ex->writer.runner.conn, NULL, &ignored) == 0)
			store_noted_free(old);
		return -1;
	}
	store_noted_free(old);
	ex->note.installed = noted;
	return 0;
}

/* Under the lock, which is given up meanwhile. */
static void note_turn(struct executor *ex)
{
	struct store_noted *noted = ex->note.noted;
	struct err err;
	int rc;

	ex->note.turning = true;
	lock_give(&ex->lock);
	rc = change_notes(ex, noted, &err);
	lock_take(&ex->lock);
	ex->note.turning = false;
	ex->note.rc = rc;
	if (rc < 0)
		ex->note.err = err;
	if (ex->note.noted == noted)
		ex->note.wanted = false;
	pthread_cond_broadcast(&ex->note.done);
}

/* On the way out: an open transaction is undone, and the call that it was about to run is
 * refused. */
static void leave(struct executor *ex)
{
	struct call *c;
	struct err err;

	if (ex->pinned == NULL)
		return;
	lock_give(&ex->lock);
	err_set(&err, ERR_SHUTDOWN);
	c = executor_txn_unpin(ex, &err);
	if (c != NULL)
		engine_call_refuse_lost(c, &err);
	lock_take(&ex->lock);
}

void *executor_writer_main(void *arg)
{
	struct executor *ex = arg;

	executor_thread_name(ex, 'w');
	lock_take(&ex->lock);
	executor_writer_take(ex, false);
	while (!ex->stopping) {
		assert(ex->writer.state == WRITER_RUNS && ex->group.n == 0);
		executor_snapshot_sweep(ex);
		if (ex->pinned == NULL && mend(ex))
			keep_wal_short(ex);
		if (ex->stopping)
			break;
		if (ex->pinned != NULL)
			pinned_turn(ex);
		else if (ex->note.wanted)
			note_turn(ex);
		else if (executor_deferred_is_due(ex))
			settle(ex);
		else if (!list_empty(&ex->queue))
			queue_turn(ex);
		else
			idle_turn(ex);
	}
	leave(ex);
	assert(ex->pinned == NULL);
	executor_writer_move(ex, WRITER_LEFT);
	lock_give(&ex->lock);
	return NULL;
}
