/* main.c — processiond: reads the settings, builds the modules, connects them, runs, drains,
 * stops. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/clock.h"
#include "base/log.h"
#include "daemon/backup.h"
#include "daemon/cleaner.h"
#include "daemon/cluster.h"
#include "daemon/files.h"
#include "daemon/firststart.h"
#include "daemon/machine.h"
#include "daemon/mover.h"
#include "daemon/natives.h"
#include "daemon/numbers.h"
#include "daemon/signals.h"
#include "daemon/warnings.h"
#include "daemon/watchdog.h"
#include "engine/postgres/postgres.h"
#include "engine/sqlite/sqlite.h"
#include "http/http.h"
#include "metrics/metrics.h"
#include "service/jobs.h"
#include "service/schedule.h"
#include "session/server.h"

#define LISTEN_MAX 16
#define DRAIN_STEP_MS 50
#define DAY_MS (24 * 3600 * 1000)
#define LOG_FLUSH_MS 1000 /* at the end, for what standard error has not taken yet */

static void notify(const char *state)
{
#ifdef HAVE_SYSTEMD
	(void)sd_notify(0, state);
#else
	(void)state;
#endif
}

/* What systemd wants to hear at least so often, in microseconds; 0: nothing. */
static uint64_t watchdog_limit(void)
{
	uint64_t us = 0;

#ifdef HAVE_SYSTEMD
	if (sd_watchdog_enabled(0, &us) <= 0)
		us = 0;
#endif
	return us;
}

static void watchdog_ask(void *arg)
{
	net_ping(((struct server *)arg)->net);
}

static bool watchdog_answered(void *arg)
{
	return net_answered(((struct server *)arg)->net);
}

static void watchdog_alive(void *arg)
{
	(void)arg;
	notify("WATCHDOG=1");
}

static void set_name(struct server *srv)
{
	char host[129] = "procession";

	if (srv->config->server_name[0] != '\0')
		str_copy(host, sizeof(host), str_of(srv->config->server_name));
	else if (gethostname(host, sizeof(host)) < 0)
		str_copy(host, sizeof(host), STR("procession"));
	host[sizeof(host) - 1] = '\0';
	str_copy(srv->name, sizeof(srv->name), str_of(host));
}

static void apply_log(struct server *srv, const struct config *c)
{
	log_set_format((enum log_format)c->log_format);
	atomic_store(&srv->log_logins, c->log_logins);
	atomic_store(&srv->slow_call_ms, (unsigned)c->slow_call_ms);
	log_set_level((enum log_level)c->log_level);
	log_set_rate((unsigned)c->log_rate);
}

static int load_tls(struct server *srv, const struct config *c, struct err *reterr)
{
	char cert[4096], key[4096];
	struct net_tls_rules rules = { .min_version = (enum net_tls_version)c->tls_min_version,
				       .ciphers = c->tls_ciphers,
				       .ciphersuites = c->tls_ciphersuites };
	struct net_tls_ctx *fresh, *old;

	if (c->encrypt == ENCRYPT_NONE)
		return 0;
	if (rules.min_version == NET_TLS_1_3 && c->encrypt != ENCRYPT_STRICT)
		return err_set(reterr, ERR_START,
			       "tls_min_version = 1.3 needs encrypt = strict: before TDS 8.0 the handshake "
			       "lies inside TDS packets, where clients know TLS 1.2 at most.");
	if (daemon_firststart_certificate(c, cert, key, reterr) < 0 ||
	    net_tls_ctx_new(cert, key, &rules, &fresh, reterr) < 0)
		return -1;
	daemon_warnings_key(key);
	daemon_warnings_certificate(fresh, clock_unix_us() / 1000000);
	pthread_mutex_lock(&srv->tls_lock);
	old = srv->tls;
	srv->tls = fresh;
	pthread_mutex_unlock(&srv->tls_lock);
	net_tls_ctx_unref(old);
	return 0;
}

/* As much as set, or a part of what the machine has. */
static unsigned cache_mib(const struct config *c)
{
	uint64_t mib = daemon_machine_memory() >> 20;

	if (c->cache_size > 0)
		return (unsigned)c->cache_size;
	return mib / 16 > 256 ? 256 : mib / 16 < 16 ? 16 : (unsigned)(mib / 16);
}

/* The pages that databases keep come on top of it. */
static size_t memory_limit(const struct config *c)
{
	uint64_t all = daemon_machine_memory(),
		 limit = c->memory_limit > 0 ? (uint64_t)c->memory_limit << 20 : all / 2;

	return limit > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)limit;
}

/* A server that is given more than there is ends by the kernel's hand, not by an error. */
static void check_memory(const struct server *srv)
{
	uint64_t all = daemon_machine_memory() >> 20, limit = srv->accounts.server.limit >> 20,
		 pages = cache_mib(srv->config);

	if (limit + pages > all)
		LOG(LOG_WARN, NULL, "memory_limit", F_INT("limit_mib", limit),
		    F_INT("cache_mib_a_database", pages), F_INT("machine_mib", all),
		    F_STR("remedy", "lower memory_limit or cache_size"));
}

static struct engine_limits limits(struct server *srv)
{
	const struct config *c = srv->config;

	return (struct engine_limits){ .execution_timeout_s = (int)c->execution_timeout,
				       .lock_timeout_ms = (int)c->lock_timeout,
				       .transaction_idle_s = (int)c->transaction_idle_timeout,
				       .transaction_s = (int)c->transaction_timeout,
				       .max_queue = (unsigned)c->max_queue,
				       .query_cost_limit = (unsigned)c->query_cost_limit,
				       .slow_call_ms = &srv->slow_call_ms };
}

static struct engine *make_postgres(struct server *srv, struct err *reterr)
{
	const struct config *c = srv->config;
	const struct engine_postgres_options o = { .conninfo = c->postgres,
						   .connections = (unsigned)c->postgres_connections,
						   .readers = (unsigned)c->readers,
						   .failover_timeout_s = (int)c->failover_timeout,
						   .gives_up = daemon_signals_stop,
						   .name = srv->name,
						   .limits = limits(srv),
						   .natives = &srv->natives,
						   .metrics = srv->metrics };

	return engine_postgres_new(&o, reterr);
}

static struct engine *make_sqlite(struct server *srv)
{
	const struct config *c = srv->config;
	const struct engine_sqlite_options o = { .dir = c->data,
						 .cache_mib = cache_mib(c),
						 .readers = (unsigned)c->readers,
						 .max_wal_mib = (unsigned)c->max_wal_size,
						 .limits = limits(srv),
						 .natives = &srv->natives,
						 .metrics = srv->metrics };

	return engine_sqlite_new(&o);
}

/* The one place that knows which engines there are. The other one costs nothing until a database is
 * moved there. */
static int make_engines(struct server *srv, struct err *reterr)
{
	const struct config *c = srv->config;
	bool in_postgres = c->engine == ENGINE_POSTGRES, has_other = c->postgres[0] != '\0';

	(void)err_nomem(reterr);
	srv->engine = in_postgres ? make_postgres(srv, reterr) : make_sqlite(srv);
	if (has_other && srv->engine != NULL)
		srv->other = in_postgres ? make_sqlite(srv) : make_postgres(srv, reterr);
	return srv->engine == NULL || (has_other && srv->other == NULL) ? -1 : 0;
}

/* Others that start need not wait for this server to be ready. */
static void other_is_open(void *arg)
{
	struct server *srv = arg;

	if (srv->config->engine != ENGINE_POSTGRES)
		engine_postgres_started(srv->other, false);
}

/* The start is over, as far as it changes what servers share. */
static void engine_is_started(struct server *srv)
{
	if (srv->config->engine == ENGINE_POSTGRES)
		engine_postgres_started(srv->engine, true);
}

static void end_sessions_in(void *arg, const char *database)
{
	struct server *srv = arg;

	session_registry_kill_database(&srv->registry, database);
}

static int open_databases(struct server *srv, struct err *reterr)
{
	struct databases_options o = { .set_aside = srv->config->set_aside,
				       .accept = srv->config->accept_as_found,
				       .dropped = end_sessions_in,
				       .other_opened = other_is_open,
				       .server = srv->name,
				       .arg = srv };
	bool in_postgres = srv->config->engine == ENGINE_POSTGRES;

	if (make_engines(srv, reterr) < 0)
		return -1;
	o.engine = srv->engine;
	o.engine_name = in_postgres ? "postgres" : "sqlite";
	o.other = srv->other;
	o.other_name = in_postgres ? "sqlite" : "postgres";
	return databases_open(&o, &srv->databases, reterr);
}

static int open_gss(struct server *srv, struct err *reterr)
{
	const struct config *c = srv->config;
	struct auth_gss_options o = { .kerberos = c->kerberos,
				      .ntlm = c->ntlm,
				      .channel_binding = c->channel_binding,
				      .keytab = c->keytab,
				      .ntlm_user_file = c->ntlm_user_file };

	return auth_gss_open(&o, &srv->gss, reterr);
}

static int open_auth(struct server *srv, struct err *reterr)
{
	struct auth_options o = { .system = databases_system(srv->databases)->engine,
				  .fail_delay_ms = 100,
				  .fail_limit = (unsigned)srv->config->login_fail_limit,
				  .fail_window_s = (unsigned)srv->config->login_fail_window,
				  .principal_map = srv->config->principal_map,
				  .shared_key = srv->config->engine == ENGINE_POSTGRES
							? engine_postgres_key(srv->engine)
							: NULL };

	return auth_open(&o, &srv->auth, reterr);
}

/* "a:1, b:2" → list of pointers into text. */
static void split_listen(char *text, const char **list)
{
	char *save = NULL;
	size_t n = 0;

	for (char *p = strtok_r(text, ", ", &save); p != NULL && n < LISTEN_MAX;
	     p = strtok_r(NULL, ", ", &save))
		list[n++] = p;
	list[n] = NULL;
}

/* As many as set, or one for every core up to eight, and two at least: with a single one, calls
 * of all clients tend to move in step, and disk and processor wait for each other. */
static unsigned io_threads(const struct config *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (c->io_threads > 0)
		return (unsigned)c->io_threads;
	return cores < 2 ? 2 : cores > 8 ? 8 : (unsigned)cores;
}

static int start_net(struct server *srv, struct err *reterr)
{
	const struct config *c = srv->config;
	const char *list[LISTEN_MAX + 1];
	char *text = strdup(c->listen);
	struct net_options o = { .listen = list,
				 .loops = io_threads(c),
				 .max_connections = srv->max_connections,
				 .backlog = 1024,
				 .request_threads = (unsigned)c->request_threads,
				 .login_queue = (unsigned)c->login_queue,
				 .handler = &session_handler,
				 .arg = srv };
	int rc;

	if (text == NULL)
		return err_nomem(reterr);
	split_listen(text, list);
	rc = net_start(&o, &srv->net, reterr);
	free(text);
	return rc;
}

/* The HTTP side has the certificate of the other one, read from the same files. */
static int start_http(struct server *srv, struct http **ret, struct err *reterr)
{
	char cert[4096] = "", key[4096] = "";
	struct http_options o = {
		.server = srv, .listen = srv->config->http, .certificate = cert, .key = key
	};
	bool loopback;

	if (o.listen[0] == '\0')
		return 0;
	if (http_is_loopback(o.listen, &loopback, reterr) < 0)
		return -1;
	if (!loopback && daemon_firststart_certificate(srv->config, cert, key, reterr) < 0)
		return -1;
	return http_start(&o, ret, reterr);
}

static void reload_http(struct http *h, const struct config *c)
{
	char cert[4096] = "", key[4096] = "";
	struct err e;

	if (h != NULL &&
	    (daemon_firststart_certificate(c, cert, key, &e) < 0 || http_reload(h, cert, key, &e) < 0))
		LOG(LOG_ERROR, NULL, "reload_failed", F_STR("reason", e.text));
}

/* Of several servers, the one that cleans up hears of it. */
static void cleanup(struct server *srv)
{
	if (srv->config->engine == ENGINE_POSTGRES)
		engine_postgres_kick(srv->engine);
	else
		daemon_cleaner_kick(srv->cleaner);
}

static int start_cleaner(struct server *srv, struct err *reterr)
{
	const struct cleaner_options o = {
		.databases = srv->databases,
		.state_interval_s = (int)srv->config->sweep_interval,
		.may = srv->config->engine == ENGINE_POSTGRES ? engine_postgres_cleans : NULL,
		.engine = srv->engine,
	};
	struct cleaner *c;

	if (daemon_cleaner_start(&o, &c, reterr) < 0)
		return -1;
	srv->cleaner = c;
	srv->cleanup = cleanup;
	return 0;
}

/* What this start has made, and not found. */
struct made {
	bool folder, password;
};

/* What is there beside the sessions. */
struct beside {
	struct http *http;
	struct cluster *cluster;
};

static int build(struct server *srv, struct made *made, struct beside *b, struct err *reterr)
{
	set_name(srv);
	srv->metrics = metrics_new();
	if (srv->metrics == NULL)
		return err_nomem(reterr);
	daemon_numbers_register(srv);
	daemon_files_raise();
	check_memory(srv);
	daemon_natives_register(srv);
	service_jobs_register(&srv->natives);
	service_schedule_register(&srv->natives);
	if (session_colmeta_cache_make(&srv->colmeta, reterr) < 0 || open_gss(srv, reterr) < 0 ||
	    daemon_firststart_folder(srv->config, &made->folder, reterr) < 0 ||
	    load_tls(srv, srv->config, reterr) < 0 || open_databases(srv, reterr) < 0 ||
	    open_auth(srv, reterr) < 0 ||
	    daemon_firststart_logins(srv->config, srv->databases, &made->password, reterr) < 0)
		return -1;
	daemon_cluster_prepare(srv);
	engine_is_started(srv);
	if (start_cleaner(srv, reterr) < 0 ||
	    daemon_backup_new(srv->databases, srv->config->data, &srv->backup, reterr) < 0 ||
	    daemon_mover_new(srv->databases, &srv->mover, reterr) < 0 ||
	    daemon_files_connections(srv, io_threads(srv->config), &srv->max_connections, reterr) < 0 ||
	    start_net(srv, reterr) < 0 || daemon_cluster_start(srv, &b->cluster, reterr) < 0 ||
	    start_http(srv, &b->http, reterr) < 0)
		return -1;
	return daemon_firststart_address(srv->config, net_address(srv->net), reterr);
}

/* For people; programs wait for the line "ready". */
static void print_how_to_connect(const struct server *srv)
{
	const char *address = net_address(srv->net), *colon = strrchr(address, ':');
	int host = colon == NULL ? 0 : (int)(colon - address);

	if (colon != NULL)
		printf("Connect with any SQL Server driver to %.*s,%s as sa; for example: tsql -H %.*s -p %s "
		       "-U sa -D StateService\n",
		       host, address, colon + 1, host, address, colon + 1);
}

static void announce(const struct server *srv, const struct http *h)
{
	LOG(LOG_INFO, NULL, "ready", F_STR("address", net_address(srv->net)),
	    F_STR("http", h == NULL ? "off" : http_address(h)), F_STR("data", srv->config->data),
	    F_STR("version", PROCESSION_VERSION));
	print_how_to_connect(srv);
	if (h != NULL)
		printf("Dashboard, health and metrics: %s\n", http_address(h));
	printf("ready %s\n", net_address(srv->net));
	fflush(stdout);
	notify("READY=1");
}

/* What a reload takes; everything else needs a restart. */
static bool reload_takes(const char *setting)
{
	return strncmp(setting, "tls_", 4) == 0 || strncmp(setting, "log_", 4) == 0 ||
	       strcmp(setting, "slow_call_ms") == 0;
}

static void tell_changes(const struct config *old, const struct config *fresh)
{
	const char *name;

	for (size_t i = 0; (name = config_next_change(old, fresh, &i)) != NULL;)
		LOG(reload_takes(name) ? LOG_INFO : LOG_WARN, NULL, "setting_changed", F_STR("setting", name),
		    F_STR("takes_effect", reload_takes(name) ? "now" : "after a restart"));
}

static void reload(struct server *srv, struct http *h)
{
	struct config *fresh;
	struct err e;

	notify("RELOADING=1");
	auth_reload(srv->auth);
	if (config_reload(srv->config, &fresh, &e) < 0) {
		LOG(LOG_ERROR, NULL, "reload_failed", F_STR("reason", e.text));
	} else {
		apply_log(srv, fresh);
		if (load_tls(srv, fresh, &e) < 0)
			LOG(LOG_ERROR, NULL, "reload_failed", F_STR("reason", e.text));
		else
			LOG(LOG_INFO, NULL, "reload", F_STR("what", "certificate, logins, log"));
		reload_http(h, fresh);
		tell_changes(srv->config, fresh);
		config_free(fresh);
	}
	notify("READY=1");
}

/* Once a day, for a server that is never restarted. */
static void check_certificate(struct server *srv, int64_t *next_ms)
{
	int64_t now = clock_mono_ms();

	if (now < *next_ms)
		return;
	*next_ms = now + DAY_MS;
	daemon_warnings_certificate(srv->tls, clock_unix_us() / 1000000);
}

static void run(struct server *srv, struct http *h, struct watchdog *w)
{
	int64_t next_check_ms = clock_mono_ms() + DAY_MS;
	int sig;

	while ((sig = daemon_signals_next(daemon_watchdog_wait_ms(w, clock_mono_ms(), DAY_MS / 24))) ==
		       SIGHUP ||
	       sig == 0) {
		if (sig == SIGHUP)
			reload(srv, h);
		daemon_watchdog_tick(w, clock_mono_ms());
		check_certificate(srv, &next_check_ms);
	}
	LOG(LOG_INFO, NULL, "stopping", F_STR("signal", sig == SIGINT ? "SIGINT" : "SIGTERM"),
	    F_INT("sessions", atomic_load(&srv->sessions)));
}

/* Until all sessions are gone or the time is over; a second signal ends the process meanwhile
 * (signals.c). */
static void wait_for_sessions(struct server *srv, struct watchdog *w, int64_t limit_ms)
{
	int64_t end = clock_mono_ms() + limit_ms;

	while (atomic_load(&srv->sessions) > 0 && clock_mono_ms() < end) {
		(void)daemon_signals_next(DRAIN_STEP_MS);
		daemon_watchdog_tick(w, clock_mono_ms());
	}
}

/* Time for a load balancer, which has been told. */
static void go_on_for(struct watchdog *w, int64_t ms)
{
	int64_t end = clock_mono_ms() + ms;

	while (clock_mono_ms() < end) {
		(void)daemon_signals_next(DRAIN_STEP_MS);
		daemon_watchdog_tick(w, clock_mono_ms());
	}
}

static void drain(struct server *srv, struct watchdog *w)
{
	notify("STOPPING=1");
	atomic_store(&srv->leaving, true);
	go_on_for(w, srv->config->drain_delay * 1000);
	net_stop_listening(srv->net);
	atomic_store(&srv->draining, true);
	net_each(srv->net, session_drain);
	wait_for_sessions(srv, w, srv->config->drain_timeout * 1000);
	net_each(srv->net, session_kill);
	wait_for_sessions(srv, w, 5000);
	if (atomic_load(&srv->sessions) > 0) {
		/* A call does not come back from its store: the threads cannot be taken apart
		 * safely. What was answered is durable. */
		LOG(LOG_ERROR, NULL, "stopped", F_STR("reason", "sessions did not end"),
		    F_INT("sessions", atomic_load(&srv->sessions)));
		log_flush(LOG_FLUSH_MS);
		_exit(0);
	}
}

static void destroy(struct server *srv, const struct beside *b)
{
	http_stop(b->http);
	daemon_cluster_stop(b->cluster);
	if (srv->net != NULL)
		net_stop(srv->net);
	daemon_mover_free(srv->mover);
	daemon_cleaner_stop(srv->cleaner);
	daemon_backup_free(srv->backup);
	auth_close(srv->auth); /* before the databases, which it asks */
	databases_close(srv->databases);
	engine_free(srv->other);
	engine_free(srv->engine);
	metrics_free(srv->metrics);
	auth_gss_close(srv->gss);
	net_tls_ctx_unref(srv->tls);
	pthread_mutex_destroy(&srv->tls_lock);
	session_registry_fini(&srv->registry);
	session_bell_fini(&srv->bell);
	session_accounts_fini(&srv->accounts);
	session_colmeta_cache_fini(&srv->colmeta);
}

int main(int argc, char **argv)
{
	struct server srv = { .tls_lock = PTHREAD_MUTEX_INITIALIZER };
	struct watchdog_ops ops = { watchdog_ask, watchdog_answered, watchdog_alive, &srv };
	struct watchdog watchdog;
	struct made made = { false, false };
	struct beside beside = { NULL, NULL };
	struct config *config;
	struct err e;
	int rc = config_load(argc, argv, &config, &e);

	if (rc > 0)
		return EXIT_SUCCESS;
	if (rc < 0) {
		fprintf(stderr, "processiond: %s\n", e.text);
		return EXIT_FAILURE;
	}
	srv.config = config;
	srv.started_us = clock_unix_us();
	session_registry_init(&srv.registry);
	session_bell_init(&srv.bell);
	session_accounts_init(&srv.accounts, memory_limit(config), (unsigned)config->login_memory_share,
			      (unsigned)config->session_memory_share);
	apply_log(&srv, config);
	rc = daemon_signals_start(&e);
	if (log_start_writer() < 0)
		LOG(LOG_WARN, NULL, "log_writer", F_STR("why", "no thread for it"),
		    F_STR("effect", "a standard error that nobody reads can stop the server"));
	if (rc == 0)
		rc = build(&srv, &made, &beside, &e);
	if (rc == 0) {
		daemon_warnings_files(config);
		if (made.password)
			daemon_firststart_tell(config);
		announce(&srv, beside.http);
		daemon_watchdog_init(&watchdog, &ops, watchdog_limit(), clock_mono_ms());
		run(&srv, beside.http, &watchdog);
		drain(&srv, &watchdog);
	}
	destroy(&srv, &beside);
	if (rc < 0 && made.folder)
		daemon_firststart_undo(config);
	config_free(config);
	LOG(LOG_INFO, NULL, "stopped", F_INT("status", rc < 0));
	log_flush(LOG_FLUSH_MS);
	if (rc < 0) /* last, where a person looks */
		fprintf(stderr, "processiond: %s\n", e.text);
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
