/* metrics.c — /metrics, as Prometheus reads it. On loopback for everybody of this machine;
 * elsewhere for a login with the right monitor, by HTTP's basic authentication under TLS. */
#include "http/api.h"
#include "metrics/snapshot.h"

#define TEXT_MOST ((size_t)16 << 20)

#define PROGRAM "metrics"

/* A scrape is counted as a login like any other; a line for each of them would bury the log. */
static bool is_right(struct http_request *r, const char *name, const char *password)
{
	struct http *h = r->http;
	struct http_who who = { .spid = 0 };
	struct auth_login login;
	enum auth_result result;

	if (!http_login_check(r, str_of(name), str_of(password), PROGRAM, &login, &result))
		return false;
	str_copy(who.login, sizeof(who.login), str_of(login.name));
	who.admin = login.admin;
	if (!http_api_may_monitor(h, &who)) {
		http_login_refused(r, str_of(name), PROGRAM, METRICS_LOGIN_REFUSED,
				   "the right monitor is missing");
		return false;
	}
	metrics_count(h->server->metrics, METRICS_LOGIN_ACCEPTED, 1);
	return true;
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
		if (r->again_ms > 0)
			return;
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
