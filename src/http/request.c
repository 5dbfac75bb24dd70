/* request.c — one request from its first header to its answer. The library's thread collects it,
 * and answers it or gives it to a thread that may block; the connection is suspended meanwhile. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/clock.h"
#include "http/http_int.h"

static void set_peer(struct http_request *r)
{
	const union MHD_ConnectionInfo *i = MHD_get_connection_info(r->connection,
								    MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = i == NULL ? NULL : i->client_addr;

	if (a != NULL && a->sa_family == AF_INET)
		(void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, r->peer,
				sizeof(r->peer));
	else if (a != NULL && a->sa_family == AF_INET6)
		(void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, r->peer,
				sizeof(r->peer));
}

static struct http_request *request_new(struct http *h, struct MHD_Connection *c, const char *path)
{
	struct http_request *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->http = h;
	r->connection = c;
	r->path = path;
	buf_init(&r->body, HTTP_BODY_BYTES);
	set_peer(r);
	return r;
}

static enum MHD_Result send_answer(struct http_request *r)
{
	enum MHD_Result rc = MHD_NO;

	assert(!r->answered);
	r->answered = true;
	if (r->response != NULL)
		rc = MHD_queue_response(r->connection, r->status, r->response);
	return rc;
}

/* Passwords are checked on a thread of their own. */
static struct http_pool *pool_of(struct http_request *r)
{
	struct http *h = r->http;

	assert(r->route != NULL);
	switch (r->route->where) {
	case ROUTE_LOGIN: return &h->logins;
	case ROUTE_SCRAPE: return h->tls ? &h->logins : &h->probes;
	case ROUTE_PROBE: return &h->probes;
	case ROUTE_WORK: break;
	case ROUTE_NOW: assert(false); /* it needs no thread */
	}
	return &h->work;
}

static void on_thread(struct http_task *t)
{
	struct http_request *r = CONTAINER_OF(t, struct http_request, task);
	struct http_pool *p = pool_of(r);

	assert(r->handed_over && !r->answered);
	r->again_ms = 0;
	if (http_pool_is_stopping(p))
		http_answer_text(r, MHD_HTTP_SERVICE_UNAVAILABLE, "The server is stopping.\n");
	else
		r->route->handler(r);
	if (r->again_ms > 0 && http_pool_submit(p, t, clock_mono_ms() + r->again_ms, true))
		return;
	http_answer_later(r, r->delay_ms);
}

/* The answer is sent when the connection is resumed and the library asks again. */
static enum MHD_Result hand_over(struct http_request *r)
{
	struct http_pool *p = pool_of(r);

	assert(!r->handed_over && r->route != NULL);
	r->task.run = on_thread;
	MHD_suspend_connection(r->connection);
	r->handed_over = true;
	if (!http_pool_submit(p, &r->task, clock_mono_ms(), false)) {
		http_answer_text(r, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many requests wait. Try again.\n");
		MHD_resume_connection(r->connection);
	}
	return MHD_YES;
}

static enum MHD_Result answer(struct http_request *r, const char *method)
{
	bool known;

	http_connection_reads(r->connection, &r->http->connections, false);
	r->route = http_route_find(method, r->path, &known);
	if (r->too_large)
		http_answer_text(r, MHD_HTTP_CONTENT_TOO_LARGE, "The request is too large.\n");
	else if (r->route == NULL)
		http_answer_text(r, known ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND,
				 known ? "Not with this method.\n" : "There is nothing here.\n");
	else if (r->route->where != ROUTE_NOW)
		return hand_over(r);
	else
		r->route->handler(r);
	return send_answer(r);
}

enum MHD_Result http_request_next(void *arg, struct MHD_Connection *c, const char *path, const char *method,
				  const char *version, const char *data, size_t *n, void **state)
{
	struct http_request *r = *state;

	(void)version;
	if (r == NULL) {
		*state = request_new(arg, c, path);
		return *state == NULL ? MHD_NO : MHD_YES;
	}
	if (*n > 0) {
		if (*n > HTTP_BODY_BYTES - r->body.len)
			r->too_large = true;
		else
			buf_put(&r->body, data, *n);
		*n = 0;
		return MHD_YES;
	}
	if (r->answered)
		return MHD_YES;
	return r->handed_over ? send_answer(r) : answer(r, method);
}

void http_request_ended(void *arg, struct MHD_Connection *c, void **state,
			enum MHD_RequestTerminationCode code)
{
	struct http_request *r = *state;

	(void)code;
	http_connection_reads(c, &((struct http *)arg)->connections, true);
	if (r == NULL)
		return;
	if (r->response != NULL)
		MHD_destroy_response(r->response);
	if (r->body.data != NULL)
		explicit_bzero(r->body.data, r->body.len); /* it may hold a password */
	buf_fini(&r->body);
	free(r);
	*state = NULL;
}
