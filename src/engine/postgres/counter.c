/* counter.c — what the databases hold, for people who look: their size, items, documents by state.
 * Files keep these numbers by counting along with commits; here two servers would have to write the
 * same row in every transaction. So one server counts now and then, the one that cleans up, and all
 * tell what it has found. What takes long to count is counted seldom: a twentieth of one processor
 * of PostgreSQL's machine is spent on it at most. Nobody waits for it, and it locks nothing that
 * calls want. */
#define _GNU_SOURCE /* names of threads */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define LOOK_EVERY_MS 1000
#define AGAIN_MS 2000  /* between two counts of a database, */
#define AGAIN_TIMES 20 /* and so many times as long as it has taken */
#define SQL_MAX 4096

struct counter {
	struct pg_engine *e;
	PGconn *h; /* owned; NULL: not connected */
};

static bool join(struct counter *k)
{
	return postgres_plain_keep(
		k->e, &k->h,
		"SET synchronous_commit = off; SET statement_timeout = '10min'; SET lock_timeout = '2s'; "
		"SET max_parallel_workers_per_gather = 0; SET client_connection_check_interval = '2s'");
}

/* ---- what has been counted ---- */

static int64_t field_int(const PGresult *r, int row, int column)
{
	return strtoll(PQgetvalue(r, row, column), NULL, 10);
}

/* Numbers as PostgreSQL writes an array of them: {1,2,3}. */
static void take_numbers(struct pg_database *db, const char *text)
{
	size_t n = 0;

	for (; n < db->procs->nnumbers && *text != '\0' && *text != '}' && text[1] != '}'; n++) {
		char *end;

		db->numbers[n] = strtoll(text + 1, &end, 10);
		text = end;
	}
	db->counted = n == db->procs->nnumbers;
}

static void take_row(struct pg_database *db, const PGresult *r, int row, int64_t now_ms)
{
	int64_t took_ms = field_int(r, row, 2), pause_ms = AGAIN_TIMES * took_ms;

	db->count_at_ms = now_ms - field_int(r, row, 1) + (pause_ms > AGAIN_MS ? pause_ms : AGAIN_MS);
	lock_take(&db->lock);
	db->bytes = (uint64_t)field_int(r, row, 3);
	take_numbers(db, PQgetvalue(r, row, 4));
	lock_give(&db->lock);
}

/* Under the engine's lock. A database that nobody has counted is to be counted now. */
static void take_for(struct pg_database *db, const PGresult *r, int64_t now_ms)
{
	db->count_at_ms = now_ms;
	for (int i = 0; i < PQntuples(r); i++) {
		if (strcmp(PQgetvalue(r, i, 0), db->identity) == 0)
			take_row(db, r, i, now_ms);
	}
}

static bool take_all(struct counter *k)
{
	PGresult *r = postgres_ask(
		k->e, k->h,
		"SELECT identity, floor(extract(epoch FROM now() - at) * 1000)::int8, took_ms, "
		"bytes, coalesce(numbers, '{}') FROM procession.counted",
		0, NULL, NULL, NULL);
	int64_t now_ms = clock_mono_ms();

	if (r == NULL)
		return false;
	lock_take(&k->e->lock);
	LIST_EACH (it, &k->e->databases)
		take_for(CONTAINER_OF(it, struct pg_database, link), r, now_ms);
	lock_give(&k->e->lock);
	PQclear(r);
	return true;
}

/* ---- counting ---- */

/* A database may be closed while it is counted: this is all that is needed of it. */
struct task {
	char schema[PG_SCHEMA], identity[ENGINE_IDENTITY], name[ENGINE_PLACE];
	const char *numbers_sql; /* NULL: its service has none */
};

static bool next_task(struct pg_engine *e, struct task *ret)
{
	int64_t now_ms = clock_mono_ms();
	bool found = false;

	lock_take(&e->lock);
	LIST_EACH (it, &e->databases) {
		struct pg_database *db = CONTAINER_OF(it, struct pg_database, link);

		if (found || db->count_at_ms == 0 || db->count_at_ms > now_ms)
			continue;
		found = true;
		db->count_at_ms = 0; /* until it has been read what came of it */
		memcpy(ret->schema, db->schema, sizeof(ret->schema));
		memcpy(ret->identity, db->identity, sizeof(ret->identity));
		str_copy(ret->name, sizeof(ret->name), str_of(db->base.name));
		ret->numbers_sql = db->sql->numbers_sql;
	}
	lock_give(&e->lock);
	return found;
}

/* It stays uncounted for as long as if it had been counted: what failed once may fail for ever. */
static bool note_failure(struct counter *k, const struct task *t, int64_t took_ms)
{
	const struct log_ctx ctx = { .database = t->name };
	const char *reason = PQerrorMessage(k->h);
	char took[32];
	const char *const values[] = { t->identity, took };
	PGresult *r;

	LOG(LOG_WARN, &ctx, "counting_failed", F_STR("reason", reason));
	snprintf(took, sizeof(took), "%lld", (long long)took_ms + 1000);
	r = postgres_ask(
		k->e, k->h,
		"INSERT INTO procession.counted (identity, at, took_ms, bytes, numbers) VALUES ($1, "
		"now(), $2::int8, 0, NULL) ON CONFLICT (identity) DO UPDATE SET at = excluded.at, took_ms "
		"= excluded.took_ms, numbers = NULL",
		ARRAY_LEN(values), values, NULL, NULL);
	PQclear(r);
	return r != NULL;
}

/* One transaction. What nobody has counted for a day belongs to a database that is gone. */
static void write_count(const struct task *t, char *sql, size_t size)
{
	snprintf(sql, size,
		 "SET search_path = \"%s\", procession, pg_catalog; "
		 "DELETE FROM procession.counted WHERE at < now() - interval '1 day'; "
		 "INSERT INTO procession.counted (identity, at, took_ms, bytes, numbers) SELECT '%s', now(), "
		 "floor(extract(epoch FROM clock_timestamp() - now()) * 1000)::int8, (SELECT "
		 "coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c JOIN pg_namespace n "
		 "ON "
		 "n.oid = c.relnamespace WHERE n.nspname = '%s' AND c.relkind = 'r'), counted.numbers FROM "
		 "(%s) AS "
		 "counted(numbers) ON CONFLICT (identity) DO UPDATE SET at = excluded.at, took_ms = "
		 "excluded.took_ms, bytes = excluded.bytes, numbers = excluded.numbers",
		 t->schema, t->identity, t->schema,
		 t->numbers_sql == NULL ? "SELECT CAST('{}' AS int8[])" : t->numbers_sql);
}

static bool count(struct counter *k, const struct task *t)
{
	int64_t began_ms = clock_mono_ms();
	char sql[SQL_MAX];
	PGresult *r;
	bool done;

	write_count(t, sql, sizeof(sql));
	r = postgres_exec_until(k->e, k->h, sql, &k->e->stopping);
	done = PQresultStatus(r) == PGRES_COMMAND_OK;
	PQclear(r);
	return done || (PQstatus(k->h) == CONNECTION_OK && note_failure(k, t, clock_mono_ms() - began_ms));
}

/* ---- the thread ---- */

static bool count_what_is_due(struct counter *k)
{
	struct task t;

	while (atomic_load(&k->e->cleans) && next_task(k->e, &t)) {
		if (!count(k, &t))
			return false;
	}
	return true;
}

static void look(struct counter *k)
{
	if (join(k) && (!take_all(k) || !count_what_is_due(k))) {
		PQfinish(k->h);
		k->h = NULL;
	}
}

static void *counter_main(void *arg)
{
	struct counter k = { .e = arg };

	pthread_setname_np(pthread_self(), "counter");
	while (postgres_pause(k.e, LOOK_EVERY_MS))
		look(&k);
	PQfinish(k.h);
	return NULL;
}

int postgres_counter_start(struct pg_engine *e, struct err *reterr)
{
	return thread_start(&e->counter, counter_main, e) < 0 ? err_nomem(reterr) : 0;
}
