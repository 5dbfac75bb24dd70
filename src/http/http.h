/* http.h — the HTTP side: health, readiness, metrics and the dashboard, on libmicrohttpd. One
 * thread moves bytes, a few run what needs the databases. Nothing here is on the way of a TDS
 * call. */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/err.h"

struct http;
struct server;

struct http_options {
	struct server *server; /* borrowed: outlives it */
	const char *listen;    /* "host:port", "[::1]:port"; port 0: any */
	/* PEM files, used when the address is not loopback, and read again by http_reload */
	const char *certificate, *key;
};
/* Whether the address is one that only this machine can reach: no certificate is needed there. */
MUST_CHECK int http_is_loopback(const char *listen, bool *ret, struct err *reterr);
MUST_CHECK int http_start(const struct http_options *o, struct http **ret, struct err *reterr);
/* The certificate anew. Requests that run are ended; the address stays open. */
MUST_CHECK int http_reload(struct http *h, const char *certificate, const char *key, struct err *reterr);
void http_stop(struct http *h);                 /* before the databases close; NULL is welcome */
const char *http_address(const struct http *h); /* "http://127.0.0.1:8433/" */

#endif
