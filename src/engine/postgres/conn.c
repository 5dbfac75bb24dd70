/* conn.c — sessions of PostgreSQL: connecting to whichever host is the primary, and what a session
 * is set to before its first use. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

#define ARENA_MOST ((size_t)4 << 30)
#define PAUSE_MS 50 /* between two attempts to connect */

/* ---- libpq ---- */

void postgres_conn_why(PGconn *h, char *dst, size_t size)
{
	const char *text = h == NULL ? "no memory" : PQerrorMessage(h);
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	str_copy(dst, size, (struct str){ text, n });
	for (char *p = dst; *p != '\0'; p++) {
		if (*p == '\n')
			*p = ' ';
	}
}

static void ignore_notice(void *arg, const PGresult *r)
{
	(void)arg, (void)r;
}

static int set_up_plain(struct pg_engine *e, PGconn *h, const atomic_bool *stop, char *why, size_t size)
{
	PGresult *r;
	bool done;

	PQsetNoticeReceiver(h, ignore_notice, NULL);
	r = postgres_exec(e, h, PG_SESSION_SQL, stop);
	done = PQresultStatus(r) == PGRES_TUPLES_OK;
	if (r == NULL)
		str_copy(why, size, str_of("the host does not answer"));
	else
		postgres_conn_why(h, why, size);
	PQclear(r);
	return done ? 0 : -1;
}

PGconn *postgres_conn_plain(struct pg_engine *e, const atomic_bool *stop, struct err *reterr)
{
	char why[400], application[64];
	PGconn *h;

	snprintf(application, sizeof(application), "procession %s", e->server);
	h = postgres_connect(e, application, stop, why, sizeof(why));
	if (h == NULL) /* where another host has taken over, that is known now */
		h = postgres_connect(e, application, stop, why, sizeof(why));
	if (h != NULL && set_up_plain(e, h, stop, why, sizeof(why)) == 0 && postgres_await_grace(e, stop))
		return h;
	PQfinish(h);
	(void)err_raise(
		reterr, 50021, 16, 1,
		"PostgreSQL cannot be used (setting postgres): %s. Check host, user, password and that "
		"one of the hosts is a primary.",
		why);
	return NULL;
}

/* ---- one of a database ---- */

int postgres_conn_new(struct pg_database *db, struct pg_conn **ret, struct err *reterr)
{
	struct pg_conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return err_nomem(reterr);
	c->db = db;
	c->functions = calloc((size_t)db->procs->nprocs + 1, sizeof(bool));
	c->together = calloc((size_t)db->procs->nprocs + 1, sizeof(bool));
	c->statements = calloc((size_t)db->procs->nstatements + 1, sizeof(bool));
	arena_init(&c->arena, ARENA_MOST);
	if (c->functions == NULL || c->together == NULL || c->statements == NULL) {
		postgres_conn_free(c);
		return err_nomem(reterr);
	}
	postgres_mark_take(c);
	*ret = c;
	return 0;
}

void postgres_conn_drop(struct pg_conn *c)
{
	PQfinish(c->h);
	c->h = NULL;
	c->expected_at = c->nexpected = 0;
	c->cancelled = false;
	c->given_up = c->may_be_lost = false;
	c->marked = c->lazy = false;
	c->answer_by_ms = 0;
	c->unsent = 0;
	c->bulky = false;
}

void postgres_conn_slim(struct pg_conn *c)
{
	if (c->bulky)
		postgres_conn_drop(c);
}

void postgres_conn_free(struct pg_conn *c)
{
	if (c == NULL)
		return;
	postgres_conn_drop(c);
	postgres_mark_give_back(c);
	arena_fini(&c->arena);
	free(c->expected);
	free(c->functions);
	free(c->together);
	free(c->statements);
	free(c);
}

static void on_notice(void *arg, const PGresult *r)
{
	struct pg_conn *c = arg;

	if (postgres_is_unconfirmed(r))
		c->may_be_lost = true;
}

/* Plans that do not depend on statistics, which change at night (a client's SELECT has its own
 * rules for as long as it runs: PG_BE_READER); PostgreSQL's own names first, so that nobody's
 * function stands in for one of them. */
static int set_up(struct pg_conn *c, char *why, size_t size)
{
	const struct pg_database *db = c->db;
	char sql[1800];
	PGresult *r;
	int timeline = -1;

	snprintf(sql, sizeof(sql),
		 "SET search_path = \"%s\", \"%s\", procession, pg_catalog; SET lock_timeout = '1s'; "
		 "SET plan_cache_mode = force_generic_plan; SET jit = off; "
		 "SET max_parallel_workers_per_gather = 0; SET statement_timeout = 0; "
		 "SET idle_in_transaction_session_timeout = 0; SET standard_conforming_strings = on; "
		 "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; "
		 "SET enable_mergejoin = off; SET enable_material = off; "
		 "SET join_collapse_limit = 1; SET from_collapse_limit = 1; " PG_SESSION_SQL
		 "; " PG_TIMELINE_SQL ", "
		 "greatest((SELECT max(floor) FROM clock), (SELECT max(at) FROM mark), 0), "
		 "(SELECT version FROM store)",
		 db->code, db->schema);
	r = postgres_exec(db->engine, c->h, sql, postgres_stop_of(c));
	if (PQresultStatus(r) == PGRES_TUPLES_OK) {
		timeline = (int)strtol(PQgetvalue(r, 0, 0), NULL, 10);
		postgres_clock_seen(c->db, strtoll(PQgetvalue(r, 0, 1), NULL, 10));
		c->version = strtol(PQgetvalue(r, 0, 2), NULL, 10);
	} else {
		postgres_conn_why(c->h, why, size);
	}
	PQclear(r);
	if (timeline < 0 && why[0] == '\0')
		snprintf(why, size, "the host is a standby");
	c->timeline = timeline;
	return timeline < 0 ? -1 : 0;
}

/* A host whose history ended while another one went on was a primary once: nothing that it says is
 * true any more. */
static bool is_deposed(struct pg_conn *c)
{
	struct pg_engine *e = c->db->engine;

	if (c->timeline > atomic_load(&e->timeline))
		postgres_adopt(e, -1, c->timeline);
	return c->timeline < atomic_load(&e->timeline);
}

static int connect_session(struct pg_conn *c, char *why, size_t size)
{
	char application[64];
	struct err err;

	why[0] = '\0';
	snprintf(application, sizeof(application), "procession %.40s", c->slot);
	c->h = postgres_connect(c->db->engine, application, postgres_stop_of(c), why, size);
	memset(c->fixed, 0, sizeof(c->fixed));
	memset(c->functions, 0, c->db->procs->nprocs);
	memset(c->together, 0, c->db->procs->nprocs);
	memset(c->statements, 0, c->db->procs->nstatements);
	if (c->h == NULL)
		return -1;
	PQsetNoticeReceiver(c->h, on_notice, c);
	if (set_up(c, why, size) == 0 && !is_deposed(c)) {
		if (postgres_schema_check(c->db, c->version, &err) < 0)
			snprintf(why, size, "%s", err.text);
		else if (postgres_promise_call_in(c) < 0)
			postgres_conn_why(c->h, why, size);
	}
	if (why[0] != '\0' || is_deposed(c) || PQenterPipelineMode(c->h) != 1 ||
	    PQsetnonblocking(c->h, 1) != 0) {
		if (why[0] == '\0')
			snprintf(why, size, "the host was the primary before another one");
		postgres_conn_drop(c);
		postgres_suspect(c->db->engine);
		return -1;
	}
	c->since_ms = clock_boot_ms();
	if (!postgres_await_grace(c->db->engine, postgres_stop_of(c))) {
		snprintf(why, size, "the host is not used before nobody believes in another one");
		postgres_conn_drop(c);
		return -1;
	}
	return 0;
}

static void pause_ms(int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

int postgres_conn_ready(struct pg_conn *c, int64_t until_ms, struct err *reterr)
{
	const struct log_ctx ctx = { .database = c->db->base.name };
	char why[400];
	bool first = true;

	/* an answer that is left over would be taken for another call's */
	assert(c->expected_at == c->nexpected || c->h == NULL || c->given_up ||
	       PQstatus(c->h) != CONNECTION_OK);
	if (c->h != NULL && PQstatus(c->h) == CONNECTION_OK && !c->given_up && !is_deposed(c))
		return 0;
	c->version = 0;
	postgres_conn_drop(c);
	while (connect_session(c, why, sizeof(why)) < 0) {
		if (postgres_schema_check(c->db, c->version, reterr) < 0)
			return -1; /* waiting does not help */
		if (postgres_is_called_off(c))
			return err_set(reterr, ERR_CANCELLED);
		if (first)
			LOG(LOG_WARN, &ctx, "postgres_unreachable", F_STR("reason", why));
		first = false;
		if (atomic_load(&c->db->stopping))
			return err_set(reterr, ERR_SHUTDOWN);
		if (clock_mono_ms() >= until_ms)
			return err_set(reterr, ERR_UNREACHABLE, c->db->base.name,
				       c->db->engine->failover_ms / 1000, why);
		pause_ms(PAUSE_MS);
	}
	if (!first)
		LOG(LOG_INFO, &ctx, "postgres_reached", F_STR("host", PQhost(c->h)),
		    F_STR("port", PQport(c->h)), F_INT("timeline", c->timeline));
	return 0;
}

void postgres_clock_seen(struct pg_database *db, int64_t ticks)
{
	long long latest = atomic_load(&db->clock);

	while (ticks > latest && !atomic_compare_exchange_weak(&db->clock, &latest, ticks))
		;
}
