/* http_int.h — private: the parts of the HTTP side and what they share. */
#ifndef HTTP_HTTP_INT_H
#define HTTP_HTTP_INT_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/lock.h"
#include "http/http.h"
#include "session/server.h"

/* Limits. They are small: a browser has six connections, a scraper one. */
#define HTTP_CONNECTIONS 256u        /* in all; beyond, connections are closed at once */
#define HTTP_CONNECTIONS_ADDRESS 64u /* from one address */
#define HTTP_HEADER_BYTES (16u << 10)
#define HTTP_BODY_BYTES ((size_t)64 << 10)
#define HTTP_REQUEST_MS 10000 /* from the first byte to the last of a request */
#define HTTP_IDLE_S 60u       /* nothing moves: neither request nor answer */
#define HTTP_API_MS 10000     /* a statement of the dashboard */
#define HTTP_QUEUE 256u       /* requests that may wait for a thread */
#define HTTP_WORKERS 3u
#define HTTP_PROBERS 3u /* some may wait for databases while another answers */

/* ---- pool.c: threads that run what may block ---- */

struct http_task {
	struct list link;
	void (*run)(struct http_task *t); /* the task is the callee's again; it may submit it anew */
	int64_t due_ms;                   /* monotonic: not before */
};
struct http_pool {
	struct lock lock;
	pthread_cond_t wake;
	struct list tasks; /* under the lock: by due time */
	unsigned ntasks, nthreads;
	bool stopping;
	pthread_t threads[HTTP_WORKERS];
};
MUST_CHECK int http_pool_start(struct http_pool *p, unsigned threads, struct err *reterr);
/* Runs what waits, without waiting for its time, and ends the threads. */
void http_pool_stop(struct http_pool *p);
/* False: too many wait, or it stops. again: the task has been here, and is not refused for the
 * number of others. */
MUST_CHECK bool http_pool_submit(struct http_pool *p, struct http_task *t, int64_t due_ms, bool again);
bool http_pool_is_stopping(struct http_pool *p);

/* ---- requests ---- */

struct http_request;
typedef void http_handler(struct http_request *r);

struct http_route {
	const char *method, *path;
	http_handler *handler;
	/* on which thread; SCRAPE: as LOGIN where a password is needed, else as PROBE */
	enum { ROUTE_NOW, ROUTE_WORK, ROUTE_LOGIN, ROUTE_PROBE, ROUTE_SCRAPE } where;
};

struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	const struct http_route *route;
	const char *path;
	struct buf body;
	bool too_large, handed_over, answered;
	unsigned delay_ms; /* by which the answer is held back */
	unsigned again_ms; /* it could not be answered: the handler is called again after this */
	unsigned tries;
	char peer[72];
	struct http_task task;
	/* the answer */
	unsigned status;
	struct MHD_Response *response;
};

/* request.c: what libmicrohttpd calls. */
enum MHD_Result http_request_next(void *arg, struct MHD_Connection *c, const char *path, const char *method,
				  const char *version, const char *data, size_t *n, void **state);
void http_request_ended(void *arg, struct MHD_Connection *c, void **state,
			enum MHD_RequestTerminationCode code);

/* answer.c. Each takes the place of an answer that was given before. */
void http_answer_text(struct http_request *r, unsigned status, const char *text);
/* b's memory is the answer's from now on. */
void http_answer_buf(struct http_request *r, unsigned status, const char *type, struct buf *b);
void http_answer_static(struct http_request *r, unsigned status, const char *type, const void *p, size_t n);
/* response may be NULL: no memory. */
void http_answer_response(struct http_request *r, unsigned status, const char *type,
			  struct MHD_Response *response);
void http_answer_header(struct http_request *r, const char *name, const char *value);
const char *http_request_header(const struct http_request *r, const char *name);   /* NULL: none */
const char *http_request_argument(const struct http_request *r, const char *name); /* NULL: none */
/* Lets the connection go on to its answer, after so long (failed logins wait). */
void http_answer_later(struct http_request *r, unsigned ms);

/* route.c */
const struct http_route *http_route_find(const char *method, const char *path, bool *ret_known);

/* health.c */
http_handler http_health_alive, http_health_ready;
struct http_readiness {
	struct lock lock;
	bool looking, ready; /* under the lock, as since_ms: somebody looks; what was found last */
	int64_t since_ms;
};

/* metrics.c, files.c, login.c, api.c, events.c */
http_handler http_metrics, http_file, http_login, http_logout, http_me, http_api_get, http_api_post,
	http_events;

struct http_visitors;
struct http_history;
struct http_streams {
	struct lock lock;
	unsigned n; /* under the lock: open now */
};
/* shared.c */
struct http_shared {
	struct lock lock;
	struct list all; /* under the lock, as bytes: of what is kept */
	size_t bytes;
};

/* listen.c */
MUST_CHECK int http_listen(const char *text, int *ret_fd, char *ret_address, size_t size, bool *ret_loopback,
			   struct err *reterr);

/* connections.c: how long each may take for a request */
struct http_connections {
	struct lock lock;
	struct list all;
};
struct http_connection;
void http_connection_changed(void *arg, struct MHD_Connection *c, void **context,
			     enum MHD_ConnectionNotificationCode code);
void http_connection_reads(struct MHD_Connection *c, struct http_connections *all, bool reading);
/* Closes those that took too long. False: there are none at all, and *reaping was set so. */
MUST_CHECK bool http_connections_check(struct http_connections *all, bool *reaping);
/* http.c: somebody should look at them from now on. */
void http_reap_soon(struct http *h);

struct http {
	struct server *server;
	int socket; /* listening; the daemon has a copy */
	bool tls;
	char address[160];
	char *certificate, *key; /* PEM; owned; NULL: no TLS */
	struct MHD_Daemon *daemon;
	/* health and numbers have threads of their own: whoever watches over the server must not
	 * wait for those who look at it */
	struct http_pool work, logins, probes;
	struct http_connections connections;
	struct http_task reaper;
	bool reaping; /* under the lock of connections: the reaper is on its way */
	struct http_readiness readiness;
	struct http_visitors *visitors; /* owned; they outlast a reload */
	struct http_history *history;   /* owned */
	struct http_task sampler;
	struct http_streams streams;
	struct http_shared shared;
};

#endif
