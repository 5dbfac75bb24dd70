/* plain.c — bare sessions for what servers do with schemas: at the start, and when a database is
 * made, dropped or looked at. A primary that is gone is waited for, as calls wait for it. */
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

static bool gives_up(const struct pg_engine *e)
{
	return atomic_load(&e->primary.stopping) || (e->gives_up != NULL && e->gives_up());
}

int postgres_plain_open(struct pg_engine *e, struct pg_plain *ret, struct err *reterr)
{
	const struct timespec pause = { 0, 200000000 };
	int64_t until_ms = clock_mono_ms() + e->failover_ms;
	bool told = false;
	PGconn *h;

	while ((h = postgres_conn_plain(e, &e->primary.stopping, reterr)) == NULL &&
	       clock_mono_ms() < until_ms && !gives_up(e)) {
		if (!told)
			LOG(LOG_WARN, NULL, "postgres_awaited", F_INT("seconds", e->failover_ms / 1000),
			    F_STR("reason", reterr->text));
		told = true;
		nanosleep(&pause, NULL);
	}
	*ret = (struct pg_plain){ e, h };
	return h == NULL ? -1 : 0;
}

void postgres_plain_close(struct pg_plain *h)
{
	PQfinish(h->session);
	h->session = NULL;
}

static void on_notice(void *arg, const PGresult *r)
{
	if (postgres_is_unconfirmed(r))
		*(bool *)arg = true;
}

bool postgres_plain_keep(struct pg_engine *e, PGconn **h, const char *settings)
{
	struct err err;
	PGresult *r;

	if (*h != NULL)
		return true;
	*h = postgres_conn_plain(e, &e->stopping, &err);
	if (*h == NULL)
		return false;
	r = postgres_exec(e, *h, settings, &e->stopping);
	if (PQresultStatus(r) != PGRES_COMMAND_OK) {
		PQfinish(*h);
		*h = NULL;
	}
	PQclear(r);
	return *h != NULL;
}

int postgres_plain_script(const struct pg_plain *h, const char *sql, struct err *reterr)
{
	bool unconfirmed = false;
	PQnoticeReceiver before = PQsetNoticeReceiver(h->session, on_notice, &unconfirmed);
	PGresult *r = postgres_exec_long(h->engine, h->session, sql);
	ExecStatusType s = PQresultStatus(r);
	int rc = 0;

	(void)PQsetNoticeReceiver(h->session, before, NULL);
	if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK && s != PGRES_EMPTY_QUERY) {
		const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
		const char *context = PQresultErrorField(r, PG_DIAG_CONTEXT);

		text = text == NULL ? "the connection is lost" : text;
		LOG(LOG_ERROR, NULL, "postgres_script",
		    F_STR("error", r == NULL ? text : PQresultErrorMessage(r)));
		rc = err_raise(reterr, 50021, 16, 1,
			       "PostgreSQL refuses the tables or functions: %s%s%.300s.", text,
			       context == NULL ? "" : "; ", context == NULL ? "" : context);
	} else if (unconfirmed) {
		rc = postgres_unconfirmed(reterr);
	}
	PQclear(r);
	return rc;
}
