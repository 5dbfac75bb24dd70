/* schema.c — brings a file to the schema of this program, one migration a transaction, and
 * refuses files that are not ours to touch. PRAGMA user_version counts the migrations that were
 * applied; PRAGMA application_id says which service the file belongs to. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/sqlite/store/store_int.h"

#define APPLICATION_ID 0x50435300 /* "PCS", then the number of the service */

static int number_of(struct store_conn *c, const char *sql, long long *ret, struct err *reterr)
{
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(c->db, sql, -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(h, 0);
	sqlite3_finalize(h);
	return rc == SQLITE_ROW ? 0 : store_error(c, rc, reterr);
}

static int application_id(const struct service_procs *p)
{
	return APPLICATION_ID + (p->nprocs > 0 ? p->procs[0].service : 0);
}

/* True for a file that nobody has written to. */
static int is_empty(struct store_conn *c, bool *ret, struct err *reterr)
{
	long long objects = 0;

	if (number_of(c, "SELECT count(*) FROM sqlite_schema", &objects, reterr) < 0)
		return -1;
	*ret = objects == 0;
	return 0;
}

/* Whether the file is ours, and how many migrations it has seen. */
static int identify(struct store_conn *c, bool known, long long *ret_version, struct err *reterr)
{
	const struct store *st = c->store;
	long long id = 0, version = 0;
	char why[160];
	bool empty;

	if (number_of(c, "PRAGMA application_id", &id, reterr) < 0 ||
	    number_of(c, "PRAGMA user_version", &version, reterr) < 0 || is_empty(c, &empty, reterr) < 0)
		return -1;
	if (empty && known)
		return store_refuse_lost(st, "has nothing in it", reterr);
	if (id == 0 && version == 0 && empty) {
		*ret_version = 0;
		return 0;
	}
	if (id < APPLICATION_ID || id >= APPLICATION_ID + SERVICE_COUNT)
		return store_refuse(st, "was not made by Procession",
				    "Move it away, or give the database another name.", reterr);
	if (id != application_id(st->service)) {
		snprintf(why, sizeof(why), "belongs to another service than '%s'", st->service->name);
		return store_refuse(st, why, "Put the right file in its place, or move this one away.",
				    reterr);
	}
	if (version < 0 || version > st->service->nmigrations) {
		snprintf(why, sizeof(why), "has schema version %lld, and this program knows up to %d",
			 version, (int)st->service->nmigrations);
		return store_refuse(st, why,
				    "Use the newer program that wrote it, or restore a backup from before.",
				    reterr);
	}
	*ret_version = version;
	return 0;
}

/* Tables that are rebuilt may break references for a moment: they are counted at the end
 * instead. */
static int references_hold(struct store_conn *c, struct err *reterr)
{
	long long broken = 0;

	if (number_of(c, "SELECT count(*) FROM pragma_foreign_key_check", &broken, reterr) < 0)
		return -1;
	if (broken > 0)
		return store_refuse(c->store, "has rows that refer to missing rows",
				    "Restore a backup, or remove these rows with sqlite3.", reterr);
	return 0;
}

static int migrate_one(struct store_conn *c, unsigned from, struct err *reterr)
{
	const struct service_procs *p = c->store->service;
	char mark[120];

	snprintf(mark, sizeof(mark), "PRAGMA user_version = %u; PRAGMA application_id = %d;", from + 1,
		 application_id(p));
	if (store_begin(c, reterr) < 0)
		return -1;
	if (store_script(c, p->migrations[from], reterr) < 0 || store_script(c, mark, reterr) < 0)
		return -1;
	if (from > 0 && references_hold(c, reterr) < 0)
		return -1;
	return store_commit(c, reterr);
}

static int migrate(struct store_conn *c, unsigned version, struct err *reterr)
{
	const struct log_ctx ctx = { .database = c->store->name };

	for (unsigned v = version; v < c->store->service->nmigrations; v++) {
		if (migrate_one(c, v, reterr) < 0)
			return -1;
		LOG(LOG_INFO, &ctx, "schema", F_STR("file", c->store->path), F_INT("version", v + 1));
	}
	return 0;
}

static int make_views(struct store_conn *c, struct err *reterr)
{
	const char *sql = c->store->service->views_sql;

	if (sql == NULL || sql[0] == '\0')
		return 0;
	if (store_begin(c, reterr) < 0 || store_script(c, sql, reterr) < 0)
		return -1;
	return store_commit(c, reterr);
}

int store_schema_apply(struct store_conn *c, bool known, struct err *reterr)
{
	long long version = 0;
	int rc;

	if (identify(c, known, &version, reterr) < 0 ||
	    store_script(c, "PRAGMA foreign_keys=OFF", reterr) < 0)
		return -1;
	rc = migrate(c, (unsigned)version, reterr);
	if (rc == 0)
		rc = make_views(c, reterr);
	store_rollback(c);
	return rc;
}
