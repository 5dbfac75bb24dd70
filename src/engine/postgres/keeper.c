/* keeper.c — one thread of the engine that looks after what nobody waits for: transactions that are
 * silent for too long, calls that have waited too long, and what other servers have changed in the
 * system database. */
#define _GNU_SOURCE /* names of threads */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define STEP_MS 200
#define LOOK_EVERY_MS 400 /* for changes of others */

struct watch {
	PGconn *h; /* owned */
	int64_t next_ms;
	long long seen; /* the sum of the marks of others; -1: not yet */
};

/* Under the engine's lock. */
static struct pg_database *system_of(struct pg_engine *e)
{
	LIST_EACH (it, &e->databases) {
		struct pg_database *db = CONTAINER_OF(it, struct pg_database, link);

		if (db->base.service == SERVICE_SYSTEM)
			return db;
	}
	return NULL;
}

/* The marks of other servers in the system database grow with everything that they change there. */
static bool others_have_changed(struct pg_engine *e, struct watch *w, const char *schema)
{
	char sql[300];
	struct err err;
	PGresult *r;
	long long sum = -1;
	bool changed;

	if (w->h == NULL)
		w->h = postgres_conn_plain(e, &err);
	if (w->h == NULL)
		return false;
	snprintf(sql, sizeof(sql),
		 "SELECT coalesce(sum(seq), 0)::bigint FROM \"%s\".mark WHERE slot NOT LIKE '%s/%%'", schema,
		 e->server);
	r = PQexec(w->h, sql);
	if (PQresultStatus(r) == PGRES_TUPLES_OK) {
		sum = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
	} else {
		PQfinish(w->h);
		w->h = NULL;
	}
	PQclear(r);
	if (sum < 0)
		return false;
	changed = w->seen >= 0 && sum != w->seen;
	w->seen = sum;
	return changed;
}

static void look(struct pg_engine *e, struct watch *w, int64_t now_ms)
{
	char schema[PG_SCHEMA] = "";
	struct pg_database *db;
	void (*changed)(void *arg);
	void *arg;
	bool wanted;

	if (now_ms < w->next_ms)
		return;
	w->next_ms = now_ms + LOOK_EVERY_MS;
	pthread_mutex_lock(&e->lock);
	db = system_of(e);
	wanted = e->changed != NULL && db != NULL;
	if (db != NULL)
		memcpy(schema, db->schema, sizeof(schema));
	pthread_mutex_unlock(&e->lock);
	if (!wanted || !others_have_changed(e, w, schema))
		return;
	pthread_mutex_lock(&e->lock);
	changed = e->changed;
	arg = e->changed_arg;
	e->telling = changed != NULL;
	pthread_mutex_unlock(&e->lock);
	if (changed == NULL)
		return;
	changed(arg);
	pthread_mutex_lock(&e->lock);
	e->telling = false;
	pthread_cond_broadcast(&e->told);
	pthread_mutex_unlock(&e->lock);
}

static void sweep_all(struct pg_engine *e, int64_t now_ms)
{
	pthread_mutex_lock(&e->lock);
	LIST_EACH (it, &e->databases)
		postgres_pool_sweep(CONTAINER_OF(it, struct pg_database, link), now_ms);
	pthread_mutex_unlock(&e->lock);
}

/* False: it is time to stop. */
static bool pause_a_step(struct pg_engine *e)
{
	int64_t at = clock_mono_ms() + STEP_MS;
	struct timespec until = { at / 1000, (at % 1000) * 1000000 };
	bool stop;

	pthread_mutex_lock(&e->lock);
	if (!e->stopping)
		pthread_cond_timedwait(&e->wake, &e->lock, &until);
	stop = e->stopping;
	pthread_mutex_unlock(&e->lock);
	return !stop;
}

static void *keeper_main(void *arg)
{
	struct pg_engine *e = arg;
	struct watch w = { .seen = -1 };

	pthread_setname_np(pthread_self(), "keeper");
	while (pause_a_step(e)) {
		int64_t now = clock_mono_ms();

		sweep_all(e, now);
		look(e, &w, now);
	}
	PQfinish(w.h);
	return NULL;
}

int postgres_keeper_start(struct pg_engine *e, struct err *reterr)
{
	if (e->has_keeper)
		return 0;
	if (thread_start(&e->keeper, keeper_main, e) < 0)
		return err_nomem(reterr);
	e->has_keeper = true;
	return 0;
}

void postgres_keeper_stop(struct pg_engine *e)
{
	if (!e->has_keeper)
		return;
	pthread_mutex_lock(&e->lock);
	e->stopping = true;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->keeper, NULL);
	e->has_keeper = false;
}
