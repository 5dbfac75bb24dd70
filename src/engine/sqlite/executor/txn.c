/* txn.c — explicit transactions: one has the writer from its first call to its end; each of its
 * calls is undone alone when it fails (clarification 6 of the errata); a time-out, or a store
 * that gives up, undoes all of it. Savepoints of clients are named; the store numbers them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/sqlite/executor/executor_int.h"

static struct executor_txn *txn_of(struct txn *t)
{
	return CONTAINER_OF(t, struct executor_txn, base);
}

struct txn *executor_txn_new(struct executor *ex, bool snapshot)
{
	struct executor_txn *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->base = (struct txn){ .database = ex->db, .snapshot = snapshot };
	t->ex = ex;
	t->reader = (struct runner){ .ex = ex, .run.db = ex->db };
	list_init(&t->link);
	return &t->base;
}

bool executor_txn_is_lost(struct txn *base, struct err *ret)
{
	struct executor_txn *t = txn_of(base);
	bool lost;

	lock_take(&t->ex->lock);
	lost = t->state == TXN_LOST;
	if (lost)
		*ret = t->lost;
	lock_give(&t->ex->lock);
	return lost;
}

size_t executor_waits(struct executor *ex, struct engine_wait *dst, size_t max)
{
	size_t n = 0;

	lock_take(&ex->lock);
	if (ex->pinned != NULL) {
		LIST_EACH (it, &ex->queue) {
			if (n == max)
				break;
			dst[n++] = (struct engine_wait){ CONTAINER_OF(it, struct call, link)->session,
							 ex->pinned->session };
		}
	}
	lock_give(&ex->lock);
	return n;
}

void executor_txn_free(struct txn *base)
{
	struct executor_txn *t = txn_of(base);

	/* no thread knows it any more */
	assert(list_empty(&t->link) && t->reader.conn == NULL && t->pending == NULL);
	assert(t->state == TXN_NEW || t->state == TXN_LOST);
	engine_savepoints_fini(&t->savepoints);
	free(t);
}

bool executor_txn_answer(struct executor_txn *t, struct call *c)
{
	assert(lock_is_mine(&t->ex->lock));
	return engine_txn_answers(c, t->state == TXN_NEW, t->state == TXN_LOST ? &t->lost : NULL);
}

void executor_txn_limit_age(struct executor_txn *t, int64_t now_ms)
{
	if (t->age_at_ms == 0)
		t->age_at_ms = engine_age_limit_ms(t->ex->db, now_ms);
}

void executor_txn_pin(struct executor *ex, struct executor_txn *t)
{
	int64_t now = clock_mono_ms(), earliest = ENGINE_NEVER;

	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex) && ex->pinned == NULL);
	ex->pinned = t;
	executor_txn_move(t, TXN_OPEN);
	list_remove(&t->link); /* of the snapshots */
	executor_txn_limit_age(t, now);
	LIST_EACH (it, &ex->queue) {
		struct call *c = CONTAINER_OF(it, struct call, link);

		if (executor_notes(c)->deadline_ms == 0)
			executor_notes(c)->deadline_ms = executor_queue_deadline(ex, c, now);
		if (executor_notes(c)->deadline_ms < earliest)
			earliest = executor_notes(c)->deadline_ms;
	}
	atomic_store(&ex->writer.next_deadline_ms, earliest);
}

struct call *executor_txn_unpin(struct executor *ex, const struct err *reason)
{
	struct executor_txn *t = ex->pinned;
	struct call *late;

	assert(executor_is_writer(ex) && t != NULL && t->state == TXN_OPEN);
	engine_savepoints_cut(&t->savepoints, 0);
	if (reason != NULL)
		t->lost = *reason;
	lock_take(&ex->lock);
	late = t->pending;
	t->pending = NULL;
	executor_txn_move(t, reason == NULL ? TXN_NEW : TXN_LOST);
	t->age_at_ms = 0;
	ex->pinned = NULL;
	atomic_store(&ex->writer.next_deadline_ms, ENGINE_NEVER);
	lock_give(&ex->lock);
	/* before anybody else runs: that is this thread's to decide */
	store_rollback(ex->writer.runner.conn);
	return late;
}

/* While a call of it runs: none can have come. */
static void let_go(struct executor *ex, const struct err *reason)
{
	const struct call *late = executor_txn_unpin(ex, reason);

	assert(late == NULL);
	(void)late;
}

/* The call failed and took the transaction with it. */
static void lose(struct executor *ex, struct call *c)
{
	c->rc = -1;
	c->txn_lost = true;
	c->rows_changed = 0;
	let_go(ex, &c->err);
}

/* The writer's transaction for a call that is the first of its own. One that has read a snapshot
 * before is lost when it cannot go on. */
static int begin(struct executor *ex, struct call *c)
{
	struct executor_txn *t = executor_txn_of(c);
	bool has_read = t->reader.conn != NULL;

	if (executor_deferred_begin(ex, true, &c->err) == 0 && executor_snapshot_upgrade(t, &c->err) == 0)
		return 0;
	engine_call_fail(c, &c->err);
	if (has_read) {
		executor_snapshot_close(t);
		lose(ex, c);
		return -1;
	}
	c->txn_lost = false;
	let_go(ex, NULL);
	return -1;
}

/* A PROC or QUERY inside the transaction. */
static void run_inside(struct executor *ex, struct executor_txn *t, struct call *c)
{
	struct store_conn *conn = ex->writer.runner.conn;
	bool saved = !(c->kind == CALL_QUERY || c->proc->read_only);
	unsigned n = (unsigned)t->savepoints.n + 1;
	size_t mark = engine_call_mark(c);
	int rc;

	if (saved && store_save(conn, n, &c->err) < 0) {
		engine_call_fail(c, &c->err);
		lose(ex, c);
		return;
	}
	rc = executor_run_call(&ex->writer.runner, c);
	if (rc == 0 && saved && store_in_transaction(conn))
		rc = store_release(conn, n, &c->err);
	else if (rc == 0 && !store_in_transaction(conn))
		rc = err_set(&c->err, ERR_STORE, ex->db->name, "it gave the transaction up");
	if (rc == 0)
		return;
	engine_call_rewind(c, mark);
	engine_call_fail(c, &c->err);
	if (!store_in_transaction(conn) || ex->writer.runner.run.timed_out)
		lose(ex, c);
	else if (saved && (store_rollback_to(conn, n, &c->err) < 0 || store_release(conn, n, &c->err) < 0))
		lose(ex, c);
}

static void commit(struct executor *ex, struct call *c)
{
	int rc = executor_commit_all(ex, false, &c->err);

	if (rc < 0) {
		lose(ex, c);
		return;
	}
	let_go(ex, NULL);
}

static int save(struct executor *ex, struct executor_txn *t, struct call *c)
{
	if (engine_savepoints_push(&t->savepoints, c->savepoint, &c->err) < 0)
		return -1;
	if (store_save(ex->writer.runner.conn, (unsigned)t->savepoints.n, &c->err) < 0) {
		engine_savepoints_cut(&t->savepoints, t->savepoints.n - 1);
		return -1;
	}
	return 0;
}

/* To the latest of that name, which stays; later ones are gone. */
static int rollback_to(struct executor *ex, struct executor_txn *t, struct call *c)
{
	size_t n;

	if (engine_savepoints_find(&t->savepoints, c->savepoint, &n, &c->err) < 0 ||
	    store_rollback_to(ex->writer.runner.conn, (unsigned)n, &c->err) < 0)
		return -1;
	engine_savepoints_cut(&t->savepoints, n);
	return 0;
}

static void run_kind(struct executor *ex, struct executor_txn *t, struct call *c)
{
	int rc = 0;

	switch (c->kind) {
	case CALL_PROC:
	case CALL_QUERY: run_inside(ex, t, c); return;
	case CALL_COMMIT: commit(ex, c); return;
	case CALL_ROLLBACK: let_go(ex, NULL); return;
	case CALL_SAVE: rc = save(ex, t, c); break;
	case CALL_ROLLBACK_TO: rc = rollback_to(ex, t, c); break;
	}
	c->rc = rc;
	if (rc < 0 && !store_in_transaction(ex->writer.runner.conn))
		lose(ex, c);
}

void executor_txn_run(struct executor *ex, struct call *c, bool first)
{
	struct executor_txn *t = executor_txn_of(c);

	assert(executor_is_writer(ex) && ex->pinned == t && ex->group.n == 0);
	engine_call_started(c);
	engine_call_succeed(c);
	if (!first || begin(ex, c) == 0)
		run_kind(ex, t, c);
	if (ex->pinned != NULL)
		t->idle_at_ms = engine_idle_limit_ms(ex->db, clock_mono_ms());
	/* its owner may free t from here on, if the writer is free again */
	engine_call_complete(c);
}
