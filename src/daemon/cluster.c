/* cluster.c — see cluster.h. The engine tells from a thread of its own, which must not be held up:
 * what takes long, such as opening a database that another server has created, is done here. */
#define _GNU_SOURCE /* names of threads */
#include "daemon/cluster.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/log.h"
#include "base/thread.h"
#include "daemon/cleaner.h"
#include "engine/postgres/postgres.h"
#include "session/list.h"

#define SESSIONS_TOLD 1000 /* more than that of one server are not shown on the others */

/* Work that was brought to a database: the bell counts it, whoever rang. */
struct rung {
	struct database *db;
	uint32_t elsewhere; /* how often that was us, for another server */
	uint32_t told;      /* how often it was rung here, when the others heard of it */
};

struct cluster {
	struct server *srv;
	struct rung *rung; /* owned; the engine's thread only */
	size_t nrung;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool changed, stop; /* under the lock */
};

static bool is_shared(const struct server *srv)
{
	return srv->config->engine == ENGINE_POSTGRES;
}

/* ---- what it tells ---- */

static void put_session(FILE *f, bool first, const struct metadata_session *s)
{
	const struct {
		const char *name, *text;
	} texts[] = { { "status", s->status },
		      { "login", s->login },
		      { "host", s->host },
		      { "command", s->command },
		      { "database", s->database } };

	fprintf(f, "%c{\"spid\": %u, \"blocker\": %u", first ? '[' : ',', s->spid, s->blocker);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		fprintf(f, ", \"%s\": ", texts[i].name);
		json_put_string(f, texts[i].text);
	}
	fputc('}', f);
}

/* From malloc; NULL: no memory for it. */
static char *sessions_as_json(struct server *srv)
{
	struct metadata_session *list;
	struct arena a;
	struct err e;
	char *text = NULL;
	size_t n, size;
	FILE *f;

	arena_init(&a, (size_t)64 << 20);
	if (session_list(srv, 0, &a, &list, &n, &e) == 0 && (f = open_memstream(&text, &size)) != NULL) {
		for (size_t i = 0; i < n && i < SESSIONS_TOLD; i++)
			put_session(f, i == 0, &list[i]);
		fputs(n == 0 ? "[]" : "]", f);
		if (fclose(f) != 0) {
			free(text);
			text = NULL;
		}
	}
	arena_fini(&a);
	return text;
}

static void describe(void *arg, struct engine_postgres_facts *ret)
{
	const struct cluster *c = arg;
	unsigned states[REGISTRY_STATES];

	session_registry_count(&c->srv->registry, states);
	str_copy(ret->address, sizeof(ret->address), str_of(net_address(c->srv->net)));
	ret->version = PROCESSION_VERSION;
	ret->started_s = c->srv->started_us / 1000000;
	ret->sessions = states[REGISTRY_IDLE] + states[REGISTRY_RUNNING];
	ret->who = sessions_as_json(c->srv);
}

/* ---- bells and logins: told as a number of databases, theirs, and events of logins ---- */

#define HEAD 2
#define ID 4

static struct rung *rung_of(struct cluster *c, struct database *db)
{
	struct rung *grown;

	for (size_t i = 0; i < c->nrung; i++) {
		if (c->rung[i].db == db)
			return &c->rung[i];
	}
	grown = realloc(c->rung, (c->nrung + 1) * sizeof(*grown));
	if (grown == NULL)
		return NULL;
	c->rung = grown;
	/* whether it was rung before is not known: once too often does no harm */
	grown[c->nrung] = (struct rung){ .db = db, .told = (uint32_t)-1 };
	return &grown[c->nrung++];
}

struct bells {
	struct cluster *cluster;
	uint8_t *dst;
	size_t n, most;
};

static void take_bell(struct database *db, void *arg)
{
	struct bells *b = arg;
	struct rung *r = rung_of(b->cluster, db);
	uint32_t here, id = (uint32_t)atomic_load(&db->id);

	if (r == NULL || b->n == b->most)
		return;
	here = ((uint32_t)session_bell_number(&b->cluster->srv->bell, db) - r->elsewhere) & INT32_MAX;
	if (here == r->told)
		return;
	r->told = here;
	for (size_t i = 0; i < ID; i++)
		b->dst[HEAD + b->n * ID + i] = (uint8_t)(id >> 8 * i);
	b->n++;
	assert(b->n <= b->most);
}

static size_t take_events(void *arg, uint8_t *dst, size_t size)
{
	struct cluster *c = arg;
	struct bells b = { .cluster = c, .dst = dst, .most = size / 4 / ID };
	size_t head, logins;

	assert(size >= 64);
	databases_each(c->srv->databases, take_bell, &b);
	dst[0] = (uint8_t)b.n;
	dst[1] = (uint8_t)(b.n >> 8);
	head = HEAD + b.n * ID;
	assert(head < size && b.n <= UINT16_MAX);
	logins = auth_take_events(c->srv->auth, dst + head, size - head);
	return b.n == 0 && logins == 0 ? 0 : head + logins;
}

/* ---- what it hears ---- */

static void ring(struct cluster *c, const uint8_t *id)
{
	struct database *db = databases_by_id(c->srv->databases,
					      (int64_t)((uint32_t)id[0] | (uint32_t)id[1] << 8 |
							(uint32_t)id[2] << 16 | (uint32_t)id[3] << 24));
	struct rung *r = db == NULL ? NULL : rung_of(c, db);

	if (r == NULL)
		return;
	r->elsewhere++;
	session_bell_ring(&c->srv->bell, db);
}

static void give_events(void *arg, const uint8_t *bytes, size_t n)
{
	struct cluster *c = arg;
	size_t bells = n < HEAD ? 0 : (size_t)bytes[0] | (size_t)bytes[1] << 8, head = HEAD + bells * ID;

	if (n < head)
		return;
	for (size_t i = 0; i < bells; i++)
		ring(c, bytes + HEAD + i * ID);
	auth_give_events(c->srv->auth, bytes + head, n - head);
}

static void clean(void *arg)
{
	daemon_cleaner_kick(((struct cluster *)arg)->srv->cleaner);
}

static void changed(void *arg)
{
	struct cluster *c = arg;

	auth_reload(c->srv->auth);
	pthread_mutex_lock(&c->lock);
	c->changed = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
}

/* False: it is time to stop. */
static bool wait_for_change(struct cluster *c)
{
	bool stop;

	pthread_mutex_lock(&c->lock);
	while (!c->changed && !c->stop)
		pthread_cond_wait(&c->wake, &c->lock);
	c->changed = false;
	stop = c->stop;
	pthread_mutex_unlock(&c->lock);
	return !stop;
}

static void *cluster_main(void *arg)
{
	struct cluster *c = arg;
	struct err e;

	pthread_setname_np(pthread_self(), "cluster");
	while (wait_for_change(c)) {
		if (databases_refresh(c->srv->databases, &e) < 0)
			LOG(LOG_WARN, NULL, "databases_not_refreshed", F_STR("reason", e.text));
	}
	return NULL;
}

/* ---- asking for the others ---- */

static int show_oneself(struct server *srv, daemon_cluster_row *row, void *arg, struct err *reterr)
{
	unsigned states[REGISTRY_STATES];
	char started[24], sessions[16];
	const char *const fields[] = {
		srv->name, net_address(srv->net), PROCESSION_VERSION, started, sessions, "1", "0", "1"
	};

	session_registry_count(&srv->registry, states);
	snprintf(started, sizeof(started), "%lld", (long long)srv->started_us / 1000000);
	snprintf(sessions, sizeof(sessions), "%u", states[REGISTRY_IDLE] + states[REGISTRY_RUNNING]);
	return row(arg, fields, reterr);
}

int daemon_cluster_servers(struct server *srv, daemon_cluster_row *row, void *arg, struct err *reterr)
{
	return is_shared(srv) ? engine_postgres_servers(srv->engine, row, arg, reterr)
			      : show_oneself(srv, row, arg, reterr);
}

int daemon_cluster_sessions(struct server *srv, daemon_cluster_row *row, void *arg, struct err *reterr)
{
	return is_shared(srv) ? engine_postgres_sessions(srv->engine, row, arg, reterr) : 0;
}

struct place {
	unsigned spid;
	char *dst;
	size_t size, n;
};

static int find_place(void *arg, const char *const *fields, struct err *reterr)
{
	struct place *p = arg;

	(void)reterr;
	if (strtoul(fields[2], NULL, 10) == p->spid && p->n < p->size)
		p->n += (size_t)snprintf(p->dst + p->n, p->size - p->n, "%s%s (%s)", p->n == 0 ? "" : ", ",
					 fields[0], fields[1]);
	return 0;
}

/* For KILL. */
static bool elsewhere(struct server *srv, unsigned spid, char *dst, size_t size)
{
	struct place p = { .spid = spid, .dst = dst, .size = size };
	struct err e;

	return engine_postgres_sessions(srv->engine, find_place, &p, &e) == 0 && p.n > 0;
}

/* ---- life ---- */

static int is_alive(void *arg, const char *const *fields, struct err *reterr)
{
	(void)fields, (void)reterr;
	*(bool *)arg = true;
	return 1;
}

void daemon_cluster_prepare(struct server *srv)
{
	bool others = false;
	uint16_t random;
	struct err e;

	if (!is_shared(srv))
		return;
	srv->elsewhere = elsewhere;
	if (engine_postgres_servers(srv->engine, is_alive, &others, &e) >= 0 && others &&
	    getrandom(&random, sizeof(random), 0) == (ssize_t)sizeof(random))
		session_registry_begin(&srv->registry, random);
}

int daemon_cluster_start(struct server *srv, struct cluster **ret, struct err *reterr)
{
	struct engine_postgres_watch w = { .changed = changed,
					   .clean = clean,
					   .take_events = take_events,
					   .give_events = give_events,
					   .describe = describe };
	struct cluster *c;

	*ret = NULL;
	if (!is_shared(srv))
		return 0;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return err_nomem(reterr);
	c->srv = srv;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->wake, NULL);
	if (thread_start(&c->thread, cluster_main, c) < 0) {
		free(c);
		return err_nomem(reterr);
	}
	w.arg = c;
	engine_postgres_watch(srv->engine, &w);
	*ret = c;
	return 0;
}

void daemon_cluster_stop(struct cluster *c)
{
	if (c == NULL)
		return;
	engine_postgres_watch(c->srv->engine, NULL);
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c->rung);
	free(c);
}
