/* share.c — what the servers of one installation tell each other, a few times a second: that they
 * are there, what they have changed, who failed to log in, that something is left to clean up; and
 * which of them cleans up. All of it is written without a flush into tables that PostgreSQL empties
 * after a crash: whatever is lost there is told again, or was worth nothing any more.
 *
 * It has a thread and a connection of its own, and waits for nobody for long: a PostgreSQL that is
 * frozen holds nobody else up, and is left for another one. */
#define _GNU_SOURCE /* names of threads */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define LOOK_EVERY_MS 400
#define TELL_EVERY_MS 1000 /* that one is there, if there is nothing else to tell */
#define FREE_EVERY_MS 1000
#define SILENT_S "10" /* a server that was not heard of for so long does nothing */
#define SILENT_MS 10000
#define SEEN_MAX 64 /* servers whose events are told from each other */
#define EVENTS_MAX ((size_t)64 * 1024)
#define SQL_MAX 1600
/* Whether a session (a) is one of a server's (o). */
#define IS_OF "a.application_name ~ ('^procession ' || o.id || '(/|$)')"

struct share {
	struct pg_engine *e;
	PGconn *h;          /* owned; NULL: not connected */
	int64_t told_ms;    /* when this server was seen last by others */
	long long changes;  /* of others, counted; -1: not yet */
	long long kicks;    /* of all, counted */
	int64_t joined_ms;  /* when this session was made; monotonic */
	int64_t freed_ms;   /* when sessions of silent servers were looked for */
	long long seq;      /* of our last events */
	char *who;          /* owned: our sessions as they were told last */
	struct share_seen { /* how far the events of others have been taken */
		char server[33];
		long long seq;
	} seen[SEEN_MAX];
	size_t nseen, oldest;
	uint8_t events[EVENTS_MAX];
};

/* ---- those who are told ---- */

/* While it runs, nobody takes it away. False: there is nobody. */
static bool begin_telling(struct pg_engine *e, struct engine_postgres_watch *ret)
{
	lock_take(&e->lock);
	*ret = e->watch;
	e->telling = ret->arg != NULL;
	lock_give(&e->lock);
	return ret->arg != NULL;
}

static void end_telling(struct pg_engine *e)
{
	lock_take(&e->lock);
	e->telling = false;
	pthread_cond_broadcast(&e->told);
	lock_give(&e->lock);
}

/* ---- the connection ---- */

static void leave(struct share *s)
{
	PQfinish(s->h);
	s->h = NULL;
	free(s->who);
	s->who = NULL; /* the next primary has never seen it */
	s->told_ms = 0;
	atomic_store(&s->e->alone, false);
	if (atomic_exchange(&s->e->cleans, false))
		LOG(LOG_INFO, NULL, "cleans_no_more", F_STR("why", "the connection to PostgreSQL is lost"));
}

/* When this server is gone, or frozen, PostgreSQL ends the session soon, and its lock is free. */
static bool join(struct share *s)
{
	if (s->h != NULL)
		return true;
	assert(s->who == NULL); /* see leave() */
	(void)postgres_plain_keep(
		s->e, &s->h,
		"SET synchronous_commit = off; SET idle_session_timeout = '10s'; SET statement_timeout = "
		"'4s'; SET lock_timeout = '2s'; SET search_path = procession, pg_catalog");
	s->joined_ms = s->freed_ms = clock_mono_ms();
	return s->h != NULL;
}

/* ---- telling the others ---- */

static bool send_beat(struct share *s, const struct engine_postgres_facts *f, const char *who, size_t nevents,
		      const char *clocks)
{
	static const char sql[] =
		"WITH me AS (INSERT INTO server AS s (id, name, address, version, started, beat, sessions, "
		"kicks, cleans, who, clocks) VALUES ($1, $2, $3, $4, to_timestamp($5::float8), now(), "
		"$6::int8, $7::int8, $8 = '1', coalesce($9::jsonb, '[]'), $12::jsonb) ON CONFLICT (id) DO "
		"UPDATE SET address = $3, "
		"version = $4, started = to_timestamp($5::float8), beat = now(), sessions = $6::int8, kicks "
		"= $7::int8, cleans = $8 = '1', clocks = $12::jsonb, who = coalesce($9::jsonb, s.who)), "
		/* who has the lock knows that one that was killed has it no more */
		"gone AS (UPDATE server SET cleans = false WHERE $8 = '1' AND id <> $1 AND cleans), "
		"told AS (INSERT INTO event (server, seq, at, events) SELECT "
		"$1, "
		"$10::int8, now(), $11::bytea WHERE length($11::bytea) > 0 ON CONFLICT DO NOTHING) "
		"SELECT 1";
	const struct pg_engine *e = s->e;
	char started[32], sessions[16], kicks[32], seq[32];
	const char *const values[] = { e->server,
				       e->name,
				       f->address,
				       f->version,
				       started,
				       sessions,
				       kicks,
				       atomic_load(&e->cleans) ? "1" : "0",
				       who,
				       seq,
				       (const char *)s->events,
				       clocks };
	const int lengths[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (int)nevents, 0 },
		  formats[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0 };
	PGresult *r;

	snprintf(started, sizeof(started), "%lld", (long long)f->started_s);
	snprintf(sessions, sizeof(sessions), "%u", f->sessions);
	snprintf(kicks, sizeof(kicks), "%llu", (unsigned long long)atomic_load(&e->kicks));
	snprintf(seq, sizeof(seq), "%lld", s->seq);
	r = postgres_ask(s->e, s->h, sql, ARRAY_LEN(values), values, lengths, formats);
	PQclear(r);
	return r != NULL;
}

/* What has been seen by everybody who is there, and those who are not there any more. Who is silent
 * and has sessions still may have a gate: see free_gates(). */
static bool forget_old(struct share *s)
{
	static const char sql[] =
		"WITH old AS (DELETE FROM event WHERE at < now() - interval '15 s'), gone AS (DELETE FROM "
		"server AS o WHERE beat < now() - interval '1 h' AND NOT EXISTS (SELECT 1 FROM "
		"pg_stat_activity AS a WHERE " IS_OF ")) SELECT 1";
	PGresult *r = postgres_ask(s->e, s->h, sql, 0, NULL, NULL, NULL);

	PQclear(r);
	return r != NULL;
}

static bool tell(struct share *s, int64_t now_ms)
{
	struct engine_postgres_facts f = { .address = "" };
	struct engine_postgres_watch w;
	struct buf clocks;
	size_t nevents;
	bool due = s->told_ms == 0 || now_ms - s->told_ms >= TELL_EVERY_MS, fresh, ok;

	if (!begin_telling(s->e, &w))
		return true;
	nevents = w.take_events(w.arg, s->events, sizeof(s->events));
	if (due || nevents > 0 || atomic_load(&s->e->kicked))
		w.describe(w.arg, &f);
	end_telling(s->e);
	if (f.version == NULL)
		return true;
	atomic_store(&s->e->kicked, false);
	s->seq++;
	fresh = f.who != NULL && (s->who == NULL || strcmp(s->who, f.who) != 0);
	postgres_clocks_write(s->e, &clocks);
	ok = send_beat(s, &f, fresh ? f.who : NULL, nevents, clocks.failed ? "{}" : (char *)clocks.data) &&
	     (!due || forget_old(s));
	buf_fini(&clocks);
	if (fresh) {
		free(s->who);
		s->who = f.who;
	} else {
		free(f.who);
	}
	s->told_ms = now_ms;
	return ok;
}

/* ---- hearing the others ---- */

static long long *seen_of(struct share *s, const char *server)
{
	struct share_seen *one;

	for (size_t i = 0; i < s->nseen; i++) {
		if (strcmp(s->seen[i].server, server) == 0)
			return &s->seen[i].seq;
	}
	one = s->nseen < SEEN_MAX ? &s->seen[s->nseen++] : &s->seen[s->oldest++ % SEEN_MAX];
	str_copy(one->server, sizeof(one->server), str_of(server));
	one->seq = 0;
	return &one->seq;
}

static void list_seen(const struct share *s, char *servers, char *seqs)
{
	size_t n = 0, m = 0;

	for (size_t i = 0; i < s->nseen; i++) {
		n += (size_t)snprintf(servers + n, SEEN_MAX * 34 + 3 - n, "%c%s", i == 0 ? '{' : ',',
				      s->seen[i].server);
		m += (size_t)snprintf(seqs + m, SEEN_MAX * 22 + 3 - m, "%c%lld", i == 0 ? '{' : ',',
				      s->seen[i].seq);
	}
	snprintf(servers + n, 3, "%s", s->nseen == 0 ? "{}" : "}");
	snprintf(seqs + m, 3, "%s", s->nseen == 0 ? "{}" : "}");
}

static void take_event(struct share *s, const PGresult *r, int row)
{
	long long *seen = seen_of(s, PQgetvalue(r, row, 0));
	struct engine_postgres_watch w;
	size_t n = 0;
	unsigned char *bytes = PQunescapeBytea((const unsigned char *)PQgetvalue(r, row, 2), &n);

	*seen = strtoll(PQgetvalue(r, row, 1), NULL, 10);
	if (bytes != NULL && begin_telling(s->e, &w)) {
		w.give_events(w.arg, bytes, n);
		end_telling(s->e);
	}
	PQfreemem(bytes);
}

static bool hear_events(struct share *s)
{
	static const char sql[] =
		"SELECT server, seq, events FROM event AS o WHERE server <> $1 AND NOT EXISTS (SELECT 1 FROM "
		"unnest($2::text[], $3::int8[]) AS seen(server, seq) WHERE seen.server = o.server AND "
		"seen.seq >= o.seq) ORDER BY server, seq";
	char servers[SEEN_MAX * 34 + 3], seqs[SEEN_MAX * 22 + 3];
	const char *const values[] = { s->e->server, servers, seqs };
	PGresult *r;

	list_seen(s, servers, seqs);
	r = postgres_ask(s->e, s->h, sql, ARRAY_LEN(values), values, NULL, NULL);
	if (r == NULL)
		return false;
	for (int i = 0; i < PQntuples(r); i++)
		take_event(s, r, i);
	PQclear(r);
	return true;
}

/* A host that was the primary before another one tells nothing that is true. */
static bool is_current(struct share *s, int timeline)
{
	postgres_adopt(s->e, -1, timeline);
	return timeline >= atomic_load(&s->e->timeline);
}

static void call_changed(struct share *s)
{
	struct engine_postgres_watch w;

	if (begin_telling(s->e, &w)) {
		w.changed(w.arg);
		end_telling(s->e);
	}
}

static void call_clean(struct share *s)
{
	struct engine_postgres_watch w;

	if (begin_telling(s->e, &w)) {
		w.clean(w.arg);
		end_telling(s->e);
	}
}

/* The marks of other servers in the system database grow with everything that they change there. */
static bool hear_changes(struct share *s, const char *schema)
{
	char sql[SQL_MAX];
	const char *const values[] = { s->e->server };
	long long changes, kicks;
	PGresult *r;
	bool current;

	snprintf(sql, sizeof(sql),
		 "SELECT (SELECT coalesce(sum(seq), 0)::int8 FROM \"%s\".mark WHERE slot NOT LIKE $1 || "
		 "'/%%'), (SELECT coalesce(sum(kicks), 0)::int8 FROM server), ('x' || "
		 "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int, (SELECT "
		 "count(*) FROM server WHERE id <> $1 AND beat > now() - interval '" SILENT_S " s')",
		 schema);
	r = postgres_ask(s->e, s->h, sql, 1, values, NULL, NULL);
	if (r == NULL)
		return false;
	changes = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
	kicks = strtoll(PQgetvalue(r, 0, 1), NULL, 10);
	current = is_current(s, (int)strtol(PQgetvalue(r, 0, 2), NULL, 10));
	atomic_store(&s->e->alone, current && PQgetvalue(r, 0, 3)[0] == '0');
	PQclear(r);
	if (current && changes != s->changes)
		call_changed(s);
	if (current && kicks != s->kicks && atomic_load(&s->e->cleans))
		call_clean(s);
	s->changes = changes;
	s->kicks = kicks;
	return current;
}

/* Who has the lock cleans up for all; it is free as soon as the session of its holder is gone. */
static bool take_turn(struct share *s)
{
	PGresult *r;
	char sql[80];
	bool mine;

	if (atomic_load(&s->e->cleans))
		return true;
	snprintf(sql, sizeof(sql), "SELECT pg_try_advisory_lock(%d, 0)", PG_ADVISORY_CLEAN);
	r = postgres_ask(s->e, s->h, sql, 0, NULL, NULL, NULL);
	if (r == NULL)
		return false;
	mine = PQgetvalue(r, 0, 0)[0] == 't';
	PQclear(r);
	if (!mine)
		return true;
	atomic_store(&s->e->cleans, true);
	s->told_ms = 0; /* the others hear of it soon */
	LOG(LOG_INFO, NULL, "cleans", F_STR("why", "no other server of this installation does"));
	call_clean(s);
	return true;
}

/* A server that is frozen, while its machine is not, keeps what its sessions have locked: everybody
 * who writes would wait until it wakes. Whoever cleans up ends sessions that have a gate and wait
 * for a server that has been silent for as long as this one has watched: where PostgreSQL itself
 * stood still, all have been silent. When it wakes it finds them lost, as after any other loss:
 * what was not committed is run again, or its client told; a commit in doubt is looked up. */
static bool free_gates(struct share *s, int64_t now_ms)
{
	static const char sql[] =
		"SELECT a.pid, o.name, pg_terminate_backend(a.pid) FROM server AS o JOIN pg_stat_activity AS "
		"a ON " IS_OF " WHERE o.id <> $1 AND o.beat < "
		"now() - interval '" SILENT_S " s' AND a.datname = current_database() AND a.usename = "
		"current_user AND a.wait_event_type = 'Client' AND EXISTS (SELECT 1 FROM pg_locks AS l JOIN "
		"pg_class AS c ON c.oid = l.relation JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE "
		"l.pid = a.pid AND l.granted AND l.database = a.datid AND c.relname = 'gate' AND "
		"starts_with(n.nspname, 'procession_'))";
	const char *const values[] = { s->e->server };
	PGresult *r;

	if (!atomic_load(&s->e->cleans) || now_ms - s->joined_ms < SILENT_MS ||
	    now_ms - s->freed_ms < FREE_EVERY_MS)
		return true;
	s->freed_ms = now_ms;
	r = postgres_ask(s->e, s->h, sql, 1, values, NULL, NULL);
	for (int i = 0; i < PQntuples(r); i++)
		LOG(LOG_WARN, NULL, "gate_freed", F_STR("server", PQgetvalue(r, i, 1)),
		    F_STR("session", PQgetvalue(r, i, 0)));
	PQclear(r);
	return r != NULL;
}

/* ---- the thread ---- */

/* Under the engine's lock: the schema of the system database; "": it is not open. */
static void system_schema(struct pg_engine *e, char *dst)
{
	dst[0] = '\0';
	LIST_EACH (it, &e->databases) {
		const struct pg_database *db = CONTAINER_OF(it, const struct pg_database, link);

		if (db->base.service == SERVICE_SYSTEM)
			memcpy(dst, db->schema, PG_SCHEMA);
	}
}

static void look(struct share *s)
{
	char schema[PG_SCHEMA];
	bool wanted;

	lock_take(&s->e->lock);
	system_schema(s->e, schema);
	wanted = s->e->watch.arg != NULL && schema[0] != '\0';
	lock_give(&s->e->lock);
	if (wanted && join(s) &&
	    (!tell(s, clock_mono_ms()) || !hear_events(s) || !hear_changes(s, schema) ||
	     !postgres_clocks_hear(s->e, s->h) || !take_turn(s) || !free_gates(s, clock_mono_ms())))
		leave(s);
}

/* Nobody need wait for a silence to know that this server is gone. */
static void say_goodbye(struct share *s)
{
	const char *const values[] = { s->e->server };

	if (s->h != NULL)
		PQclear(postgres_ask(s->e, s->h, "DELETE FROM server WHERE id = $1", 1, values, NULL, NULL));
	leave(s);
}

static void *share_main(void *arg)
{
	struct share *s = arg;

	pthread_setname_np(pthread_self(), "share");
	while (postgres_pause(s->e, LOOK_EVERY_MS))
		look(s);
	say_goodbye(s);
	free(s);
	return NULL;
}

int postgres_share_start(struct pg_engine *e, struct err *reterr)
{
	struct share *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return err_nomem(reterr);
	s->e = e;
	s->changes = -1;
	if (thread_start(&e->share, share_main, s) < 0) {
		free(s);
		return err_nomem(reterr);
	}
	return 0;
}
