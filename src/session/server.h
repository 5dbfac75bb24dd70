/* server.h — what all sessions share: the modules that the daemon built and connected. */
#ifndef SESSION_SERVER_H
#define SESSION_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "auth/auth.h"
#include "auth/gss.h"
#include "catalogue/native.h"
#include "config/config.h"
#include "databases/databases.h"
#include "net/net.h"
#include "session/accounts.h"
#include "session/bell.h"
#include "session/colmeta_cache.h"
#include "session/registry.h"

struct backup;
struct mover_thread;

struct server {
	const struct config *config;      /* as at the start; what SIGHUP may change lives below */
	struct catalogue_natives natives; /* C functions that procedures call */
	struct metrics *metrics;          /* what is counted; metrics/metrics.h */
	int64_t started_us;               /* since 1970 */
	struct engine *engine;            /* where the databases are */
	struct engine *other;             /* where single ones may be, too; NULL: nowhere */
	struct databases *databases;
	struct auth *auth;
	struct auth_gss *gss; /* NULL: no integrated logins */
	struct net *net;      /* set before the first session opens */
	pthread_mutex_t tls_lock;
	struct net_tls_ctx *tls;      /* NULL: encrypt = off. Replaced on SIGHUP under the lock */
	char name[129];               /* @@SERVERNAME */
	struct colmeta_cache colmeta; /* of procedures' result sets */
	struct accounts accounts;     /* of memory */
	struct registry registry;     /* their numbers, and who is there */
	struct bell bell;             /* those who wait for work */
	atomic_uint sessions;         /* open now */
	atomic_bool log_logins;       /* logins and ends of sessions are logged */
	atomic_uint slow_call_ms;     /* a call that takes as long is logged; 0: none is */
	unsigned max_connections;     /* the setting, or as many as there are descriptors for */
	atomic_uint reserved;         /* places for administrators that are taken */
	atomic_uint logins_later;     /* of these: whose login waits for its turn */
	/* rows were left behind: somebody should remove them soon. Thread-safe; may be NULL */
	void (*cleanup)(struct server *srv);
	/* the servers of this installation that have a session of this number, for people. False:
	 * none has. May ask, and take a while; NULL: there are no others. Set before the first */
	bool (*elsewhere)(struct server *srv, unsigned spid, char *dst, size_t size);
	void *cleaner;              /* the daemon's */
	struct backup *backup;      /* the daemon's */
	struct mover_thread *mover; /* the daemon's */
	atomic_bool leaving;        /* SIGTERM: a load balancer is told, and nothing else has changed yet */
	atomic_bool draining;       /* SIGTERM: sessions end with their current request */
};

/* A counted reference to the current TLS context, or NULL. */
struct net_tls_ctx *session_server_tls(struct server *srv);

/* The callbacks for net; net_options.arg is the struct server. */
extern const struct net_handler session_handler;
/* For net_each on drain: closes the session if it is idle; a busy one closes when its request is
 * answered. */
void session_drain(void *owner);
/* The drain took too long: stops what runs and closes. */
void session_kill(void *owner);

#endif
