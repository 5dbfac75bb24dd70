/* metadata.h — what the language's functions tell about the server, its databases, its objects
 * and who asks: DB_NAME, OBJECT_ID, SERVERPROPERTY, HAS_PERMS_BY_NAME …, and the rows of those
 * catalogue views that no table holds. Knows no session: who asks is a struct of facts. */
#ifndef METADATA_METADATA_H
#define METADATA_METADATA_H

#include "auth/auth.h"
#include "databases/databases.h"
#include "tsql/tsql.h"

struct metrics; /* metrics/metrics.h */

/* A session as sys.dm_exec_sessions shows it. Texts live as long as the arena they were asked
 * into; times are datetime ticks. */
struct metadata_session {
	uint16_t spid, blocker; /* blocker: whose transaction it waits for, or 0 */
	const char *login, *host, *program, *database, *address, *scheme;
	const char *status, *command;
	int64_t login_time, last_request;
	uint64_t requests; /* that it has made */
	uint32_t process;  /* of the client, as it says */
	bool encrypted;
};

struct metadata_client;
struct metadata_client_ops {
	/* How deep the running text is nested: @@NESTLEVEL. */
	int (*nest_level)(const struct metadata_client *c);
	/* Since the server started: @@CONNECTIONS. */
	int64_t (*connections)(const struct metadata_client *c);
	/* The sessions that this one may see, in the arena. Thread-safe. */
	int (*sessions)(const struct metadata_client *c, struct arena *a, struct metadata_session **ret,
			size_t *ret_n, struct err *reterr);
};

/* Who asks. Made for the question; nothing in it is kept. */
struct metadata_client {
	const struct metadata_client_ops *ops;
	struct databases *databases;
	struct auth *auth;
	struct metrics *metrics; /* the numbers of the server */
	const char *server_name;
	unsigned max_connections;
	int64_t started;           /* the server: datetime ticks */
	struct database *database; /* the current one */
	const char *login, *host, *program, *address, *scheme;
	bool admin;
	uint16_t spid;
	const struct tsql_session *vars;
};

/* The value of a function or @@ variable by its upper-case name. 1: found, 0: nothing of that
 * name is known here, -1: error. */
MUST_CHECK int metadata_value(const struct metadata_client *client, const char *name,
			      const struct value *args, size_t nargs, struct arena *a, struct value *ret,
			      struct err *reterr);
/* The rows that a view is declared OVER (procedures/system/tool_views.sql), as a JSON array of
 * objects in the arena. */
MUST_CHECK int metadata_rows(const struct metadata_client *client, const char *name, struct arena *a,
			     struct str *ret, struct err *reterr);
/* Who asks may see the numbers of the server, and all sessions. */
bool metadata_may_monitor(const struct metadata_client *client);
/* Rights (enum call_right) of who asks in a database. */
uint8_t metadata_rights_in(const struct metadata_client *client, const struct database *db);

#endif
