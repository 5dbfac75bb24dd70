/* numbers.c — see numbers.h. */
#include "daemon/numbers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "metrics/snapshot.h"

static void tell(struct metrics_snapshot *s, enum metrics_family f, double value)
{
	metrics_add(s, f, value, NULL, 0);
}

/* ---- the process ---- */

static double resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	char line[128] = "", *second = line;
	unsigned long long pages;

	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	fclose(f);
	(void)strtoull(line, &second, 10); /* the first number is the size, the second what is resident */
	pages = strtoull(second, NULL, 10);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void tell_process(struct metrics_snapshot *s, const struct server *srv)
{
	const struct metrics_label version = { "version", PROCESSION_VERSION };
	int64_t now = clock_unix_us();
	struct rusage usage;

	metrics_add(s, METRICS_FAMILY_BUILD_INFO, 1, &version, 1);
	tell(s, METRICS_FAMILY_START_TIME, (double)srv->started_us / 1e6);
	tell(s, METRICS_FAMILY_UPTIME, (double)(now - srv->started_us) / 1e6);
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		tell(s, METRICS_FAMILY_CPU, seconds(&usage.ru_utime) + seconds(&usage.ru_stime));
	tell(s, METRICS_FAMILY_RESIDENT, resident_bytes());
}

/* ---- clients ---- */

static void tell_sessions(struct metrics_snapshot *s, struct server *srv)
{
	static const char *const states[] = {
		[REGISTRY_LOGIN] = "login", [REGISTRY_IDLE] = "idle", [REGISTRY_RUNNING] = "running"
	};
	unsigned n[REGISTRY_STATES];

	session_registry_count(&srv->registry, n);
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		const struct metrics_label label = { "state", states[i] };

		metrics_add(s, METRICS_FAMILY_SESSIONS, n[i], &label, 1);
	}
}

static void tell_clients(struct metrics_snapshot *s, struct server *srv)
{
	uint64_t received, sent;

	tell_sessions(s, srv);
	tell(s, METRICS_FAMILY_SESSIONS_HELD, atomic_load(&srv->sessions));
	net_traffic(srv->net, &received, &sent);
	tell(s, METRICS_FAMILY_CONNECTIONS, net_connections(srv->net));
	tell(s, METRICS_FAMILY_CONNECTIONS_MAX, srv->max_connections);
	tell(s, METRICS_FAMILY_LOGINS_WAITING,
	     net_work_waiting(srv->net, NET_LANE_KNOWN) + net_work_waiting(srv->net, NET_LANE_STRANGER));
	tell(s, METRICS_FAMILY_RECEIVED, (double)received);
	tell(s, METRICS_FAMILY_SENT, (double)sent);
	tell(s, METRICS_FAMILY_MEMORY_USED, (double)budget_used(&srv->accounts.server));
	tell(s, METRICS_FAMILY_MEMORY_LIMIT, (double)srv->accounts.server.limit);
}

static void tell_certificate(struct metrics_snapshot *s, struct server *srv)
{
	struct net_tls_ctx *tls = session_server_tls(srv);
	int64_t from, until;

	if (tls == NULL)
		return;
	net_tls_ctx_validity(tls, &from, &until);
	tell(s, METRICS_FAMILY_CERTIFICATE_EXPIRY, (double)until);
	net_tls_ctx_unref(tls);
}

/* ---- databases ---- */

static enum metrics_family family_of(const char *name)
{
	for (unsigned f = 0; f < METRICS_FAMILIES; f++) {
		if (strcmp(metrics_family_name((enum metrics_family)f), name) == 0)
			return (enum metrics_family)f;
	}
	return METRICS_FAMILIES;
}

/* How many it has of what, as its service declares it. */
static void tell_kept(struct metrics_snapshot *s, const struct database *db,
		      const struct engine_statistics *now)
{
	const struct service_procs *p = &catalogue_service_procs[db->service];

	for (size_t i = 0; now->counted && i < p->nnumbers; i++) {
		const struct metrics_label labels[] = { { "database", db->name },
							{ "state", p->numbers[i].state } };
		enum metrics_family f = family_of(p->numbers[i].family);

		assert(f != METRICS_FAMILIES); /* numbers.sql names one that families.def has not */
		metrics_add(s, f, (double)now->numbers[i], labels, p->numbers[i].state == NULL ? 1 : 2);
	}
}

static void tell_retries(struct metrics_snapshot *s, const struct database *db,
			 const struct engine_statistics *now)
{
	const struct metrics_label conflict[] = { { "database", db->name }, { "reason", "conflict" } };
	const struct metrics_label lost[] = { { "database", db->name }, { "reason", "connection" } };

	metrics_add(s, METRICS_FAMILY_GROUP_RETRIES, (double)now->conflicts, conflict, 2);
	metrics_add(s, METRICS_FAMILY_GROUP_RETRIES, (double)now->reconnects, lost, 2);
}

static void tell_database(struct database *db, void *arg)
{
	const struct metrics_label label = { "database", db->name };
	struct metrics_snapshot *s = arg;
	struct engine_statistics now;

	metrics_add(s, METRICS_FAMILY_DATABASE_UP, databases_damage(db) == NULL, &label, 1);
	if (db->engine == NULL)
		return;
	engine_statistics(db->engine, &now);
	metrics_add(s, METRICS_FAMILY_QUEUE_LENGTH, (double)now.waiting, &label, 1);
	metrics_add(s, METRICS_FAMILY_TRANSACTIONS, (double)now.transactions, &label, 1);
	tell_retries(s, db, &now);
	if (now.file_bytes > 0)
		metrics_add(s, METRICS_FAMILY_FILE_BYTES, (double)now.file_bytes, &label, 1);
	if (now.has_wal) {
		metrics_add(s, METRICS_FAMILY_WAL, (double)now.wal_bytes, &label, 1);
		metrics_add(s, METRICS_FAMILY_WAL_WAITING, (double)now.wal_waiting_bytes, &label, 1);
	}
	tell_kept(s, db, &now);
}

static void collect(struct metrics_snapshot *s, void *arg)
{
	struct server *srv = arg;

	tell_process(s, srv);
	tell_certificate(s, srv);
	tell_clients(s, srv);
	databases_each(srv->databases, tell_database, s);
}

void daemon_numbers_register(struct server *srv)
{
	const struct metrics_collector c = { collect, srv };

	metrics_collect_from(srv->metrics, &c);
}
