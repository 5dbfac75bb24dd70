/* hosts.c — the hosts that the setting postgres names, and connecting to one of them without being
 * held up by a machine that takes the connection and never answers. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define CONNECT_S 3    /* unless CONNINFO has its own connect_timeout */
#define OPTIONS_MAX 90 /* twice what libpq knows */

/* ---- the list ---- */

static const char *option_of(const PQconninfoOption *all, const char *keyword)
{
	for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
		if (strcmp(o->keyword, keyword) == 0)
			return o->val == NULL || o->val[0] == '\0' ? NULL : o->val;
	}
	return NULL;
}

static int count_items(const char *list)
{
	int n = 1;

	if (list == NULL)
		return 0;
	for (const char *p = list; *p != '\0'; p++)
		n += *p == ',';
	return n;
}

/* The i-th of a list with commas, copied; a list of one item is meant for all. NULL: none. */
static char *item_of(const char *list, int i)
{
	size_t n;

	if (list == NULL)
		return NULL;
	for (int left = count_items(list) == 1 ? 0 : i; left > 0; left--) {
		list += strcspn(list, ",");
		if (*list == '\0')
			return NULL;
		list++;
	}
	n = strcspn(list, ",");
	return n == 0 ? NULL : strndup(list, n);
}

/* Where CONNINFO names no host (a service file does, or the environment), libpq finds it. */
int postgres_hosts_init(struct pg_engine *e, struct err *reterr)
{
	PQconninfoOption *all = PQconninfoParse(e->conninfo, NULL);
	const char *host = option_of(all, "host"), *hostaddr = option_of(all, "hostaddr");
	const char *port = option_of(all, "port"), *patience = option_of(all, "connect_timeout");
	int n = count_items(hostaddr != NULL ? hostaddr : host), rc = 0;
	long seconds = patience == NULL ? 0 : strtol(patience, NULL, 10);

	e->connect_ms = 1000 * (seconds <= 0 || seconds > 3600 ? CONNECT_S : (int)seconds);
	e->nhosts = n == 0 ? 1 : n;
	e->hosts = n > PG_HOSTS_MAX ? NULL : calloc((size_t)e->nhosts, sizeof(*e->hosts));
	if (n > PG_HOSTS_MAX)
		rc = err_raise(
			reterr, 50021, 16, 1,
			"PostgreSQL cannot be used (setting postgres): it names %d hosts, and at most %d "
			"are asked. Name those that may be the primary.",
			n, PG_HOSTS_MAX);
	else if (e->hosts == NULL)
		rc = err_nomem(reterr);
	for (int i = 0; rc == 0 && i < n; i++) {
		e->hosts[i] = (struct pg_host){ .host = item_of(host, i),
						.hostaddr = item_of(hostaddr, i),
						.port = item_of(port, i) };
	}
	PQconninfoFree(all);
	return rc;
}

void postgres_hosts_fini(struct pg_engine *e)
{
	for (int i = 0; e->hosts != NULL && i < e->nhosts; i++) {
		free(e->hosts[i].host);
		free(e->hosts[i].hostaddr);
		free(e->hosts[i].port);
	}
	free(e->hosts);
}

/* ---- connecting ---- */

struct options {
	const char *keys[OPTIONS_MAX + 1], *values[OPTIONS_MAX + 1]; /* what comes later wins */
	size_t n;
};

static void put(struct options *o, const char *key, const char *value)
{
	if (value == NULL || o->n == OPTIONS_MAX)
		return;
	o->keys[o->n] = key;
	o->values[o->n++] = value;
}

static bool is_of_hosts(const char *key)
{
	return strcmp(key, "host") == 0 || strcmp(key, "hostaddr") == 0 || strcmp(key, "port") == 0;
}

/* What the operator does not say: silent ends of connections are noticed, and only a primary is
 * taken. What stands in CONNINFO wins over that. Its lists of hosts and ports stay away where one
 * of them is meant: libpq would compare their lengths with those that it finds there. */
PGconn *postgres_host_begin(const struct pg_engine *e, int which, const char *application)
{
	const struct pg_host *h = &e->hosts[which];
	bool own = e->nhosts > 1 || h->host != NULL || h->hostaddr != NULL;
	PQconninfoOption *all = own ? PQconninfoParse(e->conninfo, NULL) : NULL;
	struct options o = { .n = 0 };
	PGconn *made;

	put(&o, "keepalives_idle", "10");
	put(&o, "keepalives_interval", "3");
	put(&o, "keepalives_count", "3");
	put(&o, "tcp_user_timeout", "10000");
	put(&o, "target_session_attrs", "read-write");
	put(&o, "client_encoding", "UTF8");
	if (all == NULL)
		put(&o, "dbname", e->conninfo);
	for (const PQconninfoOption *from = all; from != NULL && from->keyword != NULL; from++) {
		if (!is_of_hosts(from->keyword))
			put(&o, from->keyword, from->val);
	}
	put(&o, "host", h->host);
	put(&o, "hostaddr", h->hostaddr);
	put(&o, "port", h->port);
	put(&o, "application_name", application); /* servers know their sessions by it */
	made = PQconnectStartParams(o.keys, o.values, all == NULL);
	PQconninfoFree(all);
	return made;
}

/* Waits until the handshake can go on, 50 ms at most, and takes it on. */
static PostgresPollingStatusType go_on(PGconn *h, PostgresPollingStatusType last)
{
	struct pollfd fd = { PQsocket(h), last == PGRES_POLLING_READING ? POLLIN : POLLOUT, 0 };

	return poll(&fd, 1, 50) > 0 ? PQconnectPoll(h) : last;
}

PGconn *postgres_host_connect(const struct pg_engine *e, int which, const char *application,
			      const atomic_bool *stop, unsigned changes)
{
	int64_t until_ms = clock_mono_ms() + e->connect_ms;
	PGconn *h = postgres_host_begin(e, which, application);
	PostgresPollingStatusType at = PGRES_POLLING_WRITING;

	if (h == NULL || PQstatus(h) == CONNECTION_BAD)
		return h;
	while (at != PGRES_POLLING_OK && at != PGRES_POLLING_FAILED) {
		if (clock_mono_ms() >= until_ms || atomic_load(stop) ||
		    atomic_load(&e->primary.changes) != changes) {
			PQfinish(h);
			return NULL;
		}
		at = go_on(h, at);
	}
	return h;
}
