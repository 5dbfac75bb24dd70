/* fuzz_conninfo.c — the setting postgres, as an operator may have written it: its hosts are found,
 * and a connection to each can be begun, or is refused by libpq. Nothing is connected: what is
 * begun is ended at once, and goes to loopback at most. */
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"
#include "fuzz.h"

/* Names of hosts would be looked up, folders and files opened. */
static bool is_harmless(const PQconninfoOption *all)
{
	for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
		if (o->val != NULL &&
		    (strncmp(o->keyword, "ssl", 3) == 0 || strcmp(o->keyword, "service") == 0 ||
		     strcmp(o->keyword, "passfile") == 0 || strcmp(o->keyword, "host") == 0))
			return false;
	}
	return true;
}

static void look_at_hosts(const struct pg_engine *e)
{
	HOLDS(e->nhosts >= 1 && e->nhosts <= PG_HOSTS_MAX && e->connect_ms >= 1000);
	for (int i = 0; i < e->nhosts; i++) {
		const struct pg_host *h = &e->hosts[i];

		/* an empty place of a list is none, and no item has a comma */
		HOLDS(h->host == NULL || (h->host[0] != '\0' && strchr(h->host, ',') == NULL));
		HOLDS(h->hostaddr == NULL || (h->hostaddr[0] != '\0' && strchr(h->hostaddr, ',') == NULL));
		HOLDS(h->port == NULL || (h->port[0] != '\0' && strchr(h->port, ',') == NULL));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pg_engine e = { .hosts = NULL };
	PQconninfoOption *all;
	struct err err;

	if (size > 2048)
		return 0;
	e.conninfo = calloc(1, size + 1);
	HOLDS(e.conninfo != NULL);
	memcpy(e.conninfo, data, size);
	if (postgres_hosts_init(&e, &err) < 0) { /* too many */
		HOLDS(e.nhosts > PG_HOSTS_MAX && err.number == 50021);
		postgres_hosts_fini(&e);
		free(e.conninfo);
		return 0;
	}
	look_at_hosts(&e);
	all = PQconninfoParse(e.conninfo, NULL);
	if (all != NULL && is_harmless(all) && e.hosts[0].hostaddr != NULL &&
	    strcmp(e.hosts[0].hostaddr, "127.0.0.1") == 0)
		PQfinish(postgres_host_begin(&e, 0, "procession fuzz"));
	PQconninfoFree(all);
	postgres_hosts_fini(&e);
	free(e.conninfo);
	return 0;
}
