/* snapshot.c — transactions at isolation level SNAPSHOT. All their reads see the state that the
 * first of them saw, on a read-only connection of their own; they wait for nobody and nobody
 * waits for them. The first call that writes takes the writer, as in any other transaction, if
 * nothing has been committed since; otherwise the transaction ends with 3960, as in SQL Server,
 * which compares rows where we compare the whole database.
 *
 * A silent one keeps the WAL from beginning anew. So the writer thread, which sleeps until one
 * of them is due, ends those that have been idle or open for too long. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/sqlite/executor/executor_int.h"

bool executor_snapshot_takes(const struct call *c)
{
	const struct executor_txn *t = executor_txn_of(c);

	assert(lock_is_mine(&t->ex->lock));
	if (!t->base.snapshot || t->ex->pool.max == 0)
		return false;
	if (t->state == TXN_READING)
		return engine_call_only_reads(c) || engine_call_ends_txn(c);
	return t->state == TXN_NEW && engine_call_only_reads(c);
}

static int open_snapshot(struct executor_txn *t, struct err *reterr)
{
	if (store_connect(t->ex->store, true, &t->reader.conn, reterr) < 0)
		return -1;
	store_set_interrupt(t->reader.conn, executor_run_stop, &t->reader);
	return store_begin(t->reader.conn, reterr);
}

/* One call on the connection of the snapshot. False: the transaction is over. */
static bool run_inside(struct executor_txn *t, struct call *c)
{
	size_t mark = engine_call_mark(c);

	if (engine_call_ends_txn(c)) {
		engine_call_succeed(c);
		return false;
	}
	if (t->reader.conn == NULL && open_snapshot(t, &c->err) < 0) {
		engine_call_fail(c, &c->err);
		c->txn_lost = true;
		return false;
	}
	if (executor_run_call(&t->reader, c) == 0)
		return true;
	engine_call_rewind(c, mark);
	c->txn_lost = t->reader.run.timed_out || !store_in_transaction(t->reader.conn);
	return !c->txn_lost;
}

/* Under the lock: its connection, which the caller closes once the lock is free. */
static struct store_conn *end(struct executor_txn *t, enum txn_state state)
{
	struct store_conn *conn = t->reader.conn;

	assert(lock_is_mine(&t->ex->lock));
	assert(t->state == TXN_READING || t->state == TXN_LOST);
	t->reader.conn = NULL;
	if (t->state != state)
		executor_txn_move(t, state);
	t->age_at_ms = 0;
	list_remove(&t->link);
	return conn;
}

/* Under the lock. The writer must learn that it is to wake for it. */
static void begin(struct executor_txn *t)
{
	struct executor *ex = t->ex;

	assert(lock_is_mine(&t->ex->lock));
	executor_txn_move(t, TXN_READING);
	executor_txn_limit_age(t, clock_mono_ms());
	t->idle_at_ms = ENGINE_NEVER; /* it is not idle while its first call runs */
	list_append(&ex->snapshots, &t->link);
	pthread_cond_signal(&ex->writer.wake);
}

void executor_snapshot_run(struct call *c)
{
	struct executor_txn *t = executor_txn_of(c);
	struct executor *ex = t->ex;
	struct store_conn *over = NULL;
	bool goes_on;

	lock_take(&ex->lock);
	if (executor_txn_answer(t, c)) {
		lock_give(&ex->lock);
		engine_call_complete(c);
		return;
	}
	if (t->state == TXN_NEW)
		begin(t);
	assert(t->state == TXN_READING && !t->running);
	t->running = true;
	lock_give(&ex->lock);
	goes_on = run_inside(t, c);
	lock_take(&ex->lock);
	t->running = false;
	if (!goes_on || t->state == TXN_LOST) {
		over = end(t, t->state == TXN_LOST && goes_on ? TXN_LOST : TXN_NEW);
	} else {
		t->idle_at_ms = engine_idle_limit_ms(ex->db, clock_mono_ms());
		pthread_cond_signal(&ex->writer.wake);
	}
	lock_give(&ex->lock);
	store_disconnect(over);
	engine_call_complete(c); /* its owner may free t from here on */
}

void executor_snapshot_close(struct executor_txn *t)
{
	store_disconnect(t->reader.conn);
	t->reader.conn = NULL;
}

int executor_snapshot_upgrade(struct executor_txn *t, struct err *reterr)
{
	bool current = true;

	if (t->reader.conn == NULL)
		return 0;
	if (store_is_current(t->reader.conn, &current, reterr) < 0)
		return -1;
	if (!current)
		return err_set(reterr, ERR_SNAPSHOT_CONFLICT, t->ex->db->name);
	executor_snapshot_close(t);
	return 0;
}

static int64_t due_at(const struct executor_txn *t)
{
	return t->idle_at_ms < t->age_at_ms ? t->idle_at_ms : t->age_at_ms;
}

int64_t executor_snapshot_next_due(const struct executor *ex)
{
	int64_t earliest = ENGINE_NEVER;

	LIST_EACH (it, &ex->snapshots) {
		const struct executor_txn *t = CONTAINER_OF(it, struct executor_txn, link);

		if (t->state == TXN_READING && due_at(t) < earliest)
			earliest = due_at(t);
	}
	return earliest;
}

/* Under the lock. One whose call runs now ends when that call has (executor_snapshot_run). */
static struct store_conn *lose(struct executor_txn *t, int64_t now)
{
	assert(lock_is_mine(&t->ex->lock));
	t->lost = engine_txn_overdue(t->ex->db, t->age_at_ms, now);
	executor_txn_move(t, TXN_LOST);
	return t->running ? NULL : end(t, TXN_LOST);
}

/* Under the lock. NULL: none. */
static struct executor_txn *first_due(const struct executor *ex, int64_t now)
{
	assert(lock_is_mine(&ex->lock));
	LIST_EACH (it, &ex->snapshots) {
		struct executor_txn *t = CONTAINER_OF(it, struct executor_txn, link);

		if (t->state == TXN_READING && due_at(t) <= now)
			return t;
	}
	return NULL;
}

/* To close a connection takes too long for those who wait for the lock. */
void executor_snapshot_sweep(struct executor *ex)
{
	int64_t now = clock_mono_ms();
	struct executor_txn *t;

	while ((t = first_due(ex, now)) != NULL) {
		struct store_conn *conn = lose(t, now);

		lock_give(&ex->lock);
		store_disconnect(conn);
		lock_take(&ex->lock);
	}
}

/* Nobody else is in a hurry any more, so that the connection is closed under the lock: who stops
 * the executor takes it, too, before the store is closed. */
void executor_snapshot_leave(struct executor_txn *t)
{
	assert(lock_is_mine(&t->ex->lock) && t->ex->stopping && !t->running);
	if (t->state != TXN_READING)
		return;
	(void)err_set(&t->lost, ERR_SHUTDOWN);
	store_disconnect(end(t, TXN_LOST));
}

void executor_snapshot_end_all(struct executor *ex)
{
	lock_take(&ex->lock);
	while (!list_empty(&ex->snapshots))
		executor_snapshot_leave(CONTAINER_OF(ex->snapshots.next, struct executor_txn, link));
	lock_give(&ex->lock);
}
