/* engine.c — the SQLite engine as the rest of the server sees it: databases are files in one
 * folder, each with a store (statements and files) and an executor (queues and threads). */
#define _GNU_SOURCE /* whom a lock prefers */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "catalogue/catalogue.h"
#include "engine/sqlite/sqlite_int.h"

#define FILES_EACH_CONNECTION 3u /* the file, its WAL, the index of the WAL */

static struct sqlite_database *database_of(struct engine_database *db)
{
	return CONTAINER_OF(db, struct sqlite_database, base);
}

static const struct sqlite_database *database_of_const(const struct engine_database *db)
{
	return CONTAINER_OF(db, const struct sqlite_database, base);
}

/* ---- opening and closing ---- */

static void leave_list(struct sqlite_database *db)
{
	if (list_empty(&db->link))
		return;
	lock_take(&db->engine->lock);
	list_remove(&db->link);
	list_init(&db->link);
	assert(db->engine->ndatabases > 0);
	db->engine->ndatabases--;
	lock_give(&db->engine->lock);
}

static void forget(struct sqlite_database *db)
{
	leave_list(db);
	executor_stop(db->executor);
	executor_free(db->executor);
	store_close(db->store);
	engine_database_fini(&db->base);
	free(db);
}

static int open_store(struct sqlite_engine *e, const struct engine_open *o, const char *path,
		      struct store **ret, struct err *reterr)
{
	struct store_options so = { .path = path,
				    .name = o->name,
				    .service = &catalogue_service_procs[o->service],
				    .cache_mib = e->cache_mib,
				    .known = o->service == SERVICE_SYSTEM ? sqlite_place_is_used(e)
									  : o->known,
				    .identity = o->identity,
				    .accept = o->accept,
				    .commits = &e->commits };

	if (sqlite_place_is_own(e, path, o->name, reterr) < 0)
		return -1;
	if (store_open(&so, ret, reterr) == 0)
		return 0;
	if (!o->set_aside || !sqlite_place_may_set_aside(reterr))
		return -1;
	if (sqlite_place_set_aside(path, o->name, reterr, reterr) < 0)
		return -1;
	so.known = false;
	so.identity = NULL;
	return store_open(&so, ret, reterr);
}

static int choose_place(struct sqlite_database *db, const struct engine_open *o, struct err *reterr)
{
	int n;

	if (o->service == SERVICE_SYSTEM)
		n = snprintf(db->place, sizeof(db->place), "%s", SQLITE_SYSTEM_PLACE);
	else if (o->place[0] != '\0')
		n = snprintf(db->place, sizeof(db->place), "%s", o->place);
	else
		n = snprintf(db->place, sizeof(db->place), "%s.db", o->name);
	return n < (int)sizeof(db->place) ? 0 : err_set(reterr, ERR_ADMIN, "The database name is too long.");
}

static int open_files(struct sqlite_database *db, const struct engine_open *o, struct err *reterr)
{
	char path[SQLITE_PATH];
	struct stat s;

	if (choose_place(db, o, reterr) < 0 || sqlite_place_path(db->engine, db->place, path, reterr) < 0 ||
	    (o->known && sqlite_place_take_back(path, reterr) < 0) ||
	    open_store(db->engine, o, path, &db->store, reterr) < 0)
		return -1;
	if (stat(path, &s) == 0) {
		db->device = s.st_dev;
		db->inode = s.st_ino;
	}
	return o->service == SERVICE_SYSTEM ? sqlite_metadata_load(db->store, reterr) : 0;
}

static int start_executor(struct sqlite_database *db, const struct engine_open *o, struct err *reterr)
{
	const struct executor_options eo = {
		.database = &db->base,
		.store = db->store,
		.relaxed = o->settings.relaxed,
		.commit_interval_ms = o->settings.commit_interval_ms,
		.promise = catalogue_find(o->service, STR("dbo"), STR("procession_promise")),
		.readers = db->engine->readers,
		.max_wal_mib = db->engine->max_wal_mib,
	};

	assert(db->store != NULL && db->executor == NULL);
	return executor_start(&eo, &db->executor, reterr);
}

static int sqlite_open(struct engine *base, const struct engine_open *o, struct engine_database **ret,
		       struct err *reterr)
{
	struct sqlite_engine *e = CONTAINER_OF(base, struct sqlite_engine, base);
	struct sqlite_database *db = calloc(1, sizeof(*db));

	if (db == NULL)
		return err_nomem(reterr);
	engine_database_init(&db->base, base, o->name, o->service, o->settings.errata_literal);
	db->engine = e;
	list_init(&db->link);
	if (open_files(db, o, reterr) < 0 || start_executor(db, o, reterr) < 0) {
		forget(db);
		return -1;
	}
	assert(db->store != NULL && db->executor != NULL);
	lock_take(&e->lock);
	list_append(&e->databases, &db->link);
	e->ndatabases++;
	lock_give(&e->lock);
	*ret = &db->base;
	return 0;
}

static void sqlite_close(struct engine_database *db)
{
	forget(database_of(db));
}

/* The executor and the store stay, without threads and files, for whoever still holds the
 * database. */
static int sqlite_retire(struct engine *base, struct engine_database *one, const char *place,
			 struct err *reterr)
{
	char path[SQLITE_PATH];

	if (place != NULL &&
	    sqlite_place_path(CONTAINER_OF(base, struct sqlite_engine, base), place, path, reterr) < 0)
		return -1;
	if (one != NULL) {
		struct sqlite_database *db = database_of(one);

		assert(db->engine == CONTAINER_OF(base, struct sqlite_engine, base));
		leave_list(db);
		executor_stop(db->executor);
		store_let_go(db->store);
	}
	return place == NULL ? 0 : sqlite_place_put_away(path, reterr);
}

static void sqlite_free(struct engine *base)
{
	struct sqlite_engine *e = CONTAINER_OF(base, struct sqlite_engine, base);

	assert(e->ndatabases == 0 && list_empty(&e->databases));
	lock_fini(&e->lock);
	pthread_rwlock_destroy(&e->commits);
	free(e->dir);
	free(e);
}

/* ---- what a database is ---- */

static const char *sqlite_place(const struct engine_database *db)
{
	return database_of_const(db)->place;
}

static const char *sqlite_identity(const struct engine_database *db)
{
	return store_identity(database_of_const(db)->store);
}

static int sqlite_identity_renew(struct engine_database *db, struct err *reterr)
{
	return store_identity_renew(database_of(db)->store, reterr);
}

static void sqlite_set(struct engine_database *db, const struct engine_settings *s)
{
	executor_set_commit(database_of(db)->executor, s->relaxed, s->commit_interval_ms);
}

/* ---- calls and transactions ---- */

static bool sqlite_submit(struct engine_database *db, struct call *c)
{
	return executor_submit_quietly(database_of(db)->executor, c);
}

static void sqlite_wake(struct engine_database *db, bool alone)
{
	executor_wake(database_of(db)->executor, alone);
}

static void sqlite_cancel(struct engine_database *db, struct call *c)
{
	executor_cancel(database_of(db)->executor, c);
}

static struct txn *sqlite_begin(struct engine_database *db, bool snapshot)
{
	return executor_txn_new(database_of(db)->executor, snapshot);
}

/* ---- looking at it ---- */

static void sqlite_statistics(struct engine_database *db, struct engine_statistics *ret)
{
	struct store *st = database_of(db)->store;

	executor_statistics(database_of(db)->executor, ret);
	ret->file_bytes = store_file_bytes(st);
	ret->has_wal = true;
	ret->wal_bytes = (uint64_t)store_wal_pages(st) * STORE_PAGE;
	ret->wal_waiting_bytes = (uint64_t)store_wal_waiting(st) * STORE_PAGE;
	ret->counted = store_tally_read(st, ret->numbers);
}

static size_t sqlite_waits(struct engine_database *db, struct engine_wait *dst, size_t max)
{
	return executor_waits(database_of(db)->executor, dst, max);
}

static const char *sqlite_damage(const struct engine_database *db)
{
	if (!store_damaged(database_of_const(db)->store))
		return NULL;
	return "SQLite has found the file to be damaged while it was in use; the server's log says where. "
	       "What can still be read is served. procession_database_check shows the extent. Restore the "
	       "file from a backup.";
}

static int sqlite_check(struct engine_database *db, char **ret_report, struct err *reterr)
{
	return store_check(database_of(db)->store, ret_report, reterr);
}

/* ---- copies ---- */

struct sqlite_held {
	struct engine_held base;
	struct store_conn *conn; /* owned; in a transaction that has read */
};

static void sqlite_release(struct engine_held *base)
{
	struct sqlite_held *h = CONTAINER_OF(base, struct sqlite_held, base);

	store_release_held(h->conn);
	free(h);
}

static int prepare_held(struct sqlite_database *db, struct engine_held **ret, struct err *reterr)
{
	struct sqlite_held *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return err_nomem(reterr);
	h->base.ops = db->base.ops;
	if (store_connect(db->store, true, &h->conn, reterr) < 0) {
		free(h);
		return -1;
	}
	*ret = &h->base;
	return 0;
}

/* The connections first; then, while nobody commits anywhere, each begins to see. */
static int sqlite_hold(struct engine_database *const *dbs, size_t n, struct engine_held **ret,
		       struct err *reterr)
{
	struct sqlite_engine *e = database_of(dbs[0])->engine;
	size_t made = 0;
	int rc = 0;

	assert(n > 0);
	for (; rc == 0 && made < n; made += rc == 0)
		rc = prepare_held(database_of(dbs[made]), &ret[made], reterr);
	if (rc == 0) {
		pthread_rwlock_wrlock(&e->commits);
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = store_hold(CONTAINER_OF(ret[i], struct sqlite_held, base)->conn, reterr);
		pthread_rwlock_unlock(&e->commits);
	}
	while (rc < 0 && made > 0)
		sqlite_release(ret[--made]);
	return rc;
}

static int sqlite_backup(struct engine_held *h, const char *file, bool (*goes_on)(void *arg), void *arg,
			 struct err *reterr)
{
	return store_backup(CONTAINER_OF(h, struct sqlite_held, base)->conn, file, goes_on, arg, reterr);
}

/* A thread that waits to hold all databases must not wait for ever behind commits that follow each
 * other. */
static void init_commits(pthread_rwlock_t *l)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(l, &attr);
	pthread_rwlockattr_destroy(&attr);
}

/* Each database: its readers, a connection that each thread reads through, the fetchers', the
 * checkpointer's. */
static unsigned sqlite_descriptors(struct engine *base, unsigned threads)
{
	struct sqlite_engine *e = CONTAINER_OF(base, struct sqlite_engine, base);
	unsigned n;

	lock_take(&e->lock);
	n = e->ndatabases;
	lock_give(&e->lock);
	return n * (e->readers + threads + 2) * FILES_EACH_CONNECTION;
}

static const struct engine_ops sqlite_ops = {
	.open = sqlite_open,
	.close = sqlite_close,
	.retire = sqlite_retire,
	.discard = sqlite_place_discard,
	.free = sqlite_free,
	.place = sqlite_place,
	.identity = sqlite_identity,
	.identity_renew = sqlite_identity_renew,
	.set = sqlite_set,
	.submit = sqlite_submit,
	.wake = sqlite_wake,
	.cancel = sqlite_cancel,
	.begin = sqlite_begin,
	.txn_is_lost = executor_txn_is_lost,
	.txn_free = executor_txn_free,
	.statistics = sqlite_statistics,
	.waits = sqlite_waits,
	.damage = sqlite_damage,
	.check = sqlite_check,
	.hold = sqlite_hold,
	.backup = sqlite_backup,
	.release = sqlite_release,
	.descriptors = sqlite_descriptors,
	.copy_place = sqlite_copy_place,
	.copy_from = sqlite_copy_from,
	.copy_to = sqlite_copy_to,
};

struct engine *engine_sqlite_new(const struct engine_sqlite_options *o)
{
	struct sqlite_engine *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->base = (struct engine){
		.ops = &sqlite_ops, .limits = o->limits, .natives = o->natives, .metrics = o->metrics
	};
	e->dir = strdup(o->dir);
	if (e->dir == NULL) {
		free(e);
		return NULL;
	}
	e->cache_mib = o->cache_mib;
	e->readers = o->readers;
	e->max_wal_mib = o->max_wal_mib;
	lock_init(&e->lock);
	init_commits(&e->commits);
	list_init(&e->databases);
	return &e->base;
}
