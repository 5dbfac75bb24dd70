/* metrics.c — /metrics, as Prometheus reads it. On loopback for everybody of this machine;
 * elsewhere for a login with the right monitor, by HTTP's basic authentication under TLS. */
#include "http/api.h"
#include "metrics/snapshot.h"

#define TEXT_MOST ((size_t)16 << 20)

/* By the server's own check, with its throttle. */
static bool is_right(struct http_request *r, const char *name, const char *password)
{
	struct http *h = r->http;
	struct http_who who = { .spid = 0 };
	struct auth_login login;

	if (auth_check_password(h->server->auth, str_of(name), str_of(password), r->peer, &login) !=
	    AUTH_OK) {
		r->delay_ms = auth_penalty_ms(h->server->auth, r->peer);
		return false;
	}
	str_copy(who.login, sizeof(who.login), str_of(login.name));
	who.admin = login.admin;
	return http_api_may_monitor(h, &who);
}

static bool may_read(struct http_request *r)
{
	char *password = NULL, *name = MHD_basic_auth_get_username_password(r->connection, &password);
	bool may = name != NULL && password != NULL && is_right(r, name, password);

	if (password != NULL)
		explicit_bzero(password, strlen(password));
	MHD_free(password);
	MHD_free(name);
	return may;
}

void http_metrics(struct http_request *r)
{
	struct buf b;
	struct err e;

	if (r->http->tls && !may_read(r)) {
		http_answer_text(r, MHD_HTTP_UNAUTHORIZED, "Metrics need a login with the right monitor.\n");
		http_answer_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"procession metrics\"");
		return;
	}
	buf_init(&b, TEXT_MOST);
	if (metrics_prometheus(r->http->server->metrics, &b, &e) < 0) {
		buf_fini(&b);
		http_answer_text(r, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "There is no memory for the numbers now.\n");
		return;
	}
	http_answer_buf(r, MHD_HTTP_OK, METRICS_PROMETHEUS_TYPE, &b);
}
