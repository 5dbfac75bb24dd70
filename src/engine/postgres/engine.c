/* engine.c — the PostgreSQL engine as the rest of the server sees it: the table of functions,
 * opening and closing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

static struct pg_database *database_of(struct engine_database *db)
{
	return CONTAINER_OF(db, struct pg_database, base);
}

static const struct pg_database *database_of_const(const struct engine_database *db)
{
	return CONTAINER_OF(db, const struct pg_database, base);
}

/* ---- opening and closing ---- */

static void init_sync(struct pg_database *db)
{
	lock_init(&db->lock);
	lock_init(&db->marks_lock);
	for (int i = 0; i < 2; i++) {
		list_init(&db->queue[i]);
		list_init(&db->asleep[i]);
	}
	list_init(&db->link);
	list_init(&db->txns);
}

/* The keeper looks at it no more, then its workers end. May be done twice. */
static void stop(struct pg_database *db)
{
	lock_take(&db->engine->lock);
	list_remove(&db->link);
	lock_give(&db->engine->lock);
	postgres_pool_stop(db);
}

static void forget(struct pg_database *db)
{
	stop(db);
	lock_fini(&db->marks_lock);
	lock_fini(&db->lock);
	free(db->marks);
	engine_database_fini(&db->base);
	free(db);
}

/* One server starts at a time, so that only the first one makes the databases and the login sa. */
static int lock_start(struct pg_engine *e, const struct engine_open *o, struct err *reterr)
{
	if (o->service != SERVICE_SYSTEM)
		return 0;
	return postgres_plain_open(e, &e->start_lock, reterr) < 0
		       ? -1
		       : postgres_plain_script(
				 &e->start_lock,
				 "SET lock_timeout = '120s'; SELECT pg_advisory_lock(7234017, 0)", reterr);
}

static int postgres_open(struct engine *base, const struct engine_open *o, struct engine_database **ret,
			 struct err *reterr)
{
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);
	struct pg_database *db = calloc(1, sizeof(*db));

	if (db == NULL)
		return err_nomem(reterr);
	engine_database_init(&db->base, base, o->name, o->service, o->settings.errata_literal);
	db->engine = e;
	db->sql = &catalogue_postgres[o->service];
	db->procs = &catalogue_service_procs[o->service];
	db->takes_turns = o->service != SERVICE_STATE; /* README: as if one after another */
	atomic_init(&db->relaxed, o->settings.relaxed);
	postgres_promise_init(db);
	init_sync(db);
	if (postgres_primary_start(e, reterr) < 0 || lock_start(e, o, reterr) < 0 ||
	    postgres_schema_open(db, o, reterr) < 0 || postgres_pool_start(db, reterr) < 0 ||
	    postgres_keeper_start(e, reterr) < 0) {
		forget(db);
		return -1;
	}
	lock_take(&e->lock);
	list_append(&e->databases, &db->link);
	lock_give(&e->lock);
	*ret = &db->base;
	return 0;
}

static void postgres_close(struct engine_database *db)
{
	forget(database_of(db));
}

/* The workers are gone; the schema has another name until it is certain that the row is gone. */
static int postgres_retire(struct engine *base, struct engine_database *db, const char *place,
			   struct err *reterr)
{
	if (db != NULL)
		stop(database_of(db));
	return place == NULL
		       ? 0
		       : postgres_schema_put_away(CONTAINER_OF(base, struct pg_engine, base), place, reterr);
}

static void drop_schema(struct pg_engine *e, const char *schema)
{
	struct err err;

	if (postgres_schema_drop(e, schema, &err) < 0)
		LOG(LOG_WARN, NULL, "schema_not_dropped", F_STR("schema", schema), F_STR("reason", err.text));
}

struct rest {
	bool (*known)(void *arg, const char *place);
	void *arg;
};

static void drop_unknown(struct pg_engine *e, const char *schema, void *arg)
{
	const struct rest *r = arg;

	if (!r->known(r->arg, schema))
		drop_schema(e, schema);
}

static void postgres_discard(struct engine *base, const char *place,
			     bool (*known)(void *arg, const char *place), void *arg)
{
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);
	struct rest r = { known, arg };
	struct err err;

	if (place != NULL)
		drop_schema(e, place);
	else if (postgres_schema_each_dropped(e, drop_unknown, &r, &err) < 0)
		LOG(LOG_WARN, NULL, "schema_not_dropped", F_STR("reason", err.text));
}

/* Before the first beat: whoever moves a database away must see all servers that have opened it. */
static void announce(struct pg_engine *e)
{
	static const char sql[] =
		"INSERT INTO procession.server (id, name, address, version, started, beat, sessions, kicks, "
		"cleans, who) VALUES ($1, $2, '', '', now(), now(), 0, 0, false, '[]') ON CONFLICT DO "
		"NOTHING";
	const char *const values[] = { e->server, e->name };

	if (e->start_lock.session != NULL)
		PQclear(postgres_ask(e, e->start_lock.session, sql, ARRAY_LEN(values), values, NULL, NULL));
}

void engine_postgres_started(struct engine *base, bool serves)
{
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);

	if (serves)
		announce(e);
	postgres_plain_close(&e->start_lock);
}

static void postgres_free(struct engine *base)
{
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);

	postgres_keeper_stop(e);
	postgres_primary_stop(e);
	assert(list_empty(&e->databases));
	postgres_plain_close(&e->start_lock);
	PQfinish(e->asker);
	lock_fini(&e->ask_lock);
	pthread_cond_destroy(&e->primary.wake);
	pthread_cond_destroy(&e->primary.told);
	lock_fini(&e->primary.lock);
	postgres_hosts_fini(e);
	pthread_cond_destroy(&e->told);
	pthread_cond_destroy(&e->wake);
	lock_fini(&e->lock);
	if (e->conninfo != NULL)
		explicit_bzero(e->conninfo, strlen(e->conninfo));
	free(e->conninfo);
	free(e);
}

/* ---- what a database is ---- */

static const char *postgres_place(const struct engine_database *db)
{
	return database_of_const(db)->schema;
}

static const char *postgres_identity(const struct engine_database *db)
{
	return database_of_const(db)->identity;
}

static int postgres_identity_renew(struct engine_database *db, struct err *reterr)
{
	return postgres_schema_renew(database_of(db), reterr);
}

static void postgres_set(struct engine_database *db, const struct engine_settings *s)
{
	atomic_store(&db->literal, s->errata_literal);
	atomic_store(&database_of(db)->relaxed, s->relaxed);
}

/* ---- calls and transactions ---- */

static bool submit(struct engine_database *db, struct call *c)
{
	return postgres_submit(database_of(db), c);
}

static void wake(struct engine_database *db, bool alone)
{
	(void)alone;
	postgres_wake(database_of(db));
}

static void cancel(struct engine_database *db, struct call *c)
{
	postgres_cancel(database_of(db), c);
}

static struct txn *begin(struct engine_database *db, bool snapshot)
{
	return postgres_txn_new(database_of(db), snapshot);
}

/* ---- looking at it ---- */

static void postgres_statistics(struct engine_database *base, struct engine_statistics *ret)
{
	struct pg_database *db = database_of(base);
	uint64_t open = 0;

	lock_take(&db->lock);
	LIST_EACH (it, &db->txns)
		open++;
	*ret = (struct engine_statistics){ .waiting = db->waiting[PG_WRITER] + db->waiting[PG_READER],
					   .transactions = open,
					   .conflicts = atomic_load(&db->conflicts),
					   .reconnects = atomic_load(&db->reconnects),
					   .file_bytes = db->bytes,
					   .counted = db->counted };
	memcpy(ret->numbers, db->numbers, sizeof(ret->numbers));
	lock_give(&db->lock);
}

/* Those of this server: what waits for a transaction of another one shows in pg_locks. */
static size_t postgres_waits(struct engine_database *base, struct engine_wait *dst, size_t max)
{
	struct pg_database *db = database_of(base);
	size_t n = 0;

	lock_take(&db->lock);
	LIST_EACH (it, &db->queue[PG_WRITER]) {
		const struct call *c = CONTAINER_OF(it, struct call, link);

		if (n < max && postgres_txn_blocks(db, c))
			dst[n++] = (struct engine_wait){ c->session, db->pinned->session };
	}
	lock_give(&db->lock);
	return n;
}

static const char *postgres_damage(const struct engine_database *db)
{
	(void)db;
	return NULL; /* PostgreSQL's own checks and its log tell */
}

/* Values whose checksum is wrong; PostgreSQL's own structures are pg_amcheck's matter. */
static int postgres_check(struct engine_database *base, char **ret_report, struct err *reterr)
{
	struct pg_database *db = database_of(base);
	struct pg_plain h;
	char sql[400];
	struct buf text;
	PGresult *r;
	int rc = 0;

	*ret_report = NULL;
	if (postgres_plain_open(db->engine, &h, reterr) < 0)
		return -1;
	snprintf(sql, sizeof(sql),
		 "SET search_path = \"%s\", \"%s\", procession, pg_catalog; SELECT what FROM damaged LIMIT "
		 "100",
		 db->code, db->schema);
	r = postgres_exec_long(db->engine, h.session, sql);
	buf_init(&text, (size_t)1 << 20);
	for (int i = 0; i < PQntuples(r); i++)
		buf_printf(&text, "%s%s", i == 0 ? "" : "\n", PQgetvalue(r, i, 0));
	if (text.len > 0) {
		*ret_report = strndup((const char *)text.data, text.len);
		rc = err_set(reterr, ERR_DAMAGED, db->base.name, db->base.name);
	} else if (PQresultStatus(r) == PGRES_FATAL_ERROR && !postgres_has_state(r, "42P01")) {
		rc = err_raise(reterr, 50021, 16, 1, "PostgreSQL: %.400s",
			       r == NULL ? "the connection is lost" : PQresultErrorMessage(r));
	} else {
		*ret_report = strdup("ok");
	}
	buf_fini(&text);
	PQclear(r);
	postgres_plain_close(&h);
	return rc;
}

static unsigned postgres_descriptors(struct engine *base, unsigned threads)
{
	const struct pg_engine *e = CONTAINER_OF(base, const struct pg_engine, base);

	(void)threads;
	return 8 * (e->connections + e->readers + 4); /* a socket and an event each, some databases */
}

static const struct engine_ops postgres_ops = {
	.open = postgres_open,
	.close = postgres_close,
	.retire = postgres_retire,
	.discard = postgres_discard,
	.free = postgres_free,
	.place = postgres_place,
	.identity = postgres_identity,
	.identity_renew = postgres_identity_renew,
	.set = postgres_set,
	.submit = submit,
	.wake = wake,
	.cancel = cancel,
	.begin = begin,
	.txn_is_lost = postgres_txn_is_lost,
	.txn_free = postgres_txn_free,
	.statistics = postgres_statistics,
	.waits = postgres_waits,
	.damage = postgres_damage,
	.check = postgres_check,
	.descriptors = postgres_descriptors,
	.copy_place = postgres_copy_place,
	.copy_from = postgres_copy_from,
	.copy_to = postgres_copy_to,
};

void engine_postgres_watch(struct engine *base, const struct engine_postgres_watch *w)
{
	static const struct engine_postgres_watch nobody = { .arg = NULL };
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);

	lock_take(&e->lock);
	while (e->telling)
		lock_wait(&e->lock, &e->told);
	e->watch = w == NULL ? nobody : *w;
	lock_give(&e->lock);
}

struct engine *engine_postgres_new(const struct engine_postgres_options *o, struct err *reterr)
{
	struct pg_engine *e = calloc(1, sizeof(*e));
	uint8_t random[16];

	(void)err_nomem(reterr);
	if (e == NULL)
		return NULL;
	e->conninfo = strdup(o->conninfo);
	if (e->conninfo == NULL || postgres_hosts_init(e, reterr) < 0 ||
	    getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		postgres_hosts_fini(e);
		free(e->conninfo);
		free(e);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(e->server + 2 * i, 3, "%02x", random[i]);
	e->base = (struct engine){ .ops = &postgres_ops,
				   .limits = o->limits,
				   .natives = o->natives,
				   .metrics = o->metrics,
				   .sql = QUERY_POSTGRES };
	e->connections = o->connections;
	e->readers = o->readers;
	e->failover_ms = o->failover_timeout_s * 1000;
	e->gives_up = o->gives_up;
	str_copy(e->name, sizeof(e->name), str_of(o->name));
	lock_cond_init(&e->wake);
	lock_cond_init(&e->told);
	lock_init(&e->lock);
	lock_init(&e->ask_lock);
	lock_cond_init(&e->primary.wake);
	lock_cond_init(&e->primary.told);
	lock_init(&e->primary.lock);
	e->primary.host = -1;
	list_init(&e->databases);
	return &e->base;
}
