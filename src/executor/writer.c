/* writer.c — the thread that owns the writing connection. It sleeps without a time-out when there is nothing to do: an idle server makes no wake-ups. */
#include "base/clock.h"
#include "base/log.h"
#include "executor/executor_int.h"

/* When it is worth doing, the checkpointer is asked to copy the log into the file. Of its pages … */
#define WAL_REST 1000  /* … so many may be left for the writer, so that the log can begin anew … */
#define WAL_HUGE 80000 /* … and so many the writer copies itself: the checkpointer is too slow */
#define WAL_IDLE 500   /* those worth copying once it has been idle … */
#define IDLE_MS 1000   /* … for so long */

/* Under the lock, which is given up meanwhile. */
static bool doze(struct executor *ex, int64_t until_ms)
{
	bool woken;

	if (snapshot_next_due(ex) < until_ms)
		until_ms = snapshot_next_due(ex);
	ex->asleep = ex->dozing = true;
	ex->doze_until_ms = until_ms;
	woken = wait_until(&ex->wake, &ex->lock, until_ms);
	ex->asleep = ex->dozing = false;
	while (ex->runs_inline)
		pthread_cond_wait(&ex->wake, &ex->lock);
	return woken;
}

/* Under the lock, which is given up meanwhile. A failure is in the log. */
static void settle(struct executor *ex)
{
	struct err err;

	pthread_mutex_unlock(&ex->lock);
	deferred_commit(ex, &err);
	pthread_mutex_lock(&ex->lock);
}

/* Under the lock, which is given up meanwhile. True: nothing was to be mended, or it is. */
static bool mend(struct executor *ex)
{
	struct err err;

	if (store_sound(ex->store, &err) == 0)
		return true;
	pthread_mutex_unlock(&ex->lock);
	commit_mend(ex);
	pthread_mutex_lock(&ex->lock);
	return store_sound(ex->store, &err) == 0;
}

/* The writer's own. One that the checkpointer has under way goes on: SQLite lets one of the two wait for nothing. */
static void checkpoint(struct executor *ex)
{
	int done = CHECKPOINT_DONE;

	atomic_compare_exchange_strong(&ex->checkpointer.state, &done, CHECKPOINT_NONE);
	settle(ex);
	pthread_mutex_unlock(&ex->lock);
	store_checkpoint(ex->writer.conn, true);
	pthread_mutex_lock(&ex->lock);
}

/* Between calls. The checkpointer goes on while calls go on, but never sees the end of a log that still grows: the rest, a small one, is the writer's. */
static void keep_log_short(struct executor *ex)
{
	unsigned waiting = store_wal_waiting(ex->store);
	int state = atomic_load(&ex->checkpointer.state);

	if (waiting >= WAL_HUGE || (state == CHECKPOINT_DONE && waiting <= WAL_REST))
		checkpoint(ex);
	else if (state == CHECKPOINT_DONE ||
		 (state == CHECKPOINT_NONE && waiting >= store_checkpoint_worth(ex->store)))
		if (!checkpointer_start(ex))
			checkpoint(ex);
}

static int64_t idle_until(struct executor *ex)
{
	struct err err;

	if (store_sound(ex->store, &err) < 0)
		return ex->mend_at_ms;
	if (ex->deferred.open)
		return ex->deferred.until_ms;
	return store_wal_waiting(ex->store) >= WAL_IDLE ? clock_mono_ms() + IDLE_MS : NEVER;
}

static void idle_turn(struct executor *ex)
{
	bool held = ex->deferred.open, woken = doze(ex, idle_until(ex));

	if (!woken && !held && ex->mend_at_ms == 0 && list_empty(&ex->queue) && !ex->stopping &&
	    clock_mono_ms() - ex->inline_ms >= IDLE_MS)
		checkpoint(ex);
}

bool writer_is_wanted(struct executor *ex)
{
	return !list_empty(&ex->queue) || deferred_is_due(ex) || idle_until(ex) < ex->doze_until_ms;
}

void group_take(struct executor *ex)
{
	while (ex->ngroup < GROUP_MAX && !list_empty(&ex->queue)) {
		struct call *c = CONTAINER_OF(ex->queue.next, struct call, link);

		if (c->txn != NULL)
			break;
		list_remove(&c->link);
		ex->waiting--;
		ex->group[ex->ngroup++] = (struct slot){ .call = c, .mark = run_mark(c) };
	}
}

static void queue_turn(struct executor *ex)
{
	struct call *first = CONTAINER_OF(ex->queue.next, struct call, link);

	if (first->txn != NULL) {
		bool over;

		list_remove(&first->link);
		ex->waiting--;
		over = txn_answer(
			first->txn,
			first); /* a snapshot may have reached its limit while its call waited here */
		if (!over) {
			first->txn->session = first->session;
			txn_pin(ex, first->txn);
		}
		pthread_mutex_unlock(&ex->lock);
		if (over)
			first->complete(first);
		else
			txn_run(ex, first, true);
	} else {
		group_take(ex);
		pthread_mutex_unlock(&ex->lock);
		group_run(ex);
	}
	pthread_mutex_lock(&ex->lock);
}

/* The pinned transaction has been silent, or open, for too long; its call, if there is one, is told so. */
static void give_up(struct executor *ex, struct call *c, int64_t now)
{
	struct err err = txn_overdue(ex->pinned, now);

	txn_unpin(ex, &err);
	if (c != NULL)
		call_refuse_lost(c, &err);
}

/* Its age does not keep a transaction from ending as its owner wishes. */
static bool is_too_late(const struct txn *t, const struct call *c, int64_t now)
{
	return t->age_at_ms <= now && c->kind != CALL_COMMIT && c->kind != CALL_ROLLBACK;
}

static void pinned_call(struct executor *ex, struct txn *t, struct call *c)
{
	int64_t now = clock_mono_ms();

	if (is_too_late(t, c, now))
		give_up(ex, c, now);
	else
		txn_run(ex, c, false);
}

static void pinned_turn(struct executor *ex)
{
	struct txn *t = ex->pinned;
	struct call *c = t->pending;
	int64_t now, late, over;

	if (c != NULL) {
		t->pending = NULL;
		pthread_mutex_unlock(&ex->lock);
		pinned_call(ex, t, c);
		pthread_mutex_lock(&ex->lock);
		return;
	}
	now = clock_mono_ms();
	late = atomic_load(&ex->next_deadline_ms);
	over = t->idle_at_ms < t->age_at_ms ? t->idle_at_ms : t->age_at_ms;
	if (now < late && now < over) {
		doze(ex, late < over ? late : over);
		return;
	}
	pthread_mutex_unlock(&ex->lock);
	if (now >= late)
		queue_sweep(ex);
	else
		give_up(ex, NULL, now);
	pthread_mutex_lock(&ex->lock);
}

/* On the way out: an open transaction is undone, and the call that it was about to run is refused. */
static void leave(struct executor *ex)
{
	struct call *c = ex->pinned == NULL ? NULL : ex->pinned->pending;
	struct err err;

	if (ex->pinned == NULL)
		return;
	ex->pinned->pending = NULL;
	pthread_mutex_unlock(&ex->lock);
	err_set(&err, ERR_SHUTDOWN);
	txn_unpin(ex, &err);
	if (c != NULL)
		call_refuse_lost(c, &err);
	pthread_mutex_lock(&ex->lock);
}

void *writer_main(void *arg)
{
	struct executor *ex = arg;

	thread_name(ex, 'w');
	pthread_mutex_lock(&ex->lock);
	while (!ex->stopping) {
		snapshot_sweep(ex);
		if (ex->pinned == NULL && mend(ex))
			keep_log_short(ex);
		if (ex->stopping)
			break;
		if (ex->pinned != NULL)
			pinned_turn(ex);
		else if (deferred_is_due(ex))
			settle(ex);
		else if (!list_empty(&ex->queue))
			queue_turn(ex);
		else
			idle_turn(ex);
	}
	leave(ex);
	pthread_mutex_unlock(&ex->lock);
	return NULL;
}
