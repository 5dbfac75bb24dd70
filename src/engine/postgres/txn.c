/* txn.c — explicit transactions. Each has a connection of its own. From its first call that writes
 * (at REPEATABLE READ and SERIALIZABLE from the first of all) it has the gate: nobody else changes
 * anything in this database, on any server, until it ends; so READ COMMITTED is all that it needs
 * of PostgreSQL, and what it has read stays true. A snapshot reads the state of its first call
 * (REPEATABLE READ) and takes the gate with its first write, if nobody has committed since (3960).
 * Calls are undone one by one when they fail (clarification 6), by savepoints. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define UNREACHABLE_NUMBER 50013 /* ERR_UNREACHABLE and its brothers */

static struct pg_txn *txn_of(struct txn *t)
{
	return CONTAINER_OF(t, struct pg_txn, base);
}

struct txn *postgres_txn_new(struct pg_database *db, bool snapshot)
{
	struct pg_txn *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->base = (struct txn){ .database = &db->base, .snapshot = snapshot };
	t->db = db;
	list_init(&t->link);
	return &t->base;
}

bool postgres_txn_is_lost(struct txn *base, struct err *ret)
{
	struct pg_txn *t = txn_of(base);
	bool lost;

	lock_take(&t->db->lock);
	lost = t->state == PG_TXN_LOST;
	if (lost)
		*ret = t->lost;
	lock_give(&t->db->lock);
	return lost;
}

void postgres_txn_free(struct txn *base)
{
	struct pg_txn *t = txn_of(base);

	assert(list_empty(&t->link) && t->conn == NULL && !t->running);
	engine_savepoints_fini(&t->savepoints);
	free(t);
}

/* ---- under the lock ---- */

bool postgres_txn_answers(struct pg_txn *t, struct call *c)
{
	assert(lock_is_mine(&t->db->lock));
	return engine_txn_answers(c, t->state == PG_TXN_NEW, t->state == PG_TXN_LOST ? &t->lost : NULL);
}

/* Whether it needs the gate, which the transaction does not have yet. */
static bool wants_gate(const struct pg_txn *t, const struct call *c)
{
	if (t->writes || engine_call_ends_txn(c))
		return false;
	return !(t->base.snapshot && engine_call_only_reads(c));
}

bool postgres_txn_blocks(const struct pg_database *db, const struct call *c)
{
	assert(lock_is_mine(&db->lock));
	if (db->pinned == NULL)
		return false;
	if (c->txn == NULL)
		return true;
	return postgres_txn_of(c) != db->pinned && wants_gate(postgres_txn_of(c), c);
}

void postgres_txn_take(struct pg_worker *w, struct call *c)
{
	struct pg_txn *t = postgres_txn_of(c);

	assert(lock_is_mine(&t->db->lock) && !t->running);
	/* another one that has the gate would have blocked it */
	assert(!wants_gate(t, c) || t->db->pinned == NULL || t->db->pinned == t);
	if (wants_gate(t, c))
		t->db->pinned = t;
	t->running = true;
	t->session = c->session;
	if (t->conn != NULL)
		t->conn->worker = w;
}

/* ---- its connection ---- */

static int get_conn(struct pg_worker *w, struct pg_txn *t, int64_t until_ms, struct err *reterr)
{
	lock_take(&t->db->lock);
	if (t->conn == NULL) {
		t->conn = t->db->spare;
		t->db->spare = NULL;
	}
	lock_give(&t->db->lock);
	if (t->conn == NULL && postgres_conn_new(t->db, &t->conn, reterr) < 0)
		return -1;
	t->conn->worker = w;
	for (;;) {
		enum pg_state s;

		if (postgres_conn_ready(t->conn, until_ms, reterr) < 0)
			return -1;
		s = postgres_mark_make(t->conn, reterr);
		if (s != PG_BROKEN)
			return s == PG_OK ? 0 : -1;
		postgres_conn_drop(t->conn);
	}
}

/* The transaction is over, its connection has none open: kept for the next one, or closed. */
static void release(struct pg_txn *t, const struct err *reason)
{
	struct pg_database *db = t->db;
	struct pg_conn *surplus;

	engine_savepoints_cut(&t->savepoints, 0);
	lock_take(&db->lock);
	surplus = t->conn;
	if (db->spare == NULL && surplus != NULL && surplus->h != NULL && !surplus->cancelled &&
	    !surplus->bulky) {
		db->spare = surplus;
		surplus = NULL;
	}
	t->conn = NULL;
	t->state = reason == NULL ? PG_TXN_NEW : PG_TXN_LOST;
	if (reason != NULL)
		t->lost = *reason;
	t->writes = false;
	t->age_at_ms = 0;
	list_remove(&t->link);
	if (db->pinned == t)
		db->pinned = NULL;
	lock_give(&db->lock);
	postgres_conn_free(surplus);
	postgres_wake(db);
}

/* The call failed and took the transaction with it. */
static void lose(struct pg_txn *t, struct call *c)
{
	struct err why = c->err;

	if (t->conn != NULL)
		postgres_conn_drop(t->conn);
	engine_call_fail(c, &why);
	c->txn_lost = true;
	release(t, &why);
}

static void broken(struct pg_txn *t, struct call *c)
{
	(void)err_set(&c->err, ERR_TXN_BROKEN, t->db->base.name);
	lose(t, c);
}

/* ---- beginning, and the gate ---- */

#define LATE 1    /* nothing was done: cancelled, or no gate in time; the transaction goes on without it */
#define BROKEN -2 /* the connection is gone */

static int try_gate(struct pg_txn *t, struct err *reterr)
{
	PGresult *r = NULL;
	enum pg_state s = PG_BROKEN;
	bool late;

	if (postgres_send_fixed(t->conn, PG_GATE_ALONE) && postgres_send_flush(t->conn))
		s = postgres_next(t->conn, &r);
	late = s == PG_FAILED && (postgres_is_lock_timeout(r) || t->conn->cancelled);
	if (s == PG_FAILED && !late)
		postgres_error(t->conn, r, reterr);
	else if (s == PG_BROKEN)
		err_set(reterr, ERR_TXN_BROKEN, t->db->base.name);
	PQclear(r);
	return s == PG_OK ? 0 : late ? LATE : s == PG_BROKEN ? BROKEN : -1;
}

/* LATE if the call is cancelled, else rc. */
static int unless_cancelled(struct call *c, int rc)
{
	if (!atomic_load_explicit(&c->cancelled, memory_order_relaxed))
		return rc;
	(void)err_set(&c->err, ERR_CANCELLED);
	return LATE;
}

/* The gate was not free for as long as lock_timeout. 0: the call may wait on. LATE, or -1 where it
 * takes its transaction with it: not any more. */
static int wait_on(struct pg_txn *t, struct call *c)
{
	if (unless_cancelled(c, 0) == LATE)
		return LATE;
	if (clock_mono_ms() < postgres_notes(c)->deadline_ms)
		return 0;
	return engine_call_is_late(&t->db->base, c) ? -1 : LATE;
}

/* As long as the call may wait, in parts of lock_timeout: BEGIN goes before each. */
static int begin_with_gate(struct pg_txn *t, struct call *c)
{
	int rc;

	for (;;) {
		if (postgres_do_fixed(t->conn, PG_BEGIN_TXN, &c->err) != PG_OK)
			return BROKEN;
		rc = try_gate(t, &c->err);
		if (rc != LATE)
			return rc;
		if (!postgres_rollback(t->conn))
			return BROKEN;
		rc = wait_on(t, c);
		if (rc != 0)
			return rc;
	}
}

/* Behind a failure: to the savepoint that all calls have. */
static bool go_back(struct pg_txn *t)
{
	return postgres_send_sync(t->conn) && postgres_synced(t->conn) == PG_OK &&
	       postgres_do_fixed(t->conn, PG_BACK, NULL) == PG_OK;
}

/* The same for a snapshot, which keeps what it has read: a savepoint goes before each. */
static int gate_of_snapshot(struct pg_txn *t, struct call *c)
{
	int rc;

	for (;;) {
		if (postgres_do_fixed(t->conn, PG_SAVE, NULL) != PG_OK)
			return err_set(&c->err, ERR_TXN_BROKEN, t->db->base.name);
		rc = try_gate(t, &c->err);
		if (rc != LATE)
			return rc;
		if (!go_back(t))
			return err_set(&c->err, ERR_TXN_BROKEN, t->db->base.name);
		rc = wait_on(t, c);
		if (rc != 0)
			return rc;
	}
}

/* What has been committed in this database so far, as one number. */
static int count_marks(struct pg_conn *c, int64_t *ret, struct err *reterr)
{
	PGresult *r = NULL;
	enum pg_state s = PG_BROKEN;

	if (postgres_send_text(c, "SELECT coalesce(sum(seq), 0)::bigint FROM mark") && postgres_send_flush(c))
		s = postgres_next(c, &r);
	if (s == PG_OK)
		*ret = postgres_column_int(r, 0, 0);
	else
		err_set(reterr, ERR_TXN_BROKEN, c->db->base.name);
	PQclear(r);
	return s == PG_OK ? 0 : -1;
}

static int begin_snapshot(struct pg_txn *t, struct call *c)
{
	if (postgres_do_fixed(t->conn, PG_BEGIN_SNAPSHOT, &c->err) != PG_OK)
		return BROKEN;
	return count_marks(t->conn, &t->marks, &c->err) == 0 ? 0 : BROKEN;
}

/* The same number as others see it now. */
static int marks_now(struct pg_worker *w, int64_t *ret, struct err *reterr)
{
	int64_t until_ms = clock_mono_ms() + w->db->engine->failover_ms;

	if (postgres_conn_ready(w->conn, until_ms, reterr) < 0)
		return -1;
	if (count_marks(w->conn, ret, reterr) == 0 && postgres_send_sync(w->conn) &&
	    postgres_synced(w->conn) == PG_OK)
		return 0;
	postgres_conn_drop(w->conn);
	return err_set(reterr, ERR_TXN_BROKEN, w->db->base.name);
}

/* A snapshot that writes: 0, or why not. Only where that is LATE the transaction goes on. */
static int upgrade(struct pg_worker *w, struct pg_txn *t, struct call *c)
{
	int64_t marks = 0;
	int rc = gate_of_snapshot(t, c);

	if (rc != 0)
		return rc;
	if (marks_now(w, &marks, &c->err) < 0)
		return -1;
	return marks == t->marks ? 0 : err_set(&c->err, ERR_SNAPSHOT_CONFLICT, t->db->base.name);
}

static void opened(struct pg_txn *t, bool writes)
{
	int64_t now = clock_mono_ms();

	lock_take(&t->db->lock);
	assert(t->running && t->conn != NULL && t->state != PG_TXN_LOST);
	if (t->state == PG_TXN_NEW) {
		t->state = PG_TXN_OPEN;
		t->age_at_ms = engine_age_limit_ms(&t->db->base, now);
		list_append(&t->db->txns, &t->link);
	}
	t->idle_at_ms = ENGINE_NEVER;
	t->writes = t->writes || writes;
	lock_give(&t->db->lock);
}

/* As long as nothing has been done, a lost connection is nobody's loss: it begins on the next. */
static int begin(struct pg_worker *w, struct pg_txn *t, struct call *c, bool gate)
{
	int64_t until_ms = clock_mono_ms() + t->db->engine->failover_ms;
	int rc;

	for (;;) {
		if (get_conn(w, t, until_ms, &c->err) < 0)
			return unless_cancelled(c, -1);
		rc = gate ? begin_with_gate(t, c) : begin_snapshot(t, c);
		if (rc != BROKEN)
			return rc;
		postgres_conn_drop(t->conn);
		if (unless_cancelled(c, 0) == LATE)
			return LATE;
		if (clock_mono_ms() >= until_ms)
			return err_set(&c->err, ERR_UNREACHABLE, t->db->base.name,
				       t->db->engine->failover_ms / 1000,
				       "the connection is lost again and again");
	}
}

/* Makes the transaction ready for this call. */
static int prepare(struct pg_worker *w, struct pg_txn *t, struct call *c)
{
	bool gate = wants_gate(t, c), is_new = t->state == PG_TXN_NEW;
	int rc;

	if (!is_new && !gate)
		return 0;
	if (postgres_notes(c)->deadline_ms == 0)
		postgres_notes(c)->deadline_ms = clock_mono_ms() + engine_patience_ms(&t->db->base, c);
	rc = is_new ? begin(w, t, c, gate) : upgrade(w, t, c);
	if (rc == 0) {
		opened(t, gate);
		return 0;
	}
	if (rc == LATE) {
		engine_call_fail(c, &c->err); /* it has done nothing, and may try again */
		if (is_new)
			release(t, NULL);
	} else {
		/* what follows must not begin a transaction without this call */
		lose(t, c);
	}
	return -1;
}

/* ---- calls inside ---- */

static void undo_inside(struct pg_worker *w, struct pg_txn *t, struct call *c, const struct pg_outcome *out,
			size_t mark)
{
	(void)engine_call_rewind(c, mark);
	if (w->run.timed_out)
		lose(t, c);
	else if (out->broken)
		broken(t, c);
	else if (out->failed ? !go_back(t) : postgres_do_fixed(t->conn, PG_BACK, NULL) != PG_OK)
		broken(t, c);
}

static void run_inside(struct pg_worker *w, struct pg_txn *t, struct call *c)
{
	size_t mark = engine_call_mark(c);
	int64_t until_ms = clock_mono_ms() + t->db->engine->failover_ms;
	struct pg_outcome out;

	assert(t->running && t->state == PG_TXN_OPEN && t->conn != NULL);
	switch (postgres_lease(t->conn, until_ms, &c->err)) {
	case PG_OK: break;
	case PG_FAILED:
		if (c->err.number == UNREACHABLE_NUMBER)
			lose(t, c);
		else
			engine_call_fail(c, &c->err); /* it was cancelled, before it did anything */
		return;
	case PG_BROKEN: broken(t, c); return;
	}
	if (postgres_do_fixed(t->conn, PG_SAVE, NULL) != PG_OK) {
		broken(t, c);
		return;
	}
	out = postgres_run_call(t->conn, c, &w->run);
	if (out.rc < 0)
		undo_inside(w, t, c, &out, mark);
	else if (postgres_do_fixed(t->conn, PG_RELEASE, NULL) != PG_OK)
		broken(t, c);
}

/* Where the commit is in doubt, the mark tells. */
static void look(struct pg_txn *t, struct call *c)
{
	int64_t until_ms = clock_mono_ms() + t->db->engine->failover_ms;

	switch (postgres_mark_look(t->conn, until_ms, &c->err)) {
	case 1: release(t, NULL); break;
	case 0: broken(t, c); break;
	default: lose(t, c); break;
	}
}

/* What goes before the commit of one that has written. The setting is asked once: it may change
 * meanwhile. */
static enum pg_state write_mark(struct pg_conn *c)
{
	bool lazy = atomic_load(&c->db->relaxed);
	enum pg_state s = PG_OK;

	if ((lazy && !postgres_send_fixed(c, PG_LAZY)) || !postgres_mark_send(c) || !postgres_send_flush(c))
		return PG_BROKEN;
	if (lazy)
		s = postgres_skip(c, NULL);
	return s == PG_OK ? postgres_mark_answer(c) : s;
}

static void commit(struct pg_txn *t, struct call *c)
{
	int64_t until_ms = clock_mono_ms() + t->db->engine->failover_ms;

	/* a cancelling may still come, and must not find the commit */
	if (t->writes && (write_mark(t->conn) != PG_OK || t->conn->cancelled)) {
		broken(t, c);
		return;
	}
	switch (postgres_commit(t->conn, until_ms, &c->err)) {
	case PG_OK: release(t, NULL); break;
	case PG_BROKEN:
		if (t->writes)
			look(t, c);
		else
			release(t, NULL); /* it has only read */
		break;
	case PG_FAILED: lose(t, c); break;
	}
}

static void roll_back(struct pg_txn *t)
{
	if (!postgres_rollback(t->conn))
		postgres_conn_drop(t->conn);
	release(t, NULL);
}

static int save(struct pg_txn *t, struct call *c)
{
	char sql[40];

	if (engine_savepoints_push(&t->savepoints, c->savepoint, &c->err) < 0)
		return -1;
	snprintf(sql, sizeof(sql), "SAVEPOINT client_%zu", t->savepoints.n);
	return postgres_do(t->conn, sql, &c->err) == PG_OK ? 0 : -2;
}

/* To the latest of that name, which stays; later ones are gone. */
static int rollback_to(struct pg_txn *t, struct call *c)
{
	size_t n;
	char sql[40];

	if (engine_savepoints_find(&t->savepoints, c->savepoint, &n, &c->err) < 0)
		return -1;
	engine_savepoints_cut(&t->savepoints, n);
	snprintf(sql, sizeof(sql), "ROLLBACK TO SAVEPOINT client_%zu", n);
	return postgres_do(t->conn, sql, &c->err) == PG_OK ? 0 : -2;
}

static void run_kind(struct pg_worker *w, struct pg_txn *t, struct call *c)
{
	int rc = 0;

	switch (c->kind) {
	case CALL_PROC:
	case CALL_QUERY: run_inside(w, t, c); return;
	case CALL_COMMIT: commit(t, c); return;
	case CALL_ROLLBACK: roll_back(t); return;
	case CALL_SAVE: rc = save(t, c); break;
	case CALL_ROLLBACK_TO: rc = rollback_to(t, c); break;
	}
	if (rc == -2)
		broken(t, c);
	else if (rc < 0)
		c->rc = -1;
}

void postgres_txn_run(struct pg_worker *w, struct call *c)
{
	struct pg_txn *t = postgres_txn_of(c);
	bool done;

	lock_take(&t->db->lock);
	done = postgres_txn_answers(t, c); /* it was given up while this call waited */
	lock_give(&t->db->lock);
	if (!done && t->state == PG_TXN_OPEN && engine_txn_is_too_old(c, t->age_at_ms, clock_mono_ms())) {
		c->err = engine_txn_overdue(&t->db->base, t->age_at_ms, clock_mono_ms());
		lose(t, c);
	} else if (!done) {
		engine_call_succeed(c);
		if (prepare(w, t, c) == 0)
			run_kind(w, t, c);
	}
	if (t->conn != NULL)
		postgres_asked_is_over(t->conn); /* also where it came too late */
	lock_take(&t->db->lock);
	t->running = false;
	if (t->db->pinned == t && (t->state != PG_TXN_OPEN || !t->writes)) {
		t->db->pinned = NULL;
		postgres_rouse(t->db, PG_WRITER);
	}
	if (t->state == PG_TXN_OPEN)
		t->idle_at_ms = engine_idle_limit_ms(&t->db->base, clock_mono_ms());
	lock_give(&t->db->lock);
	engine_call_complete(c); /* its owner may free t from here on */
}

/* ---- limits ---- */

/* Under the lock: the first that has reached a limit, and whose owner waits for nothing. */
static struct pg_txn *first_overdue(struct pg_database *db, int64_t now_ms)
{
	assert(lock_is_mine(&db->lock));
	LIST_EACH (it, &db->txns) {
		struct pg_txn *t = CONTAINER_OF(it, struct pg_txn, link);

		if (!t->running && (t->idle_at_ms <= now_ms || t->age_at_ms <= now_ms))
			return t;
	}
	return NULL;
}

/* Under the lock: its connection, which the caller closes, and with it its changes are gone. From
 * then on its owner may free it. */
static struct pg_conn *give_up(struct pg_txn *t, const struct err *why)
{
	struct pg_conn *conn = t->conn;

	assert(lock_is_mine(&t->db->lock) && !t->running);
	t->conn = NULL;
	t->state = PG_TXN_LOST;
	t->lost = *why;
	t->writes = false;
	engine_savepoints_cut(&t->savepoints, 0);
	list_remove(&t->link);
	if (t->db->pinned == t)
		t->db->pinned = NULL;
	return conn;
}

void postgres_txn_sweep(struct pg_database *db, int64_t now_ms)
{
	for (;;) {
		struct pg_conn *conn = NULL;
		struct pg_txn *t;

		lock_take(&db->lock);
		t = first_overdue(db, now_ms);
		if (t != NULL) {
			struct err why = engine_txn_overdue(&db->base, t->age_at_ms, now_ms);

			conn = give_up(t, &why);
		}
		lock_give(&db->lock);
		if (t == NULL)
			return;
		postgres_conn_free(conn);
		postgres_wake(db);
	}
}

void postgres_txn_end_all(struct pg_database *db)
{
	struct err why;

	(void)err_set(&why, ERR_SHUTDOWN);
	while (!list_empty(&db->txns)) {
		struct pg_txn *t = CONTAINER_OF(db->txns.next, struct pg_txn, link);

		postgres_conn_drop(t->conn);
		release(t, &why);
	}
	assert(db->pinned == NULL);
	postgres_conn_free(db->spare);
	db->spare = NULL;
}
