/* transaction.c — BEGIN, COMMIT and numbered savepoints, from statements that are prepared once. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/sqlite_int.h"

/* Steps a statement that yields no rows. */
static int run(sqlite3_stmt *h)
{
	int rc = sqlite3_step(h), reset = sqlite3_reset(h);

	return rc == SQLITE_DONE ? reset : reset != SQLITE_OK ? reset : rc;
}

static int run_kept(struct sqlite_conn *c, sqlite3_stmt **h, const char *sql, struct err *reterr)
{
	int rc = SQLITE_OK;

	if (*h == NULL)
		rc = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, h, NULL);
	if (rc == SQLITE_OK)
		rc = run(*h);
	return rc == SQLITE_OK ? 0 : sqlite_error(c, rc, reterr);
}

int sqlite_begin(struct store_conn *conn, struct err *reterr)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);

	return run_kept(c, &c->begin, c->read_only ? "BEGIN DEFERRED" : "BEGIN IMMEDIATE", reterr);
}

/* One that changed nothing writes and flushes nothing. */
static int commit(struct sqlite_conn *c, bool flushed, struct err *reterr)
{
	int error;

	c->logged = false;
	if (run_kept(c, &c->commit, "COMMIT", reterr) < 0)
		return -1;
	error = atomic_load(
		&c->store->flush_error); /* of an earlier commit, which this one comes behind: neither is certain */
	if (c->logged)
		sqlite_mark_committed(c->store, flushed && error == 0);
	return error == 0 ? 0 : err_set(reterr, ERR_FLUSH_UNSURE, c->store->name, strerror(error));
}

int sqlite_commit(struct store_conn *conn, struct err *reterr)
{
	return commit(SQLITE_CONN(conn), true, reterr);
}

/* The commit's sync is the only one that may be left out. */
int sqlite_commit_lazily(struct store_conn *conn, struct err *reterr)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);
	int rc;

	sqlite_wal_set_lazy(c->db, true);
	rc = commit(c, false, reterr);
	sqlite_wal_set_lazy(c->db, false);
	return rc;
}

void sqlite_rollback(struct store_conn *conn)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);
	struct err ignored;

	if (sqlite_in_transaction(conn) && run_kept(c, &c->rollback, "ROLLBACK", &ignored) < 0 &&
	    sqlite_in_transaction(conn))
		sqlite_error(c, sqlite3_errcode(c->db),
			     &ignored); /* for the log; the next BEGIN fails and says so */
}

static int savepoint(struct sqlite_conn *c, enum savepoint_verb verb, unsigned n, struct err *reterr)
{
	static const char *const verbs[] = { "SAVEPOINT", "RELEASE", "ROLLBACK TO" };
	sqlite3_stmt *once = NULL, **h = n < SQLITE_SAVEPOINTS ? &c->savepoints[verb][n] : &once;
	char sql[40];
	int rc;

	if (*h == NULL)
		snprintf(sql, sizeof(sql), "%s s%u", verbs[verb], n);
	rc = run_kept(c, h, sql, reterr);
	sqlite3_finalize(once);
	return rc;
}

int sqlite_save(struct store_conn *c, unsigned n, struct err *reterr)
{
	return savepoint(SQLITE_CONN(c), SAVEPOINT_SAVE, n, reterr);
}

int sqlite_release(struct store_conn *c, unsigned n, struct err *reterr)
{
	return savepoint(SQLITE_CONN(c), SAVEPOINT_RELEASE, n, reterr);
}

int sqlite_rollback_to(struct store_conn *c, unsigned n, struct err *reterr)
{
	return savepoint(SQLITE_CONN(c), SAVEPOINT_BACK, n, reterr);
}

bool sqlite_in_transaction(struct store_conn *c)
{
	return !sqlite3_get_autocommit(SQLITE_CONN(c)->db);
}

/* The number by which a connection tells, as SQLite documents it, whether others have committed between two looks. */
static int data_version(struct sqlite_conn *c, int64_t *ret, struct err *reterr)
{
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(c->db, "PRAGMA data_version", -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(h, 0);
	sqlite3_finalize(h);
	return rc == SQLITE_ROW ? 0 : sqlite_error(c, rc, reterr);
}

int sqlite_is_current(struct store_conn *conn, bool *ret, struct err *reterr)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);
	int64_t seen = 0, newest = 0;

	assert(c->read_only && sqlite_in_transaction(conn));
	if (data_version(c, &seen, reterr) < 0)
		return -1;
	sqlite_rollback(conn);
	if (sqlite_begin(conn, reterr) < 0 || data_version(c, &newest, reterr) < 0)
		return -1;
	*ret = seen == newest;
	return 0;
}

void sqlite_transaction_fini(struct sqlite_conn *c)
{
	sqlite3_finalize(c->begin);
	sqlite3_finalize(c->commit);
	sqlite3_finalize(c->rollback);
	for (unsigned v = 0; v < SAVEPOINT_VERBS; v++) {
		for (unsigned i = 0; i < SQLITE_SAVEPOINTS; i++)
			sqlite3_finalize(c->savepoints[v][i]);
	}
}
