/* cluster.h — this server as one of several that share their databases (engine = postgres): what it
 * tells the others, and what it does when it hears of them. */
#ifndef DAEMON_CLUSTER_H
#define DAEMON_CLUSTER_H

#include "session/server.h"

struct cluster;

/* Before the first session: numbers of sessions that the other servers are not likely to use, and
 * whom KILL asks. */
void daemon_cluster_prepare(struct server *srv);
/* After the listeners are open. *ret is NULL where the databases are this server's alone. */
MUST_CHECK int daemon_cluster_start(struct server *srv, struct cluster **ret, struct err *reterr);
void daemon_cluster_stop(struct cluster *c); /* NULL is welcome */

/* The servers of the installation, with this one, and the sessions of the others: fields as
 * engine/postgres/postgres.h has them. Where the databases are this server's alone: itself, and
 * none. */
typedef int daemon_cluster_row(void *arg, const char *const *fields, struct err *reterr);
MUST_CHECK int daemon_cluster_servers(struct server *srv, daemon_cluster_row *row, void *arg,
				      struct err *reterr);
MUST_CHECK int daemon_cluster_sessions(struct server *srv, daemon_cluster_row *row, void *arg,
				       struct err *reterr);

#endif
