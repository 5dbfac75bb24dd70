/* conn.c — a connection: its settings and its interrupt. */
#include <stdlib.h>

#include "store/sqlite/sqlite_int.h"

static const char settings_all[] = "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0;";
static const char settings_writer[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
				      "temp_store=MEMORY; PRAGMA secure_delete=FAST;"
				      "PRAGMA journal_size_limit=268435456;";
static const char settings_reader[] = "PRAGMA query_only=ON;";

static int on_progress(void *arg)
{
	struct sqlite_conn *c = arg;

	return c->stop != NULL && c->stop(c->stop_arg);
}

static int script(struct sqlite_conn *c, const char *sql, struct err *reterr)
{
	int rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sqlite_error(c, rc, reterr);
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

static int set_up(struct sqlite_conn *c, struct err *reterr)
{
	int rc;

	if (sqlite3_extended_result_codes(c->db, 1) != SQLITE_OK ||
	    sqlite3_busy_timeout(c->db, SQLITE_BUSY_MS) != SQLITE_OK)
		return err_nomem(reterr);
	if (script(c, settings_all, reterr) < 0 ||
	    script(c, c->read_only ? settings_reader : settings_writer, reterr) < 0)
		return -1;
	rc = sqlite_set_cache(c);
	if (rc != SQLITE_OK)
		return sqlite_error(c, rc, reterr);
	rc = sqlite_checksum_register(c);
	if (rc != SQLITE_OK)
		return sqlite_error(c, rc, reterr);
	set_limits(c->db);
	rc = sqlite_match_functions(c);
	if (rc == SQLITE_OK)
		rc = sqlite_tsql_functions(c);
	if (rc != SQLITE_OK)
		return sqlite_error(c, rc, reterr);
	sqlite_wal_watch(c);
	if (sqlite3_set_authorizer(c->db, sqlite_authorize, c) != SQLITE_OK)
		return err_nomem(reterr);
	return 0;
}

int sqlite_connect(struct store *base, bool read_only, struct store_conn **ret, struct err *reterr)
{
	struct sqlite_store *st = SQLITE_STORE(base);
	struct sqlite_conn *c = calloc(1, sizeof(*c));
	int rc, flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
			(read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);

	if (c == NULL)
		return err_nomem(reterr);
	c->base.ops = &sqlite_store_ops;
	c->store = st;
	c->read_only = read_only;
	c->nstmts = st->service->nstatements;
	c->stmts = calloc(c->nstmts + 1, sizeof(*c->stmts));
	if (c->stmts == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	rc = sqlite3_open_v2(st->path, &c->db, flags, SQLITE_VFS_NAME);
	if (rc != SQLITE_OK) {
		sqlite_error(c, rc, reterr);
		goto fail;
	}
	if (set_up(c, reterr) < 0)
		goto fail;
	*ret = &c->base;
	return 0;
fail:
	sqlite_disconnect(&c->base);
	return -1;
}

void sqlite_disconnect(struct store_conn *conn)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);

	sqlite_transaction_fini(c);
	sqlite_stmts_fini(c);
	if (c->db != NULL && atomic_load(&c->store->flush_error) != 0)
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
				  NULL); /* the next start looks at the log first */
	sqlite3_close_v2(c->db);
	sqlite_mark_disconnected(c->store);
	free(c);
}

int sqlite_script(struct store_conn *c, const char *sql, struct err *reterr)
{
	return script(SQLITE_CONN(c), sql, reterr);
}

void sqlite_set_waits(struct store_conn *conn, bool waits)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);

	c->busy = false;
	if (c->impatient == !waits)
		return;
	c->impatient = !waits;
	sqlite3_busy_timeout(c->db, waits ? SQLITE_BUSY_MS : 0);
}

bool sqlite_was_busy(struct store_conn *c)
{
	return SQLITE_CONN(c)->busy;
}

void sqlite_set_interrupt(struct store_conn *conn, bool (*stop)(void *arg), void *arg)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);

	c->stop = stop;
	c->stop_arg = arg;
	sqlite3_progress_handler(c->db, stop == NULL ? 0 : STORE_STEPS_A_QUESTION,
				 stop == NULL ? NULL : on_progress, c);
}

uint64_t sqlite_changes(struct store_conn *c)
{
	return (uint64_t)sqlite3_total_changes64(SQLITE_CONN(c)->db);
}
