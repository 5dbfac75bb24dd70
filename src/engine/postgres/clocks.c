/* clocks.c — the readings of the clock that each server has given its calls are told to the others,
 * with the sign of life (share.c). Where the clock of PostgreSQL is put back while it runs, no
 * server goes on from the earlier time: each has heard of the latest, at most a second and a half
 * after it was given. (What was written carries its time besides: the mark, which every session
 * reads when it is made.) */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/postgres/postgres_int.h"

#define CLOCKS_MAX ((size_t)1 << 20)

/* A JSON object: the latest reading by the identity of the database. */
void postgres_clocks_write(struct pg_engine *e, struct buf *ret)
{
	const char *separator = "";

	buf_init(ret, CLOCKS_MAX);
	buf_put(ret, "{", 1);
	lock_take(&e->lock);
	LIST_EACH (it, &e->databases) {
		struct pg_database *db = CONTAINER_OF(it, struct pg_database, link);

		buf_printf(ret, "%s\"%s\":%lld", separator, db->identity, atomic_load(&db->clock));
		separator = ",";
	}
	lock_give(&e->lock);
	buf_put(ret, "}", 2); /* and the NUL */
}

static void seen(struct pg_engine *e, const char *identity, int64_t ticks)
{
	lock_take(&e->lock);
	LIST_EACH (it, &e->databases) {
		struct pg_database *db = CONTAINER_OF(it, struct pg_database, link);

		if (strcmp(db->identity, identity) == 0)
			postgres_clock_seen(db, ticks);
	}
	lock_give(&e->lock);
}

bool postgres_clocks_hear(struct pg_engine *e, PGconn *h)
{
	const char *const values[] = { e->server };
	PGresult *r = postgres_ask(e, h,
				   "SELECT key, max(value::int8) FROM server, jsonb_each_text(clocks) "
				   "WHERE id <> $1 GROUP BY key",
				   1, values, NULL, NULL);

	if (r == NULL)
		return false;
	for (int i = 0; i < PQntuples(r); i++)
		seen(e, PQgetvalue(r, i, 0), strtoll(PQgetvalue(r, i, 1), NULL, 10));
	PQclear(r);
	return true;
}
