/* ask.c — questions to a bare session, waited for, but not for ever: PQexec() would wait for a
 * machine that is frozen, or cut off, as long as it is. A short question has a few seconds. One
 * that may take long (a table of millions is changed, another server is waited for) has as long as
 * another session sees that PostgreSQL works at it. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define EXEC_MS 10000   /* small questions, on a machine that has much to do */
#define ANSWER_MS 5000  /* those of share.c and peers.c, which can be asked later as well */
#define SILENCE_MS 3000 /* after that, PostgreSQL is asked whether a session lives */

/* ---- waiting ---- */

struct patience {
	int64_t until_ms;        /* 0: as long as the session lives */
	const atomic_bool *stop; /* that is the end of it, too; NULL: there is none */
	unsigned changes;        /* another primary is the end of it */
	int64_t ask_at_ms;       /* whether it lives */
	struct pg_doubt doubt;
};

static struct patience patience_for(const struct pg_engine *e, int ms)
{
	int64_t now = clock_mono_ms();

	return (struct patience){ .until_ms = ms == 0 ? 0 : now + ms,
				  .changes = atomic_load(&e->primary.changes),
				  .ask_at_ms = now + SILENCE_MS,
				  .doubt = { .alive_ms = now } };
}

static bool is_over(struct pg_engine *e, PGconn *h, struct patience *p)
{
	int64_t now = clock_mono_ms();

	if (atomic_load(&e->primary.changes) != p->changes || (p->stop != NULL && atomic_load(p->stop)))
		return true;
	if (p->until_ms != 0)
		return now >= p->until_ms;
	if (now < p->ask_at_ms)
		return false;
	postgres_suspect(e);
	if (!postgres_lives(e, NULL, h, &p->doubt, &e->primary.stopping))
		return true;
	p->ask_at_ms = clock_mono_ms() + SILENCE_MS;
	return false;
}

/* Until PQgetResult() waits for nobody. */
static bool await(struct pg_engine *e, PGconn *h, struct patience *p)
{
	while (PQisBusy(h)) {
		struct pollfd fd = { PQsocket(h), POLLIN, 0 };

		if (poll(&fd, 1, 50) > 0 ? PQconsumeInput(h) != 1 : is_over(e, h, p))
			return false;
	}
	return true;
}

/* The last result, as PQexec() gives it. */
static PGresult *take_last(struct pg_engine *e, PGconn *h, struct patience *p)
{
	PGresult *last = NULL, *r;

	for (;;) {
		if (!await(e, h, p)) {
			PQclear(last);
			return NULL;
		}
		r = PQgetResult(h);
		if (r == NULL)
			return last;
		if (last != NULL && PQresultStatus(last) == PGRES_FATAL_ERROR) {
			PQclear(r);
		} else {
			PQclear(last);
			last = r;
		}
	}
}

/* ---- asking ---- */

PGresult *postgres_exec(struct pg_engine *e, PGconn *h, const char *sql, const atomic_bool *stop)
{
	struct patience p = patience_for(e, EXEC_MS);

	p.stop = stop;
	return PQsendQuery(h, sql) == 1 ? take_last(e, h, &p) : NULL;
}

/* Whatever is asked of it next fails at once. */
static void give_up(PGconn *h)
{
	if (PQsocket(h) >= 0)
		(void)shutdown(PQsocket(h), SHUT_RDWR);
	(void)PQconsumeInput(h);
}

PGresult *postgres_exec_long(struct pg_engine *e, PGconn *h, const char *sql)
{
	return postgres_exec_until(e, h, sql, NULL);
}

PGresult *postgres_exec_until(struct pg_engine *e, PGconn *h, const char *sql, const atomic_bool *stop)
{
	struct patience p = patience_for(e, 0);
	PGresult *r;

	p.stop = stop;
	r = PQsendQuery(h, sql) == 1 ? take_last(e, h, &p) : NULL;
	if (r == NULL || postgres_is_gone(r))
		give_up(h);
	return r;
}

PGresult *postgres_ask(struct pg_engine *e, PGconn *h, const char *sql, int n, const char *const *values,
		       const int *lengths, const int *formats)
{
	struct patience p = patience_for(e, ANSWER_MS);
	PGresult *r = NULL;

	p.stop = &e->stopping;
	if (PQsendQueryParams(h, sql, n, NULL, values, lengths, formats, 0) == 1)
		r = take_last(e, h, &p);
	if (PQresultStatus(r) == PGRES_TUPLES_OK || PQresultStatus(r) == PGRES_COMMAND_OK)
		return r;
	PQclear(r);
	return NULL;
}

/* ---- whether somebody answers ---- */

enum life { GONE, BUSY, WAITS_FOR_US, UNKNOWN };

/* The condition for our session; "": no memory. A number of a process alone may be that of another
 * one, on another host. */
static void describe(PGconn *other, PGconn *h, char *dst, size_t size)
{
	const char *application = PQparameterStatus(h, "application_name");
	char *quoted;

	dst[0] = '\0';
	application = application == NULL ? "" : application;
	quoted = PQescapeLiteral(other, application, strlen(application));
	if (quoted != NULL)
		snprintf(dst, size, "pid = %d AND application_name = %s", PQbackendPID(h), quoted);
	PQfreemem(quoted);
}

/* Whether it is still one of the primary's, and has something to do. */
static enum life life_of(struct pg_engine *e, PGconn *other, PGconn *h, const atomic_bool *stop)
{
	char which[300], sql[400];
	enum life result = UNKNOWN;
	PGresult *r;

	describe(other, h, which, sizeof(which));
	if (which[0] == '\0')
		return UNKNOWN;
	snprintf(sql, sizeof(sql), "SELECT wait_event_type = 'Client' FROM pg_stat_activity WHERE %s", which);
	r = postgres_exec(e, other, sql, stop);
	if (PQresultStatus(r) == PGRES_TUPLES_OK)
		result = PQntuples(r) == 0 ? GONE : PQgetvalue(r, 0, 0)[0] == 't' ? WAITS_FOR_US : BUSY;
	PQclear(r);
	return result;
}

/* What a firewall has swallowed on the way: its session would keep what it has locked until its
 * end, which PostgreSQL learns late. */
static void end_session(struct pg_engine *e, PGconn *other, PGconn *h, const atomic_bool *stop)
{
	char which[300], sql[400];

	describe(other, h, which, sizeof(which));
	if (which[0] == '\0')
		return;
	snprintf(sql, sizeof(sql),
		 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE %s AND wait_event_type = "
		 "'Client'",
		 which);
	PQclear(postgres_exec(e, other, sql, stop));
}

/* Where no primary is found at all, it may live, for as long as calls wait for one. */
static bool judge(struct pg_engine *e, enum life life, struct pg_doubt *d, const atomic_bool *stop)
{
	int64_t now = clock_mono_ms();

	if (life == BUSY || life == WAITS_FOR_US)
		d->alive_ms = now;
	d->waits = life == WAITS_FOR_US;
	return life == BUSY || life == WAITS_FOR_US ||
	       (life == UNKNOWN && now - d->alive_ms < e->failover_ms && !atomic_load(stop));
}

bool postgres_lives(struct pg_engine *e, PGconn *other, PGconn *h, struct pg_doubt *d,
		    const atomic_bool *stop)
{
	struct err err;
	PGconn *own = other == NULL ? postgres_conn_plain(e, stop, &err) : NULL;
	PGconn *asked = other == NULL ? own : other;
	enum life life = asked == NULL ? UNKNOWN : life_of(e, asked, h, stop);
	bool lives;

	if (life == WAITS_FOR_US && d->waits) { /* twice, and nothing came between */
		end_session(e, asked, h, stop);
		life = GONE;
	}
	lives = judge(e, life, d, stop);
	PQfinish(own);
	return lives;
}
