/* http.c — starts and stops the HTTP side: a listening socket of our own, libmicrohttpd's thread
 * over it, and the threads behind. Everything but the socket and who is logged in can be taken down
 * and built again, which is how a new certificate is taken. */
#include "http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/history.h"
#include "http/http_int.h"
#include "http/shared.h"
#include "http/visitors.h"

#define PEM_MOST ((size_t)1 << 20)
#define REAP_MS 1000

/* ---- the certificate ---- */

static int read_pem(const char *file, char **ret, struct err *reterr)
{
	char message[400], chunk[4096];
	FILE *f = fopen(file, "re");
	struct buf b;
	size_t n;

	if (f == NULL) {
		snprintf(message, sizeof(message), "Cannot read %s for HTTPS: %s.", file, strerror(errno));
		return err_set(reterr, ERR_START, message);
	}
	buf_init(&b, PEM_MOST);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_put(&b, chunk, n);
	buf_put_u8(&b, '\0');
	explicit_bzero(chunk, sizeof(chunk));
	fclose(f);
	if (b.failed) {
		buf_fini(&b);
		return err_nomem(reterr);
	}
	*ret = (char *)b.data;
	return 0;
}

static void forget_pem(char **pem)
{
	if (*pem != NULL)
		explicit_bzero(*pem, strlen(*pem));
	free(*pem);
	*pem = NULL;
}

static int take_certificate(struct http *h, const char *certificate, const char *key, struct err *reterr)
{
	char *c = NULL, *k = NULL;

	if (!h->tls)
		return 0;
	if (read_pem(certificate, &c, reterr) < 0 || read_pem(key, &k, reterr) < 0) {
		forget_pem(&c);
		return -1;
	}
	forget_pem(&h->certificate);
	forget_pem(&h->key);
	h->certificate = c;
	h->key = k;
	return 0;
}

/* ---- the library ---- */

/* What it has to say is about a client's bytes: for whoever looks for it. */
static void on_log(void *arg, const char *format, va_list ap)
{
	char text[256];

	(void)arg;
	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	LOG(LOG_DEBUG, NULL, "http", F_STR("library", text));
}

static int start_daemon(struct http *h, struct err *reterr)
{
	const struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, h->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, h->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)(uintptr_t) "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
			 (h->tls ? (unsigned)MHD_USE_TLS : 0);
	int fd = fcntl(h->socket, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		h->daemon = MHD_start_daemon(
			flags, 0, NULL, NULL, http_request_next, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
			MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS,
			MHD_OPTION_PER_IP_CONNECTION_LIMIT, HTTP_CONNECTIONS_ADDRESS,
			MHD_OPTION_CONNECTION_TIMEOUT, HTTP_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)HTTP_HEADER_BYTES, MHD_OPTION_NOTIFY_COMPLETED, http_request_ended, h,
			MHD_OPTION_NOTIFY_CONNECTION, http_connection_changed, h,
			MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, h->tls ? tls : none,
			MHD_OPTION_END);
	if (h->daemon != NULL)
		return 0;
	if (fd >= 0)
		close(fd);
	return err_set(reterr, ERR_START,
		       h->tls ? "HTTPS cannot be started with this certificate and key."
			      : "The HTTP side cannot be started: no thread or descriptor for it.");
}

/* Looks at the connections while there are some: an idle server is not woken. */
static void reap(struct http_task *t)
{
	struct http *h = CONTAINER_OF(t, struct http, reaper);

	if (!http_connections_check(&h->connections, &h->reaping) ||
	    http_pool_submit(&h->probes, t, clock_mono_ms() + REAP_MS, true))
		return;
	lock_take(&h->connections.lock);
	h->reaping = false;
	lock_give(&h->connections.lock);
}

void http_reap_soon(struct http *h)
{
	if (!http_pool_submit(&h->probes, &h->reaper, clock_mono_ms() + REAP_MS, true)) {
		lock_take(&h->connections.lock);
		h->reaping = false;
		lock_give(&h->connections.lock);
	}
}

/* ---- the last hour ---- */

/* Refused only when all ends. */
static void sample_later(struct http *h, int64_t ms)
{
	bool taken = http_pool_submit(&h->probes, &h->sampler, clock_mono_ms() + ms, true);

	(void)taken;
}

static void sample(struct http_task *t)
{
	struct http *h = CONTAINER_OF(t, struct http, sampler);
	struct metrics_snapshot *s;
	struct err e;

	if (metrics_take(h->server->metrics, &s, &e) == 0) {
		http_history_take(h->history, s);
		metrics_snapshot_free(s);
	}
	sample_later(h, HISTORY_STEP_S * 1000);
}

/* ---- up and down ---- */

static void stop_pools(struct http *h)
{
	http_pool_stop(&h->logins);
	http_pool_stop(&h->work);
	http_pool_stop(&h->probes);
}

static int start_pools(struct http *h, struct err *reterr)
{
	if (http_pool_start(&h->probes, HTTP_PROBERS, reterr) < 0)
		return -1;
	if (http_pool_start(&h->work, HTTP_WORKERS, reterr) < 0) {
		http_pool_stop(&h->probes);
		return -1;
	}
	if (http_pool_start(&h->logins, 1, reterr) < 0) {
		http_pool_stop(&h->work);
		http_pool_stop(&h->probes);
		return -1;
	}
	return 0;
}

static int up(struct http *h, struct err *reterr)
{
	h->reaping = false;
	h->reaper.run = reap;
	if (start_pools(h, reterr) < 0)
		return -1;
	if (start_daemon(h, reterr) == 0) {
		h->sampler.run = sample;
		sample_later(h, 0);
		return 0;
	}
	stop_pools(h);
	return -1;
}

/* Threads first: they resume what they had suspended, and the library can only stop when nothing
 * is. What comes meanwhile is refused. */
static void down(struct http *h)
{
	if (h->daemon == NULL)
		return;
	stop_pools(h);
	MHD_stop_daemon(h->daemon);
	h->daemon = NULL;
}

int http_start(const struct http_options *o, struct http **ret, struct err *reterr)
{
	struct http *h = calloc(1, sizeof(*h));
	bool loopback;

	if (h == NULL)
		return err_nomem(reterr);
	h->server = o->server;
	h->socket = -1;
	lock_init(&h->connections.lock);
	lock_init(&h->readiness.lock);
	lock_init(&h->streams.lock);
	http_shared_init(&h->shared);
	list_init(&h->connections.all);
	h->visitors = http_visitors_new(o->server);
	h->history = http_history_new();
	if (h->visitors == NULL || h->history == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	if (http_listen(o->listen, &h->socket, h->address, sizeof(h->address), &loopback, reterr) < 0)
		goto fail;
	h->tls = !loopback;
	if (take_certificate(h, o->certificate, o->key, reterr) < 0 || up(h, reterr) < 0)
		goto fail;
	*ret = h;
	return 0;
fail:
	http_stop(h);
	return -1;
}

int http_reload(struct http *h, const char *certificate, const char *key, struct err *reterr)
{
	if (!h->tls)
		return 0;
	if (take_certificate(h, certificate, key, reterr) < 0)
		return -1;
	down(h);
	return up(h, reterr);
}

void http_stop(struct http *h)
{
	if (h == NULL)
		return;
	down(h);
	if (h->socket >= 0)
		close(h->socket);
	http_visitors_free(h->visitors);
	http_history_free(h->history);
	forget_pem(&h->certificate);
	forget_pem(&h->key);
	http_shared_fini(&h->shared);
	lock_fini(&h->streams.lock);
	lock_fini(&h->connections.lock);
	lock_fini(&h->readiness.lock);
	free(h);
}

const char *http_address(const struct http *h)
{
	return h->address;
}
