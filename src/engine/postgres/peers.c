/* peers.c — the servers of this installation and the sessions that they have, for people who look.
 * Whoever looks asks PostgreSQL itself, on a connection that is kept for the next one. */
#include <string.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define AGAIN_MS 2000 /* after a failure nobody waits for a while */

/* Under ask_lock. */
static PGresult *ask(struct pg_engine *e, const char *sql, struct err *reterr)
{
	const char *const values[] = { e->server };
	PGresult *r = NULL;

	if (clock_mono_ms() >= e->ask_after_ms) {
		if (e->asker == NULL)
			e->asker = postgres_conn_plain(e, &e->primary.stopping, reterr);
		if (e->asker != NULL)
			r = postgres_ask(e, e->asker, sql, 1, values, NULL, NULL);
	}
	if (r != NULL)
		return r;
	PQfinish(e->asker);
	e->asker = NULL;
	e->ask_after_ms = clock_mono_ms() + AGAIN_MS;
	(void)err_raise(reterr, 50021, 16, 1, "PostgreSQL does not tell of the other servers now.");
	return NULL;
}

static int give_rows(struct pg_engine *e, const char *sql, engine_postgres_row *row, void *arg,
		     struct err *reterr)
{
	const char *fields[ENGINE_POSTGRES_FIELDS];
	PGresult *r;
	int rc = 0;

	lock_take(&e->ask_lock);
	r = ask(e, sql, reterr);
	lock_give(&e->ask_lock);
	if (r == NULL)
		return -1;
	assert(PQnfields(r) <= ENGINE_POSTGRES_FIELDS);
	for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
		for (int k = 0; k < PQnfields(r); k++)
			fields[k] = PQgetvalue(r, i, k);
		rc = row(arg, fields, reterr);
	}
	PQclear(r);
	return rc;
}

int engine_postgres_servers(struct engine *base, engine_postgres_row *row, void *arg, struct err *reterr)
{
	return give_rows(CONTAINER_OF(base, struct pg_engine, base),
			 "SELECT name, address, version, floor(extract(epoch FROM started))::int8, sessions, "
			 "cleans::int, floor(greatest(extract(epoch FROM now() - beat), 0))::int8, (id = "
			 "$1)::int FROM procession.server WHERE version <> '' ORDER BY name, address, id",
			 row, arg, reterr);
}

int engine_postgres_sessions(struct engine *base, engine_postgres_row *row, void *arg, struct err *reterr)
{
	return give_rows(
		CONTAINER_OF(base, struct pg_engine, base),
		"SELECT s.name, s.address, w.spid, w.status, w.login, w.host, w.blocker, w.database, "
		"w.command FROM procession.server s, jsonb_to_recordset(s.who) AS w(spid int8, "
		"status text, login text, host text, blocker int8, database text, command text) "
		"WHERE s.id <> $1 AND s.beat > now() - interval '10 s' ORDER BY s.name, s.address, "
		"w.spid",
		row, arg, reterr);
}

bool engine_postgres_cleans(struct engine *base)
{
	return atomic_load(&CONTAINER_OF(base, struct pg_engine, base)->cleans);
}

void engine_postgres_kick(struct engine *base)
{
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);

	atomic_fetch_add(&e->kicks, 1);
	atomic_store(&e->kicked, true);
}

const uint8_t *engine_postgres_key(struct engine *base)
{
	return CONTAINER_OF(base, struct pg_engine, base)->key;
}
