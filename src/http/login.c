/* login.c — in and out of the dashboard, and who is there: through the server's own check of
 * passwords and its throttle. */
#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/api.h"

#define COOKIE "procession"
#define DASHBOARD "dashboard"
#define LATER_TRIES 10 /* half a second each */
#define ANSWER_MOST ((size_t)1 << 20)

void http_answer_error(struct http_request *r, unsigned status, const char *text)
{
	struct buf b;

	buf_init(&b, ANSWER_MOST);
	http_json_error(&b, text);
	http_answer_buf(r, status, "application/json", &b);
}

/* A page of another origin cannot send these without being asked about it first. */
static bool is_json(const struct http_request *r)
{
	const char *type = http_request_header(r, MHD_HTTP_HEADER_CONTENT_TYPE);

	return type != NULL && strncmp(type, "application/json", strlen("application/json")) == 0;
}

static bool is_foreign(const struct http_request *r)
{
	const char *site = http_request_header(r, "Sec-Fetch-Site");

	return site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

bool http_api_read_body(struct http_request *r, struct http_arguments *ret)
{
	if (is_foreign(r) || !is_json(r)) {
		http_answer_error(r, MHD_HTTP_FORBIDDEN, "This request did not come from the dashboard.");
		return false;
	}
	if (http_arguments_read(ret, r->body.data, r->body.len))
		return true;
	http_answer_error(r, MHD_HTTP_BAD_REQUEST, "The request is not a JSON object of texts and numbers.");
	return false;
}

/* ---- who ---- */

static void set_cookie(struct http_request *r, const char *token, bool gone)
{
	char text[200];

	snprintf(text, sizeof(text), COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict%s%s", token,
		 r->http->tls ? "; Secure" : "", gone ? "; Max-Age=0" : "");
	http_answer_header(r, MHD_HTTP_HEADER_SET_COOKIE, text);
}

static const char *cookie_of(const struct http_request *r)
{
	const char *token = MHD_lookup_connection_value(r->connection, MHD_COOKIE_KIND, COOKIE);

	return token == NULL ? "" : token;
}

bool http_api_who(struct http_request *r, struct http_who *ret)
{
	if (http_visitors_find(r->http->visitors, cookie_of(r), ret))
		return true;
	http_answer_error(r, MHD_HTTP_UNAUTHORIZED, "Log in first.");
	return false;
}

bool http_api_may_change(struct http_request *r, const struct http_who *who)
{
	const char *proof = http_request_header(r, "X-Procession-Token");

	if (proof != NULL && strlen(proof) == VISITOR_TOKEN - 1 &&
	    CRYPTO_memcmp(proof, who->proof, VISITOR_TOKEN - 1) == 0)
		return true;
	http_answer_error(r, MHD_HTTP_FORBIDDEN, "This request did not come from the dashboard.");
	return false;
}

/* ---- in and out ---- */

static enum metrics_counter outcome_of(enum auth_result result)
{
	if (result == AUTH_ERROR)
		return METRICS_LOGIN_FAILED;
	return result == AUTH_THROTTLED || result == AUTH_LATER ? METRICS_LOGIN_THROTTLED
								: METRICS_LOGIN_REFUSED;
}

void http_login_refused(struct http_request *r, struct str login, const char *program,
			enum metrics_counter outcome, const char *reason)
{
	const struct log_ctx ctx = { .peer = r->peer };
	char name[129];

	str_copy(name, sizeof(name), login);
	metrics_count(r->http->server->metrics, outcome, 1);
	LOG(LOG_WARN, &ctx, "login_failed", F_STR("login", name), F_STR("program", program),
	    F_STR("reason", reason));
	r->delay_ms = auth_penalty_ms(r->http->server->auth, r->peer);
}

bool http_login_check(struct http_request *r, struct str name, struct str password, const char *program,
		      struct auth_login *ret, enum auth_result *ret_result)
{
	enum auth_result result = auth_check_password(r->http->server->auth, name, password, r->peer, ret);

	*ret_result = result;
	if (result == AUTH_LATER && r->tries++ < LATER_TRIES)
		r->again_ms = AUTH_LATER_MS;
	else if (result != AUTH_OK)
		http_login_refused(r, name, program, outcome_of(result), auth_result_text(result));
	return result == AUTH_OK;
}

static void refuse(struct http_request *r, enum auth_result result)
{
	if (result == AUTH_ERROR)
		http_answer_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "The login cannot be checked now.");
	else if (result == AUTH_THROTTLED || result == AUTH_LATER)
		http_answer_error(r, MHD_HTTP_TOO_MANY_REQUESTS,
				  "Too many failed logins. Wait a minute, then try again.");
	else
		http_answer_error(r, MHD_HTTP_FORBIDDEN, "Login or password is wrong.");
}

static void enter(struct http_request *r, const struct auth_login *login)
{
	const struct log_ctx ctx = { .peer = r->peer, .login = login->name };
	struct server *srv = r->http->server;
	struct http_who who;

	if (http_visitors_enter(r->http->visitors, login, r->peer, r->http->tls, &who) < 0) {
		http_login_refused(r, str_of(login->name), DASHBOARD, METRICS_LOGIN_FAILED,
				   "there is no place for one more");
		http_answer_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "There is no place for one more.");
		return;
	}
	metrics_count(srv->metrics, METRICS_LOGIN_ACCEPTED, 1);
	if (atomic_load(&srv->log_logins))
		LOG(LOG_INFO, &ctx, "login", F_STR("program", DASHBOARD), F_INT("number", who.spid));
	http_api_tell_who(r, &who);
	set_cookie(r, who.token, false);
}

/* On the one thread for logins. One that has to wait for its turn comes again later. */
void http_login(struct http_request *r)
{
	struct http_arguments a = { .n = 0 };
	struct auth_login login;
	enum auth_result result;
	struct str name, password;

	if (!http_api_read_body(r, &a)) {
		http_arguments_fini(&a);
		return;
	}
	name = http_arguments_text(&a, "@login");
	password = http_arguments_text(&a, "@password");
	if (http_login_check(r, name, password, DASHBOARD, &login, &result))
		enter(r, &login);
	else if (r->again_ms == 0)
		refuse(r, result);
	http_arguments_fini(&a);
}

void http_logout(struct http_request *r)
{
	struct http_who who;

	if (!http_api_who(r, &who) || !http_api_may_change(r, &who))
		return;
	http_visitors_leave(r->http->visitors, who.token);
	http_answer_text(r, MHD_HTTP_OK, "");
	set_cookie(r, "", true);
}

void http_me(struct http_request *r)
{
	struct http_who who;

	if (http_api_who(r, &who))
		http_api_tell_who(r, &who);
}
