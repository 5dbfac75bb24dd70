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
	int failover_timeout_s; /* for so long a call, and a start, waits for a database that is gone */
	bool (*gives_up)(void); /* whether a start is not wanted any more; NULL: it always is */
	const char *name;       /* of this server, for people. Copied */
	struct engine_limits limits;
	const struct catalogue_natives *natives; /* borrowed; NULL: none */
	struct metrics *metrics;                 /* borrowed; NULL: nothing is counted */
};

/* NULL: reterr says why. It connects when the first database is opened. */
struct engine *engine_postgres_new(const struct engine_postgres_options *o, struct err *reterr);
/* The start is over: another server may begin its own. Until then only one starts at a time.
 * serves: its databases are used from now on, and the others see that at once. */
void engine_postgres_started(struct engine *e, bool serves);

/* ---- the other servers of the installation ---- */

/* What this server tells of itself. */
struct engine_postgres_facts {
	char address[128];   /* where clients find it */
	const char *version; /* constant */
	int64_t started_s;   /* since 1970 */
	unsigned sessions;
	char *who; /* its sessions as JSON, see engine_postgres_sessions(); from malloc; NULL: unknown */
};
/* Called from a thread of the engine's own, none of which submits a call that is waited for. */
struct engine_postgres_watch {
	/* another server has changed the system database: logins, rights, databases. At most
	 * twice a second */
	void (*changed)(void *arg);
	/* it is this server's turn to clean up, or somebody left something to be cleaned */
	void (*clean)(void *arg);
	/* what this server has to say to the others; gives the number of bytes */
	size_t (*take_events)(void *arg, uint8_t *dst, size_t size);
	/* and what another one has said */
	void (*give_events)(void *arg, const uint8_t *bytes, size_t n);
	void (*describe)(void *arg, struct engine_postgres_facts *ret);
	void *arg; /* not NULL */
};
/* NULL: nobody is told any more, from its return on. */
void engine_postgres_watch(struct engine *e, const struct engine_postgres_watch *w);
/* 32 bytes that all servers of the installation have. After the system database is open. */
const uint8_t *engine_postgres_key(struct engine *e);
/* Whether it is this server that cleans up for all. Thread-safe, as all below. */
bool engine_postgres_cleans(struct engine *e);
/* Something was left behind: the server that cleans up hears of it within a second. */
void engine_postgres_kick(struct engine *e);

/* Rows as texts; what row() gives but 0 ends it, and is returned. Both ask PostgreSQL, and give up
 * after a few seconds. */
#define ENGINE_POSTGRES_FIELDS 9
typedef int engine_postgres_row(void *arg, const char *const *fields, struct err *reterr);
/* name, address, version, started (seconds since 1970), sessions, cleans (0, 1), seconds since it
 * was heard of, whether it is this one (0, 1) */
MUST_CHECK int engine_postgres_servers(struct engine *e, engine_postgres_row *row, void *arg,
				       struct err *reterr);
/* Of the others that are alive: server, address, spid, status, login, host, blocker, database,
 * command */
MUST_CHECK int engine_postgres_sessions(struct engine *e, engine_postgres_row *row, void *arg,
					struct err *reterr);

#endif
