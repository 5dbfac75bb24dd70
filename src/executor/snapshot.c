/* snapshot.c — transactions at isolation level SNAPSHOT. All their reads see the state that the first of them saw, on a
 * read-only connection of their own; they wait for nobody and nobody waits for them. The first call that writes takes the
 * writer, as in any other transaction, if nothing has been committed since; otherwise the transaction ends with 3960, as in
 * SQL Server, which compares rows where we compare the whole database.
 *
 * A silent one keeps the WAL from beginning anew. So the writer thread, which sleeps until one of them is due, ends those that
 * have been idle or open for too long. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "executor/executor_int.h"

static bool only_reads(const struct call *c)
{
	return c->kind == CALL_QUERY || (c->kind == CALL_PROC && c->proc->read_only);
}

static bool ends(const struct call *c)
{
	return c->kind == CALL_COMMIT || c->kind == CALL_ROLLBACK;
}

bool snapshot_takes(const struct call *c)
{
	const struct txn *t = c->txn;

	if (!t->snapshot || t->ex->max_readers == 0)
		return false;
	return t->state == TXN_READING ? only_reads(c) || ends(c) : t->state == TXN_NEW && only_reads(c);
}

static int open_snapshot(struct txn *t, struct err *reterr)
{
	t->reader.ex = t->ex;
	if (store_connect(t->ex->store, true, &t->reader.conn, reterr) < 0)
		return -1;
	store_set_interrupt(t->reader.conn, run_stop, &t->reader);
	return store_begin(t->reader.conn, reterr);
}

/* One call on the connection of the snapshot. False: the transaction is over. */
static bool run_inside(struct txn *t, struct call *c)
{
	size_t mark = run_mark(c);

	if (ends(c)) {
		c->rc = 0;
		c->status_set = c->txn_lost = false;
		c->rows_changed = 0;
		return false;
	}
	if (t->reader.conn == NULL && open_snapshot(t, &c->err) < 0) {
		run_fail(c, &c->err);
		c->txn_lost = true;
		return false;
	}
	if (run_call(&t->reader, c) == 0)
		return true;
	run_rewind(c, mark);
	c->txn_lost = t->reader.timed_out || !store_in_transaction(t->reader.conn);
	return !c->txn_lost;
}

/* Under the lock: its connection, which the caller closes once the lock is free. */
static struct store_conn *end(struct txn *t, enum txn_state state)
{
	struct store_conn *conn = t->reader.conn;

	assert(t->state == TXN_READING || t->state == TXN_LOST);
	t->reader.conn = NULL;
	t->state = state;
	t->age_at_ms = 0;
	list_remove(&t->link);
	return conn;
}

/* Under the lock. The writer must learn that it is to wake for it. */
static void begin(struct txn *t)
{
	struct executor *ex = t->ex;

	t->state = TXN_READING;
	txn_limit_age(t, clock_mono_ms());
	t->idle_at_ms = NEVER; /* it is not idle while its first call runs */
	list_append(&ex->snapshots, &t->link);
	pthread_cond_signal(&ex->wake);
}

void snapshot_run(struct call *c)
{
	struct txn *t = c->txn;
	struct executor *ex = t->ex;
	struct store_conn *over = NULL;
	bool goes_on;

	pthread_mutex_lock(&ex->lock);
	if (txn_answer(t, c)) {
		pthread_mutex_unlock(&ex->lock);
		c->complete(c);
		return;
	}
	if (t->state == TXN_NEW)
		begin(t);
	assert(t->state == TXN_READING && !t->running);
	t->running = true;
	pthread_mutex_unlock(&ex->lock);
	goes_on = run_inside(t, c);
	pthread_mutex_lock(&ex->lock);
	t->running = false;
	if (!goes_on || t->state == TXN_LOST) {
		over = end(t, t->state == TXN_LOST && goes_on ? TXN_LOST : TXN_NEW);
	} else {
		t->idle_at_ms = txn_idle_limit(ex, clock_mono_ms());
		pthread_cond_signal(&ex->wake);
	}
	pthread_mutex_unlock(&ex->lock);
	store_disconnect(over);
	c->complete(c); /* its owner may free t from here on */
}

void snapshot_close(struct txn *t)
{
	store_disconnect(t->reader.conn);
	t->reader.conn = NULL;
}

int snapshot_upgrade(struct txn *t, struct err *reterr)
{
	bool current = true;

	if (t->reader.conn == NULL)
		return 0;
	if (store_is_current(t->reader.conn, &current, reterr) < 0)
		return -1;
	if (!current)
		return err_set(reterr, ERR_SNAPSHOT_CONFLICT, t->ex->name);
	snapshot_close(t);
	return 0;
}

static int64_t due_at(const struct txn *t)
{
	return t->idle_at_ms < t->age_at_ms ? t->idle_at_ms : t->age_at_ms;
}

int64_t snapshot_next_due(const struct executor *ex)
{
	int64_t earliest = NEVER;

	LIST_EACH (it, &ex->snapshots) {
		const struct txn *t = CONTAINER_OF(it, struct txn, link);

		if (t->state == TXN_READING && due_at(t) < earliest)
			earliest = due_at(t);
	}
	return earliest;
}

/* Under the lock. One whose call runs now ends when that call has (snapshot_run). */
static struct store_conn *lose(struct txn *t, int64_t now)
{
	t->lost = txn_overdue(t, now);
	t->state = TXN_LOST;
	return t->running ? NULL : end(t, TXN_LOST);
}

void snapshot_sweep(struct executor *ex)
{
	int64_t now = clock_mono_ms();
	struct list *next;

	for (struct list *it = ex->snapshots.next; it != &ex->snapshots; it = next) {
		struct txn *t = CONTAINER_OF(it, struct txn, link);

		next = it->next;
		if (t->state == TXN_READING && due_at(t) <= now)
			store_disconnect(lose(t, now));
	}
}

void snapshot_end_all(struct executor *ex)
{
	while (!list_empty(&ex->snapshots)) {
		struct txn *t = CONTAINER_OF(ex->snapshots.next, struct txn, link);

		(void)err_set(&t->lost, ERR_SHUTDOWN);
		store_disconnect(end(t, TXN_LOST));
	}
}
