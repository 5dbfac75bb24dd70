/* postgres.h — the engine on PostgreSQL: any number of servers in front of one database cluster.
 * Chosen by the daemon (setting engine = postgres). Everything lives there: logins, rights, the
 * list of databases, their rows. */
#ifndef ENGINE_POSTGRES_POSTGRES_H
#define ENGINE_POSTGRES_POSTGRES_H

#include "catalogue/native.h"
#include "engine/engine.h"

struct engine_postgres_options {
	const char *conninfo;   /* as libpq takes it; several hosts are welcome. Copied */
	unsigned connections;   /* for each database, for what writes */
	unsigned readers;       /* for each database, for what only reads */
	int failover_timeout_s; /* for so long a call waits for a database that is gone */
	const char *name;       /* of this server, for people. Copied */
	struct engine_limits limits;
	const struct catalogue_natives *natives; /* borrowed; NULL: none */
	struct metrics *metrics;                 /* borrowed; NULL: nothing is counted */
};

/* NULL: no memory. It connects when the first database is opened. */
struct engine *engine_postgres_new(const struct engine_postgres_options *o);
/* The start is over: another server may begin its own. Until then only one starts at a time. */
void engine_postgres_started(struct engine *e);
/* Told, from a thread of the engine's own, when another server has changed the system database:
 * logins, rights, databases. At most twice a second; once, before the first call. */
void engine_postgres_watch(struct engine *e, void (*changed)(void *arg), void *arg);

#endif
