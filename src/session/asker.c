/* asker.c — see asker.h. */
#include "session/asker.h"

#include "session/list.h"
#include "session/request_int.h"

static const struct asker *asker_of(const struct metadata_client *c)
{
	return CONTAINER_OF(c, const struct asker, client);
}

/* A text in EXEC is one deeper than its caller, one in sp_executesql two: the procedure counts. */
static int nest_level(const struct metadata_client *c)
{
	const struct request *r = asker_of(c)->request;
	int level = 0;

	for (const struct frame *f = r == NULL ? NULL : r->top; f != NULL && f->inv != NULL; f = f->up)
		level += f->inv->special == SPECIAL_EXECUTESQL ? 2 : 1;
	return level;
}

static int64_t connections(const struct metadata_client *c)
{
	return (int64_t)session_registry_added(&asker_of(c)->server->registry);
}

static int sessions(const struct metadata_client *c, struct arena *a, struct metadata_session **ret,
		    size_t *ret_n, struct err *reterr)
{
	return session_list(asker_of(c)->server, metadata_may_monitor(c) ? 0 : c->spid, a, ret, ret_n,
			    reterr);
}

struct asker session_asker(struct server *srv, const struct request *request,
			   const struct metadata_client *client)
{
	static const struct metadata_client_ops ops = { nest_level, connections, sessions };
	struct asker a = { .client = *client, .server = srv, .request = request };

	a.client.ops = &ops;
	a.client.databases = srv->databases;
	a.client.auth = srv->auth;
	a.client.metrics = srv->metrics;
	a.client.server_name = srv->name;
	a.client.max_connections = (unsigned)srv->config->max_connections;
	a.client.started = srv->registry.started;
	return a;
}
