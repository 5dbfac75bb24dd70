/* txn.c — explicit transactions: one has the writer from its first call to its end; each of its calls is undone alone when it fails (clarification 6 of
 * the errata); a time-out, or a store that gives up, undoes all of it. Savepoints of clients are named; the store numbers them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executor/executor_int.h"

#define SAVEPOINTS_MAX 1000 /* open at once in one transaction */

struct txn *txn_new(struct executor *ex, bool snapshot)
{
	struct txn *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->ex = ex;
	t->snapshot = snapshot;
	list_init(&t->link);
	return t;
}

bool txn_is_snapshot(const struct txn *t)
{
	return t->snapshot;
}

struct executor *txn_executor(const struct txn *t)
{
	return t->ex;
}

bool txn_is_lost(struct txn *t, struct err *ret)
{
	bool lost;

	pthread_mutex_lock(&t->ex->lock);
	lost = t->state == TXN_LOST;
	if (lost)
		*ret = t->lost;
	pthread_mutex_unlock(&t->ex->lock);
	return lost;
}

size_t executor_waits(struct executor *ex, struct executor_wait *dst, size_t max)
{
	size_t n = 0;

	pthread_mutex_lock(&ex->lock);
	if (ex->pinned != NULL) {
		LIST_EACH (it, &ex->queue) {
			if (n == max)
				break;
			dst[n++] = (struct executor_wait){ CONTAINER_OF(it, struct call, link)->session,
							   ex->pinned->session };
		}
	}
	pthread_mutex_unlock(&ex->lock);
	return n;
}

/* Forgets the savepoints above the first n. */
static void forget_savepoints(struct txn *t, size_t n)
{
	while (t->nsavepoints > n)
		free(t->savepoints[--t->nsavepoints].name);
}

void txn_free(struct txn *t)
{
	if (t == NULL)
		return;
	assert(list_empty(&t->link) && t->reader.conn == NULL); /* no reader thread knows it any more */
	forget_savepoints(t, 0);
	free(t->savepoints);
	free(t);
}

static void answer(struct call *c, const struct err *e)
{
	c->rc = e == NULL ? 0 : -1;
	c->status_set = false;
	c->rows_changed = 0;
	c->txn_lost = e != NULL;
	if (e != NULL)
		run_fail(c, e);
}

bool txn_answer(struct txn *t, struct call *c)
{
	bool ends = c->kind == CALL_COMMIT || c->kind == CALL_ROLLBACK;

	if (t->state == TXN_LOST) {
		answer(c, c->kind == CALL_ROLLBACK ? NULL : &t->lost);
		return true;
	}
	if (t->state == TXN_NEW && ends)
		answer(c, NULL); /* nothing was done, nothing is to be kept */
	return t->state == TXN_NEW && ends;
}

int64_t txn_idle_limit(const struct executor *ex, int64_t now_ms)
{
	return ex->transaction_idle_s <= 0 ? NEVER : now_ms + (int64_t)ex->transaction_idle_s * 1000;
}

void txn_limit_age(struct txn *t, int64_t now_ms)
{
	if (t->age_at_ms == 0)
		t->age_at_ms = t->ex->transaction_s <= 0 ? NEVER
							 : now_ms + (int64_t)t->ex->transaction_s * 1000;
}

struct err txn_overdue(const struct txn *t, int64_t now_ms)
{
	const struct log_ctx ctx = { .database = t->ex->name };
	bool old = t->age_at_ms <= now_ms;
	int limit = old ? t->ex->transaction_s : t->ex->transaction_idle_s;
	struct err err;

	err_set(&err, old ? ERR_TXN_AGE : ERR_TXN_IDLE, limit);
	LOG(LOG_WARN, &ctx, old ? "transaction_age" : "transaction_idle", F_INT("seconds", limit));
	return err;
}

void txn_pin(struct executor *ex, struct txn *t)
{
	int64_t now = clock_mono_ms(), earliest = NEVER;

	ex->pinned = t;
	t->state = TXN_OPEN;
	list_remove(&t->link); /* of the snapshots */
	txn_limit_age(t, now);
	LIST_EACH (it, &ex->queue) {
		struct call *c = CONTAINER_OF(it, struct call, link);

		if (c->deadline_ms == 0)
			c->deadline_ms = queue_deadline(ex, c, now);
		if (c->deadline_ms < earliest)
			earliest = c->deadline_ms;
	}
	atomic_store(&ex->next_deadline_ms, earliest);
}

void txn_unpin(struct executor *ex, const struct err *reason)
{
	struct txn *t = ex->pinned;

	forget_savepoints(t, 0);
	if (reason != NULL)
		t->lost = *reason;
	pthread_mutex_lock(&ex->lock);
	t->state = reason == NULL ? TXN_NEW : TXN_LOST;
	t->age_at_ms = 0;
	ex->pinned = NULL;
	atomic_store(&ex->next_deadline_ms, NEVER);
	pthread_mutex_unlock(&ex->lock);
	store_rollback(ex->writer.conn); /* before anybody else runs: that is this thread's to decide */
}

/* The call failed and took the transaction with it. */
static void lose(struct executor *ex, struct call *c)
{
	c->rc = -1;
	c->txn_lost = true;
	c->rows_changed = 0;
	txn_unpin(ex, &c->err);
}

/* The writer's transaction for a call that is the first of its own. One that has read a snapshot before is lost when it cannot go on. */
static int begin(struct executor *ex, struct call *c)
{
	bool has_read = c->txn->reader.conn != NULL;

	if (deferred_begin(ex, true, &c->err) == 0 && snapshot_upgrade(c->txn, &c->err) == 0)
		return 0;
	run_fail(c, &c->err);
	if (has_read) {
		snapshot_close(c->txn);
		lose(ex, c);
		return -1;
	}
	c->txn_lost = false;
	txn_unpin(ex, NULL);
	return -1;
}

/* A PROC or QUERY inside the transaction. */
static void run_inside(struct executor *ex, struct txn *t, struct call *c)
{
	struct store_conn *conn = ex->writer.conn;
	bool saved = !(c->kind == CALL_QUERY || c->proc->read_only);
	unsigned n = (unsigned)t->nsavepoints + 1;
	size_t mark = run_mark(c);
	int rc;

	if (saved && store_save(conn, n, &c->err) < 0) {
		run_fail(c, &c->err);
		lose(ex, c);
		return;
	}
	rc = run_call(&ex->writer, c);
	if (rc == 0 && saved && store_in_transaction(conn))
		rc = store_release(conn, n, &c->err);
	else if (rc == 0 && !store_in_transaction(conn))
		rc = err_set(&c->err, ERR_STORE, ex->name, "it gave the transaction up");
	if (rc == 0)
		return;
	run_rewind(c, mark);
	run_fail(c, &c->err);
	if (!store_in_transaction(conn) || ex->writer.timed_out)
		lose(ex, c);
	else if (saved && (store_rollback_to(conn, n, &c->err) < 0 || store_release(conn, n, &c->err) < 0))
		lose(ex, c);
}

static void commit(struct executor *ex, struct call *c)
{
	int rc = commit_all(ex, false, &c->err);

	if (rc < 0) {
		lose(ex, c);
		return;
	}
	txn_unpin(ex, NULL);
}

static int push_savepoint(struct txn *t, const char *name)
{
	struct savepoint *grown = realloc(t->savepoints, (t->nsavepoints + 1) * sizeof(*grown));

	if (grown == NULL)
		return -1;
	t->savepoints = grown;
	grown[t->nsavepoints].name = strdup(name);
	if (grown[t->nsavepoints].name == NULL)
		return -1;
	t->nsavepoints++;
	return 0;
}

static int save(struct executor *ex, struct txn *t, struct call *c)
{
	if (t->nsavepoints >= SAVEPOINTS_MAX)
		return err_set(&c->err, ERR_NOT_SUPPORTED, "A transaction with more than 1000 savepoints",
			       "Commit earlier.");
	if (push_savepoint(t, c->savepoint) < 0)
		return err_nomem(&c->err);
	if (store_save(ex->writer.conn, (unsigned)t->nsavepoints, &c->err) < 0) {
		forget_savepoints(t, t->nsavepoints - 1);
		return -1;
	}
	return 0;
}

/* To the latest of that name, which stays; later ones are gone. Names are case-sensitive, as in T-SQL. */
static int rollback_to(struct executor *ex, struct txn *t, struct call *c)
{
	size_t n = t->nsavepoints;

	while (n > 0 && strcmp(t->savepoints[n - 1].name, c->savepoint) != 0)
		n--;
	if (n == 0)
		return err_set(&c->err, ERR_NO_SAVEPOINT, c->savepoint);
	if (store_rollback_to(ex->writer.conn, (unsigned)n, &c->err) < 0)
		return -1;
	forget_savepoints(t, n);
	return 0;
}

static void run_kind(struct executor *ex, struct txn *t, struct call *c)
{
	int rc = 0;

	switch (c->kind) {
	case CALL_PROC:
	case CALL_QUERY: run_inside(ex, t, c); return;
	case CALL_COMMIT: commit(ex, c); return;
	case CALL_ROLLBACK: txn_unpin(ex, NULL); return;
	case CALL_SAVE: rc = save(ex, t, c); break;
	case CALL_ROLLBACK_TO: rc = rollback_to(ex, t, c); break;
	}
	c->rc = rc;
	if (rc < 0 && !store_in_transaction(ex->writer.conn))
		lose(ex, c);
}

void txn_run(struct executor *ex, struct call *c, bool first)
{
	struct txn *t = c->txn;

	answer(c, NULL);
	if (!first || begin(ex, c) == 0)
		run_kind(ex, t, c);
	if (ex->pinned != NULL)
		t->idle_at_ms = txn_idle_limit(ex, clock_mono_ms());
	c->complete(c); /* its owner may free t from here on, if the writer is free again */
}
