/* asker.h — who asks src/metadata, for sessions and for batches that the server runs for a login
 * (src/local): all of them are told the same of the server. Lives as long as the question. */
#ifndef SESSION_ASKER_H
#define SESSION_ASKER_H

#include "metadata/metadata.h"
#include "session/server.h"

struct request;

struct asker {
	struct metadata_client client;
	struct server *server;
	const struct request *request; /* what runs, for its depth; NULL: no session's */
};

/* client: who it is and where (database, login, host, program, address, scheme, admin, spid, vars);
 * what belongs to the server is filled in. */
struct asker session_asker(struct server *srv, const struct request *request,
			   const struct metadata_client *client);

#endif
