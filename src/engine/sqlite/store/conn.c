/* conn.c — a connection: its settings and its interrupt. */
#include <assert.h>
#include <stdlib.h>

#include "engine/sqlite/store/store_int.h"

static const char settings_all[] = "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0;";
static const char settings_writer[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
				      "temp_store=MEMORY; PRAGMA secure_delete=FAST;"
				      "PRAGMA journal_size_limit=268435456;";
static const char settings_reader[] = "PRAGMA query_only=ON;";

static int on_progress(void *arg)
{
	struct store_conn *c = arg;

	return c->stop != NULL && c->stop(c->stop_arg);
}

static int script(struct store_conn *c, const char *sql, struct err *reterr)
{
	int rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_error(c, rc, reterr);
}

/* A query is bounded in time by the interrupt; these bound what a text can make the compiler do. */
static void set_limits(sqlite3 *db)
{
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 100);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 8000);
	sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 20);
}

static int set_up(struct store_conn *c, struct err *reterr)
{
	int rc;

	if (sqlite3_extended_result_codes(c->db, 1) != SQLITE_OK ||
	    sqlite3_busy_timeout(c->db, c->impatient ? 0 : STORE_BUSY_MS) != SQLITE_OK)
		return err_nomem(reterr);
	if (script(c, settings_all, reterr) < 0 ||
	    script(c, c->read_only ? settings_reader : settings_writer, reterr) < 0)
		return -1;
	rc = store_set_cache(c);
	if (rc != SQLITE_OK)
		return store_error(c, rc, reterr);
	rc = store_checksum_register(c);
	if (rc != SQLITE_OK)
		return store_error(c, rc, reterr);
	set_limits(c->db);
	rc = store_match_functions(c);
	if (rc == SQLITE_OK)
		rc = store_tsql_functions(c);
	if (rc != SQLITE_OK)
		return store_error(c, rc, reterr);
	/* json_each declares itself when it is first used, which the sandbox would not let it */
	rc = sqlite3_exec(c->db, "SELECT 1 FROM json_each('[]')", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return store_error(c, rc, reterr);
	store_wal_watch(c);
	if (sqlite3_set_authorizer(c->db, store_authorize, c) != SQLITE_OK)
		return err_nomem(reterr);
	return 0;
}

static int make(struct store *st, bool read_only, bool waits, struct store_conn **ret, struct err *reterr)
{
	struct store_conn *c = calloc(1, sizeof(*c));
	int rc, flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
			(read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);

	if (c == NULL)
		return err_nomem(reterr);
	c->store = st;
	atomic_fetch_add(&st->connections, 1);
	c->read_only = read_only;
	c->impatient = !waits;
	c->nstmts = st->service->nstatements;
	c->stmts = calloc(c->nstmts + 1, sizeof(*c->stmts));
	if (c->stmts == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	rc = sqlite3_open_v2(st->path, &c->db, flags, STORE_VFS_NAME);
	if (rc != SQLITE_OK) {
		store_error(c, rc, reterr);
		goto fail;
	}
	if (set_up(c, reterr) < 0)
		goto fail;
	*ret = c;
	return 0;
fail:
	store_disconnect(c);
	return -1;
}

int store_connect(struct store *st, bool read_only, struct store_conn **ret, struct err *reterr)
{
	return make(st, read_only, true, ret, reterr);
}

int store_connect_now(struct store *st, struct store_conn **ret, struct err *reterr)
{
	return make(st, true, false, ret, reterr);
}

void store_disconnect(struct store_conn *c)
{
	if (c == NULL)
		return;
	assert(!c->commits_taken);
	store_transaction_fini(c);
	store_stmts_fini(c);
	store_tally_fini(c);
	store_note_fini(c);
	if (c->db != NULL && atomic_load(&c->store->flush_error) != 0)
		/* the next start looks at the WAL first */
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close_v2(c->db);
	store_mark_disconnected(c->store);
	assert(atomic_load(&c->store->connections) > 0);
	atomic_fetch_sub(&c->store->connections, 1);
	free(c);
}

int store_script(struct store_conn *c, const char *sql, struct err *reterr)
{
	return script(c, sql, reterr);
}

void store_set_waits(struct store_conn *c, bool waits)
{
	c->busy = false;
	if (c->impatient == !waits)
		return;
	c->impatient = !waits;
	sqlite3_busy_timeout(c->db, waits ? STORE_BUSY_MS : 0);
}

bool store_was_busy(struct store_conn *c)
{
	return c->busy;
}

void store_set_interrupt(struct store_conn *c, bool (*stop)(void *arg), void *arg)
{
	c->stop = stop;
	c->stop_arg = arg;
	sqlite3_progress_handler(c->db, stop == NULL ? 0 : STORE_STEPS_A_QUESTION,
				 stop == NULL ? NULL : on_progress, c);
}

uint64_t store_changes(struct store_conn *c)
{
	return (uint64_t)sqlite3_total_changes64(c->db);
}
