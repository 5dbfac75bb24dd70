/* transaction.c — BEGIN, COMMIT and numbered savepoints, from statements that are prepared once. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/sqlite/store/store_int.h"

/* Steps a statement that yields no rows. */
static int run(sqlite3_stmt *h)
{
	int rc = sqlite3_step(h), reset = sqlite3_reset(h);

	return rc == SQLITE_DONE ? reset : reset != SQLITE_OK ? reset : rc;
}

static int run_kept(struct store_conn *c, sqlite3_stmt **h, const char *sql, struct err *reterr)
{
	int rc = SQLITE_OK;

	if (*h == NULL)
		rc = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, h, NULL);
	if (rc == SQLITE_OK)
		rc = run(*h);
	return rc == SQLITE_OK ? 0 : store_error(c, rc, reterr);
}

int store_begin(struct store_conn *c, struct err *reterr)
{
	assert(c->db != NULL);
	store_tally_begin(c);
	store_note_begin(c);
	return run_kept(c, &c->begin, c->read_only ? "BEGIN DEFERRED" : "BEGIN IMMEDIATE", reterr);
}

bool store_commits_try(struct store_conn *c)
{
	assert(!c->commits_taken && !c->read_only);
	c->commits_taken = c->store->commits == NULL || pthread_rwlock_tryrdlock(c->store->commits) == 0;
	return c->commits_taken;
}

void store_commits_give(struct store_conn *c)
{
	assert(c->commits_taken);
	c->commits_taken = false;
	if (c->store->commits != NULL)
		pthread_rwlock_unlock(c->store->commits);
}

/* Together with commits of other databases, but not while somebody begins to see all of them. */
static int run_commit(struct store_conn *c, struct err *reterr)
{
	pthread_rwlock_t *l = c->commits_taken ? NULL : c->store->commits;
	int rc;

	assert(!c->impatient || c->commits_taken); /* a thread that must not wait has it already */
	if (l != NULL)
		pthread_rwlock_rdlock(l);
	rc = run_kept(c, &c->commit, "COMMIT", reterr);
	if (rc == 0)
		store_note_commit(c);
	if (l != NULL)
		pthread_rwlock_unlock(l);
	return rc;
}

/* One that changed nothing writes and flushes nothing. */
static int commit(struct store_conn *c, bool flushed, struct err *reterr)
{
	int error;

	assert(!c->sandbox);
	c->wrote_wal = false;
	if (run_commit(c, reterr) < 0)
		return -1;
	store_tally_commit(c);
	/* of an earlier commit, which this one comes behind: neither is certain */
	error = atomic_load(&c->store->flush_error);
	if (c->wrote_wal)
		store_mark_committed(c->store, flushed && error == 0);
	return error == 0 ? 0 : err_set(reterr, ERR_FLUSH_UNSURE, c->store->name, strerror(error));
}

int store_commit(struct store_conn *c, struct err *reterr)
{
	return commit(c, true, reterr);
}

/* The commit's sync is the only one that may be left out. */
int store_commit_lazily(struct store_conn *c, struct err *reterr)
{
	int rc;

	assert(!c->read_only);
	store_wal_set_lazy(c->db, true);
	rc = commit(c, false, reterr);
	store_wal_set_lazy(c->db, false);
	return rc;
}

bool store_commit_wrote(const struct store_conn *c)
{
	return c->wrote_wal;
}

void store_rollback(struct store_conn *c)
{
	struct err ignored;

	if (store_in_transaction(c) && run_kept(c, &c->rollback, "ROLLBACK", &ignored) < 0 &&
	    store_in_transaction(c))
		/* for the log; the next BEGIN fails and says so */
		store_error(c, sqlite3_errcode(c->db), &ignored);
}

static int savepoint(struct store_conn *c, enum savepoint_verb verb, unsigned n, struct err *reterr)
{
	static const char *const verbs[] = { "SAVEPOINT", "RELEASE", "ROLLBACK TO" };
	sqlite3_stmt *once = NULL, **h = n < STORE_SAVEPOINTS ? &c->savepoints[verb][n] : &once;
	char sql[40];
	int rc;

	assert(!c->read_only && n > 0); /* numbered from 1 */
	if (*h == NULL)
		snprintf(sql, sizeof(sql), "%s s%u", verbs[verb], n);
	rc = run_kept(c, h, sql, reterr);
	sqlite3_finalize(once);
	return rc;
}

int store_save(struct store_conn *c, unsigned n, struct err *reterr)
{
	if (store_tally_save(c, n, reterr) < 0)
		return -1;
	return savepoint(c, SAVEPOINT_SAVE, n, reterr);
}

int store_release(struct store_conn *c, unsigned n, struct err *reterr)
{
	return savepoint(c, SAVEPOINT_RELEASE, n, reterr);
}

int store_rollback_to(struct store_conn *c, unsigned n, struct err *reterr)
{
	store_tally_back(c, n);
	return savepoint(c, SAVEPOINT_BACK, n, reterr);
}

bool store_in_transaction(struct store_conn *c)
{
	return !sqlite3_get_autocommit(c->db);
}

/* The number by which a connection tells, as SQLite documents it, whether others have committed
 * between two looks. */
static int data_version(struct store_conn *c, int64_t *ret, struct err *reterr)
{
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(c->db, "PRAGMA data_version", -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(h, 0);
	sqlite3_finalize(h);
	return rc == SQLITE_ROW ? 0 : store_error(c, rc, reterr);
}

int store_is_current(struct store_conn *c, bool *ret, struct err *reterr)
{
	int64_t seen = 0, newest = 0;

	assert(c->read_only && store_in_transaction(c));
	if (data_version(c, &seen, reterr) < 0)
		return -1;
	store_rollback(c);
	if (store_begin(c, reterr) < 0 || data_version(c, &newest, reterr) < 0)
		return -1;
	*ret = seen == newest;
	return 0;
}

void store_transaction_fini(struct store_conn *c)
{
	sqlite3_finalize(c->begin);
	sqlite3_finalize(c->commit);
	sqlite3_finalize(c->rollback);
	for (unsigned v = 0; v < SAVEPOINT_VERBS; v++) {
		for (unsigned i = 0; i < STORE_SAVEPOINTS; i++)
			sqlite3_finalize(c->savepoints[v][i]);
	}
}
